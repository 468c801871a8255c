"""Boundaries: where to cut a column of scores. Plain functions of arrays.

A boundary belongs to the stratum above it: stratum h holds ``edges[h - 1] <= score < edges[h]``. So equal
scores are never parted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sondage.pool.pool import pieces
from sondage.types import Array, Floats, Ints

_MOST_BINS = 1 << 16
_DIGITS = 12


def bands(edges: Array, score: Array) -> Array:
    """(N,) the stratum of every score between inner edges in rising order.

    >>> bands(np.array([0.2, 0.5]), np.array([0.1, 0.2, 0.4, 0.5, 0.9])).tolist()
    [0, 1, 1, 2, 2]
    """
    codes = np.empty(len(score), dtype=np.min_scalar_type(len(edges)))
    for piece in pieces(len(score)):
        codes[piece] = np.searchsorted(edges, score[piece], "right")
    return codes


def whole_runs(by: Array, cuts: Ints) -> Array:
    """(N,) strata between places of the sorted values, each moved to the nearer end of a run of equal ones.

    Equal values are alike: cutting them apart gains nothing, and a curve through the parts takes chance for
    a slope.

    >>> whole_runs(np.array([0.0, 0.0, 0.0, 0.0, 1.0, 2.0]), np.array([0, 1, 3, 5, 6])).tolist()
    [0, 0, 0, 0, 1, 2]
    """
    places = cuts[1:-1]
    # Only the values at the cuts are sorted out: no permutation of all is held.
    value = np.partition(by, places)[places] if len(places) else by[:0]
    beyond = np.nextafter(value, np.inf)
    # Begin and end of the run in which a cut lies.
    begin, end = (np.cumsum(frequencies(edges, by))[:-1] for edges in (value, beyond))
    to_begin = places - begin <= end - places
    edges, moved = np.where(to_begin, value, beyond), np.where(to_begin, begin, end)
    distinct, which = np.unique(moved, return_index=True)
    return bands(edges[which[(distinct > 0) & (distinct < len(by))]], by)


def equal_width(score: Array, count: int) -> Floats:
    """Inner edges of ``count`` strata of equal width from the least score to the greatest.

    >>> equal_width(np.array([0.0, 0.1, 1.0]), 4).tolist()
    [0.25, 0.5, 0.75]
    """
    return _grid(float(score.min()), float(score.max()), count)[1:-1]


def geometric(score: Array, count: int, origin: float) -> Floats:
    """Inner edges whose distances from ``origin`` grow by one factor (Gunning and Horgan 2004).

    All scores must lie on one side of the origin.

    >>> geometric(np.array([1.0, 5.0, 1000.0]), 3, origin=0.0).tolist()
    [10.0, 100.0]
    """
    low, high = float(score.min()) - origin, float(score.max()) - origin
    near, far = (low, high) if low > 0 else (high, low)
    share = np.arange(1, count) / count
    distance = np.exp(np.log(abs(near)) * (1 - share) + np.log(abs(far)) * share)
    # exp and log differ in the last digit between machines, which would move a score on an edge.
    edges = origin + np.copysign(1.0, near) * np.array([float(f"{d:.{_DIGITS}g}") for d in distance])
    return np.sort(edges)


def cumulated_root_frequency(score: Array, count: int, bins: int | None) -> Floats:
    """Inner edges that cut the cumulated root of a histogram into equal parts.

    Dalenius and Hodges (1959); Cochran (1977), section 5A.7. Each cut is the bin edge nearest to
    its target, so that two cuts may fall together and fewer are returned.
    """
    low, high = float(score.min()), float(score.max())
    edges = _grid(low, high, histogram_bins(score, count) if bins is None else bins)[1:-1]
    if not len(edges):
        return edges
    root = np.cumsum(np.sqrt(frequencies(edges, score)))
    target = root[-1] * np.arange(1, count) / count
    after = np.minimum(np.searchsorted(root[:-1], target), len(edges) - 1)
    before = np.maximum(after - 1, 0)
    nearest = np.where(target - root[before] <= root[after] - target, before, after)
    return np.unique(edges[nearest])


def histogram_bins(score: Array, count: int) -> int:
    """Bins of the rule of Freedman and Diaconis (1981), but at least four for each stratum."""
    low, first, third, high = np.quantile(score, [0, 0.25, 0.75, 1]).tolist()
    width = 2 * (third - first) / len(score) ** (1 / 3)
    # The width is nothing where half of the scores are equal.
    wanted = (high - low) / width if 0 < width < np.inf else 0.0
    return max(4 * count, round(min(wanted, _MOST_BINS)))


def frequencies(edges: Array, score: Array) -> Ints:
    """(K,) how many scores each stratum holds."""
    total = np.zeros(len(edges) + 1, dtype=np.int64)
    for piece in pieces(len(score)):
        total += np.bincount(np.searchsorted(edges, score[piece], "right"), minlength=len(total))
    return total


@dataclass(frozen=True)
class Cells:
    """Runs of neighbouring scores that a search for boundaries never parts.

    ``edge`` is the least score of each cell, ``count`` its items, ``total`` and ``square`` the sums of
    its scores and of their squares, both about ``centre``.
    """

    edge: Floats
    count: Ints
    total: Floats
    square: Floats
    centre: float


def cells(score: Array, most: int) -> Cells:
    """One cell per different score if there are at most ``most``, otherwise cells small in every way.

    A third of their boundaries are quantiles of the items, a third of the different scores, and a third
    lie equally far apart: no cell holds many items, many scores, or scores far from each other.
    """
    ordered = np.sort(score)
    begin = np.concatenate([[0], np.flatnonzero(ordered[1:] != ordered[:-1]) + 1])
    if len(begin) > most:
        parts = -(-most // 3)
        share = np.arange(1, parts) / parts
        by_items = ordered[np.floor(share * len(ordered)).astype(np.int64)]
        by_scores = ordered[begin[np.floor(share * len(begin)).astype(np.int64)]]
        by_width = _grid(float(ordered[0]), float(ordered[-1]), parts)[1:-1]
        starts = np.searchsorted(ordered, np.concatenate([ordered[:1], by_items, by_scores, by_width]))
        # A score that many items share is a cell by itself: the next score begins another.
        after = np.searchsorted(ordered, by_items[1:][by_items[1:] == by_items[:-1]], "right")
        begin = np.unique(np.concatenate([starts, after[after < len(ordered)]]))
    centre = float(ordered[len(ordered) // 2])
    about = ordered.astype(np.float64)
    about -= centre
    total = np.add.reduceat(about, begin)
    np.square(about, out=about)
    count = np.diff(begin, append=len(ordered))
    edge = ordered[begin].astype(np.float64)
    return Cells(edge, count, total, np.add.reduceat(about, begin), centre)


def best_cuts(cells: Cells, cost: Callable[[Cells], Floats], count: int) -> Floats:
    """Inner edges of the ``count`` runs of cells with the least total cost, by dynamic programming.

    ``cost`` gives a (G + 1, G + 1) table: the cost of a stratum of cells i to j - 1 at [i, j]. Exact for
    strata of whole cells: the best h strata of the first j cells are the best h - 1 strata of the first i
    and one stratum more, for the best i.
    """
    size = len(cells.edge)
    table = np.where(np.tri(size + 1, dtype=bool), np.inf, cost(cells))
    best = table[0]
    came_from = []
    for _ in range(min(count, size) - 1):
        through = best[:, None] + table
        came_from.append(np.argmin(through, axis=0))
        best = np.take_along_axis(through, came_from[-1][None], axis=0)[0]
    cuts, at = [], size
    for choice in reversed(came_from):
        at = int(choice[at])
        cuts.append(at)
    return cells.edge[cuts[::-1]]


def squared_error(cells: Cells) -> Floats:
    """Sum of squared distances from the mean of the stratum: the cost of k-means."""
    count, total, square = (_between(one) for one in (cells.count, cells.total, cells.square))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.maximum(square - total**2 / count, 0.0)


def neyman_cost(cells: Cells) -> Floats:
    """Items times standard deviation of success, sqrt(m (p - m)), where scores are its probability.

    The variance under Neyman allocation is the square of the sum over strata.
    """
    p, m = _mass(cells)
    return np.sqrt(np.maximum(m * (p - m), 0.0))


def proportional_cost(cells: Cells) -> Floats:
    """Items times variance of success, m (p - m) / p: the variance under proportional allocation."""
    p, m = _mass(cells)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.maximum(m * (p - m), 0.0) / p


def _mass(cells: Cells) -> tuple[Floats, Floats]:
    """Items p and expected successes m of every stratum."""
    return _between(cells.count), _between(cells.total + cells.centre * cells.count)


def _between(each: Array) -> Floats:
    """Sums over cells i to j - 1 at [i, j]."""
    running = np.concatenate([[0.0], np.cumsum(each, dtype=np.float64)])
    return np.asarray(running - running[:, None])


def _grid(low: float, high: float, parts: int) -> Floats:
    """Ends of equal parts, in rising order whatever the rounding."""
    share = np.arange(parts + 1) / parts
    return np.maximum.accumulate(np.clip(low * (1 - share) + high * share, low, high))
