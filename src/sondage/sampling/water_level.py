"""Water-filling: chances in proportion to sizes, none above 1, for any expected number of items."""

from __future__ import annotations

import numpy as np

from sondage.types import Floats


class WaterLevel:
    """Chances ``min(1, scale * size)`` for any expected number of items, from one sort.

    The optimum of ``sum h**2 / b`` under ``sum b = M, b <= 1`` (Yilmaz et al., Algorithm 3, with the
    scale that its last line misses: ``(M - J) / tail[J]``, J the items already at 1).

    >>> level = WaterLevel(np.array([4.0, 1.0, 1.0]))
    >>> np.minimum(1, level.scale(2) * np.array([4.0, 1.0, 1.0])).tolist()
    [1.0, 0.5, 0.5]
    """

    def __init__(self, size: Floats) -> None:
        self._sorted = np.sort(size)[::-1]
        self._tail = np.cumsum(self._sorted[::-1])[::-1]
        self._positive = int(np.count_nonzero(size))

    def scale(self, expected: float) -> float:
        """The scale at which ``expected`` items are included on average."""
        if expected >= self._positive:
            return float("inf")
        # Item j is below 1 once sorted[j] * (M - j) <= tail[j]; this turns true once and stays true.
        low, high = 0, int(np.ceil(expected))
        while low < high:
            middle = (low + high) // 2
            if self._sorted[middle] * (expected - middle) <= self._tail[middle]:
                high = middle
            else:
                low = middle + 1
        return float((expected - low) / self._tail[low])


def included(size: Floats, expected: float) -> Floats:
    """Inclusion chances of items of some size, so many being expected."""
    return at_scale(size, WaterLevel(size).scale(expected))


def at_scale(size: Floats, scale: float) -> Floats:
    """``min(1, scale * size)``; 0 without a size, however large the scale."""
    with np.errstate(invalid="ignore"):
        return np.where(size > 0, np.minimum(1.0, scale * size), 0.0)
