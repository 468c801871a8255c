"""Several measures at once: how much those beside the one asked for may count."""

from __future__ import annotations

import numpy as np

from sondage.types import Floats, Ints

_COST = 0.05
"""Share by which the variance of the measure asked for may grow for the sake of the others."""
_WEIGHTS = np.array([0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 1.0])


def joint(variances: Floats, size: Floats | Ints) -> Floats:
    """(..., U) the variance of an item for the first of some measures, and of the others what it affords.

    ``variances`` is (A, ..., U), of the influence of an item of each unit on each of A measures. The others
    are added with the largest weight, 1 at most, at which Neyman's quotas for the sum leave the first
    measure no more than a twentieth worse off than quotas for it alone. That is nearly always 1, or close to
    it; where the first measure hardly needs the labels that the others do (F1 of a weak classifier, whose
    recall is costly) it is little or nothing.

    >>> joint(np.array([[1.0, 1.0], [0.0, 1.0]]), np.array([1, 1])).tolist()
    [1.0, 2.0]
    >>> joint(np.array([[1.0, 0.01], [0.0, 1.0]]), np.array([1, 1])).round(4).tolist()
    [1.0, 0.03]
    """
    first, others = variances[0], variances[1:].sum(axis=0)
    allowed = (1.0 + _COST) * np.square(np.sqrt(first) @ size)
    together = np.sqrt(first + np.multiply.outer(_WEIGHTS, others))
    share = np.divide(first, together, out=np.zeros_like(together), where=together > 0)
    affords = (share @ size) * (together @ size) <= allowed
    weight = np.where(affords.T, _WEIGHTS, 0.0).T.max(axis=0)
    return np.asarray(first + weight[..., None] * others)
