"""With every label that matters, an estimate is exact: whatever the design, and whatever the measure."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.measures.topics import topics

import sondage as sd
from sondage.measures import (
    ConfusionMatrix,
    Difference,
    FBeta,
    Measure,
    MultiLabelPrecision,
    MultiLabelRecall,
    PerGroup,
    Stack,
    Where,
    WorstGroup,
    pool_value,
)

N = 60
PROBABILITY, TRUTH = topics(N, 3, 8)
OTHER = np.clip(PROBABILITY + np.random.default_rng(1).normal(0, 0.1, PROBABILITY.shape), 0, 1)
NORTH = {"region": "north"}
IN_NORTH = np.arange(N) % 3 == 0
TEXTS = sd.Pool.from_arrays(
    systems={"a": {"probability": PROBABILITY}, "b": {"probability": OTHER}},
    groups={"region": np.where(IN_NORTH, "north", "south")},
    multilabel=True,
    labels=["sport", "money", "film"],
)
KIND = np.random.default_rng(2).integers(0, 3, N)
DECIDED = np.where(np.random.default_rng(3).random(N) < 0.7, KIND, 0)
MAILS = sd.Pool.from_arrays(
    prediction=DECIDED, groups={"region": np.where(IN_NORTH, "north", "south")}, labels=[0, 1, 2]
)
PLACES = TEXTS.labels.components


CASES: list[tuple[sd.Pool, np.ndarray, Measure, np.ndarray]] = [
    (TEXTS, TRUTH, Where("multilabel_f1", NORTH), IN_NORTH),
    (TEXTS, TRUTH, Where(MultiLabelRecall(average=None), NORTH), IN_NORTH),
    (TEXTS, TRUTH, Where("multilabel_accuracy", NORTH), IN_NORTH),
    (TEXTS, TRUTH, WorstGroup(Where("hamming_loss", NORTH), "region"), IN_NORTH),
    (TEXTS, TRUTH, MultiLabelPrecision(labels=["film"]), PROBABILITY[:, PLACES.index("film")] >= 0.5),
    (TEXTS, TRUTH, Difference("hamming_loss", "a", "b"), ((PROBABILITY >= 0.5) != (OTHER >= 0.5)).any(1)),
    (MAILS, KIND, Where(FBeta(average="macro"), NORTH), IN_NORTH),
    (MAILS, KIND, Where(ConfusionMatrix(), NORTH), IN_NORTH),
    (MAILS, KIND, ConfusionMatrix(entries=[(0, 1), (0, 2)]), DECIDED > 0),
]


@pytest.mark.parametrize("design", ["uniform", "importance", "sequential", "poisson", "stratified"])
@pytest.mark.parametrize(("pool", "truth", "measure", "matters"), CASES, ids=lambda one: "")
def test_the_rest_of_the_pool_plays_no_part(
    pool: sd.Pool, truth: np.ndarray, measure: Measure, matters: np.ndarray, design: str
) -> None:
    study = sd.create_study(pool, measure, design=design, rng=4)
    told: dict[Any, Any] = {}
    while not set(np.flatnonzero(matters)) <= told.keys():
        new = {item.id: truth[item.id].tolist() for item in study.ask(5)}
        study.tell(new)
        told |= new
    found = study.estimate()
    exact = pool_value(measure.bind(pool), pool, pool.labels.encode(truth.tolist()))
    assert len(told) < N or design in ("uniform", "stratified")
    for numbers in (found.value, found.ci.low, found.ci.high):
        np.testing.assert_allclose(np.atleast_1d(numbers), exact, atol=1e-12)


@pytest.mark.parametrize(
    "measure",
    [
        PerGroup("multilabel_f1", "region"),
        WorstGroup("multilabel_f1", "region"),
        Difference("multilabel_f1", "a", "b"),
        Difference(WorstGroup("multilabel_f1", "region"), "a", "b"),
        Stack(("multilabel_f1",)),
    ],
    ids=repr,
)
def test_labels_that_matter_are_not_taken_as_known(measure: Measure) -> None:
    bound = measure.bind(TEXTS)
    assert not bound.settled(TEXTS.rows(slice(None))).any()
