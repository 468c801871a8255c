"""The budget: how many labels, or how much cost, may be spent. A hard cap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sondage.errors import InvalidInput
from sondage.pool.pool import Pool
from sondage.types import is_number, is_whole


@dataclass(frozen=True)
class Cost:
    """A budget in the unit of the pool's cost column."""

    amount: float

    def __post_init__(self) -> None:
        if not (is_number(self.amount) and 0 < self.amount < np.inf):
            raise InvalidInput(f"Cost(amount) takes a number above 0, not {self.amount!r}")


Budget = int | Cost | None
_USUAL = 100
"""Labels that a study without a budget is laid out for: it may end any time."""


def checked_budget(budget: Any) -> Budget:
    """A budget that makes sense, or an error."""
    if budget is None or isinstance(budget, Cost):
        return budget
    if not is_whole(budget) or budget < 1:
        raise InvalidInput(f"budget= takes a whole number of labels above 0 or Cost(amount), not {budget!r}")
    return int(budget)


def checked_count(what: str, n: Any) -> int:
    """A whole number above 0, or an error that says ``what`` takes one."""
    if not is_whole(n) or n < 1:
        raise InvalidInput(f"{what} takes a whole number above 0, not {n!r}")
    return int(n)


def labels_paid_for(budget: Budget, pool: Pool) -> float:
    """About how many labels there will be: what the budget pays for, or ``_USUAL`` without one."""
    if budget is None:
        return min(_USUAL, len(pool))
    if isinstance(budget, Cost):
        return budget.amount / pool.mean("cost")
    return budget
