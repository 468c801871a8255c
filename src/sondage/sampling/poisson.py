"""One growing sample over all rounds: every item arrives at a moment of its own, and stays."""

from __future__ import annotations

import numpy as np

from sondage.errors import NotSupported
from sondage.pool.keyed_order import LazyOrder
from sondage.pool.units import ItemUnits, Units
from sondage.sampling.base import Draws, History, Limit, SamplingKind, Table, chances_of, relative, sum_over
from sondage.streams import Stream
from sondage.types import Floats, Ints


class GrowingSample(SamplingKind):
    """Single items whose permanent random number is at most ``scale * chance``; ``chance`` is only a size.

    The scale is recorded. Reading on in the order of arrival nests the samples: a larger scale gives a
    superset. Where the budget cuts the sample short, or the size is fixed, the scale becomes the arrival of
    the first item left out. Given the others, an item is then included exactly if it arrives before that
    moment, so inverse inclusion chances stay unbiased (priority sampling: Duffield, Lund and Thorup 2007).
    This assumes that whoever has a budget goes on asking until it is spent.
    """

    estimator = "poisson"
    recorded = "pi"

    def draw(
        self, table: Table, units: Units, history: History, n: int, limit: Limit, stream: Stream
    ) -> Draws:
        if not isinstance(units, ItemUnits):
            raise NotSupported(f"kind {self.alias!r} draws single items: the design must have strata=None")
        size = chances_of(table)
        order = arrival_order(table, units)
        reachable = table.cached("reachable", lambda: int(np.count_nonzero(size)))
        before = len(history.rows)
        most = before + (min(limit.labels, n) if self.fixed_size else limit.labels)
        arrived = reachable if self.fixed_size else order.count_up_to(table.scale)
        end = max(before, min(arrived, most, reachable))
        # Whether the budget pays for the first item left out is settled now: if not, nothing more is asked.
        rows = order.first(min(end + 1, reachable))[0][before:]
        fits = min(limit.cut(units.cost_of(rows)), end - before)
        dear = bool(units.cost_of(rows[: fits + 1]).sum() > limit.cost * (1 + 1e-12))
        cut_short = self.fixed_size or dear or end == most
        end = before + fits
        scale = table.scale
        if cut_short:
            scale = float(order.first(end + 1)[1][end]) if end < reachable else np.inf
        rows = rows[:fits]
        pi = at_scale(size[rows], scale)
        return Draws.once(rows, rows, np.ones(fits, np.int64), pi=pi, scale=scale)

    def relative_chance(self, table: Table, size: Ints, asked: Ints, expected: float, n: int) -> Floats:
        return relative(included(chances_of(table), expected + n), size)

    def coming_chance(self, table: Table, size: Ints, asked: Ints, expected: float, n: int) -> Floats:
        """Samples are nested: who is not in yet can only come in as they grow."""
        before, after = (included(chances_of(table), number) for number in (expected, expected + n))
        return np.divide(after - before, 1.0 - before, out=np.zeros(len(before)), where=before < 1)

    def variance(
        self, table: Table, units: Units, spread: Floats, n: int, repeats_count: bool
    ) -> tuple[float, float]:
        size = chances_of(table)
        chance = at_scale(size, table.scale) if np.isfinite(table.scale) else included(size, n)
        variance = sum_over(spread, chance) - float(spread[chance > 0].sum())
        return variance / len(spread) ** 2, float(chance @ units.cost)

    def adds_up(self, table: Table, size: Ints, asked: Ints, expected: float, n: int) -> tuple[float, float]:
        """The scale makes the expected number n larger, where the number is not fixed."""
        if self.fixed_size:
            return float(chances_of(table).any()), 1.0
        there = chances_of(table)[chances_of(table) > 0]
        return float(at_scale(there, table.scale).sum()), min(expected + n, float(len(there)))


class PoissonSample(GrowingSample):
    """Each item is included or not by itself; ``ask(n)`` raises the expected number by n."""

    alias = "poisson"
    rule = "Every item is included or not by itself, with a known chance."

    def may_be_empty(self, table: Table, draws: Draws) -> bool:
        return bool(np.isfinite(draws.scale) and draws.scale == table.scale)


class FixedSize(GrowingSample):
    """The next n items in order of arrival, whatever the scale comes to."""

    alias = "fixed"
    rule = "A fixed number of items is included, with known chances."
    fixed_size = True


def arrival_order(table: Table, units: ItemUnits) -> LazyOrder:
    """Items in the order in which a growing scale reaches them: random number over size."""

    def arrivals() -> Floats:
        with np.errstate(divide="ignore"):
            return np.asarray(units.permanent() / chances_of(table))

    return table.cached("arrival", lambda: LazyOrder(units.count, arrivals))


class WaterLevel:
    """Water-filling: chances ``min(1, scale * size)`` for any expected number of items, from one sort.

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
