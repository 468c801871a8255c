"""Drawing with replacement where units are cells: one chance for all items of a cell not asked before."""

from __future__ import annotations

import numpy as np

from sondage.designs.base import Table
from sondage.designs.draws import MOST_DRAWS, Draws, History, Limit
from sondage.pool.units import Units
from sondage.streams import Stream, integer_weights
from sondage.types import Ints

_SHIFT = 32
"""A place inside a cell and the cell make one number: cells and places both fit into 32 bits."""


def draw_from_cells(
    table: Table, units: Units, history: History, n: int, limit: Limit, stream: Stream
) -> Draws:
    """Independent draws until the n-th new item, or before one that the limit does not pay for.

    A draw falls on a cell, and there on any of its items not asked before the round, or on one item that
    was. Which of a cell's items the first, second, ... different place stands for is settled by their keyed
    order, so that a draw never looks at the whole pool. Free re-draws are counted, not looked at one by
    one.
    """
    assert table.chance is not None
    repeats = history.repeats_count
    left = units.size if repeats else units.size - history.taken
    known = np.empty(0) if table.asked is None or repeats else table.asked
    weights = integer_weights(np.concatenate([table.chance * left, known]))
    cumulative = np.cumsum(weights)
    cells = units.count
    n = min(n, limit.labels)
    if not repeats:
        n = min(n, int(left[weights[:cells] > 0].sum()))
    group = place = fresh = first = begin = which = np.empty(0, dtype=np.int64)
    while len(fresh) < n and len(group) < MOST_DRAWS:
        more = max(64, 2 * n, len(group))
        hit = stream.pick(cumulative, more)
        inside = np.floor(stream.uniform(more) * np.where(hit < cells, left[np.minimum(hit, cells - 1)], 1))
        group, place = np.concatenate([group, hit]), np.concatenate([place, inside.astype(np.int64)])
        if repeats:
            fresh = np.arange(len(group))
        else:
            _, begin, which = np.unique((group << _SHIFT) | place, return_index=True, return_inverse=True)
            first = np.sort(begin)
            fresh = first[group[first] < cells]
    fresh = fresh[:n]
    row_of_fresh = _rows(units, history, group[fresh], place[fresh], repeats)
    fits = limit.cut(units.cost_of(row_of_fresh))
    # Stop at the last item that fits; where the next would cost too much, free re-draws before it stay.
    paid = fits == len(fresh)
    end = (int(fresh[-1]) + 1 if paid else int(fresh[fits])) if len(fresh) else 0
    group, place, fresh, row_of_fresh = group[:end], place[:end], fresh[:fits], row_of_fresh[:fits]
    if repeats:
        first, times = fresh, np.ones(len(fresh), dtype=np.int64)
    else:
        first = first[first < end]
        times = np.bincount(which[:end], minlength=len(begin))[which[first]]
    hit = group[first]
    new = hit < cells
    row = np.empty(len(first), dtype=np.int64)
    row[new] = row_of_fresh
    row[~new] = history.rows[hit[~new] - cells]
    unit = np.where(new, hit, 0)
    unit[~new] = units.unit_of(row[~new])
    room = np.where(new, left[unit], 1)
    return Draws(
        row,
        unit,
        times,
        weights[hit] / float(cumulative[-1]) / room,
        np.full(len(row), np.nan),
        1.0 / room,
        left[unit],
        new,
        np.nan if paid else 0.0,
    )


def _rows(units: Units, history: History, cell: Ints, place: Ints, repeats: bool) -> Ints:
    """The item of each new draw: the next of its cell in keyed order, or any where items come again."""
    return units.rows_at(cell, place if repeats else history.taken[cell] + _turn(cell))


def _turn(cell: Ints) -> Ints:
    """0, 1, 2, ... for the first, second, third, ... time that a cell appears."""
    if len(cell) == 1:
        return np.zeros(1, dtype=np.int64)
    order = np.argsort(cell, kind="stable")
    ordered = cell[order]
    begin = np.concatenate([[0], np.flatnonzero(np.diff(ordered)) + 1]) if len(cell) else np.empty(0, int)
    run = np.diff(np.concatenate([begin, [len(cell)]]))
    turn = np.empty(len(cell), dtype=np.int64)
    turn[order] = np.arange(len(cell)) - np.repeat(begin, run)
    return turn
