"""Types of arguments, for argparse: each says what it takes when it refuses."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Callable


def whole_number(least: int) -> Callable[[str], int]:
    """A whole number of at least ``least``.

    >>> whole_number(1)("500")
    500
    """

    def parse(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = least - 1
        if number < least:
            raise ArgumentTypeError(f"must be a whole number of at least {least}, not {text!r}")
        return number

    return parse


def number(text: str) -> float:
    """A finite number, or an error that argparse shows.

    >>> number("0.5")
    0.5
    """
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if value - value != 0:
        raise ArgumentTypeError(f"must be a number, not {text!r}")
    return value
