"""One by one without replacement: each draw by chances for all items left, given the draws before it."""

from __future__ import annotations

import numpy as np

from sondage.pool.units import Units
from sondage.sampling.base import Draws, History, Limit, SamplingKind, Table, chances_of, relative
from sondage.streams import Stream, integer_weights
from sondage.types import Array, Floats, Ints


class OneByOne(SamplingKind):
    """A unit by its chance times the items left in it, an item evenly inside; none comes twice.

    ``chance`` is per item and draw, relative to the items left. With a ``goal`` it is what an item has in any
    case, and what is missing to 1 is shared by the units below their goal, as far as they are below it then.
    """

    alias = "wor"
    rule = "Items are drawn one by one with known chances, none twice."
    estimator = "sequential"
    recorded = "p"
    one_by_one = True
    counts_down = True
    next_item = "whichever item the next draw takes"

    def draw(
        self, table: Table, units: Units, history: History, n: int, limit: Limit, stream: Stream
    ) -> Draws:
        """Where the limit does not pay for the dearest item that could come, the round ends.

        That is settled before every draw: to draw and then put back what is too dear would leave the cheap
        ones with larger chances than recorded.
        """
        taken = history.asked.astype(np.int64) if units.itemwise else history.taken.copy()
        row, unit, p, left = [], [], [], []
        words = stream.uniform(n)
        limited, most, spent = np.isfinite(limit.cost), limit.cost * (1 + 1e-12), 0.0
        for k in range(min(n, limit.labels)):
            remaining = units.size - taken
            mass = self.mass(table, units.size, taken)
            if not mass.any() or (limited and spent + units.dearest[mass > 0].max() > most):
                break
            weights = integer_weights(mass)
            cumulative = np.cumsum(weights)
            u = int(np.searchsorted(cumulative, np.floor(words[k] * float(cumulative[-1])), "right"))
            item = units.nth(u, int(taken[u]))
            spent += float(units.cost_of(np.array([item]))[0]) if limited else 0.0
            row.append(item)
            unit.append(u)
            p.append(float(weights[u]) / float(cumulative[-1]) / float(remaining[u]))
            left.append(int(remaining[u]))
            taken[u] += 1
        whole = (np.array(some, dtype=np.int64) for some in (row, unit, left))
        return Draws.once(*whole, p=np.array(p))

    def mass(self, table: Table, size: Ints, asked: Array) -> Floats:
        """(..., U) relative chance of each unit at the next draw, so many having been asked.

        With a goal the chances add up to 1, unless no unit is below its goal.

        >>> table = Table(OneByOne(), chance=np.array([0.1, 0.1]), goal=np.array([1.0, 3.0]))
        >>> OneByOne().mass(table, np.array([2, 4]), np.array([0, 1])).round(2).tolist()
        [0.37, 0.63]
        """
        mass = chances_of(table) * (size - asked)
        if table.goal is None:
            return np.asarray(mass)
        short = np.maximum(table.goal - asked, 0.0)
        total = short.sum(axis=-1, keepdims=True)
        rest = 1.0 - mass.sum(axis=-1, keepdims=True)
        share = short / np.where(total > 0, total, 1.0)
        return np.asarray(mass + np.where(total > 0, rest * share, 0.0))

    def next_chance(self, table: Table, size: Ints, asked: Array) -> Floats:
        mass, left = self.mass(table, size, asked), size - asked
        there = left > 0
        share = np.where(there, mass / np.where(there, left, 1), 0.0)
        return np.asarray(share / np.maximum(mass.sum(axis=-1, keepdims=True), 1e-300))

    def table_from(self, content: Floats, units: int) -> Table:
        goal = content[units:] if len(content) > units else None
        return Table(self, chance=content[:units], goal=goal)

    def relative_chance(self, table: Table, size: Ints, asked: Ints, expected: float, n: int) -> Floats:
        """Of the next draw: only items that are left can come."""
        return relative(self.next_chance(table, size, asked), size - asked)

    def adds_up(self, table: Table, size: Ints, asked: Ints, expected: float, n: int) -> tuple[float, float]:
        """Chances of all items left, with a goal; without one they are relative to each other."""
        total = float(self.mass(table, size, asked).sum())
        return (total, 1.0) if table.goal is not None else (float(total > 0), 1.0)
