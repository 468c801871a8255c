"""Drawing: one function per sampling kind, shared by all designs."""

from __future__ import annotations

import numpy as np

from sondage.designs.base import Table
from sondage.errors import NotSupported
from sondage.pool.keyed_order import LazyOrder
from sondage.pool.units import ItemUnits, Units
from sondage.sampling.draw_cells import draw_from_cells
from sondage.sampling.draw_new import next_new, patience, repeats
from sondage.sampling.draw_once import draw_once
from sondage.sampling.draws import Draws, History, Limit
from sondage.streams import Stream, integer_weights
from sondage.types import Floats, Ints

__all__ = ["Draws", "History", "Limit", "arrival_order", "draw"]


def draw(table: Table, units: Units, history: History, n: int, limit: Limit, stream: Stream) -> Draws:
    """Draw ``n`` new items by the table, never more than the limit allows."""
    if table.kind == "strata":
        return _strata(table, units, history, limit, stream)
    if table.kind == "wor":
        return _without_replacement(table, units, history, n, limit, stream)
    if table.kind in ("online", "systematic", "pivotal"):
        return draw_once(table, units, history, limit, stream)
    if table.kind == "wr" and not isinstance(units, ItemUnits):
        return draw_from_cells(table, units, history, n, limit, stream)
    if not isinstance(units, ItemUnits):
        raise NotSupported(f"kind {table.kind!r} draws single items: the design must have strata=None")
    if table.kind == "wr":
        return _with_replacement(table, units, history, n, limit, stream)
    return _poisson(table, units, history, n, limit)


def _strata(table: Table, units: Units, history: History, limit: Limit, stream: Stream) -> Draws:
    """A quota of each unit: read on in its keyed order.

    Units take turns, from random starts if the limit does not pay for all: a round that is cut short must not
    end with the units that happen to be numbered first.
    """
    assert table.quota is not None
    unit = np.repeat(np.arange(units.count), table.quota)
    index = _running_index(table.quota)
    row = units.rows_at(unit, history.taken[unit] + index)
    short = limit.cut(units.cost_of(row)) < len(row)
    start = stream.uniform(units.count)[unit] if short else 0.5
    turn = np.argsort((index + start) / table.quota[unit], kind="stable")
    unit, row = unit[turn], row[turn]
    position = history.taken[unit] + index[turn]
    fits = limit.cut(units.cost_of(row))
    unit, row, position = unit[:fits], row[:fits], position[:fits]
    left = units.size[unit] - position
    nothing = np.full(fits, np.nan)
    return Draws(row, unit, np.ones(fits, np.int64), nothing, nothing, 1.0 / left, left, np.ones(fits, bool))


def _without_replacement(
    table: Table, units: Units, history: History, n: int, limit: Limit, stream: Stream
) -> Draws:
    """One after another: a unit by its chance times the items left in it, an item evenly inside.

    Whether the limit pays for a draw is settled before it: where it does not pay for the dearest item that
    could come, the round ends. To draw and then put back what is too dear would leave the cheap ones with
    larger chances than recorded.
    """
    taken = history.taken.copy()
    row, unit, p, left = [], [], [], []
    words = stream.uniform(n)
    limited, most, spent = np.isfinite(limit.cost), limit.cost * (1 + 1e-12), 0.0
    for k in range(min(n, limit.labels)):
        remaining = units.size - taken
        mass = table.mass(units.size, taken)
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
    size = len(row)
    remaining_then = np.array(left, dtype=np.int64)
    return Draws(
        np.array(row, dtype=np.int64),
        np.array(unit, dtype=np.int64),
        np.ones(size, np.int64),
        np.array(p),
        np.full(size, np.nan),
        1.0 / remaining_then,
        remaining_then,
        np.ones(size, bool),
    )


def _with_replacement(
    table: Table, units: ItemUnits, history: History, n: int, limit: Limit, stream: Stream
) -> Draws:
    """Independent draws until the n-th new item, or before one that the limit does not pay for."""
    n = min(n, limit.labels)
    weights, cumulative = table.weights, table.cumulative
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
        np.ones(len(row)),
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


def _poisson(table: Table, units: ItemUnits, history: History, n: int, limit: Limit) -> Draws:
    """Items whose permanent random number is at most ``scale * size``, in the order they arrive.

    Reading on in that order nests the samples: a larger scale gives a superset. Where the budget cuts
    the sample short, or the size is fixed, the scale becomes the arrival of the first item left out.
    Given the others, an item is then included exactly if it arrives before that moment, so inverse
    inclusion chances stay unbiased (priority sampling: Duffield, Lund and Thorup 2007). This takes it
    that whoever has a budget goes on asking until it is spent.
    """
    size = table.chance
    assert size is not None
    order = arrival_order(table, units)
    reachable = table.cached("reachable", lambda: int(np.count_nonzero(size)))
    before = len(history.rows)
    most = before + (min(limit.labels, n) if table.kind == "fixed" else limit.labels)
    arrived = reachable if table.kind == "fixed" else order.count_up_to(table.scale)
    end = max(before, min(arrived, most, reachable))
    # Whether the budget pays for the first item left out is settled now: if not, nothing more is ever asked.
    rows = order.first(min(end + 1, reachable))[0][before:]
    fits = min(limit.cut(units.cost_of(rows)), end - before)
    dear = bool(units.cost_of(rows[: fits + 1]).sum() > limit.cost * (1 + 1e-12))
    cut_short = table.kind == "fixed" or dear or end == most
    end = before + fits
    scale = table.scale
    if cut_short:
        scale = float(order.first(end + 1)[1][end]) if end < reachable else np.inf
    rows = rows[:fits]
    nothing = np.full(fits, np.nan)
    ones = np.ones(fits, np.int64)
    with np.errstate(invalid="ignore"):
        pi = np.minimum(1.0, scale * size[rows])
    return Draws(rows, rows, ones, nothing, pi, np.ones(fits), ones, np.ones(fits, bool), scale)


def arrival_order(table: Table, units: ItemUnits) -> LazyOrder:
    """Items in the order in which a growing scale reaches them: random number over size."""
    size = table.chance
    assert size is not None

    def arrivals() -> Floats:
        with np.errstate(divide="ignore"):
            return np.asarray(units.permanent() / size)

    return table.cached("arrival", lambda: LazyOrder(units.count, arrivals))


def _running_index(quota: Ints) -> Ints:
    """0, 1, 2, ... inside each unit."""
    return np.arange(int(quota.sum())) - np.repeat(np.cumsum(quota) - quota, quota)
