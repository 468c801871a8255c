"""On fully labelled data every measure equals scikit-learn's."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn import metrics

from sondage.measures import FBeta, Measure, PerGroup, exact, pool_value, resolve
from sondage.pool import Pool
from sondage.types import Array

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
CLOSE: dict[str, Any] = {"rel": 1e-12, "abs": 1e-12}

# Name here, and the function there; each takes the truth, the prediction and keyword arguments.
DECISIONS: dict[str, Callable[..., Any]] = {
    "accuracy": metrics.accuracy_score,
    "precision": metrics.precision_score,
    "recall": metrics.recall_score,
    "f1": metrics.f1_score,
    "fbeta": metrics.fbeta_score,
    "jaccard": metrics.jaccard_score,
    "matthews_corrcoef": metrics.matthews_corrcoef,
    "balanced_accuracy": metrics.balanced_accuracy_score,
    "cohen_kappa": metrics.cohen_kappa_score,
}
WITH_POS_LABEL = ("precision", "recall", "f1", "fbeta", "jaccard")


def binary(seed: int, n: int = 400) -> tuple[Array, Array, Array]:
    """Truth, prediction and weight; positives are one in four."""
    rng = np.random.default_rng(seed)
    y = (rng.uniform(size=n) < 0.25).astype(int)
    f = np.where(rng.uniform(size=n) < 0.8, y, 1 - y)
    return y, f, rng.uniform(0.1, 10.0, n)


@pytest.mark.parametrize("name", DECISIONS)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("weighted", [False, True])
def test_decisions(name: str, seed: int, weighted: bool) -> None:
    y, f, weight = binary(seed)
    options = {"beta": 1.0} if name == "fbeta" else {}
    expected = DECISIONS[name](y, f, sample_weight=weight if weighted else None, **options)
    assert exact(name, y, f, weight=weight if weighted else None) == pytest.approx(expected, **CLOSE)


@pytest.mark.parametrize("beta", [0.1, 0.5, 1.0, 2.0, 7.5])
def test_fbeta(beta: float) -> None:
    y, f, weight = binary(5)
    found = exact(FBeta(beta=beta), y, f, weight=weight)
    assert found == pytest.approx(metrics.fbeta_score(y, f, beta=beta, sample_weight=weight), **CLOSE)


@pytest.mark.parametrize("name", WITH_POS_LABEL)
@pytest.mark.parametrize("pos_label", ["spam", "ham"])
@pytest.mark.parametrize("weighted", [False, True])
def test_text_labels_with_the_positive_one_named(name: str, pos_label: str, weighted: bool) -> None:
    y, f, weight = binary(7)
    text = np.array(["ham", "spam"])
    measure = Measure.from_alias(name, pos_label=pos_label)
    options = {"beta": 1.0} if name == "fbeta" else {}
    given_weight = weight if weighted else None
    expected = DECISIONS[name](text[y], text[f], pos_label=pos_label, sample_weight=given_weight, **options)
    assert exact(measure, text[y], text[f], weight=given_weight) == pytest.approx(expected, **CLOSE)


@pytest.mark.parametrize("name", ["accuracy", "matthews_corrcoef", "balanced_accuracy", "cohen_kappa"])
def test_text_labels(name: str) -> None:
    y, f, weight = binary(8)
    text = np.array(["no", "yes"])
    expected = DECISIONS[name](text[y], text[f], sample_weight=weight)
    assert exact(name, text[y], text[f], weight=weight) == pytest.approx(expected, **CLOSE)


@pytest.mark.parametrize("name", WITH_POS_LABEL)
def test_zero_as_the_positive_label(name: str) -> None:
    y, f, _ = binary(9)
    options = {"beta": 1.0} if name == "fbeta" else {}
    expected = DECISIONS[name](y, f, pos_label=0, **options)
    assert exact(Measure.from_alias(name, pos_label=0), y, f) == pytest.approx(expected, **CLOSE)


@pytest.mark.parametrize("classes", [["x", "y", "z"], [3, 5, 9, 11]])
@pytest.mark.parametrize("weighted", [False, True])
def test_many_classes(classes: list[Any], weighted: bool) -> None:
    """Accuracy of all classes; precision, recall and F1 of each class against the rest."""
    rng = np.random.default_rng(10)
    values = np.array(classes)
    y = rng.choice(values, 300)
    f = np.where(rng.uniform(size=300) < 0.6, y, rng.choice(values, 300))
    weight = rng.uniform(0.1, 10.0, 300) if weighted else None
    expected = metrics.accuracy_score(y, f, sample_weight=weight)
    assert exact("accuracy", y, f, weight=weight) == pytest.approx(expected, **CLOSE)
    for name in ("precision", "recall", "f1"):
        each = DECISIONS[name](y, f, average=None, labels=classes, sample_weight=weight)
        for one, value in zip(classes, each, strict=True):
            found = exact(Measure.from_alias(name, pos_label=one), y, f, weight=weight)
            assert found == pytest.approx(value, **CLOSE)
    for one in classes:
        found = exact(Measure.from_alias("matthews_corrcoef", pos_label=one), y, f, weight=weight)
        value = metrics.matthews_corrcoef(y == one, f == one, sample_weight=weight)
        assert found == pytest.approx(value, **CLOSE)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_class_that_is_never_predicted(weighted: bool) -> None:
    y, f = ["x", "y", "z", "x"], ["x", "y", "x", "y"]
    weight = [1.0, 2.0, 3.0, 4.0] if weighted else None
    expected = metrics.accuracy_score(y, f, sample_weight=weight)
    assert exact("accuracy", y, f, weight=weight) == pytest.approx(expected, **CLOSE)


@pytest.mark.parametrize("weighted", [False, True])
def test_brier_score_loss(weighted: bool) -> None:
    y, _, weight = binary(11)
    p = np.random.default_rng(11).uniform(size=len(y))
    p[:4] = [0.0, 1.0, 0.0, 1.0]
    given_weight = weight if weighted else None
    expected = metrics.brier_score_loss(y, p, sample_weight=given_weight)
    found = exact("brier_score_loss", y, probability=p, weight=given_weight)
    assert found == pytest.approx(expected, **CLOSE)


@pytest.mark.parametrize("pos_label", ["ham", "spam"])
def test_brier_score_loss_of_text_labels(pos_label: str) -> None:
    y, _, weight = binary(12)
    text = np.array(["ham", "spam"])
    p = np.random.default_rng(12).uniform(size=len(y))
    table = np.stack([1 - p, p], axis=1)
    of_positive = table[:, ["ham", "spam"].index(pos_label)]
    expected = metrics.brier_score_loss(text[y], of_positive, pos_label=pos_label, sample_weight=weight)
    measure = Measure.from_alias("brier_score_loss", pos_label=pos_label)
    roles: dict[str, Any] = {"labels": ["ham", "spam"], "weight": weight}
    assert exact(measure, text[y], probability=p, **roles) == pytest.approx(expected, **CLOSE)
    assert exact(measure, text[y], probability=table, **roles) == pytest.approx(expected, **CLOSE)


@pytest.mark.parametrize("weighted", [False, True])
def test_mean_squared_error(weighted: bool) -> None:
    rng = np.random.default_rng(13)
    y, f, weight = rng.normal(3, 50, 500), rng.normal(3, 50, 500), rng.uniform(0.1, 10, 500)
    given_weight = weight if weighted else None
    expected = metrics.mean_squared_error(y, f, sample_weight=given_weight)
    assert exact("mean_squared_error", y, f, weight=given_weight) == pytest.approx(expected, **CLOSE)


def test_mean_squared_error_of_whole_numbers() -> None:
    y, f = np.array([1, 2, 3, 10]), np.array([1.5, 2.0, 2.0, 7.0])
    expected = metrics.mean_squared_error(y, f)
    assert exact("mean_squared_error", y, f) == pytest.approx(expected, **CLOSE)
    assert exact("mean_squared_error", y, [1, 2, 2, 7]) == pytest.approx(2.5, **CLOSE)


def test_labels_in_a_series() -> None:
    """Text in a pandas series, with a class that was never predicted."""
    pandas = pytest.importorskip("pandas")
    y, f = ["x", "y", "z", "x"], ["x", "y", "x", "x"]
    for kind in (object, "str"):
        series = pandas.Series(y, dtype=kind), pandas.Series(f, dtype=kind)
        assert exact("accuracy", *series) == pytest.approx(0.75)


def test_where_scikit_learn_warns_we_say_nan() -> None:
    """No predicted positives, no positives, one class only: undefined, not 0."""
    assert np.isnan(exact("precision", [1, 0], [0, 0]))
    assert np.isnan(exact("recall", [0, 0], [1, 0]))
    assert np.isnan(exact("f1", [0, 0], [0, 0]))
    assert np.isnan(exact("matthews_corrcoef", [1, 0, 1], [1, 1, 1]))
    assert np.isnan(exact("matthews_corrcoef", [1, 1], [1, 0]))
    assert exact("f1", [1, 0], [0, 1]) == 0.0


items = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1), st.integers(1, 9)), min_size=1, max_size=40)


@settings(deadline=None, max_examples=150)
@given(items, st.sampled_from(sorted(DECISIONS)), st.floats(0.05, 20))
def test_any_small_table(rows: list[tuple[int, int, int]], name: str, beta: float) -> None:
    y, f, weight = np.array(rows).T
    options = {"beta": beta} if name == "fbeta" else {}
    found = exact(Measure.from_alias(name, **options), y, f, weight=weight.astype(float))
    undefined = {
        "accuracy": False,
        "precision": not f.any(),
        "recall": not y.any(),
        "f1": not (f.any() or y.any()),
        "fbeta": not (f.any() or y.any()),
        "jaccard": not (f.any() or y.any()),
        "matthews_corrcoef": len(set(y)) == 1 or len(set(f)) == 1,
        "balanced_accuracy": len(set(y)) == 1,
        "cohen_kappa": len({*y, *f}) == 1,
    }[name]
    if undefined:
        assert np.isnan(found)
    else:
        assert found == pytest.approx(DECISIONS[name](y, f, sample_weight=weight, **options), **CLOSE)


@settings(deadline=None, max_examples=60)
@given(items, st.lists(st.sampled_from("xyz"), min_size=40, max_size=40))
def test_any_group(rows: list[tuple[int, int, int]], letters: list[str]) -> None:
    y, f, weight = np.array(rows).T
    group = np.array(letters[: len(rows)])
    assume(len(set(group.tolist())) > 1)
    pool = Pool.from_arrays(prediction=f, weight=weight, groups={"g": group})
    found = pool_value(PerGroup(resolve("accuracy"), "g").bind(pool), pool, y.astype(float))
    for level, value in zip(sorted(set(group.tolist())), found, strict=True):
        mine = group == level
        expected = metrics.accuracy_score(y[mine], f[mine], sample_weight=weight[mine])
        assert value == pytest.approx(expected, **CLOSE)


# Real pools

needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the shared pools are not here")


def real(name: str) -> Any:
    pandas = pytest.importorskip("pandas")
    return pandas.read_parquet(DATA / f"{name}.parquet")


@needs_data
@pytest.mark.parametrize("name", ["abt_buy", "dblp_acm", "tweets100k"])
def test_binary_pools(name: str) -> None:
    frame = real(name)
    y = frame["label"].to_numpy()
    pool = Pool.from_frame(frame, score="score", prediction="pred")
    names = [name for name in DECISIONS if name != "fbeta"]
    found = pool_value(resolve(names).bind(pool), pool, pool.labels.encode(y))
    expected = [DECISIONS[one](y, frame["pred"].to_numpy()) for one in names]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@needs_data
@pytest.mark.parametrize("name", ["svhn_resnet", "news20", "cifar10"])
def test_class_pools(name: str) -> None:
    frame = real(name)
    y = frame["label"].to_numpy()
    columns = sorted((c for c in frame if c[0] == "p" and c[1:].isdigit()), key=lambda c: int(c[1:]))
    pool = Pool.from_frame(frame, probability=columns)
    found = pool_value(resolve("accuracy").bind(pool), pool, pool.labels.encode(y))
    predicted = frame[columns].to_numpy().argmax(axis=1)
    assert found[0] == pytest.approx(metrics.accuracy_score(y, predicted), **CLOSE)
    for one in (0, 7):
        brier = Measure.from_alias("brier_score_loss", pos_label=one)
        value = pool_value(brier.bind(pool), pool, pool.labels.encode(y))[0]
        expected = metrics.brier_score_loss(y == one, frame[columns[one]].to_numpy(dtype=float))
        assert value == pytest.approx(expected, rel=1e-12)


AVERAGES: list[tuple[str, Callable[..., Any]]] = [
    ("precision", metrics.precision_score),
    ("recall", metrics.recall_score),
    ("f1", metrics.f1_score),
    ("jaccard", metrics.jaccard_score),
]
WHOLE: list[tuple[str, dict[str, Any], Callable[..., Any]]] = [
    ("matthews_corrcoef", {}, metrics.matthews_corrcoef),
    ("balanced_accuracy", {}, metrics.balanced_accuracy_score),
    ("balanced_accuracy", {"adjusted": True}, metrics.balanced_accuracy_score),
    ("cohen_kappa", {}, metrics.cohen_kappa_score),
    ("cohen_kappa", {"weights": "linear"}, metrics.cohen_kappa_score),
    ("cohen_kappa", {"weights": "quadratic"}, metrics.cohen_kappa_score),
]


@needs_data
@pytest.mark.parametrize("name", ["svhn_resnet", "news20", "cifar10"])
@pytest.mark.parametrize("weighted", [False, True])
def test_averages_on_class_pools(name: str, weighted: bool) -> None:
    """Ten and twenty classes: the second are more than are written out."""
    frame = real(name)
    columns = sorted((c for c in frame if c[0] == "p" and c[1:].isdigit()), key=lambda c: int(c[1:]))
    table, y = frame[columns].to_numpy(dtype=np.float64), frame["label"].to_numpy()
    f = table.argmax(axis=1)
    weight = np.random.default_rng(1).uniform(0.5, 4.0, len(y)) if weighted else None
    pool = Pool.from_arrays(probability=table, weight=weight)

    def found(alias: str, **options: Any) -> Any:
        return pool_value(Measure.from_alias(alias, **options).bind(pool), pool, y.astype(float))

    close: dict[str, Any] = {"rtol": 1e-12, "atol": 1e-13}
    for alias, function in AVERAGES:
        for average in ("macro", "micro", "weighted", None):
            for labels in (None, [3, 1, 7]):
                expected = function(y, f, average=average, labels=labels, sample_weight=weight)
                np.testing.assert_allclose(found(alias, average=average, labels=labels), expected, **close)
    for alias, options, function in WHOLE:
        np.testing.assert_allclose(
            found(alias, **options), function(y, f, sample_weight=weight, **options), **close
        )
    for normalize in ("true", "pred", "all"):
        expected = metrics.confusion_matrix(y, f, normalize=normalize, sample_weight=weight).ravel()
        np.testing.assert_allclose(found("confusion_matrix", normalize=normalize), expected, **close)
    # The columns are rounded: theirs warns that they do not add up to 1, and takes them as they are.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = {
            alias: function(y, table, labels=range(len(columns)), sample_weight=weight)
            for alias, function in (("brier", metrics.brier_score_loss), ("log_loss", metrics.log_loss))
        }
    for alias, expected in theirs.items():
        np.testing.assert_allclose(found(alias), expected, **close)
    for k in (1, 2, 5):
        expected = metrics.top_k_accuracy_score(y, table, k=k, sample_weight=weight)
        np.testing.assert_allclose(found("top_k_accuracy", k=k), expected, **close)


@needs_data
def test_answers_of_several_systems() -> None:
    frame = real("mmlu_pro_28llms")
    columns = [name for name in frame if name.startswith("pred__")][:5]
    classes = sorted({*frame["answer"], *(one for name in columns for one in frame[name])})
    systems = {name: {"prediction": name} for name in columns}
    pool = Pool.from_frame(frame, systems=systems, labels=classes, groups="category")
    y = pool.labels.encode(frame["answer"].to_numpy())
    for name in columns:
        found = pool_value(Measure.from_alias("accuracy", system=name).bind(pool), pool, y)[0]
        assert found == pytest.approx(
            metrics.accuracy_score(frame["answer"].astype(str), frame[name].astype(str)), **CLOSE
        )
    found = pool_value(PerGroup(resolve("accuracy"), "category").bind(pool), pool, y)
    right = frame["answer"].astype(str) == frame[columns[0]].astype(str)
    np.testing.assert_allclose(found, right.groupby(frame["category"].astype(str)).mean(), rtol=1e-12)


@needs_data
def test_probabilities_of_several_systems() -> None:
    frame = real("bank_marketing")
    columns = [name for name in frame if name.startswith("score_")]
    assert len(columns) == 5
    pool = Pool.from_frame(frame, id="id", systems={c: {"probability": c} for c in columns})
    frame = frame.sort_values("id")
    y = frame["label"].to_numpy()
    for name in columns:
        chance = frame[name].to_numpy(dtype=np.float64)
        for alias, expected in (
            ("brier_score_loss", metrics.brier_score_loss(y, chance)),
            ("f1", metrics.f1_score(y, chance >= 0.5)),
        ):
            bound = Measure.from_alias(alias, system=name).bind(pool)
            found = pool_value(bound, pool, pool.labels.encode(y))[0]
            assert found == pytest.approx(expected, **CLOSE)


def test_exact_with_ids_in_any_order() -> None:
    y, f = [1, 0, 1, 1, 0], [1, 1, 1, 0, 0]
    assert exact("f1", y, f, id=[5, 1, 4, 2, 3]) == pytest.approx(metrics.f1_score(y, f), abs=1e-12)
