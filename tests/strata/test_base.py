"""Strata: every item in one band, the same bands for any row order."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sondage.errors import InvalidInput
from sondage.pool import Pool
from sondage.registry import from_config
from sondage.simulation import simulate
from sondage.strata import EqualSize, LogRank, OneStratum, Strata
from sondage.strata.by_group import ByGroup
from sondage.strata.log_rank import from_boundary, predicted_pattern
from sondage.testing.units import random_columns, taken

SEED = 99
RULES = [OneStratum(), EqualSize(7), EqualSize(1), LogRank(), LogRank(1.0, 0.5), ByGroup("group")]
SPACES: list[Any] = [("no", "yes"), ("x", "y", "z"), None]


def codes(rule: Strata, pool: Pool, *systems: str) -> list[int]:
    return rule.codes(pool, systems or (pool.system_name(),), SEED).tolist()


@pytest.mark.parametrize("rule", RULES, ids=repr)
@pytest.mark.parametrize("classes", SPACES)
@pytest.mark.parametrize("systems", [("a",), ("a", "b")])
def test_every_rule(rule: Strata, classes: Any, systems: tuple[str, ...]) -> None:
    """Numbered 0, 1, 2, ... without gaps, and the same for shuffled rows."""
    columns = random_columns(1, 90, classes=classes)
    pool = Pool.from_arrays(**columns)
    found = rule.codes(pool, systems, SEED)
    assert found.shape == (90,)
    assert np.issubdtype(found.dtype, np.integer)
    assert sorted(set(found.tolist())) == list(range(found.max() + 1))
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(90)
        shuffled = Pool.from_arrays(**taken(columns, order))
        assert rule.codes(shuffled, systems, SEED).tolist() == found.tolist()


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_config_round_trip(rule: Strata) -> None:
    assert from_config(rule.config()) == rule


def test_found_by_name() -> None:
    assert Strata.from_alias("equal-size", count=4) == EqualSize(4)
    assert set(Strata.catalogue()) >= {"none", "equal-size", "log-rank", "group"}


def test_one_stratum_is_the_whole_pool() -> None:
    assert codes(OneStratum(), Pool.from_arrays(score=[3.0, 1.0, 2.0])) == [0, 0, 0]


def test_group_strata_are_the_levels() -> None:
    pool = Pool.from_arrays(groups={"g": ["b", "a", "c", "b"]})
    assert codes(ByGroup("g"), pool) == [1, 0, 2, 1]
    with pytest.raises(InvalidInput, match="'h'"):
        codes(ByGroup("h"), pool)


# Equal size


@settings(deadline=None, max_examples=80)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=60), st.integers(1, 70))
def test_equal_size_bands_are_equal_and_in_the_order_of_the_score(score: list[int], count: int) -> None:
    """Equal scores share a band, higher bands are higher; sizes differ by one where no scores are equal."""
    pool = Pool.from_arrays(score=score)
    found = np.array(codes(EqualSize(count), pool))
    size = np.bincount(found)
    distinct, runs = np.unique(score, return_counts=True)
    assert len(size) <= min(count, len(distinct))
    if len(distinct) == len(score):
        assert len(size) == min(count, len(score))
    # A cut moves to the nearer end of a run, so it is off by half of the longest at most, on both sides.
    assert size.max() <= int(np.ceil(len(score) / count)) + runs.max() * (runs.max() > 1)
    by_band = [np.array(score)[found == band] for band in range(len(size))]
    for lower, upper in pairwise(by_band):
        assert lower.max() < upper.min()


def test_ties_do_not_decide_who_is_drawn() -> None:
    """A run of equal predictions, the only ones with label 1: its mean over studies is the truth.

    Cut apart in the order of the draws, those of the run that fell into a band of others were drawn first.
    """
    score = np.r_[np.linspace(0, 0.9, 170), np.ones(30)]
    pool = Pool.from_arrays(prediction=score, labels="unit")
    labels = {k: float(score[k] == 1) for k in range(200)}
    found = simulate(pool, labels, "mean", design="auto", budgets=[20], repeats=60, rng=3)
    assert abs(np.mean(found["value"]) - 0.15) < 0.01


def test_equal_size_uses_the_best_column_there_is() -> None:
    rising = np.arange(6.0)
    expected = [0, 0, 0, 1, 1, 1]
    assert codes(EqualSize(2), Pool.from_arrays(score=rising)) == expected
    assert codes(EqualSize(2), Pool.from_arrays(probability=rising / 5)) == expected
    assert codes(EqualSize(2), Pool.from_arrays(prediction=[0, 0, 0, 1, 1, 1])) == expected
    numbers = Pool.from_arrays(prediction=rising[::-1] + 0.5, std=rising)
    assert codes(EqualSize(2), numbers) == expected


def test_equal_size_bad_count() -> None:
    with pytest.raises(InvalidInput, match="count="):
        EqualSize(0)


# Log rank


@settings(deadline=None, max_examples=80)
@given(
    st.lists(st.floats(-5, 5), min_size=1, max_size=120, unique=True),
    st.floats(0.05, 3.0),
    st.floats(0.02, 1.0),
)
def test_log_rank_widens_away_from_the_boundary_inside_each_class(
    score: list[float], growth: float, largest: float
) -> None:
    pool = Pool.from_arrays(score=score, threshold=0.0)
    prediction = pool.system().prediction
    assert prediction is not None
    found = np.array(codes(LogRank(growth, largest), pool))
    for one in np.unique(prediction):
        members = prediction == one
        bands = np.unique(found[members])
        assert bands.tolist() == list(range(bands[0], bands[-1] + 1))
        assert not np.isin(found[~members], bands).any()
        size = np.bincount(found[members])[bands]
        assert size.max() <= np.ceil(largest * members.sum())
        assert (np.diff(size[:-1]) >= 0).all()  # the last band takes what is left
        distance = np.abs(np.array(score))
        for lower, upper in pairwise(bands):
            assert distance[found == lower].max() <= distance[found == upper].min()


@settings(deadline=None, max_examples=80)
@given(st.lists(st.integers(-4, 4), min_size=1, max_size=120), st.floats(0.05, 3.0), st.floats(0.02, 1.0))
def test_log_rank_keeps_equal_scores_together(score: list[int], growth: float, largest: float) -> None:
    """A band is of one class and of whole runs, and joins runs only where the cuts lie further apart."""
    pool = Pool.from_arrays(score=score, threshold=0.5)
    found, value = np.array(codes(LogRank(growth, largest), pool)), np.array(score)
    assert sorted(set(found.tolist())) == list(range(found.max() + 1))
    for one in np.unique(value):
        assert len(np.unique(found[value == one])) == 1
    for band in range(found.max() + 1):
        inside = value[found == band]
        assert len(np.unique(inside > 0)) == 1
        of_class = (value > 0) == (inside[0] > 0)
        runs = np.unique(inside, return_counts=True)[1]
        # A cut is moved by half a run at most, at either end.
        assert len(runs) == 1 or len(inside) <= np.ceil(largest * of_class.sum()) + runs.max()


def test_log_rank_of_a_few_scores_has_a_band_for_each() -> None:
    score = np.repeat([-2.0, -1.0, 1.0, 2.0], [300, 500, 90, 7])
    found = codes(LogRank(), Pool.from_arrays(score=score, threshold=0.0))
    assert np.bincount(found).tolist() == [500, 300, 90, 7]


def test_log_rank_sizes() -> None:
    """Each band holds half as many items as lie nearer to the boundary than it, at least one."""
    pool = Pool.from_arrays(score=np.arange(1.0, 41.0), threshold=0.0)
    found = codes(LogRank(growth=0.5, largest=1.0), pool)
    assert np.bincount(found).tolist() == [1, 1, 1, 2, 3, 4, 6, 9, 13]


def test_log_rank_of_bare_predictions_is_one_band_per_class() -> None:
    pool = Pool.from_arrays(prediction=["b", "a", "c", "a"])
    assert codes(LogRank(), pool) == [1, 0, 2, 0]


def test_log_rank_of_class_tables_goes_by_the_greatest_probability() -> None:
    table = np.array([[0.5, 0.3, 0.2], [0.9, 0.05, 0.05], [0.6, 0.2, 0.2], [0.1, 0.8, 0.1]])
    assert codes(LogRank(growth=0.1, largest=1.0), Pool.from_arrays(probability=table)) == [
        0,
        2,
        1,
        3,
    ]


@pytest.mark.parametrize("order", [["no", "yes"], ["yes", "no"]])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_log_rank_goes_outwards_whichever_class_has_the_higher_scores(order: list[str], sign: float) -> None:
    score = np.array([-3.0, -1.0, 0.5, 2.0, 4.0, -0.2])
    prediction = np.where(score > 0, "yes", "no")
    pool = Pool.from_arrays(score=sign * score, prediction=prediction, labels=order)
    distance = from_boundary(pool, ("model",), np.flatnonzero(prediction == "yes"))
    assert np.argsort(distance).tolist() == [0, 1, 2]
    distance = from_boundary(pool, ("model",), np.flatnonzero(prediction == "no"))
    assert np.argsort(distance).tolist() == [2, 1, 0]


def test_a_score_of_many_classes_says_how_sure_the_prediction_is() -> None:
    pool = Pool.from_arrays(score=[0.9, 0.2, 0.5, 0.7], prediction=["a", "a", "b", "c"], labels=list("abc"))
    assert from_boundary(pool, ("model",), np.array([0, 1])) == pytest.approx([0.9, 0.2])


def test_log_rank_of_two_systems_keeps_patterns_apart() -> None:
    columns = random_columns(2, 100)
    pool = Pool.from_arrays(**columns)
    found = LogRank().codes(pool, ("a", "b"), SEED)
    pattern = predicted_pattern(pool, ("a", "b"))
    for band in np.unique(found):
        assert len(set(pattern[found == band].tolist())) == 1


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"growth": 0.0}, "growth="),
        ({"growth": float("nan")}, "growth="),
        ({"largest": 0.0}, "largest="),
        ({"largest": 1.5}, "largest="),
    ],
)
def test_log_rank_bad_options(options: dict[str, float], name: str) -> None:
    with pytest.raises(InvalidInput, match=name):
        LogRank(**options)


def test_many_classes_do_not_make_many_bands() -> None:
    """Bands without a label would have to be stood for by others: with classes there are fewer in each."""
    rng = np.random.default_rng(0)
    for classes, most in ((3, 60), (20, 60), (80, 80)):
        pool = Pool.from_arrays(probability=rng.dirichlet(np.full(classes, 0.2), 4000))
        bands = int(LogRank().codes(pool, ("model",), 1).max()) + 1
        assert bands <= most
    assert int(LogRank(most=20).codes(pool, ("model",), 1).max()) + 1 <= 80
