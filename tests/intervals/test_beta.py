"""Beta with matched moments, and what it does where no such Beta exists."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, binom
from tests.intervals.means import Means, mean_totals, totals_with

from sondage.estimators import Totals
from sondage.estimators.linear import linearise
from sondage.intervals import Beta, Logit, StudentT, Wald
from sondage.intervals.wald import beta_low, skewed
from sondage.measures import resolve
from sondage.streams import stream

SHARE = Means(least=0.0, most=1.0)


def beta_quantiles(v: float, s2: float, tail: float) -> tuple[float, float]:
    return float(beta_low(v, s2, tail)), 1.0 - float(beta_low(1.0 - v, s2, tail))


def ends(value: float, error: float, level: float = 0.95, measure: Means = SHARE) -> tuple[float, float]:
    low, high = Beta()(totals_with(value, error**2), measure, level, stream(1, "interval"))
    return float(low[0]), float(high[0])


@pytest.mark.parametrize("value", [0.1, 0.5, 0.93])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_the_quantiles_are_those_of_the_beta_with_this_mean_and_variance(value: float, level: float) -> None:
    nu = value * (1 - value) / 0.03**2 - 1
    made = beta(value * nu, (1 - value) * nu)
    assert (made.mean(), made.std()) == (pytest.approx(value), pytest.approx(0.03))
    assert ends(value, 0.03, level) == pytest.approx(made.interval(level), rel=1e-6)


def test_a_range_other_than_zero_to_one_is_scaled() -> None:
    low, high = ends(0.7, 0.05)
    measure = Means(least=-1.0, most=1.0)
    assert ends(0.4, 0.1, measure=measure) == pytest.approx((2 * low - 1, 2 * high - 1), rel=1e-9)


def test_without_bounds_it_is_the_t_interval() -> None:
    totals, measure = replace(totals_with(0.5, 0.01), df=7.0), Means(least=0.0)
    found = [np.ravel(one(totals, measure, 0.9, stream(1, "interval"))) for one in (Beta(), StudentT())]
    np.testing.assert_allclose(found[0], found[1], rtol=1e-12)


@pytest.mark.parametrize("value", [0.0, 1.0])
@pytest.mark.parametrize("error", [1e-4, 0.02, 0.3, 2.0])
def test_at_an_end_of_the_range_it_keeps_its_width(value: float, error: float) -> None:
    """Where moments cannot be matched the interval is at least as wide as Wald's."""
    low, high = ends(value, error)
    assert low <= value <= high
    wald = np.ravel(Wald()(totals_with(value, error**2), SHARE, 0.95, stream(1, "interval")))
    assert high - low >= min(wald[1] - wald[0], 0.975 - 1e-12)


def test_the_shape_at_an_end_has_the_mean_square_that_was_asked_for() -> None:
    """One exponent is held at 1: Beta(1, b) with E[X^2] = v^2 + s^2, by its quantile."""
    for v, s in ((0.0, 0.05), (0.01, 0.05), (0.02, 0.02)):
        low, high = beta_quantiles(v, s * s, 0.025)
        b = np.log(0.025) / np.log1p(-high)
        assert low == 0.0
        assert beta(1, b).moment(2) == pytest.approx(v * v + s * s, rel=1e-9)


def test_there_is_no_jump_where_one_form_follows_the_other() -> None:
    """Beta(1, b) itself is the border: both forms have its upper quantile there."""
    made = beta(1, 30)
    v, s2 = made.mean(), made.var()
    inside = beta_quantiles(v * (1 + 1e-9), s2, 0.05)[1]
    outside = beta_quantiles(v * (1 - 1e-9), s2, 0.05)[1]
    assert inside == pytest.approx(outside, rel=1e-6)
    assert outside == pytest.approx(made.ppf(0.95), rel=1e-6)


@pytest.mark.parametrize(("share", "n"), [(0.0245, 200), (0.1, 50), (0.5, 30)])
def test_coverage_of_a_share_by_enumeration(share: float, n: int) -> None:
    """All samples of a binomial share; the guard knows the share, and is needed where no event was seen."""
    k = np.arange(n + 1)
    held = np.zeros(n + 1)
    for one in k:
        totals = replace(mean_totals((np.arange(n) < one) * 1.0), prior_cov=np.diag([0.0, share / n]))
        low, high = Beta()(totals, SHARE, 0.95, stream(1, "interval"))
        held[one] = low[0] <= share <= high[0]
    assert binom.pmf(k, n, share) @ held >= 0.93


@given(
    st.floats(0, 1),
    st.floats(1e-6, 3),
    st.sampled_from([(0.5, 0.8), (0.9, 0.95), (0.95, 0.999)]),
)
@settings(max_examples=300, deadline=None)
def test_it_always_contains_the_value_has_width_and_grows(
    value: float, error: float, levels: tuple[float, float]
) -> None:
    (a, b), (c, d) = (ends(value, error, level) for level in levels)
    assert 0 <= c <= a <= value <= b <= d <= 1
    assert d - c >= 0.3 * min(error, 1.0)


@given(st.floats(0, 1), st.floats(1e-4, 1), st.floats(1.0, 3.0))
@settings(max_examples=200, deadline=None)
def test_near_an_end_more_variance_never_gives_a_shorter_interval(
    value: float, error: float, more: float
) -> None:
    """A matched Beta piles up at the end as its variance grows, and would shrink to a point."""
    narrow, wide = ends(value, error), ends(value, error * more)
    assert wide[1] - wide[0] >= (narrow[1] - narrow[0]) * (1 - 0.05)


@pytest.mark.parametrize("error", [1e-6, 1e-8, 1e-10, 1e-12, 1e-16, 1e-30])
def test_tiny_variances_have_ends(error: float) -> None:
    value = np.array([0.3, 0.957, 0.999])
    low = beta_low(value, np.full(3, error**2), 0.025)
    np.testing.assert_allclose((low - value) / error, -1.96, atol=0.02 + 1e-15 / error)


def test_tails_that_cannot_be_told_from_nothing_have_ends() -> None:
    parts = np.array([[0.0, 0.05], [0.0, -0.05]] * 5)
    totals = Totals(np.array([1.0, 0.8]), parts, 10.0, 9.0, np.zeros((2, 2)))
    low, high = skewed(linearise(totals, resolve("accuracy")), resolve("accuracy"), 40.0)
    assert 0 <= low[0] < 0.01
    assert 0.99 < high[0] <= 1


def test_a_value_beyond_its_range_has_ends_by_the_logit_too() -> None:
    parts = np.array([[0.0, 0.04], [0.0, -0.04]] * 5)
    totals = Totals(np.array([1.0, -0.05]), parts, 10.0, 9.0, np.zeros((2, 2)))
    low, high = Logit()(totals, resolve("accuracy"), 0.95, stream(1, "interval"))
    assert low[0] == 0
    assert 0 < high[0] < 1
