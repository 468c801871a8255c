"""Checks of arguments: each error names the argument, the values it may take, and what came."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from sondage.errors import InvalidInput
from sondage.types import is_whole


def whole_number(name: str, value: object, *, least: int, or_zero: bool = False) -> int:
    """A whole number of at least ``least``; zero too where zero switches something off.

    >>> whole_number("ties", 0, least=2, or_zero=True)
    0
    """
    if is_whole(value):
        number = int(value)
        if number >= least or (or_zero and number == 0):
            return number
    allowed = f"a whole number >= {least}" + (", or 0 for none" if or_zero else "")
    raise InvalidInput(f"{name} must be {allowed}, not {value!r}")


def real_number(name: str, value: object, inside: str = "(-inf, inf)") -> float:
    """A finite number in an interval; a round bracket excludes its end.

    >>> real_number("lost", 0.25, "[0, 1]")
    0.25
    """
    if is_whole(value) or isinstance(value, (float, np.floating)):
        number, (low, high) = float(value), map(float, inside[1:-1].split(","))
        at_an_end = (number == low and inside[0] == "(") or (number == high and inside[-1] == ")")
        if np.isfinite(number) and low <= number <= high and not at_an_end:
            return number
    raise InvalidInput(f"{name} must be a finite number in {inside}, not {value!r}")


def generator(rng: object) -> Generator:
    """The generator itself, or a new one from a seed.

    >>> generator(3).random() == generator(3).random()
    True
    """
    if isinstance(rng, Generator):
        return rng
    if is_whole(rng) and rng >= 0:
        return np.random.default_rng(int(rng))
    raise InvalidInput(f"rng must be a whole number >= 0 or a numpy Generator, not {rng!r}")
