"""The version of the package, written in this place alone."""

__version__ = "0.1.0"
