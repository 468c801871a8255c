"""Cells of different predicted classes never stand for each other: the design drew them apart."""

from __future__ import annotations

import numpy as np
import pytest

import sondage as sd
from sondage.designs import Stratified


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
    assert "fewer than 2 labels" in found.why


@pytest.mark.parametrize("k", [1, 2])
def test_a_cell_that_is_labelled_throughout_is_not_thin(k: int) -> None:
    """A class predicted once or twice, and labelled, is known however few its items."""
    said = np.array(["a"] * 60 + ["b"] * 60 + ["c"] * k)
    pool = sd.Pool.from_arrays(prediction=said, labels=["a", "b", "c"])
    study = sd.create_study(pool, "accuracy", design=Stratified(allocation="proportional"), rng=1)
    study.run(dict(enumerate(said.tolist())), budget=len(said) - 20)
    labelled = np.isin(np.flatnonzero(said == "c"), study.sample.row)
    assert study.estimate().defined == bool(labelled.sum() == k or labelled.sum() >= 2)
