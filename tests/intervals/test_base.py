"""Bounds on one side: scipy's where it has them, else the ends of the interval twice as likely to miss."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest, bootstrap, norm, ttest_1samp
from tests.intervals.means import Means, mean_totals, totals_with
from tests.intervals.test_proportion import METHODS, proportion_totals

import sondage as sd
from sondage.errors import InvalidInput
from sondage.intervals import ALTERNATIVES, Bootstrap, Interval, StudentT, Wald
from sondage.streams import stream
from sondage.testing.designs import small_pool

MARGINAL = ["wald", "t", "logit", "beta", "bootstrap", "empirical-likelihood", "bonferroni", "simultaneous"]
SHARE = Means(least=0.0, most=1.0)


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_t_is_scipys(level: float, alternative: str) -> None:
    values = np.random.default_rng(1).lognormal(size=17)
    expected = ttest_1samp(values, 0, alternative=alternative).confidence_interval(level)
    low, high = StudentT()(mean_totals(values), Means(), level, stream(1, "interval"), alternative)  # type: ignore[arg-type]
    assert (low[0], high[0]) == pytest.approx((expected.low, expected.high), rel=1e-9)


@pytest.mark.parametrize("name", sorted(METHODS))
@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("successes", [0, 1, 9, 40])
def test_shares_are_scipys(name: str, alternative: str, successes: int) -> None:
    interval, method = METHODS[name]
    expected = binomtest(successes, 40, alternative=alternative).proportion_ci(0.9, method)
    totals = proportion_totals(successes, 40, 40)
    low, high = interval(totals, SHARE, 0.9, stream(1, "interval"), alternative)  # type: ignore[arg-type]
    assert (low[0], high[0]) == pytest.approx((expected.low, expected.high), abs=1e-12)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_the_bootstrap_has_the_ends_that_scipys_percentiles_have(alternative: str) -> None:
    """Other weights, the same distribution to first order: within two hundredths of the width."""
    values = np.random.default_rng(2).normal(size=400)
    expected = bootstrap(
        (values,), np.mean, method="percentile", alternative=alternative, confidence_level=0.9, rng=1
    ).confidence_interval
    low, high = Bootstrap(20_000)(mean_totals(values), Means(), 0.9, stream(1, "interval"), alternative)  # type: ignore[arg-type]
    assert np.isfinite([low[0], high[0]]).tolist() == np.isfinite([expected.low, expected.high]).tolist()
    for found, wanted in ((low[0], expected.low), (high[0], expected.high)):
        if np.isfinite(wanted):
            assert found == pytest.approx(wanted, abs=0.02 * 2 * 1.645 / 20)


@pytest.mark.parametrize("name", MARGINAL)
@pytest.mark.parametrize("level", [0.75, 0.95])
def test_a_bound_is_the_end_of_the_interval_that_misses_twice_as_often(name: str, level: float) -> None:
    """All the chance to miss is on one side, so that 95 % bounds are the ends of a 90 % interval."""
    totals = mean_totals(np.random.default_rng(3).beta(2, 5, size=60))
    interval = Interval.from_alias(name)

    def ends(level: float, alternative: str) -> tuple[float, float]:
        low, high = interval(totals, SHARE, level, stream(1, "interval"), alternative)  # type: ignore[arg-type]
        return float(low[0]), float(high[0])

    low, high = ends(2 * level - 1, "two-sided")
    assert ends(level, "greater") == (pytest.approx(low, rel=1e-9), 1.0)
    assert ends(level, "less") == (0.0, pytest.approx(high, rel=1e-9))


def test_a_range_without_an_end_leaves_the_bound_open() -> None:
    low, high = Wald()(totals_with(2.0, 0.01), Means(), 0.95, stream(1, "interval"), "greater")
    assert (low[0], high[0]) == (pytest.approx(2 - norm.ppf(0.95) * 0.1), np.inf)


def test_exact_totals_are_a_point_on_either_side() -> None:
    pool, labels = small_pool()
    study = sd.create_study(pool, "f1", design="uniform", rng=1)
    study.run(labels, budget=len(labels))
    estimate = study.estimate(alternative="greater")
    assert estimate.ci.low == estimate.ci.high == estimate.value


def test_an_undefined_value_has_no_bound() -> None:
    totals = mean_totals(np.ones(5))
    totals.R[0] = 0.0
    with np.errstate(all="ignore"):
        totals.R[1] = 0.0
        ends = Wald()(totals, SHARE, 0.95, stream(1, "interval"), "greater")
    assert np.isnan(ends).all()


@pytest.mark.parametrize("alternative", ["greater", "less"])
def test_a_study_gives_bounds_and_says_so(alternative: str) -> None:
    pool, labels = small_pool(200)
    study = sd.create_study(pool, "f1", design="stratified", budget=60, rng=2)
    study.run(labels)
    wide = study.estimate(confidence_level=0.9)
    bound = study.estimate(confidence_level=0.95, alternative=alternative)  # type: ignore[arg-type]
    ends = (wide.ci.low, 1.0) if alternative == "greater" else (0.0, wide.ci.high)
    assert (bound.ci.low, bound.ci.high) == pytest.approx(ends, rel=1e-9)
    assert bound.value == wide.value
    assert (
        replace(wide, alternative="greater")
        .summary()
        .startswith(f"f1 {wide.value:.4f}, 90% lower bound {wide.ci.low:.4f} (fixed-n)")
    )
    assert f"90% upper bound {wide.ci.high:.4f}" in str(replace(wide, alternative="less"))
    assert "90% lower bound" in replace(wide, alternative="greater")._repr_html_()


def test_a_study_refuses_what_is_no_alternative() -> None:
    pool, labels = small_pool()
    study = sd.create_study(pool, "accuracy", design="uniform", budget=10, rng=2)
    study.run(labels)
    with pytest.raises(InvalidInput, match="alternative="):
        study.estimate(alternative="one-sided")  # type: ignore[arg-type]
