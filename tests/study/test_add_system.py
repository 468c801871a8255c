"""A new model on the same pool and labels: estimated where the sample can carry it, never drawn for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics
from sklearn.linear_model import LogisticRegression
from tests.study.example import DESIGNS, advance, columns, make_labels, make_pool, shown

import sondage as sd
from sondage.designs import Importance
from sondage.errors import InvalidInput, NotSupported, PoolMismatch
from sondage.journal import Journal
from sondage.measures import Difference, FBeta, Precision, for_system
from sondage.pool import Pool

SIZE = 90
DATA = columns(SIZE)
NEWER = (DATA["score"] + np.resize([0.3, -0.1, 0.0, -0.25, 0.2], SIZE)).clip(0, 1)
FRAME = pd.DataFrame({"id": DATA["id"], "score": NEWER, "match": (NEWER >= 0.5).astype(int)})
SHUFFLED = FRAME.sample(frac=1.0, random_state=0)
LABELS = make_labels(SIZE)
TRUTH = DATA["label"]


def study_of(design: Any = "uniform", measure: Any = "f1", **options: Any) -> sd.Study:
    return sd.create_study(make_pool(), measure, design=design, rng=7, **options)


# ---- what it says ------------------------------------------------------------------------------------


def test_with_all_labels_the_value_is_exact() -> None:
    study = study_of()
    study.run(LABELS, budget=SIZE)
    study.add_system("newer", SHUFFLED, score="score", threshold=0.5)
    old, new = (DATA["score"] >= 0.5).astype(int), (NEWER >= 0.5).astype(int)
    for name, function in (("f1", metrics.f1_score), ("accuracy", metrics.accuracy_score)):
        found = study.estimate(name, system="newer")
        assert found.value == pytest.approx(function(TRUTH, new), abs=1e-12)
        assert found.target_of_design is False
        change = study.estimate(Difference(name, "newer", "model"))
        assert change.value == pytest.approx(function(TRUTH, new) - function(TRUTH, old), abs=1e-12)
        assert change.ci.low == pytest.approx(change.ci.high)
    assert study.estimate().target_of_design is True


@pytest.mark.parametrize("design", DESIGNS)
def test_estimates_are_those_of_a_pool_that_had_the_system_all_along(design: str) -> None:
    both = Pool.from_arrays(
        id=DATA["id"],
        groups={"third": DATA["group"]},
        systems={
            "model": {"score": DATA["score"], "threshold": 0.5},
            "newer": {"score": NEWER, "threshold": 0.5},
        },
    )
    try:
        added = study_of(design)
    except NotSupported as refusal:
        pytest.skip(str(refusal))
    together = sd.create_study(both, FBeta(system="model"), design=design, rng=7)
    assert advance(added, LABELS, 5) == advance(together, LABELS, 5)
    added.add_system("newer", SHUFFLED, score="score", threshold=0.5)
    for question in (
        {"measure": "f1", "system": "newer"},
        {"measure": ["precision", "recall"], "system": "newer", "by": "third"},
        {"measure": Difference("accuracy", "newer", "model")},
    ):
        assert shown(added.estimate(**question)) == shown(together.estimate(**question))


def test_support_is_checked_for_the_new_system() -> None:
    """Labels drawn for the old system's precision never reach what it calls negative."""
    study = study_of("importance", "precision")
    advance(study, LABELS, 5)
    study.add_system("newer", FRAME, score="score", threshold=0.5)
    old, new = DATA["score"] >= 0.5, NEWER >= 0.5
    precision = study.estimate("precision", system="newer")
    dark = int((new & ~old).sum())
    assert dark > 0
    assert not precision.defined
    assert np.isnan(precision.value)
    assert precision.target_of_design is False
    assert precision.why is not None
    assert f"{dark:,} of {SIZE:,} items matter to this measure but had no chance" in precision.why
    f1 = study.estimate("f1", system="newer")
    assert not f1.defined
    assert f1.why is not None
    assert f"{int((~old).sum())} of {SIZE} items matter to this measure but had no chance" in f1.why
    assert not study.estimate(Difference("precision", "newer", "model")).defined
    assert study.estimate().defined


def test_a_system_that_claims_less_is_supported() -> None:
    """Where the new system's positives are among the old ones, its precision can be told."""
    study = study_of("importance", "precision")
    advance(study, LABELS, 5)
    study.add_system("strict", FRAME.assign(score=DATA["score"]), score="score", threshold=0.7)
    assert study.estimate("precision", system="strict").defined
    mixed = study_of(Importance(mix=0.3), "precision")
    advance(mixed, LABELS, 5)
    mixed.add_system("newer", FRAME, score="score", threshold=0.5)
    assert mixed.estimate("f1", system="newer").defined


@pytest.mark.parametrize("design", ["uniform", "stratified"])
def test_intervals_of_the_new_system_cover(design: str) -> None:
    """150 studies drawn for the old system: the new one's F1 is inside its 95 % interval about as often."""
    rng = np.random.default_rng(3)
    truth = (rng.uniform(size=1500) < 0.3).astype(int)
    old, new = (np.where(truth == 1, 1.0, -1.0) + rng.normal(0, 1.2, 1500) for _ in range(2))
    pool = Pool.from_arrays(score=old, threshold=0.0)
    answers = dict(enumerate(truth.tolist()))
    exact = metrics.f1_score(truth, new >= 0)
    inside = 0
    for seed in range(150):
        study = sd.create_study(pool, "f1", design=design, budget=150, rng=seed)
        study.run(answers, batch=150)
        study.add_system("new", {"score": new, "threshold": 0.0})
        found = study.estimate("f1", system="new")
        inside += found.ci.low <= exact <= found.ci.high
    assert inside / 150 >= 0.9


# ---- nothing else changes ----------------------------------------------------------------------------


@pytest.mark.parametrize("design", DESIGNS)
def test_later_draws_are_the_same(design: str, storage: Callable[[], Journal]) -> None:
    try:
        plain = study_of(design)
    except NotSupported as refusal:
        pytest.skip(str(refusal))
    study = study_of(design, storage=storage())
    assert advance(study, LABELS, 2) == advance(plain, LABELS, 2)
    units = study.units
    study.add_system("newer", SHUFFLED, score="score", threshold=0.5)
    study.estimate("f1", system="newer")
    assert study.units is units
    assert advance(study, LABELS, 4) == advance(plain, LABELS, 4)
    assert shown(study.estimate()) == shown(plain.estimate())

    def written(one: sd.Study) -> list[Any]:
        events = one.journal.events(one.name)
        return [(seq, {**vars(record), "at": None}) for seq, record in events]

    assert written(study) == written(plain)
    assert study.journal.config(study.name)["pool"] == plain.journal.config(plain.name)["pool"]


def test_draws_of_a_study_of_numbers_are_the_same() -> None:
    """Losses of numbers are tried at every system's prediction: those of an added one must not count."""
    rng = np.random.default_rng(5)
    guess = rng.normal(size=200)
    truth = dict(enumerate((guess + rng.normal(size=200)).tolist()))
    pool = Pool.from_arrays(prediction=guess, std=np.full(200, 1.0), labels="real")
    for design in ("uniform", "importance", "poisson"):
        studies = [sd.create_study(pool, "mean_squared_error", design=design, rng=2) for _ in range(2)]
        for study in studies:
            advance(study, truth, 2)
        studies[0].add_system("zero", {"prediction": np.zeros(200)})
        assert advance(studies[0], truth, 3) == advance(studies[1], truth, 3)
        found = studies[0].estimate("mean_squared_error", system="zero")
        assert found.value == pytest.approx(np.mean(np.square(list(truth.values()))), rel=0.5)


# ---- loading -----------------------------------------------------------------------------------------


def test_it_is_added_again_after_loading(storage: Callable[[], Journal]) -> None:
    study = study_of(storage=storage())
    advance(study, LABELS, 3)
    study.add_system("newer", FRAME, score="score", threshold=0.5)
    before = shown(study.estimate("f1", system="newer"))
    again = sd.load_study(storage(), study.name, make_pool())
    with pytest.raises(InvalidInput, match="'newer' is not in the pool"):
        again.estimate("f1", system="newer")
    again.add_system("newer", FRAME, score="score", threshold=0.5)
    assert shown(again.estimate("f1", system="newer")) == before


def test_loading_with_the_larger_pool(storage: Callable[[], Journal]) -> None:
    study = study_of("importance", storage=storage())
    advance(study, LABELS, 3)
    for name, cut in (("newer", 0.5), ("newest", 0.4)):
        study.add_system(name, FRAME, score="score", threshold=cut)
    before = shown(study.estimate("precision", system="newest"))
    again = sd.load_study(storage(), study.name, study.pool)
    assert list(again.pool.systems) == ["model", "newer", "newest"]
    assert shown(again.estimate("precision", system="newest")) == before
    plain = sd.load_study(storage(), study.name, make_pool())
    assert [item.id for item in again.ask(6)] == [item.id for item in plain.open_items()]


def test_loading_from_a_file(tmp_path: Path) -> None:
    pl.DataFrame(DATA).write_parquet(tmp_path / "pool.parquet")
    FRAME.to_parquet(tmp_path / "newer.parquet")
    pool = Pool.from_parquet(tmp_path / "pool.parquet", id="id", score="score", threshold=0.5)
    url = f"sqlite:///{tmp_path / 'study.db'}"
    study = sd.create_study(pool, "f1", design="uniform", storage=url, rng=1)
    advance(study, LABELS, 2)
    study.add_system("newer", tmp_path / "newer.parquet")
    again = sd.load_study(url)
    assert list(again.pool.systems) == ["model"]
    again.add_system("newer", str(tmp_path / "newer.parquet"))
    assert shown(again.estimate(system="newer")) == shown(study.estimate(system="newer"))


def test_a_pool_that_is_no_extension_is_refused_with_the_way_out(storage: Callable[[], Journal]) -> None:
    study = study_of(storage=storage())
    other = Pool.from_arrays(
        id=DATA["id"], systems={"model": {"score": DATA["score"]}, "newer": {"score": NEWER}}
    )
    with pytest.raises(PoolMismatch, match=r"further systems .* with study\.add_system"):
        sd.load_study(storage(), study.name, other)


# ---- where it comes from -----------------------------------------------------------------------------

SOURCES: dict[str, tuple[Any, dict[str, Any]]] = {
    "pandas": (SHUFFLED, {"score": "score", "threshold": 0.5}),
    "polars": (pl.from_pandas(SHUFFLED), {"score": "score", "threshold": 0.5}),
    "lazy": (pl.from_pandas(SHUFFLED).lazy(), {"score": "score", "threshold": 0.5}),
    "pyarrow": (pa.Table.from_pandas(SHUFFLED), {"score": "score", "threshold": 0.5}),
    "as the first system": (SHUFFLED, {}),
    "another id": (SHUFFLED.rename(columns={"id": "key"}), {"id": "key", "score": "score", "threshold": 0.5}),
    "arrays": ({"id": FRAME["id"], "score": FRAME["score"], "threshold": 0.5}, {}),
    "named arrays": ({"id": FRAME["id"], "s": FRAME["score"]}, {"score": "s", "threshold": 0.5}),
    "pool": (Pool.from_arrays(id=SHUFFLED["id"], score=SHUFFLED["score"], threshold=0.5), {}),
}


@pytest.mark.parametrize("source", SOURCES)
def test_sources(source: str) -> None:
    table, parts = SOURCES[source]
    pool = make_pool()
    larger = pool.with_system("newer", table, **parts)
    np.testing.assert_array_equal(np.asarray(larger.system("newer").score), NEWER)
    np.testing.assert_array_equal(np.asarray(larger.system("newer").prediction), NEWER >= 0.5)
    assert larger.fingerprint == pool.with_system("newer", FRAME).fingerprint != pool.fingerprint
    assert list(pool.systems) == ["model"]
    assert larger.base is pool
    assert larger.ids is pool.ids
    assert larger.system("model") is pool.system("model")
    assert larger.labels is pool.labels
    assert larger.payload_of(3) == pool.payload_of(3)


@given(order=st.permutations(range(12)))
@settings(max_examples=30, deadline=None)
def test_row_order_of_the_source_changes_nothing(order: list[int]) -> None:
    pool = Pool.from_arrays(id=np.arange(12)[::-1] * 5, score=np.linspace(0, 1, 12), threshold=0.5)
    ids, score = np.arange(12) * 5, np.linspace(1, 0, 12) ** 2
    larger = pool.with_system("b", {"id": ids[order], "score": score[order]})
    np.testing.assert_array_equal(np.asarray(larger.system("b").score), score)


def test_a_pool_without_ids_takes_rows_in_order() -> None:
    pool = Pool.from_arrays(score=[0.1, 0.9, 0.4], threshold=0.5)
    larger = pool.with_system("b", {"score": [0.8, 0.2, 0.7]})
    assert np.asarray(larger.system("b").prediction).tolist() == [1, 0, 1]
    numbered = pool.with_system("b", {"row": [2, 0, 1], "score": [0.7, 0.8, 0.2]}, id="row")
    assert numbered.fingerprint == larger.fingerprint
    with pytest.raises(InvalidInput, match="2 rows for the 3 items"):
        pool.with_system("b", {"score": [0.8, 0.2]})


def test_several_classes_predictions_and_tables() -> None:
    shares = np.random.default_rng(0).dirichlet([1, 1, 1], 20)
    pool = Pool.from_arrays(probability=shares, labels=["cat", "dog", "owl"])
    larger = pool.with_system("table", {"probability": shares[:, [1, 2, 0]]})
    assert np.asarray(larger.system("table").prediction).tolist() == shares[:, [1, 2, 0]].argmax(1).tolist()
    words = np.array(["cat", "owl"])[shares[:, 0].round().astype(int)]
    larger = larger.with_system("words", {"prediction": words})
    assert set(np.asarray(larger.system("words").prediction).tolist()) <= {0, 2}
    assert larger.base is not None
    assert larger.base.base is pool


def test_several_labels_at_once() -> None:
    chance = np.random.default_rng(1).uniform(size=(15, 2))
    pool = Pool.from_arrays(probability=chance, labels=["sport", "money"], multilabel=True)
    larger = pool.with_system("b", {"probability": 1 - chance})
    np.testing.assert_array_equal(np.asarray(larger.system("b").prediction), 1 - chance >= 0.5)
    with pytest.raises(InvalidInput, match=r"system 'b': .*3 columns"):
        pool.with_system("b", {"probability": np.ones((15, 3))})


def test_calibrated() -> None:
    study = study_of()
    advance(study, LABELS, 2)
    rng = np.random.default_rng(2)
    known = rng.normal(size=80)
    told = (rng.uniform(size=80) < 1 / (1 + np.exp(-2 * known))).astype(int)
    study.add_system(
        "newer", FRAME, score="score", threshold=0.5, calibrate="sigmoid", calibration=(known, told)
    )
    chance = np.asarray(study.pool.system("newer").probability)
    assert (np.diff(chance[np.argsort(NEWER)]) >= 0).all()
    assert study.estimate("brier_score_loss", system="newer").defined
    other = study.pool.base
    assert other is not None
    assert other.with_system("newer", FRAME).fingerprint != study.pool.fingerprint


def test_a_new_model_by_way_of_its_own_pool() -> None:
    rng = np.random.default_rng(4)
    X = pd.DataFrame(rng.normal(size=(300, 3)), columns=["a", "b", "c"])
    y = (X["a"] + X["b"] + rng.normal(0, 0.5, 300) > 0).astype(int)
    old, new = (LogisticRegression().fit(X[names][:100], y[:100]) for names in (["a"], ["a", "b", "c"]))
    frame = X[100:].assign(key=np.arange(200)[::-1])
    study = sd.create_study(Pool.from_estimator(old, frame, id="key"), "f1", budget=80, rng=1)
    study.run(dict(zip(frame["key"].tolist(), y[100:].tolist(), strict=True)))
    study.add_system("new", Pool.from_estimator(new, frame, id="key"))
    change = study.estimate(Difference("f1", "new", "model"))
    exact = metrics.f1_score(y[100:], new.predict(X[100:])) - metrics.f1_score(
        y[100:], old.predict(X[["a"]][100:])
    )
    assert change.ci.low <= exact <= change.ci.high


# ---- refusals ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "source", "parts", "message"),
    [
        ("model", FRAME, {}, "'model' is in the pool already"),
        ("", FRAME, {}, "name must be text"),
        (3, FRAME, {}, "name must be text"),
        ("b", FRAME[3:], {}, r"column 'id' lacks 3 of the pool's ids, \[3, 10, 17\]"),
        ("b", FRAME.assign(id=FRAME["id"] + 7), {}, r"lacks 1 of the pool's ids, \[3\]"),
        ("b", pd.concat([FRAME, FRAME[:1].assign(id=9999)]), {}, r"1 ids that are not in the pool, \[9999\]"),
        ("b", pd.concat([FRAME, FRAME[:2]]), {}, "id 3 in rows 0 and 90"),
        ("b", FRAME.assign(id=FRAME["id"].astype(str)), {}, "pool's ids are numbers, these are text"),
        ("b", FRAME.drop(columns="id"), {}, "column 'id' is not there"),
        ("b", FRAME[["id"]], {}, "name its columns among"),
        ("b", FRAME, {"score": "margin"}, "column 'margin' is not there"),
        ("b", FRAME, {"scor": "score"}, r"unknown parts \['scor'\]"),
        ("b", FRAME, {"prediction": "id"}, r"is not one of the classes \[0, 1\]"),
        ("b", FRAME, {"prediction": "match", "threshold": 0.5}, "pass one of them"),
        ("b", FRAME.assign(score=np.nan), {"score": "score"}, "column 'score' has no value in row 0 "),
        (
            "b",
            FRAME,
            {"probability": ["score", "score", "score"]},
            r"the labels are \[0, 1\]|do not sum to 1",
        ),
        ("b", 7, {}, "cannot read a int as a table"),
        ("b", make_pool(), {"score": "score"}, "leave out score="),
        (
            "b",
            Pool.from_arrays(systems={"x": {"score": [0.1]}, "y": {"score": [0.2]}}),
            {},
            "has 2 systems: make one with one",
        ),
        (
            "b",
            Pool.from_arrays(id=DATA["id"], prediction=np.array(["a", "b"])[TRUTH]),
            {},
            r"labels are \['a', 'b'\] where the pool's are \[0, 1\]",
        ),
        ("b", make_pool(60), {}, "the pool given lacks 30 of the pool's ids"),
    ],
)
def test_refusals_change_nothing(name: Any, source: Any, parts: dict[str, Any], message: str) -> None:
    study = study_of()
    pool = study.pool
    with pytest.raises(InvalidInput, match=message):
        study.add_system(name, source, **parts)
    assert study.pool is pool


def test_more_classes_than_the_pool_has() -> None:
    pool = Pool.from_arrays(prediction=["cat", "dog", "cat"])
    with pytest.raises(InvalidInput, match=r"'owl'.* is not one of the classes \['cat', 'dog'\]"):
        pool.with_system("b", {"prediction": ["cat", "owl", "dog"]})
    with pytest.raises(InvalidInput, match="system 'b': probability= has columns"):
        pool.with_system("b", {"probability": np.full((3, 3), 1 / 3)})


def test_a_measure_that_the_new_system_cannot_serve() -> None:
    study = study_of()
    advance(study, LABELS, 2)
    study.add_system("b", FRAME, prediction="match")
    with pytest.raises(InvalidInput, match="no probability for system 'b'"):
        study.estimate("brier_score_loss", system="b")
    assert study.estimate(for_system(Precision(), "b")).defined
