"""A prior that groups teach each other: how far scores are off, if they tell groups apart, their worth."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit, gammaln, logit

from sondage.arithmetic import shares_of
from sondage.beliefs.grouped.priors import SURE
from sondage.beliefs.grouped.rates import Rates
from sondage.streams import Stream
from sondage.types import Floats, Ints

SLOPES = np.array([-0.5, 0.0, 0.5, 1.0])
SHIFTS = np.linspace(-4.0, 4.0, 33)
STRENGTHS = np.geomspace(0.5, 200.0, 10)
SLOPE_WEIGHT = np.array([0.1, 0.25, 0.25, 0.4])
"""Chance before any label that scores order groups wrongly, not at all, by half or as far as they say."""
USUAL_SHIFT = 1.5
"""Standard deviation, in logits, by which scores are expected to be off before any label."""
_SLOPE, _SHIFT, _WORTH = (one.ravel() for one in np.meshgrid(SLOPES, SHIFTS, STRENGTHS, indexing="ij"))
_BEFORE = np.log(np.repeat(SLOPE_WEIGHT, len(_SHIFT) // len(SLOPES))) - 0.5 * np.square(_SHIFT / USUAL_SHIFT)
_NODES = 24
"""Priors over which chances of pairs are averaged."""
_AT_ONCE = 2_000_000
_SPLIT_STRENGTHS = np.geomspace(0.5, 200.0, 10)
_ANYWHERE = 0.05
"""Share of the errors that may be of any class, whatever the scores say."""


@dataclass(frozen=True)
class Learned:
    """(..., H) ``weight`` of every slope, shift and strength, and the groups' (G,) ``expected`` rates.

    Right predictions of a group are beta-binomial around the sigmoid of ``shift`` plus the mean logit of all
    groups plus ``slope`` times the group's distance from it. Shifts are normal before any label, strengths
    even on a log scale. Without a slope, scores that order the groups wrongly made intervals miss: with it
    they are worth nothing as soon as labels say so.

    >>> found = learned(np.full(40, 0.9), np.full(40, 5.0), np.full(40, 10.0))
    >>> float(found.shift) < -1.5  # scores say .9, labels .5
    True
    """

    expected: Floats
    weight: Floats

    @property
    def slope(self) -> Floats:
        """How far scores tell groups apart: 1 as far as they say, 0 not at all."""
        return np.asarray(self.weight @ _SLOPE)

    @property
    def shift(self) -> Floats:
        """Expected shift of the scores, in logits."""
        return np.asarray(self.weight @ _SHIFT)

    @property
    def strength(self) -> Floats:
        """Labels that the scores are worth, slope and shift set right: the geometric mean."""
        return np.asarray(np.exp(self.weight @ np.log(_WORTH)))

    def at(self, place: Ints) -> tuple[Floats, Floats]:
        """Pseudo-labels by the priors at ``place``: their shape and (G,) in the end."""
        return _pseudo(
            self.expected, _SLOPE[place][..., None], _SHIFT[place][..., None], _WORTH[place][..., None]
        )

    def typical(self) -> tuple[Floats, Floats]:
        """(..., G) right and wrong pseudo-labels by the expected slope, shift and strength."""
        return _pseudo(self.expected, self.slope[..., None], self.shift[..., None], self.strength[..., None])

    def pick(self, stream: Stream, count: int) -> Ints:
        """(count, ...) places of priors, by their weight."""
        chance = np.cumsum(self.weight, axis=-1)
        flat = chance.reshape(-1, chance.shape[-1])
        target = stream.uniform(count * len(flat)).reshape(count, -1)
        found = np.stack(
            [np.searchsorted(one, u * one[-1], side="right") for one, u in zip(flat, target.T, strict=True)],
            -1,
        )
        return np.asarray(np.minimum(found, flat.shape[-1] - 1).reshape(count, *chance.shape[:-1]))

    def priors(self, stream: Stream, count: int) -> tuple[Floats, Floats]:
        """(count, ..., G) right and wrong pseudo-labels of priors drawn by their weight."""
        return self.at(self.pick(stream, count))

    def nodes(self, rates: Rates) -> tuple[Rates, ...]:
        """What is known under priors of equal weight, from those worth little to those worth much."""
        a, b = replace(self, expected=self.expected[:1]).at(np.arange(len(self.weight)))
        order = np.lexsort((a[:, 0], (a + b)[:, 0]))
        total = np.cumsum(self.weight[order])
        place = np.searchsorted(total, total[-1] * (np.arange(_NODES) + 0.5) / _NODES)
        each = zip(*self.at(order[place]), strict=True)
        return tuple(Rates(a, b, rates.right, rates.n, rates.size) for a, b in each)

    def mean(self, rates: Rates) -> Floats:
        """(G,) expected rate of every group, over all priors."""
        keep = np.flatnonzero(self.weight > 1e-6 * self.weight.max())
        a, b = self.at(keep)
        each = Rates(a, b, rates.right, rates.n, rates.size).mean
        return np.asarray(self.weight[keep] @ each / self.weight[keep].sum())

    def drawn(self, rates: Rates, stream: Stream, count: int) -> Floats:
        """(count, ..., G) right predictions among all items of every group, over all priors."""
        a, b = self.priors(stream, count)
        return np.asarray(Rates(a, b, rates.right, rates.n, rates.size).drawn(stream, 1)[0])


def _pseudo(expected: Floats, slope: Floats, shift: Floats, strength: Floats) -> tuple[Floats, Floats]:
    at = logit(np.clip(expected, SURE, 1.0 - SURE))
    middle = at.mean(axis=-1, keepdims=True)
    mean = np.clip(expit(middle + slope * (at - middle) + shift), SURE, 1.0 - SURE)
    return np.asarray(strength * mean), np.asarray(strength * (1.0 - mean))


def learned(expected: Floats, right: Floats, n: Floats) -> Learned:
    """What (..., G) labels say of how far the scores of groups are off and what they are worth.

    Refit it from time to time (once there are a fifth more labels): it costs some 80 microseconds a
    group, a choice by it far less.
    """
    lead, groups = np.broadcast(right, n).shape[:-1], np.shape(expected)[-1]
    right = np.broadcast_to(right, (*lead, groups)).reshape(-1, groups)
    n = np.broadcast_to(n, (*lead, groups)).reshape(-1, groups)
    a, b = _pseudo(expected, _SLOPE[:, None], _SHIFT[:, None], _WORTH[:, None])
    seen = (n > 0).any(axis=0)
    a, b, right, n = a[:, seen], b[:, seen], right[:, seen], n[:, seen]
    before = gammaln(a) + gammaln(b)
    # the beta-binomial chance of the labels; numbers of labels alone matter by strength only
    strength = STRENGTHS[:, None]
    by_strength = (gammaln(strength) - gammaln(strength + n[:, None])).sum(axis=-1)
    out = _BEFORE + np.tile(by_strength, len(a) // len(STRENGTHS))
    step = max(_AT_ONCE // max(a.size, 1), 1)
    for begin in range(0, len(n), step):
        r, w = right[begin : begin + step, None], (n - right)[begin : begin + step, None]
        out[begin : begin + step] += (gammaln(a + r) + gammaln(b + w) - before).sum(axis=-1)
    out = np.exp(out - out.max(axis=-1, keepdims=True))
    out /= out.sum(axis=-1, keepdims=True)
    return Learned(np.asarray(expected, dtype=np.float64), out.reshape(*lead, -1))


def learned_split(shares: Floats, wrong: Floats) -> Floats:
    """(G, K) pseudo-labels of the classes that errors belong to: as the scores say, for what that is worth.

    ``shares`` (G, K) are mean scores and ``wrong`` (G, K) labels of errors, both 0 at the predicted class.
    The strength is the geometric mean by the Dirichlet-multinomial evidence.

    >>> even = np.array([[0.0, 0.5, 0.5]])
    >>> float(learned_split(even, np.array([[0.0, 30.0, 30.0]])).sum()) > 10.0
    True
    >>> float(learned_split(even, np.array([[0.0, 60.0, 0.0]])).sum()) < 3.0
    True
    """
    may = (shares > 0) | (wrong > 0)
    share = (1.0 - _ANYWHERE) * shares_of(shares) + _ANYWHERE * shares_of(may)
    share = shares_of(np.where(may, share, 0.0))
    score = np.empty(len(_SPLIT_STRENGTHS))
    n = wrong.sum(axis=-1)
    for k, strength in enumerate(_SPLIT_STRENGTHS.tolist()):
        alpha = strength * share[may]
        each = (gammaln(alpha + wrong[may]) - gammaln(alpha)).sum()
        score[k] = each + (gammaln(strength) - gammaln(strength + n)).sum()
    weight = np.exp(score - score.max())
    return np.asarray(np.exp(weight @ np.log(_SPLIT_STRENGTHS) / weight.sum()) * share)
