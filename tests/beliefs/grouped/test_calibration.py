"""Calibration error by groups and bins: exact moments on tiny pools, names that keep what they say."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.stats import betabinom

from sondage.beliefs.grouped import calibration
from sondage.beliefs.grouped.rates import Rates
from sondage.streams import stream

# two groups of three bins, the last of them empty in the second group
A = np.array([[1.0, 1.8, 0.5], [1.0, 1.6, 1.0]])
B = np.array([[1.0, 0.2, 0.5], [1.0, 0.4, 1.0]])
RIGHT = np.array([[1.0, 2.0, 0.0], [0.0, 3.0, 0.0]])
N = np.array([[2.0, 2.0, 1.0], [0.0, 4.0, 0.0]])
SIZE = np.array([[4.0, 5.0, 2.0], [3.0, 4.0, 0.0]])
CONFIDENCE = np.array([[0.55, 0.8, 0.95], [0.5, 0.8, np.nan]])
RATES = Rates(A, B, RIGHT, N, SIZE)


def exact(group: int) -> tuple[float, float]:
    """Mean and variance of the calibration error of a group, over everything its unseen items may be."""
    some = np.flatnonzero(SIZE[group] > 0)
    rest = (SIZE - N)[group, some].astype(int)
    mean = square = 0.0
    for more in product(*(range(one + 1) for one in rest)):
        chance, value = 1.0, 0.0
        for b, k, left in zip(some, more, rest, strict=True):
            a_b, b_b = A[group, b] + RIGHT[group, b], B[group, b] + (N - RIGHT)[group, b]
            chance *= betabinom(left, a_b, b_b).pmf(k)
            rate = (RIGHT[group, b] + k) / SIZE[group, b]
            value += SIZE[group, b] / SIZE[group].sum() * abs(rate - CONFIDENCE[group, b])
        mean, square = mean + chance * value, square + chance * value**2
    return mean, square - mean**2


@pytest.mark.parametrize("group", [0, 1])
def test_the_posterior_has_the_exact_moments(group: int) -> None:
    count = 20_000
    drawn = RATES.drawn(stream(1, "interval"), count)
    with np.errstate(invalid="ignore"):
        found = calibration.error(drawn / SIZE, CONFIDENCE, SIZE)[:, group]
    mean, variance = exact(group)
    assert abs(found.mean() - mean) < 4.5 * np.sqrt(variance / count)
    assert found.var() == pytest.approx(variance, rel=0.05)
    assert mean > calibration.plug_in(RATES, CONFIDENCE, SIZE)[group]


def test_the_plug_in_meets_the_truth_at_the_last_label() -> None:
    done = Rates(A, B, RIGHT, SIZE, SIZE)
    expected = calibration.error(
        np.divide(RIGHT, SIZE, where=SIZE > 0, out=np.zeros(SIZE.shape)), CONFIDENCE, SIZE
    )
    np.testing.assert_allclose(calibration.plug_in(done, CONFIDENCE, SIZE), expected)


def test_the_debiased_square_is_unbiased() -> None:
    """Mean over all samples of the labels, bins with two labels each, of finite bins (enumerated)."""
    bins = [np.array([1, 1, 0, 1]), np.array([0, 1, 0])]
    confidence = np.array([[0.3, 0.9]])
    size = np.array([[4.0, 3.0]])
    squares = []
    for first in product(range(4), repeat=2):
        for second in product(range(3), repeat=2):
            if first[0] != first[1] and second[0] != second[1]:
                right = np.array([[bins[0][list(first)].sum(), bins[1][list(second)].sum()]], dtype=float)
                rates = Rates(np.ones((1, 2)), np.ones((1, 2)), right, np.full((1, 2), 2.0), size)
                squares.append(float(calibration.debiased(rates, confidence, size)[0]) ** 2)
    truth = (4 * (0.75 - 0.3) ** 2 + 3 * (1 / 3 - 0.9) ** 2) / 7
    assert np.mean(squares) == pytest.approx(truth, rel=0.06)  # squares below 0 count as 0
    assert np.mean(squares) >= truth - 1e-12


def test_debiased_without_enough_labels_is_undefined() -> None:
    rates = Rates(A, B, np.zeros((2, 3)), np.ones((2, 3)), np.full((2, 3), 9.0))
    assert np.isnan(calibration.debiased(rates, np.full((2, 3), 0.5), np.full((2, 3), 9.0))).all()


def test_the_greatest_distance_and_bins_without_items() -> None:
    rate = np.array([[0.5, 0.8, 0.4], [0.9, 0.8, 0.1]])
    found = calibration.greatest(rate, CONFIDENCE, SIZE)
    np.testing.assert_allclose(found, [0.55, 0.4])
    assert np.isfinite(calibration.error(rate, CONFIDENCE, SIZE)).all()


def test_over_all_groups_bins_are_taken_together() -> None:
    rate = np.array([[0.5, 0.8, 0.5], [1.0, 0.5, 0.1]])
    found, confidence, size = calibration.overall(rate, CONFIDENCE, SIZE)
    assert size.tolist() == [[7.0, 9.0, 2.0]]
    np.testing.assert_allclose(found, [[(2 + 3) / 7, (4 + 2) / 9, 0.5]])
    np.testing.assert_allclose(confidence, [[(4 * 0.55 + 3 * 0.5) / 7, 0.8, 0.95]])


def test_lowered_draws_have_the_plug_in_as_mean_and_keep_their_order_and_greatest() -> None:
    rates = Rates(np.full((2, 3), 8.0), np.full((2, 3), 2.0), RIGHT, N, np.full((2, 3), 50.0))
    confidence, items = np.full((2, 3), 0.8), np.full((2, 3), 50.0)
    draws = calibration.error(rates.drawn(stream(1, "interval"), 4000) / 50.0, confidence, items)
    plug_in = calibration.plug_in(rates, confidence, items)
    found = calibration.lowered(draws, plug_in)
    assert (found >= 0).all()
    assert (found <= draws).all()
    np.testing.assert_allclose(found.max(axis=0), draws.max(axis=0))
    for k in range(2):
        order = np.argsort(draws[:, k], kind="stable")
        assert (np.diff(found[order, k]) >= -1e-12).all()
    assert (found.mean(axis=0) < draws.mean(axis=0)).all()
    free = calibration.lowered(draws + 1.0, plug_in + 1.0)  # where none stops at 0
    np.testing.assert_allclose(free.mean(axis=0), plug_in + 1.0, atol=0.01)
    exact = calibration.lowered(np.full((9, 1), 0.2), np.array([0.2]))
    assert (exact == 0.2).all()  # labelled to the end
