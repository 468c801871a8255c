"""A learned prior for cells in families: bins of one group may be off together, and those of another not.

A single prior for all cells takes a group that is wrong more often in every bin for many bins by chance, and
draws them all back to the others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, gammaln, logit

from sondage.beliefs.grouped.learned import SHIFTS, STRENGTHS, USUAL_SHIFT, learned
from sondage.beliefs.grouped.priors import SURE
from sondage.beliefs.grouped.rates import Rates
from sondage.streams import Stream
from sondage.types import Floats, Ints

_APART = np.array([0.02, 0.1, 0.25, 0.5, 1.0, 1.5])
"""Standard deviations of the families' shifts, in logits: nearly none, to all for themselves."""
_KERNEL = np.exp(-0.5 * np.square((SHIFTS[:, None] - SHIFTS) / _APART[:, None, None]))
_KERNEL /= _KERNEL.sum(axis=1, keepdims=True)
"""(T, K, K) chance of a family's shift given the one that families lie around and how far apart they are."""
_AT_ONCE = 4_000_000


@dataclass(frozen=True)
class Families:
    """What labels say of cells whose families are each off by a shift of its own; used like ``Learned``.

    ``expected`` (C,) are the scores' rates, ``around`` (C,) these as far as they tell cells apart,
    ``family`` (C,) the family of each.
    ``common`` (T, S, K) is the weight of how far families are apart, of what cells are worth, and of the
    shift that families lie around; ``seen`` (F, S, K) how likely a family's labels are under a strength and
    a shift.
    """

    expected: Floats
    around: Floats
    family: Ints
    common: Floats
    seen: Floats

    def _pseudo(self, shift: Floats, strength: Floats) -> tuple[Floats, Floats]:
        mean = np.clip(expit(logit(self.around) + shift[..., self.family]), SURE, 1.0 - SURE)
        return np.asarray(strength * mean), np.asarray(strength * (1.0 - mean))

    def typical(self) -> tuple[Floats, Floats]:
        """(C,) right and wrong pseudo-labels by the expected shifts and strength."""
        total = np.einsum("fsk,tkc->ftsc", self.seen, _KERNEL)
        shift = np.einsum("fsk,k,tkc->ftsc", self.seen, SHIFTS, _KERNEL) / np.maximum(total, 1e-300)
        strength = np.exp(self.common.sum(axis=(0, 2)) @ np.log(STRENGTHS))
        return self._pseudo(np.einsum("tsc,ftsc->f", self.common, shift), np.asarray(strength))

    def priors(self, stream: Stream, count: int) -> tuple[Floats, Floats]:
        """(count, C) right and wrong pseudo-labels of priors drawn by their weight."""
        total = np.cumsum(self.common)
        place = np.searchsorted(total, stream.uniform(count) * total[-1], side="right")
        t, s, c = np.unravel_index(np.minimum(place, total.size - 1), self.common.shape)
        step, out = max(_AT_ONCE // (len(self.seen) * len(SHIFTS)), 1), []
        for begin in range(0, count, step):
            some = slice(begin, begin + step)
            chance = np.moveaxis(self.seen[:, s[some]], 0, 1) * _KERNEL[t[some], :, c[some]][:, None]
            each = np.cumsum(chance, axis=-1)  # (draws, F, K)
            target = stream.uniform(each[..., 0].size).reshape(each.shape[:2])[..., None] * each[..., -1:]
            out.append(SHIFTS[np.minimum((each <= target).sum(axis=-1), len(SHIFTS) - 1)])
        return self._pseudo(np.concatenate(out), STRENGTHS[s][:, None])

    def drawn(self, rates: Rates, stream: Stream, count: int) -> Floats:
        """(count, C) right predictions among all items of every cell, over all priors."""
        a, b = self.priors(stream, count)
        return np.asarray(Rates(a, b, rates.right, rates.n, rates.size).drawn(stream, 1)[0])

    def mean(self, rates: Rates) -> Floats:
        """(C,) expected rate of every cell, over all priors."""
        total = np.einsum("fsk,tkc->ftsc", self.seen, _KERNEL)
        share = self.common[None] / np.maximum(total, 1e-300)
        weight = self.seen * np.einsum("ftsc,tkc->fsk", share, _KERNEL)  # of a family's strength and shift
        weight /= weight.sum(axis=(1, 2), keepdims=True)
        mean = np.clip(expit(logit(self.around) + SHIFTS[:, None]), SURE, 1.0 - SURE)  # (K, C)
        own = np.moveaxis(weight[self.family], 0, -1)  # (S, K, C)
        strength = STRENGTHS[:, None]
        right = strength * np.einsum("skc,kc->sc", own, mean) + own.sum(axis=1) * rates.right
        return np.asarray(rates.seen + rates.unseen * (right / (strength + rates.n)).sum(axis=0))


def by_family(expected: Floats, right: Floats, n: Floats, family: Ints) -> Families:
    """What (C,) labels say, with a shift of its own for each family around one that all have.

    How far families are apart is learned as well: where they agree they are as good as one.

    >>> expected, n, family = np.full(20, 0.8), np.full(20, 4.0), np.repeat([0, 1], 10)
    >>> right = np.where(family == 0, 2.0, 4.0)  # one is right half the time, the other always
    >>> a, b = by_family(expected, right, n, family).typical()
    >>> bool((a / (a + b))[0] < 0.7), bool((a / (a + b))[-1] > 0.85)
    (True, True)
    """
    at = logit(np.clip(expected, SURE, 1.0 - SURE))
    slope = float(learned(expected, right, n).slope)
    around = np.clip(expit(at.mean() + slope * (at - at.mean())), SURE, 1.0 - SURE)
    _, code = np.unique(family, return_inverse=True)
    mean = np.clip(expit(logit(around) + SHIFTS[:, None]), SURE, 1.0 - SURE)  # (K, C)
    strength = STRENGTHS[:, None, None]
    log = gammaln(strength * mean + right) - gammaln(strength * mean)
    log += gammaln(strength * (1.0 - mean) + n - right) - gammaln(strength * (1.0 - mean))
    log += gammaln(strength) - gammaln(strength + n)  # (S, K, C) chance of the labels of every cell
    order = np.argsort(code, kind="stable")
    starts = np.flatnonzero(np.diff(code[order], prepend=-1))
    each = np.moveaxis(np.add.reduceat(log[..., order], starts, axis=-1), -1, 0)  # (F, S, K)
    top = each.max(axis=(1, 2), keepdims=True)
    seen = np.exp(each - top)
    evidence = np.zeros((len(_APART), len(STRENGTHS), len(SHIFTS))) - 0.5 * np.square(SHIFTS / USUAL_SHIFT)
    for one in seen:  # (S, K)
        evidence += np.log(np.einsum("sk,tkc->tsc", one, _KERNEL) + 1e-300)
    common = np.exp(evidence - evidence.max())
    return Families(np.asarray(expected, dtype=np.float64), around, code, common / common.sum(), seen)
