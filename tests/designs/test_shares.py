"""Sharing out labels: shares and whole numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sondage.designs.shares import rounded_at_random, shares, shortfall, top_up


@st.composite
def shared(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, int]:
    n = draw(st.integers(1, 12))
    weight = draw(arrays(np.float64, n, elements=st.one_of(st.just(0.0), st.floats(1e-3, 1e3))))
    size = draw(arrays(np.int64, n, elements=st.integers(1, 50)))
    return weight, size, draw(st.integers(0, 400))


@given(shared())
@settings(max_examples=300, deadline=None)
def test_shares_are_proportional_up_to_their_size(case: tuple[np.ndarray, np.ndarray, int]) -> None:
    weight, size, total = case
    found = shares(weight, size, total)
    reachable = int(size[weight > 0].sum())
    assert found.sum() == pytest.approx(min(total, reachable), abs=1e-6)
    assert (found >= 0).all()
    assert (found <= size + 1e-9).all()
    assert (found[weight == 0] == 0).all()
    full = found >= size - 1e-9
    rest = (weight > 0) & ~full
    if rest.any() and total > 0:
        rate = found[rest] / weight[rest]
        np.testing.assert_allclose(rate, rate[0], rtol=1e-6)
        # What is full could not have had its proportional share.
        assert (size[full & (weight > 0)] <= rate[0] * weight[full & (weight > 0)] + 1e-6).all()


@st.composite
def topped(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    n = draw(st.integers(1, 12))
    size = draw(arrays(np.int64, n, elements=st.integers(1, 50)))
    have = np.array([draw(st.integers(0, int(most))) for most in size])
    goal = draw(arrays(np.float64, n, elements=st.floats(0, 60)))
    return np.minimum(goal, size), have, size, draw(st.integers(0, 300))


@given(topped())
@settings(max_examples=300, deadline=None)
def test_top_up_adds_n_whole_labels_within_the_sizes(
    case: tuple[np.ndarray, np.ndarray, np.ndarray, int],
) -> None:
    goal, have, size, n = case
    add = top_up(goal, have, size, n)
    assert np.issubdtype(add.dtype, np.integer)
    assert (add >= 0).all()
    assert (have + add <= size).all()
    assert add.sum() == min(n, (size - have).sum())


@given(shared())
@settings(max_examples=300, deadline=None)
def test_top_up_from_nothing_is_its_goal_to_within_one(
    case: tuple[np.ndarray, np.ndarray, int],
) -> None:
    weight, size, total = case
    n = min(total, int(size[weight > 0].sum()))
    goal = shares(weight, size, n)
    add = top_up(goal, np.zeros(len(size), dtype=np.int64), size, n)
    assert (np.abs(add - goal) < 1 + 1e-6).all()


@given(topped())
@settings(max_examples=200, deadline=None)
def test_top_up_gives_first_to_those_furthest_below_their_goal(
    case: tuple[np.ndarray, np.ndarray, np.ndarray, int],
) -> None:
    goal, have, size, _ = case
    add = top_up(goal, have, size, 1)
    if add.sum():
        lack = np.where(have < size, goal - have, -np.inf)
        assert lack[add == 1][0] == lack.max()


@given(topped(), st.integers(0, 99))
@settings(max_examples=200, deadline=None)
def test_what_units_lack_is_what_their_families_lack(
    case: tuple[np.ndarray, np.ndarray, np.ndarray, int], seed: int
) -> None:
    goal, have, size, _ = case
    family = np.random.default_rng(seed).integers(0, 3, len(goal))
    lack = shortfall(goal, have, size - have, family)
    assert (lack >= 0).all()
    assert (lack <= np.maximum(goal - have, 0) + 1e-9).all()
    for one in np.unique(family):
        mine = family == one
        possible = np.maximum(goal - have, 0)[mine & (have < size)].sum()
        expected = min(max((goal - have)[mine].sum(), 0), possible)
        assert lack[mine].sum() == pytest.approx(expected, abs=1e-6)


class Fixed:
    """A stream that gives one number."""

    def __init__(self, u: float) -> None:
        self.u = u

    def uniform(self, n: int) -> np.ndarray:
        return np.full(n, self.u)


LACK = [np.array([3.0, 0.5, 0.5]), np.array([0.0, 1.7, 0.3, 0.0, 4.0]), np.array([0.01, 0.0, 0.02])]


@pytest.mark.parametrize("lack", LACK, ids=str)
@pytest.mark.parametrize("n", [1, 2, 7])
def test_rounding_gives_every_share_on_average(lack: np.ndarray, n: int) -> None:
    """Over all of the uniform number, and never more than one away from the share."""
    steps = 6000
    streams: list[Any] = [Fixed((k + 0.5) / steps) for k in range(steps)]
    counts = np.array([rounded_at_random(lack, n, one) for one in streams])
    share = n * lack / lack.sum()
    assert (counts.sum(axis=1) == n).all()
    np.testing.assert_allclose(counts.mean(axis=0), share, atol=2e-3)
    assert (np.abs(counts - share) < 1 + 1e-9).all()
    assert not counts[:, lack == 0].any()


@pytest.mark.parametrize("u", [0.0, 1.0 - 2.0**-53])
def test_rounding_at_the_ends_of_the_uniform(u: float) -> None:
    for lack in (*LACK, np.array([0.1] * 10), np.array([1.0, 0.0])):
        counts = rounded_at_random(lack, 3, Fixed(u))  # type: ignore[arg-type]
        assert counts.sum() == 3
        assert not counts[lack == 0].any()


def test_nothing_to_share_out() -> None:
    assert rounded_at_random(np.zeros(3), 2, Fixed(0.3)).tolist() == [0, 0, 0]  # type: ignore[arg-type]
