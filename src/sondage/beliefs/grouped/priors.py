"""Pseudo-labels of groups before any label: none to speak of, or as the scores expect."""

from __future__ import annotations

import numpy as np

from sondage.types import Floats

SURE = 1e-3
"""Scores that are surer than this do not rule an error out (Ji et al. 2021 clip them, too)."""
BETA_STRENGTH = 2.0
"""Labels that a prior counts for in the paper."""


def uninformative(groups: int, strength: float = BETA_STRENGTH) -> tuple[Floats, Floats]:
    """(G,) right and (G,) wrong pseudo-labels, half and half.

    >>> [one.tolist() for one in uninformative(2)]
    [[1.0, 1.0], [1.0, 1.0]]
    """
    return np.full(groups, strength / 2.0), np.full(groups, strength / 2.0)


def from_scores(expected: Floats, strength: float = BETA_STRENGTH) -> tuple[Floats, Floats]:
    """Right and wrong pseudo-labels by the mean confidence of every group.

    >>> [one.round(3).tolist() for one in from_scores(np.array([0.9, 1.0]))]
    [[1.8, 1.998], [0.2, 0.002]]
    """
    mean = np.clip(expected, SURE, 1.0 - SURE)
    return np.asarray(strength * mean), np.asarray(strength * (1.0 - mean))
