"""Gamma, Beta and Dirichlet numbers against the distributions of scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import digamma, polygamma
from scipy.stats import beta as scipy_beta
from scipy.stats import kstest

from sondage.beliefs.grouped.gamma import beta, dirichlet, log_gamma
from sondage.streams import stream

N = 20_000


@pytest.mark.parametrize("shape", [1e-6, 0.02, 0.4, 1.0, 1.4, 7.0, 3000.0])
def test_logarithms_have_their_mean_and_variance(shape: float) -> None:
    """E log G = digamma, Var log G = trigamma: finite, and known, for shapes however small."""
    found = log_gamma(np.full(N, shape), stream(1, "belief"))
    mean, variance = float(digamma(shape)), float(polygamma(1, shape))
    assert abs(found.mean() - mean) < 4 * np.sqrt(variance / N)
    assert found.var() == pytest.approx(variance, rel=0.08)


@pytest.mark.parametrize(
    ("a", "b"), [(0.3, 0.2), (0.06, 1.94), (1.0, 1.0), (2.5, 0.7), (40.0, 3.0), (900.0, 80.0)]
)
def test_beta_numbers_have_their_distribution(a: float, b: float) -> None:
    found = beta(np.full(N, a), np.full(N, b), stream(2, "belief"))
    assert kstest(found, scipy_beta(a, b).cdf).pvalue > 1e-3


def test_parameters_of_many_shapes_are_not_mixed_up() -> None:
    a = np.geomspace(0.1, 300.0, 40)
    b = a[::-1].copy()
    found = np.stack([beta(a, b, stream(3, "belief", k)) for k in range(2000)])
    sd = np.sqrt(a * b / (np.square(a + b) * (a + b + 1)))
    assert (np.abs(found.mean(axis=0) - a / (a + b)) < 4.5 * sd / np.sqrt(2000)).all()


def test_dirichlet_shares_have_their_moments_and_add_up() -> None:
    alpha = np.array([0.02, 1.0, 0.0, 3.0])
    found = dirichlet(np.broadcast_to(alpha, (N, 4)), stream(4, "belief"))
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)
    assert (found[:, 2] == 0).all()
    mean = alpha / alpha.sum()
    variance = mean * (1 - mean) / (alpha.sum() + 1)
    assert (np.abs(found.mean(axis=0) - mean) <= 4 * np.sqrt(variance / N)).all()
    np.testing.assert_allclose(found.var(axis=0), variance, rtol=0.15, atol=1e-12)


def test_tiny_alphas_pick_one_class_by_their_shares() -> None:
    """Gamma numbers themselves would all be 0: the shares would be nan."""
    found = dirichlet(np.broadcast_to([1e-7, 3e-7], (4000, 2)), stream(5, "belief"))
    assert np.isfinite(found).all()
    assert (np.isclose(found, 0.0) | np.isclose(found, 1.0)).all()
    assert abs(found[:, 1].mean() - 0.75) < 4 * np.sqrt(0.75 * 0.25 / 4000)


def test_no_shape_at_all_and_the_same_stream_the_same_numbers() -> None:
    assert log_gamma(np.zeros((0, 3)), stream(1, "belief")).shape == (0, 3)
    again = [beta(np.full(50, 0.5), np.full(50, 2.0), stream(9, "draw", 1)) for _ in range(2)]
    np.testing.assert_array_equal(*again)
