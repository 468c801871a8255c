"""Recalibration: what the labels say about the scale of a belief, learned from all of them together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from sondage.types import Array, Floats, Ints

_LEVEL_SD, _SLOPE_SD = 3.0, 5.0
_STEPS = 25
_EDGE = 1e-9


@dataclass(frozen=True)
class Recalibration:
    """A logistic correction of believed class shares, one per group of cells (Platt 1999).

    In each group one label is usual; the chance of any other is believed to be ``p``. The corrected
    chance has ``logit p' = centre + level + slope * (logit p - centre)``, with level and slope fitted to
    the labels seen under normal priors around 0 and 1. The priors keep a label that has not been seen
    yet possible, and keep a group without labels as it was believed to be.
    """

    usual: Ints
    centre: Floats
    level: Floats
    slope: Floats

    @classmethod
    def fit(cls, share: Floats, counts: Array, group: Ints) -> Recalibration:
        """From (K, S) believed shares and label counts of K cells in groups 0, 1, 2, ...

        >>> share = np.array([[.7, .3], [.9, .1]])
        >>> fitted = Recalibration.fit(share, np.array([[50, 0], [50, 0]]), np.array([0, 0]))
        >>> bool((fitted.apply(share, np.array([0, 0]))[:, 1] < [.1, .03]).all())
        True
        """
        groups = int(group.max()) + 1
        seen = np.zeros((groups, share.shape[1]))
        np.add.at(seen, group, counts)
        believed = np.zeros_like(seen)
        np.add.at(believed, group, share)
        usual = np.where(seen.any(axis=1), seen.argmax(axis=1), believed.argmax(axis=1))
        x = _log_odds(share, usual[group])
        n = counts.sum(axis=1)
        other = n - np.take_along_axis(counts, usual[group][:, None], axis=1)[:, 0]
        centre, level, slope = np.zeros(groups), np.zeros(groups), np.ones(groups)
        for g in np.flatnonzero(seen.any(axis=1)):
            mine = (group == g) & (n > 0)
            centre[g] = n[mine] @ x[mine] / n[mine].sum()
            level[g], slope[g] = _fit(x[mine] - centre[g], centre[g], other[mine], n[mine])
        return cls(usual, centre, level, slope)

    def apply(self, share: Floats, group: Ints) -> Floats:
        """(K, S) corrected shares; the other labels keep their proportions."""
        usual, centre = self.usual[group], self.centre[group]
        x = _log_odds(share, usual)
        corrected = expit(centre + self.level[group] + self.slope[group] * (x - centre))
        out = share * (corrected / expit(x))[:, None]
        np.put_along_axis(out, usual[:, None], (1.0 - corrected)[:, None], axis=1)
        return out


def _log_odds(share: Floats, usual: Ints) -> Floats:
    other = 1.0 - np.take_along_axis(share, usual[:, None], axis=1)[:, 0]
    return np.asarray(logit(np.clip(other, _EDGE, 1.0 - _EDGE)))


def _fit(x: Floats, centre: float, other: Array, n: Array) -> tuple[float, float]:
    """Level and slope of greatest posterior density, by Newton's method with step halving."""
    precision = np.array([_LEVEL_SD**-2, _SLOPE_SD**-2])
    theta = np.array([0.0, 1.0])
    design = np.stack([np.ones_like(x), x], axis=1)

    def objective(at: Floats) -> float:
        eta = centre + design @ at
        fit = other @ eta - n @ np.logaddexp(0.0, eta)
        return float(fit - 0.5 * precision @ np.square(at - [0.0, 1.0]))

    best = objective(theta)
    for _ in range(_STEPS):
        p = expit(centre + design @ theta)
        gradient = design.T @ (other - n * p) - precision * (theta - [0.0, 1.0])
        curvature = (design * (n * p * (1 - p))[:, None]).T @ design + np.diag(precision)
        step = np.linalg.solve(curvature, gradient)
        while (value := objective(theta + step)) < best and np.abs(step).max() > 1e-10:
            step /= 2
        theta = theta + step
        if np.abs(step).max() < 1e-8:
            break
        best = value
    return float(theta[0]), float(max(theta[1], 0.0))
