"""Draws and appended variance are told apart, so that a sign without meaning skews no interval."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.intervals.means import Means, mean_totals

import sondage as sd
from sondage.designs import Poisson
from sondage.estimators import Totals, estimate_totals
from sondage.estimators.linear import for_population
from sondage.intervals import Interval
from sondage.streams import stream
from sondage.testing.designs import small_pool


def answered(design: object, measure: str = "f1") -> tuple[Totals, int]:
    pool, labels = small_pool(300)
    study = sd.create_study(pool, measure, design=design, budget=60, rng=3)  # type: ignore[arg-type]
    study.run(labels, batch=60)
    return estimate_totals(study.case()), int(study.sample.answered.sum())


@pytest.mark.parametrize("design", ["uniform", "stratified", "sequential", "importance", Poisson()])
@pytest.mark.parametrize("population", [False, True])
def test_deviations_are_draws_and_what_follows_is_not(design: object, population: bool) -> None:
    totals, labels = answered(design)
    totals = for_population(totals, 300) if population else totals
    made = labels if design != "importance" else int(totals.shown.sum())
    assert totals.shown.sum() == made
    assert totals.shown[:made].all()
    assert len(totals.shown) > made or not population


@pytest.mark.parametrize("name", ["bootstrap", "empirical-likelihood"])
def test_the_sign_of_appended_variance_makes_no_difference_to_the_distribution(name: str) -> None:
    values = np.tile([0.0, 1.0, 0.0, 1.0], 10)
    totals = mean_totals(values)
    reach = []
    for sign in (1.0, -1.0):
        extra = np.array([[0.0, 0.0], [0.0, sign * 0.1]])
        wider = replace(totals, parts=np.concatenate([totals.parts, extra]), draws=len(totals.parts))
        low, high = Interval.from_alias(name)(wider, Means(least=0.0, most=1.0), 0.95, stream(1, "interval"))
        reach.append([0.5 - low[0], high[0] - 0.5])
    first, second = np.array(reach)
    np.testing.assert_allclose(first, second, rtol=0.12 if name == "bootstrap" else 1e-9)
    np.testing.assert_allclose(first[0], first[1], rtol=0.12 if name == "bootstrap" else 1e-9)
