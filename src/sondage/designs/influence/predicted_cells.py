"""Cells by what the belief predicts of each item: for pools in which no score orders the items.

Queries are such items. What is predicted of one, its value or the difference of two rankers there, says which
queries are alike; how uncertain that is, and what judging it costs, says where labels are worth most.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np

from sondage.beliefs.base import Belief
from sondage.designs.influence.slope import item_expectation
from sondage.measures.base import Measure
from sondage.measures.combine.coordinates import coordinate_ratios
from sondage.pool.pool import Pool
from sondage.pool.units import CellUnits
from sondage.strata.fillable_cells import EACH
from sondage.types import Bools, Floats, Ints

_MOST, _SHOWN = 32, 64
_DIGITS = 9
"""Digits of predictions that count: rounding must not part what is alike, on any machine."""
_WORTH = 1e-5
"""Share of the standard error that a cut must save by the belief."""


class Predicted(NamedTuple):
    """What the belief predicts of every item, in standard deviations of an item drawn evenly."""

    mean: Floats
    """(N, m) influences."""
    variance: Floats
    """(N,) summed over the coordinates."""
    settled: Bools
    """(N,) items of which no label can change anything."""


def predicted(pool: Pool, measure: Measure, belief: Belief) -> Predicted:
    """The influence that the belief expects of every item, in one pass."""
    # Means over items that all weigh the same move alike wherever they are, up to a constant.
    anywhere = np.ones(measure.d) if not pool.has("weight") and _of_means(measure) else None
    psi = measure.influence(item_expectation(pool, measure, belief) if anywhere is None else anywhere)
    means, squares, settled = [], [], []
    for _, rows in pool.chunks():
        mean, square = psi.moments(rows, *belief.items(rows))
        means.append(mean)
        squares.append(square)
        settled.append(measure.settled(rows))
    mean, square = np.concatenate(means), np.concatenate(squares)
    whole = square.mean(axis=0) - np.square(mean.mean(axis=0))
    scale = np.where(whole > 0, np.sqrt(np.maximum(whole, 1e-300)), np.inf)
    variance = np.maximum(square - np.square(mean), 0.0) / np.square(scale)
    mean = (mean - mean.mean(axis=0)) / scale
    return Predicted(mean.round(_DIGITS), variance.sum(axis=1).round(_DIGITS), np.concatenate(settled))


def _of_means(measure: Measure) -> bool:
    """Whether every coordinate is a mean over all items, or a contrast of such."""
    if getattr(measure, "paired", False):
        return True
    ratios = coordinate_ratios(measure)
    return ratios is not None and all(np.array_equal(den, np.eye(measure.d)[0]) for _, den in ratios)


def predicted_cells(pool: Pool, measure: Measure, belief: Belief, seed: int, labels: float) -> CellUnits:
    """Cells cut one after another where that lowers the expected error most, ``EACH`` labels for each.

    With labels shared out by Neyman's rule the standard error at a given cost goes with the sum over cells of
    ``sqrt(T C)``, T being the squares about the cell's mean, those of the belief's uncertainty included, and
    C the cost of the cell (Cochran 1977, 5.5). Cuts go along the predictions, their uncertainty or the cost.
    Items that no label can change are a cell of their own.
    """
    known = predicted(pool, measure, belief)
    cost = pool.costs(slice(None))
    most = int(np.clip(labels // EACH, 1, _MOST))
    keys = np.column_stack([known.mean, known.variance, cost])
    codes = cut_cells(known, cost, keys, most)
    return CellUnits(pool, codes, known.settled.astype(np.int64), seed=seed, by_cost=False)


def query_words(pool: Pool, measure: Measure, belief: Belief, rows: Ints) -> str:
    """What is predicted of some queries, in words; "" for several values at once."""
    if measure.m > 1:
        return ""
    some = pool.rows(rows[:: max(len(rows) // _SHOWN, 1)])
    value = measure.g(measure.expected(some, *belief.items(some)))[:, 0]
    low, high = (f"{end:.2f}" for end in (value.min(), value.max()))
    return f"{measure.names[0]} is predicted to be {low}{f' to {high}' if high != low else ''} there"


def cut_cells(known: Predicted, cost: Floats, keys: Floats, most: int) -> Ints:
    """(N,) cells, ``most`` of them at the most; neighbouring numbers were parted last."""
    open_ = np.flatnonzero(~known.settled)
    codes = np.zeros(len(cost), dtype=np.int64)
    if not len(open_):
        return codes
    least = max(len(open_) // (2 * most), 1)
    leaves, order = {0: open_}, [0]
    first = _best_cut(known, cost, keys, open_, least)
    enough = _WORTH * _error(known, cost, open_)
    waiting = [(-first[0], 0, first[1])] if first is not None else []
    while waiting and len(leaves) < most:
        gain, leaf, (left, right) = heapq.heappop(waiting)
        if -gain < enough:
            break
        new = len(leaves)
        leaves[leaf], leaves[new] = left, right
        order.insert(order.index(leaf) + 1, new)
        for one in (leaf, new):
            found = _best_cut(known, cost, keys, leaves[one], least)
            if found is not None:
                heapq.heappush(waiting, (-found[0], one, found[1]))
    for number, leaf in enumerate(order):
        codes[leaves[leaf]] = number
    return codes


def _error(known: Predicted, cost: Floats, rows: Ints) -> float:
    """``sqrt(T C)`` of some rows."""
    mean = known.mean[rows]
    squares = known.variance[rows].sum() + np.square(mean - mean.mean(axis=0)).sum()
    return float(np.sqrt(squares * cost[rows].sum()))


def _best_cut(
    known: Predicted, cost: Floats, keys: Floats, rows: Ints, least: int
) -> tuple[float, tuple[Ints, Ints]] | None:
    """What the best cut of some rows saves, and its two sides; None where there is none."""
    if len(rows) < 2 * least:
        return None
    whole, best = _error(known, cost, rows), None
    for key in keys[rows].T:
        if key.min() == key.max():
            continue
        order = np.argsort(key, kind="stable")
        error = _running(known, cost, rows[order])[:-1] + _running(known, cost, rows[order[::-1]])[-2::-1]
        place = np.arange(1, len(rows))
        parts = (np.diff(key[order]) > 0) & (place >= least) & (len(rows) - place >= least)
        if not parts.any():
            continue
        at = int(np.argmin(np.where(parts, error, np.inf)))
        if best is None or whole - error[at] > best[0]:
            best = float(whole - error[at]), (rows[np.sort(order[: at + 1])], rows[np.sort(order[at + 1 :])])
    return best


def _running(known: Predicted, cost: Floats, rows: Ints) -> Floats:
    """(n,) ``sqrt(T C)`` of the first, the first two, ... of some rows."""
    mean, count = known.mean[rows], np.arange(1.0, len(rows) + 1.0)
    squares = np.cumsum(np.square(mean).sum(axis=1) + known.variance[rows])
    about = squares - np.square(np.cumsum(mean, axis=0)).sum(axis=1) / count
    return np.asarray(np.sqrt(np.maximum(about, 0.0) * np.cumsum(cost[rows])))
