"""Where a measure is linearised, and how steep it is there: its slope at averages that are believed in."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from sondage.beliefs.base import Belief, Nodes, at_least
from sondage.designs.base import Problem
from sondage.measures.base import Measure
from sondage.measures.influence import Influence
from sondage.measures.losses.base import distinct_rows
from sondage.pool.division import Division
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.types import Bools, Floats

_LEAST_VALUE = 0.05
"""Share of its range at which a measure is linearised at least: misses must matter before a hit is seen."""
_HITS = 3.0
"""After n labels a share of ``_HITS / n`` is enough: if the value were larger, hits would have been seen."""
_BISECTIONS = 50
Pieces = Iterable[tuple[Rows, Nodes, Floats]]


def target(
    problem: Problem, R: Floats, pieces: Pieces | None = None, measure: Measure | None = None
) -> Influence:
    """The influence on the measure at the believed averages, its coordinates weighted by the objective.

    ``pieces`` are rows, what is believed of them, and the shares of the pool that they stand for: where the
    objective wants it, coordinates are put on the scale of the variance that one uniform draw would have.
    ``measure`` is another than the problem's own.
    """
    measure = problem.measure if measure is None else measure
    weight = problem.objective.weight(measure.g(R))
    if pieces is not None and problem.objective.scaled and measure.m > 1:
        variance = measure.map.uniform_variance(R)
        if variance is None:
            psi, variance = measure.influence(R), np.zeros(measure.m)
            for rows, nodes, share in pieces:
                variance += psi.square_sum(rows, *nodes, share)
        known = np.isfinite(variance) & (variance > 0)
        weight = np.where(known, weight / np.where(known, variance, 1.0), 0.0)
        if not weight.any():
            weight = np.ones(len(weight))
    return measure.influence(R, weight)


def least_value(labels: int) -> float:
    """Share of its range at which a measure is linearised at least, after so many labels.

    >>> least_value(0), least_value(300)
    (0.05, 0.01)
    """
    return min(_LEAST_VALUE, _HITS / max(labels, 1))


def away_from_ends(measure: Measure, R: Floats, towards: Floats, at_low: float, at_high: float) -> Floats:
    """The least step from ``R`` to ``towards`` that leaves the ends of a bounded range."""
    low, high = measure.range
    with np.errstate(invalid="ignore"):
        width = high - low
        width[np.isinf(width)] = np.nan  # a range without an end has none to be away from
        inside_low, inside_high = low + at_low * width, high - at_high * width

    def inside(R: Floats) -> Bools:
        value = measure.g(R)
        return ~((value < inside_low) | (value > inside_high))  # nan counts as inside

    here = inside(R)
    if here.all():
        return R
    movable = inside(towards)  # a coordinate that is at an end whatever the labels cannot be moved
    if here[movable].all():
        return R
    below, above = 0.0, 1.0
    for _ in range(_BISECTIONS):
        middle = 0.5 * (below + above)
        enough = inside((1 - middle) * R + middle * towards)[movable].all()
        below, above = (below, middle) if enough else (middle, above)
    return (1 - above) * R + above * towards


def uninformed(problem: Problem, measure: Measure) -> Floats:
    """(d,) averages if every label were equally likely."""
    pool = problem.pool

    def make() -> Floats:
        if not pool.labels.finite:
            return item_expectation(pool, measure, problem.belief)
        labels = np.arange(pool.labels.size, dtype=np.float64)
        total = np.zeros(measure.d)
        for rows, count in distinct_rows(measure, pool):
            share = np.repeat(count[:, None] / len(labels), len(labels), axis=1)
            total += measure.total(rows, labels, share)
        return total / len(pool)

    return problem.once(("uninformed", measure), make)


def item_expectation(pool: Pool, measure: Measure, belief: Belief) -> Floats:
    """(d,) pool mean of the losses that the belief expects, item by item."""
    signature = measure.signature(pool) if pool.labels.finite else None
    if signature is None:
        total = np.zeros(measure.d)
        for _, rows in pool.chunks():
            total += measure.total(rows, *belief.items(rows))
        return total / len(pool)
    kinds = Division(signature)
    labels = np.arange(pool.labels.size, dtype=np.float64)
    return measure.total(pool.rows(kinds.first), labels, belief.mass(pool, kinds)) / len(pool)


def floored(pool: Pool, weights: Floats, floor: float) -> Floats:
    """Label chances of at least ``floor``; those of yes or no to many, each for itself."""
    if pool.labels.finite:
        return at_least(weights, floor)
    if pool.labels.kind == "vector" and pool.labels.whole:
        return np.clip(weights, floor, 1.0 - floor)
    return weights
