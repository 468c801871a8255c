"""A prior that groups teach each other: how far scores are off, and how many labels they are worth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betaln, expit, gammaln, logit

from sondage.beliefs.grouped.priors import SURE
from sondage.beliefs.grouped.rates import Rates
from sondage.streams import Stream
from sondage.types import Floats, Ints

SHIFTS = np.linspace(-4.0, 4.0, 33)
STRENGTHS = np.geomspace(1.0, 200.0, 12)
USUAL_SHIFT = 1.5
"""Standard deviation, in logits, by which scores are thought to be off before any label."""
_AT_ONCE = 2_000_000
_SPLIT_STRENGTHS = np.geomspace(0.5, 200.0, 10)
_ANYWHERE = 0.05
"""Share of the errors that may be of any class, whatever the scores say."""


@dataclass(frozen=True)
class Learned:
    """(..., H) ``weight`` of every pair of shift and strength, and the groups' (G,) ``expected`` rates.

    Right predictions of a group are beta-binomial around ``sigmoid(logit(expected) + shift)``. Shifts are
    normal before any label, strengths even on a log scale.

    >>> found = learned(np.full(40, 0.9), np.full(40, 5.0), np.full(40, 10.0))
    >>> float(found.shift) < -1.5  # scores say .9, labels .5
    True
    """

    expected: Floats
    weight: Floats

    @property
    def shift(self) -> Floats:
        """Expected shift of the scores, in logits."""
        return np.asarray(self.weight @ np.repeat(SHIFTS, len(STRENGTHS)))

    @property
    def strength(self) -> Floats:
        """Labels that the shifted scores are worth: the geometric mean."""
        return np.asarray(np.exp(self.weight @ np.tile(np.log(STRENGTHS), len(SHIFTS))))

    def at(self, place: Ints) -> tuple[Floats, Floats]:
        """Pseudo-labels by the pairs at ``place``: their shape and (G,) in the end."""
        shift, strength = np.divmod(place, len(STRENGTHS))
        return _pseudo(self.expected, SHIFTS[shift][..., None], STRENGTHS[strength][..., None])

    def typical(self) -> tuple[Floats, Floats]:
        """(..., G) right and wrong pseudo-labels by the expected shift and strength."""
        return _pseudo(self.expected, self.shift[..., None], self.strength[..., None])

    def pick(self, stream: Stream, count: int) -> Ints:
        """(count, ...) places of pairs, by their weight."""
        chance = np.cumsum(self.weight, axis=-1)
        lead = chance.shape[:-1]
        target = stream.uniform(count * int(np.prod(lead))).reshape(count, *lead, 1)
        found = (chance <= target * chance[..., -1:]).sum(axis=-1)
        return np.asarray(np.minimum(found, chance.shape[-1] - 1))

    def mean(self, rates: Rates) -> Floats:
        """(G,) expected rate of every group, over all pairs."""
        keep = np.flatnonzero(self.weight > 1e-6 * self.weight.max())
        a, b = self.at(keep)
        each = Rates(a, b, rates.right, rates.n, rates.size).mean
        return np.asarray(self.weight[keep] @ each / self.weight[keep].sum())

    def drawn(self, rates: Rates, stream: Stream, count: int) -> Floats:
        """(count, G) right predictions among all items of every group, from the posterior over all pairs."""
        a, b = self.at(self.pick(stream, count))
        return np.asarray(Rates(a, b, rates.right, rates.n, rates.size).drawn(stream, 1)[0])


def _pseudo(expected: Floats, shift: Floats, strength: Floats) -> tuple[Floats, Floats]:
    mean = np.clip(expit(logit(np.clip(expected, SURE, 1.0 - SURE)) + shift), SURE, 1.0 - SURE)
    return np.asarray(strength * mean), np.asarray(strength * (1.0 - mean))


def learned(expected: Floats, right: Floats, n: Floats) -> Learned:
    """What (..., G) labels say of how far the scores of groups are off and what they are worth.

    Refit it from time to time (every tenth of the labels so far is enough): it costs some 20 microseconds a
    group, a choice by it far less.
    """
    lead, groups = np.broadcast(right, n).shape[:-1], np.shape(expected)[-1]
    right = np.broadcast_to(right, (*lead, groups)).reshape(-1, groups)
    n = np.broadcast_to(n, (*lead, groups)).reshape(-1, groups)
    a, b = _pseudo(expected, SHIFTS[:, None, None], STRENGTHS[:, None])
    a, b = a.reshape(-1, groups), b.reshape(-1, groups)
    before = betaln(a, b)
    out = np.empty((len(n), len(a)))
    step = max(_AT_ONCE // a.size, 1)
    for begin in range(0, len(n), step):
        r, w = right[begin : begin + step, None], (n - right)[begin : begin + step, None]
        seen = (n[begin : begin + step] > 0).any(axis=0)
        r, w = r[..., seen], w[..., seen]
        out[begin : begin + step] = (betaln(a[:, seen] + r, b[:, seen] + w) - before[:, seen]).sum(axis=-1)
    out -= 0.5 * np.square(np.repeat(SHIFTS, len(STRENGTHS)) / USUAL_SHIFT)
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
    may = shares > 0
    may |= wrong > 0
    total = shares.sum(axis=-1, keepdims=True)
    even = np.divide(
        1.0, may.sum(axis=-1, keepdims=True), out=np.zeros_like(total), where=may.any(-1, keepdims=True)
    )
    share = np.divide(shares, total, out=np.zeros_like(shares), where=total > 0)
    share = np.where(may, (1.0 - _ANYWHERE) * share + _ANYWHERE * even, 0.0)
    share = np.divide(share, share.sum(-1, keepdims=True), out=share, where=may.any(-1, keepdims=True))
    score = np.empty(len(_SPLIT_STRENGTHS))
    n = wrong.sum(axis=-1)
    for k, strength in enumerate(_SPLIT_STRENGTHS.tolist()):
        alpha = strength * share[may]
        each = (gammaln(alpha + wrong[may]) - gammaln(alpha)).sum()
        score[k] = each + (gammaln(strength) - gammaln(strength + n)).sum()
    weight = np.exp(score - score.max())
    return np.asarray(np.exp(weight @ np.log(_SPLIT_STRENGTHS) / weight.sum()) * share)
