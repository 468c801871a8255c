"""Weights of draws whose number nobody knows beforehand, because it depends on what they cost.

Every draw, or every round, gives an unbiased estimate given the past, and so does their mean with weights
fixed in advance. Weights over a number that dear items make small are not: where the budget is a cost, dear
items and their labels would decide how much the others count. So the weight of each is settled before it is
drawn, from what is left then. What is not given out in the end, a few draws' worth, is shared by all.
"""

from __future__ import annotations

import numpy as np

from sondage.estimators.base import Case
from sondage.types import Floats


def paid_for(case: Case, cost: Floats, items: Floats) -> Floats:
    """(k,) items that the budget left before each step pays for, at the mean cost until then.

    ``cost`` and ``items`` are what each step took; one item at the pool's mean cost counts as taken before.
    """
    usual = float(np.average(case.units.cost, weights=case.units.size))
    spent, taken = np.cumsum(cost) - cost, np.cumsum(items) - items
    return np.asarray((case.budget - spent) * (taken + 1.0) / (spent + usual))


def stepwise(part: Floats) -> Floats:
    """(k,) weight of each step that takes such a part of what is left.

    >>> stepwise(np.array([1 / 4, 1 / 3, 1 / 2, 1])).round(9).tolist()
    [0.25, 0.25, 0.25, 0.25]
    """
    return np.asarray(part * np.cumprod(np.concatenate([[1.0], 1.0 - part[:-1]])))
