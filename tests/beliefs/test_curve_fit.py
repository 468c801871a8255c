"""Curves of a rate: the prior as it is written, mode and curvature as a general optimiser finds them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit, ndtri
from scipy.stats import norm

from sondage.beliefs.curve_fit import CurveFit, Curves, Prior
from sondage.streams import stream

FREE = -1e3
"""A fall that holds no curve back."""
PRIOR = Prior((0.3, 1.2), (-0.2, 0.5), (-0.1, 0.25))


def example(seed: int = 0, families: int = 2, cells: int = 12) -> tuple[Curves, np.ndarray, np.ndarray]:
    """Curves with cells at odd places, and labels in most of them."""
    rng = np.random.default_rng(seed)
    family = np.sort(rng.integers(0, families, cells))
    at = np.round(rng.uniform(0, 5.4, cells), 2)
    n = rng.integers(0, 9, cells).astype(float)
    return Curves(family, at, (PRIOR, Prior(), PRIOR)[:families]), n, rng.binomial(n.astype(int), 0.3) * 1.0


def log_posterior(theta: Any, curves: Curves, n: Any, hits: Any) -> float:
    """Written out: linear between knots, binomial counts, differences normal."""
    knots = np.asarray(theta).reshape(len(curves.priors), -1)
    value = 0.0
    for f, at, trials, hit in zip(curves.family, curves.at, n, hits, strict=True):
        eta = np.interp(at, np.arange(knots.shape[1]), knots[f])
        value += hit * np.log(expit(eta)) + (trials - hit) * np.log(expit(-eta))
    for prior, eta in zip(curves.priors, knots, strict=True):
        value += norm.logpdf(eta[0], *prior.start) + norm.logpdf(eta[1] - eta[0], *prior.step)
        value += norm.logpdf(np.diff(eta, 2), *prior.bend).sum()
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


@pytest.mark.parametrize("seed", range(6))
def test_the_mode_is_what_a_general_optimiser_finds(seed: int) -> None:
    curves, n, hits = example(seed, families=1 + seed % 3)
    fit = curves.fit(n, hits)
    start = np.zeros(len(fit.theta))
    found = minimize(lambda theta: -log_posterior(theta, curves, n, hits), start, method="BFGS", tol=1e-9)
    np.testing.assert_allclose(fit.theta, found.x, atol=2e-4)
    assert log_posterior(fit.theta, curves, n, hits) >= -found.fun - 1e-9


def test_the_covariance_is_the_inverse_curvature_at_the_mode() -> None:
    curves, n, hits = example(3)
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
    knots = np.arange(fit.knots.shape[1])
    hats = np.zeros((len(curves.at), J))
    for k, (f, at) in enumerate(zip(curves.family, curves.at, strict=True)):
        for j in knots:
            hats[k, f * len(knots) + j] = np.interp(at, knots, knots == j)
    np.testing.assert_allclose(fit.covariance, hats @ np.linalg.inv(hessian) @ hats.T, rtol=1e-3, atol=1e-6)


def test_without_labels_the_curve_is_the_priors_mean() -> None:
    curves, n, _ = example(1)
    fit = curves.fit(0 * n, 0 * n)
    expected = np.concatenate([prior.gaussian(curves.knots)[0] for prior in curves.priors])
    np.testing.assert_allclose(fit.theta, expected, atol=1e-12)


def test_where_it_starts_makes_no_difference() -> None:
    curves, n, hits = example(2)
    cold = curves.fit(n, hits)
    warm = curves.fit(n, hits, cold.theta + np.linspace(-3, 3, len(cold.theta)))
    np.testing.assert_allclose(cold.theta, warm.theta, atol=1e-7)


def test_families_do_not_know_of_each_other() -> None:
    curves, n, hits = example(4)
    other = np.where(curves.family == 1, 0.0, 1.0)
    np.testing.assert_allclose(curves.fit(n, hits).knots[0], curves.fit(n * other, hits * other).knots[0])


@pytest.mark.parametrize("all_wrong", [False, True])
def test_a_million_labels_of_one_kind_leave_finite_curves(all_wrong: bool) -> None:
    curves = Curves(np.zeros(4, int), np.array([0.0, 1.0, 2.0, 3.0]), (Prior(),))
    n = np.full(4, 2.5e5)
    fit = curves.fit(n, n if all_wrong else 0 * n)
    assert np.isfinite(fit.theta).all()
    assert (fit.rate > 0.99).all() if all_wrong else (fit.rate < 0.01).all()


def test_one_cell_alone() -> None:
    curves = Curves(np.zeros(1, int), np.zeros(1), (Prior(),))
    assert curves.knots == 2
    assert 0 < curves.fit(np.ones(1), np.ones(1)).rate[0] < 1


def drawn(fit: CurveFit, count: int, outermost: Any, fall: float, seed: int = 1) -> np.ndarray:
    size = len(fit.theta)
    normal = ndtri(stream(seed, "belief").uniform(count * size) + 2.0**-54).reshape(count, size)
    return fit.draws(normal, np.asarray(outermost, dtype=float), fall)


def test_draws_without_a_guard_have_the_mode_and_the_covariance() -> None:
    curves, n, hits = example(5)
    fit = curves.fit(n, hits)
    rate = drawn(fit, 40_000, np.zeros(2), FREE)
    eta = np.log(rate) - np.log1p(-rate)
    error = np.sqrt(np.diag(fit.covariance) / len(eta))
    centre = np.log(fit.rate) - np.log1p(-fit.rate)
    assert (np.abs(eta.mean(axis=0) - centre) < 5 * error).all()
    size = np.sqrt(np.outer(np.diag(fit.covariance), np.diag(fit.covariance)))
    np.testing.assert_allclose(np.cov(eta.T) / size, fit.covariance / size, atol=0.03)


@pytest.mark.parametrize("fall", [0.0, float(np.log(2))])
def test_beyond_the_outermost_error_no_drawn_curve_rises(fall: float) -> None:
    """By at least ``fall`` from knot to knot; before it, curves rise as they like."""
    at = np.arange(0.0, 9.0)
    curves = Curves(np.zeros(9, int), at, (Prior(bend=(0.0, 1.0)),))
    fit = curves.fit(np.full(9, 2.0), np.array([0.0, 1, 0, 1, 0, 0, 0, 0, 0]))
    rate = drawn(fit, 500, [3.0], fall)
    eta = np.log(rate) - np.log1p(-rate)
    assert (np.diff(eta[:, 3:], axis=1) <= -fall + 1e-9).all()
    assert (np.diff(eta[:, :4], axis=1) > 0).any()
    free = drawn(fit, 500, [3.0], FREE)
    np.testing.assert_allclose(free[:, :4], rate[:, :4])  # what is seen is left alone
    assert (free + 1e-12 >= rate).all()


def test_an_error_between_knots_frees_its_own_piece_alone() -> None:
    curves = Curves(np.zeros(6, int), np.arange(6.0), (Prior(bend=(0.0, 1.0)),))
    fit = curves.fit(np.zeros(6), np.zeros(6))
    eta = np.log(rate := drawn(fit, 400, [2.5], 0.0)) - np.log1p(-rate)
    rises = (np.diff(eta, axis=1) > 1e-9).any(axis=0)
    assert rises.tolist() == [True, True, True, False, False]


@given(
    seed=st.integers(0, 1000),
    families=st.integers(1, 3),
    cells=st.integers(1, 15),
    fall=st.sampled_from([0.0, 0.35, 0.7]),
)
@settings(max_examples=40)
def test_rates_are_chances_and_more_errors_mean_a_higher_rate(
    seed: int, families: int, cells: int, fall: float
) -> None:
    curves, n, hits = example(seed, families, cells)
    fit = curves.fit(n, hits)
    assert ((fit.rate > 0) & (fit.rate < 1)).all()
    rate = drawn(fit, 20, np.zeros(families), fall, seed)
    assert ((rate > 0) & (rate < 1)).all()
    room = np.flatnonzero(hits < n)
    if len(room):
        more = hits.copy()
        more[room[0]] += 1
        assert curves.fit(n, more).rate[room[0]] > fit.rate[room[0]]
