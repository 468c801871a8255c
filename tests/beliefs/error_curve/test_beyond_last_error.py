"""Tails: what is held possible where no wrong prediction was seen."""

from __future__ import annotations

import numpy as np
import pytest

from sondage.beliefs.error_curve.beyond_last_error import HONEST, TIGHT


def test_what_the_tails_hold() -> None:
    assert (HONEST.fall, TIGHT.astray) == (0.0, 0.0)
    assert TIGHT.fall == pytest.approx(np.log(2))
    assert HONEST.astray > 0
    assert TIGHT.anywhere(np.ones(2), np.ones(2), np.zeros(2, dtype=int), 100.0) is None


def test_half_an_item_lies_anywhere_at_least() -> None:
    """Of ten positives among a million 2 % would be none."""
    found = HONEST.anywhere(np.zeros(2), np.array([1e-5, 0.4]), np.array([0, 1]), 1e6)
    assert found is not None
    assert found.mean.tolist() == [HONEST.astray] * 2
    assert (found.mean * found.others * 1e6).tolist() == [pytest.approx(0.5), pytest.approx(8000)]


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
