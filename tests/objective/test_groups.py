"""Objectives about groups: what they estimate, and what they refuse."""

from __future__ import annotations

from typing import Any

import pytest
from tests.study.grouping.pools import grouped_pool

import sondage as sd
from sondage.errors import InvalidInput, NotSupported
from sondage.measures import CalibrationError, ExpectedCost, PerGroup
from sondage.objective import Objective
from sondage.testing import ObjectiveSuite

POOL, LABELS, _ = grouped_pool(200)


class TestAssess(ObjectiveSuite):
    def make_objective(self, m: int) -> Objective:
        return sd.AssessGroups("group", weights="equal")


class TestIdentify(ObjectiveSuite):
    def make_objective(self, m: int) -> Objective:
        return sd.IdentifyGroups(["group", "prediction"], "error_rate", best=3)


class TestCompare(ObjectiveSuite):
    def make_objective(self, m: int) -> Objective:
        return sd.CompareGroups("group", groups=("g1", "g2"), rope=0.1)


def test_a_study_needs_no_measure_and_has_that_of_every_group() -> None:
    study = sd.create_study(POOL, objective=sd.AssessGroups("group"), rng=1)
    assert study.measure.names == tuple(f"accuracy[group=g{k}]" for k in range(4))
    assert study.design.alias == "thompson"
    same = sd.create_study(POOL, "accuracy", objective=sd.AssessGroups("group"), rng=1)
    assert same.measure == study.measure


def test_confidence_is_held_against_accuracy_inside_of_groups() -> None:
    target = sd.AssessGroups("group", CalibrationError(5)).target(CalibrationError(5), POOL)
    assert target == PerGroup(CalibrationError(5, within=("group",)), "group")


@pytest.mark.parametrize(("given", "top", "best"), [
    ({}, 1, False), ({"worst": 2}, 2, False), ({"best": 1}, 1, True), ({"best": 1, "top": 3}, 3, True),
    ({"worst": 1, "top": 2}, 2, False), ({"top": 2}, 2, False), ({"best": True, "top": 2}, 2, True),
])  # fmt: skip
def test_worst_best_and_top(given: dict[str, Any], top: int, best: bool) -> None:
    made = sd.IdentifyGroups("group", **given)
    assert (made.top, made.best) == (top, best)


@pytest.mark.parametrize(("make", "said"), [
    (lambda: sd.IdentifyGroups("group", worst=1, best=1), "worst= or best=, not both"),
    (lambda: sd.IdentifyGroups("group", worst=0), "worst= takes a number of groups"),
    (lambda: sd.IdentifyGroups("group", top=1.5), "top= takes a number"),
    (lambda: sd.IdentifyGroups("group", worst=2, top=3), "2 and 3 groups: say one"),
    (lambda: sd.AssessGroups("group", weights="none"), "weights="),
    (lambda: sd.AssessGroups(()), "by= takes a grouping column"),
    (lambda: sd.CompareGroups("group", groups=("g1",)), "names of two groups"),
    (lambda: sd.CompareGroups("group", groups=("g1", "g1")), "names of two groups"),
    (lambda: sd.CompareGroups("group", rope=-0.1), "rope="),
])  # fmt: skip
def test_what_makes_no_sense_is_refused_at_once(make: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        make()


@pytest.mark.parametrize(("objective", "said"), [
    (sd.IdentifyGroups("group", top=4), r"there are 4 groups of group.*fewer \(top=3\)"),
    (sd.IdentifyGroups("group", top=9), "says nothing"),
    (sd.CompareGroups("group", rope=1.0), "as wide as the range of 'accuracy', 1"),
    (sd.CompareGroups("group", measure=ExpectedCost([[0, 1], [3, 0]]), rope=3), "expected_cost"),
    (sd.CompareGroups("group", groups=("g1", "g7")), "names 'g7', and the groups of group are"),
    (sd.AssessGroups("nowhere"), "'nowhere' is not in the pool"),
    (sd.AssessGroups(["group", "nowhere"]), "'nowhere' is not in the pool"),
    (sd.AssessGroups("group", ExpectedCost([[0, 1, 1], [1, 0, 1], [1, 1, 0]])), "3 rows"),
    (sd.AssessGroups("group", sd.measures.Recall(average=None)), "one number each, and 'recall' has 2"),
])  # fmt: skip
def test_what_does_not_fit_the_pool_is_refused_with_the_way_out(objective: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        sd.create_study(POOL, objective=objective)


def test_two_measures_are_refused() -> None:
    with pytest.raises(
        InvalidInput, match=r".fbeta. for the study and 'accuracy' for its objective: say it once"
    ):
        sd.create_study(POOL, "f1", objective=sd.AssessGroups("group"))


def test_one_group_cannot_be_compared_nor_be_the_worst() -> None:
    pool = sd.Pool.from_arrays(prediction=[0, 1, 1], groups={"one": ["a", "a", "a"]})
    with pytest.raises(InvalidInput, match="nothing to compare"):
        sd.create_study(pool, objective=sd.CompareGroups("one"))
    with pytest.raises(InvalidInput, match="there is one group of one: nothing to find, use AssessGroups"):
        sd.create_study(pool, objective=sd.IdentifyGroups("one"))
    assert (
        sd.create_study(pool, objective=sd.AssessGroups("one"), rng=1).run({0: 0, 1: 1, 2: 0}, budget=3).value
        == 2 / 3
    )


def test_measures_without_a_posterior_are_refused_where_one_is_needed() -> None:
    with pytest.raises(NotSupported, match=r"no posterior of .*AssessGroups"):
        sd.create_study(POOL, objective=sd.IdentifyGroups("group", "brier_score_loss"))
    study = sd.create_study(POOL, objective=sd.AssessGroups("group", "brier_score_loss"), rng=1)
    assert study.run(LABELS, budget=60).n_labels == 60
    with pytest.raises(NotSupported, match=r"study\.estimate"):
        study.groups()


def test_too_many_pairs_are_refused() -> None:
    many = sd.Pool.from_arrays(prediction=[0, 1] * 200, groups={"g": [str(k) for k in range(400)]})
    with pytest.raises(InvalidInput, match="too many pairs: name two"):
        sd.create_study(many, objective=sd.CompareGroups("g"))
