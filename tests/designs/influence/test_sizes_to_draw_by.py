"""Sizes to draw by, against the formula written out row by row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sondage as sd
from sondage.beliefs.base import at_least
from sondage.designs import AIS, PoissonOnline
from sondage.designs.base import Problem
from sondage.designs.influence.of_units import unit_nodes
from sondage.designs.influence.sizes_to_draw_by import drawing_size

PREVALENCE = 0.25


def study_of(measure: Any, oracle: str = "deterministic", weights: bool = False) -> sd.Study:
    """60 items in a few cells, 12 of them asked, one refused and two open."""
    rng = np.random.default_rng(4)
    truth = (rng.random(60) < PREVALENCE).astype(int)
    score = 1.5 * truth + rng.normal(0, 1, 60)
    pool = sd.Pool.from_arrays(
        probability=1 / (1 + np.exp(-score)),
        prediction=(score > 0.7).astype(int),
        groups={"side": np.where(np.arange(60) % 2, "left", "right")},
        weight=1.0 + np.arange(60) % 2 if weights else None,
    )
    study = sd.create_study(pool, measure, design=AIS(strata=4, depth=2), oracle=oracle, rng=2)
    items = study.ask(12)
    study.tell({item.id: int(truth[item.id]) for item in items[:9]})
    study.tell(items[9].id, sd.CANNOT_TELL)
    return study


def written_out(problem: Problem, power: int, epsilon: float, floor: float) -> tuple[np.ndarray, np.ndarray]:
    """Losses of single rows, one at a time, and all else from the definitions."""
    measure, pool, units = problem.measure, problem.pool, problem.units
    rows, unit, nodes = unit_nodes(problem)
    labels = nodes.labels

    def loss(row: int, y: float) -> np.ndarray:
        return measure.loss(pool.rows(np.array([row])), np.array([y]))[0, 0]

    told = {k for k, y in enumerate(problem.labels) if not np.isnan(y) and problem.oracle == "deterministic"}
    total = np.zeros(measure.d)
    for k in told:
        total += loss(int(problem.asked_rows[k]), problem.labels[k])
    for u in range(units.count):
        mine = np.flatnonzero(unit == u)
        number = units.size[u] - sum(problem.asked_units[k] == u for k in told)
        for r in mine:
            for s, y in enumerate(labels):
                total += number / len(mine) * nodes.weights[r, s] * loss(int(rows[r]), y)
    R = total / len(pool)
    J, weight = measure.jac(R), problem.objective.weight(measure.g(R))
    if measure.m > 1:  # every coordinate in units of what one uniform draw would leave of it
        share = (units.size / np.bincount(unit))[unit] / len(pool)
        square = [
            [np.square(J @ loss(int(row), y)) * w for y, w in zip(labels, nodes.weights[r], strict=True)]
            for r, row in enumerate(rows)
        ]
        weight = weight / np.einsum("r,rsm->m", share, np.array(square))
    J = J * np.sqrt(weight)[:, None]
    norm = np.array([[np.linalg.norm(J @ loss(int(row), y)) for y in labels] for row in rows])
    least = epsilon * norm.max()

    def length(row: int, y: float) -> float:
        one = loss(row, y)
        return max(float(np.linalg.norm(J @ one)), least * bool(one[1:].any()))

    size = []
    for u in range(units.count):
        mine = np.flatnonzero(unit == u)
        each = []
        for r in mine:
            chance = at_least(nodes.weights[[r]], floor)[0]
            each.append(
                sum(c * length(int(rows[r]), y) ** power for c, y in zip(chance, labels, strict=True))
            )
        size.append(np.mean(each) ** (1 / power))
    asked = [
        length(int(row), problem.labels[k]) if k in told else size[problem.asked_units[k]]
        for k, row in enumerate(problem.asked_rows)
    ]
    return np.array(size), np.array(asked)


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("epsilon", [0.0, 0.3])
@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("measure", ["f1", "accuracy", ["precision", "recall"], "brier_score_loss"])
def test_sizes_are_those_of_the_definition(measure: Any, weights: bool, epsilon: float, power: Any) -> None:
    problem = study_of(measure, weights=weights).problem()
    found = drawing_size(problem, power, epsilon=epsilon)
    for one, other in zip(found, written_out(problem, power, epsilon, 0.0), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def test_where_items_of_a_cell_differ_their_own_losses_count() -> None:
    """Several rows stand for a cell then, and an item with a label is none of them."""
    problem = study_of("brier_score_loss").problem()
    rows, _, _ = unit_nodes(problem)
    assert len(rows) > problem.units.count
    _, asked = drawing_size(problem, 1)
    told = ~np.isnan(problem.labels)
    same = problem.asked_units[told][:, None] == problem.asked_units[told]
    apart = np.abs(asked[told][:, None] - asked[told]) > 1e-6
    assert (same & apart & (problem.labels[told][:, None] == problem.labels[told])).any()


def test_answers_that_vary_make_nothing_known() -> None:
    problem = study_of("f1", oracle="stochastic").problem()
    size, asked = drawing_size(problem, 2)
    np.testing.assert_array_equal(asked, size[problem.asked_units])
    np.testing.assert_allclose(size, written_out(problem, 2, 0.0, 0.0)[0], rtol=1e-9)


def test_a_measure_that_is_not_made_of_its_losses_alone() -> None:
    """One that sums by its own rule, as composed ones do, gives what its parts give."""
    by_group = study_of(sd.measures.PerGroup(sd.measures.resolve("f1"), "side")).problem()
    for one, other in zip(drawing_size(by_group, 2), written_out(by_group, 2, 0.0, 0.0), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)


def test_the_least_chance_of_a_label() -> None:
    study = study_of("f1")
    online = sd.create_study(study.pool, "f1", design=PoissonOnline(), rng=1)
    problem = online.problem()
    found = drawing_size(problem, 2, floor=0.2)[0]
    np.testing.assert_allclose(found, written_out(problem, 2, 0.0, 0.2)[0], rtol=1e-9)
    assert not np.allclose(found, drawing_size(problem, 2)[0])
