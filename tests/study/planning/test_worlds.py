"""Studies played through: every label asked once, labels as the world has them, the study's own kept."""

from __future__ import annotations

import numpy as np
import pytest
from tests.study.planning.problems import labels_in, possible, scored

import sondage as sd
from sondage.streams import stream
from sondage.study.planning.worlds import World, Worlds


def worlds_of(study: sd.Study, count: int = 3, most: int = 400, seed: int = 5) -> Worlds:
    weights = possible(study).weights(count, stream(seed, "belief"))
    return Worlds(study.snapshot(), study.units, weights, most=most, level=0.95, seed=seed)


@pytest.fixture
def world() -> World:
    return worlds_of(sd.create_study(scored(), "f1", rng=1)).each()[1]


def test_as_many_are_asked_as_wanted_each_once_and_of_its_unit(world: World) -> None:
    for n in (10, 75, 400):
        world.advance(n)
        assert world.asked == n
        sample = world.sample
        assert len(np.unique(sample.row)) == n
        np.testing.assert_array_equal(world.worlds.study.units.of(sample.row), sample.unit)


def test_labels_have_the_chances_of_the_world() -> None:
    """Of every unit with many labels, within five standard errors of its chance."""
    study = sd.create_study(scored(30_000), "f1", rng=1)
    worlds = worlds_of(study, 2, 20_000)
    world = worlds.each()[0]
    world.advance(20_000)
    unit, y = world.sample.unit, world.sample.y
    n = np.bincount(unit, minlength=study.units.count)
    share = np.bincount(unit, weights=y, minlength=study.units.count) / np.maximum(n, 1)
    chance = worlds.weights[0][:, 1]
    many = n >= 30
    error = np.sqrt(chance * (1 - chance) / np.maximum(n, 1)) + 2.0 / np.maximum(n, 1)
    assert many.sum() > 20
    assert (np.abs(share - chance) <= 5 * error)[many].all()


def test_more_labels_make_it_narrower_and_all_of_them_exact() -> None:
    study = sd.create_study(scored(300), "f1", rng=1)
    for world in worlds_of(study, 4, 300).each():
        world.advance(30)
        few = float(world.widths()[0])
        world.advance(300)
        assert world.widths()[0] == 0.0 < few


def test_the_labels_of_the_study_are_kept_and_go_first() -> None:
    study = sd.create_study(scored(), "f1", rng=1)
    study.run(labels_in(study, possible(study).weights(3, stream(1, "belief"))[1], 1), budget=60)
    world = worlds_of(study).each()[0]
    width = world.widths()[0]
    now = study.estimate()
    assert width == pytest.approx(now.ci.high - now.ci.low, rel=0.2)
    world.advance(150)
    sample, before = world.sample, study.sample
    for name in ("row", "unit", "y", "status"):
        np.testing.assert_array_equal(getattr(sample, name)[:60], getattr(before, name))
    assert not set(sample.row[60:].tolist()) & set(before.row.tolist())
    assert len(sample.distinct()) == 150


def test_open_items_are_answered_and_refused_ones_are_not() -> None:
    study = sd.create_study(scored(), "f1", rng=1)
    asked = [item.id for item in study.ask(20)]
    study.tell(dict.fromkeys(asked[:10], 1) | {asked[10]: None})
    world = worlds_of(study).each()[0]
    assert world.asked == 20
    answered = world.sample.answered
    assert answered.sum() == 19
    assert np.isin(world.sample.y[answered], (0.0, 1.0)).all()
    world.advance(60)
    assert world.sample.answered.sum() == 59


def test_cost_is_that_of_what_was_asked() -> None:
    cost = np.random.default_rng(3).integers(1, 6, 2000).astype(float)
    study = sd.create_study(scored(cost=cost), "f1", rng=1)
    told = {id: int(id % 2) for id in study.pool.ids.tolist()}
    study.run(told, budget=30)
    world = worlds_of(study).each()[2]
    assert world.cost == study.spent
    world.advance(100)
    assert world.cost == pytest.approx(study.spent + study.pool.cost[world.sample.row[30:]].sum())  # type: ignore[index]


def test_the_study_does_not_notice() -> None:
    study = sd.create_study(scored(), "f1", rng=1)
    other = sd.create_study(scored(), "f1", rng=1)
    study.plan(budgets=[50, 100], draws=5)
    assert [one.id for one in study.ask(20)] == [one.id for one in other.ask(20)]
    assert study.n_labels == 0


def test_uniform_spread_of_accuracy_is_that_of_a_share() -> None:
    study = sd.create_study(scored(), "accuracy", rng=1)
    worlds = worlds_of(study, 6)
    share = possible(study)._values(np.array(worlds.weights))
    np.testing.assert_allclose(worlds.uniform_spread()[:, 0], share * (1 - share), rtol=1e-9)
