"""Formulas of plain sampling, reading numbers of labels off widths, and what finding a difference takes."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr, ndtri

from sondage.measures import resolve
from sondage.study.planning.forecast import Forecast, Sampling, labels_for, never_wider
from sondage.study.planning.result import Goal

SIZE = st.integers(20, 100_000)
SPREAD = st.floats(1e-4, 0.25)


def plain(size: int, *, population: bool = False) -> Sampling:
    return Sampling(size, 0.95, population, resolve("accuracy"))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 7])
def test_variance_is_that_over_all_samples(n: int) -> None:
    values = np.array([0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0])
    means = [values[list(some)].mean() for some in combinations(range(7), n)]
    found = plain(7).variance(np.array(values.var()), np.array(n))
    assert float(found) == pytest.approx(np.var(means), abs=1e-15)


def test_the_population_adds_the_chance_of_the_pool_itself() -> None:
    spread = np.array([[0.2]])
    pool, source = plain(500), plain(500, population=True)
    difference = source.variance(spread, np.array(100)) - pool.variance(spread, np.array(100))
    assert float(difference.item()) == pytest.approx(0.2 / 500)


def test_widths_are_cut_to_the_range() -> None:
    assert plain(1000).width(np.array([[0.25]]), np.array([1])).item() == 1.0


@given(SIZE, SPREAD, st.floats(0.001, 0.9))
def test_needed_is_where_the_width_is_reached(size: int, spread: float, width: float) -> None:
    sampling = plain(size)
    n = sampling.needed(np.array([spread]), width)
    assert 0 < n[0] <= size
    found = sampling.errors * np.sqrt(sampling.variance(np.array([spread]), n))
    assert found[0] == pytest.approx(width, rel=1e-6)


def test_needed_by_a_population_that_the_pool_is_too_small_for() -> None:
    sampling = plain(100, population=True)
    with_all = sampling.errors * np.sqrt(0.25 / 100)
    assert np.isinf(sampling.needed(np.array([0.25]), 0.9 * with_all)[0])
    assert sampling.needed(np.array([0.25]), 1.1 * with_all)[0] < 100


@given(SIZE, SPREAD, st.integers(0, 10_000))
def test_labels_read_off_the_widths_of_a_plain_sample_are_exact(size: int, spread: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    sampling = plain(size)
    labels = np.unique(rng.integers(1, size, 4))
    width = sampling.errors * np.sqrt(sampling.variance(np.array(spread), labels))
    n = int(rng.integers(labels[0], size + 1))
    target = float(sampling.errors * np.sqrt(sampling.variance(np.array(spread), np.array(n))))
    found = labels_for(labels, width, target * (1 + 1e-9), size)
    assert found in (n - 1, n, n + 1)
    assert found == pytest.approx(n, rel=1e-4, abs=1)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.floats(0.01, 1), st.floats(0.01, 1))
def test_a_narrower_wish_never_needs_fewer_labels(widths: list[float], a: float, b: float) -> None:
    labels = 10 * 2 ** np.arange(len(widths))
    falling = never_wider(np.array(widths))
    less, more = sorted([a, b])
    assert labels_for(labels, falling, less, 10_000) >= labels_for(labels, falling, more, 10_000)


def test_what_is_reached_at_once_takes_the_first_number() -> None:
    assert labels_for(np.array([50, 100]), np.array([0.2, 0.1]), 0.3, 1000) == 50


def test_a_width_that_the_whole_pool_leaves_open_is_out_of_reach() -> None:
    assert np.isinf(labels_for(np.array([50]), np.array([0.2]), 0.05, 1000, end=0.06))


@given(st.lists(st.floats(0, 5), min_size=1, max_size=20))
def test_never_wider(widths: list[float]) -> None:
    found = never_wider(np.array(widths))
    assert (np.diff(found) <= 0).all()
    assert (found >= np.array(widths)).all()
    assert set(found) <= set(widths)


def test_three_numbers_are_quantiles_over_the_worlds() -> None:
    width = np.linspace(0.0, 1.0, 11).reshape(1, 11, 1)
    forecast = Forecast(np.array([9]), np.array([9.0]), width, np.ones((11, 1)), (0.1, 0.5, 0.9))
    np.testing.assert_allclose(forecast.by_design()[0, :, 0], [0.1, 0.5, 0.9])


@pytest.mark.parametrize("power", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_a_difference_is_found_with_the_power_wanted(power: float, level: float) -> None:
    """A normal estimate around the difference, whose interval is as wide as the goal says."""
    goal = Goal(None, 0.1, power, level)
    assert goal.target is not None
    z = ndtri(0.5 + level / 2)
    error = goal.target / (2 * z)
    assert ndtr(0.1 / error - z) == pytest.approx(power)


def test_labels_for_a_difference_are_the_text_books() -> None:
    """``n = (z(1 - a/2) + z(power))^2 s^2 / d^2`` for a share that is off by d, in a pool without end."""
    goal = Goal(None, 0.05, 0.8, 0.95)
    assert goal.target is not None
    found = plain(10**9).needed(np.array([0.25]), goal.target)[0]
    assert found == pytest.approx((1.959964 + 0.841621) ** 2 * 0.25 / 0.05**2, rel=1e-5)
