"""Plans of comparisons: labels by the formula for two systems, the power that is reached, and plain words."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.special import ndtri
from tests.study.comparing.pools import equals, labelled, scored, unequal, voters

import sondage as sd
from sondage.errors import InvalidInput
from sondage.objective import Compare


def formula(n_pool: int, differ: int, difference: float, power: float, tests: float = 1.0) -> float:
    """``(z_a + z_b)^2 sigma^2 / delta^2`` labels, with the correction for a finite number of items.

    ``sigma`` is that of equal chances among the items that differ, of which one of two systems is right.
    """
    plain = (ndtri(1 - 0.025 / tests) + ndtri(power)) ** 2 * (differ / n_pool) ** 2 / difference**2
    return float(1.0 / (1.0 / plain + 1.0 / differ))


@pytest.mark.parametrize("difference", [0.01, 0.02, 0.05])
@pytest.mark.parametrize("power", [0.5, 0.8, 0.95])
def test_labels_are_those_of_the_formula(difference: float, power: float) -> None:
    pool, _ = equals(4000, 800)
    plan = sd.plan(pool, "accuracy", objective=Compare("a", "b"), difference=difference, power=power)
    wanted = formula(4000, 800, difference, power)
    assert plan.needed.expected == pytest.approx(max(wanted, 25), abs=1)
    assert plan.needed.optimistic <= plan.needed.expected <= plan.needed.pessimistic
    assert plan.needed.expected <= plan.needed_looking.expected <= 800
    assert plan.needed.expected < plan.needed_uniform.expected


def test_never_more_labels_than_items_on_which_systems_can_differ() -> None:
    pool, _ = voters(1000, (0.8, 0.78, 0.75), seed=1)
    for objective in (Compare("s0", "s1"), Compare(), Compare(aim="best")):
        names = objective.systems or tuple(pool.systems)
        said = np.array([pool.system(name).prediction for name in names])
        most = int((said != said[0]).any(axis=0).sum())
        plan = sd.plan(pool, "accuracy", objective=objective, difference=1e-4)
        assert plan.needed.pessimistic == most
        assert plan.needed_looking.pessimistic == most


def test_the_power_is_reached() -> None:
    pool, truth = unequal(2000, 600, 30)
    plan = sd.plan(pool, "accuracy", objective=Compare("a", "b"), difference=0.03)
    n = plan.needed.expected
    assert n == pytest.approx(formula(2000, 600, 0.03, 0.8), abs=1)
    won = [labelled(pool, truth, n, rng=r, objective=Compare("a", "b")).compare().winner for r in range(120)]
    assert won.count("a") / 120 == pytest.approx(0.8, abs=2.5 * np.sqrt(0.8 * 0.2 / 120))
    assert "b" not in won


def test_looking_takes_about_as_many_labels_as_it_says() -> None:
    pool, truth = unequal(1200, 300, 20)
    wanted = sd.plan(
        pool, "accuracy", objective=Compare("a", "b"), difference=40 / 1200
    ).needed_looking.expected
    spent = []
    for r in range(15):
        study = sd.create_study(pool, "accuracy", objective=Compare("a", "b"), rng=r)
        study.run(truth, stop=sd.Decided(), batch=10)
        spent.append(study.n_labels)
    assert np.quantile(spent, 0.2) <= wanted <= np.quantile(spent, 0.95)


def test_a_pilot_corrects_the_belief() -> None:
    """It expects one of two answers that differ to be right; here both are often wrong, and tell nothing."""
    pool, truth = voters(4000, (0.35, 0.3), seed=3)
    before = sd.plan(pool, "accuracy", objective=Compare(), difference=0.02)
    study = labelled(pool, truth, 60, objective=Compare())
    after = study.plan(difference=0.02)
    y = np.array([list(pool.labels.values).index(truth[i]) for i in range(4000)])
    right = np.array([pool.system(name).prediction == y for name in ("s0", "s1")])
    squares = np.square(right[0].astype(float) - right[1])
    differ = int((pool.system("s0").prediction != pool.system("s1").prediction).sum())
    V = squares.sum() * differ / 4000**2
    exact = 1.0 / (0.02**2 / (ndtri(0.975) + ndtri(0.8)) ** 2 / V + 1.0 / differ)
    assert abs(after.needed.expected - exact) < 0.5 * abs(before.needed.expected - exact)
    assert after.needed.optimistic <= 1.1 * exact
    assert after.needed.pessimistic >= 0.9 * exact
    assert after.n_labels == 60


def test_of_many_systems_the_hardest_pair_and_all_pairs_tested_together() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=3000)
    flips = {"a": 0, "b": 100, "c": 900}
    systems = {
        name: {"prediction": np.where(rng.permutation(3000) < k, 1 - truth, truth)}
        for name, k in flips.items()
    }
    pool = sd.Pool.from_arrays(systems=systems, labels=[0, 1])
    plan = sd.plan(pool, "accuracy", objective=Compare(), difference=0.05)
    assert plan.names == ("accuracy: b - c",)
    assert "b and c are the hardest to tell apart of 3 pairs" in " ".join(plan.notes)
    two = sd.plan(pool, "accuracy", objective=Compare("b", "c"), difference=0.05)
    assert plan.needed.expected > two.needed.expected
    best = sd.plan(pool, "accuracy", objective=Compare(aim="best"), difference=0.05)
    assert best.needed.expected <= plan.needed.expected


@pytest.mark.parametrize("design", ["uniform", "auto", "auto-audit"])
@pytest.mark.parametrize("measure", ["accuracy", "f1"])
@pytest.mark.parametrize("systems", [2, 3])
def test_every_design_and_measure_has_a_plan(design: str, measure: str, systems: int) -> None:
    pool, _ = scored(800, (0.3, 0.6, 0.9)[:systems])
    plan = sd.plan(pool, measure, objective=Compare(), difference=0.05, design=design, draws=5)
    assert 0 < plan.needed.expected <= 800
    assert len(plan.names) == 1
    json.dumps(plan.to_dict())


def test_costs_and_populations() -> None:
    pool, _ = equals(1000, 300)
    systems = {name: {"prediction": pool.system(name).prediction} for name in "ab"}
    priced = sd.Pool.from_arrays(systems=systems, labels=[0, 1], cost=np.full(1000, 3.0))
    plan = sd.plan(priced, "accuracy", objective=Compare(), difference=0.05)
    assert plan.needed_cost.expected == pytest.approx(3.0 * plan.needed.expected)
    assert sd.plan(priced, "accuracy", objective=Compare(), budgets=[sd.Cost(150)]).labels.tolist() == [50]
    out_of_reach = sd.plan(pool, "accuracy", objective=Compare(), difference=0.02, target="population")
    assert out_of_reach.needed.expected is None
    assert "use a larger pool" in str(out_of_reach).replace("\n    ", " ")


def test_words() -> None:
    pool, _ = equals(4000, 800)
    said = " ".join(str(sd.plan(pool, "accuracy", objective=Compare("a", "b"), difference=0.03)).split())
    assert "to find a difference of 0.03 with power 0.8: about" in said
    assert "stop=Decided(), about" in said
    assert "only the 800 items (20.0%) on which the systems can differ are asked" in said


def test_what_cannot_be_planned_is_refused() -> None:
    pool, _ = equals(1000, 20)
    with pytest.raises(
        InvalidInput, match=r"difference=0.05 is more than a and b can differ by: on 20 of 1,000"
    ):
        sd.plan(pool, "accuracy", objective=Compare(), difference=0.05)
    same = sd.Pool.from_arrays(systems={name: {"prediction": [0, 1, 1]} for name in "ab"}, labels=[0, 1])
    with pytest.raises(InvalidInput, match="a and b do alike on every item"):
        sd.plan(same, "accuracy", objective=Compare(), difference=0.05)
    with pytest.raises(InvalidInput, match="no system 'z'"):
        sd.plan(pool, "accuracy", objective=Compare("a", "z"), difference=0.01)
