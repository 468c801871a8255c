"""What every stop rule has to do, as tests that a rule's own test class inherits."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest

from sondage.errors import NotSupported
from sondage.intervals import GUARANTEES, Guarantee
from sondage.study.estimates.result import ConfidenceInterval, Estimate
from sondage.study.stopping.rules import SAFE, Decision, StopRule, check_safety


def make_estimate(
    n_labels: int, width: float, value: float = 0.7, guarantee: Guarantee = "fixed-n"
) -> Estimate:
    """An estimate with an interval of this width around its value."""
    return Estimate(
        names=("accuracy",),
        value=value,
        std_error=width / 4,
        ci=ConfidenceInterval(value - width / 2, value + width / 2),
        confidence_level=0.95,
        guarantee=guarantee,
        interval="wald",
        n_labels=n_labels,
        n_draws=n_labels,
        n_open=0,
        n_refused=0,
        n_eff=float(n_labels),
        n_uniform=float(n_labels),
        cost=float(n_labels),
        target="pool",
        target_of_design=True,
        assumptions=(),
        warnings=(),
        defined=True,
        why=None,
    )


@dataclass(frozen=True)
class Always(StopRule):
    """Gives the same answer whatever it sees: to combine other rules with."""

    stop: bool
    guarantee: Guarantee

    def check(self, history: Sequence[Estimate]) -> Decision:
        return Decision(self.stop, f"always {self.stop}", self.guarantee)


class StopRuleSuite:
    """Conformance tests of a stop rule: inherit, say how one is made and when it stops."""

    def make_rule(self) -> StopRule:
        """The rule under test."""
        raise NotImplementedError("override make_rule")

    def enough(self) -> list[Estimate]:
        """Estimates after the last of which the rule stops; by default many labels, narrow ends."""
        return [make_estimate(50 * k, 0.4 / k) for k in range(1, 41)]

    def not_enough(self) -> list[Estimate]:
        """Estimates after the last of which the rule goes on; by default one label, wide ends."""
        return [make_estimate(1, 0.6)]

    def test_stops_when_it_is_enough_and_not_before(self) -> None:
        """The decision is the right one, as a plain bool, with a reason in words."""
        for history, stop in ((self.enough(), True), (self.not_enough(), False)):
            decision = self.make_rule().check(history)
            assert decision.stop is stop
            assert isinstance(decision.why, str)
            assert decision.why
            assert decision.guarantee in GUARANTEES

    def test_check_looks_at_the_history_alone_and_does_not_change_it(self) -> None:
        """Asked twice, or by another object, the answer is the same and the history as it was."""
        rule = self.make_rule()
        for history in (self.enough(), self.not_enough(), self.enough()):
            kept = copy.deepcopy(history)
            first = rule.check(history)
            assert rule.check(tuple(history)) == first
            assert self.make_rule().check(kept) == first
            assert repr([one.to_dict() for one in history]) == repr([one.to_dict() for one in kept])

    @pytest.mark.parametrize("guarantee", GUARANTEES)
    def test_says_what_the_intervals_promise(self, guarantee: Guarantee) -> None:
        """The decision carries the guarantee of the estimates."""
        for history in (self.enough(), self.not_enough()):
            promised = [replace(one, guarantee=guarantee) for one in history]
            assert self.make_rule().check(promised).guarantee == guarantee

    def test_does_not_depend_on_values_unless_it_peeks(self) -> None:
        """A rule that says it does not peek decides alike whatever values and intervals are."""
        rule = self.make_rule()
        for history in (self.enough(), self.not_enough()):
            others = [
                [_seen(one, value, width) for one in history]
                for value, width in ((0.1, 0.01), (0.9, 0.9), (np.nan, np.nan))
            ]
            changed = any(rule.check(other).stop != rule.check(history).stop for other in others)
            assert rule.peeks or not changed

    def test_undefined_estimate_is_no_reason_to_stop_by_looking(self) -> None:
        """A rule that peeks does not stop on an interval that is nan."""
        rule = self.make_rule()
        if not rule.peeks:
            pytest.skip("the rule does not look at intervals")
        assert not rule.check([_seen(one, np.nan, np.nan) for one in self.enough()]).stop

    @pytest.mark.parametrize("other", [True, False])
    @pytest.mark.parametrize("guarantee", GUARANTEES)
    def test_combines_with_others_and_keeps_the_weaker_guarantee(
        self, other: bool, guarantee: Guarantee
    ) -> None:
        """``|`` stops if one does, ``&`` if both do; the promise is the weaker."""
        rule, fixed = self.make_rule(), Always(other, guarantee)
        for mine in GUARANTEES:
            for history in (self.enough(), self.not_enough()):
                promised = [replace(one, guarantee=mine) for one in history]
                stop = rule.check(promised).stop
                weaker = GUARANTEES[min(GUARANTEES.index(mine), GUARANTEES.index(guarantee))]
                for first, second in ((rule, fixed), (fixed, rule)):
                    either, both = (first | second), (first & second)
                    assert either.check(promised).stop is (stop or other)
                    assert both.check(promised).stop is (stop and other)
                    assert either.check(promised).guarantee == weaker
                    assert both.check(promised).guarantee == weaker
                    assert either.peeks
                    assert both.peeks
        assert (rule | rule).peeks == (rule & rule).peeks == rule.peeks

    @pytest.mark.parametrize("guarantee", GUARANTEES)
    def test_peeking_at_intervals_that_do_not_hold_needs_consent(self, guarantee: Guarantee) -> None:
        """A rule that peeks is refused on any but safe intervals, unless the user allows it."""
        rule, estimate = self.make_rule(), make_estimate(10, 0.1, guarantee=guarantee)
        check_safety(rule, estimate, allow_unsafe=True)
        if rule.peeks and guarantee not in SAFE:
            with pytest.raises(NotSupported, match="allow_unsafe=True"):
                check_safety(rule, estimate, allow_unsafe=False)
        else:
            check_safety(rule, estimate, allow_unsafe=False)


def _seen(estimate: Estimate, value: float, width: float) -> Estimate:
    ends = ConfidenceInterval(value - width / 2, value + width / 2)
    return replace(estimate, value=value, std_error=width / 4, ci=ends)
