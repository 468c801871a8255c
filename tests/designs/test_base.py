"""What every design does: it gives a reason for every item."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from tests.designs.problems import problem_of

import sondage as sd
from sondage.designs import Design, Uniform
from sondage.pool import Pool


def test_every_unit_is_where_its_items_are() -> None:
    score = np.random.default_rng(0).normal(size=80)
    pool = Pool.from_arrays(score=score, threshold=0.0)
    problem = sd.create_study(pool, "f1", design="stratified", rng=1).problem()
    for unit in range(problem.units.count):
        mine = score[np.asarray(problem.units.codes) == unit]
        said = Uniform().reason(problem, unit)
        assert said.startswith(f"predicted {int(mine[0] >= 0)}, score ")
        low, _, high = said.rpartition("score ")[2].partition(" to ")
        assert float(low) == pytest.approx(mine.min(), rel=1e-3)
        assert float(high or low) == pytest.approx(mine.max(), rel=1e-3)


@pytest.mark.parametrize(
    ("columns", "measure", "said"),
    [
        ({"probability": [0.2, 0.7]}, "accuracy", "predicted 1, probability 0.7"),
        ({"prediction": ["no", "yes"]}, "accuracy", "predicted yes"),
        (
            {"prediction": [0.5, 1.5], "std": [0.1, 0.25], "labels": "real"},
            "mean_squared_error",
            "predicted standard deviation 0.25",
        ),
        ({"prediction": [0.5, 1.5], "labels": "real"}, "mean_squared_error", "prediction 1.5"),
        (
            {"probability": [[0.2, 0.3, 0.5], [0.1, 0.8, 0.1]], "labels": ["x", "y", "z"]},
            "accuracy",
            "predicted y, greatest probability 0.8",
        ),
    ],
)
def test_single_items(columns: dict[str, Any], measure: str, said: str) -> None:
    problem = problem_of(Pool.from_arrays(**columns), measure)
    assert problem.units.itemwise
    assert Uniform().reason(problem, 1) == said


def test_nothing_is_said_where_nothing_is_known() -> None:
    problem = problem_of(Pool.from_arrays(id=[1, 2], labels=[0, 1]), sd.measures.Prevalence(), Uniform())
    assert Uniform().reason(problem, 0) == ""


@pytest.mark.parametrize("design", sorted(Design.catalogue()))
def test_every_design_gives_a_reason_for_every_unit(design: str) -> None:
    score = np.linspace(-1, 1, 60)
    study = sd.create_study(Pool.from_arrays(probability=(score + 1) / 2), "f1", design=design, rng=1)
    problem = study.problem()
    for unit in range(problem.units.count):
        assert re.search(r"probability [\d.]+|rank \d", study.design.reason(problem, unit))
    assert all("; " in item.reason for item in study.ask(5))
