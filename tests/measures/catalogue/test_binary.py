"""Measures of one class: values by hand, and derivatives by the papers' corrected formulas."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics

from sondage.errors import InvalidInput
from sondage.measures import (
    BalancedAccuracy,
    FowlkesMallows,
    MatthewsCorrcoef,
    Measure,
    Prevalence,
    Specificity,
    exact,
)
from sondage.pool import Pool
from sondage.testing.measures import MeasureSuite
from sondage.types import Floats


class TestSpecificityOfOneOfThree(MeasureSuite):
    classes = ("x", "y", "z")

    def make_measure(self) -> Measure:
        return Specificity(pos_label="y")


class TestPrevalenceOfOneOfThree(MeasureSuite):
    classes = ("x", "y", "z")

    def make_measure(self) -> Measure:
        return Prevalence(pos_label="z")


POOL = Pool.from_arrays(prediction=[0, 1])


def central(measure: Measure, R: Floats) -> Floats:
    """(m, d) derivative by central differences, in quadruple steps of decreasing size."""
    columns = []
    for j in range(len(R)):
        step = np.zeros(len(R))
        step[j] = 1e-4 * R[j]
        near = (measure.g(R + step) - measure.g(R - step)) / (2 * step[j])
        far = (measure.g(R + 2 * step) - measure.g(R - 2 * step)) / (4 * step[j])
        columns.append((4 * near - far) / 3)  # Richardson: the error is of fourth order
    return np.stack(columns, axis=1)


shares = st.tuples(st.floats(0.02, 0.98), st.floats(0.02, 0.98), st.floats(0.05, 0.95))


@settings(deadline=None, max_examples=80)
@given(shares)
def test_derivative_of_matthews(share: tuple[float, float, float]) -> None:
    """The entry by the predicted share has R2 (1 - R2), where a published package has R3 (1 - R3)."""
    R2, R3, where = share
    R1 = max(0.0, R2 + R3 - 1) + where * (min(R2, R3) - max(0.0, R2 + R3 - 1))
    S = np.sqrt(R2 * R3 * (1 - R2) * (1 - R3))
    expected = [
        1 / S,
        R3 * (1 - R3) * (R1 * (2 * R2 - 1) - R2 * R3) / (2 * S**3),
        R2 * (1 - R2) * (R1 * (2 * R3 - 1) - R2 * R3) / (2 * S**3),
    ]
    R = np.array([1.0, R1, R2, R3])
    measure = MatthewsCorrcoef().bind(POOL)
    found = measure.jac(R)
    np.testing.assert_allclose(found[0, 1:], expected, rtol=1e-9)
    np.testing.assert_allclose(found, central(measure, R), rtol=1e-5, atol=1e-6 * np.abs(found).max())


@settings(deadline=None, max_examples=40)
@given(shares)
def test_derivative_of_fowlkes_mallows(share: tuple[float, float, float]) -> None:
    R2, R3, where = share
    R1 = where * min(R2, R3)
    S = np.sqrt(R2 * R3)
    found = FowlkesMallows().bind(POOL).jac(np.array([1.0, R1, R2, R3]))
    np.testing.assert_allclose(found[0, 1:], [1 / S, -R1 / (2 * S * R2), -R1 / (2 * S * R3)], rtol=1e-9)


@settings(deadline=None, max_examples=40)
@given(shares)
def test_influence_on_balanced_accuracy(share: tuple[float, float, float]) -> None:
    """Equal to that of (R1 + R2 (1 - R2 - R3)) / (2 R2 (1 - R2)), whose losses are fewer."""
    R2, R3, where = share
    R1 = max(0.0, R2 + R3 - 1) + where * (min(R2, R3) - max(0.0, R2 + R3 - 1))
    below = 2 * R2 * (1 - R2)
    by = [1 / below, (R1 * (2 * R2 - 1) - R2**2 * R3) / (below * R2 * (1 - R2)), -1 / (2 * (1 - R2))]
    measure = BalancedAccuracy().bind(POOL)
    right = np.array([1 - R2 - R3 + R1, R1])
    R = np.array([1.0, *right, 1 - R2, R2, 1 - R3, R3])
    assert measure.g(R)[0] == pytest.approx((R1 + R2 * (1 - R2 - R3)) / below, rel=1e-9)
    found = measure.influence(R).of(POOL.rows(slice(None)), np.array([0.0, 1.0]))[..., 0]
    centre = np.dot(by, [R1, R2, R3])
    for f in (0, 1):
        for y in (0, 1):
            assert found[f, y] == pytest.approx(np.dot(by, [f * y, y, f]) - centre, rel=1e-6, abs=1e-8)


items = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1), st.integers(1, 9)), min_size=1, max_size=40)


@settings(deadline=None, max_examples=100)
@given(items)
def test_values_by_hand(rows: list[tuple[int, int, int]]) -> None:
    y, f, weight = np.array(rows).T
    w = weight.astype(float)
    assert exact("prevalence", y, weight=w) == pytest.approx(np.average(y, weights=w))
    negatives = w[y == 0].sum()
    expected = w[(y == 0) & (f == 0)].sum() / negatives if negatives else np.nan
    assert exact("specificity", y, f, weight=w) == pytest.approx(expected, nan_ok=True)
    if negatives:
        theirs = metrics.recall_score(y, f, pos_label=0, sample_weight=w)
        assert expected == pytest.approx(theirs)
    found = exact("fowlkes_mallows", y, f, weight=w)
    if y.any() and f.any():
        p, r = (one(y, f, sample_weight=w) for one in (metrics.precision_score, metrics.recall_score))
        assert found == pytest.approx(np.sqrt(p * r))
    else:
        assert np.isnan(found)


def test_prevalence_needs_labels_only() -> None:
    assert exact(Prevalence(pos_label="b"), ["a", "b", "b", "c"]) == 0.5
    pool = Pool.from_arrays(systems={"a": {"score": [0.1, 0.2]}, "b": {"score": [0.3, 0.4]}})
    bound = Prevalence(system="b").bind(pool)
    assert bound.losses.inputs(pool) == ()
    assert bound.systems(pool) == ("b",)
    with pytest.raises(InvalidInput, match="pos_label="):
        exact("prevalence", ["a", "b", "c"])


def test_degenerate() -> None:
    assert np.isnan(exact("specificity", [1, 1], [0, 1]))
    assert np.isnan(exact("fowlkes_mallows", [1, 1], [0, 0]))
    assert exact("fowlkes_mallows", [1, 0], [0, 1]) == 0.0
    assert exact("prevalence", [0, 0]) == 0.0
    assert exact("specificity", [0, 0], [0, 0]) == 1.0
