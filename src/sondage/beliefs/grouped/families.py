"""A learned prior for each family of cells: bins of one group may be off together, and those of another not.

A single prior for all cells takes a group that is wrong more often in every bin for many bins by chance, and
draws them all back to the others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sondage.beliefs.grouped.learned import Learned, learned
from sondage.beliefs.grouped.rates import Rates
from sondage.streams import Stream
from sondage.types import Floats, Ints


@dataclass(frozen=True)
class Families:
    """A prior learned for each of some sets of ``cells``; used like ``Learned``."""

    cells: tuple[Ints, ...]
    fits: tuple[Learned, ...]

    def _each(self, make: Callable[[Learned, Ints], Floats]) -> Floats:
        """Values of the cells, put together from those of the families."""
        parts = [make(fit, some) for fit, some in zip(self.fits, self.cells, strict=True)]
        out = np.empty((*parts[0].shape[:-1], sum(map(len, self.cells))))
        for some, part in zip(self.cells, parts, strict=True):
            out[..., some] = part
        return out

    def typical(self) -> tuple[Floats, Floats]:
        """(C,) right and wrong pseudo-labels of every cell."""
        return self._each(lambda fit, some: fit.typical()[0]), self._each(lambda fit, some: fit.typical()[1])

    def mean(self, rates: Rates) -> Floats:
        """(C,) expected rate of every cell."""
        return self._each(lambda fit, some: fit.mean(_of(rates, some)))

    def drawn(self, rates: Rates, stream: Stream, count: int) -> Floats:
        """(count, C) right predictions among all items of every cell."""
        return self._each(lambda fit, some: fit.drawn(_of(rates, some), stream, count))


def _of(rates: Rates, some: Ints) -> Rates:
    parts = (rates.a, rates.b, rates.right, rates.n, rates.size)
    return Rates(*(np.broadcast_to(one, rates.size.shape)[..., some] for one in parts))


def by_family(expected: Floats, right: Floats, n: Floats, family: Ints) -> Families:
    """What the labels of cells say, family by family, around what those of all cells say.

    >>> expected, n, family = np.full(20, 0.8), np.full(20, 4.0), np.repeat([0, 1], 10)
    >>> right = np.where(family == 0, 2.0, 4.0)  # one is right half the time, the other always
    >>> a, b = by_family(expected, right, n, family).typical()
    >>> bool((a / (a + b))[0] < 0.7), bool((a / (a + b))[-1] > 0.85)
    (True, True)
    """
    a, b = learned(expected, right, n).typical()
    around = a / (a + b)
    cells = tuple(np.flatnonzero(family == one) for one in np.unique(family))
    return Families(cells, tuple(learned(around[some], right[some], n[some]) for some in cells))
