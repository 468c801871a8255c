"""What every design does: it gives a reason for every item."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from tests.designs.problems import problem_of

import sondage as sd
from sondage.beliefs import CountBelief
from sondage.designs import AIS, Design, Stratified, Uniform
from sondage.errors import InvalidInput
from sondage.pool import Pool
from sondage.strata import LogRank


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
        assert re.search(r"probability [\d.]+|rank \d|prediction", study.design.reason(problem, unit))
    assert all("; " in item.reason for item in study.ask(5))


@pytest.mark.parametrize("kind", sorted(set(Design.catalogue().values()), key=lambda kind: kind.alias))
@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("belief", 3, "belief= takes a name or a Belief, not 3"),
        ("strata", 3.5, "strata= takes a name or a Strata, not 3.5"),
        ("strata", "no such", "unknown strata 'no such'"),
        ("batch", 0, "batch= must be a whole number of at least 1, not 0"),
        ("batch", "a", "batch= must be a whole number of at least 1, not 'a'"),
    ],
)
def test_options_of_a_wrong_kind_are_refused_by_name(
    kind: type[Design], option: str, value: Any, said: str
) -> None:
    if option in {one.name for one in fields(kind)}:  # type: ignore[arg-type]
        with pytest.raises(InvalidInput, match=re.escape(said)):
            kind(**{option: value})


def test_parts_of_a_design_may_be_given_by_name() -> None:
    assert AIS(belief="counts") == AIS(belief=CountBelief())  # type: ignore[arg-type]
    assert Stratified(strata="log-rank", belief="scores") == Stratified()  # type: ignore[arg-type]
    pool, labels = sd.datasets.synthetic_pool(300, prevalence=0.2, rng=1)
    assert sd.create_study(pool, "f1", design=AIS(belief="scores"), budget=60).run(labels).n_labels == 60  # type: ignore[arg-type]


def test_a_random_sample_takes_no_strata() -> None:
    with pytest.raises(InvalidInput, match="takes no strata: use Stratified"):
        Uniform(strata=LogRank())
