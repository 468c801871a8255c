"""Stratified and uniform sampling: quotas by size, and by size times spread."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.designs.problems import problem_of, scored

import sondage as sd
from sondage.designs import Stratified, Uniform
from sondage.designs.allocations import Neyman, Rules
from sondage.designs.influence.of_units import unit_spread
from sondage.designs.shares import shares
from sondage.errors import InvalidInput
from sondage.strata.by_score import EqualSize
from sondage.testing.designs import small_pool


def quotas(problem: Any, design: Stratified, n: int) -> np.ndarray:
    quota = design.table(problem, n).quota
    assert quota is not None
    return quota


@pytest.mark.parametrize("n", [10, 37, 150])
def test_proportional_gives_every_cell_its_share_of_the_labels(n: int) -> None:
    design = Stratified(allocation="proportional")
    problem = problem_of(scored(300)[0], "f1", design)
    quota = quotas(problem, design, n)
    assert quota.sum() == n
    assert (np.abs(quota - n * problem.units.size / 300) < 1).all()


@pytest.mark.parametrize("n", [40, 120])
def test_neyman_gives_by_size_times_the_root_of_spread_over_cost(n: int) -> None:
    cost = np.random.default_rng(1).choice([0.5, 1.0, 4.0], 300)
    design = Stratified(floor=0.0, probability_floor=0.0, strata=EqualSize(6))
    problem = problem_of(scored(300, cost=cost)[0], "f1", design)
    weight = problem.units.size * np.sqrt(unit_spread(problem) / problem.units.cost)
    goal = n * weight / weight.sum()
    for _ in range(len(goal)):  # none above its size, the rest shared out again
        full = goal > problem.units.size
        goal[full] = problem.units.size[full]
        rest = ~(goal >= problem.units.size)
        goal[rest] = (n - goal[~rest].sum()) * weight[rest] / weight[rest].sum()
    assert (np.abs(quotas(problem, design, n) - goal) < 1 + 1e-9).all()


def test_neyman_has_the_least_variance_of_a_thousand_allocations() -> None:
    design = Stratified(floor=0.0, probability_floor=0.0, strata=EqualSize(5))
    problem = problem_of(scored(2000)[0], "f1", design)
    size, spread = problem.units.size, unit_spread(problem)
    active = spread > 0
    weight = size * np.sqrt(spread)
    best = shares(weight, size, 60)
    least = (size**2 * spread)[active] @ (1 / best[active])
    rng = np.random.default_rng(2)
    for k in range(1000):
        noise = rng.lognormal(0, 0.1 if k % 2 else 1.0, len(size))
        other = shares(weight * noise, size, 60)
        assert other.sum() == pytest.approx(60)
        assert least <= (size**2 * spread)[active] @ (1 / other[active]) * (1 + 1e-12)


def test_floor_spreads_labels_half_evenly_and_half_by_size() -> None:
    design = Stratified(floor=1.0, strata=EqualSize(4))
    problem = problem_of(scored(400)[0], "f1", design)
    size = problem.units.size
    goal = 80 * 0.5 * (1 / len(size) + size / 400)
    assert (np.abs(quotas(problem, design, 80) - goal) < 1 + 1e-9).all()


def test_quotas_make_up_for_earlier_rounds() -> None:
    """However the labels are asked for, every cell ends near its share of all of them."""
    pool, labels = small_pool(300)
    design = Stratified()
    study = sd.create_study(pool, "f1", design=design, rng=1)
    for n in (1, 1, 13, 2, 40, 3):
        for item in study.ask(n):
            study.tell(item.id, labels[item.id])
    problem = study.problem()
    fresh = problem_of(pool, "f1", design)
    weight = Neyman().weight(fresh, Rules(design.floor, design.probability_floor, "use"))
    goal = shares(weight, fresh.units.size, 60)
    assert problem.asked.sum() == 60
    assert (np.abs(problem.asked - goal) < 2).all()


def test_uniform_is_one_unit_in_keyed_order_whatever_the_measure() -> None:
    pool, _ = small_pool(50)
    asked = [
        [item.id for item in sd.create_study(pool, measure, design=Uniform(), rng=3).ask(20)]
        for measure in ("f1", "accuracy", "brier_score_loss")
    ]
    assert asked[0] == asked[1] == asked[2]


@pytest.mark.parametrize(("option", "value"), [("allocation", "best"), ("floor", -0.1), ("floor", 1.2)])
def test_options_that_make_no_sense_are_refused(option: str, value: Any) -> None:
    with pytest.raises(InvalidInput, match=rf"{option}\b"):
        Stratified(**{option: value})
