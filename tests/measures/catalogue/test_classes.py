"""Balanced accuracy, expected cost, kappa and the correlation of many classes: measures of all classes."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics

from sondage.errors import InvalidInput
from sondage.measures import BalancedAccuracy, CohenKappa, ExpectedCost, MatthewsCorrcoef, Measure, exact
from sondage.pool import Pool
from sondage.testing.measures import MeasureSuite

LETTERS = ["a", "b", "c", "d"]


class TestBalancedOfMany(MeasureSuite):
    classes = tuple(range(12))

    def make_measure(self) -> Measure:
        return BalancedAccuracy(zero_division="skip")


class TestAdjusted(MeasureSuite):
    classes = ("x", "y", "z")

    def make_measure(self) -> Measure:
        return BalancedAccuracy(adjusted=True)


@settings(deadline=None, max_examples=150)
@given(
    st.lists(
        st.tuples(st.sampled_from(LETTERS), st.sampled_from(LETTERS), st.integers(1, 9)),
        min_size=1,
        max_size=30,
    ),
    st.booleans(),
)
def test_balanced_accuracy_of_any_table(rows: Any, adjusted: bool) -> None:
    y, f = (np.array([row[k] for row in rows]) for k in (0, 1))
    weight = np.array([row[2] for row in rows], dtype=float)
    options: dict[str, Any] = {"labels": LETTERS, "weight": weight}
    strict = exact(BalancedAccuracy(adjusted=adjusted), y, f, **options)
    skip = exact(BalancedAccuracy(adjusted=adjusted, zero_division="skip"), y, f, **options)
    there = len(set(y.tolist()))
    if there < len(LETTERS):
        assert np.isnan(strict)
    else:
        assert strict == skip
    if adjusted and there == 1:  # guessing is perfect
        assert np.isnan(skip)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = metrics.balanced_accuracy_score(y, f, sample_weight=weight, adjusted=adjusted)
    assert skip == pytest.approx(theirs, rel=1e-12, abs=1e-12)


def test_balanced_accuracy_is_macro_recall() -> None:
    rng = np.random.default_rng(0)
    y, f = rng.choice(LETTERS, 80), rng.choice(LETTERS, 80)
    theirs = metrics.recall_score(y, f, average="macro")
    assert exact("balanced_accuracy", y, f) == pytest.approx(theirs, rel=1e-12)


def test_ends_of_the_adjusted_scale() -> None:
    y = ["a", "b", "c"]
    assert exact(BalancedAccuracy(adjusted=True), y, y) == pytest.approx(1.0)
    assert exact(BalancedAccuracy(adjusted=True), y, ["a", "a", "a"]) == pytest.approx(0.0, abs=1e-12)
    assert exact(BalancedAccuracy(adjusted=True), y, ["b", "c", "a"]) == pytest.approx(-0.5)


def test_a_number_for_a_missing_class_is_refused() -> None:
    with pytest.raises(InvalidInput, match="zero_division="):
        BalancedAccuracy(zero_division=0.0)  # type: ignore[arg-type]


COST = [[0.0, 2.0, 5.0], [1.0, -1.0, 3.0], [7.0, 4.0, 0.5]]


class TestCostOfTwo(MeasureSuite):
    def make_measure(self) -> Measure:
        return ExpectedCost([[0, 1], [5, 0]])


class TestCostOfThree(MeasureSuite):
    classes = ("x", "y", "z")

    def make_measure(self) -> Measure:
        return ExpectedCost(np.array(COST))  # type: ignore[arg-type]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(*[st.integers(0, 2)] * 2, st.integers(1, 9)), min_size=1, max_size=30))
def test_cost_by_the_confusion_matrix(rows: Any) -> None:
    y, f, weight = np.array(rows).T
    letters = np.array(["z", "a", "m"])  # the order of the pool's labels counts, not the alphabet's
    found = exact(ExpectedCost(COST), letters[y], letters[f], labels=letters, weight=weight.astype(float))
    share = metrics.confusion_matrix(y, f, labels=[0, 1, 2], sample_weight=weight) / weight.sum()
    assert found == pytest.approx((share * np.array(COST)).sum(), rel=1e-12, abs=1e-12)


def test_a_cost_of_one_for_every_error_is_the_error_rate() -> None:
    rng = np.random.default_rng(0)
    y, f = rng.integers(0, 3, 50), rng.integers(0, 3, 50)
    assert exact(ExpectedCost(1 - np.eye(3)), y, f) == pytest.approx(1 - exact("accuracy", y, f))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "cost",
    [[[0, 1]], [0, 1], 3, [[0, np.inf], [1, 0]], [["a", "b"], ["c", "d"]], [[0, 1], [2]], [[1, 1], [1, 1]]],
)
def test_costs_that_are_refused(cost: Any) -> None:
    with pytest.raises(InvalidInput, match="cost="):
        ExpectedCost(cost)


def test_a_table_of_another_size_than_the_label_set() -> None:
    with pytest.raises(InvalidInput, match=r"3 rows.*2 classes"):
        exact(ExpectedCost(COST), [0, 1], [0, 1])


CLASSES = [1, 2, 3, 4]


class TestKappaOfThree(MeasureSuite):
    classes = ("x", "y", "z")

    def make_measure(self) -> Measure:
        return CohenKappa()


class TestLinearKappa(MeasureSuite):
    classes = (1, 2, 3, 4, 5)

    def make_measure(self) -> Measure:
        return CohenKappa(weights="linear")


class TestQuadraticKappaOfMany(MeasureSuite):
    classes = tuple(range(16))

    def make_measure(self) -> Measure:
        return CohenKappa(weights="quadratic")


class TestMatthewsOfThree(MeasureSuite):
    classes = ("x", "y", "z")

    def make_measure(self) -> Measure:
        return MatthewsCorrcoef()


class TestMatthewsOfMany(MeasureSuite):
    classes = tuple(range(16))

    def make_measure(self) -> Measure:
        return MatthewsCorrcoef()


tables = st.lists(
    st.tuples(st.sampled_from(CLASSES), st.sampled_from(CLASSES), st.integers(1, 9)), min_size=1, max_size=40
)


@settings(deadline=None, max_examples=150)
@given(tables, st.sampled_from([None, "linear", "quadratic"]), st.booleans())
def test_kappa_is_scikit_learns(rows: Any, weights: Any, weighted: bool) -> None:
    y, f, weight = np.array(rows).T
    weight = weight.astype(float) if weighted else None
    found = exact(CohenKappa(weights=weights), y, f, labels=CLASSES, weight=weight)
    if len({*y, *f}) == 1:
        assert np.isnan(found)
        return
    expected = metrics.cohen_kappa_score(y, f, labels=CLASSES, weights=weights, sample_weight=weight)
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)


@settings(deadline=None, max_examples=150)
@given(tables, st.booleans())
def test_matthews_is_scikit_learns(rows: Any, weighted: bool) -> None:
    y, f, weight = np.array(rows).T
    weight = weight.astype(float) if weighted else None
    found = exact("matthews_corrcoef", y, f, labels=CLASSES, weight=weight)
    if len(set(y)) == 1 or len(set(f)) == 1:
        assert np.isnan(found)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = metrics.matthews_corrcoef(y, f, sample_weight=weight)
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_gorodkin_with_two_classes_is_the_correlation() -> None:
    """Two of three classes in use: the same number as the formula for two."""
    rng = np.random.default_rng(3)
    y, f = rng.integers(0, 2, 200), rng.integers(0, 2, 200)
    assert exact("mcc", y, f, labels=[0, 1, 2]) == pytest.approx(exact("mcc", y, f), rel=1e-12)


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_kappa_perfect_and_by_chance(weights: Any) -> None:
    y = np.repeat([1, 2, 3], 3)
    assert exact(CohenKappa(weights=weights), y, y) == pytest.approx(1.0)
    assert exact(CohenKappa(weights=weights), y, np.tile([1, 2, 3], 3)) == pytest.approx(0.0, abs=1e-12)
    assert np.isnan(exact(CohenKappa(weights=weights), [1, 1], [1, 1], labels=[1, 2]))


def test_names_and_losses_of_agreement() -> None:
    pool = Pool.from_arrays(prediction=["a", "b", "c"])
    assert CohenKappa(weights="linear").bind(pool).names == ("cohen_kappa_linear",)
    assert CohenKappa().bind(pool).names == ("cohen_kappa",)
    assert MatthewsCorrcoef().bind(pool).names == ("matthews_corrcoef",)
    assert MatthewsCorrcoef(pos_label="a").bind(pool).d == 4
    with pytest.raises(InvalidInput, match="weights="):
        CohenKappa(weights="cubic")  # type: ignore[arg-type]
