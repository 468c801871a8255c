"""A belief as the labels correct it: the same order of items, on another scale."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit, ndtri

from sondage.beliefs.base import POSSIBLE, Belief, Nodes, Seen, at_least, component_nodes
from sondage.beliefs.recalibration import Recalibration, level_and_slope
from sondage.beliefs.static import StaticBelief
from sondage.errors import InvalidInput
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.types import Floats

_EDGE = 1e-9
_PSEUDO = 2.0


@dataclass(frozen=True, eq=False)
class Recalibrated(StaticBelief):
    """What a bound belief would have said before any label, had it known the labels' level and slope.

    Classes: a logistic correction among the items that expect the same class (``Recalibration``). Labels
    of several yes or no: one logistic correction of all. Real labels: nodes moved and stretched by the
    mean and standard deviation of the labels' normal scores. For looking back; it cannot be written
    down, so no study can be made with it.
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
        if not len(seen.y):
            return cls(belief)
        if space.kind == "classes":
            share = belief.items(rows).weights
            counts = np.zeros_like(share)
            counts[np.arange(len(share)), seen.y.astype(np.int64)] = 1.0
            return cls(belief, Recalibration.fit(share, counts, share.argmax(axis=1), space.size))
        if space.kind == "vector":
            x = _log_odds(belief.items(rows).weights).ravel()
            hit = space.vectors(seen.y).ravel()
            centre = float(x.mean())
            return cls(belief, None, centre, *level_and_slope(x - centre, centre, hit, np.ones(len(x))))
        z = ndtri(np.clip(belief.below(rows, seen.y), _EDGE, 1.0 - _EDGE))
        # A normal prior of some pseudo-labels at mean 0 and standard deviation 1.
        mean = float(z.sum() / (len(z) + _PSEUDO))
        spread = np.sqrt((float(np.square(z - mean).sum()) + _PSEUDO) / (len(z) + _PSEUDO))
        return cls(belief, None, 0.0, mean, float(spread))

    def bind(self, pool: Pool, systems: tuple[str, ...]) -> Recalibrated:
        """It belongs to the pool and the labels that it was fitted to."""
        raise InvalidInput("a recalibrated belief is fitted to a pool already: use the belief itself")

    def items(self, rows: Rows) -> Nodes:
        """The corrected belief."""
        labels, weights = self.prior.items(rows)
        if self.classes is not None:
            return Nodes(labels, at_least(self.classes.apply(weights, weights.argmax(axis=1)), POSSIBLE))
        if rows.labels.kind == "vector":
            x = self.centre + self.level + self.slope * (_log_odds(weights) - self.centre)
            return component_nodes(expit(x), rows.labels)
        if rows.labels.kind == "classes":
            return Nodes(labels, weights)
        mean = (weights * labels).sum(axis=1, keepdims=True)
        std = np.sqrt((weights * np.square(labels - mean)).sum(axis=1, keepdims=True))
        return Nodes(mean + self.level * std + self.slope * (labels - mean), weights)


def _log_odds(chance: Floats) -> Floats:
    return np.asarray(logit(np.clip(chance, _EDGE, 1.0 - _EDGE)))
