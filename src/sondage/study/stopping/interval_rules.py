"""Stop rules that look at intervals: how wide they are, and on which side of a number they lie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sondage.errors import InvalidInput
from sondage.measures import Measure
from sondage.study.estimates.result import Estimate
from sondage.study.stopping.rules import Decision, Outlook, StopRule
from sondage.types import is_number


@dataclass(frozen=True)
class Width(StopRule):
    """Stop when every interval is at most this wide, from end to end."""

    width: float

    def __post_init__(self) -> None:
        if not is_number(self.width) or not 0 < self.width < np.inf:
            raise InvalidInput(f"width must be above 0 and finite, not {self.width!r}")

    def explain(self) -> str:
        return f"when the interval is at most {self.width:g} wide"

    def refuses(self, measure: Measure) -> str | None:
        least, most = measure.range
        whole = float((most - least).max())
        if self.width < whole:
            return None
        return (
            f"Width({self.width:g}) is met before any label, because {measure.names[0]} goes from "
            f"{least.min():g} to {most.max():g}: ask for an interval narrower than {whole:g}"
        )

    def never(self, outlook: Outlook) -> str | None:
        if not outlook.width > self.width:
            return None
        return (
            f"with {outlook.labels:,.0f} labels the interval is expected to be about {outlook.width:.2g} "
            f"wide, and at most {self.width:g} is wanted"
        )

    def check(self, history: Sequence[Estimate]) -> Decision:
        last = history[-1]
        widest = float(np.max(np.asarray(last.ci.high) - np.asarray(last.ci.low)))
        why = "there is no interval yet" if np.isnan(widest) else f"the interval is {widest:.4f} wide"
        return Decision(
            bool(widest <= self.width), f"{why}, at most {self.width:g} is wanted", last.guarantee
        )


@dataclass(frozen=True)
class _Number(StopRule):
    """A rule about a number that the value is held against."""

    value: float

    def __post_init__(self) -> None:
        if not is_number(self.value) or not np.isfinite(self.value):
            raise InvalidInput(f"value must be a number, not {self.value!r}")

    def _before_any_label(self, what: str, measure: Measure, which: int = 0) -> str:
        (least, most), name = measure.range, measure.names[which]
        met = f"{type(self).__name__}({self.value:g}) is {what} before any label"
        return f"{met}: {name} lies between {least[which]:g} and {most[which]:g}"


@dataclass(frozen=True)
class Above(_Number):
    """Stop when every value is surely above a number: its lower bound is.

    On a difference between two systems ``Above(0)`` is superiority and ``Above(-margin)`` non-inferiority;
    ``Above(-margin) & Below(margin)`` is equivalence.

    >>> Above(0.9).explain()
    'when the value is surely above 0.9'
    """

    alternative = "greater"

    def explain(self) -> str:
        return f"when the value is surely above {self.value:g}"

    def refuses(self, measure: Measure) -> str | None:
        met = self.value < float(measure.range[0].min())
        return self._before_any_label("met", measure) if met else None

    def never(self, outlook: Outlook) -> str | None:
        if outlook.most > self.value:
            return None
        return f"the value is never above {outlook.most:g}, and more than {self.value:g} is wanted"

    def check(self, history: Sequence[Estimate]) -> Decision:
        last = history[-1]
        low = float(np.min(np.asarray(last.ci.low)))
        why = f"the low end of the interval is {low:.4f}, more than {self.value:g} is wanted"
        return Decision(bool(low > self.value), why, last.guarantee)


@dataclass(frozen=True)
class Below(_Number):
    """Stop when every value is surely below a number: its upper bound is.

    >>> (Above(0.9) | Below(0.9)).explain()
    'when the value is surely above 0.9, or when the value is surely below 0.9, whichever comes first'
    """

    alternative = "less"

    def explain(self) -> str:
        return f"when the value is surely below {self.value:g}"

    def refuses(self, measure: Measure) -> str | None:
        met = self.value > float(measure.range[1].max())
        return self._before_any_label("met", measure) if met else None

    def never(self, outlook: Outlook) -> str | None:
        if outlook.least < self.value:
            return None
        return f"the value is never below {outlook.least:g}, and less than {self.value:g} is wanted"

    def check(self, history: Sequence[Estimate]) -> Decision:
        last = history[-1]
        high = float(np.max(np.asarray(last.ci.high)))
        why = f"the high end of the interval is {high:.4f}, less than {self.value:g} is wanted"
        return Decision(bool(high < self.value), why, last.guarantee)


@dataclass(frozen=True)
class Decided(_Number):
    """Stop when it is sure on which side of a number every value lies: which of two systems is better.

    >>> Decided().explain()
    'when it is sure on which side of 0 the value lies'
    """

    value: float = 0.0

    def explain(self) -> str:
        return f"when it is sure on which side of {self.value:g} the value lies"

    def refuses(self, measure: Measure) -> str | None:
        least, most = measure.range
        decided = (self.value <= least) | (most <= self.value)
        if not decided.any():
            return None
        return (
            f"{self._before_any_label('settled', measure, int(decided.argmax()))}. "
            "Name a number inside, such as Decided(0.8); or, to find out which of two systems is better, "
            "make a study of Difference(measure, a, b)"
        )

    def check(self, history: Sequence[Estimate]) -> Decision:
        last = history[-1]
        low, high = np.atleast_1d(last.ci.low), np.atleast_1d(last.ci.high)
        above, below = low > self.value, high < self.value
        where = np.where(above, "above", np.where(below, "below", "not yet surely on one side of"))
        said = [f"{name} is {side} {self.value:g}" for name, side in zip(last.names, where, strict=True)]
        return Decision(bool((above | below).all()), "; ".join(said), last.guarantee)
