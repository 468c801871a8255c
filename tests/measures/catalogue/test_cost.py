"""The mean cost of decisions under a table of costs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics

from sondage.errors import InvalidInput
from sondage.measures import ExpectedCost, Measure, exact
from sondage.testing.measures import MeasureSuite

COST = [[0.0, 2.0, 5.0], [1.0, -1.0, 3.0], [7.0, 4.0, 0.5]]


class TestOfTwo(MeasureSuite):
    def make_measure(self) -> Measure:
        return ExpectedCost([[0, 1], [5, 0]])


class TestOfThree(MeasureSuite):
    classes = ("x", "y", "z")

    def make_measure(self) -> Measure:
        return ExpectedCost(np.array(COST))  # type: ignore[arg-type]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(*[st.integers(0, 2)] * 2, st.integers(1, 9)), min_size=1, max_size=30))
def test_by_the_confusion_matrix(rows: Any) -> None:
    y, f, weight = np.array(rows).T
    letters = np.array(["z", "a", "m"])  # the order of the pool's labels counts, not the alphabet's
    found = exact(ExpectedCost(COST), letters[y], letters[f], labels=letters, weight=weight.astype(float))
    share = metrics.confusion_matrix(y, f, labels=[0, 1, 2], sample_weight=weight) / weight.sum()
    assert found == pytest.approx((share * np.array(COST)).sum(), rel=1e-12, abs=1e-12)


def test_one_for_every_error_is_the_error_rate() -> None:
    rng = np.random.default_rng(0)
    y, f = rng.integers(0, 3, 50), rng.integers(0, 3, 50)
    assert exact(ExpectedCost(1 - np.eye(3)), y, f) == pytest.approx(1 - exact("accuracy", y, f))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "cost",
    [[[0, 1]], [0, 1], 3, [[0, np.inf], [1, 0]], [["a", "b"], ["c", "d"]], [[0, 1], [2]], [[1, 1], [1, 1]]],
)
def test_tables_that_are_refused(cost: Any) -> None:
    with pytest.raises(InvalidInput, match="cost="):
        ExpectedCost(cost)


def test_a_table_of_another_size_than_the_label_set() -> None:
    with pytest.raises(InvalidInput, match=r"3 rows.*2 classes"):
        exact(ExpectedCost(COST), [0, 1], [0, 1])
