"""A stop rule's decision in words: whether to stop and why, what that rests on, and what to do next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sondage.report.page import Page
from sondage.study.stopping.looking import TOO_SHORT
from sondage.wording import counted

if TYPE_CHECKING:
    from sondage.intervals.base import Guarantee
    from sondage.study.estimates.result import Estimate
    from sondage.study.stopping.rules import Decision

PROMISES: dict[Guarantee, str] = {
    "fixed-n": "holds if the number of labels was fixed beforehand",
    "posterior": "holds under its assumptions at a fixed number of labels",
    "calibrated": "holds although you look often, as simulations showed",
    "asymptotic-uniform": "holds however often you look, once there are many labels",
    "uniform": "holds however often you look",
}
"""What an interval promises, by its guarantee."""
_KEPT: dict[Guarantee, str] = {"fixed-n": "holds", "posterior": "holds under its assumptions"}
"""The same where a rule leaves an interval as good as it was."""


def decision_page(decision: Decision) -> Page:
    """Three lines: the decision, the interval behind it, the next step."""
    verdict, following = "Go on labelling", "Next: label more items (study.ask), then look again"
    if decision.stop:
        verdict = "Stop"
        following = "Next: no more labels are needed for this; study.estimate() gives the value"
    elif decision.looked_at is not None and decision.looked_at.n_open:
        following = f"Next: answer the {counted(decision.looked_at.n_open, 'open item')}, then look again"
    elif _all_asked(decision.looked_at) or not decision.remaining:
        why = "the budget is spent" if not decision.remaining else "every item has been asked"
        verdict = f"No more labels, because {why}"
        following = "Next: study.estimate() gives the value"
    return Page((f"{verdict}: {decision.why}", _promise(decision), following))


def _all_asked(estimate: Estimate | None) -> bool:
    """Whether every item has its answer, so that no rule can be met any more."""
    return estimate is not None and estimate.n_labels + estimate.n_refused >= estimate.n_pool


def _promise(decision: Decision) -> str:
    """What the interval looked at promises, if there is one and something is left to chance."""
    estimate = decision.looked_at
    if estimate is not None and not np.any(estimate.defined):
        return "There is no interval yet: the value is undefined"
    if estimate is not None and np.all(np.asarray(estimate.ci.high) == np.asarray(estimate.ci.low)):
        return "The interval has no width: every label that matters is known"
    if estimate is not None and any(one.startswith(TOO_SHORT) for one in estimate.warnings):
        return f"The interval ({decision.guarantee}) is too short: a rule stopped because of what it saw"
    if not decision.peeks and decision.guarantee in _KEPT:
        return f"The interval ({decision.guarantee}) {_KEPT[decision.guarantee]}: the rule never looks at it"
    return f"The interval ({decision.guarantee}) {PROMISES[decision.guarantee]}"
