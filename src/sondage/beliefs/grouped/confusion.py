"""Which classes predictions really belong to: Dirichlet rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sondage.arithmetic import shares_of
from sondage.beliefs.grouped.gamma import dirichlet
from sondage.beliefs.grouped.rates import Rates
from sondage.binomial import binomial
from sondage.streams import Stream
from sondage.types import Floats, Ints


@dataclass(frozen=True)
class Confusion:
    """Rows of items with one ``predicted`` (G,) class: how often they are right, and what errors really are.

    ``rates`` says how often. ``split`` (G, K) are pseudo-labels of the true classes of errors and ``wrong``
    (..., G, K) their labels; both are 0 at the predicted class. In a Dirichlet row ``split`` adds up to the
    wrong pseudo-labels of ``rates`` (see ``from_dirichlet``); of a prior that was learned the two are worth
    numbers of labels of their own, and accuracies are the same with and without classes.
    """

    rates: Rates
    predicted: Ints
    split: Floats
    wrong: Floats

    @property
    def _shares(self) -> Floats:
        """(..., G, K) expected share of every class among errors not yet seen."""
        return shares_of(self.split + self.wrong)

    @property
    def mean(self) -> Floats:
        """(..., G, K) expected share of every true class among the items of a row."""
        rates = self.rates
        seen = self.wrong / rates.size[..., None]
        unseen = 1.0 - rates.mean - seen.sum(axis=-1)
        out = seen + unseen[..., None] * self._shares
        out[..., np.arange(len(self.predicted)), self.predicted] = rates.mean
        return np.asarray(out)

    def one(self, stream: Stream) -> Floats:
        """(..., G, K) shares of every true class, drawn once: to choose the next row (see ``Rates.one``)."""
        rate = self.rates.one(stream)
        seen = self.wrong / self.rates.size[..., None]
        unseen = np.maximum(1.0 - rate - seen.sum(axis=-1), 0.0)
        out = seen + unseen[..., None] * dirichlet(self.split + self.wrong, stream)
        out[..., np.arange(len(self.predicted)), self.predicted] = rate
        return np.asarray(out)

    def drawn(self, stream: Stream, count: int, right: Floats | None = None) -> Floats:
        """(count, G, K) items of every true class in every row, from the exact posterior.

        ``right`` (count, G): right predictions drawn already, by a prior over several strengths.
        """
        rates = self.rates
        right = rates.drawn(stream, count) if right is None else right
        left = rates.rest - (right - rates.right)  # errors among the items not yet seen
        alpha = self.split + self.wrong
        share = dirichlet(np.broadcast_to(alpha, (count, *alpha.shape)), stream)
        return np.asarray(
            _multinomial(left, share, stream) + self.wrong + _at(self.predicted, right, alpha.shape[-1])
        )


def _at(predicted: Ints, right: Floats, classes: int) -> Floats:
    out = np.zeros((*right.shape, classes))
    out[..., np.arange(len(predicted)), predicted] = right
    return out


def _multinomial(n: Floats, share: Floats, stream: Stream) -> Floats:
    """(..., K) numbers that add up to ``n``, one binomial number after the other."""
    out, left, mass = np.zeros(share.shape), np.array(n), np.ones(np.shape(n))
    for k in range(share.shape[-1] - 1):
        open_ = np.nonzero((left > 0) & (share[..., k] > 0))
        if len(open_[0]):
            p = np.minimum(share[..., k][open_] / np.maximum(mass[open_], 1e-300), 1.0)
            found = binomial(stream.uniform(len(p)), left[open_], p)
            out[(*open_, np.full(len(p), k))] = found
            left[open_] -= found
        mass -= share[..., k]
    out[..., -1] = left
    # a last class without a share takes nothing: what rounding left over goes to the likeliest
    spare = np.nonzero((left > 0) & (share[..., -1] <= 0))
    if len(spare[0]):
        best = share[spare].argmax(axis=-1)
        out[(*spare, best)] += out[..., -1][spare]
        out[(*spare, np.full(len(best), share.shape[-1] - 1))] = 0.0
    return out


def from_dirichlet(alpha: Floats, predicted: Ints, labels: Floats, size: Floats) -> Confusion:
    """Rows with (G, K) pseudo-labels ``alpha`` and (..., G, K) ``labels`` of every true class (section 2.2).

    >>> rows = from_dirichlet(np.ones((1, 3)), np.array([0]), np.array([[4.0, 0.0, 1.0]]), np.array([np.inf]))
    >>> rows.mean.tolist()
    [[0.625, 0.125, 0.25]]
    """
    own = np.arange(len(predicted))
    a, right = alpha[own, predicted], labels[..., own, predicted]
    split, wrong = alpha.copy(), np.array(labels, dtype=np.float64)
    split[own, predicted] = 0.0
    wrong[..., own, predicted] = 0.0
    rates = Rates(a, alpha.sum(axis=-1) - a, right, labels.sum(axis=-1), np.asarray(size, dtype=np.float64))
    return Confusion(rates, predicted, split, wrong)
