"""Recalibration: what the labels say about the scale of a belief, learned from all of them together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from sondage.types import Array, Floats, Ints

PRIOR = 3.0**-2, 5.0**-2
"""Precisions of level and slope around 0 and 1 before any label."""
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
    def fit(cls, share: Floats, counts: Array, group: Ints, groups: int | None = None) -> Recalibration:
        """From (K, S) believed shares and label counts of K cells in groups 0, 1, 2, ...

        ``groups`` is how many there are, where the last ones may have no cell.

        >>> share = np.array([[.7, .3], [.9, .1]])
        >>> fitted = Recalibration.fit(share, np.array([[50, 0], [50, 0]]), np.array([0, 0]))
        >>> bool((fitted.apply(share, np.array([0, 0]))[:, 1] < [.1, .03]).all())
        True
        """
        groups = int(group.max()) + 1 if groups is None else groups
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
            level[g], slope[g] = level_and_slope(x[mine] - centre[g], centre[g], other[mine], n[mine])
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


def level_and_slope(x: Floats, centre: float, other: Array, n: Array) -> tuple[float, float]:
    """Level and slope of greatest posterior density, by Newton's method with step halving.

    ``x`` are believed log odds minus ``centre``; of ``n`` labels (or their weight) ``other`` were not the
    usual one.
    """
    level, slope = 0.0, 1.0
    wide, steep = PRIOR

    def density(level: float, slope: float) -> float:
        eta = centre + level + slope * x
        fit = float(other @ eta - n @ np.logaddexp(0.0, eta))
        return fit - 0.5 * (wide * level**2 + steep * (slope - 1.0) ** 2)

    for _ in range(_STEPS):
        p = expit(centre + level + slope * x)
        residual, spread = other - n * p, n * p * (1.0 - p)
        up = float(residual.sum()) - wide * level, float(residual @ x) - steep * (slope - 1.0)
        a, b = float(spread.sum()) + wide, float(spread @ x)
        c = float(spread @ (x * x)) + steep
        scale = 1.0 / (a * c - b * b)
        step = (c * up[0] - b * up[1]) * scale, (a * up[1] - b * up[0]) * scale
        if max(abs(step[0]), abs(step[1])) > 1.0:  # far from the top Newton's step may overshoot
            here = density(level, slope)
            while density(level + step[0], slope + step[1]) < here and max(map(abs, step)) > 1e-10:
                step = step[0] / 2, step[1] / 2
        level, slope = level + step[0], slope + step[1]
        if max(abs(step[0]), abs(step[1])) < 1e-8:
            break
    return level, max(slope, 0.0)
