"""With replacement: independent draws by known chances; an item may come again."""

from __future__ import annotations

import numpy as np

from sondage.pool.units import ItemUnits, Units
from sondage.sampling.base import SamplingKind, Table, chances_of, one_draw, sum_over
from sondage.sampling.draws import Draws, History, Limit
from sondage.sampling.new_items import next_new, patience, repeats
from sondage.sampling.replacement_cells import draw_from_cells
from sondage.streams import Stream, integer_weights
from sondage.types import Floats, Ints

_FEW_REPEATS = 1e-3
_BISECTIONS = 60


class WithReplacement(SamplingKind):
    """Draws until the n-th new item, or before one that the limit does not pay for: then the scale is 0.

    ``chance`` is per item and draw. Where units are cells it is the chance of an item not asked before, and
    ``asked`` that of each item that was, in the order asked.
    """

    alias = "wr"
    rule = "Items are drawn one by one with known chances; one that comes again is free."
    estimator = "weighted"
    recorded = "p"
    comes_again = True
    stands_alone = True
    next_item = "the item drawn next"

    def draw(
        self, table: Table, units: Units, history: History, n: int, limit: Limit, stream: Stream
    ) -> Draws:
        """Of single items, or of cells."""
        by = _draw_items if isinstance(units, ItemUnits) else draw_from_cells
        return by(table, units, history, n, limit, stream)

    def table_from(self, content: Floats, units: int) -> Table:
        """With the chances of items asked, where there were some."""
        asked = content[units:] if len(content) > units else None
        return Table(self, chance=content[:units], asked=asked)

    def is_over(self, scale: float) -> bool:
        """To draw again after an item that was too dear would favour the cheap ones beyond their chances."""
        return scale == 0

    def relative_chance(self, table: Table, size: Ints, asked: Ints, expected: float, n: int) -> Floats:
        """Of the next draw: the chances of all items add up to 1, those asked before included."""
        return np.asarray(chances_of(table) * int(size.sum()))

    def left_to_chance(self, weight: Floats, times: Ints) -> Floats:
        """All of it."""
        return np.asarray(np.square(weight) / times)

    def variance(
        self, table: Table, units: Units, spread: Floats, n: int, repeats_count: bool
    ) -> tuple[float, float]:
        """Repeats of a label add to the draws; they are free unless each needs an answer of its own."""
        if not units.itemwise:
            variance, cost = one_draw(table, units, spread)
            return variance / n, n * cost
        q, N = chances_of(table) / chances_of(table).sum(), len(spread)
        draws = float(n) if repeats_count else table.cached(f"draws for {n}", lambda: _draws_for(q, n))
        price = n * q if repeats_count else -np.expm1(draws * np.log1p(-np.minimum(q, 1 - 1e-16)))
        return sum_over(spread, q) / (N * N * draws), float(price @ units.cost)

    def adds_up(self, table: Table, size: Ints, asked: Ints, expected: float, n: int) -> tuple[float, float]:
        """Chances of all items, those asked before included."""
        if table.asked is None:
            return float(chances_of(table) @ size), 1.0
        known = float(table.asked.sum()) if len(table.asked) == asked.sum() else np.nan
        return float(chances_of(table) @ (size - asked)) + known, 1.0


def _draws_for(q: Floats, n: int) -> float:
    """Draws with replacement that find n different items on average."""
    if n * float(q @ q) < _FEW_REPEATS:
        return float(n)
    log = np.log1p(-np.minimum(q, 1 - 1e-16))
    # The last of several is found for sure only after ever so many.
    n = max(min(n, int((q > 0).sum()) - 1), 1)

    def found(draws: float) -> float:
        return float(-np.expm1(draws * log).sum())

    below, above = float(n), 2.0 * n
    while found(above) < n:
        below, above = above, 2 * above
    for _ in range(_BISECTIONS):
        middle = 0.5 * (below + above)
        below, above = (middle, above) if found(middle) < n else (below, middle)
    return above


def _draw_items(table: Table, units: Units, history: History, n: int, limit: Limit, stream: Stream) -> Draws:
    """Draws of single items. Chances as integers are what is really drawn from, and recorded."""
    n = min(n, limit.labels)
    weights: Ints = table.cached("weights", lambda: integer_weights(chances_of(table)))
    cumulative: Ints = table.cached("cumulative", lambda: np.cumsum(weights))
    if not history.repeats_count:
        reachable = table.cached("reachable", lambda: int(np.count_nonzero(weights)))
        n = min(n, reachable - int(np.count_nonzero(weights[history.rows])))
    sequence = np.empty(0, dtype=np.int64)
    fresh = np.empty(0, dtype=np.int64)
    while len(fresh) < n and len(sequence) < patience(n):
        more = stream.pick(cumulative, max(64, 2 * n, len(sequence)))
        sequence = np.concatenate([sequence, more])
        if history.repeats_count:
            fresh = np.arange(len(sequence))
        else:
            first = np.sort(np.unique(sequence, return_index=True)[1])
            fresh = first[~history.asked[sequence[first]]]
    fresh = fresh[:n]
    short = n - len(fresh)
    more = _new_items(weights, history, sequence, short, stream) if short else np.empty(0, dtype=np.int64)
    fits = limit.cut(units.cost_of(np.concatenate([sequence[fresh], more])))
    # Stop at the last item that fits; where the next would cost too much, free re-draws before it stay.
    paid = fits == len(fresh) + len(more)
    if fits < len(fresh):
        sequence, short = sequence[: fresh[fits]], 0
    elif not short:
        sequence = sequence[: fresh[-1] + 1 if len(fresh) else 0]
    if history.repeats_count:
        row, times = sequence, np.ones(len(sequence), dtype=np.int64)
        new = np.ones(len(sequence), dtype=bool)
    else:
        row, first, times = np.unique(sequence, return_index=True, return_counts=True)
        order = np.argsort(first, kind="stable")
        row, times = row[order], times[order]
        if short:
            fit = more[: fits - len(fresh)]
            known = np.concatenate([row, np.setdiff1d(history.rows, row)])
            again, extra = repeats(
                weights[known].astype(np.float64),
                weights[fit].astype(np.float64),
                float(cumulative[-1]),
                stream,
                one_more=len(fit) < short,
            )
            again[: len(row)] += times
            row, times = np.concatenate([known, fit]), np.concatenate([again, extra + 1])
            row, times = row[times > 0], times[times > 0]
        new = ~history.asked[row]
    return Draws(
        row,
        row,
        times,
        weights[row] / float(cumulative[-1]),
        np.full(len(row), np.nan),
        new.astype(np.int64),
        new,
        np.nan if paid else 0.0,
    )


def _new_items(weights: Ints, history: History, drawn: Ints, count: int, stream: Stream) -> Ints:
    """The next new items, in order: none that was asked or drawn."""
    there = weights > 0
    there[history.rows] = False
    there[drawn] = False
    rows = np.flatnonzero(there)
    return rows[next_new(weights[rows], count, stream)]
