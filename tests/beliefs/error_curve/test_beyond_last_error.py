"""Tails: what is held possible where no wrong prediction was seen."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import betaincinv

from sondage.beliefs.error_curve.beyond_last_error import HONEST, TIGHT, WORLDS


def test_what_the_tails_hold() -> None:
    assert (HONEST.fall, TIGHT.astray) == (0.0, 0.0)
    assert TIGHT.fall == pytest.approx(np.log(2))
    assert HONEST.astray > 0
    assert TIGHT.anywhere(np.ones(2), np.ones(2), np.zeros(2, dtype=int), 100.0) is None


def test_one_item_lies_anywhere_at_least() -> None:
    """Of ten positives among a million 2 % would be none."""
    found = HONEST.anywhere(np.zeros(2), np.array([1e-5, 0.4]), np.array([0, 1]), 1e6)
    assert found is not None
    assert found.mean.tolist() == [HONEST.astray] * 2
    assert (found.mean * found.others * 1e6).tolist() == [pytest.approx(1), pytest.approx(8000)]


def test_more_is_allowed_for_where_labels_can_correct_it() -> None:
    """Up to 2.5 times as much; next to nothing on pools so rare that no label would find any."""
    means = []
    for labels in (0.0, 10.0, 100.0, 1e6):
        found = HONEST.anywhere(np.array([labels, 0.0]), np.array([0.1, 0.9]), np.array([0, 1]), 1e4)
        assert found is not None
        assert found.mean[1] == HONEST.astray  # a curve without labels
        means.append(float(found.mean[0]) / HONEST.astray)
    assert means == sorted(means)
    assert (means[0], means[-1]) == (1.0, pytest.approx(2.5, abs=1e-2))
    rare = HONEST.anywhere(np.array([500.0]), np.array([1e-3]), np.zeros(1, dtype=int), 1e5)
    assert rare is not None
    assert rare.mean[0] < 1.06 * HONEST.astray


def test_a_curve_without_an_error_has_one_rate_in_half_of_the_draws() -> None:
    """Whoever says that errors thin out fast says it from the first label on."""
    curve, n, wrong = np.array([0, 0, 1, 1, 2]), np.array([9.0, 6, 8, 7, 0]), np.array([0.0, 0, 1, 0, 0])
    drawn, uniform = np.tile([0.4, 0.3, 0.2, 0.1, 0.5], (4000, 1)), np.random.default_rng(1).random((4000, 3))
    found = HONEST.before_an_error(drawn.copy(), n, wrong, curve, uniform)
    np.testing.assert_array_equal(found[:, 2:], drawn[:, 2:])  # an error was seen, or no label
    level = found[:, 0] == found[:, 1]
    assert level.mean() == pytest.approx(0.5, abs=0.03)
    np.testing.assert_array_equal(found[~level], drawn[~level])
    for chance in (0.5, 0.95):
        expected = betaincinv(0.5, 15.5, chance)
        assert np.quantile(found[level, 0], chance) == pytest.approx(expected, rel=0.15)
    for tail in (TIGHT, WORLDS):
        np.testing.assert_array_equal(tail.before_an_error(drawn.copy(), n, wrong, curve, uniform), drawn)
