"""Stop rules: when it is enough, and whether it was safe to look."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sondage.errors import InvalidInput, NotSupported
from sondage.intervals.base import GUARANTEES, Guarantee
from sondage.study.estimate import Estimate

SAFE: frozenset[Guarantee] = frozenset({"calibrated", "asymptotic-uniform", "uniform"})


class Decision(NamedTuple):
    """Whether to stop, why (or why not), and what the intervals looked at promise."""

    stop: bool
    why: str
    guarantee: Guarantee


class StopRule(ABC):
    """When to stop, decided from the estimates so far.

    Contract
    --------
    * ``check`` looks at the history alone and does not change it;
    * ``peeks`` is False only if the decision does not depend on any value or interval, so that
      stopping by it leaves a fixed-n interval as good as it was;
    * rules combine with ``|`` and ``&``, and a compound has the weaker guarantee.
    """

    peeks: bool = True

    @abstractmethod
    def check(self, history: Sequence[Estimate]) -> Decision:
        """The decision after the last of these estimates."""

    def __or__(self, other: StopRule) -> StopRule:
        return Either(self, other)

    def __and__(self, other: StopRule) -> StopRule:
        return Both(self, other)


@dataclass(frozen=True)
class LabelsSpent(StopRule):
    """Stop at a number of labels fixed beforehand."""

    labels: int
    peeks = False

    def __post_init__(self) -> None:
        if self.labels < 1:
            raise InvalidInput(f"labels must be at least 1, not {self.labels}")

    def check(self, history: Sequence[Estimate]) -> Decision:
        """Enough labels?"""
        last = history[-1]
        why = f"{last.n_labels} of {self.labels} labels"
        return Decision(last.n_labels >= self.labels, why, last.guarantee)


@dataclass(frozen=True)
class Width(StopRule):
    """Stop when every interval is at most this wide, from end to end."""

    width: float

    def __post_init__(self) -> None:
        if not self.width > 0:
            raise InvalidInput(f"width must be above 0, not {self.width}")

    def check(self, history: Sequence[Estimate]) -> Decision:
        """Narrow enough?"""
        last = history[-1]
        widest = float(np.max(np.asarray(last.ci.high) - np.asarray(last.ci.low)))
        why = f"the interval is {widest:.4f} wide, {self.width:g} is wanted"
        return Decision(bool(widest <= self.width), why, last.guarantee)


@dataclass(frozen=True)
class Either(StopRule):
    """Stop when one of two rules says so."""

    first: StopRule
    second: StopRule

    @property
    def peeks(self) -> bool:  # type: ignore[override]
        """If either does."""
        return self.first.peeks or self.second.peeks

    def check(self, history: Sequence[Estimate]) -> Decision:
        """One or the other."""
        a, b = self.first.check(history), self.second.check(history)
        why = a.why if a.stop and not b.stop else b.why if b.stop and not a.stop else f"{a.why}; {b.why}"
        return Decision(a.stop or b.stop, why, weaker(a.guarantee, b.guarantee))


@dataclass(frozen=True)
class Both(Either):
    """Stop when two rules both say so."""

    def check(self, history: Sequence[Estimate]) -> Decision:
        """One and the other."""
        a, b = self.first.check(history), self.second.check(history)
        return Decision(a.stop and b.stop, f"{a.why}; {b.why}", weaker(a.guarantee, b.guarantee))


def weaker(a: Guarantee, b: Guarantee) -> Guarantee:
    """The weaker of two guarantees."""
    return min(a, b, key=GUARANTEES.index)


def check_safety(rule: StopRule, estimate: Estimate, allow_unsafe: bool) -> None:
    """Refuse a rule that looks at intervals which do not hold when looked at often."""
    if rule.peeks and estimate.guarantee not in SAFE and not allow_unsafe:
        raise NotSupported(
            f"this rule looks at intervals with a {estimate.guarantee!r} guarantee, which do not hold "
            "when labelling stops because of what they show: fix the number of labels beforehand "
            "(LabelsSpent), or pass allow_unsafe=True and say so in the report"
        )
