"""The confusion matrix is scikit-learn's, whole or in part."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics

import sondage as sd
from sondage.errors import InvalidInput
from sondage.measures import ConfusionMatrix, Measure, exact
from sondage.testing.measures import MeasureSuite

LETTERS = ["a", "b", "c"]


class TestAllOfThree(MeasureSuite):
    classes = ("x", "y", "z")

    def make_measure(self) -> Measure:
        return ConfusionMatrix(normalize="all")


class TestByTruth(MeasureSuite):
    classes = ("x", "y", "z")

    def make_measure(self) -> Measure:
        return ConfusionMatrix(normalize="true")


class TestByDecision(MeasureSuite):
    classes = tuple(range(7))

    def make_measure(self) -> Measure:
        return ConfusionMatrix(normalize="pred")


class TestEntries(MeasureSuite):
    classes = ("x", "y", "z")

    def make_measure(self) -> Measure:
        return ConfusionMatrix(normalize="true", entries=[("z", "x"), ("x", "x"), ("z", "y")])


tables = st.lists(
    st.tuples(st.sampled_from(LETTERS), st.sampled_from(LETTERS), st.integers(1, 9)), min_size=1, max_size=30
)


@settings(deadline=None, max_examples=150)
@given(tables, st.sampled_from([None, "true", "pred", "all"]), st.booleans())
def test_any_table(rows: Any, normalize: Any, weighted: bool) -> None:
    y, f = (np.array([row[k] for row in rows]) for k in (0, 1))
    weight = np.array([row[2] for row in rows], dtype=float) if weighted else np.ones(len(y))
    options: dict[str, Any] = {"labels": LETTERS, "weight": weight}
    found = exact(ConfusionMatrix(normalize=normalize), y, f, **options).reshape(3, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = metrics.confusion_matrix(
            y, f, labels=LETTERS, sample_weight=weight, normalize=normalize
        ).astype(float)
    if normalize is None:  # theirs are counts
        theirs /= weight.sum()
    if normalize == "true":
        theirs[[label not in y for label in LETTERS]] = np.nan
    if normalize == "pred":
        theirs[:, [label not in f for label in LETTERS]] = np.nan
    np.testing.assert_allclose(found, theirs, rtol=1e-12, atol=1e-12)
    entries = [("c", "a"), ("b", "b"), ("a", "b")]
    part = exact(ConfusionMatrix(normalize=normalize, entries=entries), y, f, **options)
    np.testing.assert_allclose(part, theirs[[2, 1, 0], [0, 1, 1]], rtol=1e-12, atol=1e-12)


def test_names_in_the_order_of_the_matrix() -> None:
    pool = sd.Pool.from_arrays(prediction=["a", "b"], labels=["a", "b"])
    bound = ConfusionMatrix().bind(pool)
    assert bound.names == (
        "confusion_matrix[true=a,pred=a]",
        "confusion_matrix[true=a,pred=b]",
        "confusion_matrix[true=b,pred=a]",
        "confusion_matrix[true=b,pred=b]",
    )
    part = ConfusionMatrix(entries=[("b", "a")]).bind(pool)
    assert part.names == ("confusion_matrix[true=b,pred=a]",)
    assert (part.m, part.d) == (1, 2)


def test_only_the_entries_wanted_have_losses() -> None:
    many = list(range(100))
    pool = sd.Pool.from_arrays(prediction=np.resize(many, 300), labels=many)
    part = ConfusionMatrix(normalize="true", entries=[(3, 4), (3, 5), (7, 7)]).bind(pool)
    assert part.d == 1 + 3 + 2
    assert part.wide
    whole = ConfusionMatrix(normalize="true").bind(pool)
    assert whole.d == 1 + 100**2 + 100
    assert whole.wide


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"normalize": "rows"}, "normalize="),
        ({"entries": []}, "entries="),
        ({"entries": [("a", "b"), ("a", "b")]}, "entries="),
        ({"entries": ["abc"]}, "entries="),
        ({"entries": [1, 2]}, "entries="),
    ],
)
def test_options_that_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        ConfusionMatrix(**options)


def test_entries_of_unknown_classes_are_refused() -> None:
    with pytest.raises(InvalidInput, match="nowhere"):
        exact(ConfusionMatrix(entries=[("a", "nowhere")]), ["a", "b"], ["a", "b"])
