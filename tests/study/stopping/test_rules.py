"""Every stop rule keeps the contract of stop rules, and a study heeds them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

import sondage as sd
from sondage import Above, Below, CostSpent, Decided, LabelsSpent, Until, Width
from sondage.errors import InvalidInput, NothingLeft, NotSupported
from sondage.study.stopping.rules import StopRule, weaker
from sondage.testing.designs import small_pool
from sondage.testing.stop_rules import StopRuleSuite, make_estimate


class TestLabelsSpent(StopRuleSuite):
    def make_rule(self) -> StopRule:
        return LabelsSpent(1000)


class TestWidth(StopRuleSuite):
    def make_rule(self) -> StopRule:
        return Width(0.05)


class TestAbove(StopRuleSuite):
    def make_rule(self) -> StopRule:
        return Above(0.65)


class TestBelow(StopRuleSuite):
    def make_rule(self) -> StopRule:
        return Below(0.75)


class TestDecided(StopRuleSuite):
    def make_rule(self) -> StopRule:
        return Decided(0.6)


class TestCostSpent(StopRuleSuite):
    def make_rule(self) -> StopRule:
        return CostSpent(1000)


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


@pytest.mark.parametrize("wrong", [0, -1.0, float("nan"), float("inf")])
def test_a_width_that_makes_no_sense_is_refused(wrong: float) -> None:
    with pytest.raises(InvalidInput, match="width must be above 0"):
        Width(wrong)


def test_a_number_of_labels_that_makes_no_sense_is_refused() -> None:
    with pytest.raises(InvalidInput, match="labels must be a whole number of at least 1"):
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
    study = sd.create_study(pool, "accuracy", design="stratified", budget=100, rng=1)
    study.run(labels, budget=50)
    with pytest.raises(NotSupported, match="allow_unsafe=True"):
        study.should_stop(Width(0.9))
    with pytest.raises(NotSupported, match="design='auto-audit'"):
        study.run(labels, stop=Width(0.9))
    decision = study.should_stop(Width(0.9), allow_unsafe=True)
    assert decision.stop
    assert decision.guarantee == "fixed-n"


@pytest.mark.parametrize("design", ["sequential", "uniform", "auto-audit"])
@pytest.mark.parametrize("rule", [Width(0.3), Above(0.6), Below(0.95), Above(0.6) | Below(0.6)])
def test_designs_that_draw_one_by_one_are_safe_to_stop_by_what_is_seen(design: str, rule: StopRule) -> None:
    pool, labels = small_pool(400)
    study = sd.create_study(pool, "accuracy", design=design, budget=400, rng=1)
    estimate = study.run(labels, stop=rule, batch=10)
    assert 10 <= estimate.n_labels < 400
    assert estimate.guarantee == "uniform"
    assert estimate.interval == "sequence"
    assert study.should_stop(rule) == rule.check([estimate])
    assert rule.check([estimate]).stop


def test_a_rule_with_one_side_gets_a_bound_and_one_with_two_an_interval() -> None:
    assert Above(0.5).alternative == "greater"
    assert Below(0.5).alternative == "less"
    assert (Above(0.5) | LabelsSpent(10)).alternative == "greater"
    assert (Above(0.5) & Below(0.9)).alternative == "two-sided"
    assert (Above(0.5) | Width(0.1)).alternative == "two-sided"
    pool, labels = small_pool(300)
    study = sd.create_study(pool, "accuracy", design="sequential", budget=300, rng=1)
    bound = study.run(labels, stop=Above(0.55))
    assert bound.alternative == "greater"
    assert bound.ci.low > 0.55
    assert study.estimate(interval="sequence").ci.low <= bound.ci.low


def test_consent_still_gives_the_ordinary_interval_and_an_interval_may_be_named() -> None:
    pool, labels = small_pool(300)
    study = sd.create_study(pool, "accuracy", design="sequential", budget=300, rng=1)
    study.run(labels, budget=50)
    assert study.should_stop(Width(0.5)).guarantee == "uniform"
    assert study.should_stop(Width(0.5), allow_unsafe=True).guarantee == "fixed-n"
    assert study.should_stop(Width(0.5), interval="sequence").guarantee == "uniform"
    with pytest.raises(NotSupported, match="allow_unsafe=True"):
        study.should_stop(Width(0.5), interval="logit")


def test_decided_names_the_side() -> None:
    low, high = make_estimate(10, 0.1, value=0.7), make_estimate(10, 0.1, value=0.2)
    assert Decided(0.5).check([low]) == (True, "accuracy is above 0.5", "fixed-n")
    assert Decided(0.5).check([high]).why == "accuracy is below 0.5"
    assert not Decided(0.68).check([low]).stop
    assert not Decided(0.65).check([low]).stop  # an end that touches decides nothing


def test_until_stops_at_its_moment() -> None:
    now = datetime.now(UTC)
    history = [make_estimate(10, 0.1)]
    assert Until(now - timedelta(seconds=1)).check(history).stop
    assert not Until(now + timedelta(hours=1)).check(history).stop
    assert not Until(datetime.now() + timedelta(hours=1)).check(history).stop
    assert not Until(now).peeks


def test_every_rule_explains_itself() -> None:
    rule = (Width(0.05) | LabelsSpent(2000)) & Above(0.9)
    assert rule.explain() == (
        "when the interval is at most 0.05 wide, or at 2,000 labels, whichever comes first, and also when "
        "the value is surely above 0.9"
    )
    assert CostSpent(10).explain() == "once labels have cost 10"


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (
            Width(0.001),
            "100 labels the interval is expected to be about 0.* wide, and at most 0.001 is wanted",
        ),
        (LabelsSpent(101), "no more than 100 labels, and 101 are waited for"),
        (CostSpent(101.0), "labels will cost no more than 100"),
        (Above(1.0), "never above 1, and more than 1 is wanted"),
        (Below(0.0), "never below 0"),
        (Above(1.0) | Width(0.001), "never above 1.*; .*0.001 is wanted"),
        (Above(1.0) & LabelsSpent(5), "never above 1"),
    ],
)
def test_a_rule_that_can_never_stop_warns(rule: StopRule, words: str) -> None:
    pool, labels = small_pool(400)
    study = sd.create_study(pool, "accuracy", design="sequential", budget=100, rng=1)
    with pytest.warns(UserWarning, match=words):
        study.run(labels, stop=rule)


@pytest.mark.parametrize("rule", [Width(0.4), Above(1.0) | LabelsSpent(50), Above(0.5), CostSpent(50)])
def test_a_rule_that_can_stop_does_not_warn(rule: StopRule, recwarn: pytest.WarningsRecorder) -> None:
    pool, labels = small_pool(400)
    study = sd.create_study(pool, "accuracy", design="sequential", budget=100, rng=1)
    study.run(labels, stop=rule)
    assert not recwarn.list


def test_the_width_to_be_expected_is_about_the_width_that_comes() -> None:
    from sondage.study.stopping.looking import expected_width

    pool, labels = sd.datasets.synthetic_pool(n=4000, prevalence=0.4, separation=2, rng=1)
    study = sd.create_study(pool, "accuracy", design="sequential", budget=800, rng=1)
    expected = expected_width(study, 800)
    study.run(labels)
    ci = study.estimate(interval="sequence").ci
    assert 0.6 < expected / (ci.high - ci.low) < 1.6


@pytest.mark.parametrize("wrong", [float("nan"), "0.9", True])
def test_a_number_to_compare_with_must_be_one(wrong: object) -> None:
    for rule in (Above, Below, Decided):
        with pytest.raises(InvalidInput, match="value must be a number"):
            rule(wrong)  # type: ignore[arg-type]


def test_amounts_and_moments_that_make_no_sense_are_refused() -> None:
    with pytest.raises(InvalidInput, match="amount"):
        CostSpent(0)
    with pytest.raises(InvalidInput, match="moment"):
        Until("tomorrow")  # type: ignore[arg-type]


@pytest.mark.parametrize("rule", [Width, LabelsSpent, CostSpent])
def test_what_is_no_number_is_refused(rule: type[StopRule]) -> None:
    with pytest.raises(InvalidInput, match="not 'much'"):
        rule("much")  # type: ignore[call-arg]


def test_run_takes_a_rule_and_nothing_else() -> None:
    pool, labels = sd.datasets.synthetic_pool(100, rng=1)
    with pytest.raises(InvalidInput, match="take a stop rule"):
        sd.create_study(pool, "f1", rng=1).run(labels, stop=0.1)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (
            Decided(),
            r"Decided\(0\) is settled before any label: f1 lies between 0 and 1.*Decided\(0.8\).*Difference",
        ),
        (Decided(1.0), r"Decided\(1\) is settled before any label"),
        (Decided(-3.0), "settled before any label"),
        (Width(5.0), r"Width\(5\) is met before any label, because f1 goes from 0 to 1: .*narrower than 1"),
        (Width(1.0), "narrower than 1"),
        (Above(-0.1), "met before any label: f1 lies between 0 and 1"),
        (Below(1.1), "met before any label: f1 lies between 0 and 1"),
        (LabelsSpent(30) | Width(5.0), "met before any label"),
        (LabelsSpent(30) & Decided(), "settled before any label"),
    ],
)
def test_a_rule_that_is_met_before_any_label_is_refused(rule: StopRule, words: str) -> None:
    pool, answers = sd.datasets.synthetic_pool(500, prevalence=0.3, rng=1)
    study = sd.create_study(pool, "f1", budget=60, rng=1)
    with pytest.raises(InvalidInput, match=words):
        study.run(answers, stop=rule)
    assert study.n_labels == study.n_open == 0
    with pytest.raises(InvalidInput, match=words):
        study.should_stop(rule, allow_unsafe=True)


def test_a_side_of_nought_is_for_measures_that_have_one() -> None:
    rng = np.random.default_rng(1)
    systems = {name: {"score": rng.normal(size=300), "threshold": 0.0} for name in ("old", "new")}
    pool = sd.Pool.from_arrays(systems=systems)
    for measure in (sd.measures.Difference("f1", "new", "old"), "matthews_corrcoef"):
        study = sd.create_study(pool, measure, design="uniform", rng=1)
        assert not study.should_stop(Decided(), allow_unsafe=True).stop
    ratio = sd.create_study(pool, sd.measures.Ratio("f1", "new", "old"), design="uniform", rng=1)
    with pytest.raises(InvalidInput, match="settled before any label"):
        ratio.should_stop(Decided(), allow_unsafe=True)
    assert not ratio.should_stop(Decided(1.0), allow_unsafe=True).stop


# ---- no further than it says -------------------------------------------------------------------------


def spending_study() -> tuple[sd.Study, dict[int, int]]:
    rng = np.random.default_rng(4)
    cost = rng.integers(1, 21, 400).astype(float)
    pool = sd.Pool.from_arrays(score=rng.normal(size=400), threshold=0.0, cost=cost)
    return sd.create_study(pool, "accuracy", rng=1), dict.fromkeys(range(400), 1)


@pytest.mark.parametrize("design", ["auto", "sequential", "uniform"])
@pytest.mark.parametrize("labels", [1, 10, 30])
def test_a_number_of_labels_is_not_overrun(design: str, labels: int) -> None:
    pool, answers = sd.datasets.synthetic_pool(500, prevalence=0.3, rng=1)
    study = sd.create_study(pool, "accuracy", design=design, rng=1)
    assert study.run(answers, stop=LabelsSpent(labels)).n_labels == labels
    assert study.run(answers, stop=LabelsSpent(labels)).n_labels == labels  # and then nothing more is asked
    assert study.run(answers, stop=LabelsSpent(labels) | LabelsSpent(labels + 4)).n_labels == labels
    assert study.run(answers, stop=LabelsSpent(labels) & LabelsSpent(labels + 4)).n_labels == labels + 4


@pytest.mark.parametrize("amount", [5, 60, 200])
def test_a_cost_is_overrun_by_one_item_at_most(amount: float) -> None:
    study, answers = spending_study()
    cost = study.run(answers, stop=sd.CostSpent(amount)).cost
    assert amount <= cost < amount + 20


def test_after_the_moment_nothing_is_asked() -> None:
    study, answers = spending_study()
    study.run(answers, budget=3)
    study.run(answers, stop=sd.Until(datetime(2020, 1, 1)))
    assert study.n_labels == 3


def test_only_rules_are_put_together() -> None:
    for sign, make in (("|", lambda: Width(0.1) | 5), ("&", lambda: Width(0.1) & None)):  # type: ignore[operator]
        with pytest.raises(InvalidInput, match=rf"\{sign} puts two stop rules"):
            make()
    with pytest.raises(InvalidInput, match="whole number"):
        LabelsSpent(1.5)  # type: ignore[arg-type]


def test_an_interval_that_does_not_allow_for_looking_says_so_after_a_stop() -> None:
    pool, answers = sd.datasets.synthetic_pool(3000, prevalence=0.3, rng=1)
    study = sd.create_study(pool, "f1", rng=1, budget=1000)
    looked_at = study.run(answers, stop=Width(0.2))
    assert looked_at.interval == "calibrated"
    assert not any("too short" in one for one in looked_at.warnings)
    stopped = (
        "the study stopped because of what it saw, so this interval is too short; report one that holds "
        "however often you look: study.estimate({}interval='calibrated')"
    )
    assert stopped.format("") in study.estimate().warnings
    assert stopped.format("'recall', ") in study.estimate("recall").warnings
    assert not any("by looking" in one for one in study.estimate().assumptions)
    assert not any("too short" in one for one in study.estimate(interval="calibrated").warnings)
    other = sd.create_study(pool, "f1", rng=1, budget=300)
    other.run(answers, stop=LabelsSpent(60))
    assert not any("too short" in one for one in other.estimate().warnings)
    assert any("by looking" in one for one in other.estimate().assumptions)


def test_looks_at_the_calibrated_interval_are_no_more_often_than_was_tested() -> None:
    pool, answers = sd.datasets.synthetic_pool(3000, prevalence=0.3, rng=1)
    study = sd.create_study(pool, "f1", rng=1, budget=240)
    study.run(answers, stop=Width(1e-6))
    looked = [one.n_labels for one in study._history]
    assert looked == [25, 75, 125, 175, 225]


def test_several_systems_are_named() -> None:
    rng = np.random.default_rng(1)
    systems = {name: {"score": rng.normal(size=300), "threshold": 0.0} for name in ("old", "new")}
    pool = sd.Pool.from_arrays(systems=systems)
    both = [
        sd.measures.FBeta(system="old"),
        sd.measures.FBeta(system="new"),
        sd.measures.Recall(system="new"),
    ]
    study = sd.create_study(pool, both, rng=1)
    assert study.measure.names == ("f1 of old", "f1 of new", "recall")


def test_a_budget_that_pays_for_nothing_is_said() -> None:
    pool = sd.Pool.from_arrays(score=np.linspace(-1, 1, 50), threshold=0.0, cost=np.full(50, 5.0))
    study = sd.create_study(pool, "accuracy", budget=sd.Cost(3), rng=1)
    with pytest.raises(NothingLeft, match="does not pay for another item"):
        study.run(lambda item: 1)
