"""Intervals that hold together: limits in closed form, and the chance that all hold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal, norm, t
from tests.intervals.means import Means, mean_totals, totals_with

from sondage.errors import InvalidInput
from sondage.estimators import Totals
from sondage.estimators.linear import linearise
from sondage.intervals import Beta, Bonferroni, Interval, Scheffe, Simultaneous, StudentT, region
from sondage.intervals.simultaneous import correlation_root, uncertain
from sondage.streams import stream
from sondage.types import Array

ALL = [Simultaneous(), Bonferroni(), Scheffe()]


def critical(
    interval: StudentT, cov: Array, level: float = 0.95, df: float = 1e9, sides: int = 2, seed: int = 1
) -> float:
    """How many standard errors the interval has to each side."""
    totals = totals_with(np.zeros(len(cov)), cov, df)
    linear = linearise(totals, Means(len(cov)))
    return interval.quantile(totals, linear, level, sides, stream(seed, "interval"))


def equicorrelated(m: int, rho: float) -> Array:
    return np.full((m, m), rho) + (1 - rho) * np.eye(m)


@pytest.mark.parametrize("interval", ALL, ids=lambda one: one.alias)
@pytest.mark.parametrize("df", [3, 1e9])
@pytest.mark.parametrize("sides", [1, 2])
def test_for_one_coordinate_all_are_the_single_interval(interval: StudentT, df: float, sides: int) -> None:
    expected = t.ppf(1 - 0.05 / sides, df)
    assert critical(interval, np.eye(1), 0.95, df, sides) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("m", [2, 3, 10])
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_independent_coordinates_have_sidaks_value(m: int, level: float) -> None:
    expected = norm.ppf(0.5 + 0.5 * level ** (1 / m))
    found = [critical(Simultaneous(), np.eye(m), level, seed=seed) for seed in range(5)]
    assert found == pytest.approx([expected] * 5, rel=0.012)
    assert np.mean(found) == pytest.approx(expected, rel=0.005)


@pytest.mark.parametrize("m", [2, 5])
def test_independent_bounds_have_sidaks_value_on_one_side(m: int) -> None:
    found = np.mean([critical(Simultaneous(), np.eye(m), 0.95, sides=1, seed=seed) for seed in range(5)])
    assert found == pytest.approx(norm.ppf(0.95 ** (1 / m)), rel=0.005)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_coordinates_that_move_together_have_the_single_value(sign: float) -> None:
    cov = np.outer([1, 2 * sign, 3], [1, 2 * sign, 3])
    assert critical(Simultaneous(), cov, 0.95, 7) == pytest.approx(t.ppf(0.975, 7), rel=1e-7)


def test_bounds_of_opposite_coordinates_miss_on_both_sides() -> None:
    """A lower bound for x and one for -x are an interval for x."""
    cov = np.array([[1.0, -1.0], [-1.0, 1.0]])
    assert critical(Simultaneous(), cov, sides=1) == pytest.approx(norm.ppf(0.975), rel=1e-6)


@pytest.mark.parametrize("rho", [-0.6, 0.5, 0.9])
def test_two_correlated_coordinates_against_the_normal_integral(rho: float) -> None:
    made = multivariate_normal(np.zeros(2), equicorrelated(2, rho))
    found = np.mean([critical(Simultaneous(), equicorrelated(2, rho), seed=seed) for seed in range(5)])
    corner = np.array([found, found])
    assert made.cdf(corner, lower_limit=-corner) == pytest.approx(0.95, abs=0.001)


def test_multivariate_t_against_simulation() -> None:
    rng = np.random.default_rng(1)
    cov, df = equicorrelated(3, 0.4), 6
    draws = rng.normal(size=(200_000, 3)) @ np.linalg.cholesky(cov).T
    draws /= np.sqrt(rng.chisquare(df, 200_000) / df)[:, None]
    found = np.mean([critical(Simultaneous(), cov, 0.9, df, seed=seed) for seed in range(5)])
    assert found == pytest.approx(np.quantile(np.abs(draws).max(axis=1), 0.9), rel=0.01)


@pytest.mark.parametrize("sides", [1, 2])
def test_bonferroni_divides_the_tail(sides: int) -> None:
    found = critical(Bonferroni(), equicorrelated(4, 0.3), 0.95, 12, sides)
    assert found == pytest.approx(t.ppf(1 - 0.05 / sides / 4, 12))


@pytest.mark.parametrize("m", [2, 3])
def test_scheffe_is_the_shadow_of_the_region(m: int) -> None:
    x = np.random.default_rng(m).normal(size=(20, m)) * np.arange(1, m + 1)
    totals = mean_totals(x)
    low, high = Scheffe()(totals, Means(m), 0.9, stream(1, "interval"))
    found = region(totals, Means(m), 0.9)
    np.testing.assert_allclose([low, high], found.limits, rtol=1e-9)
    if m == 2:
        edge = found.boundary(2000)
        np.testing.assert_allclose([low, high], [edge.min(axis=0), edge.max(axis=0)], rtol=1e-4)


def test_on_a_bounded_range_the_band_has_the_shape_of_beta() -> None:
    """With the critical value of the band in place of a t quantile, it is the beta interval."""
    cov = 1e-4 * equicorrelated(3, 0.5)
    totals, measure = totals_with(np.array([0.9, 0.5, 0.2]), cov, 50), Means(3, 0.0, 1.0)
    value = critical(Simultaneous(), cov, 0.95, 50)
    level = 2 * t.cdf(value, 50) - 1
    single = Beta()(totals, measure, level, stream(1, "interval"))
    np.testing.assert_allclose(
        Simultaneous()(totals, measure, 0.95, stream(1, "interval")), single, rtol=1e-9
    )


def test_what_is_known_or_undefined_does_not_count() -> None:
    """Two uncertain coordinates, a known one and one that is 0/0: the value of two."""
    cov = np.diag([0.01, 0.02, 0.0])
    totals = totals_with(np.array([0.4, 0.5, 0.6]), cov)
    two = totals_with(np.array([0.4, 0.5]), cov[:2, :2])
    for interval in ALL:
        low, high = interval(totals, Means(3), 0.95, stream(1, "interval"))
        expected = interval(two, Means(2), 0.95, stream(1, "interval"))
        np.testing.assert_allclose([low[:2], high[:2]], expected, rtol=1e-9)
        assert low[2] == high[2] == pytest.approx(0.6)
        undefined = Totals(
            np.append(totals.R, np.nan),
            np.column_stack([totals.parts, totals.parts[:, 1]]),
            totals.n_eff,
            totals.df,
            np.zeros((5, 5)),
        )
        low, high = interval(undefined, Means(4), 0.95, stream(1, "interval"))
        np.testing.assert_allclose([low[:2], high[:2]], expected, rtol=1e-9)
        assert np.isnan([low[3], high[3]]).all()


@pytest.mark.parametrize("draws", [4, 30])
def test_the_root_gives_the_correlation_with_few_draws_and_with_many(draws: int) -> None:
    x = np.random.default_rng(2).normal(size=(draws, 6))
    linear = linearise(mean_totals(x), Means(6))
    root = correlation_root(linear, uncertain(linear))
    assert len(root) == min(draws - 1, 6)
    np.testing.assert_allclose(root.T @ root, np.corrcoef(x.T), atol=1e-9)
    np.testing.assert_allclose(root @ root.T, np.diag(np.square(root).sum(axis=1)), atol=1e-9)


@pytest.mark.parametrize("interval", ALL, ids=lambda one: one.alias)
@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_all_coordinates_are_held_together(interval: Interval, alternative: str) -> None:
    """Fifty normal draws of four correlated numbers: all four at once in at least 90 %."""
    rng = np.random.default_rng(3)
    root, held, alone, repeats = np.linalg.cholesky(equicorrelated(4, 0.5)), 0, 0, 250
    for k in range(repeats):
        totals = mean_totals(rng.normal(size=(50, 4)) @ root.T)
        low, high = interval(totals, Means(4), 0.9, stream(k, "interval"), alternative)  # type: ignore[arg-type]
        held += bool(((low <= 0) & (high >= 0)).all())
        low, high = StudentT()(totals, Means(4), 0.9, stream(k, "interval"), alternative)  # type: ignore[arg-type]
        alone += bool(((low <= 0) & (high >= 0)).all())
    error = np.sqrt(0.09 * repeats)
    assert held >= 0.9 * repeats - 3 * error
    assert alone < 0.9 * repeats - 3 * error
    if isinstance(interval, Simultaneous):
        assert held <= 0.9 * repeats + 3 * error


def test_few_replicates_are_refused() -> None:
    for few in (50, 999.5, "many"):
        with pytest.raises(InvalidInput, match="replicates= must be a whole number of at least 99"):
            Simultaneous(replicates=few)  # type: ignore[arg-type]


@given(st.integers(0, 10_000), st.integers(2, 6), st.sampled_from([0.6, 0.9, 0.99]), st.sampled_from([1, 2]))
@settings(max_examples=60, deadline=None)
def test_single_then_band_then_bonferroni_and_scheffe(seed: int, m: int, level: float, sides: int) -> None:
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(m, int(rng.integers(1, m + 1))))
    cov = root @ root.T
    single = critical(StudentT(), cov, level, 20, sides)
    band = critical(Simultaneous(), cov, level, 20, sides, seed)
    assert single <= band * (1 + 1e-9)
    assert band <= critical(Bonferroni(), cov, level, 20, sides) * (1 + 1e-9)
    assert band <= critical(Scheffe(), cov, level, 20, sides) * (1 + 1e-6)
