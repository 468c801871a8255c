"""Balanced accuracy is scikit-learn's."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics

from sondage.errors import InvalidInput
from sondage.measures import BalancedAccuracy, Measure, exact
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
def test_any_table(rows: Any, adjusted: bool) -> None:
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


def test_it_is_macro_recall() -> None:
    rng = np.random.default_rng(0)
    y, f = rng.choice(LETTERS, 80), rng.choice(LETTERS, 80)
    theirs = metrics.recall_score(y, f, average="macro")
    assert exact("balanced_accuracy", y, f) == pytest.approx(theirs, rel=1e-12)


def test_ends_of_the_adjusted_scale() -> None:
    y = ["a", "b", "c"]
    assert exact(BalancedAccuracy(adjusted=True), y, y) == pytest.approx(1.0)
    assert exact(BalancedAccuracy(adjusted=True), y, ["a", "a", "a"]) == pytest.approx(0.0, abs=1e-12)
    assert exact(BalancedAccuracy(adjusted=True), y, ["b", "c", "a"]) == pytest.approx(-0.5)


def test_a_number_for_nothing_is_refused() -> None:
    with pytest.raises(InvalidInput, match="zero_division="):
        BalancedAccuracy(zero_division=0.0)  # type: ignore[arg-type]
