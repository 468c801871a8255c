"""Brier score, log loss and top-k accuracy are scikit-learn's."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics

from sondage.errors import InvalidInput
from sondage.measures import BrierScoreLoss, LogLoss, Measure, TopKAccuracy, exact
from sondage.pool import Pool
from sondage.testing.measures import MeasureSuite
from sondage.types import Array

CLOSE: dict[str, Any] = {"rel": 1e-12, "abs": 1e-12}


class TestBrierOfThree(MeasureSuite):
    classes = ("x", "y", "z")

    def make_measure(self) -> Measure:
        return BrierScoreLoss()


class TestBrierOfTwoInFull(MeasureSuite):
    def make_measure(self) -> Measure:
        return BrierScoreLoss(scale_by_half=False)


class TestLogLossOfThree(MeasureSuite):
    classes = ("x", "y", "z")

    def make_measure(self) -> Measure:
        return LogLoss(eps=1e-3)


class TestTopOneOfTwo(MeasureSuite):
    def make_measure(self) -> Measure:
        return TopKAccuracy(k=1)


class TestTopThreeOfFive(MeasureSuite):
    classes = tuple("vwxyz")

    def make_measure(self) -> Measure:
        return TopKAccuracy(k=3)


def case(seed: int, size: int, n: int = 200) -> tuple[Array, Array, Array]:
    """Labels, probabilities with ties, zeros and ones, and weights."""
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 4, (n, size)).astype(float) ** 2
    table[table.sum(axis=1) == 0] = 1.0
    table /= table.sum(axis=1, keepdims=True)
    return rng.integers(0, size, n), table, rng.uniform(0.1, 9.0, n)


@pytest.mark.parametrize("size", [2, 3, 6])
@pytest.mark.parametrize("weighted", [False, True])
def test_as_in_scikit_learn(size: int, weighted: bool) -> None:
    y, table, weight = case(size, size)
    options: dict[str, Any] = {"labels": list(range(size)), "sample_weight": weight if weighted else None}
    roles: dict[str, Any] = {
        "labels": list(range(size)),
        "weight": weight if weighted else None,
        "probability": table,
    }
    for half in ("auto", True, False):
        theirs = metrics.brier_score_loss(y, table, scale_by_half=half, **options)
        assert exact(BrierScoreLoss(scale_by_half=half), y, **roles) == pytest.approx(theirs, **CLOSE)  # type: ignore[arg-type]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert exact("log_loss", y, **roles) == pytest.approx(metrics.log_loss(y, table, **options), **CLOSE)
    for k in range(1, size):
        scores = table[:, 1] if size == 2 else table
        theirs = metrics.top_k_accuracy_score(y, scores, k=k, **options)
        assert exact(TopKAccuracy(k=k), y, **roles) == pytest.approx(theirs, **CLOSE)


@settings(deadline=None, max_examples=80)
@given(st.lists(st.tuples(*[st.integers(0, 3)] * 4, st.integers(0, 3)), min_size=4, max_size=20), st.data())
def test_ties_among_the_likeliest(rows: Any, data: Any) -> None:
    table = np.array([row[:4] for row in rows], dtype=float) + 0.5
    table /= table.sum(axis=1, keepdims=True)
    y = np.array([row[4] for row in rows])
    k = data.draw(st.integers(1, 3))
    theirs = metrics.top_k_accuracy_score(y, table, k=k, labels=[0, 1, 2, 3])
    assert exact(TopKAccuracy(k=k), y, probability=table, labels=[0, 1, 2, 3]) == pytest.approx(theirs)


def test_two_classes_in_one_column() -> None:
    y, table, weight = case(7, 2)
    roles: dict[str, Any] = {"probability": table[:, 1], "weight": weight}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = metrics.log_loss(y, table[:, 1], sample_weight=weight)
    assert exact("log_loss", y, **roles) == pytest.approx(theirs, **CLOSE)
    theirs = metrics.top_k_accuracy_score(y, table[:, 1], k=1, sample_weight=weight)
    assert exact(TopKAccuracy(k=1), y, **roles) == pytest.approx(theirs, **CLOSE)


def test_the_range_of_log_loss_is_attained_and_not_left() -> None:
    sure = [[0.0, 1.0], [0.0, 1.0]]
    eps = np.finfo(float).eps
    assert exact("log_loss", [0, 0], probability=sure) == pytest.approx(-np.log(eps))
    assert exact(LogLoss(eps=1e-3), [0, 0], probability=sure) == pytest.approx(-np.log(1e-3))
    assert exact(LogLoss(eps=1e-3), [1, 1], probability=sure) == pytest.approx(-np.log(1 - 1e-3))
    assert LogLoss(eps=1e-3).range[1] == pytest.approx(-np.log(1e-3))
    assert LogLoss().range[1] == pytest.approx(-np.log(eps))


def test_brier_of_one_class_against_the_rest_stays_what_it_was() -> None:
    y, table, _ = case(8, 3)
    found = exact(BrierScoreLoss(pos_label=1), y, probability=table, labels=[0, 1, 2])
    assert found == pytest.approx(metrics.brier_score_loss(y == 1, table[:, 1]), **CLOSE)
    pool = Pool.from_arrays(probability=table, labels=[0, 1, 2])
    assert [one.tolist() for one in BrierScoreLoss(pos_label=1).bind(pool).range] == [[0.0], [1.0]]
    assert [one.tolist() for one in BrierScoreLoss().bind(pool).range] == [[0.0], [2.0]]


@pytest.mark.parametrize("k", [0, -2, 1.5, True, "2"])
def test_k_that_is_refused(k: Any) -> None:
    with pytest.raises(InvalidInput, match="k="):
        TopKAccuracy(k=k)


@pytest.mark.parametrize(("k", "size"), [(2, 2), (3, 3), (5, 3)])
def test_k_of_all_classes_is_refused(k: int, size: int) -> None:
    y, table, _ = case(1, size)
    with pytest.raises(InvalidInput, match=f"k={k} of {size} classes"):
        exact(TopKAccuracy(k=k), y, probability=table, labels=list(range(size)))


def test_other_options_that_are_refused() -> None:
    for eps in (0.0, 0.5, -1.0):
        with pytest.raises(InvalidInput, match="eps="):
            LogLoss(eps=eps)
    with pytest.raises(InvalidInput, match="scale_by_half="):
        BrierScoreLoss(scale_by_half="half")  # type: ignore[arg-type]
