"""Allocations: greedy is optimal, bonuses are the formulas, what refuses refuses."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.designs.problems import problem_of

import sondage as sd
from sondage.designs import Stratified
from sondage.designs.allocations import (
    Allocation,
    BennettCarvalho,
    DruckMcCallum,
    ExploreThenCommit,
    Greedy,
    UpperConfidence,
    moves,
)
from sondage.designs.influence.of_units import possible_jump, seen_variance, unit_variance
from sondage.designs.shares import add_greedily
from sondage.errors import InvalidInput, NotSupported
from sondage.measures import Difference, PerGroup, resolve
from sondage.registry import from_config
from sondage.strata.by_group import ByGroup, OneStratum

ADAPTIVE = ["greedy", "etc", "ucb", "bennett-carvalho"]


def banded(q: list[float], each: int = 400, seed: int = 0) -> tuple[sd.Pool, dict[int, int]]:
    """A pool of equal bands in which an item is right with chance q, and the answers."""
    rng = np.random.default_rng(seed)
    band = np.repeat(np.arange(len(q)), each)
    right = rng.random(len(band)) < np.repeat(q, each)
    pool = sd.Pool.from_arrays(prediction=np.ones(len(band), int), groups={"band": band}, labels=[0, 1])
    return pool, dict(enumerate(right.astype(int).tolist()))


def study_of(allocation: Any, q: list[float], budget: int, seed: int = 1, **more: Any) -> sd.Study:
    pool, answers = banded(q, **more)
    design = Stratified(allocation=allocation, strata=ByGroup("band"))
    study = sd.create_study(pool, "accuracy", design=design, budget=budget, rng=seed)
    study.run(answers, batch=1)
    return study


@given(
    weight=st.lists(st.floats(0.01, 5), min_size=2, max_size=4),
    n=st.integers(1, 7),
)
@settings(max_examples=60, deadline=None)
def test_greedy_addition_is_the_best_of_all(weight: list[float], n: int) -> None:
    """No other whole numbers give a smaller sum of weight / count (Yu, Zhai and Sra 2020, eq. 5)."""
    w = np.array(weight)
    have, size = np.ones(len(w), dtype=np.int64), np.full(len(w), 50)
    added = add_greedily(lambda count: w / (count * (count + 1.0)), have, size, n)
    assert added.sum() == n
    best = min(
        (w / (1 + np.array(one))).sum()
        for one in itertools.product(range(n + 1), repeat=len(w))
        if sum(one) == n
    )
    assert (w / (1 + added)).sum() == pytest.approx(best, rel=1e-12)


def test_greedy_addition_never_exceeds_the_size() -> None:
    added = add_greedily(lambda count: np.array([9.0, 1.0]) / count, np.array([1, 1]), np.array([2, 9]), 5)
    assert added.tolist() == [1, 4]


def test_sample_variance_of_a_share_is_the_textbooks() -> None:
    study = study_of("proportional", [0.5, 0.8], 40)
    found = seen_variance(study.problem())
    drawn = study.sample
    for unit in range(2):
        y = drawn.y[drawn.unit == unit]
        assert found[unit] == pytest.approx(np.var(y, ddof=1), rel=1e-9)


def test_expected_variance_is_q_times_one_less_q() -> None:
    study = study_of("proportional", [0.5, 0.8], 10)
    problem = study.problem()
    nodes = problem.state.nodes
    assert nodes is not None
    np.testing.assert_allclose(unit_variance(problem, nodes), nodes.weights.prod(axis=1), rtol=1e-9)
    np.testing.assert_allclose(possible_jump(problem), 1.0, rtol=1e-9)


@pytest.mark.parametrize("bonus", ["universal", "fixed", "tight"])
def test_bonus_is_the_formula(bonus: Any) -> None:
    study = study_of(UpperConfidence(0.05, bonus), [0.5, 0.9], 60)
    problem = study.problem()
    count = np.array([7, 20])
    logs = {"universal": np.log(count), "fixed": np.log(60), "tight": 1.0}[bonus]
    expected = np.minimum(seen_variance(problem) + 0.05 * np.sqrt(logs / count), 0.25)
    np.testing.assert_allclose(UpperConfidence(0.05, bonus).variance(problem)(count), expected, rtol=1e-9)


def test_posterior_variance_of_two_classes() -> None:
    """E[q (1 - q)] = a b / ((a + b)(a + b + 1))."""
    study = study_of("bennett-carvalho", [0.5, 0.9], 30)
    problem = study.problem()
    found = BennettCarvalho().variance(problem)(problem.asked)
    drawn = study.sample
    for unit in range(2):
        y = drawn.y[drawn.unit == unit]
        a, b = 1 + (y == 1).sum(), 1 + (y == 0).sum()
        assert found[unit] == pytest.approx(a * b / ((a + b) * (a + b + 1)), rel=1e-9)


@pytest.mark.parametrize("allocation", ADAPTIVE)
def test_starts_with_two_in_every_cell(allocation: str) -> None:
    study = study_of(allocation, [0.5, 0.7, 0.9], 6)
    assert study.problem().asked.tolist() == [2, 2, 2]


def test_exploration_is_the_fraction_and_freezes() -> None:
    study = study_of(ExploreThenCommit(fraction=0.5), [0.5, 0.99], 80)
    first = study.sample.unit[:40]
    assert np.bincount(first).tolist() == [20, 20]
    problem = study.problem()
    frozen = seen_variance(problem, first=20)
    drawn = study.sample
    for unit in range(2):
        assert frozen[unit] == pytest.approx(np.var(drawn.y[drawn.unit == unit][:20], ddof=1), rel=0.05)
    assert study.problem().asked[0] > study.problem().asked[1]


def test_a_stratum_of_agreeing_labels_is_abandoned_by_greedy_and_not_by_ucb() -> None:
    """The reason for the bonus: both bands are alike, but one shows two equal labels first."""
    q = [0.5, 0.97]
    greedy = study_of("greedy", q, 200, seed=3).problem().asked
    ucb = study_of(UpperConfidence(0.25), q, 200, seed=3).problem().asked
    assert greedy[1] <= 4
    assert ucb[1] > 20


def test_neyman_by_expectation_gives_every_cell_two() -> None:
    study = study_of(DruckMcCallum(), [0.5, 0.7, 0.9], 30)
    assert study.problem().asked.min() >= 2


def test_ratio_measures_go_by_their_linearised_influence() -> None:
    """For F1 true negatives have no influence: their variance does not draw labels."""
    rng = np.random.default_rng(0)
    truth = rng.random(600) < 0.3
    score = np.where(truth, 1.0, -1.0) + rng.normal(0, 1, 600)
    pool = sd.Pool.from_arrays(score=score, threshold=0.0)
    study = sd.create_study(
        pool, "precision", design=Stratified(allocation="ucb", strata=OneStratum()), budget=60, rng=1
    )
    study.run(dict(enumerate(truth.astype(int).tolist())), batch=5)
    asked = study.problem().asked
    predicted = np.asarray(pool.system().prediction)[study.sample.row]
    assert predicted.mean() > 0.8
    assert asked.sum() == 60


@pytest.mark.parametrize("allocation", ADAPTIVE)
def test_a_budget_below_the_start_is_refused(allocation: str) -> None:
    pool, _ = banded([0.5] * 10)
    design = Stratified(allocation=allocation, strata=ByGroup("band"))
    with pytest.raises(NotSupported, match="budget"):
        sd.create_study(pool, "accuracy", design=design, budget=12)


@pytest.mark.parametrize("allocation", [ExploreThenCommit(), UpperConfidence(bonus="fixed")])
def test_a_horizon_needs_a_budget(allocation: Allocation) -> None:
    pool, _ = banded([0.5, 0.7])
    with pytest.raises(NotSupported, match="budget"):
        sd.create_study(pool, "accuracy", design=Stratified(allocation=allocation, strata=ByGroup("band")))


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (UpperConfidence, {"constant": -1}),
        (UpperConfidence, {"bonus": "huge"}),
        (ExploreThenCommit, {"fraction": 0}),
        (ExploreThenCommit, {"each": 1}),
        (BennettCarvalho, {"pseudo": 0}),
        (DruckMcCallum, {"shrink": 2}),
    ],
)
def test_bad_options(kind: Any, options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(options))):
        kind(**options)


def test_configuration_comes_back() -> None:
    design = Stratified(allocation=UpperConfidence(0.1, "tight"))
    again = from_config(design.config())
    assert again == design
    assert isinstance(again.allocation, UpperConfidence)
    assert Greedy().config()["alias"] == "greedy"


def test_a_budget_of_money_is_reckoned_in_labels() -> None:
    """Whatever the currency, the same number of labels is enough or not."""
    for unit in (0.01, 1.0, 100.0):
        band = np.repeat(np.arange(5), 100)
        pool = sd.Pool.from_arrays(
            prediction=np.ones(500, int), groups={"band": band}, labels=[0, 1], cost=np.full(500, unit)
        )
        design = Stratified(allocation="ucb", strata=ByGroup("band"))
        sd.create_study(pool, "accuracy", design=design, budget=sd.Cost(40 * unit))
        with pytest.raises(NotSupported, match="budget is 8"):
            sd.create_study(pool, "accuracy", design=design, budget=sd.Cost(8 * unit))


def test_parts_may_be_named() -> None:
    pool, answers = banded([0.5, 0.9])
    design = Stratified(strata="none", belief="uniform")  # type: ignore[arg-type]
    study = sd.create_study(pool, "accuracy", design=design, budget=20, rng=1)
    study.run(answers)
    assert study.units.count == 1
    assert study.belief.alias == "uniform"


def test_a_group_whose_ratio_moves_most_does_not_hide_the_others() -> None:
    """One item decides the recall of three; beside it all other spreads look like rounding."""
    n = 60
    group = np.array(["most"] * (n - 3) + ["few"] * 3)
    sure = np.where(np.arange(n) % 2 == 0, 1.0, 0.0)
    pool = sd.Pool.from_arrays(probability=sure, prediction=sure.astype(int), groups={"g": group})
    measure = PerGroup(resolve("recall"), "g")
    problem = problem_of(pool, measure, Stratified())
    quota = Stratified().table(problem, 30).quota
    assert quota is not None
    assert (quota > 0).all()
    agreed = sd.Pool.from_arrays(systems={name: {"prediction": sure.astype(int)} for name in "ab"})
    unmoved = problem_of(agreed, Difference("accuracy", "a", "b"), Stratified())
    assert moves(unmoved, np.zeros(unmoved.units.count)).all()  # nothing can move it: all are alike
