"""Which error rates a classifier may have: before any label, and after those of a pilot.

A world gives every cell (predicted class and band of ranks) its own chances of the labels. After a pilot,
worlds are what a belief about wrong predictions leaves open. Before it, such a belief alone (the default's
curves, say) is no fair guess: its prior was made to learn fast, not to say how good models are. So the scores
have a say as well, and all values of a ratio count as equally likely, but for what the first labels say.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit, ndtri

from sondage.beliefs.base import POSSIBLE, Belief, Nodes, Seen, StaticBelief, at_least
from sondage.beliefs.error_curve.belief import ErrorCurve
from sondage.beliefs.error_rates import ErrorState
from sondage.designs.influence.of_items import is_mean_over_pool
from sondage.errors import InvalidInput
from sondage.measures import Difference, Measure
from sondage.pool.division import Kinds
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.pool.units import Units
from sondage.strata.log_rank import LogRank
from sondage.streams import Stream
from sondage.types import Floats

DOUBT = float(np.log(2.0))
"""Log-odds by which scores may be off as a whole (one standard deviation): odds of half and of twice."""
_CANDIDATES = 40
"""Candidates for every world that is wanted."""
_REACHED = 0.01
"""Share of the candidates beyond either end of the values that count as reached."""
_EDGE = 1e-12
_ITEMS, _FEWEST = 4_000_000, 9
"""Items that may be looked at in all worlds together, and how many worlds there are whatever that takes."""
PILOT = 50
"""Labels from which on the fitted curves are trusted alone."""


@dataclass(frozen=True)
class Possible:
    """Error rates of a pool's cells, as a belief has them after some labels or none."""

    pool: Pool
    measure: Measure
    units: Units
    belief: Belief
    now: ErrorState

    @classmethod
    def of_pool(cls, pool: Pool, measure: Measure, seen: Seen, seed: int) -> Possible:
        """For a study whose own belief is not about wrong predictions: by error curves."""
        systems = measure.systems(pool)
        units = LogRank().cell_units(pool, systems, seed, measure.losses.pattern(pool))
        belief = ErrorCurve().bind(pool, systems)
        mine = Seen(units.of(seen.row), seen.row, seen.y)
        now = belief.step(belief.start(pool, units), mine).errors
        assert now is not None
        return cls(pool, measure, units, belief, now)

    def weights(self, count: int, stream: Stream) -> list[Floats]:
        """(U, S) chances of the labels in each unit, in each of ``count`` worlds."""
        if self.now.n.sum() >= PILOT:
            return list(self.belief.replicate(self.now, stream, count))
        rates = self._likely(self._between_curves_and_scores(_CANDIDATES * count, stream), stream)
        every = self.now.weights(rates)
        weights = at_least(every.reshape(-1, every.shape[-1]), POSSIBLE).reshape(every.shape)
        if isinstance(self.measure, Difference) or self.measure.wide:
            return list(weights[:count])  # systems that are worlds apart need no study
        if is_mean_over_pool(self.measure, self.pool, self.units.representatives()[0]):
            return list(weights[:count])  # a model that is wrong in half of all cases is no fair guess
        value = self._values(weights)
        known = np.flatnonzero(np.isfinite(value))
        if not len(known):
            return list(weights[:count])
        low, high = np.quantile(value[known], [_REACHED, 1.0 - _REACHED])
        goals = low + (high - low) * (np.arange(count) + 0.5) / count
        return [weights[known[np.argmin(np.abs(value[known] - goal))]] for goal in goals]

    def _between_curves_and_scores(self, count: int, stream: Stream) -> Floats:
        """(B, U) chances of a wrong prediction somewhere between what the curves and what the scores say.

        On the scale of log-odds, the share of the scores being spread over 0 to 1 with more at the ends
        (the arcsine distribution): mostly one of the two is about right.
        """
        ranks, units = self.now.places, self.units
        curves = self.belief.rates(self.belief.start(self.pool, units), stream, count)
        mass = self.belief.mass(self.pool, units)
        right = mass[np.arange(units.count), ranks.expects] / units.size
        scores = logit(np.clip(1.0 - right, _EDGE, 1.0 - _EDGE))
        families = int(ranks.family.max()) + 1
        off = DOUBT * ndtri(stream.uniform(count * families) + 2.0**-54).reshape(count, families)
        share = np.square(np.sin(0.5 * np.pi * stream.uniform(count)))[:, None]
        drawn = logit(np.clip(curves, _EDGE, 1.0 - _EDGE))
        return np.asarray(expit(share * (scores + off[:, ranks.family]) + (1.0 - share) * drawn))

    def _likely(self, rates: Floats, stream: Stream) -> Floats:
        """(B, U) as many worlds again, each as often as it makes the labels known likely."""
        if not self.now.n.any():
            return rates
        rate, right = np.clip(rates, _EDGE, 1.0 - _EDGE), self.now.n - self.now.wrong
        fits = np.log(rate) @ self.now.wrong + np.log1p(-rate) @ right
        reached = np.cumsum(np.exp(fits - fits.max()))
        marks = (np.arange(len(rates)) + stream.uniform(1)) / len(rates) * reached[-1]
        return np.asarray(rates[np.minimum(np.searchsorted(reached, marks, "right"), len(rates) - 1)])

    def _values(self, weights: Floats) -> Floats:
        """(B,) value of the measure (its first coordinate) in each world, by the chances of its labels."""
        rows, unit = self.units.representatives()
        units, pool = self.units, self.pool
        loss = self.measure.loss(pool.rows(rows), np.arange(pool.labels.size, dtype=np.float64))
        share = (units.size / np.bincount(unit, minlength=units.count))[unit] / len(pool)
        with np.errstate(all="ignore"):
            R = np.tensordot(weights[:, unit], share[:, None, None] * loss, axes=([1, 2], [0, 1]))
            return np.asarray(self.measure.g(R)[:, 0], dtype=np.float64)


def affordable(pool: Pool, draws: int) -> int:
    """How many worlds there may be where all items are looked at in each."""
    return int(np.clip(_ITEMS // len(pool), min(_FEWEST, draws), draws))


def has_predicted_classes(pool: Pool, measure: Measure) -> bool:
    """Whether there are predicted classes whose errors a curve can be drawn of."""
    return pool.labels.finite and all(pool.has("prediction", name) for name in measure.systems(pool))


@dataclass(frozen=True, eq=False)
class InWorld(StaticBelief):
    """The label chances of a world, as a belief about single items."""

    units: Kinds
    weights: Floats

    def bind(self, pool: Pool, systems: tuple[str, ...]) -> InWorld:
        raise InvalidInput("a world belongs to the pool that it was made for")

    def items(self, rows: Rows) -> Nodes:
        labels = np.arange(self.weights.shape[1], dtype=np.float64)
        return Nodes(labels, self.weights[self.units.of(rows.index)])
