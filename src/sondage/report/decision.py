"""A stop rule's decision in words: whether to stop and why, what that rests on, and what to do next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sondage.report.page import Page

if TYPE_CHECKING:
    from sondage.intervals.base import Guarantee
    from sondage.study.stopping.rules import Decision

PROMISES: dict[Guarantee, str] = {
    "fixed-n": "holds if the number of labels was fixed beforehand",
    "posterior": "holds under its assumptions at a fixed number of labels",
    "calibrated": "holds although you look often, as simulations showed",
    "asymptotic-uniform": "holds however often you look, once there are many labels",
    "uniform": "holds however often you look",
}
"""What an interval promises, by its guarantee."""


def decision_page(decision: Decision) -> Page:
    """Three lines: the decision, the interval behind it, the next step."""
    verdict = "Stop" if decision.stop else "Go on labelling"
    promise = f"The interval ({decision.guarantee}) {PROMISES[decision.guarantee]}"
    following = "Next: label more items (study.ask), then look again"
    if decision.stop:
        following = "Next: no more labels are needed for this; study.estimate() gives the value"
    return Page((f"{verdict}: {decision.why}", promise, following))
