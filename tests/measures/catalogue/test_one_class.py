"""Measures about one class, and ratios of counts over several classes, beside scikit-learn's."""

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
from sondage.measures import (
    Accuracy,
    CohenKappa,
    Difference,
    FBeta,
    Jaccard,
    Measure,
    PerGroup,
    Precision,
    Recall,
    Stack,
    exact,
)
from sondage.testing.measures import MeasureSuite
from sondage.types import Array

PREDICTED = np.array(["match", "no", "no", "match", "no", "no"])
SCORE = np.array([0.9, 0.1, 0.2, 0.8, 0.3, 0.1])


def warned(measure: Any, **columns: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sd.create_study(sd.Pool.from_arrays(**columns), measure, design="uniform", rng=1)
    return [str(one.message) for one in caught]


@pytest.mark.parametrize("measure", ["f1", "precision", "recall", "specificity", sd.measures.FBeta(beta=2.0)])
def test_names_in_sorted_order_are_warned_of(measure: Any) -> None:
    (text,) = set(warned(measure, prediction=PREDICTED))
    assert "is about 'no'" in text
    assert "labels=['no', 'match']" in text
    assert "pos_label='match'" in text


def test_and_the_ways_out_that_are_named_are_taken() -> None:
    for order in (["no", "match"], ["match", "no"]):
        assert not warned("f1", prediction=PREDICTED, labels=order)
    assert not warned(sd.measures.FBeta(beta=1.0, pos_label="match"), prediction=PREDICTED)


def test_nothing_is_said_where_it_is_clear_or_makes_no_difference() -> None:
    assert not warned("accuracy", prediction=PREDICTED)
    assert not warned("matthews_corrcoef", prediction=PREDICTED)
    assert not warned("f1", prediction=(PREDICTED == "match").astype(int))
    assert not warned("f1", prediction=PREDICTED == "match")
    assert not warned("f1", prediction=np.where(PREDICTED == "match", "yes", "no"), score=SCORE)


def test_scores_that_are_higher_for_the_other_class_are_warned_of_instead() -> None:
    (text,) = set(warned("f1", prediction=PREDICTED, score=SCORE))
    assert "higher where 'match' is predicted" in text


CLOSE: dict[str, Any] = {"rel": 1e-12, "abs": 1e-12}
LETTERS = ["a", "b", "c", "d"]


class TestMacroF(MeasureSuite):
    classes = ("x", "y", "z")

    def make_measure(self) -> Measure:
        return FBeta(average="macro", beta=2.0)


class TestMacroFOfMany(MeasureSuite):
    classes = tuple(range(12))

    def make_measure(self) -> Measure:
        return FBeta(average="macro", zero_division="skip")


class TestMicroPrecision(MeasureSuite):
    classes = ("x", "y", "z", "w")

    def make_measure(self) -> Measure:
        return Precision(average="micro", labels=["w", "x"])


class TestWeightedRecall(MeasureSuite):
    classes = ("x", "y", "z")

    def make_measure(self) -> Measure:
        return Recall(average="weighted")


class TestJaccardOfEach(MeasureSuite):
    classes = ("x", "y", "z", "w")

    def make_measure(self) -> Measure:
        return Jaccard(average=None, labels=("z", "x"))


class TestPrecisionOfEach(MeasureSuite):
    classes = tuple(range(12))

    def make_measure(self) -> Measure:
        return Precision(average=None)


class TestMacroOfMeans(MeasureSuite):
    classes = ("x", "y", "z")

    def make_measure(self) -> Measure:
        return FBeta(average="macro_of_means", beta=0.5)


class TestMacroOfTwo(MeasureSuite):
    def make_measure(self) -> Measure:
        return Precision(average="macro", zero_division=0.0)


class TestPrecisionWithAValueForNothing(MeasureSuite):
    def make_measure(self) -> Measure:
        return Precision(zero_division=1.0)


class TestStackOfAverages(MeasureSuite):
    classes = ("x", "y", "z")

    def make_measure(self) -> Measure:
        return Stack((FBeta(average="macro"), Accuracy(), Recall(average=None), CohenKappa()))


class TestDifferenceOfMacroF(MeasureSuite):
    classes = ("x", "y", "z")

    def make_measure(self) -> Measure:
        return Difference(FBeta(average="macro"), "a", "b")


class TestPrecisionOfEachPerGroup(MeasureSuite):
    classes = ("x", "y", "z")

    def make_measure(self) -> Measure:
        return PerGroup(Precision(average=None), "group")


# scikit-learn

FUNCTIONS = {
    Precision: metrics.precision_score,
    Recall: metrics.recall_score,
    FBeta: metrics.fbeta_score,
    Jaccard: metrics.jaccard_score,
}


def of_sklearn(measure: Any, y: Array, f: Array, weight: Array | None, labels: list[str]) -> Any:
    """Their value, with ours of a class that is 0/0."""
    zero = {"undefined": np.nan, "skip": np.nan}.get(measure.zero_division, measure.zero_division)
    undefined = np.array([label not in y and label not in f for label in labels])
    unknown_there = isinstance(measure, Jaccard) and np.isnan(zero)  # theirs takes no nan
    options: dict[str, Any] = {"labels": labels, "sample_weight": weight}
    options["zero_division"] = 0.0 if unknown_there else zero
    if isinstance(measure, FBeta):
        options["beta"] = measure.beta
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        each = FUNCTIONS[type(measure)](y, f, average=None, **options)
        if unknown_there:
            each = np.where(undefined, np.nan, each)
        if measure.average is None:
            return each
        if measure.average == "micro":
            nothing = unknown_there and undefined.all()
            return np.nan if nothing else FUNCTIONS[type(measure)](y, f, average="micro", **options)
        weight = np.ones(len(y)) if weight is None else weight
        support = np.array([weight[y == label].sum() for label in labels])
        share = np.ones(len(labels)) if measure.average == "macro" else support
        counted = (share > 0) & (~np.isnan(each) if measure.zero_division == "skip" else True)
        if not counted.any():
            return np.nan
        value = np.average(each[counted], weights=share[counted])
        if not np.isnan(each).any() and share.any():  # nothing to settle: theirs, to the letter
            assert value == pytest.approx(FUNCTIONS[type(measure)](y, f, average=measure.average, **options))
        return value


tables = st.lists(
    st.tuples(st.sampled_from(LETTERS), st.sampled_from(LETTERS), st.integers(1, 9)), min_size=1, max_size=30
)


@settings(deadline=None, max_examples=250)
@given(
    tables,
    st.sampled_from([Precision, Recall, FBeta, Jaccard]),
    st.sampled_from(["macro", "micro", "weighted", None]),
    st.sampled_from(["undefined", "skip", 0.0, 1.0]),
    st.one_of(st.none(), st.permutations(LETTERS).flatmap(lambda p: st.sampled_from([p[:2], p[:3]]))),
    st.booleans(),
)
def test_any_table(rows: Any, kind: Any, average: Any, zero: Any, labels: Any, weighted: bool) -> None:
    y, f = (np.array([row[k] for row in rows]) for k in (0, 1))
    weight = np.array([row[2] for row in rows], dtype=float) if weighted else None
    if zero == "skip" and average in ("micro", None):
        zero = "undefined"
    measure = kind(average=average, zero_division=zero, labels=labels)
    wanted = LETTERS if labels is None else labels
    never = set(wanted) - set(f.tolist())
    if kind is Precision and average == "macro" and zero == "undefined" and never:
        with pytest.raises(InvalidInput, match="never predicted"):
            exact(measure, y, f, labels=LETTERS, weight=weight)
        return
    found = exact(measure, y, f, labels=LETTERS, weight=weight)
    np.testing.assert_allclose(found, of_sklearn(measure, y, f, weight, wanted), rtol=1e-12, atol=1e-12)


@settings(deadline=None, max_examples=100)
@given(tables, st.floats(0.2, 5.0))
def test_two_definitions_of_macro_f(rows: Any, beta: float) -> None:
    """Of means: by scikit-learn's macro precision and recall; never below the mean of F."""
    y, f = (np.array([row[k] for row in rows]) for k in (0, 1))
    options: dict[str, Any] = {"labels": LETTERS, "average": "macro", "zero_division": 0.0}
    p, r = metrics.precision_score(y, f, **options), metrics.recall_score(y, f, **options)
    found = exact(FBeta(beta=beta, average="macro_of_means", zero_division=0.0), y, f, labels=LETTERS)
    expected = (1 + beta**2) * p * r / (beta**2 * p + r) if p + r else 0.0
    assert found == pytest.approx(expected, **CLOSE)
    mean_of_f = exact(FBeta(beta=beta, average="macro", zero_division=0.0), y, f, labels=LETTERS)
    assert found >= mean_of_f - 1e-12


def test_macro_of_means_by_the_paper() -> None:
    """``F = (2/C) P R / (P + R)`` with P and R the sums over classes (Poisson sampling, eq. 102)."""
    y, f = np.array([0, 0, 1, 1, 2, 2, 2]), np.array([0, 1, 1, 1, 2, 0, 2])
    right = np.array([1, 2, 2])
    P, R = (right / np.bincount(f)).sum(), (right / np.bincount(y)).sum()
    found = exact(FBeta(average="macro_of_means"), y, f)
    assert found == pytest.approx(2 / 3 * P * R / (P + R), **CLOSE)
    assert exact(FBeta(average="macro"), y, f) != pytest.approx(found, rel=1e-6)


def test_micro_over_all_classes_is_accuracy() -> None:
    rng = np.random.default_rng(1)
    y, f = rng.choice(LETTERS, 100), rng.choice(LETTERS, 100)
    for kind in (Precision, Recall, FBeta):
        assert exact(kind(average="micro"), y, f) == pytest.approx(exact("accuracy", y, f), **CLOSE)


# Degenerate tables


def test_a_class_that_is_absent() -> None:
    """Not there, not predicted: undefined, left out, or worth a number."""
    y, f = ["a", "b", "a", "b"], ["a", "a", "a", "b"]
    options: dict[str, Any] = {"labels": ["a", "b", "c"]}
    assert np.isnan(exact(Recall(average="macro"), y, f, **options))
    assert np.isnan(exact(FBeta(average="macro"), y, f, **options))
    assert exact(Recall(average="macro", zero_division="skip"), y, f, **options) == pytest.approx(0.75)
    assert exact(Recall(average="macro", zero_division=0.0), y, f, **options) == pytest.approx(0.5)
    assert exact(Recall(average="macro", zero_division=1), y, f, **options) == pytest.approx(2.5 / 3)
    np.testing.assert_allclose(exact(Recall(average=None), y, f, **options), [1.0, 0.5, np.nan])
    assert exact(Recall(average="weighted"), y, f, **options) == pytest.approx(0.75)


def test_nothing_predicted() -> None:
    y, f = [1, 0, 1], [0, 0, 0]
    assert np.isnan(exact("precision", y, f))
    assert exact(Precision(zero_division=1.0), y, f) == 1.0
    assert exact(Precision(zero_division=0), y, f) == 0.0
    assert exact(FBeta(zero_division=1.0), y, f) == 0.0  # positives missed: 0, not 0/0
    assert exact(FBeta(zero_division=1.0), [0, 0], [0, 0]) == 1.0
    assert np.isnan(exact(FBeta(), [0, 0], [0, 0]))


@pytest.mark.parametrize("kind", [Precision, Recall, FBeta, Jaccard])
@pytest.mark.parametrize("average", ["macro", "micro", "weighted", None])
def test_perfect_prediction_is_one(kind: Any, average: Any) -> None:
    y = ["a", "b", "c", "c"]
    np.testing.assert_allclose(exact(kind(average=average), y, y), 1.0)


def test_only_one_class_in_truth_and_prediction() -> None:
    y = ["a"] * 5
    options: dict[str, Any] = {"labels": ["a", "b"]}
    assert np.isnan(exact(FBeta(average="macro"), y, y, **options))
    assert exact(FBeta(average="macro", zero_division="skip"), y, y, **options) == 1.0
    assert exact(FBeta(average="weighted"), y, y, **options) == 1.0
    assert exact(FBeta(average="micro"), y, y, **options) == 1.0


def test_a_number_made_up_has_no_error_of_its_own() -> None:
    """0 for a precision of nothing predicted: the value is there, a standard error is not made up."""
    pool = sd.Pool.from_arrays(prediction=[0, 0, 0, 0, 1, 1])
    study = sd.create_study(pool, Recall(zero_division=0.0), design="uniform", rng=0)
    for item in study.ask(3):
        study.tell(item.id, 0)
    found = study.estimate()
    assert found.value == 0.0
    assert np.isnan(found.std_error)
    for item in study.ask(3):
        study.tell(item.id, 0)
    assert study.estimate().std_error == 0.0  # all labelled: it is 0, by agreement


def test_an_undefined_estimate_says_why() -> None:
    pool = sd.Pool.from_arrays(prediction=["a", "b", "c", "a"], labels=["a", "b", "c"])
    study = sd.create_study(pool, Recall(average="macro"), design="uniform", rng=0)
    for item in study.ask(4):
        study.tell(item.id, "a")
    found = study.estimate()
    assert not found.defined
    assert "recall_macro" in str(found.why)


# Names, options, errors


def test_names() -> None:
    y, f = ["a", "b", "c"], ["a", "b", "c"]
    pool = sd.Pool.from_arrays(prediction=f, labels=y)
    assert FBeta(average="macro").bind(pool).names == ("f1_macro",)
    assert FBeta(beta=2, average="macro_of_means").bind(pool).names == ("f2_macro_of_means",)
    assert Precision(average=None, labels=["c", "a"]).bind(pool).names == ("precision[c]", "precision[a]")
    assert Recall(pos_label="a").bind(pool).names == ("recall",)


def test_binary_keeps_its_losses() -> None:
    """On two classes, or against the rest, nothing has changed: the same few losses."""
    two = sd.Pool.from_arrays(prediction=[0, 1, 1])
    three = sd.Pool.from_arrays(prediction=["a", "b", "c"])
    for pool, options in ((two, {}), (three, {"pos_label": "b"})):
        for kind, d in ((Precision, 3), (Recall, 3), (FBeta, 4), (Jaccard, 3)):
            measure: Measure = kind(**options)
            bound = measure.bind(pool)
            assert bound is measure
            assert bound.d == d
            assert bound.ratio is not None


def test_several_classes_without_an_average() -> None:
    with pytest.raises(InvalidInput, match=r"pos_label=.*average='macro'"):
        exact("f1", ["a", "b", "c"], ["a", "b", "c"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"average": "samples"}, "average="),
        ({"average": "macro_of_means"}, "average="),
        ({"zero_division": "warn"}, "zero_division="),
        ({"zero_division": 0.5}, "zero_division="),
        ({"zero_division": True}, "zero_division="),
        ({"zero_division": "skip"}, "skip"),
        ({"zero_division": "skip", "average": "micro"}, "skip"),
        ({"labels": ["a"]}, "labels="),
        ({"pos_label": "a", "average": "macro"}, "pos_label="),
    ],
)
def test_options_that_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Precision(**options)


@pytest.mark.parametrize("labels", [["a", "nowhere"], ["a", "a"], []])
def test_labels_that_are_refused(labels: list[str]) -> None:
    with pytest.raises(InvalidInput, match="label"):
        exact(Recall(average="macro", labels=labels), ["a", "b", "c"], ["a", "b", "c"])


def test_a_journal_without_the_new_options() -> None:
    """A study of an earlier version has none of them in its configuration."""
    old = {
        "family": "sondage.measures",
        "alias": "fbeta",
        "options": {"system": None, "pos_label": None, "beta": 2.0},
    }
    assert sd.registry.from_config(old) == FBeta(beta=2.0)
