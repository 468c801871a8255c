"""Measures made of multi-label measures, in every design."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.measures.topics import topics

import sondage as sd
from sondage.measures import (
    Difference,
    HammingLoss,
    Measure,
    MultiLabelAccuracy,
    MultiLabelFBeta,
    PerGroup,
    Stack,
)
from sondage.testing.measures import MeasureSuite
from sondage.testing.vectors import vector_columns


def suite(measure: Measure) -> type[MeasureSuite]:
    class Suite(MeasureSuite):
        test_extremes = None  # asked of tangents only

        def make_measure(self) -> Measure:
            return measure

        def columns(self, seed: int, n: int = 60) -> dict[str, Any]:
            return vector_columns(seed, n)

    return Suite


COMPOSED: dict[str, Measure] = {
    "Stack": Stack((MultiLabelFBeta(), HammingLoss(), MultiLabelAccuracy())),
    "Difference": Difference(MultiLabelFBeta(average="macro"), "a", "b"),
    "DifferenceOfEach": Difference(MultiLabelFBeta(average=None), "a", "b"),
    "PerGroup": PerGroup(MultiLabelFBeta(), "group"),
}
for _name, _measure in COMPOSED.items():
    globals()[f"Test{_name}"] = type(f"Test{_name}", (suite(_measure),), {})


@pytest.mark.parametrize("design", ["uniform", "stratified", "importance", "poisson", "sequential"])
@pytest.mark.parametrize(
    "measure", [*COMPOSED.values(), Difference(MultiLabelAccuracy(), "a", "b")], ids=repr
)
def test_in_every_design(measure: Measure, design: str) -> None:
    q, y = topics(200, 3, 1)
    other = np.clip(q + np.random.default_rng(2).normal(0, 0.2, q.shape), 0, 1)
    pool = sd.Pool.from_arrays(
        systems={"a": {"probability": q}, "b": {"probability": other}},
        multilabel=True,
        groups={"group": np.resize(["north", "south"], 200)},
    )
    study = sd.create_study(pool, measure, design=design, rng=1)
    for k, item in enumerate(study.ask(100)):
        study.tell(item.id, None if k % 20 == 0 else y[item.id].tolist())
    found = study.estimate()
    truth = sd.measures.pool_value(measure.bind(pool), pool, pool.labels.encode(y))
    assert (np.abs(np.atleast_1d(found.value) - truth) < 5 * np.atleast_1d(found.std_error) + 1e-9).all()
    assert found.bounds is not None
