"""How much a label not seen yet may move some measures: its variance under the belief, unit by unit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sondage.beliefs.base import label_counts
from sondage.designs.base import Problem
from sondage.designs.influence.of_units import UnitMeans, losses_of_units, unit_nodes, variances
from sondage.designs.influence.slope import away_from_ends, least_value, target, uninformed
from sondage.measures.base import Measure
from sondage.measures.influence import weighted_moments
from sondage.types import Array, Floats


def unseen_variances(problem: Problem, measures: Sequence[Measure], least: float | None = None) -> Floats:
    """(A, U) variance under the belief of the influence of an unlabelled item on each of A ``measures``.

    For classes. Slopes are taken at the labels seen and what the belief expects of the rest; of a bounded
    measure at no less than the share ``least`` of its range (default: ``least_value``), because at its lower
    end misses seem not to matter.
    """
    least = least_value(int(problem.answered.sum())) if least is None else least
    rows, unit, nodes = unit_nodes(problem)
    seen, count, labels = problem.seen, problem.units.count, problem.pool.labels.size
    N, measures = len(problem.pool), tuple(measures)
    told = label_counts(seen.unit, seen.y, (count, labels))[unit]
    expected = told + (problem.units.size - problem.answered)[unit, None] * nodes.weights
    expected = expected / np.bincount(unit, minlength=count)[unit, None]
    if problem.once(("ratios alone", measures), lambda: _are_ratios(problem, measures)):
        ratios = problem.once(("ratios", measures), lambda: _Ratios(problem, measures))
        found = ratios.unseen_variances(problem, nodes.weights, expected / N, least)
        if found is not None:
            return found
    shown, out = problem.pool.rows(rows), np.zeros((len(measures), count))
    for a, measure in enumerate(measures):
        kept = losses_of_units(problem, measure, rows, nodes.labels)
        R = away_from_ends(measure, kept.total(expected) / N, uninformed(problem, measure), least, 0.0)
        psi = target(problem, R, [(shown, nodes, expected.sum(axis=1) / N)], measure).folded
        mean, square = kept.moments(psi, nodes.weights)
        out[a] = UnitMeans(mean, unit, count, psi.fold(shown)).variance(square)
    return out


def _are_ratios(problem: Problem, measures: tuple[Measure, ...]) -> bool:
    """Whether each is one ratio of averages, written out, and each unit has one row."""
    _, unit, _ = unit_nodes(problem)
    return np.array_equal(unit, np.arange(problem.units.count)) and all(
        one.m == 1 and one.ratio is not None and one.losses.plain and not one.wide for one in measures
    )


class _Ratios:
    """Some ratios of averages side by side: what is worked out before every round, for all of them at once.

    The influence on ``num @ R / den @ R`` is ``(num - value * den) @ l / den @ R``.
    """

    def __init__(self, problem: Problem, measures: tuple[Measure, ...]) -> None:
        rows, _, nodes = unit_nodes(problem)
        each = [one.loss(problem.pool.rows(rows), nodes.labels) for one in measures]
        self.loss = np.concatenate(each, axis=2)
        ends = np.cumsum([one.d for one in measures])
        self.measures = measures
        self.parts = [slice(end - one.d, end) for one, end in zip(measures, ends.tolist(), strict=True)]
        self.num, self.den = np.zeros((2, len(measures), self.loss.shape[2]))
        for a, (one, part) in enumerate(zip(measures, self.parts, strict=True)):
            assert one.ratio is not None
            self.num[a, part], self.den[a, part] = one.ratio
        low, high = np.array([one.range for one in measures])[:, :, 0].T
        self.low, self.width = low, np.where(np.isfinite(high - low), high - low, np.nan)

    def unseen_variances(
        self, problem: Problem, believed: Floats, share: Floats, least: float
    ) -> Floats | None:
        """(A, U) as the function has them; ``share`` is that of the pool under each label, unit by unit.

        None if something is divided by 0.
        """
        R = np.einsum("us,usd->d", share, self.loss)
        below = self.den @ R
        if not below.all():
            return None
        value = self.num @ R / below
        low = np.flatnonzero(value < self.low + least * self.width)
        for a in low.tolist():
            part, one = self.parts[a], self.measures[a]
            R[part] = away_from_ends(one, R[part], uninformed(problem, one), least, 0.0)
        if len(low):
            below = self.den @ R
            value = self.num @ R / below
        J = (self.num - value[:, None] * self.den) / below[:, None]
        influence = (self.loss.reshape(-1, J.shape[1]) @ J.T).reshape(*self.loss.shape[:2], len(J))
        weight: Array = np.concatenate([problem.objective.weight(value[a : a + 1]) for a in range(len(J))])
        mean, square = weighted_moments(influence, believed)
        return np.asarray(weight[:, None] * variances(square, mean).T)
