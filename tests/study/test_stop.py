"""Every stop rule keeps the contract of stop rules, and a study heeds them."""

from __future__ import annotations

import pytest

import sondage as sd
from sondage.errors import InvalidInput, NotSupported
from sondage.study.stop import LabelsSpent, StopRule, Width, weaker
from sondage.testing.designs import small_pool
from sondage.testing.stop_rules import StopRuleSuite, make_estimate


class TestLabelsSpent(StopRuleSuite):
    def make_rule(self) -> StopRule:
        return LabelsSpent(1000)


class TestWidth(StopRuleSuite):
    def make_rule(self) -> StopRule:
        return Width(0.05)


class TestEither(StopRuleSuite):
    def make_rule(self) -> StopRule:
        return LabelsSpent(5000) | Width(0.05)


class TestBoth(StopRuleSuite):
    def make_rule(self) -> StopRule:
        return LabelsSpent(1000) & Width(0.05)


def test_labels_spent_stops_at_exactly_its_number() -> None:
    rule = LabelsSpent(20)
    assert not rule.check([make_estimate(19, 0.0)]).stop
    assert rule.check([make_estimate(20, 1.0)]).stop
    assert not rule.peeks


def test_width_stops_at_exactly_its_width_of_the_last_estimate() -> None:
    rule = Width(0.25)
    wide, narrow = make_estimate(10, 0.2501, value=0.5), make_estimate(20, 0.25, value=0.5)
    assert not rule.check([narrow, wide]).stop
    assert rule.check([wide, narrow]).stop


def test_width_of_several_coordinates_is_that_of_the_widest() -> None:
    pool, labels = small_pool(200)
    study = sd.create_study(pool, ["accuracy", "recall"], design="uniform", budget=60, rng=1)
    estimate = study.run(labels)
    widest = float((estimate.ci.high - estimate.ci.low).max())
    assert Width(widest).check([estimate]).stop
    assert not Width(widest * 0.999).check([estimate]).stop


@pytest.mark.parametrize("wrong", [0, -1.0, float("nan")])
def test_a_width_that_makes_no_sense_is_refused(wrong: float) -> None:
    with pytest.raises(InvalidInput, match="width must be above 0"):
        Width(wrong)


def test_a_number_of_labels_that_makes_no_sense_is_refused() -> None:
    with pytest.raises(InvalidInput, match="labels must be at least 1"):
        LabelsSpent(0)


def test_the_weaker_of_two_guarantees_comes_first_in_their_order() -> None:
    assert weaker("uniform", "fixed-n") == "fixed-n"
    assert weaker("posterior", "calibrated") == "posterior"
    assert weaker("asymptotic-uniform", "uniform") == "asymptotic-uniform"


def test_run_stops_by_a_rule_that_does_not_peek() -> None:
    pool, labels = small_pool(200)
    study = sd.create_study(pool, "accuracy", design="uniform", budget=100, rng=1)
    estimate = study.run(labels, stop=LabelsSpent(30), batch=10)
    assert estimate.n_labels == 30


def test_a_study_refuses_a_rule_that_peeks_unless_allowed() -> None:
    pool, labels = small_pool(200)
    study = sd.create_study(pool, "accuracy", design="uniform", budget=100, rng=1)
    study.run(labels, budget=50)
    with pytest.raises(NotSupported, match="allow_unsafe=True"):
        study.should_stop(Width(0.9))
    decision = study.should_stop(Width(0.9), allow_unsafe=True)
    assert decision.stop
    assert decision.guarantee == "fixed-n"
