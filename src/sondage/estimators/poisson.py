"""Poisson: items included by chances of their own, each counted by the inverse of its inclusion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sondage.designs.base import Centre
from sondage.estimators.base import Case, Totals
from sondage.estimators.by_chance import ByChance, gathered, use_known
from sondage.estimators.expected_variance import expected_second_moment
from sondage.estimators.missing import Response
from sondage.estimators.sample import Sample
from sondage.sampling import GrowingSample, SamplingKind
from sondage.types import Floats


@dataclass(frozen=True)
class PoissonEstimator(ByChance):
    """Ratio of inverse-inclusion sums (Yilmaz et al., eq. 18 and 28).

    The rounds of one design are nested, so that the draws of all are one sample with the inclusion
    chances of the last. ``known=True`` uses the pool's own counts of every signature by the regression
    estimator with the variance-optimal slope, for signatures with at least ten draws left to chance.
    """

    alias: ClassVar[str] = "poisson"
    kinds: ClassVar[tuple[type[SamplingKind], ...]] = (GrowingSample,)
    centre: Centre = "none"
    known: bool = True

    def totals_of(self, case: Case, mine: Sample, seen: Sample) -> Totals:
        N = len(case.pool)
        pi = inclusion(mine)
        weight = 1.0 / pi
        response = Response(case, mine, weight / N)
        R = weight @ response.loss / N
        # Var = sum (1 - pi) / pi^2 l l'  (eq. 27)
        noise = np.sqrt(np.maximum(1.0 - pi, 0.0) * response.factor) / pi / N
        parts = np.concatenate([noise[:, None] * response.loss, response.parts])
        if self.known:
            R, parts = use_known(
                case, mine, R, parts, noise > 0, lambda own: (weight @ own / N, noise[:, None] * own)
            )
        return gathered(
            case,
            response,
            R,
            parts,
            weight,
            np.sqrt(np.maximum(response.factor - pi, 0.0)) / pi / N,
            prior_cov=response.overall * self._expected(case, seen, pi[response.answered]),
            draws=len(mine),
            exact=response.complete and len(seen) == N and not noise.any(),
        )

    def counts(self, case: Case, sample: Sample) -> Floats:
        return 1.0 / inclusion(sample)

    def _expected(self, case: Case, seen: Sample, pi: Floats) -> Floats:
        number = len(case.sample.rounds) - 1
        table = case.tables(number)
        if table is None or table.chance is None:  # the sample stands for the pool here too
            rows = case.pool.rows(seen.row)
            factor = (1.0 / pi - 1.0) / pi / len(case.pool) ** 2
            return case.measure.second_moment(rows, *case.belief.items(rows), factor)
        with np.errstate(invalid="ignore"):
            pi = np.minimum(1.0, case.sample.rounds[number].scale * table.chance)
        factor = np.where(pi > 0, 1.0 / np.maximum(pi, 1e-300) - 1.0, 0.0)
        return expected_second_moment(case, factor)


def inclusion(sample: Sample) -> Floats:
    """(T,) chance of each item to be in the whole nested sample.

    An item's chance is ``min(1, scale * size)``; its size follows from the chance recorded when it was
    drawn and the scale of that round.
    """
    if not len(sample):
        return np.empty(0)
    scale = np.array([one.scale for one in sample.rounds])
    last = scale[~np.isnan(scale)][-1]
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        grown = sample.pi * (last / scale[sample.round])
    return np.where((sample.pi >= 1.0) | np.isinf(last), 1.0, np.minimum(1.0, grown))
