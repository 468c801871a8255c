"""With replacement: independent draws by known chances; an item may come again."""

from __future__ import annotations

import numpy as np

from sondage.pool.units import ItemUnits, Units
from sondage.sampling.base import (
    Draws,
    History,
    Limit,
    SamplingKind,
    Table,
    chances_of,
    one_draw,
    running_index,
    sum_over,
)
from sondage.sampling.new_items import next_new, patience, repeats
from sondage.streams import Stream, integer_weights
from sondage.types import Array, Floats, Ints

_FEW_REPEATS = 1e-3
_BISECTIONS = 60
_SHIFT = 32
"""A place inside a cell and the cell make one number: cells and places both fit into 32 bits."""


class WithReplacement(SamplingKind):
    """Draws until the n-th new item, or before one that the limit does not pay for: then the scale is 0.

    ``chance`` is per item and draw. Where units are cells it is the chance of an item not asked before, and
    ``asked`` that of each item that was, in the order asked.
    """

    alias = "wr"
    rule = "Items are drawn one by one with known chances; an item drawn again costs no new label."
    estimator = "weighted"
    recorded = "p"
    comes_again = True
    stands_alone = True
    next_item = "the item drawn next"

    def draw(
        self, table: Table, units: Units, history: History, n: int, limit: Limit, stream: Stream
    ) -> Draws:
        by = _draw_items if isinstance(units, ItemUnits) else draw_from_cells
        return by(table, units, history, n, limit, stream)

    def table_from(self, content: Floats, units: int) -> Table:
        asked = content[units:] if len(content) > units else None
        return Table(self, chance=content[:units], asked=asked)

    def is_over(self, scale: float) -> bool:
        """To draw again after an item that was too dear would favour the cheap ones beyond their chances."""
        return scale == 0

    def relative_chance(self, table: Table, size: Ints, asked: Ints, expected: float, n: int) -> Floats:
        """Of the next draw: the chances of all items add up to 1, those asked before included."""
        return np.asarray(chances_of(table) * int(size.sum()))

    def left_to_chance(self, weight: Floats, times: Ints) -> Floats:
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
            fit, total = more[: fits - len(fresh)], float(cumulative[-1])
            row, times = _with_more(row, times, history.rows, fit, weights, total, short, stream)
        new = ~history.asked[row]
    p, none, scale = weights[row] / float(cumulative[-1]), np.full(len(row), np.nan), np.nan if paid else 0.0
    return Draws(row, row, times, p, none, new.astype(np.int64), new, scale)


def _new_items(weights: Ints, history: History, drawn: Ints, count: int, stream: Stream) -> Ints:
    """The next new items, in order: none that was asked or drawn."""
    there = weights > 0
    there[history.rows] = False
    there[drawn] = False
    rows = np.flatnonzero(there)
    return rows[next_new(weights[rows], count, stream)]


def draw_from_cells(
    table: Table, units: Units, history: History, n: int, limit: Limit, stream: Stream
) -> Draws:
    """Independent draws until the n-th new item, or before one that the limit does not pay for.

    A draw falls on a cell, and there on any of its items not asked before the round, or on one item that
    was. Which of a cell's items the first, second, ... different place stands for is settled by their keyed
    order, so that a draw never looks at the whole pool. Free re-draws are counted, not looked at one by
    one.
    """
    every = history.repeats_count
    left = units.size if every else units.size - history.taken
    known = np.empty(0) if table.asked is None or every else table.asked
    weights = integer_weights(np.concatenate([chances_of(table) * left, known]))
    cumulative = np.cumsum(weights)
    cells = units.count
    n = min(n, limit.labels)
    if not every:
        n = min(n, int(left[weights[:cells] > 0].sum()))
    group = place = fresh = first = begin = which = np.empty(0, dtype=np.int64)
    while len(fresh) < n and len(group) < patience(n):
        size = max(64, 2 * n, len(group))
        hit = stream.pick(cumulative, size)
        inside = np.floor(stream.uniform(size) * np.where(hit < cells, left[np.minimum(hit, cells - 1)], 1))
        group, place = np.concatenate([group, hit]), np.concatenate([place, inside.astype(np.int64)])
        if every:
            fresh = np.arange(len(group))
        else:
            _, begin, which = np.unique((group << _SHIFT) | place, return_index=True, return_inverse=True)
            first = np.sort(begin)
            fresh = first[group[first] < cells]
    fresh = fresh[:n]
    short = n - len(fresh)
    more = _new_cells(weights[:cells], left, group[fresh], short, stream)
    cell = np.concatenate([group[fresh], more])
    # The item of a new draw is the next of its cell in keyed order, or any where items come again.
    row_of_fresh = units.rows_at(cell, place[fresh] if every else history.taken[cell] + running_index(cell))
    fits = limit.cut(units.cost_of(row_of_fresh))
    # Stop at the last item that fits; where the next would cost too much, free re-draws before it stay.
    paid = fits == len(row_of_fresh)
    end = len(group)
    if fits < len(fresh):
        end, short = int(fresh[fits]), 0
    elif not short:
        end = int(fresh[-1]) + 1 if len(fresh) else 0
    row_of_fresh = row_of_fresh[:fits]
    if every:
        hit, times = group[fresh[:fits]], np.ones(fits, dtype=np.int64)
    else:
        first = first[first < end]
        hit, times = group[first], np.bincount(which[:end], minlength=len(begin))[which[first]]
        if short:
            each = weights / np.concatenate([np.maximum(left, 1), np.ones(len(known), dtype=np.int64)])
            asked, fit, total = np.arange(cells, len(each)), more[: fits - len(fresh)], float(cumulative[-1])
            hit, times = _with_more(hit, times, asked, fit, each, total, short, stream)
    new = hit < cells
    row = np.empty(len(hit), dtype=np.int64)
    row[new] = row_of_fresh
    row[~new] = history.rows[hit[~new] - cells]
    unit = np.where(new, hit, 0)
    unit[~new] = units.of(row[~new])
    p = weights[hit] / float(cumulative[-1]) / np.where(new, left[unit], 1)
    return Draws(row, unit, times, p, np.full(len(row), np.nan), left[unit], new, np.nan if paid else 0.0)


def _new_cells(weights: Ints, left: Ints, drawn: Ints, count: int, stream: Stream) -> Ints:
    """The cells of the next new items, in order: by the weight of what is not drawn of them yet."""
    room = left - np.bincount(drawn, minlength=len(left))
    out = np.empty(count, dtype=np.int64)
    for k, word in enumerate(stream.uniform(count) if count else ()):
        reached = np.cumsum(weights * (room / np.maximum(left, 1)))
        there = np.searchsorted(reached, word * reached[-1], side="right")
        out[k] = min(there, np.flatnonzero(room * weights)[-1])
        room[out[k]] -= 1
    return out


def _with_more(
    hit: Ints, times: Ints, asked: Ints, more: Ints, each: Array, total: float, short: int, stream: Stream
) -> tuple[Ints, Ints]:
    """What was drawn one by one, ``more`` new items of the ``short`` ones, and the repeats until they came.

    ``asked`` was asked before; ``each`` is the weight of an item at every place, ``total`` that of all.
    """
    known = np.concatenate([hit, np.setdiff1d(asked, hit)])
    before, new = each[known].astype(np.float64), each[more].astype(np.float64)
    again, extra = repeats(before, new, total, stream, one_more=len(more) < short)
    again[: len(hit)] += times
    hit, times = np.concatenate([known, more]), np.concatenate([again, extra + 1])
    return hit[times > 0], times[times > 0]
