"""How much each unit's unseen labels could move the measure: the one formula behind every design.

With ``J = Dg(R)`` at the belief's own value of ``R``, the influence of an item is ``J @ l``. What a
design needs is its size under the belief: root mean square (Sawade 2013, Thm 4.1), mean absolute
(better per label where re-draws are free), or the standard deviation that is left when the estimator
subtracts what the belief predicts.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np

from sondage.beliefs.base import Belief, Nodes, at_least
from sondage.designs.base import Problem
from sondage.measures.base import Measure, distinct_rows
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.types import Floats, Ints

_BISECTIONS = 50


def unit_nodes(problem: Problem) -> tuple[Ints, Ints, Nodes]:
    """Representative rows, the unit of each, and the belief about each."""
    rows, unit = problem.once("representatives", problem.units.representatives)
    nodes = problem.state.nodes
    assert nodes is not None
    if nodes.labels.ndim == 1:
        nodes = Nodes(nodes.labels, nodes.weights[unit])
    return rows, unit, nodes


def unit_spread(problem: Problem, floor: float = 0.0) -> Floats:
    """(U,) belief's mean squared influence of an item of each unit.

    ``floor`` is the least chance of any label that the design reckons with.
    """
    kept = problem.memo.get("unit spread")
    if kept is not None and kept[0] is problem.state:  # a belief that did not move need not be asked again
        return np.asarray(kept[1])
    rows, unit, nodes = unit_nodes(problem)
    believed = nodes
    if problem.pool.labels.finite:
        nodes = Nodes(nodes.labels, at_least(nodes.weights, floor))
    measure, count, seen = problem.measure, problem.units.count, problem.pool.rows(rows)
    share = (problem.units.size / np.bincount(unit, minlength=count))[unit] / len(problem.pool)
    R = measure.total(seen, believed.labels, believed.weights * share[:, None])
    variance = None
    if problem.objective.scaled and measure.m > 1:
        variance = _uniform_variance(measure, R, [(seen, believed, share)])
    slope = target(problem, R, variance)
    centre = None
    if problem.centre != "none":
        mean, _ = measure.moments(seen, *believed, slope)
        centre = _unit_mean(mean, unit, count)[unit]
    spread = _unit_mean(measure.spread(seen, *nodes, slope, centre=centre), unit, count)
    problem.memo["unit spread"] = problem.state, spread
    return spread


def item_spread(
    problem: Problem, power: Literal[1, 2] = 2, *, floor: float = 0.0, risk_floor: float = 0.0
) -> Floats:
    """(N,) belief's mean of ``|influence| ** power`` of every item, in one pass.

    ``floor`` is the least chance of any label that the design reckons with.
    """
    pool, measure, belief = problem.pool, problem.measure, problem.belief
    R = item_expectation(pool, measure, belief)
    if risk_floor > 0:
        R = _away_from_ends(measure, R, _uninformed(problem), risk_floor)
    variance = None
    if problem.objective.scaled and measure.m > 1:
        each = 1.0 / len(pool)
        pieces = ((rows, belief.items(rows), np.full(len(rows), each)) for _, rows in pool.chunks())
        variance = _uniform_variance(measure, R, pieces)
    slope = target(problem, R, variance)
    out = np.empty(len(pool))
    signature = measure.signature(pool) if pool.labels.finite else None
    if signature is None:
        for piece, rows in pool.chunks():
            y, weights = belief.items(rows)
            weights = at_least(weights, floor) if pool.labels.finite else weights
            out[piece] = measure.spread(rows, y, weights, slope, power=power)
        return out
    # Equal signature means equal loss, so the norm of every (signature, label) is worked out once.
    _, first = np.unique(signature, return_index=True)
    labels = np.arange(pool.labels.size, dtype=np.float64)
    squared = np.square(measure.influence(pool.rows(first), labels, slope)).sum(axis=-1)
    norm = squared if power == 2 else np.sqrt(squared)
    for piece, rows in pool.chunks():
        weights = at_least(belief.items(rows).weights, floor)
        out[piece] = (weights * norm[signature[piece]]).sum(axis=1)
    return out


def item_expectation(pool: Pool, measure: Measure, belief: Belief) -> Floats:
    """(d,) pool mean of the losses that the belief expects, item by item."""
    signature = measure.signature(pool) if pool.labels.finite else None
    if signature is None:
        total = np.zeros(measure.d)
        for _, rows in pool.chunks():
            total += measure.total(rows, *belief.items(rows))
        return total / len(pool)
    _, first = np.unique(signature, return_index=True)
    labels = np.arange(pool.labels.size, dtype=np.float64)
    mass = belief.mass(pool, signature, len(first))
    return measure.total(pool.rows(first), labels, mass) / len(pool)


def target(problem: Problem, R: Floats, variance: Floats | None = None) -> Any:
    """The measure's slope at the believed averages, its coordinates weighted by the objective.

    ``variance`` is (m,) what one uniform draw would have: coordinates are put on that scale.
    """
    weight = problem.objective.weight(problem.measure.g(R))
    if variance is not None:
        known = np.isfinite(variance) & (variance > 0)
        weight = np.where(known, weight / np.where(known, variance, 1.0), 0.0)
        if not weight.any():
            weight = np.ones(len(weight))
    return problem.measure.slope(R, weight)


def _uniform_variance(
    measure: Measure, R: Floats, pieces: Iterable[tuple[Rows, Nodes, Floats]]
) -> Floats:
    """(m,) mean squared influence of an item, over rows that stand for the given shares of the pool."""
    known = measure.uniform_variance(R)
    if known is not None:
        return known
    slope, total = measure.slope(R), np.zeros(measure.m)
    for rows, nodes, share in pieces:
        total += measure.square_sum(rows, *nodes, slope, share)
    return total


def _unit_mean(values: Floats, unit: Ints, count: int) -> Floats:
    if len(values) == count:  # one representative each
        return values
    each = np.bincount(unit, minlength=count)
    if values.ndim == 1:
        return np.bincount(unit, weights=values, minlength=count) / each
    columns = [np.bincount(unit, weights=column, minlength=count) for column in values.T]
    return np.stack(columns, axis=1) / each[:, None]


def _uninformed(problem: Problem) -> Floats:
    """(d,) averages if every label were equally likely."""
    pool, measure = problem.pool, problem.measure

    def make() -> Floats:
        if not pool.labels.finite:
            return item_expectation(pool, measure, problem.belief)
        labels = np.arange(pool.labels.size, dtype=np.float64)
        total = np.zeros(measure.d)
        for rows, count in distinct_rows(measure, pool):
            share = np.repeat(count[:, None] / len(labels), len(labels), axis=1)
            total += measure.total(rows, labels, share)
        return total / len(pool)

    return problem.once("uninformed", make)


def _away_from_ends(measure: Measure, R: Floats, towards: Floats, floor: float) -> Floats:
    """The least step from ``R`` to ``towards`` that leaves the ends of a bounded range."""
    low, high = measure.range
    bounded = np.isfinite(low) & np.isfinite(high)
    if not bounded.any():
        return R
    margin = floor * (high - low)[bounded]
    inside_low, inside_high = low[bounded] + margin, high[bounded] - margin

    def inside(step: float) -> bool:
        value = measure.g((1 - step) * R + step * towards)[bounded]
        return not bool(((value < inside_low) | (value > inside_high)).any())

    if inside(0.0):
        return R
    if not inside(1.0):
        return 0.5 * (R + towards)
    below, above = 0.0, 1.0
    for _ in range(_BISECTIONS):
        middle = 0.5 * (below + above)
        below, above = (below, middle) if inside(middle) else (middle, above)
    return (1 - above) * R + above * towards
