"""Labels from elsewhere: with chances an unbiased sample beside the study's own, without a hint only."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import sondage as sd
from sondage.errors import AlreadyAnswered, InvalidInput, NothingLeft, NotSupported, UnknownItem, WrongRows
from sondage.estimators import estimate_totals

N = 6
PREDICTION = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
TRUTH = np.array([1.5, 1.0, 3.2, 6.0, 5.1, 4.0])
CHANCE = np.array([1.0, 0.5, 0.25, 1.0, 0.3, 0.6])


def averages(study: sd.Study) -> np.ndarray:
    now = study.snapshot()
    return estimate_totals(replace(now.case(), imported=now.imported)).R


@pytest.mark.parametrize("design", ["uniform", "importance", "poisson", "sequential"])
@pytest.mark.parametrize("own", [0, 3])
def test_averages_over_all_samples_that_could_have_been_imported(design: str, own: int) -> None:
    """Exact, by enumeration: the truth from the import, mixed with the study's own by the labels expected."""
    pool = sd.Pool.from_arrays(id=np.arange(N), prediction=PREDICTION, labels="real")
    truth = np.array([1.0, np.abs(PREDICTION - TRUTH).mean()])
    expected = float(CHANCE.sum())
    share = own / (own + expected)
    mean, total = np.zeros(2), 0.0
    for inside in itertools.product([False, True], repeat=N):
        chance = float(np.prod(np.where(inside, CHANCE, 1.0 - CHANCE)))
        if not chance:
            continue
        study = sd.create_study(pool, "mean_absolute_error", design=design, rng=3)
        items = study.ask(own) if own else []
        for item in items:
            study.tell(item.id, float(TRUTH[item.id]))
        alone = averages(study) if own else np.zeros(2)
        rows = np.flatnonzero(inside)
        frame = pd.DataFrame({"id": rows, "label": TRUTH[rows], "chance": CHANCE[rows]})
        study.import_labels(frame, expected=expected)
        found = averages(study)
        loss = np.stack([np.ones(len(rows)), np.abs(PREDICTION - TRUTH)[rows]], axis=1)
        mixed = share * alone + (1.0 - share) * (loss / CHANCE[rows, None]).sum(axis=0) / N
        if {*rows.tolist(), *(item.id for item in items)} == set(range(N)):
            np.testing.assert_allclose(found, truth, atol=1e-12)  # all is known, whoever labelled it
        else:
            np.testing.assert_allclose(found, mixed, atol=1e-12)
        mean, total = mean + chance * mixed, total + chance
    assert total == pytest.approx(1.0)
    np.testing.assert_allclose(mean, share * alone + (1.0 - share) * truth, atol=1e-12)


@pytest.fixture(scope="module")
def case() -> tuple[sd.Pool, np.ndarray, np.ndarray, float]:
    """A pool, its labels, chances by the score, and F1."""
    rng = np.random.default_rng(5)
    score = rng.normal(size=1500)
    y = (rng.random(1500) < 1 / (1 + np.exp(2 - 3 * score))).astype(int)
    pool = sd.Pool.from_arrays(id=np.arange(1500), score=score, threshold=0.5)
    wrong = (score >= 0.5) != y
    right = (score >= 0.5) & (y == 1)
    chance = 0.03 + 0.1 * np.exp(-((score - 0.5) ** 2))
    return pool, y, chance, 2 * right.sum() / (2 * right.sum() + wrong.sum())


@pytest.mark.parametrize("design", ["uniform", "importance", "auto"])
def test_imports_narrow_the_interval_and_leave_it_honest(case, design: str) -> None:
    pool, y, chance, f1 = case
    rng, values, covers, widths, alone = np.random.default_rng(1), [], [], [], []
    for seed in range(24):
        study = sd.create_study(pool, "f1", design=design, budget=80, rng=seed)
        alone.append(float(np.ptp(study.run(dict(enumerate(y.tolist()))).ci)))
        study = sd.create_study(pool, "f1", design=design, budget=80, rng=seed)
        rows = np.flatnonzero(rng.random(len(y)) < chance)
        frame = pd.DataFrame({"id": rows, "label": y[rows], "chance": chance[rows]})
        study.import_labels(frame, expected=float(chance.sum()))
        found = study.run(dict(enumerate(y.tolist())))
        values.append(found.value)
        covers.append(found.ci.low <= f1 <= found.ci.high)
        widths.append(float(np.ptp(found.ci)))
    error = np.mean(values) - f1
    assert abs(error) < 3.5 * np.std(values) / np.sqrt(24)
    assert np.mean(covers) >= 0.85
    assert np.mean(widths) < 0.8 * np.mean(alone)


@pytest.mark.parametrize("design", ["uniform", "importance", "auto", "ais"])
def test_labels_without_chances_never_enter_an_estimate(case, design: str) -> None:
    """All that is imported are wrong predictions, and no estimate is worse for it."""
    pool, y, _, f1 = case
    wrong = np.flatnonzero((np.asarray(pool.system().prediction) == 1) != y)[:60]
    values = []
    for seed in range(12):
        study = sd.create_study(pool, "f1", design=design, budget=120, rng=seed)
        said = str(study.import_labels(pd.DataFrame({"id": wrong, "label": y[wrong]})))
        assert "no estimate counts them" in said
        assert not study.estimate().defined
        values.append(study.run(dict(enumerate(y.tolist()))).value)
    assert abs(np.mean(values) - f1) < 4 * np.std(values) / np.sqrt(12)


def test_without_chances_own_draws_alone_decide_the_estimate_of_auto(case) -> None:
    """The estimate is that of the same labels without the import, whatever the belief was told."""
    pool, y, _, _ = case
    wrong = np.flatnonzero((np.asarray(pool.system().prediction) == 1) != y)[:60]
    told, plain = (sd.create_study(pool, "f1", rng=1) for _ in range(2))
    for item in told.ask(40):
        told.tell(item.id, int(y[item.id]))
    for item in plain.ask(40):
        plain.tell(item.id, int(y[item.id]))
    told.import_labels(pd.DataFrame({"id": wrong, "label": y[wrong]}))
    assert told.estimate().value == pytest.approx(plain.estimate().value, abs=1e-6)
    assert np.allclose(told.estimate().ci, plain.estimate().ci, atol=1e-6)
    assert [i.id for i in told.ask(20)] != [i.id for i in plain.ask(20)]  # but it goes elsewhere now


@pytest.mark.parametrize("design", ["uniform", "importance", "poisson", "sequential", "auto", "ais"])
@pytest.mark.parametrize("chances", [True, False])
def test_known_items_are_free_never_asked_and_the_same_after_a_reload(
    case, tmp_path: Path, design: str, chances: bool
) -> None:
    pool, y, chance, _ = case
    storage = f"sqlite:///{tmp_path / 's.db'}"
    study = sd.create_study(pool, "f1", design=design, budget=60, storage=storage, rng=1)
    for item in study.ask(5):
        study.tell(item.id, int(y[item.id]))
    rows = np.random.default_rng(2).permutation(len(y))[:700]
    frame = pd.DataFrame({"id": rows, "label": y[rows], "chance": chance[rows]})
    study.import_labels(frame if chances else frame[["id", "label"]])
    asked = []
    while True:
        again = sd.load_study(storage, pool=pool)
        assert again.estimate().to_dict() == study.estimate().to_dict()
        try:
            items = again.ask(20)
        except NothingLeft:
            break
        for item in items:
            asked.append(item.id)
            again.tell(item.id, int(y[item.id]))
    assert not set(asked) & set(rows.tolist())
    assert study.snapshot().free > 5
    if design != "poisson":  # its budget is an expectation
        assert study.remaining == 0
        assert len(asked) == 55
    assert study.n_open == 0
    labels = study.labels()
    assert all(labels["label"] == y[labels["id"]])
    copied = f"sqlite:///{tmp_path / 'copy.db'}"
    sd.copy_study(storage, copied)
    assert sd.load_study(copied, pool=pool).estimate().to_dict() == study.estimate().to_dict()
    (one,) = sd.studies(copied)
    assert one.n_answered == study.n_labels


def test_an_import_alone_has_an_estimate(case) -> None:
    pool, y, chance, f1 = case
    rows = np.flatnonzero(np.random.default_rng(3).random(len(y)) < chance)
    study = sd.create_study(pool, "f1", rng=1)
    study.import_labels(pd.DataFrame({"id": rows, "label": y[rows], "p": chance[rows]}), chance="p")
    found = study.estimate()
    assert found.ci.low < f1 < found.ci.high
    assert any(f"{len(rows)} imported labels" in one for one in found.assumptions)
    with_all = sd.create_study(pool, "f1", rng=1)
    everything = pd.DataFrame({"id": np.arange(len(y)), "label": y, "chance": 1.0})
    with_all.import_labels(everything)
    assert with_all.estimate().value == pytest.approx(f1)
    assert np.ptp(with_all.estimate().ci) == 0


def test_corrections_and_redactions_reach_imported_labels(case, tmp_path: Path) -> None:
    pool, y, _, _ = case
    study = sd.create_study(
        pool, "accuracy", design="uniform", storage=f"sqlite:///{tmp_path / 's.db'}", rng=1
    )
    study.import_labels(pd.DataFrame({"id": np.arange(40), "label": y[:40], "chance": 40 / len(y)}))
    before = study.estimate().value
    study.tell(0, 1 - int(y[0]), replace=True)
    assert study.estimate().value != before
    with pytest.raises(AlreadyAnswered):
        study.tell(0, 1)
    study.redact(0)
    assert study.snapshot().imported[0].answered.sum() == 39
    again = sd.load_study(f"sqlite:///{tmp_path / 's.db'}", pool=pool)
    assert again.estimate().to_dict() == study.estimate().to_dict()


def test_wrong_rows_are_all_listed_and_nothing_is_imported(case, tmp_path: Path) -> None:
    pool, y, _, _ = case
    study = sd.create_study(pool, "f1", rng=1)
    item = study.ask(1)[0]
    study.tell(item.id, int(y[item.id]))
    (tmp_path / "pilot.csv").write_text(
        "id,label,chance\n"
        f"{item.id},{1 - y[item.id]},0.5\n3,1,0\n4,maybe,0.5\n5,1,0.5\n5,0,0.5\n99999,1,0.5\n6,1,\n7,0,50%\n"
    )
    with pytest.raises(WrongRows) as error:
        study.import_labels(tmp_path / "pilot.csv")
    assert [line.partition(":")[0] for line in error.value.rows] == [f"row {k}" for k in range(2, 10)]
    for words in ("has the label", "no chance", "'maybe'", "in 2 rows", "not in the pool"):
        assert words in str(error.value)
    assert study.snapshot().n_imported == 0
    good = pd.DataFrame({"id": [8, 9, 99999], "label": [0, 1, 1]})
    assert study.import_labels(good, partial=True, dry_run=True).imported == 2
    assert study.snapshot().n_imported == 0
    assert len(study.import_labels(good, partial=True).wrong) == 1
    assert study.snapshot().n_imported == 2
    with pytest.raises(InvalidInput, match="no column 'p' of chances"):
        study.import_labels(good, chance="p")
    with pytest.raises(InvalidInput, match="without some of its items"):
        study.import_labels(good.assign(chance=0.5), partial=True)
    with pytest.raises(InvalidInput, match="expected="):
        study.import_labels(good, expected=10)
    with pytest.raises(UnknownItem, match="never asked"):
        study.tell(50, 1)


def test_where_answers_vary_nothing_is_imported(case) -> None:
    study = sd.create_study(case[0], "f1", design="importance", oracle="stochastic", rng=1)
    with pytest.raises(NotSupported, match="answers vary"):
        study.import_labels(pd.DataFrame({"id": [1], "label": [1]}))


@pytest.mark.parametrize("chances", [True, False])
@pytest.mark.parametrize("objective", [None, sd.IdentifyGroups("region")])
def test_groups_rest_on_the_labels_of_the_study_alone(chances: bool, objective: object) -> None:
    """Errors of one group, brought in from elsewhere, do not make it the worst."""
    rng = np.random.default_rng(5)
    score = rng.normal(size=600)
    y = (rng.random(600) < 1 / (1 + np.exp(2 - 3 * score))).astype(int)
    region = np.tile(["a", "b"], 300)
    pool = sd.Pool.from_arrays(id=np.arange(600), score=score, threshold=0.5, groups={"region": region})
    study = sd.create_study(pool, None if objective else "accuracy", objective=objective, budget=40, rng=1)
    study.run(dict(enumerate(y.tolist())))
    before = study.groups("region", measure="accuracy")
    wrong = np.flatnonzero(((score >= 0.5) != y) & (region == "a"))
    new = np.setdiff1d(wrong, np.asarray(study.labels()["id"]))
    assert len(new) > 20
    frame = pd.DataFrame({"id": new, "label": y[new]} | ({"chance": 0.5} if chances else {}))
    study.import_labels(frame)
    after = study.groups("region", measure="accuracy")
    np.testing.assert_array_equal(after.n_labels, before.n_labels)
    for one, other in zip(after.to_dict()["by_group"], before.to_dict()["by_group"], strict=True):
        assert one["group"] == other["group"]
        assert one["value"] == pytest.approx(other["value"], abs=0.02)
    assert after.to_dict()["worst"] == before.to_dict()["worst"]


@pytest.mark.parametrize("chances", [True, False])
@pytest.mark.parametrize("dry_run", [True, False])
def test_the_same_labels_imported_again_change_nothing(case, chances: bool, dry_run: bool) -> None:
    """In any order; they are one sample, and counted as two they made the interval too narrow."""
    pool, y, chance, _ = case
    study = sd.create_study(pool, "accuracy", design="uniform", budget=80, rng=1)
    study.run(dict(enumerate(y.tolist())), budget=40)
    rows = np.flatnonzero(np.random.default_rng(2).random(len(y)) < chance)
    frame = pd.DataFrame({"id": rows, "label": y[rows]} | ({"chance": chance[rows]} if chances else {}))
    assert study.import_labels(frame).imported == len(rows)
    before, events = study.estimate().to_dict(), study.snapshot().seq
    again = study.import_labels(frame.sample(frac=1.0, random_state=1), dry_run=dry_run)
    assert (again.imported, again.unchanged) == (0, len(rows))
    assert str(again) == f"{len(rows)} labels imported already: nothing was changed"
    assert (study.estimate().to_dict(), study.snapshot().seq) == (before, events)
    assert study.import_labels(frame[:-1]).imported == len(rows) - 1  # another sample, which may overlap


def test_imported_labels_that_count_are_among_those_used(case) -> None:
    pool, y, chance, _ = case
    study = sd.create_study(pool, "accuracy", design="uniform", budget=80, rng=1)
    study.run(dict(enumerate(y.tolist())), budget=40)
    rows = np.flatnonzero(np.random.default_rng(2).random(len(y)) < chance)
    study.import_labels(pd.DataFrame({"id": rows[:9], "label": y[rows[:9]]}))
    assert "imported" not in str(study.estimate())
    frame = pd.DataFrame({"id": rows, "label": y[rows], "chance": chance[rows]})
    study.import_labels(frame)
    assert f"40 labels used, and {len(rows)} imported with their chances" in str(study.estimate())
    looking = study.estimate(interval="sequence")
    assert "imported labels are left out" in looking.assumptions
    assert "with their chances" not in str(looking)


@pytest.mark.parametrize("source", ["pilot.csv", {"id": [1], "label": [2.0]}, [1]])
def test_what_is_no_table_is_refused_by_its_type(source: object) -> None:
    pool = sd.Pool.from_arrays(id=np.arange(N), prediction=PREDICTION, labels="real")
    study = sd.create_study(pool, "mean_absolute_error", rng=1)
    with pytest.raises(
        InvalidInput, match=f"data frame, or a pathlib.Path of a file, not {type(source).__name__}"
    ):
        study.import_labels(source)


def test_what_is_said_of_a_study_counts_its_imports() -> None:
    pool, labels = sd.datasets.synthetic_pool(n=600, prevalence=0.3, rng=1)
    study = sd.create_study(pool, "accuracy", design="uniform", rng=1)
    rows = np.arange(90)
    told = [sd.CANNOT_TELL if row % 3 == 0 else labels[row] for row in rows.tolist()]
    study.import_labels(pd.DataFrame({"id": rows, "label": told, "chance": 0.15}))
    found = study.estimate()
    assert "about 180 more labels should halve" in str(found)
    assert "30 of 90 imported items could not be labelled" in found.warnings
    assert any("could not be labelled are like others" in one for one in found.assumptions)
    study.run(labels, budget=30)
    assert any("60 imported labels" in note and "fewer" in note for note in study.plan(width=0.1).notes)


def test_where_nothing_counts_the_reason_is_that_of_the_own_sample() -> None:
    pool = sd.Pool.from_arrays(prediction=[0, 1] * 50, groups={"g": ["a"] * 98 + ["b"] * 2})
    study = sd.create_study(pool, "accuracy", design="importance", rng=1)
    study.import_labels(pd.DataFrame({"id": [98, 99], "label": ["cannot tell"] * 2, "chance": [0.5, 0.5]}))
    study.tell({item.id: 1 for item in study.ask(1)})
    found = study.estimate("accuracy")
    assert not found.defined
    assert found.why == "fewer than two draws have a label"
