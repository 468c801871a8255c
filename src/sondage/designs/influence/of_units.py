"""The influence of an item of each unit: under the belief, and as the labels seen show it."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from sondage.beliefs.base import Nodes
from sondage.designs.base import Problem
from sondage.designs.influence.slope import floored, target
from sondage.measures.base import Measure
from sondage.measures.influence import Dense, Influence, weighted_moments
from sondage.pool.rows import Rows
from sondage.sampling.base import running_index
from sondage.types import Bools, Floats, Ints

_ROUNDING = 1e-12
"""Share of a mean square below which a variance is rounding."""


def unit_nodes(problem: Problem) -> tuple[Ints, Ints, Nodes]:
    """Representative rows, the unit of each, and the belief about each."""
    rows, unit = problem.once("representatives", problem.units.representatives)
    nodes = problem.state.nodes
    assert nodes is not None
    if nodes.labels.ndim == 1:
        nodes = Nodes(nodes.labels, nodes.weights[unit])
    return rows, unit, nodes


def changing(problem: Problem) -> Bools:
    """(U,) units in which labels change the losses; none where losses are too many to be written out."""
    return problem.once("changing", lambda: _changing(problem))


def _changing(problem: Problem) -> Bools:
    some, measure = np.zeros(problem.units.count, dtype=bool), problem.measure
    if not (measure.wide or measure.tangent):
        rows, unit = problem.once("representatives", problem.units.representatives)
        some[unit[~measure.settled(problem.pool.rows(rows))]] = True
    return some


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
    seen = problem.pool.rows(rows)
    share = per_row(problem.units.size, unit) / len(problem.pool)
    R = problem.measure.total(seen, *nodes, share)
    return target(problem, R, [(seen, nodes, share)])


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
        early = running_index(unit) < first
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
    measure, shown = problem.measure, problem.pool.rows(rows)
    total = measure.total(shown, *nodes, per_row(np.where(n > 0, 0, size), unit))
    if len(seen.y):
        weight = (size / np.maximum(n, 1))[seen.unit]
        total = total + measure.total(problem.pool.rows(seen.row), seen.y[:, None], weight[:, None])
    R = total / len(problem.pool)
    if not np.isfinite(measure.g(R)).all():  # nothing seen yet to divide by: what is believed
        R = measure.total(shown, *nodes, per_row(size, unit)) / len(problem.pool)
    return target(problem, R)


def per_row(number: Floats | Ints, unit: Ints) -> Floats:
    """(n,) part of the (U,) number of its unit that each representative stands for."""
    return np.asarray((number / np.bincount(unit, minlength=len(number)))[unit])


def unit_mean(values: Floats, unit: Ints, count: int) -> Floats:
    """(U,) mean over the representatives of each unit."""
    if len(values) == count:  # one representative each
        return values
    return np.bincount(unit, weights=values, minlength=count) / np.bincount(unit, minlength=count)


class KeptLosses:
    """Some rows under labels, whose losses are worked out once where they stay the same in every round."""

    def __init__(self, measure: Measure, rows: Rows, y: Floats) -> None:
        self.measure, self.rows, self.y = measure, rows, y
        self._loss = measure.loss(rows, y) if measure.losses.plain and not measure.wide else None

    def total(self, weights: Floats, factor: Floats | None = None) -> Floats:
        """(d,) sum over rows and labels of the losses by their weight and the factor of the row."""
        if self._loss is not None:
            weights = weights if factor is None else weights * factor[:, None]
            return np.asarray(np.einsum("ns,nsd->d", weights, self._loss))
        return self.measure.total(self.rows, self.y, weights, factor)

    def norm(self, psi: Influence) -> Floats:
        """(n, S) length of the influence of each row under each label."""
        influence = self._influence(psi)
        influence = psi.folded.of(self.rows, self.y) if influence is None else influence
        return np.asarray(np.sqrt(np.square(influence).sum(axis=-1)))

    def moments(self, psi: Influence, weights: Floats) -> tuple[Floats, Floats]:
        """(n, m) mean and mean square of the influence of each row, by the weights of its labels."""
        influence = self._influence(psi)
        if influence is None:
            return psi.moments(self.rows, self.y, weights)
        return weighted_moments(influence, weights)

    def _influence(self, psi: Influence) -> Floats | None:
        """(n, S, m) from losses at hand; None where the measure has a shorter way of its own."""
        return self._loss @ psi.J.T if self._loss is not None and isinstance(psi, Dense) else None

    @cached_property
    def bears(self) -> Floats | float:
        """(n, S) 1 where a label brings any loss beside the weight; 1 throughout where losses are many."""
        if self.measure.wide:
            return 1.0
        loss = self.measure.losses.folded.loss(self.rows, self.y) if self._loss is None else self._loss
        return np.asarray((loss[..., 1:] != 0).any(axis=-1), dtype=np.float64)


def losses_of_units(problem: Problem, measure: Measure, rows: Ints, labels: Floats) -> KeptLosses:
    """The representatives of the units under every label; of classes, which stay the same, made once."""

    def make() -> KeptLosses:
        return KeptLosses(measure, problem.pool.rows(rows), labels)

    return problem.once(("losses of the units", measure), make) if labels.ndim == 1 else make()


class UnitMeans:
    """Means of (n, m) values over the rows of each of ``count`` units, in every layer.

    A measure of many groups has a layer of coordinates for each (``Influence.folded``): an item moves that of
    its own group, and in all the others its influence is zero. What is needed of a unit are sums over all
    coordinates of squared means. These have a term for every pair of unit and layer that occurs, not for
    every pair that there could be. ``fold`` is the layer of each row; None if there is but one.

    >>> means = UnitMeans(np.array([[1.0], [2.0], [6.0]]), np.array([0, 0, 1]), 2, np.array([0, 1, 1]))
    >>> [one.tolist() for one in means.at(np.array([0, 0]), np.array([0, 1]))]
    [[[0.5], [1.0]], [1.0, 0.25]]
    """

    def __init__(self, values: Floats, unit: Ints, count: int, fold: Ints | None) -> None:
        self._count, self._layers = count, 1 if fold is None else int(fold.max(initial=0)) + 1
        self._each = np.maximum(np.bincount(unit, minlength=count), 1)
        self._single = len(values) == count and fold is None and bool((np.diff(unit) == 1).all())
        if fold is None:
            self._keys, self._place = np.arange(count), unit
        else:
            self._keys, self._place = np.unique(unit * self._layers + fold, return_inverse=True)
        self._unit: Ints = self._keys // self._layers
        self._means = self.mean_of(values)

    def mean_of(self, values: Floats) -> Floats:
        """(keys, m) means of other values of the same rows, for every pair of unit and layer."""
        if self._single:  # one row each
            return values
        size = len(self._keys)
        columns = [np.bincount(self._place, weights=column, minlength=size) for column in values.T]
        return np.stack(columns, axis=1) / self._each[self._unit][:, None]

    def at(self, unit: Ints, fold: Ints | None) -> tuple[Floats, Floats | float]:
        """(n, m) the mean in the unit and layer of some rows, and (n,) the squared means in its others."""
        if fold is None:
            return self._means[unit], 0.0
        key = unit * self._layers + np.minimum(fold, self._layers - 1)
        place = np.minimum(np.searchsorted(self._keys, key), len(self._keys) - 1)
        known = (self._keys[place] == key) & (fold < self._layers)
        mean = self._means[place] * known[:, None]
        squares = np.bincount(self._unit, weights=np.square(self._means).sum(axis=1), minlength=self._count)
        return mean, np.maximum(squares[unit] - np.square(mean).sum(axis=1), 0.0)

    def variance(self, squares: Floats) -> Floats:
        """(U,) mean squares less squared means, over all coordinates; ``squares`` are (n, m) mean squares.

        What is no more than rounding is none at all: a unit whose labels cannot matter must not look as if
        they did.
        """
        left = variances(self.mean_of(squares), self._means).sum(axis=1)
        return np.bincount(self._unit, weights=left, minlength=self._count).astype(np.float64, copy=False)


def variances(squares: Floats, means: Floats) -> Floats:
    """(n, m) mean squares less squared means; 0 where that is no more than rounding."""
    found = squares - np.square(means)
    return np.where(found > _ROUNDING * squares, found, 0.0)
