"""Recalibration: what the labels say about the scale of a belief, and the belief as they correct it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit, ndtri

from sondage.beliefs.base import Belief, Nodes, Seen, StaticBelief, label_nodes, moments
from sondage.errors import InvalidInput
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.types import Array, Floats, Ints

PRIOR = 3.0**-2, 5.0**-2
"""Precisions of level and slope around 0 and 1 before any label."""
_STEPS = 25
_EDGE = 1e-9
_PSEUDO = 2.0


@dataclass(frozen=True)
class Recalibration:
    """A logistic correction of believed class shares, one per group of cells (Platt 1999).

    In each group one label is usual; the chance of any other is believed to be ``p``. The corrected chance
    has ``logit p' = centre + level + slope * (logit p - centre)``, with level and slope fitted to the labels
    seen under normal priors around 0 and 1. The priors keep an unseen label possible, and leave a group
    without labels as it was.
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
    """(K,) of any other label than the usual one."""
    return clipped_logit(1.0 - np.take_along_axis(share, usual[:, None], axis=1)[:, 0])


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


def clipped_logit(chance: Floats) -> Floats:
    """Log odds of chances, of which none is quite 0 or 1."""
    return np.asarray(logit(np.clip(chance, _EDGE, 1.0 - _EDGE)))


@dataclass(frozen=True, eq=False)
class Recalibrated(StaticBelief):
    """What a bound belief would have said before any label, had it known the labels' level and slope.

    Classes: a logistic correction among the items that expect the same class (``Recalibration``). Labels of
    several yes or no: one logistic correction of all. Real labels: nodes moved and stretched by the mean and
    standard deviation of the labels' normal scores. It serves to look back: it cannot be written down, so no
    study can be made with it.
    """

    prior: Belief
    classes: Recalibration | None = None
    centre: float = 0.0
    level: float = 0.0
    slope: float = 1.0

    @classmethod
    def fit(cls, belief: Belief, pool: Pool, seen: Seen) -> Recalibrated:
        """From the labels seen; without any, the belief itself."""
        rows, space = pool.rows(seen.row), pool.labels
        if not len(seen.y) or pool.parts is not None:  # of documents, as it is
            return cls(belief)
        if space.kind == "classes":
            share = belief.items(rows).weights
            counts = np.zeros_like(share)
            counts[np.arange(len(share)), seen.y.astype(np.int64)] = 1.0
            return cls(belief, Recalibration.fit(share, counts, share.argmax(axis=1), space.size))
        if space.kind == "vector":
            x = clipped_logit(belief.items(rows).weights).ravel()
            hit = space.vectors(seen.y).ravel()
            centre = float(x.mean())
            return cls(belief, None, centre, *level_and_slope(x - centre, centre, hit, np.ones(len(x))))
        z = ndtri(np.clip(belief.below(rows, seen.y), _EDGE, 1.0 - _EDGE))
        # A normal prior of some pseudo-labels at mean 0 and standard deviation 1.
        mean = float(z.sum() / (len(z) + _PSEUDO))
        spread = np.sqrt((float(np.square(z - mean).sum()) + _PSEUDO) / (len(z) + _PSEUDO))
        return cls(belief, None, 0.0, mean, float(spread))

    def bind(self, pool: Pool, systems: tuple[str, ...]) -> Recalibrated:
        raise InvalidInput("a recalibrated belief is fitted to a pool already: use the belief itself")

    def items(self, rows: Rows) -> Nodes:
        labels, weights = self.prior.items(rows)
        if self.classes is not None:
            return label_nodes(self.classes.apply(weights, weights.argmax(axis=1)), rows.labels)
        if rows.labels.kind == "vector" and (self.level, self.slope) != (0.0, 1.0):
            x = self.centre + self.level + self.slope * (clipped_logit(weights) - self.centre)
            return label_nodes(expit(x), rows.labels)
        if rows.labels.kind != "real":
            return Nodes(labels, weights)
        mean, std = (one[:, None] for one in moments(labels, weights))
        return Nodes(mean + self.level * std + self.slope * (labels - mean), weights)
