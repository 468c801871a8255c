"""The influence of an item of each unit: under the belief, and as the labels seen show it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sondage.beliefs.base import Nodes
from sondage.designs.base import Problem
from sondage.designs.influence.kept_losses import losses_of_units
from sondage.designs.influence.slope import (
    away_from_ends,
    floored,
    least_value,
    target,
    uniform_variance,
    uninformed,
)
from sondage.designs.influence.unit_means import UnitMeans
from sondage.measures.base import Measure
from sondage.measures.influence import Influence
from sondage.types import Floats, Ints


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
    psi, count, seen = _believed_influence(problem).folded, problem.units.count, problem.pool.rows(rows)
    if problem.centre == "none":
        each = psi.spread(seen, *nodes)
    else:
        mean, _ = psi.moments(seen, *believed)
        fold = psi.fold(seen)
        centre, elsewhere = UnitMeans(mean, unit, count, fold).at(unit, fold)
        each = psi.spread(seen, *nodes, centre=centre) + elsewhere
    spread = unit_mean(each, unit, count)
    problem.memo["unit spread"] = problem.state, floor, spread
    return spread


def _believed_influence(problem: Problem) -> Influence:
    """The influence at what the belief of the units expects of the whole pool."""
    rows, unit, nodes = unit_nodes(problem)
    measure, count, seen = problem.measure, problem.units.count, problem.pool.rows(rows)
    share = (problem.units.size / np.bincount(unit, minlength=count))[unit] / len(problem.pool)
    R = measure.total(seen, *nodes, share)
    variance = None
    if problem.objective.scaled and measure.m > 1:
        variance = uniform_variance(measure, R, [(seen, nodes, share)])
    return target(problem, R, variance)


def seen_error(problem: Problem) -> tuple[Floats, Ints]:
    """(U,) twice: squared errors in what was believed of the influence of the labels seen, and their number.

    The errors are added up over the labels of each unit.
    """
    rows, unit, nodes = unit_nodes(problem)
    count, seen = problem.units.count, problem.seen
    if not len(seen.y):
        return np.zeros(count), np.zeros(count, dtype=np.int64)
    psi = _believed_influence(problem).folded
    shown, told = problem.pool.rows(rows), problem.pool.rows(seen.row)
    mean = psi.moments(shown, *nodes)[0]
    found = psi.of(told, seen.y[:, None])[:, 0, :]
    centre, elsewhere = UnitMeans(mean, unit, count, psi.fold(shown)).at(seen.unit, psi.fold(told))
    error = np.square(found - centre).sum(axis=1) + elsewhere
    total = np.bincount(seen.unit, weights=error, minlength=count)
    return np.asarray(total, dtype=np.float64), np.bincount(seen.unit, minlength=count)


def seen_variance(problem: Problem, first: int | None = None) -> Floats:
    """(U,) sample variance of the influence of the labels seen in each unit; 0 with fewer than two.

    ``first`` leaves out all but so many of each unit, in the order asked.
    """
    seen = problem.seen
    count = problem.units.count
    if not len(seen.y):
        return np.zeros(count)
    shown, psi = problem.pool.rows(seen.row), _stratified_influence(problem).folded
    influence = psi.of(shown, seen.y[:, None])[:, 0, :]
    unit, fold = seen.unit, psi.fold(shown)
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
    psi, shown = _stratified_influence(problem).folded, problem.pool.rows(rows)
    mean, square = psi.moments(shown, *nodes)
    return UnitMeans(mean, unit, problem.units.count, psi.fold(shown)).variance(square)


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
        kept = losses_of_units(problem, measure, rows, nodes.labels)
        R = kept.total(expected) / len(problem.pool)
        R = away_from_ends(measure, R, uninformed(problem, measure), least, 0.0)
        variance = None
        if problem.objective.scaled and measure.m > 1:
            share = expected.sum(axis=1) / len(problem.pool)
            variance = uniform_variance(measure, R, [(shown, nodes, share)])
        psi = target(problem, R, variance, measure).folded
        mean, square = kept.moments(psi, nodes.weights)
        out[a] = UnitMeans(mean, unit, count, psi.fold(shown)).variance(square)
    return out


def possible_jump(problem: Problem) -> Floats:
    """(U,) squared difference between the greatest and the least influence of a label of each unit."""
    rows, unit, nodes = unit_nodes(problem)
    influence = _stratified_influence(problem).folded.of(problem.pool.rows(rows), nodes.labels)
    return unit_mean(np.square(np.ptp(influence, axis=1)).sum(axis=1), unit, problem.units.count)


def _stratified_influence(problem: Problem) -> Influence:
    """The influence at the mean of the labels of each unit; of the belief where a unit has none."""
    rows, unit, nodes = unit_nodes(problem)
    seen, size, count = problem.seen, problem.units.size, problem.units.count
    n = np.bincount(seen.unit, minlength=count)
    share = (np.where(n > 0, 0, size) / np.bincount(unit, minlength=count))[unit]
    total = problem.measure.total(problem.pool.rows(rows), *nodes, share)
    if len(seen.y):
        weight = (size / np.maximum(n, 1))[seen.unit]
        total = total + problem.measure.total(problem.pool.rows(seen.row), seen.y[:, None], weight[:, None])
    R = total / len(problem.pool)
    if not np.isfinite(problem.measure.g(R)).all():  # nothing seen yet to divide by: what is believed
        share = (size / np.bincount(unit, minlength=count))[unit]
        R = problem.measure.total(problem.pool.rows(rows), *nodes, share) / len(problem.pool)
    return target(problem, R)


def unit_mean(values: Floats, unit: Ints, count: int) -> Floats:
    """(U,) or (U, m) mean over the representatives of each unit."""
    if len(values) == count:  # one representative each
        return values
    each = np.bincount(unit, minlength=count)
    if values.ndim == 1:
        return np.bincount(unit, weights=values, minlength=count) / each
    columns = [np.bincount(unit, weights=column, minlength=count) for column in values.T]
    return np.stack(columns, axis=1) / each[:, None]
