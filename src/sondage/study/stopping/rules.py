"""Stop rules: what they are, how two of them combine, and whether it was safe to look."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sondage.errors import InvalidInput, NotSupported
from sondage.intervals.base import GUARANTEES, Alternative, Guarantee
from sondage.measures import Measure
from sondage.results import Result
from sondage.study.estimates.result import Estimate

if TYPE_CHECKING:
    from sondage.report.page import Page

SAFE: frozenset[Guarantee] = frozenset({"calibrated", "asymptotic-uniform", "uniform"})


class _Decided(NamedTuple):
    stop: bool
    why: str
    guarantee: Guarantee


class Decision(Result, _Decided):
    """Whether to stop, why (or why not), and what the intervals looked at promise.

    Where a study made it, ``looked_at`` is the estimate behind it, ``peeks`` whether its rule looks at values
    or intervals, and ``remaining`` what is left to spend.

    >>> print(Decision(False, "the interval is 0.2 wide, at most 0.1 is wanted", "uniform").explain())
    Go on labelling: the interval is 0.2 wide, at most 0.1 is wanted
    The interval (uniform) holds however often you look
    Next: label more items (study.ask), then look again
    """

    looked_at: Estimate | None = None
    peeks: bool = True
    remaining: float = np.inf

    def explain(self) -> str:
        """The decision in three lines: what it is, what it rests on, and what to do next."""
        return self.summary()

    def _page(self) -> Page:
        from sondage.report.decision import decision_page

        return decision_page(self)

    def _columns(self) -> dict[str, list[Any]]:
        return {name: [value] for name, value in self._asdict().items()}


class Outlook(NamedTuple):
    """What is to be expected of a study before it runs: the labels and the cost that it can reach, the width
    of its interval then (nan where nobody can tell), and the range of the measure."""

    labels: float
    cost: float
    width: float
    least: float
    most: float


class Spent(NamedTuple):
    """What a study has spent: labels, what they cost, and what the dearest item costs."""

    labels: int
    cost: float
    dearest: float


class StopRule(ABC):
    """When to stop, decided from the estimates so far.

    Contract
    --------
    * ``check`` looks at the history alone and does not change it;
    * ``peeks`` is False only if the decision does not depend on any value or interval, so that
      stopping by it leaves a fixed-n interval as good as it was;
    * ``alternative`` says which ends of the interval it looks at: a rule that needs one gets a bound, which
      is nearer;
    * rules combine with ``|`` and ``&``, and a compound has the weaker guarantee.
    """

    peeks: bool = True
    alternative: Alternative = "two-sided"
    asks_groups: bool = False
    """Whether it asks how sure the answer about groups is, which is a posterior probability at every look."""

    def explain(self) -> str:
        """In plain words, when it stops."""
        return f"when {self!r} says so"

    def refuses(self, measure: Measure) -> str | None:
        """Why it says nothing of a bound measure, being met before any label; None if it does."""
        return None

    def never(self, outlook: Outlook) -> str | None:
        """Why it cannot stop before labelling ends anyway; None if it can, for all that is known."""
        return None

    def room(self, spent: Spent) -> float:
        """How many labels may be asked for at once without going further than it says; 0: none."""
        return np.inf

    @abstractmethod
    def check(self, history: Sequence[Estimate]) -> Decision:
        """The decision after the last of these estimates."""

    def __or__(self, other: StopRule) -> StopRule:
        return Either(self, _checked(other, "|"))

    def __and__(self, other: StopRule) -> StopRule:
        return Both(self, _checked(other, "&"))


def _checked(other: Any, sign: str) -> StopRule:
    if not isinstance(other, StopRule):
        raise InvalidInput(f"{sign} puts two stop rules together, such as Width(0.1), and {other!r} is none")
    return other


@dataclass(frozen=True)
class Either(StopRule):
    """Stop when one of two rules says so."""

    first: StopRule
    second: StopRule

    @property
    def peeks(self) -> bool:  # type: ignore[override]
        """Whether either rule looks at a value or an interval."""
        return self.first.peeks or self.second.peeks

    @property
    def alternative(self) -> Alternative:  # type: ignore[override]
        """The end that all who look at intervals look at; both if they differ."""
        ends = {rule.alternative for rule in (self.first, self.second) if rule.peeks}
        return ends.pop() if len(ends) == 1 else "two-sided"

    @property
    def asks_groups(self) -> bool:  # type: ignore[override]
        """Whether either rule asks about groups."""
        return self.first.asks_groups or self.second.asks_groups

    def explain(self) -> str:
        return f"{self.first.explain()}, or {self.second.explain()}, whichever comes first"

    def refuses(self, measure: Measure) -> str | None:
        return self.first.refuses(measure) or self.second.refuses(measure)

    def never(self, outlook: Outlook) -> str | None:
        why = [rule.never(outlook) for rule in (self.first, self.second)]
        return None if None in why else "; ".join(one for one in why if one)

    def room(self, spent: Spent) -> float:
        return min(self.first.room(spent), self.second.room(spent))

    def check(self, history: Sequence[Estimate]) -> Decision:
        a, b = self.first.check(history), self.second.check(history)
        why = a.why if a.stop and not b.stop else b.why if b.stop and not a.stop else f"{a.why}; {b.why}"
        return Decision(a.stop or b.stop, why, weaker(a.guarantee, b.guarantee))


@dataclass(frozen=True)
class Both(Either):
    """Stop when two rules both say so."""

    def explain(self) -> str:
        return f"{self.first.explain()}, and also {self.second.explain()}"

    def never(self, outlook: Outlook) -> str | None:
        return self.first.never(outlook) or self.second.never(outlook)

    def room(self, spent: Spent) -> float:
        return max(self.first.room(spent), self.second.room(spent))

    def check(self, history: Sequence[Estimate]) -> Decision:
        a, b = self.first.check(history), self.second.check(history)
        return Decision(a.stop and b.stop, f"{a.why}; {b.why}", weaker(a.guarantee, b.guarantee))


def weaker(a: Guarantee, b: Guarantee) -> Guarantee:
    """The weaker of two guarantees, which is what a compound of both can promise."""
    return min(a, b, key=GUARANTEES.index)


def looks_at_intervals(rule: StopRule) -> bool:
    """Whether it, or a rule that it is put together of, looks at intervals or values."""
    if isinstance(rule, Either):
        return looks_at_intervals(rule.first) or looks_at_intervals(rule.second)
    return rule.peeks and not rule.asks_groups


def check_safety(rule: StopRule, estimate: Estimate, allow_unsafe: bool) -> None:
    """Refuse a rule that looks at intervals which do not hold when looked at often."""
    if looks_at_intervals(rule) and estimate.guarantee not in SAFE and not allow_unsafe:
        raise NotSupported(
            f"this rule looks at intervals with a {estimate.guarantee!r} guarantee, which no longer hold if "
            "labelling stops because of what they show. Either use design='auto-audit' (or 'auto', for "
            "measures of predicted classes), whose intervals still hold; or fix the number of labels "
            "beforehand (LabelsSpent); or pass allow_unsafe=True and say so in the report"
        )
