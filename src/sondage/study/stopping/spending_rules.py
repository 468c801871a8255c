"""Stop rules on what labelling takes: labels, cost and time. They look at no value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from sondage.errors import InvalidInput
from sondage.study.estimates.result import Estimate
from sondage.study.stopping.rules import Decision, Outlook, Spent, StopRule
from sondage.types import is_number, is_whole
from sondage.wording import counted


@dataclass(frozen=True)
class LabelsSpent(StopRule):
    """Stop at a number of labels fixed beforehand."""

    labels: int
    peeks = False

    def __post_init__(self) -> None:
        if not is_whole(self.labels) or self.labels < 1:
            raise InvalidInput(f"labels must be a whole number of at least 1, not {self.labels!r}")

    def explain(self) -> str:
        return f"at {self.labels:,} labels"

    def never(self, outlook: Outlook) -> str | None:
        if outlook.labels >= self.labels:
            return None
        return f"there will be no more than {outlook.labels:,.0f} labels, and {self.labels:,} are waited for"

    def room(self, spent: Spent) -> float:
        return max(self.labels - spent.labels, 0)

    def check(self, history: Sequence[Estimate]) -> Decision:
        last = history[-1]
        why = f"{counted(last.n_labels, 'label')} used; the rule stops at {self.labels:,}"
        return Decision(last.n_labels >= self.labels, why, last.guarantee)


@dataclass(frozen=True)
class CostSpent(StopRule):
    """Stop once labels have cost this much.

    >>> CostSpent(250).explain()
    'once labels have cost 250'
    """

    amount: float
    peeks = False

    def __post_init__(self) -> None:
        if not is_number(self.amount) or not self.amount > 0:
            raise InvalidInput(f"amount must be above 0, not {self.amount!r}")

    def explain(self) -> str:
        return f"once labels have cost {self.amount:g}"

    def never(self, outlook: Outlook) -> str | None:
        if outlook.cost >= self.amount:
            return None
        return f"labels will cost no more than {outlook.cost:g}, and {self.amount:g} is waited for"

    def room(self, spent: Spent) -> float:
        left = self.amount - spent.cost
        return max(left // spent.dearest, 1.0) if left > 0 else 0.0  # the last one may cost more than is left

    def check(self, history: Sequence[Estimate]) -> Decision:
        last = history[-1]
        why = f"labels have cost {last.cost:g}; the rule stops at {self.amount:g}"
        return Decision(last.cost >= self.amount, why, last.guarantee)


@dataclass(frozen=True)
class Until(StopRule):
    """Stop at a moment fixed beforehand; without a time zone it is local time.

    >>> Until(datetime(2030, 1, 31, 17)).explain()
    'at 2030-01-31 17:00'
    """

    moment: datetime
    peeks = False

    def __post_init__(self) -> None:
        if not isinstance(self.moment, datetime):
            raise InvalidInput(f"moment must be a datetime, not {self.moment!r}")

    def explain(self) -> str:
        return f"at {self.moment:%Y-%m-%d %H:%M}"

    def room(self, spent: Spent) -> float:
        return 0.0 if datetime.now(self.moment.tzinfo) >= self.moment else np.inf

    def check(self, history: Sequence[Estimate]) -> Decision:
        now = datetime.now(self.moment.tzinfo)
        why = f"it is {now:%Y-%m-%d %H:%M}; the rule stops {self.explain()}"
        return Decision(now >= self.moment, why, history[-1].guarantee)
