"""Drawing with replacement where units are cells: one chance for all items of a cell not asked before."""

from __future__ import annotations

import numpy as np

from sondage.pool.units import Units
from sondage.sampling.base import Table, chances_of
from sondage.sampling.draws import Draws, History, Limit, running_index
from sondage.sampling.new_items import patience, repeats
from sondage.streams import Stream, integer_weights
from sondage.types import Floats, Ints

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
    row_of_fresh = _rows(units, history, cell, place[fresh], every)
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
            total = float(cumulative[-1])
            hit, times = _with_more(hit, times, more[: fits - len(fresh)], each, total, cells, short, stream)
    new = hit < cells
    row = np.empty(len(hit), dtype=np.int64)
    row[new] = row_of_fresh
    row[~new] = history.rows[hit[~new] - cells]
    unit = np.where(new, hit, 0)
    unit[~new] = units.of(row[~new])
    room = np.where(new, left[unit], 1)
    return Draws(
        row,
        unit,
        times,
        weights[hit] / float(cumulative[-1]) / room,
        np.full(len(row), np.nan),
        left[unit],
        new,
        np.nan if paid else 0.0,
    )


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
    hit: Ints, times: Ints, more: Ints, each: Floats, total: float, cells: int, short: int, stream: Stream
) -> tuple[Ints, Ints]:
    """What was drawn one by one, further new items in the cells ``more``, and the repeats until they came.

    ``each`` is the weight of an item left in each cell, and of each item asked; ``total`` that of all.
    """
    asked = np.setdiff1d(np.arange(cells, len(each)), hit)
    known = np.concatenate([hit, asked])
    again, extra = repeats(each[known], each[more], total, stream, one_more=len(more) < short)
    again[: len(hit)] += times
    hit, times = np.concatenate([known, more]), np.concatenate([again, extra + 1])
    return hit[times > 0], times[times > 0]


def _rows(units: Units, history: History, cell: Ints, place: Ints, every: bool) -> Ints:
    """The item of each new draw: the next of its cell in keyed order, or any where items come again."""
    return units.rows_at(cell, place if every else history.taken[cell] + running_index(cell))
