"""Curves of a rate: the prior as it is written, mode and curvature as a general optimiser finds them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import norm

from sondage.beliefs.error_curve.fit import Curves, Family, Prior

FREE = -1e3
"""A fall that holds no curve back."""
PRIOR = Prior((0.3, 1.2), (-0.2, 0.5), (-0.1, 0.25))


APART = (Family(0), Family(1))
"""Two families with a curve each."""
TOGETHER = (Family(0, 0.5), Family(0, 0.8))
"""Two families on one curve, each at a level of its own."""
MIXED = (Family(0), Family(1, 1.5), Family(1, 0.4))


def one_curve(at: Any, prior: Prior | None = None) -> Curves:
    at = np.asarray(at, dtype=float)
    return Curves(np.zeros(len(at), int), at, (prior or Prior(),), (Family(),))


def example(
    seed: int = 0, families: tuple[Family, ...] = APART, cells: int = 12
) -> tuple[Curves, np.ndarray, np.ndarray]:
    """Curves with cells at odd places, and labels in most of them."""
    rng = np.random.default_rng(seed)
    family = np.sort(rng.integers(0, len(families), cells))
    at = np.round(rng.uniform(0, 5.4, cells), 2)
    n = rng.integers(0, 9, cells).astype(float)
    priors = (PRIOR, Prior())[: 1 + max(one.curve for one in families)]
    return Curves(family, at, priors, families), n, rng.binomial(n.astype(int), 0.3) * 1.0


def parts(theta: Any, curves: Curves) -> tuple[np.ndarray, np.ndarray]:
    """Knots of every curve, and the level of every family."""
    knots = np.asarray(theta)[: len(curves.priors) * curves.knots].reshape(len(curves.priors), -1)
    rest = iter(np.asarray(theta)[knots.size :])
    return knots, np.array([next(rest) if one.level > 0 else 0.0 for one in curves.families])


def log_odds(theta: Any, curves: Curves) -> np.ndarray:
    """Written out: linear between knots, with the level added."""
    knots, level = parts(theta, curves)
    where = zip(curves.family, curves.at, strict=True)
    x = np.arange(curves.knots)
    return np.array([np.interp(at, x, knots[curves.families[f].curve]) + level[f] for f, at in where])


def log_posterior(theta: Any, curves: Curves, n: Any, hits: Any) -> float:
    """Written out: binomial counts, differences and levels normal."""
    eta = log_odds(theta, curves)
    value = float(hits @ np.log(expit(eta)) + (n - hits) @ np.log(expit(-eta)))
    knots, level = parts(theta, curves)
    for prior, one in zip(curves.priors, knots, strict=True):
        value += norm.logpdf(one[0], *prior.start) + norm.logpdf(one[1] - one[0], *prior.step)
        value += norm.logpdf(np.diff(one, 2), *prior.bend).sum()
    for family, height in zip(curves.families, level, strict=True):
        value += norm.logpdf(height, 0.0, family.level) if family.level > 0 else 0.0
    return float(value)


@pytest.mark.parametrize("knots", [2, 3, 4, 9])
def test_the_prior_is_normal_in_the_start_the_first_step_and_the_bends(knots: int) -> None:
    mean, precision = PRIOR.gaussian(knots)
    assert mean[0] == pytest.approx(0.3)
    assert mean[1] - mean[0] == pytest.approx(-0.2)
    np.testing.assert_allclose(np.diff(mean, 2), -0.1, atol=1e-12)
    rng = np.random.default_rng(1)
    for _ in range(5):
        eta = rng.normal(size=knots)
        written = (eta[0] - 0.3) ** 2 / 1.2**2 + (eta[1] - eta[0] + 0.2) ** 2 / 0.5**2
        written += np.square(np.diff(eta, 2) + 0.1).sum() / 0.25**2
        assert (eta - mean) @ precision @ (eta - mean) == pytest.approx(written, rel=1e-10)


@pytest.mark.parametrize("until", [0, 1, 2, 4, 8, 9, 20])
def test_bends_may_be_looser_up_to_a_knot(until: int) -> None:
    loose = replace(PRIOR, loose=0.7, until=until)
    mean, precision = loose.gaussian(9)
    np.testing.assert_array_equal(mean, PRIOR.gaussian(9)[0])
    eta = np.random.default_rng(2).normal(size=9)
    written = (eta[0] - 0.3) ** 2 / 1.2**2 + (eta[1] - eta[0] + 0.2) ** 2 / 0.5**2
    for knot in range(2, 9):
        bend = eta[knot] - 2 * eta[knot - 1] + eta[knot - 2]
        written += ((bend + 0.1) / (0.7 if knot <= until else 0.25)) ** 2
    assert (eta - mean) @ precision @ (eta - mean) == pytest.approx(written, rel=1e-10)


@pytest.mark.parametrize("families", [APART, TOGETHER, MIXED, (Family(),)], ids=["2", "1+2", "2+2", "1"])
@pytest.mark.parametrize("seed", range(2))
def test_the_mode_is_what_a_general_optimiser_finds(seed: int, families: tuple[Family, ...]) -> None:
    curves, n, hits = example(seed, families)
    fit = curves.fit(n, hits)
    start = np.zeros(len(fit.theta))
    found = minimize(lambda theta: -log_posterior(theta, curves, n, hits), start, method="BFGS", tol=1e-9)
    np.testing.assert_allclose(fit.theta, found.x, atol=2e-4)
    assert log_posterior(fit.theta, curves, n, hits) >= -found.fun - 1e-9


@pytest.mark.parametrize("families", [APART, MIXED], ids=["2", "2+2"])
def test_the_covariance_is_the_inverse_curvature_at_the_mode(families: tuple[Family, ...]) -> None:
    curves, n, hits = example(3, families)
    fit = curves.fit(n, hits)
    J, step = len(fit.theta), 1e-3
    hessian = np.empty((J, J))
    for i in range(J):
        for j in range(J):
            corners = [
                a
                * b
                * log_posterior(fit.theta + step * (a * np.eye(J)[i] + b * np.eye(J)[j]), curves, n, hits)
                for a in (-1, 1)
                for b in (-1, 1)
            ]
            hessian[i, j] = -sum(corners) / (4 * step**2)
    np.testing.assert_allclose(fit.hessian, hessian, rtol=1e-4, atol=1e-4)
    turned = np.array([log_odds(one, curves) for one in np.eye(J)]).T
    np.testing.assert_allclose(
        fit.covariance, turned @ np.linalg.inv(hessian) @ turned.T, rtol=1e-3, atol=1e-6
    )
    np.testing.assert_allclose(fit.variance, np.diag(fit.covariance), rtol=1e-12)


def test_without_labels_the_curve_is_the_priors_mean() -> None:
    curves, n, _ = example(1, MIXED)
    fit = curves.fit(0 * n, 0 * n)
    expected = np.concatenate([*(prior.gaussian(curves.knots)[0] for prior in curves.priors), [0.0, 0.0]])
    np.testing.assert_allclose(fit.theta, expected, atol=1e-12)


def test_where_it_starts_makes_no_difference() -> None:
    curves, n, hits = example(2)
    cold = curves.fit(n, hits)
    warm = curves.fit(n, hits, cold.theta + np.linspace(-3, 3, len(cold.theta)))
    np.testing.assert_allclose(cold.theta, warm.theta, atol=1e-7)


def test_families_know_of_each_other_only_by_a_common_curve() -> None:
    for families, apart in ((APART, True), (TOGETHER, False)):
        curves, n, hits = example(4, families)
        alone = np.where(curves.family == 1, 0.0, 1.0)
        mine = curves.family == 0
        same = np.isclose(curves.fit(n, hits).rate[mine], curves.fit(n * alone, hits * alone).rate[mine])
        assert same.all() if apart else not same.any()


def test_a_family_far_above_its_curve_is_pulled_towards_it() -> None:
    curves = Curves(np.array([0, 1]), np.zeros(2), (Prior(),), TOGETHER)
    low, high = curves.fit(np.array([50.0, 50.0]), np.array([5.0, 25.0])).rate
    assert 0.1 < low < 0.2
    assert 0.4 < high < 0.5


@pytest.mark.parametrize("all_wrong", [False, True])
def test_a_million_labels_of_one_kind_leave_finite_curves(all_wrong: bool) -> None:
    curves = one_curve([0, 1, 2, 3])
    n = np.full(4, 2.5e5)
    fit = curves.fit(n, n if all_wrong else 0 * n)
    assert np.isfinite(fit.theta).all()
    assert (fit.rate > 0.99).all() if all_wrong else (fit.rate < 0.01).all()


def test_one_cell_alone() -> None:
    curves = one_curve([0])
    assert curves.knots == 2
    assert 0 < curves.fit(np.ones(1), np.ones(1)).rate[0] < 1


@given(
    seed=st.integers(0, 1000),
    families=st.sampled_from([APART, TOGETHER, MIXED]),
    cells=st.integers(1, 15),
)
@settings(max_examples=40)
def test_rates_are_chances_and_more_errors_mean_a_higher_rate(
    seed: int, families: tuple[Family, ...], cells: int
) -> None:
    curves, n, hits = example(seed, families, cells)
    fit = curves.fit(n, hits)
    assert ((fit.rate > 0) & (fit.rate < 1)).all()
    room = np.flatnonzero(hits < n)
    if len(room):
        more = hits.copy()
        more[room[0]] += 1
        assert curves.fit(n, more).rate[room[0]] > fit.rate[room[0]]
