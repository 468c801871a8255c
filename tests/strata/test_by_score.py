"""Strata along the score: equal scores together, the order kept, fewer than asked for explained."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import betaincinv

from sondage.errors import InvalidInput, NotSupported, SondageError
from sondage.pool import Pool
from sondage.strata import (
    CumulatedRootFrequency,
    EqualSize,
    EqualWidth,
    Geometric,
    KMeansOnScore,
    OptimalBands,
    Strata,
    Stratification,
    complete_tree,
)
from sondage.strata.by_score import ScoreBands
from sondage.types import Array, Floats

RULES = [
    EqualWidth,
    CumulatedRootFrequency,
    lambda count: Geometric(count, origin=-0.01),
    lambda count: Geometric(count, origin=1.01),
    KMeansOnScore,
    OptimalBands,
    lambda count: OptimalBands(count, "proportional"),
]
SHARES = st.lists(st.integers(0, 64), min_size=1, max_size=80).map(lambda k: np.array(k) / 64)


def described(rule: Strata, score: Any) -> Stratification:
    return rule.describe(Pool.from_arrays(score=score))


# What holds for all of them


@settings(deadline=None, max_examples=150)
@given(SHARES, st.integers(1, 12), st.sampled_from(RULES))
def test_strata_are_bands_of_the_score(score: Floats, count: int, make: Any) -> None:
    """In order, with equal scores together, no more than asked for, at the edges that are told."""
    rule: ScoreBands = make(count)
    found = described(rule, score)
    assert found.requested == count
    assert 1 <= found.actual <= min(count, len(np.unique(score)))
    inside = [score[found.codes == k] for k in range(found.actual)]
    for lower, upper in pairwise(inside):
        assert lower.max() < upper.min()
    assert found.edges is not None
    assert found.edges[[0, -1]].tolist() == [score.min(), score.max()]
    assert np.searchsorted(found.edges[1:-1], score, "right").tolist() == found.codes.tolist()
    assert bool(found.notes) == (found.actual < count)


@settings(deadline=None)
@given(SHARES, st.integers(1, 12), st.sampled_from(RULES))
def test_the_same_scores_on_other_items_are_in_the_same_strata(score: Floats, count: int, make: Any) -> None:
    """Nothing but the scores counts: neither ids nor order nor seed."""
    rule: ScoreBands = make(count)
    order = np.random.default_rng(0).permutation(len(score))
    one, other = (Pool.from_arrays(score=column) for column in (score, score[order]))
    found = rule.codes(one, ("model",), 1)
    assert rule.codes(other, ("model",), 2).tolist() == found[order].tolist()


@settings(deadline=None)
@given(
    SHARES,
    st.integers(1, 12),
    st.sampled_from([EqualWidth, CumulatedRootFrequency, KMeansOnScore]),
    st.sampled_from([0.25, 4.0]),
    st.sampled_from([0.0, -8.0]),
)
def test_the_scale_of_the_scores_does_not_matter(
    score: Floats, count: int, make: Any, slope: float, shift: float
) -> None:
    """Powers of two and eighths, which floats hold exactly.

    Cuts in between they need not hold: one that falls on a score may come out on its other side once both are
    shifted.
    """
    if make is not KMeansOnScore:
        shift = 0.0
    codes = [described(make(count), one).codes.tolist() for one in (score, slope * score + shift)]
    assert codes[0] == codes[1]


@settings(deadline=None)
@given(SHARES, st.integers(1, 12))
def test_geometric_bands_go_with_the_distance_from_the_origin(score: Floats, count: int) -> None:
    """Larger by a factor, or squared: the same bands. Seen from above: the same, turned round."""
    score = score + 1 / 64
    found = described(Geometric(count), score)
    assert described(Geometric(count), 4 * score).codes.tolist() == found.codes.tolist()
    turned = described(Geometric(count, origin=2.0), 2.0 - score)
    near_an_edge = np.isclose(score[:, None], found.edges).any()
    if not near_an_edge:  # the edge belongs to the band above, on either side
        assert described(Geometric(count), score**2).codes.tolist() == found.codes.tolist()
        assert (found.actual - 1 - turned.codes).tolist() == found.codes.tolist()


@settings(deadline=None, max_examples=50)
@given(SHARES, st.integers(1, 6), st.sampled_from(["neyman", "proportional"]))
def test_success_and_failure_are_alike_to_optimal_bands(score: Floats, count: int, allocation: Any) -> None:
    """Turned round, the least cost is the same."""
    rule = OptimalBands(count, allocation)
    costs = []
    for column in (score, 1 - score):
        p, m = masses(column, described(rule, column).codes)
        spread = np.maximum(m * (p - m), 0)
        costs.append((np.sqrt(spread) if allocation == "neyman" else spread / p).sum())
    assert costs[0] == pytest.approx(costs[1], abs=1e-9)


# The table of variances relative to simple random sampling, for calibrated scores


def masses(score: Floats, codes: Array) -> tuple[Floats, Floats]:
    """Share of the items in each stratum, and of the successes."""
    return np.bincount(codes) / len(score), np.bincount(codes, weights=score) / len(score)


def relative_variances(score: Floats, codes: Array) -> tuple[float, float]:
    """Under Neyman and under proportional allocation."""
    p, m = masses(score, codes)
    whole = score.mean() * (1 - score.mean())
    return np.sqrt(m * (p - m)).sum() ** 2 / whole, (m * (p - m) / p).sum() / whole


TABLE = {
    (2.2, 0.7, 3): ([0.706, 0.763, 0.714, 0.770, 0.720, 0.703], [0.795, 0.793, 0.777, 0.882, 0.776, 0.787]),
    (2.2, 0.7, 10): ([0.650, 0.668, 0.652, 0.658, 0.654, 0.647], [0.751, 0.749, 0.747, 0.763, 0.747, 0.749]),
    (8, 0.5, 3): ([0.685, 0.900, 0.710, 0.681, 0.732, 0.679], [0.936, 0.946, 0.912, 0.928, 0.910, 0.925]),
    (8, 0.5, 10): ([0.627, 0.726, 0.635, 0.626, 0.643, 0.624], [0.905, 0.901, 0.896, 0.899, 0.896, 0.898]),
}
"""By the parameters of the scores and the number of strata: Neyman and proportional, rules as below."""


@pytest.mark.parametrize(("a", "b", "count"), TABLE)
def test_variances_of_beta_scores(a: float, b: float, count: int) -> None:
    """Measured once by another program; what a rule gains depends on it within a percent or so."""
    score = betaincinv(a, b, (np.arange(20_000) + 0.5) / 20_000)
    rules = [
        EqualSize(count),
        EqualWidth(count),
        CumulatedRootFrequency(count),
        Geometric(count, origin=1.001),
        KMeansOnScore(count),
        OptimalBands(count),
    ]
    pool = Pool.from_arrays(probability=score)
    found = np.array([relative_variances(score, rule.codes(pool, ("model",), 0)) for rule in rules])
    neyman, proportional = found.T
    np.testing.assert_allclose([neyman, proportional], TABLE[a, b, count], rtol=0.01)
    assert neyman.argmin() == 5  # optimal for Neyman allocation
    assert proportional.argmin() == 4  # k-means is optimal for the proportional one


def test_optimal_boundaries_are_a_fixed_point_of_stationarity() -> None:
    """d/da of the sum of sqrt(m (p - m)) vanishes: [a (1 - 2q) + q] / s is equal on both sides.

    For scores Beta(2, 1.2) and three bands the numerical optimum is at .47522 and .79297.
    """
    score = betaincinv(2, 1.2, (np.arange(20_000) + 0.5) / 20_000)
    found = described(OptimalBands(3), score)
    assert found.edges is not None
    cuts = found.edges[1:-1]
    np.testing.assert_allclose(cuts, [0.47522, 0.79297], atol=0.002)
    p, m = masses(score, found.codes)
    assert np.sqrt(m * (p - m)).sum() == pytest.approx(0.42563, abs=2e-5)
    q = m / p
    s = np.sqrt(q * (1 - q))
    lower, upper = slice(None, -1), slice(1, None)
    stationary = (q[upper] / s[upper] - q[lower] / s[lower]) / (
        (1 - 2 * q[lower]) / s[lower] - (1 - 2 * q[upper]) / s[upper]
    )
    np.testing.assert_allclose(stationary, cuts, atol=0.005)


# Fewer than asked for


@pytest.mark.parametrize("make", RULES)
def test_fewer_different_scores_than_strata(make: Any) -> None:
    found = described(make(10), np.repeat([0.1, 0.5, 0.9], 20))
    assert found.size.tolist() == [20, 20, 20]
    assert found.notes == ("the score has 3 different values: equal scores stay together",)
    assert "10 asked for, 3 made" in str(found)


@pytest.mark.parametrize("make", RULES)
def test_all_scores_equal_are_one_stratum(make: Any) -> None:
    found = described(make(4), np.full(9, 0.5))
    assert found.codes.tolist() == [0] * 9
    assert found.edges is not None
    assert found.edges.tolist() == [0.5, 0.5]


def test_empty_bands_are_left_out_and_cut_from_the_tree() -> None:
    found = described(EqualWidth(8), [0, 1, 10, 55, 60, 65, 79, 80])
    assert found.codes.tolist() == [0, 0, 1, 2, 3, 3, 4, 4]
    assert found.notes == ("3 of 8 strata hold no item and were left out",)
    assert found.edges is not None
    assert found.edges.tolist() == [0, 10, 50, 60, 70, 80]
    occupied = np.array([1, 1, 0, 0, 0, 1, 1, 1], dtype=bool)
    assert found.tree.parent.tolist() == complete_tree(8).pruned(occupied).parent.tolist()


def test_boundaries_that_fall_together_are_said() -> None:
    found = described(CumulatedRootFrequency(6, bins=4), [*np.zeros(1000), 0.1, 0.2, 0.3, 0.4, 0.5, 1.0])
    assert found.actual == 2
    assert "fell together" in found.notes[0]


# Which column


def test_the_column_that_is_cut() -> None:
    rising = np.arange(6.0)
    expected = [0, 0, 0, 1, 1, 1]
    rule = KMeansOnScore(2)
    table = np.array([[0.5, 0.3, 0.2], [0.9, 0.05, 0.05], [0.2, 0.5, 0.3], [0.1, 0.8, 0.1]])
    for pool, codes in (
        (Pool.from_arrays(score=rising, probability=rising[::-1] / 5), expected),
        (Pool.from_arrays(probability=rising / 5), expected),
        (Pool.from_arrays(prediction=[0, 0, 0, 1, 1, 1]), expected),
        (Pool.from_arrays(prediction=rising[::-1] + 0.5, std=rising), expected),
        (Pool.from_arrays(prediction=rising + 0.5), expected),
        (Pool.from_arrays(probability=table), [0, 1, 0, 1]),
    ):
        assert rule.codes(pool, ("model",), 0).tolist() == codes
    assert OptimalBands(2).codes(Pool.from_arrays(probability=table), ("model",), 0).tolist() == [0, 1, 0, 1]


def test_of_several_systems_the_first_is_cut_and_that_is_said() -> None:
    pool = Pool.from_arrays(systems={"a": {"score": [1.0, 2, 9]}, "b": {"score": [9.0, 2, 1]}})
    found = EqualWidth(2).describe(pool, ("b", "a"))
    assert found.codes.tolist() == [1, 0, 0]
    assert found.notes == ("cut along system 'b', the first of 2",)
    assert EqualWidth(2).describe(pool).codes.tolist() == [0, 0, 1]


def test_optimal_bands_prefer_the_probability_to_the_score() -> None:
    pool = Pool.from_arrays(score=[-3, 2, 5, 9], probability=[0.9, 0.1, 0.8, 0.1])
    assert OptimalBands(2).codes(pool, ("model",), 0).tolist() == [1, 0, 1, 0]


# What is refused


@pytest.mark.parametrize("rule", [EqualWidth(), CumulatedRootFrequency(), Geometric(), KMeansOnScore()])
def test_nothing_to_cut(rule: Strata) -> None:
    with pytest.raises(InvalidInput, match=rf"{rule.alias}.*'model'.*pass score="):
        rule.describe(Pool.from_arrays(id=[1, 2, 3]))


@pytest.mark.parametrize("score", [[0.0, 1.0], [-1.0, 1.0], [-3.0, 0.0]])
def test_scores_on_both_sides_of_the_origin(score: list[float]) -> None:
    """The way out that the message shows is one."""
    with pytest.raises(InvalidInput, match="origin=") as caught:
        described(Geometric(3), score)
    for word in str(caught.value).replace(",", " ").split():
        if word.startswith("origin=") and word != "origin=0":
            assert described(Geometric(3, origin=float(word.removeprefix("origin="))), score).actual == 2


@pytest.mark.parametrize(
    ("pool", "error", "match"),
    [
        ({"score": [-1.0, 0.5]}, InvalidInput, "from -1 to 0.5"),
        ({"prediction": [0, 1]}, InvalidInput, "probability="),
        ({"prediction": [0.5, 1.5]}, NotSupported, "kmeans-1d"),
    ],
)
def test_optimal_bands_need_probabilities(
    pool: dict[str, Any], error: type[SondageError], match: str
) -> None:
    with pytest.raises(error, match=match):
        OptimalBands(2).describe(Pool.from_arrays(**pool))


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: EqualWidth(0), "count="),
        (lambda: EqualWidth(2.5), "count="),  # type: ignore[arg-type]
        (lambda: EqualWidth(True), "count="),
        (lambda: CumulatedRootFrequency(3, bins=0), "bins="),
        (lambda: Geometric(3, origin=np.nan), "origin="),
        (lambda: KMeansOnScore(3, cells=0), "cells="),
        (lambda: OptimalBands(3, cells=-1), "cells="),
        (lambda: OptimalBands(3, "best"), "allocation="),  # type: ignore[arg-type]
    ],
)
def test_bad_options(make: Any, match: str) -> None:
    with pytest.raises(InvalidInput, match=match):
        make()
