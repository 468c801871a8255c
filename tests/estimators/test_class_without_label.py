"""A predicted class without a label: others stand in for it, and the estimate says so."""

from __future__ import annotations

import numpy as np
import pytest

import sondage as sd
from sondage.measures import Difference
from sondage.study import Study


def study_of(design: str, measure: str = "accuracy", missing: int = 1, budget: int = 30) -> Study:
    """A study of which no label is of an item predicted as ``missing``: one in twenty is."""
    prediction = np.where(np.arange(400) % 20 == 0, missing, 1 - missing)
    truth = np.where(np.arange(400) % 9 == 0, 1 - prediction, prediction)
    pool = sd.Pool.from_arrays(prediction=prediction)
    for seed in range(100):
        study = sd.create_study(pool, measure, design=design, budget=budget, rng=seed)
        study.run(dict(enumerate(truth.tolist())))
        if not (prediction[study.sample.row] == missing).any():
            return study
    raise AssertionError("every sample has such items")


@pytest.mark.parametrize("missing", [0, 1])
@pytest.mark.parametrize("measure", ["specificity", "recall", "accuracy", "f1"])
def test_what_stands_in_for_a_predicted_class_is_said(measure: str, missing: int) -> None:
    found = study_of("uniform", missing=missing).estimate(measure)
    if not found.defined:
        assert not any("stand in" in one for one in found.warnings)
        return
    (said,) = (one for one in found.warnings if "stand in" in one)
    assert said.startswith(
        f"no item predicted {missing} has a label (5.0% of the pool): labels of items predicted"
    )


def test_specificity_has_a_value_without_a_label_among_predicted_positives() -> None:
    found = study_of("uniform").estimate("specificity")
    assert found.defined
    assert any("no item predicted 1 has a label" in one for one in found.warnings)


def test_a_class_that_the_measure_does_not_look_at_is_not_spoken_of() -> None:
    """Precision looks at predicted positives alone, whatever the others are."""
    found = study_of("uniform", missing=0, budget=12).estimate("precision")
    assert found.defined
    assert not any("stand in" in one for one in found.warnings)


def test_with_labels_in_every_class_nothing_stands_in() -> None:
    pool, labels = sd.datasets.synthetic_pool(n=500, prevalence=0.3, rng=0)
    found = sd.create_study(pool, "f1", design="uniform", rng=0).run(labels, budget=100)
    assert not any("stand in" in one for one in found.warnings)


def test_classes_of_two_systems_are_told_apart() -> None:
    a, b = np.arange(400) % 2, np.where(np.arange(400) % 20 == 0, 1, 0)
    pool = sd.Pool.from_arrays(systems={"a": {"prediction": a}, "b": {"prediction": b}})
    for seed in range(100):
        study = sd.create_study(pool, Difference("accuracy", "a", "b"), design="uniform", budget=30, rng=seed)
        study.run(dict(enumerate(a.tolist())))
        if not b[study.sample.row].any():
            break
    assert any("no item predicted 1 by b has a label" in one for one in study.estimate().warnings)
