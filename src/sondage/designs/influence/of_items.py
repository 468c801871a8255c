"""The influence that a belief expects of every single item, in one pass over the pool."""

from __future__ import annotations

from typing import Literal

import numpy as np

from sondage.beliefs.base import Nodes, at_least
from sondage.designs.base import Problem
from sondage.designs.influence.slope import away_from_ends, floored, item_expectation, target, uninformed
from sondage.measures.base import Measure
from sondage.measures.influence import Influence
from sondage.pool.division import Division
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.types import Bools, Floats, Ints


def item_spread(
    problem: Problem, power: Literal[1, 2] = 2, *, floor: float = 0.0, risk_floor: float = 0.0
) -> Floats:
    """(N,) belief's mean of ``|influence| ** power`` of every item, in one pass.

    ``floor`` is the least chance of any label that the design reckons with.
    """
    pool, measure, belief = problem.pool, problem.measure, problem.belief
    psi = _influence(problem, floor, risk_floor)
    out = np.empty(len(pool))
    signature = measure.signature(pool) if pool.labels.finite else None
    if signature is None:
        for piece, rows in pool.chunks():
            y, weights = belief.items(rows)
            weights = floored(pool, weights, floor)
            out[piece] = psi.spread(rows, y, weights, power=power)
        return out
    # Equal signature means equal loss, so the norm of every (signature, label) is worked out once.
    kinds = Division(signature)
    labels = np.arange(pool.labels.size, dtype=np.float64)
    squared = np.square(psi.folded.of(pool.rows(kinds.first), labels)).sum(axis=-1)
    norm = squared if power == 2 else np.sqrt(squared)
    for piece, rows in pool.chunks():
        weights = at_least(belief.items(rows).weights, floor)
        out[piece] = (weights * norm[kinds.of(piece)]).sum(axis=1)
    return out


def rectifier_spread(problem: Problem, floor: float = 0.0) -> Floats:
    """(U,) mean squared influence that a prediction of every single item leaves, over the items of each unit.

    Other than ``unit_spread``, which has one prediction for a unit. The prediction is that of the belief
    before any label; ``floor`` is the least chance of any label that the design reckons with.
    """

    def make() -> Floats:
        pool, belief, units = problem.pool, problem.belief, problem.units
        psi = _influence(problem, floor).folded
        total = np.zeros(units.count)
        for piece, rows in pool.chunks():
            y, weights = belief.items(rows)
            centre, _ = psi.moments(rows, y, weights)
            left = psi.spread(rows, y, floored(pool, weights, floor), centre=centre)
            total += np.bincount(units.of(piece), weights=left, minlength=units.count)
        return np.asarray(total / units.size)

    return problem.once("rectifier spread", make)


def _influence(problem: Problem, floor: float, risk_floor: float = 0.0) -> Influence:
    """The influence at what the belief expects of every item before any label.

    Coordinates are put on a scale by the chances that the design reckons with: what the belief holds certain
    has no spread by its own, and would outweigh all others.
    """
    pool, measure = problem.pool, problem.measure

    def reckoned(rows: Rows) -> Nodes:
        labels, weights = problem.belief.items(rows)
        return Nodes(labels, floored(pool, weights, floor))

    R = item_expectation(pool, measure, problem.belief)
    if risk_floor > 0:
        R = away_from_ends(measure, R, uninformed(problem, measure), risk_floor, risk_floor)
    each = 1.0 / len(pool)
    pieces = ((rows, reckoned(rows), np.full(len(rows), each)) for _, rows in pool.chunks())
    return target(problem, R, pieces)


def is_mean_over_pool(measure: Measure, pool: Pool, rows: Ints) -> bool:
    """Whether a measure is a mean over items that are known without labels, all those of the pool.

    ``rows`` stand for the others.
    """
    if measure.ratio is None or not pool.labels.finite:
        return False
    below = measure.loss(pool.rows(rows), np.arange(pool.labels.size, dtype=np.float64)) @ measure.ratio[1]
    return bool((np.ptp(below, axis=1) == 0).all() and (below > 0).all())


def may_matter(problem: Problem, rows: Ints) -> Bools:
    """(n,) whether the losses of some items depend on their classes at all, whatever is believed of these."""
    pool, measure = problem.pool, problem.measure
    kind = measure.signature(pool)
    kinds = rows if kind is None else kind[rows]
    _, first, place = np.unique(kinds, return_index=True, return_inverse=True)
    return np.asarray(~measure.settled(pool.rows(rows[first])))[place.ravel()]
