"""Poisson sampling in a study: nested, capped, or of fixed size."""

from __future__ import annotations

import numpy as np
import pytest
from tests.designs.problems import PLAIN, problem_of, scored

import sondage as sd
from sondage.designs import Poisson
from sondage.designs.influence.of_items import item_spread
from sondage.errors import InvalidInput
from sondage.testing.designs import rounds_of, small_pool


def test_sizes_are_the_root_mean_square_influence_over_the_root_of_the_cost() -> None:
    cost = np.random.default_rng(1).lognormal(0, 1, 60)
    pool, _, _ = scored(cost=cost)
    design = Poisson(belief=PLAIN, floor=0.0, probability_floor=0.0)
    problem = problem_of(pool, "f1", design)
    size = np.sqrt(item_spread(problem) / cost)
    table = design.table(problem, 10)
    assert table.chance is not None
    np.testing.assert_allclose(table.chance, size / size.mean(), rtol=1e-12)


@pytest.mark.parametrize("floor", [0.05, 0.5, 1.0])
def test_floor_is_the_share_of_size_that_is_the_same_for_all(floor: float) -> None:
    pool, _, f = scored()
    plain = Poisson(belief=PLAIN, floor=0.0, probability_floor=0.0)
    bare = plain.table(problem_of(pool, "precision", plain), 10).chance
    design = Poisson(belief=PLAIN, floor=floor, probability_floor=0.0)
    found = design.table(problem_of(pool, "precision", design), 10).chance
    assert bare is not None
    assert found is not None
    assert (bare[f == 0] == 0).all()
    np.testing.assert_allclose(found, (1 - floor) * bare + floor, rtol=1e-12)


def test_inclusion_chances_sum_to_what_was_asked_for() -> None:
    pool, _, _ = scored()
    design = Poisson()
    for n in (1, 7, 30, 59):
        table = design.table(problem_of(pool, "f1", design), n)
        assert table.chance is not None
        assert np.minimum(1, table.scale * table.chance).sum() == pytest.approx(n, rel=1e-12)


def test_asking_in_steps_gives_the_sample_of_asking_at_once() -> None:
    pool, labels = small_pool(200)
    for seed in range(10):
        steps = sd.create_study(pool, "f1", design="poisson", rng=seed)
        asked: list[set[object]] = [set()]
        for n in (5, 20, 1, 30):
            items = steps.ask(n)
            asked.append(asked[-1] | {item.id for item in items})
            assert len(asked[-1]) == len(asked[-2]) + len(items)
        at_once = sd.create_study(pool, "f1", design="poisson", rng=seed)
        assert {item.id for item in at_once.ask(56)} == asked[-1]
        for study in (steps, at_once):
            study.tell({item.id: labels[item.id] for item in study.open_items()})
        assert steps.estimate().value == pytest.approx(at_once.estimate().value, rel=1e-12)
        assert steps.estimate().std_error == pytest.approx(at_once.estimate().std_error, rel=1e-9)


def test_sample_size_is_random_with_the_mean_that_was_asked_for() -> None:
    pool, _ = small_pool(200)
    design = Poisson()
    table = design.table(problem_of(pool, "f1", design), 20)
    assert table.chance is not None
    pi = np.minimum(1, table.scale * table.chance)
    sizes = [len(sd.create_study(pool, "f1", design="poisson", rng=seed).ask(20)) for seed in range(300)]
    error = np.sqrt((pi * (1 - pi)).sum() / 300)
    assert abs(np.mean(sizes) - 20) < 5 * error
    assert np.var(sizes) == pytest.approx((pi * (1 - pi)).sum(), rel=0.5)


def test_fixed_size_returns_exactly_what_was_asked_for() -> None:
    pool, _ = small_pool(200)
    for seed in range(20):
        study = sd.create_study(pool, "f1", design=Poisson(fixed_size=True), rng=seed)
        for n in (1, 7, 20, 2):
            assert len(study.ask(n)) == n
        assert {one.kind for one in rounds_of(study)} == {"fixed"}


def test_fixed_size_in_steps_is_fixed_size_at_once() -> None:
    pool, _ = small_pool(200)
    design = Poisson(fixed_size=True)
    for seed in range(10):
        steps = sd.create_study(pool, "f1", design=design, rng=seed)
        asked = [item.id for n in (4, 9, 2) for item in steps.ask(n)]
        at_once = sd.create_study(pool, "f1", design=design, rng=seed)
        assert sorted(item.id for item in at_once.ask(15)) == sorted(asked)
        np.testing.assert_array_equal(at_once.sample.row, steps.sample.row)


def test_asking_ends_where_items_without_a_size_are_never_reached() -> None:
    pool, labels = small_pool(40)
    study = sd.create_study(pool, "precision", design=Poisson(floor=0.0), budget=40, rng=1)
    for _ in range(60):  # not run(), which would never return
        try:
            items = study.ask(5)
        except sd.errors.NothingLeft:
            break
        study.tell({item.id: labels[item.id] for item in items})
    else:
        pytest.fail("ask never said NothingLeft")
    assert study.estimate().ci.low == study.estimate().ci.high


@pytest.mark.parametrize("floor", [-0.1, 1.1])
def test_a_floor_outside_its_range_is_refused(floor: float) -> None:
    with pytest.raises(InvalidInput, match="floor="):
        Poisson(floor=floor)


def test_cost_rules() -> None:
    """``ignore`` leaves costs out of the sizes, ``only`` leaves everything else out."""
    rng = np.random.default_rng(3)
    cost = rng.choice([1.0, 4.0], 60)
    pool = sd.Pool.from_arrays(score=rng.normal(size=60), threshold=0.0, cost=cost)
    size = {}
    for rule in ("use", "ignore", "only"):
        design = Poisson(floor=0.0, cost=rule)  # type: ignore[arg-type]
        study = sd.create_study(pool, "f1", design=design, rng=1)
        size[rule] = design.table(study.problem(), 5).chance
    ratio = size["use"] / size["ignore"]  # type: ignore[operator]
    np.testing.assert_allclose(ratio[cost == 1].mean() / ratio[cost == 4].mean(), 2.0, rtol=1e-9)
    np.testing.assert_allclose(size["only"] * np.sqrt(cost), (size["only"] * np.sqrt(cost))[0])  # type: ignore[operator, index]
    with pytest.raises(InvalidInput, match="cost="):
        Poisson(cost="twice")  # type: ignore[arg-type]
