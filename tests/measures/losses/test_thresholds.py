"""Thresholds are chosen from the scores as asked, and refused where they cannot be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sondage.errors import InvalidInput
from sondage.measures import Measure, PrecisionRecallCurve
from sondage.measures.losses.thresholds import log_ranks, written
from sondage.pool import Pool

SCORES = np.array([0.1, 0.9, 0.4, 0.4, 0.7, 0.1])


def bound(thresholds: Any, scores: Any = SCORES) -> PrecisionRecallCurve:
    return PrecisionRecallCurve(thresholds=thresholds).bind(Pool.from_arrays(score=scores))


@given(st.integers(2, 3000), st.integers(1, 10**6))
def test_log_ranks(count: int, size: int) -> None:
    ranks = log_ranks(count, size)
    assert len(ranks) == min(count, size)
    assert (np.diff(ranks) >= 1).all()
    assert ranks[0] == 1
    assert ranks[-1] == size or len(ranks) == 1
    # Steps grow with the rank, up to rounding.
    assert (np.diff(ranks, 2) >= -1).all()


def test_all_distinct_scores() -> None:
    assert bound(None).cuts.tolist() == [0.1, 0.4, 0.7, 0.9]


def test_a_number_of_them_crowds_at_the_highest_scores() -> None:
    curve = bound(6, np.arange(1000.0))
    assert (1000 - curve.cuts[::-1]).tolist() == log_ranks(6, 1000).tolist()
    assert len(bound(1000).cuts) == 4


def test_numbers_in_any_order_and_any_container() -> None:
    for given_ in ([0.5, 0.2], (0.5, 0.2), np.array([0.5, 0.2]), {0.5, 0.2}):
        assert bound(given_).cuts.tolist() == [0.2, 0.5]


@pytest.mark.parametrize(
    "wrong", [True, 1, 0, -3, 2.5, "all", [], [0.1, 0.1], [0.1, np.nan], [np.inf], ["a"], [None]]
)
def test_refused_when_made(wrong: Any) -> None:
    with pytest.raises(InvalidInput, match="thresholds="):
        PrecisionRecallCurve(thresholds=wrong)


def test_above_every_score_is_refused_with_the_range() -> None:
    with pytest.raises(InvalidInput, match=r"0\.95.*'model'.*0\.1 to 0\.9") as error:
        bound([0.2, 0.95])
    assert "nothing reaches it" in str(error.value)


def test_of_the_width_of_the_scores() -> None:
    """0.7 as a 32-bit number is below 0.7, and numpy says that it reaches 0.7 all the same."""
    scores = np.array([0.1, 0.7, 0.9], dtype=np.float32)
    curve = bound([0.7], scores)
    pool = Pool.from_arrays(score=scores)
    assert curve.losses.bin_of(pool.rows(slice(None))).tolist() == [0, 1, 1]
    assert curve.names == ("precision@0.7", "recall@0.7")


def test_names_tell_thresholds_apart() -> None:
    assert bound([0.25, 0.5]).names == ("precision@0.25", "precision@0.5", "recall@0.25", "recall@0.5")
    close = np.nextafter(0.3, 1)
    assert len(set(written(np.array([0.3, close])))) == 2


@pytest.mark.parametrize(
    "alias", ["precision_recall_curve", "roc_curve", "average_precision", "roc_auc", "max_f1", "break_even"]
)
def test_every_measure_over_thresholds_takes_them(alias: str) -> None:
    pool = Pool.from_arrays(score=SCORES)
    measure: Any = Measure.from_alias(alias, thresholds=[0.2, 0.5])
    assert measure.bind(pool).cuts.tolist() == [0.2, 0.5]


def test_each_system_has_its_own() -> None:
    pool = Pool.from_arrays(systems={"a": {"score": SCORES}, "b": {"score": 10 * SCORES}})
    curve = PrecisionRecallCurve().bind(pool)
    from sondage.measures import for_system

    other = for_system(curve, "b")
    assert isinstance(other, PrecisionRecallCurve)
    assert curve.cuts.tolist() == [0.1, 0.4, 0.7, 0.9]
    assert other.cuts.tolist() == [1.0, 4.0, 7.0, 9.0]
    assert curve == PrecisionRecallCurve()
    assert curve.config() == PrecisionRecallCurve().config()
