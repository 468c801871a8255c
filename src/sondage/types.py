"""Types used in signatures, and what counts as a number or a whole number."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Words = NDArray[np.uint64]
Array = NDArray[Any]
Id = int | str
Label = Hashable


def is_whole(value: object) -> TypeGuard[int]:
    """Whether a value is a whole number; True and False are ints to Python, but never meant as one here.

    >>> [is_whole(one) for one in (3, np.int64(3), 3.0, True, "3")]
    [True, True, False, False, False]
    """
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def is_number(value: object) -> TypeGuard[float]:
    """Whether something is a number, and no truth value.

    >>> [is_number(one) for one in (3, 0.5, np.float64(3), True, "3", None)]
    [True, True, True, False, False, False]
    """
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
