"""Rounds that stand for themselves: each item not asked before, at most once, by its chance in the round."""

from __future__ import annotations

import numpy as np
from scipy.special import betainc

from sondage.pool.units import Units
from sondage.sampling.base import (
    Draws,
    History,
    Limit,
    SamplingKind,
    Table,
    chances_of,
    relative,
    running_index,
)
from sondage.streams import Stream
from sondage.types import Floats, Ints

_EDGE = 1e-9
_WHOLE = 1 << 30
"""One, where fractions are compared as whole numbers."""
_SAFE = 6.0
"""Standard deviations: a number that varies this much is never met."""


class EachRound(SamplingKind):
    """``chance`` is that of each item not asked before to be included in this round.

    In a cell the number of items is drawn, and the next so many in keyed order are taken: given their
    number, all of a cell's items are equally likely. The scale is the number expected, nan if it was fixed.
    """

    estimator = "staged"
    recorded = "pi"

    def draw(
        self, table: Table, units: Units, history: History, n: int, limit: Limit, stream: Stream
    ) -> Draws:
        """Where a varying number might cost more than the budget has left, it is fixed instead.

        All chances are then lowered until the dearest outcome is paid for: known before anything is drawn,
        this leaves every chance exact.
        """
        left = (~history.asked).astype(np.int64) if units.itemwise else units.size - history.taken
        chance = np.where(left > 0, np.clip(chances_of(table), 0.0, 1.0), 0.0)
        varies = not self.fixed_size and _surely_paid(chance, left, units.dearest, limit)
        if not varies:
            chance = _affordable(chance, left, units.dearest, limit)
        pick = _independent if varies else self.fixed_number
        unit = np.repeat(np.arange(units.count), pick(chance, left, stream))
        row = unit if units.itemwise else units.rows_at(unit, history.taken[unit] + running_index(unit))
        fits = limit.cut(units.cost_of(row))  # all, but for six standard deviations
        row, unit = row[:fits], unit[:fits]
        expected = float(chance @ left) if varies else np.nan
        return Draws.once(row, unit, left[unit], pi=chance[unit], scale=expected)

    def relative_chance(self, table: Table, size: Ints, asked: Ints, expected: float, n: int) -> Floats:
        return relative(chances_of(table), size - asked)

    def adds_up(self, table: Table, size: Ints, asked: Ints, expected: float, n: int) -> tuple[float, float]:
        """Items included on average: n, as far as there are so many."""
        left = size - asked
        return float(np.minimum(chances_of(table), 1.0) @ left), float(min(n, left.sum()))

    def fixed_number(self, chance: Floats, left: Ints, stream: Stream) -> Ints:
        """(U,) how many items of each unit, where the number of all is fixed.

        Whole numbers as near as can be, the fractions settled between neighbours (Deville and Tille 1998).
        """
        expected = chance * left
        count = np.floor(expected + _EDGE).astype(np.int64)
        # In whole numbers: fractions that add up to just one must do so on every machine.
        part = np.rint(np.clip(expected - count, 0.0, 1.0) * _WHOLE).astype(np.int64)
        open_ = np.flatnonzero((part > 0) & (part < _WHOLE))
        count[part == _WHOLE] += 1
        words = stream.uniform(max(len(open_), 1))
        held, share = -1, 0
        for u, unit in zip(words.tolist(), open_.tolist(), strict=False):
            if held < 0:
                held, share = unit, int(part[unit])
                continue
            total = share + int(part[unit])
            if total < _WHOLE:  # one of the two is out, the other goes on with what both had
                if u * total < share:
                    share = total
                else:
                    held, share = unit, total
            else:  # one of the two is in, the other goes on with the rest
                stays = u * (2 * _WHOLE - total) < _WHOLE - share
                count[unit if stays else held] += 1
                held, share = (held if stays else unit), total - _WHOLE
        if held >= 0 and words[-1] * _WHOLE < share:
            count[held] += 1
        return count


class PoissonRound(EachRound):
    """Items are included independently, so that their number varies."""

    alias = "online"
    rule = (
        "Every item is included independently of the others, with a chance that depends on the labels so far."
    )

    def may_be_empty(self, table: Table, draws: Draws) -> bool:
        return bool(draws.scale > 0)


class SystematicRound(EachRound):
    """A fixed number, by equal steps along the units."""

    alias = "systematic"
    rule = "Items are taken at equal steps along the pool, with chances by the labels so far."
    fixed_size = True

    def fixed_number(self, chance: Floats, left: Ints, stream: Stream) -> Ints:
        """Equal steps along the units from a random start: as many of each as steps fall into it."""
        start = float(stream.uniform(1)[0])
        reached = np.concatenate([[0.0], np.cumsum(chance * left)])
        steps = np.floor(reached + start + _EDGE).astype(np.int64)
        return np.minimum(np.diff(steps), left)


class PivotalRound(EachRound):
    """A fixed number, the fractions of units settled between neighbours."""

    alias = "pivotal"
    rule = "A fixed number of items is taken, with chances by the labels so far."
    fixed_size = True


def _surely_paid(chance: Floats, left: Ints, cost: Floats, limit: Limit) -> bool:
    """Whether no outcome that is ever met exceeds the budget."""
    for price, most in ((np.ones(len(cost)), float(limit.labels)), (cost, limit.cost)):
        mean = float((chance * left) @ price)
        noise = np.sqrt(float((chance * (1 - chance) * left) @ np.square(price)))
        if mean + _SAFE * (noise + float(price.max(initial=0.0)) * (noise > 0)) > most:
            return False
    return True


def _affordable(chance: Floats, left: Ints, cost: Floats, limit: Limit) -> Floats:
    """Chances lowered until they add up to a whole number whose dearest outcome is paid for."""

    def dearest(some: Floats) -> float:
        expected = some * left
        whole = np.floor(expected + _EDGE)
        rest = np.sort(cost[expected - whole > _EDGE])[::-1]
        return float(whole @ cost) + float(rest[: round(float((expected - whole).sum()))].sum())

    total = float((chance * left).sum())
    for number in range(int(min(np.floor(total + _EDGE), limit.labels)), 0, -1):
        some = chance * min(number / total, 1.0)
        if dearest(some) <= limit.cost * (1 + 1e-12):
            return np.asarray(some)
    return np.zeros(len(chance))


def _independent(chance: Floats, left: Ints, stream: Stream) -> Ints:
    """A binomial number of each unit, by the inverse of its distribution."""
    u = stream.uniform(len(chance))
    out = ((u < chance) & (left > 0)).astype(np.int64)
    many = np.flatnonzero((left > 1) & (chance > 0))
    if len(many):
        out[many] = _binomial(u[many], left[many], chance[many])
    return out


def _binomial(level: Floats, n: Ints, p: Floats) -> Ints:
    """The least k at which the distribution of n trials reaches ``level``, by bisection."""
    low, high = np.zeros(len(n), dtype=np.int64), n.copy()
    while (low < high).any():
        middle = (low + high) // 2
        reached = betainc(np.maximum(n - middle, 1), middle + 1, 1.0 - p)  # P(X <= middle), middle < n
        enough = (reached > level) | (middle >= n)
        low, high = np.where(enough, low, middle + 1), np.where(enough, middle, high)
    return low
