"""Which system is better: what is asked (``compare``), the tests of ``two`` or ``many``, and ``result``."""
