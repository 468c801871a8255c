"""Several measures at once: how much those beside the one asked for may count."""

from __future__ import annotations

import numpy as np

from sondage.types import Floats, Ints

_COST = 0.05
"""Share by which the variance of the measure asked for may grow for the sake of the others."""
_WORTH = 0.25
"""What others gain, in logs of variance, counts for so much of what the measure asked for loses."""
_WEIGHTS = np.array([0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 1.0])


def joint(variances: Floats, size: Floats | Ints) -> Floats:
    """(..., U) the variance of an item for the first of some measures, plus what others are worth adding.

    ``variances`` is (A, ..., U), of the influence of an item of each unit on each of A measures. The others
    are added with a weight from 0 to 1. Neyman's quotas for the sum make the first measure at most a
    twentieth worse than quotas for it alone. Within that, the weight minimises the variance of the first
    times the fourth root of that of the others: 1 % for the first must give the others 4 %. The weight is
    small where quotas for the first serve the others well anyway, or where hardly any affordable ones would.

    >>> joint(np.array([[1.0, 1.0], [0.0, 1.0]]), np.array([1, 1])).tolist()
    [1.0, 1.4]
    >>> joint(np.array([[1.0, 0.01], [0.0, 1.0]]), np.array([1, 1])).round(4).tolist()
    [1.0, 0.03]
    """
    first, others = variances[0], variances[1:].sum(axis=0)
    together = np.sqrt(first + np.multiply.outer(_WEIGHTS, others))
    alone, rest = (
        (np.divide(one, together, out=np.zeros_like(together), where=together > 0) @ size) * (together @ size)
        for one in (first, others)
    )
    affords = alone <= (1.0 + _COST) * np.square(np.sqrt(first) @ size)
    cost = np.where(affords, alone * rest**_WORTH, np.inf)
    weight = _WEIGHTS[::-1][cost[::-1].argmin(axis=0)]  # of equals the greatest
    return np.asarray(first + weight[..., None] * others)
