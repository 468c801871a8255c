"""Ranks by draws: by hand, and against scipy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

from sondage.beliefs.grouped.ranks import (
    chance_among,
    chance_of_set,
    chance_worst,
    likeliest_set,
    rank_range,
    ranks,
)

DRAWS = np.array([[0.1, 0.2, 0.3], [0.1, 0.2, 0.3], [0.4, 0.2, 0.3], [0.2, 0.2, 0.3]])


@given(st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=1, max_size=6))
def test_ranks_share_ties_as_scipy_does(rows: list[list[int]]) -> None:
    draws = np.array(rows, dtype=float)
    np.testing.assert_array_equal(ranks(draws), rankdata(draws, axis=1))


@given(
    st.lists(st.lists(st.integers(0, 3), min_size=5, max_size=5), min_size=1, max_size=6), st.integers(1, 5)
)
def test_places_among_the_worst_add_up(rows: list[list[int]], m: int) -> None:
    chance = chance_among(np.array(rows, dtype=float), m)
    assert chance.sum() == pytest.approx(m)
    assert ((chance >= 0) & (chance <= 1 + 1e-12)).all()


def test_the_chance_of_being_worst_is_shared_by_ties() -> None:
    assert chance_worst(DRAWS).tolist() == [0.625, 0.375, 0.0]


def test_sets_and_ranges() -> None:
    assert likeliest_set(DRAWS, 2).tolist() == [True, True, False]
    assert chance_of_set(DRAWS, np.array([True, True, False])) == 0.75
    assert chance_of_set(DRAWS, np.ones(3, dtype=bool)) == 1.0
    low, high = rank_range(DRAWS, 0.95)
    assert low.tolist() == [1, 1, 2]
    assert high.tolist() == [3, 2, 3]
