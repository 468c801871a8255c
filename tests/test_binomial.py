"""Binomial numbers by inversion: scipy's quantiles where they are summed up, within one elsewhere."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from sondage.binomial import _FEW, binomial, sum_of_binomials
from sondage.streams import stream

CHANCES = [0.0, 1e-7, 0.003, 0.2, 0.5, 0.63, 0.97, 1.0 - 1e-7, 1.0]


@pytest.mark.parametrize("p", CHANCES)
@pytest.mark.parametrize("n", [0, 1, 2, 17, 50])
def test_few_are_scipys_quantiles(n: int, p: float) -> None:
    u = stream(1, "simulate").uniform(2000)
    found = binomial(u, np.full(2000, float(n)), np.full(2000, p))
    np.testing.assert_array_equal(found, binom.ppf(u, n, p))


@pytest.mark.parametrize(("n", "p"), [(10**6, 1e-5), (10**7, 2.4e-6), (10**6, 1 - 1e-5), (400, 0.05)])
def test_few_of_many_are_scipys_quantiles(n: int, p: float) -> None:
    """Few expected, or few expected not to come up: n by itself is no matter."""
    u = stream(2, "simulate").uniform(2000)
    assert min(n * p, n * (1 - p)) <= _FEW
    np.testing.assert_array_equal(binomial(u, np.full(2000, float(n)), np.full(2000, p)), binom.ppf(u, n, p))


@pytest.mark.parametrize(("n", "p"), [(60, 0.5), (300, 0.1), (300, 0.9), (10**4, 0.3), (10**8, 1e-3)])
def test_many_are_within_one_of_scipys_quantiles_and_mostly_equal(n: int, p: float) -> None:
    u = stream(3, "simulate").uniform(20_000)
    assert min(n * p, n * (1 - p)) > _FEW
    away = np.abs(binomial(u, np.full(len(u), float(n)), np.full(len(u), p)) - binom.ppf(u, n, p))
    assert away.max() <= 1
    assert (away == 0).mean() > 0.95


@pytest.mark.parametrize(("n", "p"), [(40, 0.3), (3000, 0.3), (3000, 0.7)])
def test_evenly_spaced_numbers_have_the_moments(n: int, p: float) -> None:
    u = (np.arange(20_001) + 0.5) / 20_001
    found = binomial(u, np.full(len(u), float(n)), np.full(len(u), p))
    assert found.mean() == pytest.approx(n * p, rel=2e-3)
    assert found.var() == pytest.approx(n * p * (1 - p), rel=2e-2)


def test_the_ends_of_the_uniform_numbers_end_too() -> None:
    """The greatest uniform number is a few deviations out, not the whole of a large n."""
    n = np.full(2, 1e6)
    low, high = binomial(np.array([0.0, 1.0 - 2.0**-53]), n, np.full(2, 2e-5))
    assert low == 0
    assert 60 < high < 130
    low, high = binomial(np.array([0.0, 1.0 - 2.0**-53]), n, np.full(2, 1 - 2e-5))
    assert high == 1e6
    assert 60 < 1e6 - low < 130


@given(
    u=st.floats(0, 1, exclude_max=True),
    n=st.integers(0, 10**6),
    p=st.floats(0, 1),
    more=st.floats(0, 1, exclude_max=True),
)
def test_whole_numbers_between_nothing_and_all_that_rise_with_the_uniform(
    u: float, n: int, p: float, more: float
) -> None:
    first, second = binomial(np.array([u, max(u, more)]), np.full(2, float(n)), np.full(2, p))
    assert first == int(first)
    assert 0 <= first <= second <= n


def test_shapes_are_broadcast() -> None:
    found = binomial(
        stream(1, "simulate").uniform(6).reshape(3, 2), np.array([5.0, 9.0]), np.array([0.0, 1.0])
    )
    assert found.tolist() == [[0.0, 9.0]] * 3


@pytest.mark.parametrize("p", CHANCES)
def test_none_of_none_come_up_whatever_the_number(p: float) -> None:
    ends = np.array([0.0, 0.5, 1.0 - 2.0**-53])
    assert binomial(ends, np.zeros(3), np.full(3, p)).tolist() == [0.0] * 3


def chances_of_sum(p: np.ndarray) -> np.ndarray:
    """The distribution of how many of some items come up, each with its own chance: by convolution."""
    out = np.ones(1)
    for one in p:
        out = np.convolve(out, [1.0 - one, one])
    return out


MIXES = {
    "all alike": np.full(40, 0.2),
    "some never": np.repeat([0.0, 0.6], 30),
    "a falling curve": 0.5 * np.exp(-np.arange(400) / 25.0),
    "few near the boundary, many far off": np.repeat([0.5, 0.05, 0.001], [20, 100, 2000]),
    "mostly wrong": 1.0 - 0.4 * np.exp(-np.arange(200) / 60.0),
}


@pytest.mark.parametrize("p", MIXES.values(), ids=MIXES)
def test_sums_are_distributed_as_their_convolution(p: np.ndarray) -> None:
    """Everywhere within .013 of it, by enumeration; exactly it where all that may come up are alike."""
    u = (np.arange(50_000) + 0.5) / 50_000
    exact = chances_of_sum(p)
    found = sum_of_binomials(u, np.full(u.shape, p.sum()), np.full(u.shape, np.square(p).sum()))
    share = np.bincount(found.astype(int), minlength=len(exact))[: len(exact)] / len(u)
    away = np.abs(np.cumsum(share) - np.cumsum(exact)).max()
    assert away < (1e-4 if len(np.unique(p[p > 0])) == 1 and p.sum() <= _FEW else 0.013)
    assert found.mean() == pytest.approx(p.sum(), abs=0.02)
    variance = float((p * (1 - p)).sum())
    assert 0.98 * variance < found.var() < 1.02 * variance + 1.0  # trials are a whole number


@given(p=st.lists(st.floats(0, 1), min_size=1, max_size=30), u=st.floats(0, 1, exclude_max=True))
def test_a_sum_is_a_whole_number_of_what_there_is(p: list[float], u: float) -> None:
    chances = np.array(p)
    (found,) = sum_of_binomials(
        np.array([u]), chances[None].sum(axis=1), np.square(chances)[None].sum(axis=1)
    )
    assert found == int(found)
    assert 0 <= found <= np.count_nonzero(chances)


def test_the_sum_of_one_kind_is_its_binomial_number() -> None:
    u, n, p = stream(4, "simulate").uniform(500), 10_000.0, np.geomspace(1e-7, 1.0, 500)
    np.testing.assert_array_equal(
        sum_of_binomials(u, n * p, n * np.square(p)), binomial(u, np.full(500, n), p)
    )
