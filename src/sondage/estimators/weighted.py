"""Weighted: draws with replacement, each counted by the inverse of its chance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sondage.designs.base import Centre
from sondage.estimators.base import Case, Estimator, Totals, bearing, kish, weighted_covariance
from sondage.estimators.guard import expected_second_moment
from sondage.estimators.response import dark_share, response_factor
from sondage.types import Floats


@dataclass(frozen=True)
class Weighted(Estimator):
    """Importance-weighted mean over all draws, repeats included (Sawade 2013, eq. 3.31).

    Weights are those recorded at the draw and are never recomputed. Because measures are homogeneous
    of degree 0, the plain and the self-normalised forms give the same estimate. The covariance is that
    of the draws really made, ``sum w^2 (l - R)(l - R)'``.
    """

    alias: ClassVar[str] = "weighted"
    kinds: ClassVar[frozenset[str]] = frozenset({"wr"})
    centre: Centre = "none"

    def totals(self, case: Case) -> Totals:
        """Estimated averages of the losses."""
        measure, N = case.measure, len(case.pool)
        mine = case.sample.of_kinds(self.kinds)
        seen = mine.where(mine.answered)
        if int(seen.times.sum()) < 2:
            return Totals.undefined(measure.d, "fewer than two draws have a label")
        dark = dark_share(case)
        if dark:
            return Totals.undefined(measure.d, dark)
        loss = case.losses(seen)
        draws = seen.times * response_factor(case, mine)
        T = float(draws.sum())
        z = loss / (N * seen.p)[:, None]
        R = draws @ z / T
        parts = np.sqrt(draws / (T * (T - 1)))[:, None] * (z - R)
        weight = draws / seen.p
        return Totals(
            R,
            parts,
            kish(weight * bearing(measure, loss)),
            max(float(seen.times.sum()) - 1.0, 1.0),
            weighted_covariance(loss, weight, R),
            prior_cov=self._expected(case, T),
        )

    def weights(self, case: Case) -> Floats:
        """Inverse chances over the number of draws."""
        sample = case.sample
        draws = np.where(sample.answered, sample.times, 0)
        return draws / sample.p / max(float(draws.sum()), 1.0)

    def _expected(self, case: Case, T: float) -> Floats | None:
        table = case.tables(len(case.sample.rounds) - 1)
        if table is None or table.chance is None:
            return None
        return expected_second_moment(case, 1.0 / np.maximum(table.chance, 1e-300)) / T
