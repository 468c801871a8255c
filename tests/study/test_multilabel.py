"""Studies whose labels are several numbers at once: yes or no to many, and counts per item."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn import metrics
from tests.measures.topics import topic_pool, topics

import sondage as sd
from sondage.errors import AlreadyAnswered, InvalidInput
from sondage.journal import Journal
from sondage.measures import (
    HammingLoss,
    ItemFBeta,
    Measure,
    MultiLabelAccuracy,
    MultiLabelFBeta,
    MultiLabelRecall,
    exact,
    pool_value,
)
from sondage.pool import Pool
from sondage.study.labelling.telling import CANNOT_TELL
from sondage.types import Floats

DESIGNS = ("uniform", "stratified", "importance", "poisson")
COUNTS = {"tp": (0, None), "fp": (0, None), "fn": (0, None)}

MEASURES: list[Measure] = [
    MultiLabelFBeta(),
    MultiLabelFBeta(average="macro"),
    MultiLabelFBeta(average=None),
    MultiLabelFBeta(average="samples", zero_division=0.0),
    MultiLabelAccuracy(),
    HammingLoss(),
]


def counted(n: int, seed: int = 0) -> tuple[Pool, Floats]:
    """Documents with the counts that a model expects, and the counts themselves."""
    rng = np.random.default_rng(seed)
    means = rng.gamma(1.5, [2.0, 0.6, 0.8], (n, 3))
    return Pool.from_arrays(prediction=means, labels=COUNTS), rng.poisson(means).astype(float)


def told(study: sd.Study, labels: Any, n: int) -> sd.Study:
    items = study.ask(n)
    study.tell({item.id: labels[item.id] for item in items})
    return study


def truth_of(measure: Measure, pool: Pool, labels: Any) -> Floats:
    return pool_value(measure.bind(pool), pool, pool.labels.encode(list(labels)))


# ---- estimates ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("design", [*DESIGNS, "sequential", "auto"])
def test_exact_when_all_is_labelled(design: str) -> None:
    q, y = topics(60, 4, 1)
    pool = topic_pool(q, weight=np.random.default_rng(0).uniform(0.5, 2.0, 60))
    study = sd.create_study(pool, "multilabel_f1", design=design, rng=2)
    while study.n_labels < len(pool):
        told(study, y.tolist(), 60 - study.n_labels)
    for measure in MEASURES:
        found = study.estimate(measure)
        np.testing.assert_allclose(found.value, truth_of(measure, pool, y), rtol=1e-12)
        np.testing.assert_allclose(found.std_error, 0.0, atol=1e-12)


@pytest.mark.parametrize("design", [*DESIGNS, "sequential"])
def test_counts_are_exact_when_all_is_labelled(design: str) -> None:
    pool, y = counted(50)
    study = sd.create_study(pool, "item_f1", design=design, rng=2)
    while study.n_labels < len(pool):
        told(study, y.tolist(), 50 - study.n_labels)
    for name in ("item_f1", "item_precision", "item_recall"):
        found = study.estimate(name)
        assert found.value == pytest.approx(truth_of(Measure.from_alias(name), pool, y)[0], rel=1e-12)
        assert found.std_error == pytest.approx(0.0, abs=1e-12)


def errors_of(
    pool: Pool, labels: Any, design: str, measures: list[Measure], n: int, repeats: int
) -> tuple[Floats, Floats]:
    """(repeats, coordinates) errors, and the standard errors reported."""
    truth = np.concatenate([truth_of(one, pool, labels) for one in measures])
    errors, reported = [], []
    for seed in range(repeats):
        study = told(sd.create_study(pool, measures[0], design=design, rng=seed), labels, n)
        found = [study.estimate(one) for one in measures]
        errors.append(np.concatenate([np.atleast_1d(one.value) for one in found]) - truth)
        reported.append(np.concatenate([np.atleast_1d(one.std_error) for one in found]))
    return np.array(errors), np.array(reported)


def check(errors: Floats, reported: Floats) -> None:
    """No bias beyond chance and what a ratio of few labels has, and errors as large as reported."""
    repeats = len(errors)
    spread = errors.std(axis=0)
    assert (np.abs(errors.mean(axis=0)) < 4.5 * spread / np.sqrt(repeats) + 0.1 * spread).all()
    ratio = np.square(reported).mean(axis=0) / np.square(errors).mean(axis=0)
    slack = 4 * np.sqrt(2 / repeats)  # a variance of so many repeats
    assert (ratio > 1 / (1 + slack)).all(), ratio
    assert (ratio < 1 + slack).all(), ratio


@pytest.mark.parametrize("design", DESIGNS)
def test_unbiased_and_as_uncertain_as_it_says(design: str) -> None:
    q, y = topics(300, 4, 3)
    measures = [MultiLabelFBeta(), MultiLabelFBeta(average="macro"), MultiLabelAccuracy(), HammingLoss()]
    check(*errors_of(topic_pool(q), y.tolist(), design, measures, 100, 40))


@pytest.mark.parametrize("design", ["stratified", "poisson"])
def test_counts_are_unbiased(design: str) -> None:
    pool, y = counted(300)
    check(*errors_of(pool, y.tolist(), design, [ItemFBeta()], 80, 40))


def test_a_sharp_model_saves_labels() -> None:
    """Poisson sampling by the closed-form spread, against uniform: the standard error, and what it says."""
    q, y = topics(3000, 8, 4, base=-3.0)
    pool = topic_pool(q)
    found = {
        design: told(sd.create_study(pool, "multilabel_f1", design=design, rng=5), y.tolist(), 300).estimate()
        for design in ("uniform", "poisson")
    }
    assert found["poisson"].std_error < 0.85 * found["uniform"].std_error
    assert found["poisson"].n_uniform > 400


def test_labels_serve_other_measures() -> None:
    q, y = topics(400, 4, 6)
    pool = topic_pool(q)
    study = told(sd.create_study(pool, "multilabel_f1", design="poisson", rng=1), y.tolist(), 150)
    each = study.estimate(MultiLabelRecall(average=None, labels=["topic2", "topic0"]))
    assert each.names == ("recall[topic2]", "recall[topic0]")
    truth = metrics.recall_score(y, q >= 0.5, average=None)[[2, 0]]
    assert (np.abs(each.value - truth) < 4 * each.std_error).all()
    assert not each.target_of_design


def test_a_label_that_was_never_seen_is_undefined() -> None:
    q, y = topics(80, 3, 2)
    y[:, 1] = 0
    study = told(sd.create_study(topic_pool(q), "multilabel_f1", design="uniform", rng=1), y.tolist(), 30)
    found = study.estimate(MultiLabelRecall(average=None))
    assert found.defined.tolist() == [True, False, True]
    assert np.isnan(found.value[1])
    assert "recall[topic1] is 0/0" in str(found.why)
    assert not study.estimate(MultiLabelRecall(average="macro")).defined
    assert study.estimate(MultiLabelRecall(average="macro", zero_division="skip")).defined


# ---- answers -----------------------------------------------------------------------------------------


def test_labels_come_back(storage: Callable[[], Journal]) -> None:
    """Written in every form, read back as mappings; the study goes on where it was."""
    q, y = topics(40, 3, 1)
    pool = topic_pool(q)
    study = sd.create_study(pool, "multilabel_f1", design="poisson", storage=storage(), name="texts", rng=3)
    names = pool.labels.components
    forms: list[Callable[[Any], Any]] = [
        lambda label: dict(zip(names, label, strict=True)),
        list,
        lambda label: {name for name, one in zip(names, label, strict=True) if one},
        np.array,
    ]
    items = study.ask(12)
    for k, item in enumerate(items):
        study.tell(item.id, forms[k % 4](y[item.id].tolist()))
    fresh = topic_pool(q)  # has met no label yet
    again = sd.load_study(storage(), "texts", pool=fresh)
    frames = [one.labels() for one in (study, again)]
    assert sorted(frames[0]["id"]) == sorted(item.id for item in items)
    expected = [dict(zip(names, y[id].tolist(), strict=True)) for id in frames[0]["id"]]
    for frame in frames:
        assert list(frame["id"]) == list(frames[0]["id"])
        assert list(frame["label"]) == expected
    assert study.estimate() == again.estimate()
    assert [item.id for item in study.ask(5)] == [item.id for item in again.open_items()]


def test_counts_come_back(tmp_path: Path) -> None:
    pool, y = counted(30)
    url = f"sqlite:///{tmp_path}/documents.db"
    study = told(sd.create_study(pool, "item_f1", storage=url, rng=1), y.tolist(), 10)
    again = sd.load_study(url, pool=counted(30)[0])
    assert list(again.labels()["label"]) == list(study.labels()["label"])
    assert set(study.labels()["label"][0]) == {"tp", "fp", "fn"}
    assert again.estimate().value == study.estimate().value


def test_weights_of_the_labels_are_sample_weights() -> None:
    q, y = topics(200, 4, 5)
    pool = topic_pool(q)
    for design in ("uniform", "poisson"):
        study = told(sd.create_study(pool, "multilabel_f1", design=design, rng=1), y.tolist(), 80)
        frame = study.labels()
        true = np.array([list(label.values()) for label in frame["label"]])
        said = (q >= 0.5)[list(frame["id"])]
        theirs = metrics.f1_score(true, said, average="micro", sample_weight=list(frame["weight"]))
        found = study.estimate()
        assert found.value == pytest.approx(theirs, abs=0.1 * found.std_error)  # equal to first order


def test_bad_answers_change_nothing() -> None:
    q, _ = topics(20, 3, 0)
    study = sd.create_study(topic_pool(q), "multilabel_f1", rng=1)
    first, second = study.ask(2)
    for label in ([1, 0], {"weather"}, {"topic0": 2, "topic1": 0, "topic2": 0}, 1, "topic0"):
        with pytest.raises(InvalidInput, match=f"id {first.id}"):
            study.tell({second.id: [1, 0, 0], first.id: label})
    assert study.n_labels == 0
    study.tell(first.id, ["topic0"])
    with pytest.raises(AlreadyAnswered):
        study.tell(first.id, [0, 0, 0])
    study.tell(first.id, [0, 0, 1], replace=True)
    assert study.labels()["label"][0] == {"topic0": 0, "topic1": 0, "topic2": 1}


@pytest.mark.parametrize("design", ["uniform", "poisson"])
def test_refusals(design: str) -> None:
    """At their worst and best, against every refused label set as it hurts, or helps, most."""
    q, y = topics(200, 3, 2)
    pool = topic_pool(q)
    study = sd.create_study(pool, "hamming_loss", design=design, rng=4)
    items = study.ask(100)
    refused = [item.id for item in items[::10]]
    study.tell({item.id: CANNOT_TELL if item.id in refused else y[item.id].tolist() for item in items})
    found = study.estimate()
    assert found.n_refused == len(refused)
    assert found.bounds is not None
    ends = []
    for wrong in (0, 1):
        other = sd.create_study(pool, "hamming_loss", design=design, rng=4)
        said = np.abs((q >= 0.5).astype(int) - wrong)
        other.tell(
            {item.id: (said if item.id in refused else y)[item.id].tolist() for item in other.ask(100)}
        )
        ends.append(other.estimate().value)
    np.testing.assert_allclose(found.bounds, ends, rtol=1e-9)
    assert ends[0] < found.value < ends[1]
    assert study.estimate(exclude=True).target.startswith("pool (items that can be labelled)")


@pytest.mark.parametrize(
    "measure", [MultiLabelAccuracy(), MultiLabelFBeta(average="samples", zero_division=1.0)]
)
def test_refusals_of_whole_sets(measure: Measure) -> None:
    q, y = topics(100, 3, 2)
    study = sd.create_study(topic_pool(q), measure, design="uniform", rng=4)
    for k, item in enumerate(study.ask(50)):
        study.tell(item.id, None if k % 10 == 0 else y[item.id].tolist())
    found = study.estimate()
    assert found.bounds is not None
    low, high = found.bounds
    answered = found.value * 45 / 50  # with every refused item wrong; right, it is a tenth more
    assert low == pytest.approx(answered, abs=1e-9)
    assert high == pytest.approx(answered + 0.1, abs=1e-9)


@pytest.mark.parametrize("design", ["uniform", "importance", "poisson", "sequential"])
def test_refused_counts_have_no_end(design: str) -> None:
    pool, y = counted(60)
    study = sd.create_study(pool, "item_f1", design=design, rng=1)
    for k, item in enumerate(study.ask(40)):
        study.tell(item.id, None if k % 8 == 0 else y[item.id].tolist())
    assert study.estimate().bounds == (0.0, 1.0)


def test_the_majority_votes_on_each_label() -> None:
    q, _ = topics(20, 3, 0)
    study = sd.create_study(topic_pool(q), "multilabel_f1", design="uniform", rng=1)
    (item,) = study.ask(1)
    study.tell(item.id, ["topic0", "topic1"], annotator="ann")
    study.tell(item.id, ["topic1", "topic2"], annotator="bob")
    assert study.n_open == 1  # two labels are tied
    study.tell(item.id, ["topic0", "topic2"], annotator="cem")
    assert study.n_labels == 1
    assert study.labels()["label"][0] == {
        "topic0": 1,
        "topic1": 1,
        "topic2": 1,
    }  # which nobody said as a whole
    study.tell(item.id, [], annotator="adjudicator")
    assert study.labels()["label"][0] == {"topic0": 0, "topic1": 0, "topic2": 0}


def test_the_majority_of_counts_is_of_whole_labels() -> None:
    pool, _ = counted(10)
    study = sd.create_study(pool, "item_f1", design="uniform", rng=1)
    (item,) = study.ask(1)
    study.tell(item.id, [1, 2, 0], annotator="ann")
    study.tell(item.id, [3, 2, 0], annotator="bob")
    assert study.n_open == 1
    study.tell(item.id, {"tp": 3, "fp": 2, "fn": 0}, annotator="cem")
    assert study.labels()["label"][0] == {"tp": 3.0, "fp": 2.0, "fn": 0.0}


# ---- the other ways in --------------------------------------------------------------------------------


def test_estimate_from_arrays() -> None:
    q, y = topics(120, 4, 8)
    f = (q >= 0.5).astype(int)
    pi = np.random.default_rng(0).uniform(0.2, 1.0, 120)
    found = sd.estimate(y, f, inclusion_probability=pi, measure="multilabel_f1")
    theirs = metrics.f1_score(y, f, average="micro", sample_weight=1 / pi)
    assert found.value == pytest.approx(theirs, abs=1e-9)
    # Var = sum (1 - pi) / pi^2 d^2 / (sum of what is divided by)^2, with the labels' d added up first.
    d = (2 * y * f - theirs * (y + f)).sum(axis=1)
    below = ((y + f).sum(axis=1) / pi).sum()
    assert found.std_error == pytest.approx(np.sqrt(((1 - pi) / pi**2 * d**2).sum()) / below, rel=0.02)


def test_estimate_of_counts_from_arrays() -> None:
    _, y = counted(80)
    found = sd.estimate(y, None, measure="item_f1", pool_size=800)
    assert found.value == pytest.approx(exact("item_f1", y), rel=1e-9)
    assert 0 < found.std_error < 0.1


def test_simulate_takes_every_form_of_label() -> None:
    q, y = topics(60, 3, 8)
    pool = topic_pool(q)
    names = pool.labels.components
    sets = [{name for name, one in zip(names, row, strict=True) if one} for row in y]
    frames = [
        sd.simulate(pool, labels, "multilabel_f1", budgets=[20], repeats=2, workers=1)
        for labels in (y, y.tolist(), sets, [sorted(one) for one in sets], dict(enumerate(sets)))
    ]
    for frame in frames:
        assert list(frame["value"]) == list(frames[0]["value"])
    with pytest.raises(InvalidInput, match="id 1: label 'weather'"):
        sd.simulate(pool, [*sets[:1], {"weather"}, *sets[2:]], "multilabel_f1", repeats=1)


@pytest.mark.parametrize("design", DESIGNS)
def test_pools_that_say_little(design: str) -> None:
    """Predictions without probabilities, and counts of which nothing is expected."""
    q, y = topics(80, 3, 1)
    bare = Pool.from_arrays(prediction=(q >= 0.5).astype(int), multilabel=True)
    found = told(sd.create_study(bare, "multilabel_f1", design=design, rng=1), y.tolist(), 50).estimate()
    assert abs(found.value - metrics.f1_score(y, q >= 0.5, average="micro")) < 4 * found.std_error
    nothing = Pool.from_arrays(id=np.arange(80), labels=COUNTS)
    counts = np.random.default_rng(0).poisson(2.0, (80, 3))
    found = told(sd.create_study(nothing, "item_f1", design=design, rng=1), counts.tolist(), 50).estimate()
    assert abs(found.value - exact("item_f1", counts)) < 4 * found.std_error
