"""Plain Python values: what is shown to people and written as JSON."""

from __future__ import annotations

from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """The value without numpy, also inside lists and tuples (which become lists).

    >>> plain((np.float64(0.5), np.str_("a"), [np.int8(1)]))
    [0.5, 'a', [1]]
    """
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if isinstance(value, np.datetime64):
        value = value.astype("M8[us]")  # a finer one would come out as a whole number
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    # A list inside a cell is a series of the library that the frame came from.
    return value.to_list() if hasattr(value, "to_list") else value


def is_gap(value: Any) -> bool:
    """Whether a value is missing: None, or what does not equal itself (nan, NaT, pandas' NA).

    >>> [is_gap(value) for value in (None, float("nan"), 0.0, "")]
    [True, True, False, False]
    """
    try:
        return value is None or bool(value != value)
    except TypeError:  # the truth of a comparison with pandas' NA is refused
        return True
    except ValueError:  # an array inside a cell is not one value, but it is there
        return False
