"""How much each unit's unseen labels could move the measure: the one formula behind every design.

With ``J = Dg(R)`` at the belief's own value of ``R``, the influence of an item is ``J @ l``. What a
design needs is its size under the belief: root mean square (Sawade 2013, Thm 4.1), mean absolute
(better per label where re-draws are free), or the standard deviation that is left when the estimator
subtracts what the belief predicts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np

from sondage.beliefs.base import Belief, Nodes, at_least
from sondage.designs.base import Problem
from sondage.designs.unit_means import UnitMeans
from sondage.measures.base import Measure, distinct_rows, weighted_moments
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.types import Array, Floats, Ints

_LEAST_VALUE = 0.05
"""Share of its range at which a measure is linearised at least: misses must matter before a hit is seen."""
_HITS = 3.0
"""After n labels a share of ``_HITS / n`` is enough: if the value were larger, hits would have been seen."""
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
    if kept is not None and kept[0] is problem.state and kept[1] == floor:
        return np.asarray(kept[2])  # a belief that did not move need not be asked again
    rows, unit, believed = unit_nodes(problem)
    nodes = Nodes(believed.labels, floored(problem.pool, believed.weights, floor))
    measure, count, seen = problem.measure.folded, problem.units.count, problem.pool.rows(rows)
    slope = _believed_slope(problem)
    if problem.centre == "none":
        each = measure.spread(seen, *nodes, slope)
    else:
        mean, _ = measure.moments(seen, *believed, slope)
        fold = problem.measure.fold(seen)
        centre, elsewhere = UnitMeans(mean, unit, count, fold).at(unit, fold)
        each = measure.spread(seen, *nodes, slope, centre=centre) + elsewhere
    spread = unit_mean(each, unit, count)
    problem.memo["unit spread"] = problem.state, floor, spread
    return spread


def _believed_slope(problem: Problem) -> Any:
    """The slope at what the belief of the units expects of the whole pool."""
    rows, unit, nodes = unit_nodes(problem)
    measure, count, seen = problem.measure, problem.units.count, problem.pool.rows(rows)
    share = (problem.units.size / np.bincount(unit, minlength=count))[unit] / len(problem.pool)
    R = measure.expected_total(seen, *nodes, share)
    variance = None
    if problem.objective.scaled and measure.m > 1:
        variance = uniform_variance(measure, R, [(seen, nodes, share)])
    return target(problem, R, variance)


def seen_error(problem: Problem) -> tuple[Floats, Ints]:
    """(U,) twice: squared errors in what was believed of the influence of the labels seen, and their number.

    The errors are added up over the labels of each unit.
    """
    rows, unit, nodes = unit_nodes(problem)
    measure, count, seen = problem.measure, problem.units.count, problem.seen
    if not len(seen.y):
        return np.zeros(count), np.zeros(count, dtype=np.int64)
    slope, shown, told = _believed_slope(problem), problem.pool.rows(rows), problem.pool.rows(seen.row)
    mean = measure.folded.moments(shown, *nodes, slope)[0]
    found = measure.folded.influence(told, seen.y[:, None], slope)[:, 0, :]
    centre, elsewhere = UnitMeans(mean, unit, count, measure.fold(shown)).at(seen.unit, measure.fold(told))
    error = np.square(found - centre).sum(axis=1) + elsewhere
    total = np.bincount(seen.unit, weights=error, minlength=count)
    return np.asarray(total, dtype=np.float64), np.bincount(seen.unit, minlength=count)


def rectifier_spread(problem: Problem, floor: float = 0.0) -> Floats:
    """(U,) mean squared influence that a prediction of every single item leaves, over the items of each unit.

    Other than ``unit_spread``, which has one prediction for a unit. The prediction is that of the belief
    before any label; ``floor`` is the least chance of any label that the design reckons with.
    """

    def make() -> Floats:
        pool, measure, belief, units = problem.pool, problem.measure.folded, problem.belief, problem.units
        slope = _item_slope(problem)
        total = np.zeros(units.count)
        for piece, rows in pool.chunks():
            y, weights = belief.items(rows)
            centre, _ = measure.moments(rows, y, weights, slope)
            left = measure.spread(rows, y, floored(pool, weights, floor), slope, centre=centre)
            total += np.bincount(units.codes[piece], weights=left, minlength=units.count)
        return np.asarray(total / units.size)

    return problem.once("rectifier spread", make)


def item_spread(
    problem: Problem, power: Literal[1, 2] = 2, *, floor: float = 0.0, risk_floor: float = 0.0
) -> Floats:
    """(N,) belief's mean of ``|influence| ** power`` of every item, in one pass.

    ``floor`` is the least chance of any label that the design reckons with.
    """
    pool, measure, belief = problem.pool, problem.measure, problem.belief
    slope = _item_slope(problem, risk_floor)
    out = np.empty(len(pool))
    signature = measure.signature(pool) if pool.labels.finite else None
    if signature is None:
        for piece, rows in pool.chunks():
            y, weights = belief.items(rows)
            weights = floored(pool, weights, floor)
            out[piece] = measure.spread(rows, y, weights, slope, power=power)
        return out
    # Equal signature means equal loss, so the norm of every (signature, label) is worked out once.
    _, first = np.unique(signature, return_index=True)
    labels = np.arange(pool.labels.size, dtype=np.float64)
    squared = np.square(measure.folded.influence(pool.rows(first), labels, slope)).sum(axis=-1)
    norm = squared if power == 2 else np.sqrt(squared)
    for piece, rows in pool.chunks():
        weights = at_least(belief.items(rows).weights, floor)
        out[piece] = (weights * norm[signature[piece]]).sum(axis=1)
    return out


def _item_slope(problem: Problem, risk_floor: float = 0.0) -> Any:
    """The slope at what the belief expects of every item before any label."""
    pool, measure, belief = problem.pool, problem.measure, problem.belief
    R = item_expectation(pool, measure, belief)
    if risk_floor > 0:
        R = _away_from_ends(measure, R, _uninformed(problem, measure), risk_floor, risk_floor)
    variance = None
    if problem.objective.scaled and measure.m > 1:
        each = 1.0 / len(pool)
        pieces = ((rows, belief.items(rows), np.full(len(rows), each)) for _, rows in pool.chunks())
        variance = uniform_variance(measure, R, pieces)
    return target(problem, R, variance)


def floored(pool: Pool, weights: Floats, floor: float) -> Floats:
    """Label chances of at least ``floor``; those of yes or no to many, each for itself."""
    if pool.labels.finite:
        return at_least(weights, floor)
    if pool.labels.kind == "vector" and pool.labels.whole:
        return np.clip(weights, floor, 1.0 - floor)
    return weights


def item_expectation(pool: Pool, measure: Measure, belief: Belief) -> Floats:
    """(d,) pool mean of the losses that the belief expects, item by item."""
    signature = measure.signature(pool) if pool.labels.finite else None
    if signature is None:
        total = np.zeros(measure.d)
        for _, rows in pool.chunks():
            total += measure.expected_total(rows, *belief.items(rows), np.ones(len(rows)))
        return total / len(pool)
    _, first = np.unique(signature, return_index=True)
    labels = np.arange(pool.labels.size, dtype=np.float64)
    mass = belief.mass(pool, signature, len(first))
    return measure.total(pool.rows(first), labels, mass) / len(pool)


def seen_variance(problem: Problem, first: int | None = None) -> Floats:
    """(U,) sample variance of the influence of the labels seen in each unit; 0 with fewer than two.

    ``first`` leaves out all but so many of each unit, in the order asked.
    """
    seen = problem.seen
    count = problem.units.count
    if not len(seen.y):
        return np.zeros(count)
    shown, measure = problem.pool.rows(seen.row), problem.measure
    influence = measure.folded.influence(shown, seen.y[:, None], _stratified_slope(problem))[:, 0, :]
    unit, fold = seen.unit, measure.fold(shown)
    if first is not None:
        order = np.argsort(unit, kind="stable")
        begin = np.searchsorted(unit[order], unit[order], "left")
        early = np.zeros(len(unit), dtype=bool)
        early[order] = np.arange(len(unit)) - begin < first
        influence, unit = influence[early], unit[early]
        fold = None if fold is None else fold[early]
    n = np.bincount(unit, minlength=count)
    centre, elsewhere = UnitMeans(influence, unit, count, fold).at(unit, fold)
    away = np.square(influence - centre).sum(axis=1) + elsewhere
    total = np.bincount(unit, weights=away, minlength=count)
    return np.where(n > 1, total / np.maximum(n - 1, 1), 0.0)


def unit_variance(problem: Problem, nodes: Nodes) -> Floats:
    """(U,) variance of the influence of an item of each unit, its label being distributed like this."""
    rows, unit, _ = unit_nodes(problem)
    if nodes.labels.ndim == 1:
        nodes = Nodes(nodes.labels, nodes.weights[unit])
    measure, shown = problem.measure, problem.pool.rows(rows)
    mean, square = measure.folded.moments(shown, *nodes, _stratified_slope(problem))
    return UnitMeans(mean, unit, problem.units.count, measure.fold(shown)).variance(square)


def least_value(labels: int) -> float:
    """Share of its range at which a measure is linearised at least, after so many labels.

    >>> least_value(0), least_value(300)
    (0.05, 0.01)
    """
    return min(_LEAST_VALUE, _HITS / max(labels, 1))


def unseen_variances(problem: Problem, measures: Sequence[Measure], least: float | None = None) -> Floats:
    """(A, U) variance under the belief of the influence of an unlabelled item on each of A ``measures``.

    For classes. Slopes are taken at the labels seen and what the belief expects of the rest; of a bounded
    measure at no less than the share ``least`` of its range (default: ``least_value``), because at its lower
    end misses seem not to matter.
    """
    least = least_value(int(problem.answered.sum())) if least is None else least
    rows, unit, nodes = unit_nodes(problem)
    seen, count, labels = problem.seen, problem.units.count, problem.pool.labels.size
    flat = seen.unit * labels + seen.y.astype(np.int64)
    told = np.bincount(flat, minlength=count * labels).reshape(count, labels)[unit]
    expected = told + (problem.units.size - problem.answered)[unit, None] * nodes.weights
    expected = expected / np.bincount(unit, minlength=count)[unit, None]
    shown, out = problem.pool.rows(rows), np.zeros((len(measures), count))
    for a, measure in enumerate(measures):
        R = _total(problem, measure, shown, nodes.labels, expected) / len(problem.pool)
        R = _away_from_ends(measure, R, _uninformed(problem, measure), least, 0.0)
        variance = None
        if problem.objective.scaled and measure.m > 1:
            share = expected.sum(axis=1) / len(problem.pool)
            variance = uniform_variance(measure, R, [(shown, nodes, share)])
        slope = target(problem, R, variance, measure)
        mean, square = _moments(problem, measure, shown, nodes, slope)
        out[a] = UnitMeans(mean, unit, count, measure.fold(shown)).variance(square)
    return out


def _plain(measure: Measure) -> bool:
    """Whether all that is asked of a measure here follows from losses that are few."""
    kind = type(measure)
    names = ("total", "moments", "influence")
    return not measure.wide and all(getattr(kind, name) is getattr(Measure, name) for name in names)


def _losses(problem: Problem, measure: Measure, shown: Rows, labels: Floats) -> Floats:
    """(n, S, d) losses of the units' representatives, which stay the same: made once."""
    return problem.once(("loss", measure), lambda: measure.loss(shown, labels))


def _total(problem: Problem, measure: Measure, shown: Rows, labels: Floats, weights: Floats) -> Floats:
    """``measure.total``, from losses at hand where the measure has no shorter way of its own."""
    if not _plain(measure):
        return measure.total(shown, labels, weights)
    return np.asarray(np.einsum("us,usd->d", weights, _losses(problem, measure, shown, labels)))


def _moments(
    problem: Problem, measure: Measure, shown: Rows, nodes: Nodes, slope: Any
) -> tuple[Floats, Floats]:
    """``measure.folded.moments``, likewise."""
    if not _plain(measure):
        return measure.folded.moments(shown, *nodes, slope)
    return weighted_moments(_losses(problem, measure, shown, nodes.labels) @ slope.T, nodes.weights)


def is_mean_over_pool(measure: Measure, pool: Pool, rows: Ints) -> bool:
    """Whether a measure is a mean over items that are known without labels, all those of the pool.

    ``rows`` stand for the others.
    """
    if measure.ratio is None or not pool.labels.finite:
        return False
    below = measure.loss(pool.rows(rows), np.arange(pool.labels.size, dtype=np.float64)) @ measure.ratio[1]
    return bool((np.ptp(below, axis=1) == 0).all() and (below > 0).all())


def possible_jump(problem: Problem) -> Floats:
    """(U,) squared difference between the greatest and the least influence of a label of each unit."""
    rows, unit, nodes = unit_nodes(problem)
    measure, slope = problem.measure.folded, _stratified_slope(problem)
    influence = measure.influence(problem.pool.rows(rows), nodes.labels, slope)
    return unit_mean(np.square(np.ptp(influence, axis=1)).sum(axis=1), unit, problem.units.count)


def _stratified_slope(problem: Problem) -> Any:
    """The slope at the mean of the labels of each unit; of the belief where a unit has none."""
    rows, unit, nodes = unit_nodes(problem)
    seen, size, count = problem.seen, problem.units.size, problem.units.count
    n = np.bincount(seen.unit, minlength=count)
    share = (np.where(n > 0, 0, size) / np.bincount(unit, minlength=count))[unit]
    total = problem.measure.expected_total(problem.pool.rows(rows), *nodes, share)
    if len(seen.y):
        weight = (size / np.maximum(n, 1))[seen.unit]
        total = total + problem.measure.total(problem.pool.rows(seen.row), seen.y[:, None], weight[:, None])
    R = total / len(problem.pool)
    if not np.isfinite(problem.measure.g(R)).all():  # nothing seen yet to divide by: what is believed
        share = (size / np.bincount(unit, minlength=count))[unit]
        R = problem.measure.expected_total(problem.pool.rows(rows), *nodes, share) / len(problem.pool)
    return target(problem, R)


def target(
    problem: Problem, R: Floats, variance: Floats | None = None, measure: Measure | None = None
) -> Any:
    """The measure's slope at the believed averages, its coordinates weighted by the objective.

    ``variance`` is (m,) what one uniform draw would have: coordinates are put on that scale. ``measure``
    is another than the problem's own.
    """
    measure = problem.measure if measure is None else measure
    weight = problem.objective.weight(measure.g(R))
    if variance is not None:
        known = np.isfinite(variance) & (variance > 0)
        weight = np.where(known, weight / np.where(known, variance, 1.0), 0.0)
        if not weight.any():
            weight = np.ones(len(weight))
    return measure.slope(R, weight)


def uniform_variance(measure: Measure, R: Floats, pieces: Iterable[tuple[Rows, Nodes, Floats]]) -> Floats:
    """(m,) mean squared influence of an item, over rows that stand for the given shares of the pool."""
    known = measure.uniform_variance(R)
    if known is not None:
        return known
    slope, total = measure.slope(R), np.zeros(measure.m)
    for rows, nodes, share in pieces:
        total += measure.square_sum(rows, *nodes, slope, share)
    return total


def unit_mean(values: Floats, unit: Ints, count: int) -> Floats:
    """(U,) or (U, m) mean over the representatives of each unit."""
    if len(values) == count:  # one representative each
        return values
    each = np.bincount(unit, minlength=count)
    if values.ndim == 1:
        return np.bincount(unit, weights=values, minlength=count) / each
    columns = [np.bincount(unit, weights=column, minlength=count) for column in values.T]
    return np.stack(columns, axis=1) / each[:, None]


def _uninformed(problem: Problem, measure: Measure) -> Floats:
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


def _between(measure: Measure, R: Floats, bounded: Array, low: Floats, high: Floats) -> tuple[Array, Array]:
    """Which bounded coordinates are not below ``low``, and which not above ``high``; nan counts as inside."""
    value = measure.g(R)[bounded]
    return ~(value < low), ~(value > high)


def _away_from_ends(measure: Measure, R: Floats, towards: Floats, at_low: float, at_high: float) -> Floats:
    """The least step from ``R`` to ``towards`` that leaves the ends of a bounded range."""
    low, high = measure.range
    bounded = np.isfinite(low) & np.isfinite(high)
    if not bounded.any():
        return R
    width = (high - low)[bounded]
    inside_low, inside_high = low[bounded] + at_low * width, high[bounded] - at_high * width
    if np.all(_between(measure, R, bounded, inside_low, inside_high)):
        return R

    low_enough, high_enough = _between(measure, towards, bounded, inside_low, inside_high)
    movable = low_enough & high_enough  # a coordinate that is at an end whatever the labels cannot be moved

    def inside(step: float) -> bool:
        found = _between(measure, (1 - step) * R + step * towards, bounded, inside_low, inside_high)
        return bool((found[0] & found[1])[movable].all())

    if inside(0.0):
        return R
    below, above = 0.0, 1.0
    for _ in range(_BISECTIONS):
        middle = 0.5 * (below + above)
        below, above = (below, middle) if inside(middle) else (middle, above)
    return (1 - above) * R + above * towards
