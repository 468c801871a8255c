"""Which system is better: the tests (``compare``), and their results (``result``)."""
