"""How much each unit's unseen labels could move the measure: the one formula behind every design.

With ``J = Dg(R)`` at the belief's own value of ``R``, the influence of an item is ``J @ l``. What a
design needs is its size under the belief: root mean square (Sawade 2013, Thm 4.1), mean absolute
(better per label where re-draws are free), or the standard deviation that is left when the estimator
subtracts what the belief predicts.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from sondage.beliefs.base import Belief, Nodes, at_least
from sondage.designs.base import Problem
from sondage.measures.base import Measure, distinct_rows
from sondage.pool.pool import Pool
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


def unit_expectation(problem: Problem) -> Floats:
    """(U, d) losses that the belief expects of an item of each unit."""
    rows, unit, nodes = unit_nodes(problem)
    loss = problem.measure.loss(problem.pool.rows(rows), nodes.labels)
    return _unit_mean(np.einsum("ns,nsd->nd", nodes.weights, loss), unit, problem.units.count)


def unit_spread(problem: Problem, floor: float = 0.0) -> Floats:
    """(U,) belief's mean squared influence of an item of each unit.

    ``floor`` is the least chance of any label that the design reckons with.
    """
    kept = problem.memo.get("unit spread")
    if kept is not None and kept[0] is problem.state:  # a belief that did not move need not be asked again
        return np.asarray(kept[1])
    rows, unit, nodes = unit_nodes(problem)
    if problem.pool.labels.finite:
        nodes = Nodes(nodes.labels, at_least(nodes.weights, floor))
    expected = unit_expectation(problem)
    size = problem.units.size
    J = target(problem, size @ expected / size.sum())
    centre = None if problem.centre == "none" else expected[unit]
    each = problem.measure.spread(problem.pool.rows(rows), *nodes, J, centre=centre)
    spread = _unit_mean(each, unit, problem.units.count)
    problem.memo["unit spread"] = problem.state, spread
    return spread


def item_spread(
    problem: Problem, power: Literal[1, 2] = 2, *, floor: float = 0.0, risk_floor: float = 0.0
) -> Floats:
    """(N,) belief's mean of ``|influence| ** power`` of every item, in one pass.

    ``floor`` is the least chance of any label that the design reckons with.
    """
    pool, measure, belief = problem.pool, problem.measure, problem.belief
    J = target(problem, item_expectation(pool, measure, belief), risk_floor)
    out = np.empty(len(pool))
    signature = measure.signature(pool) if pool.labels.finite else None
    if signature is None:
        for piece, rows in pool.chunks():
            y, weights = belief.items(rows)
            weights = at_least(weights, floor) if pool.labels.finite else weights
            out[piece] = measure.spread(rows, y, weights, J, power=power)
        return out
    # Equal signature means equal loss, so the norm of every (signature, label) is worked out once.
    _, first = np.unique(signature, return_index=True)
    labels = np.arange(pool.labels.size, dtype=np.float64)
    rows = pool.rows(first)
    norm = np.stack(
        [measure.spread(rows, y, np.ones((len(first), 1)), J, power=power) for y in labels[:, None]],
        axis=1,
    )
    for piece, rows in pool.chunks():
        weights = at_least(belief.items(rows).weights, floor)
        out[piece] = (weights * norm[signature[piece]]).sum(axis=1)
    return out


def item_expectation(pool: Pool, measure: Measure, belief: Belief) -> Floats:
    """(d,) pool mean of the losses that the belief expects, item by item."""
    total = np.zeros(measure.d)
    signature = measure.signature(pool) if pool.labels.finite else None
    if signature is None:
        for _, rows in pool.chunks():
            labels, weights = belief.items(rows)
            total += np.einsum("ns,nsd->d", weights, measure.loss(rows, labels))
        return total / len(pool)
    _, first = np.unique(signature, return_index=True)
    labels = np.arange(pool.labels.size, dtype=np.float64)
    mass = belief.mass(pool, signature, len(first))
    loss = measure.loss(pool.rows(first), labels)
    return np.asarray(np.einsum("ks,ksd->d", mass, loss) / len(pool))


def target(problem: Problem, R: Floats, risk_floor: float = 0.0) -> Floats:
    """(m, d) derivative at the believed averages, its coordinates weighted by the objective.

    ``risk_floor`` keeps the believed value that far (in shares of the range) from both ends: a model
    sure of being perfect would otherwise never look where it might be wrong (Sawade 2013, 4.2.2).
    """
    measure = problem.measure
    if risk_floor > 0:
        R = _away_from_ends(measure, R, _uninformed(problem), risk_floor)
    weight = problem.objective.weight(measure.g(R))
    J = measure.jac(R) * np.sqrt(weight)[:, None]
    return np.nan_to_num(J, nan=0.0, posinf=0.0, neginf=0.0)


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
            total += count @ measure.loss(rows, labels).mean(axis=1)
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
