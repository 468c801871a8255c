"""The design of stratified prediction-powered inference: numbers by what predictions leave open."""

from __future__ import annotations

import numpy as np
import pytest
from tests.designs.problems import scored

import sondage as sd
from sondage.designs import StratifiedPPI
from sondage.designs.influence.of_items import rectifier_spread
from sondage.designs.influence.of_units import unit_spread
from sondage.designs.shares import shares, top_up, with_floor
from sondage.measures import PerGroup
from sondage.strata import EqualSize


@pytest.mark.parametrize("measure", ["accuracy", "recall", "brier_score_loss"])
def test_what_predictions_leave_open_item_by_item(measure: str) -> None:
    """``mean over the items of Var(J l | item)``, from the losses written out."""
    pool, p, _ = scored(90)
    study = sd.create_study(pool, measure, design=StratifiedPPI(probability_floor=0.0), rng=1)
    problem = study.problem()
    bound = problem.measure
    rows = pool.rows(np.arange(90))
    loss = bound.loss(rows, np.array([0.0, 1.0]))
    R = ((1 - p)[:, None] * loss[:, 0] + p[:, None] * loss[:, 1]).mean(axis=0)
    influence = loss @ bound.jac(R)[0]
    variance = p * (1 - p) * np.square(influence[:, 1] - influence[:, 0])
    expected = [variance[problem.units.codes == u].mean() for u in range(problem.units.count)]
    np.testing.assert_allclose(rectifier_spread(problem), expected, rtol=1e-9, atol=1e-15)


def test_predictions_of_items_leave_less_than_a_prediction_of_the_cell() -> None:
    pool, _, _ = scored(200)
    for strata in (2, 5, 20):
        study = sd.create_study(pool, "accuracy", design=StratifiedPPI(strata=EqualSize(strata)), rng=1)
        problem = study.problem()
        assert (rectifier_spread(problem) <= unit_spread(problem) * (1 + 1e-9)).all()


def test_labels_go_by_size_and_spread_with_the_floor() -> None:
    pool, _, _ = scored(400)
    design = StratifiedPPI(floor=0.2, probability_floor=0.0)
    study = sd.create_study(pool, "accuracy", design=design, rng=1)
    problem = study.problem()
    size = problem.units.size
    weight = with_floor(np.sqrt(rectifier_spread(problem)) * size, size, 0.2)
    goal = np.maximum(shares(weight, size, 100), 1.0)
    expected = top_up(goal, np.zeros(len(size), dtype=np.int64), size, 100, weight)
    table = design.table(problem, 100)
    assert table.quota is not None
    np.testing.assert_array_equal(table.quota, expected)


def test_numbers_do_not_follow_the_labels() -> None:
    pool, _, _ = scored(400)
    quotas = []
    for label in (0, 1):
        study = sd.create_study(pool, "f1", design="stratified-ppi", rng=1)
        study.tell({item.id: label for item in study.ask(60)})
        quotas.append(study.design.table(study.problem(), 40).quota)
    np.testing.assert_array_equal(*quotas)
    assert study.problem().centre == "belief"


def test_a_group_that_is_held_certain_does_not_draw_labels_to_its_like() -> None:
    """Its accuracy has no spread by the belief: beside that the least doubt would outweigh all others."""
    rng = np.random.default_rng(5)
    probability = np.r_[0.0, rng.choice([0.0, 0.3, 0.5, 0.8], 99)]
    region = np.where(np.arange(100) < 1, "isles", "north")
    pool = sd.Pool.from_arrays(probability=probability, groups={"region": region})
    study = sd.create_study(pool, PerGroup("accuracy", "region"), design="stratified-ppi", rng=1)
    asked = [item.id for item in study.ask(40)]
    assert (probability[asked] == 0).mean() < 0.15
