"""How items are drawn: one function per kind of sampling, shared by all designs."""
