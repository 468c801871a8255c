"""Sequential sampling: the chances of its tables, and that they are those recorded."""

from __future__ import annotations

import numpy as np
import pytest

import sondage as sd
from sondage.designs import Sequential
from sondage.designs.influence.of_units import unit_spread
from sondage.errors import InvalidInput
from sondage.journal import MemoryJournal
from sondage.testing.designs import ask_and_tell, rounds_of, small_pool


@pytest.mark.parametrize("floor", [0.1, 0.3, 1.0])
def test_chances_are_spread_and_floor_and_sum_to_one_over_the_items_left(floor: float) -> None:
    pool, labels = small_pool(120)
    study = sd.create_study(pool, "f1", design=Sequential(floor=floor, probability_floor=0.0), rng=1)
    for _ in range(4):
        ask_and_tell(study, labels, 15)
        problem = study.problem()
        table = study.design.table(problem, 5)
        assert table.chance is not None
        left = problem.units.size - problem.asked
        believed = left * np.sqrt(unit_spread(problem) / problem.units.cost)
        mass = (1 - floor) * believed / believed.sum()
        mass = mass + floor / 2 * ((left > 0) / (left > 0).sum() + left / left.sum())
        np.testing.assert_allclose(table.chance * left, mass, rtol=1e-12, atol=1e-15)
        assert table.chance @ left == pytest.approx(1.0, rel=1e-12)


def test_every_item_left_has_a_chance_and_no_other_has() -> None:
    pool, labels = small_pool(60)
    study = sd.create_study(pool, "f1", design=Sequential(), rng=1)
    while study.problem().asked.sum() < 55:
        ask_and_tell(study, labels, 5)
        problem = study.problem()
        left = problem.units.size - problem.asked
        if left.any():
            table = study.design.table(problem, 1)
            assert table.chance is not None
            np.testing.assert_array_equal(table.chance > 0, left > 0)
            least = study.design.floor / 2 / left.sum()  # type: ignore[attr-defined]
            assert table.chance[left > 0].min() >= least * (1 - 1e-12)


def test_recorded_chances_are_those_of_the_table_at_that_moment() -> None:
    pool, labels = small_pool(120)
    study = sd.create_study(pool, "f1", design=Sequential(), rng=1)
    for n in (10, 1, 30):
        problem = study.problem()
        table = study.design.table(problem, n)
        assert table.chance is not None
        left = problem.units.size - problem.asked
        ask_and_tell(study, labels, n)
        record = rounds_of(study)[-1]
        for unit, p in zip(record.unit, record.p, strict=True):
            assert p == pytest.approx(table.chance[unit] / (table.chance @ left), rel=1e-9)
            left[unit] -= 1


def test_chances_follow_the_labels() -> None:
    pool, labels = small_pool(120)
    tables = []
    for flip in (0, 1):
        study = sd.create_study(pool, "f1", design=Sequential(), rng=1)
        ask_and_tell(study, {id: label ^ flip for id, label in labels.items()}, 30)
        study.ask(1)
        tables.append(rounds_of(study)[-1].table)
    assert tables[0] != tables[1]


@pytest.mark.parametrize("floor", [0.0, -0.1, 1.2])
def test_a_floor_that_could_rule_an_item_out_is_refused(floor: float) -> None:
    with pytest.raises(InvalidInput, match="floor="):
        Sequential(floor=floor)


def test_the_belief_at_the_start_of_every_round_is_kept_and_comes_back_on_loading() -> None:
    """The control variate of a draw is what the belief predicted before it."""
    pool, labels = small_pool(120)
    journal = MemoryJournal()
    study = sd.create_study(pool, "f1", design=Sequential(), rng=1, storage=journal)
    expected, start = [], study.belief.start(pool, study.units)
    for n in (12, 5, 20):
        expected.append(study.belief.step(start, study.snapshot().seen).nodes)
        ask_and_tell(study, labels, n)
    for one in (study, sd.load_study(journal, pool=pool)):
        one.estimate()
        assert len(one.snapshot().states) == 3
        for state, nodes in zip(one.snapshot().states, expected, strict=True):
            assert state.nodes is not None
            assert nodes is not None
            np.testing.assert_array_equal(state.nodes.weights, nodes.weights)
    assert not np.array_equal(expected[0].weights, expected[2].weights)  # type: ignore[union-attr]
