"""Thresholds: which of them a measure looks at, from what the user says and the scores of a pool."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from sondage.errors import InvalidInput
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.types import Floats, Ints

Thresholds = int | tuple[float, ...] | None
"""All distinct scores, this many of them, or these numbers."""

_DIGITS = range(6, 18)


class Scores:
    """Thresholds of the systems of one pool: each system's scores are sorted once.

    Shared by all copies of a bound measure, because measures are copied freely (for another system, say).
    ``rows`` are those that count: all, unless told.
    """

    def __init__(self, pool: Pool, rows: Rows | None = None) -> None:
        self.pool, self.rows = pool, pool.rows(slice(None)) if rows is None else rows
        self._cuts: dict[Any, Floats] = {}
        self._distinct: dict[Any, Floats] = {}

    def cuts(self, measure: Any, wanted: Thresholds) -> Floats:
        """(L,) the thresholds of a measure of one system and class, in increasing order."""
        rows = self.rows
        name, part = self.pool.system_name(measure.system), measure.part(rows)
        key = (name, part, measure.pos_label)
        if (key, wanted) not in self._cuts:
            if key not in self._distinct:
                self._distinct[key] = np.unique(measure.score(rows))
            width = self.pool.source.read((part, name), slice(0, 1)).dtype
            self._cuts[key, wanted] = chosen(self._distinct[key], wanted, width, name)
        return self._cuts[key, wanted]


def chosen(distinct: Floats, wanted: Thresholds, width: Any, name: str) -> Floats:
    """The thresholds wanted of a system, given its distinct scores, and how wide the column is."""
    if wanted is None:
        return distinct
    if isinstance(wanted, int):
        return distinct[len(distinct) - log_ranks(wanted, len(distinct))[::-1]]
    cuts = np.array(wanted).astype(width).astype(np.float64)  # as numpy compares a column with a number
    if cuts[-1] > distinct[-1]:
        raise InvalidInput(
            f"thresholds= has {wanted[-1]:g}, but the scores of system {name!r} are from "
            f"{distinct[0]:g} to {distinct[-1]:g}: nothing reaches it. Leave it out, or pass a number of "
            "thresholds"
        )
    return cuts


def checked(wanted: Any) -> Thresholds:
    """What the user gave as ``thresholds``, in order."""
    if wanted is None:
        return None
    fault = f"thresholds= takes None, a whole number above 1 or different finite numbers, not {wanted!r}"
    if isinstance(wanted, (int, np.integer)) and not isinstance(wanted, bool):
        if wanted < 2:
            raise InvalidInput(fault)
        return int(wanted)
    if isinstance(wanted, (bool, str)) or not isinstance(wanted, Iterable):
        raise InvalidInput(fault)
    try:
        numbers = sorted(float(one) for one in wanted)
    except (TypeError, ValueError):
        raise InvalidInput(fault) from None
    if not numbers or not np.isfinite(numbers).all() or len(set(numbers)) < len(numbers):
        raise InvalidInput(fault)
    return tuple(numbers)


def log_ranks(count: int, size: int) -> Ints:
    """At most ``count`` different ranks from 1 to ``size``, spread evenly by their logarithm.

    Where that would be closer than one rank to the next, every rank is taken.

    >>> log_ranks(6, 100).tolist()
    [1, 3, 6, 16, 40, 100]
    >>> log_ranks(6, 4).tolist()
    [1, 2, 3, 4]
    """
    count = min(count, size)
    even = np.floor(np.geomspace(1, size, count) + 0.5).astype(np.int64)
    return np.maximum(even, np.arange(1, count + 1))


def written(cuts: Floats) -> list[str]:
    """Thresholds as text: six digits, or as many as tell them apart.

    >>> written(np.array([0.25, 1.0, 1.00000001]))
    ['0.25', '1', '1.00000001']
    """
    for digits in _DIGITS:
        text = [f"{cut:.{digits}g}" for cut in cuts]
        if len(set(text)) == len(text):
            break
    return text
