"""Empirical likelihood: against brute force, Owen's own form, the binomial likelihood, and its limits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize
from scipy.special import xlogy
from scipy.stats import chi2, t
from tests.intervals.means import Means, mean_totals

import sondage as sd
from sondage.errors import NotSupported
from sondage.estimators import Totals, estimate_totals
from sondage.estimators.linear import GUARD
from sondage.intervals import EmpiricalLikelihood, Wald
from sondage.intervals.empirical_likelihood import statistic
from sondage.measures import resolve
from sondage.streams import stream
from sondage.testing.designs import small_pool
from sondage.types import Array, Floats

MANY = 1e9
"""Degrees of freedom that make the t quantile a normal one."""
SPECIMENS = np.array([1.2, 0.4, 2.7, 0.9, 5.1, 0.3, 1.8, 1.1, 0.7, 3.3])


def ends(totals: Totals, level: float = 0.95, measure: Means | None = None) -> tuple[float, float]:
    low, high = EmpiricalLikelihood()(totals, measure or Means(), level, stream(1, "interval"))
    return float(low[0]), float(high[0])


# ---- the statistic -------------------------------------------------------------------------------


@pytest.mark.parametrize("x", list(product([-0.3, 0.2, 0.5], repeat=3))[1:13])
@pytest.mark.parametrize("U", [-0.2, 0.15])
def test_the_statistic_is_the_least_cost_of_all_weights(x: tuple[float, ...], U: float) -> None:
    """Against a general optimiser over the weights themselves, no multiplier involved."""
    points = np.append(x, [0.4, -0.1])
    best = minimize(
        lambda w: np.sum(np.exp(w) - 1 - w),
        np.zeros(len(points)),
        constraints={"type": "eq", "fun": lambda w: np.expm1(w) @ points + U},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert best.success
    assert statistic(points, U) == pytest.approx(2 * best.fun, rel=1e-6)


@pytest.mark.parametrize("mean", [0.5, 0.9, 1.6, 2.4, 4.0])
def test_for_independent_draws_it_is_owens_ratio(mean: float) -> None:
    """-2 log of the greatest product of n p_t with sum p = 1 and sum p x = mean, by the dual on a grid."""
    x = SPECIMENS - mean

    def slope(lam: float) -> float:
        return float(np.sum(x / (1 + lam * x)))

    edge = 1 - 1e-9
    lam = brentq(slope, -edge / x.max(), -edge / x.min(), xtol=1e-14)
    p = 1 / (1 + lam * x) / len(x)
    assert p.sum() == pytest.approx(1)
    assert p @ SPECIMENS == pytest.approx(mean)
    assert statistic(x, float(x.sum())) == pytest.approx(-2 * np.sum(np.log(len(x) * p)), rel=1e-7)


def test_owens_interval_for_a_mean() -> None:
    """The ends are the means whose ratio is the chi-square quantile, found with Owen's own dual."""
    n = len(SPECIMENS)

    def excess(mean: float) -> float:
        x = SPECIMENS - mean
        lam = brentq(lambda one: np.sum(x / (1 + one * x)), -1 / x.max() + 1e-7, -1 / x.min() - 1e-7)
        return float(2 * np.sum(np.log1p(lam * x))) - chi2.ppf(0.95, 1)

    centre = SPECIMENS.mean()
    expected = brentq(excess, 0.5, centre), brentq(excess, centre, 4.5)
    found = ends(mean_totals(SPECIMENS, df=MANY, divisor=n))
    assert found == pytest.approx(expected, rel=1e-6)
    assert found[1] - centre > 1.2 * (centre - found[0])  # as skewed as the specimens


@pytest.mark.parametrize(("k", "n"), [(1, 12), (3, 40), (37, 40), (20, 40)])
def test_for_a_share_it_is_the_binomial_likelihood_interval(k: int, n: int) -> None:
    def excess(p: float) -> float:
        share = k / n
        ratio = xlogy(k, share / p) + xlogy(n - k, (1 - share) / (1 - p))
        return float(2 * ratio) - chi2.ppf(0.9, 1)

    expected = brentq(excess, 1e-9, k / n), brentq(excess, k / n, 1 - 1e-9)
    values = (np.arange(n) < k).astype(float)
    found = ends(mean_totals(values, df=MANY, divisor=n), 0.9, Means(least=0.0, most=1.0))
    assert found == pytest.approx(expected, rel=1e-6)


def test_poisson_samples_are_reweighted_draw_by_draw() -> None:
    """Inclusion chances: r_t / pi_t in place of 1 / pi_t, with nobody forced to keep their number.

    By brute force over the weights of six items, two of which were taken with certainty.
    """
    pi = np.array([1.0, 1.0, 0.5, 0.4, 0.2, 0.1])
    y = np.array([1.0, 0.0, 1.0, 0.0, 1.0, 0.0])
    N = 30.0
    loss = np.stack([np.ones(6), y], axis=1)
    noise = np.sqrt(1 - pi) / pi / N
    totals = Totals(loss.T @ (1 / pi) / N, noise[:, None] * loss, 6.0, MANY, np.zeros((2, 2)))
    low, high = ends(totals, 0.8, Means(least=0.0, most=1.0))
    value = totals.R[1] / totals.R[0]
    share = noise.sum() / totals.R[0]
    active = noise > 0
    for end in (low, high):
        # What certain items have in the denominator is spread over the draws that were left to chance.
        spread = (1 - share) * (totals.R[1] - end * totals.R[0]) / active.sum()
        x = noise[active] * (y[active] - end) + spread
        U = totals.R[1] - end * totals.R[0]
        best = minimize(
            lambda w: np.sum(np.exp(w) - 1 - w),
            np.zeros(4),
            constraints={"type": "eq", "fun": lambda w, x=x, U=U: np.expm1(w) @ x + U},
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 500},
        )
        assert 2 * best.fun == pytest.approx(chi2.ppf(0.8, 1), rel=1e-4)
    assert 0 < low < value < high < 1


# ---- its limits ----------------------------------------------------------------------------------


def test_in_a_large_sample_it_is_close_to_wald() -> None:
    values = np.random.default_rng(1).beta(2, 3, size=20_000)
    totals = mean_totals(values)
    wald = np.ravel(Wald()(totals, Means(), 0.95, stream(1, "interval")))
    assert np.abs(np.array(ends(totals)) - wald).max() < 0.01 * (wald[1] - wald[0])


def test_few_draws_get_the_t_quantile() -> None:
    """At its ends the statistic is the squared quantile of t with the totals' degrees of freedom."""
    low, high = ends(mean_totals(SPECIMENS, df=4.0, divisor=len(SPECIMENS)), 0.9)
    for end in (low, high):
        x = (SPECIMENS - end) / len(SPECIMENS)
        assert statistic(x, float(x.sum())) == pytest.approx(t.ppf(0.95, 4) ** 2, rel=1e-6)


def test_the_interval_of_a_transformed_ratio_is_the_transformed_interval() -> None:
    """F1 and the Jaccard index: J = F / (2 - F), and so do their intervals."""
    rng = np.random.default_rng(3)
    n = 150
    predicted, actual = rng.random(n) < 0.4, rng.random(n) < 0.4
    actual |= predicted & (rng.random(n) < 0.6)
    loss = np.stack([np.ones(n), predicted & actual, actual, predicted], axis=1).astype(float)
    R = loss.mean(axis=0)
    totals = Totals(R, (loss - R) / n, float(n), n - 1.0, np.zeros((4, 4)))
    f1 = np.ravel(EmpiricalLikelihood()(totals, resolve("f1"), 0.95, stream(1, "interval")))
    jaccard = np.ravel(EmpiricalLikelihood()(totals, Jaccard(), 0.95, stream(1, "interval")))
    np.testing.assert_allclose(jaccard, f1 / (2 - f1), rtol=1e-6)
    wald = np.ravel(Wald()(totals, resolve("f1"), 0.95, stream(1, "interval")))
    other = np.ravel(Wald()(totals, Jaccard(), 0.95, stream(1, "interval")))
    assert np.abs(other - wald / (2 - wald)).min() > 1e-3


@dataclass(frozen=True)
class Jaccard(Means):
    """True positives over all that are positive or predicted so; losses as those of F1."""

    least: float = 0.0
    most: float = 1.0

    @property
    def d(self) -> int:
        return 4

    @property
    def ratio(self) -> tuple[Floats, Floats]:
        return np.array([0.0, 1.0, 0.0, 0.0]), np.array([0.0, -1.0, 1.0, 1.0])

    def g(self, R: Array) -> Array:
        num, den = self.ratio
        return np.asarray((R @ num / (R @ den))[..., None])


# ---- degenerate samples and refusals -------------------------------------------------------------


def test_where_no_draw_says_anything_the_guard_makes_the_width() -> None:
    """Ten draws that all agree, and a belief that expects a variance: ten pseudo-draws of both signs."""
    totals = replace(mean_totals(np.ones(10), df=MANY), prior_cov=np.diag([0.0, 0.04]))
    low, high = ends(totals, 0.95, Means())
    assert 1 - low == pytest.approx(high - 1, rel=1e-9)
    x = np.sqrt(0.04 / GUARD) * np.where(np.arange(GUARD) % 2, -1.0, 1.0)
    assert statistic(x, 1 - low) == pytest.approx(chi2.ppf(0.95, 1), rel=1e-6)
    assert 1.96 * 0.2 < 1 - low < 2.4 * 0.2


def test_without_draws_or_guard_there_is_only_the_value() -> None:
    assert ends(mean_totals(np.ones(10))) == (1.0, 1.0)


def test_what_is_no_ratio_is_refused_by_name() -> None:
    pool, labels = small_pool(200)
    study = sd.create_study(pool, "matthews_corrcoef", design="uniform", budget=60, rng=1)
    study.run(labels)
    assert study.estimate(["precision", "recall"], interval="empirical-likelihood").defined.all()
    with pytest.raises(NotSupported, match=r"one ratio of averages.*Use 'logit'"):
        study.estimate(interval="empirical-likelihood")


@pytest.mark.parametrize("design", ["uniform", "stratified", "importance", "poisson", "sequential"])
def test_it_serves_every_kind_of_sample(design: str) -> None:
    """Centred or not, with the pool's known totals or without: as wide as logit within a quarter."""
    pool, labels = small_pool(2000)
    study = sd.create_study(pool, "f1", design=design, budget=400, rng=2)
    study.run(labels, batch=400)
    one, other = (study.estimate(interval=name).ci for name in ("empirical-likelihood", "logit"))
    assert (one.high - one.low) / (other.high - other.low) == pytest.approx(1, abs=0.25)
    assert abs(one.low - other.low) < 0.25 * (other.high - other.low)


def test_all_weight_in_the_population_is_wider_than_in_the_pool() -> None:
    pool, labels = small_pool(300)
    widths = []
    for target in ("pool", "population"):
        study = sd.create_study(pool, "accuracy", design="uniform", budget=150, rng=2, target=target)  # type: ignore[arg-type]
        study.run(labels)
        ci = study.estimate(interval="empirical-likelihood").ci
        widths.append(ci.high - ci.low)
    assert widths[1] / widths[0] == pytest.approx(np.sqrt(2), rel=0.15)


# ---- properties ----------------------------------------------------------------------------------


@given(
    st.lists(st.floats(0, 1), min_size=2, max_size=30),
    st.sampled_from([(0.5, 0.8), (0.9, 0.95), (0.95, 0.999)]),
)
@settings(max_examples=200, deadline=None)
def test_it_contains_the_value_stays_inside_and_grows(
    values: list[float], levels: tuple[float, float]
) -> None:
    totals = mean_totals(np.array(values))
    measure = Means(least=0.0, most=1.0)
    (a, b), (c, d) = (ends(totals, level, measure) for level in levels)
    value = float(np.mean(values))
    assert 0 <= c <= a + 1e-9
    assert a <= value + 1e-12
    assert value <= b + 1e-12
    assert b - 1e-9 <= d <= 1
    if np.std(values) > 1e-6:
        assert d - c > 0


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=20), st.floats(-0.9, 0.9), st.floats(1e-6, 1e6))
@settings(max_examples=200, deadline=None)
def test_the_statistic_has_no_unit_and_no_sign(values: list[float], share: float, scale: float) -> None:
    x = np.round(values, 3)
    U = share * float(np.abs(x).sum())
    found = statistic(x, U)
    assert found >= 0
    for other in (statistic(scale * x, scale * U), statistic(-x, -U)):
        assert other == pytest.approx(found, rel=1e-6, abs=1e-9)


def test_coverage_of_a_rare_share_by_enumeration() -> None:
    """All samples of 200 at a share of 2 %: Wald covers .866 or so, the likelihood interval .93 or more."""
    from scipy.stats import binom

    n, share = 200, 0.0245
    k = np.arange(n + 1)
    chance = binom.pmf(k, n, share)
    held = np.zeros(n + 1)
    for one in np.flatnonzero(chance > 1e-9):
        values = (np.arange(n) < one).astype(float)
        totals = replace(mean_totals(values), prior_cov=np.diag([0.0, share / n]))
        low, high = ends(totals, 0.95, Means(least=0.0, most=1.0))
        held[one] = low <= share <= high
    assert chance @ held >= 0.93


def test_totals_of_a_study_make_the_same_interval_again() -> None:
    pool, labels = small_pool(300)
    study = sd.create_study(pool, "recall", design="poisson", budget=80, rng=5)
    study.run(labels, batch=80)
    ci = study.estimate(interval="empirical-likelihood").ci
    low, high = EmpiricalLikelihood()(
        estimate_totals(study.case()), study.measure, 0.95, stream(9, "interval")
    )
    assert (ci.low, ci.high) == (low[0], high[0])
