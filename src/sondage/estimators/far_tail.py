"""What keeps an interval wide: errors that may lie beyond the last one seen, and what labels there do."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sondage.estimators.base import Totals
from sondage.measures.base import Measure
from sondage.types import Floats

_TAIL = 0.025
"""Of the draws, on either side of a width."""
_STEP = 1.15
"""Factor between numbers of labels that are tried."""
_FEWEST = 10.0
"""Effective number of draws below which nothing is read off them."""


class Far(NamedTuple):
    """Beyond the last error seen, of B draws from a belief and of one predicted class.

    ``without`` is (B, d) the averages with as many errors there as in the middle draw, and ``right`` (B,) the
    log of the chance that a label there finds no error, labels being shared out by what is not known.
    ``seen`` labels are there, none of them an error, and ``items`` without a label; ``where`` says which.
    """

    without: Floats
    right: Floats
    seen: int
    items: int
    where: str


class FarTail(NamedTuple):
    """How much of a width is doubt beyond the last error seen: numbers for one coordinate, lists for several.

    Without it the interval would be ``1 - share`` times as wide. If ``labels`` further ones out there find no
    error, it is half as wide (inf: nothing less than nearly all of them would do). ``seen`` labels are there
    already, ``items`` without one, and ``where`` says what is predicted of them.
    """

    share: Any
    labels: Any
    seen: Any
    items: Any
    where: Any


def far_tail(totals: Totals, measure: Measure) -> FarTail | None:
    """What the far tail that matters most does to each coordinate; None where nothing is known of one."""
    if not totals.far or totals.exact:
        return None
    drawn = totals.drawn(measure)
    with np.errstate(all="ignore"):
        near = [np.asarray(measure.g(one.without), dtype=np.float64) for one in totals.far]
    found = []
    for j in range(measure.m):
        width = _width(drawn[:, j])
        shares = [1.0 - _width(one[:, j]) / width if width > 0 else 0.0 for one in near]
        k = int(np.argmax(shares))
        far = totals.far[k]
        labels = _to_halve(drawn[:, j], far, width) if shares[k] > 0 else np.inf
        found.append((max(shares[k], 0.0), labels, far.seen, far.items, far.where))
    return FarTail(*(list(column) for column in zip(*found, strict=True)))


def _to_halve(values: Floats, far: Far, width: float) -> float:
    """Labels that find no error after which draws lie half as wide: each counts by its chance of that."""
    labels = 1.0
    while labels < far.items:
        weight = np.exp(labels * (far.right - far.right.max()))
        if _width(values, weight) <= 0.5 * width:
            return labels
        if np.square(weight.sum()) < _FEWEST * np.square(weight).sum():
            break
        labels *= _STEP
    return np.inf


def _width(values: Floats, weight: Floats | None = None) -> float:
    """Range of weighted values between both tails; what is undefined is left out.

    >>> _width(np.arange(100.0)), _width(np.arange(100.0), np.arange(100.0) < 50)
    (95.0, 47.0)
    """
    some = np.isfinite(values)
    if not some.any():
        return 0.0
    values, weight = values[some], np.ones(some.sum()) if weight is None else weight[some]
    order = np.argsort(values)
    reached = np.cumsum(weight[order])
    ends = np.searchsorted(reached, np.array([_TAIL, 1.0 - _TAIL]) * reached[-1], "right")
    low, high = values[order[np.minimum(ends, len(values) - 1)]]
    return float(high - low)
