"""Multi-label measures: equal to scikit-learn's, their closed forms equal to the sum over all labels."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn import metrics
from tests.measures.topics import topic_pool, topics

import sondage as sd
from sondage.errors import InvalidInput
from sondage.measures import (
    FBeta,
    HammingLoss,
    Jaccard,
    Measure,
    MultiLabelAccuracy,
    MultiLabelFBeta,
    MultiLabelJaccard,
    MultiLabelPrecision,
    MultiLabelRecall,
    Precision,
    Recall,
    exact,
    pool_value,
)
from sondage.measures.catalogue.multilabel import LabelRatio, multilabel_version
from sondage.measures.losses.label_sets import sum_of_labels
from sondage.testing.measures import MeasureSuite
from sondage.testing.vectors import chances_of, codes_of, some_labels
from sondage.types import Array, Floats

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"
CLOSE: dict[str, Any] = {"rtol": 1e-12, "atol": 1e-12}
AVERAGES = ("micro", "macro", "weighted", "samples", None)

RATIOS: dict[type[LabelRatio], Callable[..., Any]] = {
    MultiLabelPrecision: metrics.precision_score,
    MultiLabelRecall: metrics.recall_score,
    MultiLabelFBeta: metrics.f1_score,
    MultiLabelJaccard: metrics.jaccard_score,
}


def random_labels(seed: int, n: int = 40, labels: int = 5, share: float = 0.4) -> tuple[Array, Array, Floats]:
    rng = np.random.default_rng(seed)
    truth = (rng.uniform(size=(n, labels)) < share).astype(int)
    said = np.where(rng.uniform(size=truth.shape) < 0.7, truth, 1 - truth)
    return truth, said, rng.uniform(0.1, 10.0, n)


# ---- equal to scikit-learn ---------------------------------------------------------------------------


@pytest.mark.parametrize("kind", RATIOS)
@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("weighted", [False, True])
def test_equals_scikit_learn(kind: type[LabelRatio], average: Any, weighted: bool) -> None:
    for seed in range(3):
        y, f, weight = random_labels(seed)
        used = weight if weighted else None
        worth = 0.0 if average == "samples" else "undefined"
        found = exact(kind(average=average, zero_division=worth), y, f, weight=used)
        expected = RATIOS[kind](y, f, average=average, sample_weight=used, zero_division=0)
        np.testing.assert_allclose(found, expected, **CLOSE)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 12),
    labels=st.integers(2, 4),
    share=st.sampled_from([0.0, 0.15, 0.5, 1.0]),
    kind=st.sampled_from(list(RATIOS)),
    average=st.sampled_from(AVERAGES),
    worth=st.sampled_from([0.0, 1.0, "skip"]),
    weighted=st.booleans(),
)
def test_zero_division_equals_scikit_learn(
    seed: int, n: int, labels: int, share: float, kind: Any, average: Any, worth: Any, weighted: bool
) -> None:
    """Labels that nobody has and items without labels are worth what scikit-learn says they are."""
    y, f, weight = random_labels(seed, n, labels, share)
    f = f * (np.random.default_rng(seed).uniform(size=labels) < 0.7)  # some labels are never predicted
    # Scikit-learn's Jaccard knows no such option; and of a mean without weight it makes one up.
    assume(worth != "skip" or not (average in ("micro", None) or kind is MultiLabelJaccard))
    assume(average != "weighted" or y.any())
    used = weight if weighted else None
    found = exact(kind(average=average, zero_division=worth), y, f, weight=used)
    theirs = np.nan if worth == "skip" else worth
    expected = RATIOS[kind](y, f, average=average, sample_weight=used, zero_division=theirs)
    np.testing.assert_allclose(found, expected, **CLOSE)


@pytest.mark.parametrize("beta", [0.3, 2.0])
@pytest.mark.parametrize("average", AVERAGES)
def test_fbeta(beta: float, average: Any) -> None:
    y, f, weight = random_labels(4)
    measure = MultiLabelFBeta(beta=beta, average=average, zero_division=0.0)
    expected = metrics.fbeta_score(y, f, beta=beta, average=average, sample_weight=weight, zero_division=0)
    np.testing.assert_allclose(exact(measure, y, f, weight=weight), expected, **CLOSE)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 30), labels=st.integers(2, 6), weighted=st.booleans())
def test_accuracy_and_hamming_loss(seed: int, n: int, labels: int, weighted: bool) -> None:
    y, f, weight = random_labels(seed, n, labels)
    used = weight if weighted else None
    pairs = ((MultiLabelAccuracy(), metrics.accuracy_score), (HammingLoss(), metrics.hamming_loss))
    for measure, theirs in pairs:
        np.testing.assert_allclose(
            exact(measure, y, f, weight=used), theirs(y, f, sample_weight=used), **CLOSE
        )


@pytest.mark.parametrize("average", AVERAGES)
def test_some_labels_only(average: Any) -> None:
    y, f, weight = random_labels(6)
    wanted = [3, 0]
    measure = MultiLabelFBeta(average=average, labels=wanted, zero_division=0.0)
    expected = metrics.f1_score(y, f, average=average, labels=wanted, sample_weight=weight, zero_division=0)
    np.testing.assert_allclose(exact(measure, y, f, weight=weight), expected, **CLOSE)


def test_the_papers_macro_f1() -> None:
    """The harmonic mean of macro precision and macro recall (Yilmaz et al., eq. 102)."""
    y, f, weight = random_labels(7)
    precision, recall = (
        score(y, f, average="macro", sample_weight=weight)
        for score in (metrics.precision_score, metrics.recall_score)
    )
    found = exact(MultiLabelFBeta(average="macro_of_means"), y, f, weight=weight)
    np.testing.assert_allclose(found, 2 * precision * recall / (precision + recall), **CLOSE)
    assert found >= exact(MultiLabelFBeta(average="macro"), y, f, weight=weight)


def test_real_scores_cut_low() -> None:
    """Twenty newsgroups, with every group above a tenth predicted."""
    if not (DATA / "news20.parquet").exists():
        pytest.skip("the data folder is not there")
    pyarrow = pytest.importorskip("pyarrow.parquet")
    table = pyarrow.read_table(DATA / "news20.parquet").to_pandas()
    truth = next(name for name in ("label", "y", "truth") if name in table)
    columns = [f"p{place}" for place in range(20)]
    y = np.eye(20, dtype=int)[table[truth].to_numpy().astype(int)]
    pool = sd.Pool.from_frame(table, probability=columns, multilabel=True, threshold=0.1)
    f = (table[columns].to_numpy() >= 0.1).astype(int)
    codes = pool.labels.encode(y)
    for average in ("micro", "macro", "samples"):
        bound = MultiLabelFBeta(average=average, zero_division=0.0).bind(pool)
        expected = metrics.f1_score(y, f, average=average, zero_division=0)
        np.testing.assert_allclose(pool_value(bound, pool, codes), expected, **CLOSE)


# ---- the contract, with options ------------------------------------------------------------------------


def suite(measure: Measure) -> type[MeasureSuite]:
    class Suite(MeasureSuite):
        def make_measure(self) -> Measure:
            return measure

    return Suite


OPTIONS: dict[str, Measure] = {
    "MacroPrecision": MultiLabelPrecision(average="macro"),
    "MacroF": MultiLabelFBeta(average="macro", beta=2.0),
    "MacroOfMeans": MultiLabelFBeta(average="macro_of_means"),
    "WeightedF": MultiLabelFBeta(average="weighted", zero_division=0.0),
    "EachF": MultiLabelFBeta(average=None),
    "EachRecallOfSome": MultiLabelRecall(average=None, labels=("arts", "sport")),
    "MicroOfSome": MultiLabelJaccard(labels=("arts", "sport"), system="b"),
    "SamplesF": MultiLabelFBeta(average="samples"),
    "SamplesRecall": MultiLabelRecall(average="samples", zero_division="skip"),
    "SamplesPrecisionOfSome": MultiLabelPrecision(
        average="samples", zero_division=1.0, labels=("arts", "money")
    ),
    "SamplesJaccard": MultiLabelJaccard(average="samples", zero_division=0.0),
}
for _name, _measure in OPTIONS.items():
    globals()[f"Test{_name}"] = type(f"Test{_name}", (suite(_measure),), {})


# ---- moments under independent labels ------------------------------------------------------------------


def six_labels(n: int = 25) -> tuple[sd.Pool, Floats, Floats]:
    """A pool of six labels, its believed chances, and codes of a random truth."""
    q, y = topics(n, 6, 3)
    pool = topic_pool(q, weight=np.random.default_rng(1).uniform(0.5, 2.0, n))
    return pool, q, pool.labels.encode(y)


MEASURES = [
    *(MultiLabelFBeta(average=average) for average in ("micro", "macro", "weighted", "macro_of_means", None)),
    MultiLabelFBeta(average="samples", zero_division=0.0),
    MultiLabelRecall(average="samples", zero_division="skip"),
    MultiLabelPrecision(average="macro"),
    MultiLabelJaccard(),
    MultiLabelAccuracy(),
    HammingLoss(),
]


@pytest.mark.parametrize("measure", MEASURES, ids=repr)
def test_spread_is_the_sum_over_all_labels(measure: Measure) -> None:
    """Over all 2^6 labels, with every label and its chance written out here."""
    pool, q, y = six_labels()
    rows, bound = pool.rows(slice(None)), measure.bind(pool)
    R = bound.total(rows, y[:, None], np.ones((len(pool), 1))) / len(pool)
    labels = np.array(list(product((0, 1), repeat=6)))
    chance = np.where(labels[None] == 1, q[:, None, :], 1 - q[:, None, :]).prod(axis=-1)
    np.testing.assert_allclose(chance.sum(axis=1), 1.0)
    influence = bound.loss(rows, pool.labels.encode(labels)) @ bound.jac(R).T
    nothing, psi = np.empty((len(pool), 0)), bound.influence(R)
    mean, square = psi.moments(rows, nothing, q)
    np.testing.assert_allclose(mean, np.einsum("ns,nsm->nm", chance, influence), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(square, np.einsum("ns,nsm->nm", chance, influence**2), rtol=1e-10, atol=1e-10)
    centre = np.random.default_rng(2).normal(size=mean.shape)
    squared = np.square(influence - centre[:, None, :]).sum(axis=-1)
    found = psi.spread(rows, nothing, q, centre=centre)
    np.testing.assert_allclose(found, (chance * squared).sum(axis=1), rtol=1e-10, atol=1e-10)
    root = psi.spread(rows, nothing, q, centre=centre, power=1)
    np.testing.assert_allclose(root, np.sqrt(found), rtol=1e-12)
    assert (root >= (chance * np.sqrt(squared)).sum(axis=1) - 1e-12).all()  # never below the mean length


def test_three_terms_of_micro_f() -> None:
    """``sum v - sum e^2 + (sum e)^2`` with ``d = f - F g`` (Yilmaz et al., eq. 95-97), per label."""
    pool, q, y = six_labels()
    rows, bound = pool.rows(slice(None)), MultiLabelFBeta().bind(pool)
    R = bound.total(rows, y[:, None], np.ones((len(pool), 1))) / len(pool)
    F, said = float(bound.g(R)[0]), rows.prediction()
    d = [said * label - F * 0.5 * (said + label) for label in (0, 1)]
    e, v = ((1 - q) * d[0] ** power + q * d[1] ** power for power in (1, 2))
    three = v.sum(axis=1) - np.square(e).sum(axis=1) + np.square(e.sum(axis=1))
    _, actual, predicted = R[1:].reshape(3, -1).sum(axis=1)
    expected = three * np.square(rows.weight * 2 / (actual + predicted))
    found = bound.influence(R).spread(rows, np.empty((len(pool), 0)), q)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_gradients_of_the_papers_macro_f() -> None:
    """By the rates of true positives, false positives and false negatives of each label."""
    pool, _, y = six_labels()
    rows, bound = pool.rows(slice(None)), MultiLabelFBeta(average="macro_of_means").bind(pool)
    R = bound.total(rows, y[:, None], np.ones((len(pool), 1))) / len(pool)
    a, actual, predicted = R[1:].reshape(3, -1)
    b, c = predicted - a, actual - a
    P, Q = (a / (a + b)).sum(), (a / (a + c)).sum()
    by_P, by_Q = 2 / 6 * Q**2 / (P + Q) ** 2, 2 / 6 * P**2 / (P + Q) ** 2
    by_a = by_P * b / (a + b) ** 2 + by_Q * c / (a + c) ** 2
    by_b, by_c = -by_P * a / (a + b) ** 2, -by_Q * a / (a + c) ** 2
    J = bound.jac(R)[0, 1:].reshape(3, -1)
    # Counts of both, actual and predicted: a one more, with neither a false positive nor a miss more.
    np.testing.assert_allclose(J.sum(axis=0), by_a, rtol=1e-10)
    np.testing.assert_allclose(J[2], by_b, rtol=1e-10)
    np.testing.assert_allclose(J[1], by_c, rtol=1e-10)


@settings(max_examples=40, deadline=None)
@given(chances=st.lists(st.floats(0.0, 1.0), min_size=1, max_size=9))
def test_sum_of_labels(chances: list[float]) -> None:
    """The distribution of the number that applies, against all 2^C labels."""
    found = sum_of_labels(np.array([chances]))[:, 0]
    expected = np.zeros(len(chances) + 1)
    for label in product((0, 1), repeat=len(chances)):
        expected[sum(label)] += np.prod([p if one else 1 - p for p, one in zip(chances, label, strict=True)])
    np.testing.assert_allclose(found, expected[: len(found)], atol=1e-14)
    np.testing.assert_allclose(expected[len(found) :], 0.0, atol=1e-300)


def test_sum_of_very_many_labels() -> None:
    """Where the tail is cut off nothing is lost that could be seen."""
    chance = np.random.default_rng(0).beta(0.3, 4.0, (3, 700))
    stats = pytest.importorskip("scipy.stats")
    found = sum_of_labels(chance)
    assert len(found) < 300
    for column, one in zip(found.T, chance, strict=True):
        expected = stats.poisson_binom.pmf(np.arange(len(found)), one)
        np.testing.assert_allclose(column, expected, atol=1e-13)
        assert column.sum() == pytest.approx(1.0, abs=1e-13)


# ---- what the variance of a macro average is made of ---------------------------------------------------


def chance_of_inclusion(size: Floats, expected: float) -> Floats:
    """``min(1, scale * size)`` adding up to the expected number."""
    low, high = 0.0, expected / size.min()
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if np.minimum(1, middle * size).sum() < expected else (low, middle)
    return np.minimum(1.0, high * size)


def cross_label_experiment(n: int, expected: float, runs: int, seed: int = 5) -> dict[str, float]:
    """Root mean square errors of the papers' macro F1 under Poisson sampling: seen, and by formula.

    ``paper`` adds up the variances of the labels, as Yilmaz et al. do (eq. 112-119); ``full`` takes the
    variance of the sum. Both at the true labels, so that only the formula is judged.
    """
    q, y = topics(n, 6, seed, together=1.1, base=-2.0)
    pool = topic_pool(q)
    bound = MultiLabelFBeta(average="macro_of_means").bind(pool)
    rows, codes = pool.rows(slice(None)), pool.labels.encode(y)
    loss = bound.loss(rows, codes[:, None])[:, 0]
    R, believed = loss.mean(axis=0), bound.total(rows, np.empty((n, 0)), q, np.full(n, 1 / n))
    psi = bound.influence(believed)
    constant, factor, _ = psi._terms(rows, slice(None))
    by_label = np.square(constant + factor * q) + np.square(factor) * q * (1 - q)
    sizes = {
        "full": np.sqrt(psi.spread(rows, np.empty((n, 0)), q)),
        "paper": np.sqrt(by_label.sum(axis=1)),
        "uniform": np.ones(n),
    }
    constant, factor, _ = bound.influence(R)._terms(rows, slice(None))
    each = constant + factor * y
    found = {}
    for name, size in sizes.items():
        b = chance_of_inclusion(size, expected)
        found[f"{name} design"] = np.sqrt(((1 / b - 1) * each.sum(axis=1) ** 2).sum()) / n
        if name == "paper":
            found["full"] = found["paper design"]
            found["paper"] = np.sqrt(((1 / b - 1) * (each**2).sum(axis=1)).sum()) / n
            rng, errors = np.random.default_rng(seed), []
            for _ in range(runs // 250):
                drawn = (rng.uniform(size=(250, n)) < b) / b
                errors.append(bound.g(drawn @ loss / n)[:, 0] - bound.g(R)[0])
            found["seen"] = float(np.sqrt(np.square(np.concatenate(errors)).mean()))
    return found


def test_labels_of_an_item_are_drawn_together() -> None:
    """Full linearisation has the error that is seen; without the covariances of labels it is too short."""
    found = cross_label_experiment(1500, 300, 2000)
    assert found["full"] == pytest.approx(found["seen"], rel=0.06)
    assert found["paper"] < 0.93 * found["seen"]
    assert found["full design"] <= found["paper design"] < found["uniform design"]


# ---- names, options, errors ---------------------------------------------------------------------------


def test_the_usual_measures_have_a_multi_label_version() -> None:
    pairs: list[tuple[Measure, Measure]] = [
        (FBeta(average="micro"), MultiLabelFBeta()),
        (
            FBeta(average="macro", beta=2.0, labels=("x",), zero_division=0.0, system="b"),
            MultiLabelFBeta(average="macro", beta=2.0, labels=("x",), zero_division=0.0, system="b"),
        ),
        (FBeta(average="macro_of_means"), MultiLabelFBeta(average="macro_of_means")),
        (Precision(average=None), MultiLabelPrecision(average=None)),
        (Recall(average="weighted"), MultiLabelRecall(average="weighted")),
        (Jaccard(average="micro"), MultiLabelJaccard()),
        (Measure.from_alias("accuracy"), MultiLabelAccuracy()),
    ]
    for usual, expected in pairs:
        assert multilabel_version(usual) == expected
    assert multilabel_version(Measure.from_alias("matthews_corrcoef")) is None


def test_an_average_over_labels_has_to_be_chosen() -> None:
    with pytest.raises(InvalidInput, match=r"averaged over them.*average='micro'"):
        multilabel_version(FBeta())


def test_names() -> None:
    q, _ = topics(20, 3, 0)
    pool = topic_pool(q)
    names = {
        MultiLabelFBeta(): ("f1_micro",),
        MultiLabelFBeta(average="samples", beta=2.0, zero_division=0.0): ("f2_samples",),
        MultiLabelRecall(average=None, labels=["topic2", "topic0"]): ("recall[topic2]", "recall[topic0]"),
        MultiLabelAccuracy(): ("accuracy",),
        HammingLoss(): ("hamming_loss",),
    }
    for measure, expected in names.items():
        assert measure.bind(pool).names == expected


@pytest.mark.parametrize(
    "alias", ["f1", "fbeta", "precision", "recall", "jaccard", "hamming_loss", "accuracy"]
)
def test_found_by_alias(alias: str) -> None:
    assert Measure.from_alias(f"multilabel_{alias}").label_kind == "vector"


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: MultiLabelFBeta(average="binary"), "average= must be one of"),
        (lambda: MultiLabelPrecision(average="macro_of_means"), "average= must be one of"),
        (lambda: MultiLabelFBeta(zero_division=0.5), "zero_division="),
        (lambda: MultiLabelFBeta(zero_division="skip"), "is none: use 'undefined', 0 or 1"),
        (lambda: MultiLabelFBeta(beta=-1.0), "beta="),
    ],
)
def test_bad_options(make: Callable[[], Measure], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        make()


def test_bad_fits() -> None:
    q, _ = topics(30, 3, 0)
    pool = topic_pool(q)
    never = topic_pool(np.where(np.arange(3) == 1, 0.1, q))
    counts = sd.Pool.from_arrays(id=[1, 2], labels={"tp": (0, None), "fp": (0, None)})
    classes = sd.Pool.from_arrays(prediction=[0, 1])
    refused: list[tuple[Measure, sd.Pool, str]] = [
        (MultiLabelFBeta(labels=["topic1", "weather"]), pool, "labels= names 'weather', which is not one of"),
        (MultiLabelFBeta(labels=["topic1", "topic1"]), pool, "labels= must be different names"),
        (MultiLabelFBeta(labels=[]), pool, "at least one"),
        (MultiLabelPrecision(average="macro"), never, "label 'topic1' is never predicted"),
        (MultiLabelFBeta(average="macro_of_means"), never, "zero_division=0, 1 or 'skip'"),
        (MultiLabelFBeta(average="samples"), pool, "is 0/0 if no label applies to it"),
        (MultiLabelRecall(average="samples"), pool, "zero_division=0, 1 or 'skip'"),
        (MultiLabelFBeta(), counts, "no prediction"),
        (MultiLabelFBeta(), classes, "several numbers at once"),
        (MultiLabelAccuracy(system="other"), pool, "system 'other' is not in the pool"),
    ]
    for measure, on, said in refused:
        with pytest.raises(InvalidInput, match=said):
            measure.bind(on)
    with_numbers = sd.Pool.from_arrays(prediction=np.ones((2, 2)), labels={"tp": (0, None), "fp": (0, None)})
    for measure in (MultiLabelFBeta(), HammingLoss(), MultiLabelAccuracy()):
        with pytest.raises(InvalidInput, match="yes or no to each of several"):
            measure.bind(with_numbers)
    MultiLabelPrecision(average="macro", zero_division="skip").bind(never)
    MultiLabelPrecision(average="macro", labels=["topic0", "topic2"]).bind(never)


def test_a_mean_over_items_that_all_have_a_prediction_needs_no_zero_division() -> None:
    y, f, _ = random_labels(3)
    f[:, 0] = 1
    found = exact(MultiLabelFBeta(average="samples"), y, f)
    assert found == pytest.approx(metrics.f1_score(y, f, average="samples"), rel=1e-12)


def test_undefined_is_nan() -> None:
    nothing = np.zeros((4, 2), dtype=int)
    assert np.isnan(exact("multilabel_f1", nothing, nothing))
    assert np.isnan(exact(MultiLabelRecall(average="macro"), nothing, nothing + 1))
    assert exact("hamming_loss", nothing, nothing) == 0.0
    assert exact("multilabel_accuracy", nothing, nothing) == 1.0


def test_exact_takes_mappings_and_names() -> None:
    truth = [{"sport": 1, "money": 0}, {"sport": 1, "money": 1}]
    said = [[1, 1], [1, 0]]
    assert exact("multilabel_f1", truth, said) == pytest.approx(2 * 2 / 6)
    sets = [{"sport"}, {"sport", "money"}]
    assert exact("multilabel_f1", sets, said, labels=["sport", "money"]) == pytest.approx(2 * 2 / 6)
    with pytest.raises(InvalidInput, match="'weather' is not one of"):
        exact("multilabel_f1", [{"weather"}], [[1, 0]], labels=["sport", "money"])


def test_ends_are_the_least_and_greatest_influence() -> None:
    """For each label, and for sets of labels, over all of them."""
    pool, _, y = six_labels()
    rows = pool.rows(slice(None))
    codes = codes_of(pool.labels, some_labels(pool.labels))
    for measure in MEASURES:
        bound: Any = measure.bind(pool)
        R = bound.total(rows, y[:, None], np.ones((len(pool), 1))) / len(pool)
        psi = bound.influence(R)
        influence = psi.of(rows, codes)
        low, high = psi.ends(rows)
        np.testing.assert_allclose(low, influence.min(axis=1), rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(high, influence.max(axis=1), rtol=1e-10, atol=1e-12)


def test_belief_of_a_few_labels_by_hand() -> None:
    """One item, two labels: every number worked out on paper."""
    pool = sd.Pool.from_arrays(probability=[[0.8, 0.3]], multilabel=True)
    bound: Any = MultiLabelAccuracy().bind(pool)
    rows, q = pool.rows(slice(None)), np.array([[0.8, 0.3]])
    match = 0.8 * 0.7
    np.testing.assert_allclose(bound.expected(rows, np.empty((1, 0)), q), [[1.0, match]])
    mean, variance = bound.losses.along(np.array([[0.0, 1.0]])).believed(rows, q)
    np.testing.assert_allclose([mean[0, 0], variance[0, 0]], [match, match * (1 - match)])
    hamming: Any = HammingLoss().bind(pool)
    np.testing.assert_allclose(hamming.expected(rows, np.empty((1, 0)), q), [[1.0, (0.2 + 0.3) / 2]])
    chance = chances_of(np.array([[1.0, 0.0]]), q)
    np.testing.assert_allclose(chance, [[match]])


# ---- a hundred labels -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "measure",
    [
        MultiLabelFBeta(),
        MultiLabelFBeta(average="macro", zero_division=0.0),
        MultiLabelFBeta(average=None),
        MultiLabelFBeta(average="samples", zero_division=0.0),
        MultiLabelAccuracy(),
    ],
    ids=repr,
)
def test_a_hundred_labels(measure: Measure) -> None:
    """The chances of 20,000 items with 100 labels each, in the memory of a few columns."""
    q, _ = topics(20_000, 100, 1, base=-3.0)
    pool = topic_pool(q)
    study = sd.create_study(pool, measure, design="poisson", rng=1)
    tracemalloc.start()
    assert len(study.ask(50))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 6 * q.nbytes
