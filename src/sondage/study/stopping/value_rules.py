"""Stop rules on where the value lies: above or below a number, or which of two systems is better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sondage.errors import InvalidInput
from sondage.intervals.base import Alternative
from sondage.measures import Measure
from sondage.study.estimates.result import Estimate
from sondage.study.stopping.rules import Decision, Outlook, StopRule
from sondage.types import is_number


@dataclass(frozen=True)
class Above(StopRule):
    """Stop when every value is surely above a number: its lower bound is.

    On a difference between two systems ``Above(0)`` is superiority and ``Above(-margin)`` non-inferiority;
    ``Above(-margin) & Below(margin)`` is equivalence.

    >>> Above(0.9).explain()
    'when the value is surely above 0.9'
    """

    value: float

    def __post_init__(self) -> None:
        _check_number(self.value)

    @property
    def alternative(self) -> Alternative:
        """A lower bound is all that it needs."""
        return "greater"

    def explain(self) -> str:
        """In plain words."""
        return f"when the value is surely above {self.value:g}"

    def refuses(self, measure: Measure) -> str | None:
        """A value that is always exceeded."""
        if float(measure.range[0].min()) <= self.value:
            return None
        return f"Above({self.value:g}) is met before any label: {_range_of(measure)}"

    def never(self, outlook: Outlook) -> str | None:
        """A value that cannot be exceeded."""
        if outlook.most > self.value:
            return None
        return f"the value is never above {outlook.most:g}, and more than {self.value:g} is wanted"

    def check(self, history: Sequence[Estimate]) -> Decision:
        """Surely above?"""
        last = history[-1]
        low = float(np.min(np.asarray(last.ci.low)))
        why = f"the value is at least {low:.4f}, above {self.value:g} is wanted"
        return Decision(bool(low > self.value), why, last.guarantee)


@dataclass(frozen=True)
class Below(StopRule):
    """Stop when every value is surely below a number: its upper bound is.

    >>> (Above(0.9) | Below(0.9)).explain()
    'when the value is surely above 0.9, or when the value is surely below 0.9, whichever comes first'
    """

    value: float

    def __post_init__(self) -> None:
        _check_number(self.value)

    @property
    def alternative(self) -> Alternative:
        """An upper bound is all that it needs."""
        return "less"

    def explain(self) -> str:
        """In plain words."""
        return f"when the value is surely below {self.value:g}"

    def refuses(self, measure: Measure) -> str | None:
        """A value that is always undercut."""
        if self.value <= float(measure.range[1].max()):
            return None
        return f"Below({self.value:g}) is met before any label: {_range_of(measure)}"

    def never(self, outlook: Outlook) -> str | None:
        """A value that cannot be undercut."""
        if outlook.least < self.value:
            return None
        return f"the value is never below {outlook.least:g}, and less than {self.value:g} is wanted"

    def check(self, history: Sequence[Estimate]) -> Decision:
        """Surely below?"""
        last = history[-1]
        high = float(np.max(np.asarray(last.ci.high)))
        why = f"the value is at most {high:.4f}, below {self.value:g} is wanted"
        return Decision(bool(high < self.value), why, last.guarantee)


@dataclass(frozen=True)
class Decided(StopRule):
    """Stop when it is sure on which side of a number every value lies: which of two systems is better.

    >>> Decided().explain()
    'when it is sure on which side of 0 the value lies'
    """

    value: float = 0.0

    def __post_init__(self) -> None:
        _check_number(self.value)

    def explain(self) -> str:
        """In plain words."""
        return f"when it is sure on which side of {self.value:g} the value lies"

    def refuses(self, measure: Measure) -> str | None:
        """A number that has one side only: every value lies there."""
        least, most = measure.range
        decided = (self.value <= least) | (most <= self.value)
        if not decided.any():
            return None
        return (
            f"Decided({self.value:g}) is known before any label: {_range_of(measure, decided.argmax())}. "
            "Name a number inside, such as Decided(0.8), or make the study for which of two systems is "
            "better, Difference(measure, a, b)"
        )

    def check(self, history: Sequence[Estimate]) -> Decision:
        """On one side for sure?"""
        last = history[-1]
        low, high = np.atleast_1d(last.ci.low), np.atleast_1d(last.ci.high)
        above, below = low > self.value, high < self.value
        where = np.where(above, "above", np.where(below, "below", "not yet surely on one side of"))
        said = [f"{name} is {side} {self.value:g}" for name, side in zip(last.names, where, strict=True)]
        return Decision(bool((above | below).all()), "; ".join(said), last.guarantee)


def _range_of(measure: Measure, which: int | np.intp = 0) -> str:
    """From where to where a coordinate of a measure goes, in words."""
    least, most = measure.range
    return f"{measure.names[which]} goes from {least[which]:g} to {most[which]:g}"


def _check_number(value: float) -> None:
    if not is_number(value) or not np.isfinite(value):
        raise InvalidInput(f"value must be a number, not {value!r}")
