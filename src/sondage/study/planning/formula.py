"""Widths by formula: the variance that a design has in a possible world, and normal intervals.

For classifiers labels come out as in the worlds of ``possible``. Beliefs about other labels do not doubt
themselves, so scenarios do it for them: the scores as they are (as the labels of a pilot correct them), and
with the odds of a yes lower and higher throughout; for labels that are numbers, with a smaller and a larger
spread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sondage.beliefs.base import Belief
from sondage.beliefs.recalibration import Recalibrated, Recalibration
from sondage.designs.influence.labels_saved import before_labels, believed_spread, believed_variance
from sondage.errors import NotSupported
from sondage.pool.labels import LabelSpace
from sondage.progress import Progress
from sondage.streams import stream
from sondage.study.planning.forecast import QUANTILES, Forecast, Sampling
from sondage.study.planning.possible import DOUBT, InWorld, Possible, affordable, has_predicted_classes
from sondage.study.planning.result import Goal
from sondage.study.planning.worlds import item_spreads, only
from sondage.study.snapshot import Snapshot
from sondage.types import Floats, Ints

_COORDINATES = 16
"""Coordinates for which the variance is worked out one by one."""
_ENDS = (0.0, 0.5, 1.0)
"""Scenarios are few and not drawn: the best, the middle and the worst of them."""


def by_formula(
    study: Snapshot, sampling: Sampling, labels: Ints, goal: Goal | None, draws: int, seed: int
) -> Forecast:
    """Widths by formula; with a goal, for more labels until all scenarios reach it."""
    formula, N = Formula.of_study(study, sampling, draws, seed), study.parts.size
    numbers = labels.tolist()
    if goal is not None and goal.target is not None:
        while numbers[-1] < N and (formula.at(numbers[-1])[0] > goal.target).any():
            numbers.append(min(2 * numbers[-1], N))
        numbers = [n for n in numbers if n < N] or numbers
    widths, costs = [], []
    with Progress("planning", total=len(numbers)) as progress:
        for k, n in enumerate(numbers):
            width, cost = formula.at(n)
            widths.append(width)
            costs.append(cost)
            progress.at(k + 1)
    made = np.array(numbers, dtype=np.int64), np.array(costs), np.array(widths)
    return Forecast(*made, formula.uniform, formula.quantiles)


class Formula:
    """The variance of a study's design in worlds or scenarios, at any number of labels."""

    def __init__(
        self,
        study: Snapshot,
        sampling: Sampling,
        truths: Sequence[Belief],
        quantiles: tuple[float, float, float],
    ) -> None:
        measure = sampling.measure
        if measure.m > _COORDINATES:
            raise NotSupported(
                f"a plan for design {study.parts.design.alias!r} is by formula, one coordinate at a time, "
                f"and {measure.m:,} are too many: plan for one measure, such as 'f1', or for at most "
                f"{_COORDINATES} at once"
            )
        self.study, self.sampling, self.quantiles = study, sampling, quantiles
        start = before_labels(replace(study.problem(), measure=measure, memo={}), 1)
        self._plain = study.parts.design.kind.is_uniform(study.units)
        self._spread: list[Floats] = []
        each = []
        for truth in truths:
            if self._plain:  # one unit of all items: what they have in common says nothing of any
                each += item_spreads(start, measure, truth).tolist()
                continue
            for j in range(measure.m):
                spread, uniform = believed_spread(start, truth, only(j, measure.m))
                self._spread.append(spread)
                each.append(uniform)
        self.uniform: Floats = np.array(each).reshape(-1, measure.m)

    @classmethod
    def of_study(cls, study: Snapshot, sampling: Sampling, draws: int, seed: int) -> Formula:
        """In worlds where there are error curves, otherwise in scenarios."""
        pool, measure, seen = study.parts.pool, sampling.measure, study.seen
        if not has_predicted_classes(pool, measure):
            return cls(study, sampling, scenarios(study), _ENDS)
        possible = Possible.of_pool(pool, measure, seen, seed)
        worlds = possible.weights(affordable(pool, draws), stream(seed, "belief"))
        truths = [InWorld(possible.units, weights) for weights in worlds]
        return cls(study, sampling, truths, QUANTILES)

    def at(self, n: int) -> tuple[Floats, float]:
        """(D, m) width and cost of ``n`` labels."""
        if self._plain:
            variance = self.sampling.variance(self.uniform, np.array(n))
            return self.sampling.of_variance(variance), n * float(self.study.units.cost[0])
        design, N = self.study.parts.design, len(self.study.parts.pool)
        asking = before_labels(self.study.problem(), n)
        table = design.table(asking, n)
        pairs = [believed_variance(asking, table, n, spread) for spread in self._spread]
        variance = np.maximum([one for one, _ in pairs], 0.0).reshape(self.uniform.shape)
        if n >= N:
            variance = np.zeros_like(variance)
        if self.sampling.population:
            variance = variance + self.uniform / N
        return self.sampling.of_variance(variance), pairs[0][1]


def scenarios(study: Snapshot) -> list[Belief]:
    """The belief as the labels so far correct it, between one with fewer and one with more surprises.

    Its level may be off by ``DOUBT`` before any label, and by less as labels come in: with information I
    about it, by the standard deviation ``(1 / DOUBT^2 + I)^(-1/2)`` of a normal posterior.
    """
    pool, seen = study.parts.pool, study.seen
    fitted = Recalibrated.fit(study.belief, pool, seen)
    information = 0.0
    if len(seen.y):
        if pool.labels.kind == "real":
            information = 2.0 * len(seen.y)  # of the logarithm of a standard deviation
        else:
            chance = fitted.items(pool.rows(seen.row)).weights
            chance = chance.max(axis=1) if pool.labels.finite else chance
            information = float((chance * (1.0 - chance)).sum())
    doubt = 1.0 / np.sqrt(1.0 / DOUBT**2 + information)
    return [_shifted(fitted, pool.labels, by) for by in (-doubt, 0.0, doubt)]


def _shifted(belief: Recalibrated, labels: LabelSpace, by: float) -> Recalibrated:
    if labels.kind == "classes":
        size = labels.size
        plain = Recalibration(np.arange(size), np.zeros(size), np.zeros(size), np.ones(size))
        classes = belief.classes or plain
        return replace(belief, classes=replace(classes, level=classes.level + by))
    if labels.kind == "vector":
        return replace(belief, level=belief.level + by)
    return replace(belief, slope=belief.slope * float(np.exp(by)))
