"""Cells of different predicted classes never stand for each other: the design drew them apart."""

from __future__ import annotations

import numpy as np
import pytest

import sondage as sd
from sondage.designs import Stratified
from sondage.estimators.post_strata import PostStrata, collapse
from sondage.pool.division import Division


def scored(seed: int = 0, n: int = 3000) -> tuple[np.ndarray, np.ndarray, dict[int, int]]:
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.25
    score = np.where(truth, 0.8, -0.8) + rng.normal(0, 1, n)
    return truth, score, dict(enumerate(truth.astype(int).tolist()))


def test_precision_with_many_weights_is_that_of_the_predicted_positives() -> None:
    """Weights make every loss its own; predicted negatives still count for nothing, and need no label."""
    truth, score, answers = scored()
    weight = np.random.default_rng(1).integers(1, 50, len(truth))
    cost = np.random.default_rng(2).uniform(1, 3, len(truth))
    pool = sd.Pool.from_arrays(score=score, threshold=0.0, weight=weight, cost=cost)
    exact = np.average(truth[score >= 0], weights=weight[score >= 0])
    found = []
    for seed in range(10):
        study = sd.create_study(pool, "precision", rng=seed)
        study.run(answers, budget=120)
        found.append(study.estimate())
    values = np.array([one.value for one in found])
    assert abs(values.mean() - exact) < 4 * values.std() / np.sqrt(10) + 0.01
    assert np.mean([one.ci.low <= exact <= one.ci.high for one in found]) >= 0.7


def test_a_class_without_labels_is_not_stood_for_by_another() -> None:
    """Labels drawn for the old system's precision say nothing of what it calls negative."""
    _, score, answers = scored()
    rng = np.random.default_rng(3)
    pool = sd.Pool.from_arrays(systems={"old": {"score": score, "threshold": 0.0}})
    design = Stratified(floor=0.0, probability_floor=0.0)
    study = sd.create_study(pool, "precision", design=design, rng=1)
    study.run(answers, budget=60)
    assert study.estimate().defined
    new = {"id": np.arange(len(score)), "score": score + rng.normal(0, 2, len(score))}
    study.add_system("new", new, id="id", score="score", threshold=0.0)
    found = study.estimate("precision", system="new")
    assert not found.defined
    assert found.why is not None
    assert "has no label" in found.why
    assert not any("stand for" in one for one in found.warnings)


@pytest.mark.parametrize("k", [1, 2, 5])
def test_one_label_of_a_predicted_class_is_enough(k: int) -> None:
    """Its variance is taken from the mean of all: the interval has the width of what is not known."""
    said = np.array(["a"] * 60 + ["b"] * 60 + ["c"] * k)
    truth = np.where(np.arange(len(said)) % 7 == 0, "b", said)
    pool = sd.Pool.from_arrays(prediction=said, labels=["a", "b", "c"])
    study = sd.create_study(pool, "accuracy", design=Stratified(allocation="proportional"), rng=1)
    counts = []
    for _ in range(30):
        study.run(dict(enumerate(truth.tolist())), budget=1, batch=1)
        counts.append(int((study.sample.row >= 120).sum()))
        assert study.estimate().defined == (counts[-1] > 0 and len(counts) > 1)
    assert 0 in counts
    assert 1 in counts


def with_six_systems(classes: int, seed: int, n: int = 100) -> tuple[sd.Pool, dict[int, int]]:
    """Systems that see the same items with errors of their own: nearly every item has its own pattern."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, classes, n)
    systems = {
        name: {"prediction": np.where(rng.random(n) < 0.3, rng.integers(0, classes, n), truth)}
        for name in "abcdef"
    }
    pool = sd.Pool.from_arrays(systems=systems, labels=list(range(classes)))
    return pool, dict(enumerate(truth.tolist()))


@pytest.mark.parametrize("design", ["error-curve", "stratified"])
@pytest.mark.parametrize(("classes", "measure"), [(2, "recall"), (4, "accuracy")])
def test_patterns_of_other_systems_leave_nothing_dark(design: str, classes: int, measure: str) -> None:
    for seed in range(5):
        pool, truth = with_six_systems(classes, seed)
        each = [sd.measures.for_system(sd.measures.resolve(measure), name) for name in "abcdef"]
        study = sd.create_study(pool, each, design=design, rng=seed)
        study.run(truth, budget=40, batch=20)
        found = study.estimate()
        assert found.defined.all(), found.why
        alone = study.estimate(each[1])
        assert alone.value == pytest.approx(found.value[1])


def post_strata(
    unit: list[int], signature: list[int], size: list[int], family: list[int], pattern: list[int]
) -> PostStrata:
    """Post-strata that all need labels, of a measure whose items are not alike."""
    nothing = np.zeros(len(unit), dtype=bool)
    arrays = [np.array(one) for one in (unit, signature, family, pattern)]
    cells = Division(np.repeat(np.arange(len(unit)), size))
    return PostStrata(cells, *arrays, nothing, None, None, None, None)  # type: ignore[arg-type]


def test_signatures_of_one_unit_stand_for_each_other() -> None:
    """Two of five have no label, and no single one of the others is enough."""
    strata = post_strata([0] * 5, [0, 1, 2, 3, 4], [1, 1, 1, 1, 2], [0] * 5, [0] * 5)
    group, dark = collapse(strata, np.array([1, 1, 1, 0, 0]), 2)
    assert not dark.any()
    labels = np.bincount(group, weights=[1, 1, 1, 0, 0])
    assert (labels[group[3:]] >= 2).all()


@pytest.mark.parametrize(("size", "dark"), [(2, False), (50, True)])
def test_a_rare_pattern_of_other_systems_is_stood_for_and_a_large_one_is_not(size: int, dark: bool) -> None:
    """Of 100 items and 20 labels, two without any are no wonder; fifty were left out on purpose."""
    strata = post_strata([0, 1, 2], [0, 0, 0], [90 - size, 10, size], [0, 1, 2], [0, 0, 0])
    group, found = collapse(strata, np.array([17, 3, 0]), 2)
    assert found.tolist() == [False, False, dark]
    assert bool(group[1] == group[2]) is not dark


def test_a_group_without_labels_is_stood_for_by_its_own_units() -> None:
    """Items of units 0 and 2 were drawn beside it; those of 1 and 3 were drawn apart."""
    strata = post_strata(
        [0, 2, 0, 2, 1, 3], [0, 0, 1, 1, 2, 2], [2, 1, 23, 34, 13, 27], [0] * 6, [0, 0, 1, 1, 2, 2]
    )
    group, dark = collapse(strata, np.array([0, 0, 2, 2, 12, 24]), 2)
    assert not dark.any()
    assert group[0] == group[2]
    assert group[1] == group[3]
    assert len({*group[:4].tolist()} & {*group[4:].tolist()}) == 0


def test_a_mean_of_one_group_is_that_of_its_labels_stratum_by_stratum() -> None:
    """Whatever a tiny group without labels does: its items are no part of the group asked for."""
    said = np.r_[np.zeros(38), np.ones(62)]
    group = np.array(
        ["isles"] * 2 + ["north"] * 23 + ["south"] * 13 + ["isles"] + ["north"] * 34 + ["south"] * 27
    )
    truth = np.where(said == 1, 0.9, 0.1) + np.where(np.arange(100) % 3 == 0, 0.1, -0.05)
    pool = sd.Pool.from_arrays(prediction=said, labels="unit", groups={"region": group})
    aim = sd.measures.Where("mean", {"region": "south"})
    exact = truth[group == "south"].mean()
    found = []
    for seed in range(20):
        study = sd.create_study(pool, aim, design="stratified-ppi", budget=40, rng=seed)
        found.append(study.run(dict(enumerate(truth.tolist()))))
    errors = np.array([one.value - exact for one in found])
    assert abs(errors.mean()) <= 4 * errors.std(ddof=1) / np.sqrt(20)
    assert np.mean([one.ci.low <= exact <= one.ci.high for one in found]) >= 0.75
