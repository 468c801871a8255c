"""Kappa and the correlation of many classes."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics

from sondage.errors import InvalidInput
from sondage.measures import CohenKappa, MatthewsCorrcoef, Measure, exact
from sondage.pool import Pool
from sondage.testing.measures import MeasureSuite

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


def test_names_and_losses() -> None:
    pool = Pool.from_arrays(prediction=["a", "b", "c"])
    assert CohenKappa(weights="linear").bind(pool).names == ("cohen_kappa_linear",)
    assert CohenKappa().bind(pool).names == ("cohen_kappa",)
    assert MatthewsCorrcoef().bind(pool).names == ("matthews_corrcoef",)
    assert MatthewsCorrcoef(pos_label="a").bind(pool).d == 4
    with pytest.raises(InvalidInput, match="weights="):
        CohenKappa(weights="cubic")  # type: ignore[arg-type]
