"""Items that a belief holds certain are doubted as far as its scores and the labels leave room for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import sondage as sd
from sondage.beliefs import ScoreBelief
from sondage.estimators import estimate_totals, few_labels, held_certain, post_strata
from sondage.estimators.base import Case
from sondage.estimators.held_certain import if_wrong
from sondage.estimators.linear import linearise
from sondage.measures import Accuracy
from sondage.pool.units import ItemUnits
from sondage.study import Study
from sondage.study.estimates import blocks


def margins(n: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """Chances that are right, and labels drawn by them."""
    rng = np.random.default_rng(4)
    chance = 1 / (1 + np.exp(-rng.normal(-0.8, 2.2, n)))
    return chance, rng.random(n) < chance


def saturated(chance: np.ndarray) -> np.ndarray:
    """The same chances, but for the middle ones said to be certain."""
    return np.where(np.abs(chance - 0.5) < 0.12, chance, chance >= 0.5)


@pytest.mark.parametrize("design", ["oasis", "sequential", "poisson-online", "ais", "importance"])
def test_scores_that_are_certain_and_often_wrong(design: str) -> None:
    """Errors seen where the scores are in doubt say nothing of the items that they are certain about."""
    chance, truth = margins()
    pool = sd.Pool.from_arrays(probability=saturated(chance))
    answers = dict(enumerate(truth.astype(int).tolist()))
    exact = 2 * (truth & (chance >= 0.5)).sum() / (truth.sum() + (chance >= 0.5).sum())
    held = 0
    for seed in range(20):
        study = sd.create_study(pool, "f1", design=design, budget=50, rng=seed)
        study.run(answers)
        low, high = study.estimate().ci
        held += low <= exact <= high
    assert held >= 17


def doubt(probability: np.ndarray, asked: int, wrong: int = 0) -> np.ndarray:
    """Least variances of the accuracy, with labels of the first items, of which the last ones are wrong."""
    pool = sd.Pool.from_arrays(probability=probability, prediction=np.zeros(len(probability), dtype=int))
    measure = Accuracy().bind(pool)
    study = sd.create_study(pool, "accuracy", design="uniform", budget=len(probability), rng=1)
    study.run(dict.fromkeys(range(len(probability)), 0))
    sample = study.sample.where(study.sample.row < asked)
    sample = replace(sample, y=np.where(sample.row < asked - wrong, 0.0, 1.0))
    belief = ScoreBelief().bind(pool, measure.systems(pool))
    case = Case(pool, ItemUnits(pool, 0), measure, sample, belief)
    return if_wrong(case, sample, measure.jac(np.ones(measure.d)))[:, 0]


def test_doubt_ends_where_scores_and_labels_say() -> None:
    half = np.repeat([0.4, 0.0], 50)
    below, above = doubt(half, 50)
    assert below == pytest.approx(0.4**2 / 3 * 0.5**2)  # of half the pool up to .4 may be wrong
    assert above == 0  # and no more than all right
    assert doubt(half, 70)[0] == pytest.approx(2 / (22 * 23) * 0.3**2)
    assert doubt(half, 100)[0] == 0
    assert doubt(np.repeat([0.4, 0.001], 50), 50)[0] < 1e-3  # no item is held certain
    assert doubt(np.repeat([0.01, 0.0], 50), 50)[0] < 1e-3  # rounded scores
    some = np.r_[0.001, half[1:]]
    assert doubt(some, 50)[0] == pytest.approx(0.4**2 / 3 * 0.5**2)  # a single one says little


def test_scores_wrong_where_they_were_looked_at_are_doubted_elsewhere() -> None:
    """Of 50 items with a doubt of .001, ten were wrong: those with less, never asked, are no surer."""
    scores = np.repeat([0.001, 1e-5], [50, 150])
    assert doubt(scores, 50)[0] < 1e-3  # none was wrong: the belief is right
    below, above = doubt(scores, 50, wrong=10)
    assert 0.1**2 * 0.75**2 < below <= 0.75**2 / 3
    assert above == 0
    assert doubt(scores, 70, wrong=30)[0] < 0.1 * below  # twenty of those themselves: they speak


@pytest.mark.parametrize("design", ["ais", "oasis", "importance", "poisson"])
def test_overconfident_scores(design: str) -> None:
    """Log odds ten times too large: F1 .6, of which most misses lie where scores are surest."""
    rng = np.random.default_rng(31)
    logit = rng.normal(-1.5, 2.0, 1000)
    truth = rng.random(1000) < 1 / (1 + np.exp(-logit))
    said = logit + rng.normal(0, 1.0, 1000)
    pool = sd.Pool.from_arrays(probability=1 / (1 + np.exp(-10 * said)))
    exact = 2 * (truth & (said >= 0)).sum() / (truth.sum() + (said >= 0).sum())
    answers, held = dict(enumerate(truth.astype(int).tolist())), 0
    for seed in range(20):
        study = sd.create_study(pool, "f1", design=design, budget=100, rng=seed)
        study.run(answers)
        low, high = study.estimate().ci
        held += low <= exact <= high
    assert held >= 17


@pytest.mark.parametrize("labels", [30, 60, 100])
def test_without_scores_nothing_is_held_certain(labels: int) -> None:
    """Ten classes, so that hardly any has ten labels: the draws have shown all that there is to show."""
    rng = np.random.default_rng(5)
    truth = rng.integers(10, size=1500)
    said = {name: np.where(rng.random(1500) < 0.5, truth, rng.integers(10, size=1500)) for name in "ab"}
    pool = sd.Pool.from_arrays(systems={name: {"prediction": one} for name, one in said.items()})
    study = sd.create_study(pool, "accuracy", objective=sd.Compare("a", "b"), rng=labels)
    study.run(dict(enumerate(truth.tolist())), budget=labels, batch=labels)
    case = study.snapshot().case()
    linear = linearise(estimate_totals(case), case.measure)
    assert linear.widening[0] == 0
    assert if_wrong(case, case.sample, linear.J).max() == 0


@pytest.mark.parametrize("where", [held_certain, few_labels])
def test_of_many_groups_each_looks_at_its_own_items(where: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Measures of many groups are estimated block by block: together these look at each item once or so."""
    looked, ends_of = [], where.ends_of

    def counted(measure: Any, rows: Any, J: Any) -> Any:
        looked.append(len(rows))
        return ends_of(measure, rows, J)

    rng = np.random.default_rng(0)
    truth = (rng.random(1800) < 0.3).astype(int)
    group = np.arange(1800) % 150
    pool = sd.Pool.from_arrays(probability=np.where(truth == 1, 0.99, 0.02), groups={"group": group})
    study = sd.create_study(pool, "accuracy", design="uniform", budget=120, rng=0)
    study.run(dict(enumerate(truth.tolist())))
    monkeypatch.setattr(blocks, "_BLOCK", 40)
    monkeypatch.setattr(where, "ends_of", counted)
    study.estimate("f1", by="group")
    assert 0 < sum(looked) < 2.5 * 2 * 150  # two predictions in each group


def by_group(monkeypatch: pytest.MonkeyPatch) -> tuple[Study, dict[int, int], list[object]]:
    """A study of 150 groups, the labels, and a list of what is worked out for the labels of a look."""
    looks: list[object] = []
    for module, name in ((held_certain, "_rates"), (post_strata, "_kinds_with_labels")):
        made = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *of, made=made: (looks.append(made), made(*of))[1])
    rng = np.random.default_rng(0)
    truth = (rng.random(1800) < 0.3).astype(int)
    pool = sd.Pool.from_arrays(
        probability=np.where(truth == 1, 0.99, 0.02), groups={"group": np.arange(1800) % 150}
    )
    monkeypatch.setattr(blocks, "_BLOCK", 40)
    study = sd.create_study(pool, "accuracy", design="uniform", budget=240, rng=0)
    return study, dict(enumerate(truth.tolist())), looks


def test_what_labels_say_of_all_groups_is_worked_out_once_a_look(monkeypatch: pytest.MonkeyPatch) -> None:
    study, labels, looks = by_group(monkeypatch)
    study.run(labels, budget=120)
    study.estimate("f1", by="group")
    assert len(looks) == 2 * len(set(looks)) == 4  # for F1, and for the accuracy it is held against


def test_the_next_look_rests_on_its_own_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    study, labels, _ = by_group(monkeypatch)
    study.run(labels, budget=120)
    study.estimate("f1", by="group")
    study.run(labels)
    again = by_group(monkeypatch)[0]
    again.run(labels, budget=120)
    again.run(labels)
    found, fresh = (one.estimate("f1", by="group") for one in (study, again))
    np.testing.assert_array_equal(found.value, fresh.value)
    np.testing.assert_array_equal(found.ci, fresh.ci)
