"""Losses of each item's whole set of labels: exact match, and ratios within an item.

What counts in an item is how many of the predicted labels apply (hits), how many others do (missed), and how
many are predicted. Under a belief in independent labels hits and missed are independent sums of yes or no
with different chances, whose distributions follow by adding one label after another (the Poisson-binomial
distribution). So the moments are exact, without a list of all labels.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from sondage.measures.influence import ALL, Influence, written_out
from sondage.measures.losses.vectors import VectorInfluence, VectorLosses, chosen, told
from sondage.measures.maps.counts import Terms, ZeroDivision
from sondage.pool.rows import Rows
from sondage.types import Floats, Ints

_BLOCK = 1024
"""Rows whose distributions are held at once."""
_NEGLIGIBLE = 32.0
"""Chances below e to the minus this are left out of a sum."""


class Outcomes(NamedTuple):
    """What may come of n items with equally many predictions.

    ``hits`` (H, n) and ``missed`` (M, n) are the chances of each number, independent of each other; ``parts``
    (H, M, d - 1) are the losses of an item of weight 1.
    """

    hits: Floats
    missed: Floats
    parts: Floats

    def mean(self, values: Floats) -> Floats:
        """(n,) expectation of (H, M) values."""
        return np.asarray(np.einsum("hn,hn->n", self.hits, values @ self.missed))


class SetLosses(VectorLosses):
    """Losses that depend on an item's hits, missed labels and predictions.

    ``places`` is where the labels that count are; None: all. Write ``parts``, and ``outcomes`` where there is
    a shorter list of what may happen.
    """

    d = 2

    def __init__(self, system: str | None, places: tuple[int, ...] | None = None) -> None:
        self.system, self.places = system, places

    @abstractmethod
    def parts(self, hits: Floats, missed: Floats, predicted: Floats | float) -> Floats:
        """(..., d - 1) losses of an item of weight 1."""

    def of_labels(self, rows: Rows, label: Floats) -> Floats:
        said, label = self.said(rows), chosen(label, self.places)
        label = np.broadcast_to(label, (len(rows), *label.shape[1:]))
        hits = np.einsum("nc,nsc->ns", said, label)
        parts = self.parts(hits, label.sum(axis=-1) - hits, said.sum(axis=1)[:, None])
        out = np.concatenate([np.ones((*hits.shape, 1)), parts], axis=-1)
        return out * rows.weight[:, None, None]

    def outcomes(self, said: Floats, means: Floats) -> Outcomes:
        """What may come of items that have as many predictions, under what is believed of each label."""
        hits, missed = sum_of_labels(said * means), sum_of_labels((1.0 - said) * means)
        return Outcomes(hits, missed, self._grid(len(hits), len(missed), said[0].sum()))

    def _grid(self, hits: int, missed: int, predicted: float) -> Floats:
        h, m = np.meshgrid(np.arange(float(hits)), np.arange(float(missed)), indexing="ij")
        return self.parts(h, m, predicted)

    def expected(self, rows: Rows, y: Floats, weights: Floats) -> Floats:
        if written_out(y):
            return super().expected(rows, y, weights)
        out = np.ones((len(rows), self.d))
        for block, outcomes in self.blocks(rows, weights):
            for k in range(1, self.d):
                out[block, k] = outcomes.mean(outcomes.parts[..., k - 1])
        return out * rows.weight[:, None]

    def extremes(self, rows: Rows, alpha: Floats) -> tuple[Floats, Floats]:
        said = self.said(rows)
        count, labels = said.sum(axis=1).astype(np.int64), said.shape[1]
        low, high = np.empty((2, len(rows), len(alpha)))
        for predicted in np.unique(count):
            mine = count == predicted
            parts = self._grid(predicted + 1, labels - predicted + 1, float(predicted))
            values = alpha[:, 0] + parts.reshape(-1, parts.shape[-1]) @ alpha[:, 1:].T
            low[mine], high[mine] = values.min(axis=0), values.max(axis=0)
        weight = rows.weight[:, None]
        return low * weight, high * weight

    def blocks(self, rows: Rows, means: Floats) -> Iterator[tuple[Ints, Outcomes]]:
        """Some rows at a time, all with as many predictions, and what may come of them."""
        said, means = self.said(rows), chosen(means, self.places)
        count = said.sum(axis=1).astype(np.int64)
        order = np.argsort(count, kind="stable")
        for same in np.split(order, np.flatnonzero(np.diff(count[order])) + 1):
            for start in range(0, len(same), _BLOCK):
                block = same[start : start + _BLOCK]
                yield block, self.outcomes(said[block], means[block])

    def said(self, rows: Rows) -> Floats:
        """(n, k) what is predicted for each row and label."""
        return chosen(rows.prediction(self.system), self.places)

    def _along(self, slope: Any) -> Influence:
        return OfSets(self, slope)


class OfSets(VectorInfluence):
    """The influence of an item on one coordinate, over all that may come of it."""

    m = 1

    def __init__(self, losses: SetLosses, J: Floats) -> None:
        self.losses, self.J = losses, J

    def of(self, rows: Rows, y: Floats, which: slice = ALL) -> Floats:
        return np.asarray(self.losses.of_labels(rows, told(rows, y)) @ self.J[which].T)

    def believed(self, rows: Rows, means: Floats, which: slice = ALL) -> tuple[Floats, Floats]:
        mean, variance = np.empty((2, len(rows), 1))
        for block, outcomes in self.losses.blocks(rows, means):
            influence = self.J[0, 0] + outcomes.parts @ self.J[0, 1:]
            mean[block, 0] = outcomes.mean(influence)
            middle = mean[block, 0].mean()  # squares of small numbers lose little by a difference
            square = outcomes.mean(np.square(influence - middle))
            variance[block, 0] = np.maximum(square - np.square(mean[block, 0] - middle), 0.0)
        weight = rows.weight[:, None]
        return (mean * weight)[:, which], (variance * np.square(weight))[:, which]

    def ends(self, rows: Rows, which: slice = ALL) -> tuple[Floats, Floats]:
        return self.losses.extremes(rows, self.J[which])


class ExactMatch(SetLosses):
    """Whether all labels of an item are predicted rightly."""

    def parts(self, hits: Floats, missed: Floats, predicted: Floats | float) -> Floats:
        """All predicted labels apply, and no other."""
        return np.asarray((hits == predicted) & (missed == 0), dtype=np.float64)[..., None]

    def outcomes(self, said: Floats, means: Floats) -> Outcomes:
        """All right, or not: the chance of a match is the product of the labels' chances."""
        match = np.prod(np.where(said > 0, means, 1.0 - means), axis=1)
        return Outcomes(np.stack([1.0 - match, match]), np.ones((1, len(said))), np.array([[[0.0]], [[1.0]]]))


class RatioWithinItem(SetLosses):
    """A ratio of the counts of an item's own labels, and whether the item counts (0/0 may be left out)."""

    d = 3

    def __init__(
        self, system: str | None, places: tuple[int, ...], terms: Terms, zero_division: ZeroDivision
    ) -> None:
        super().__init__(system, places)
        self.terms, self.zero_division = terms, zero_division

    def parts(self, hits: Floats, missed: Floats, predicted: Floats | float) -> Floats:
        """The ratio, and whether it counts."""
        num, den = (one[0] * hits + one[1] * (hits + missed) + one[2] * predicted for one in self.terms)
        empty, worth = den == 0, self.zero_division
        value = np.where(empty, 0.0, num / np.where(empty, 1.0, den))
        if isinstance(worth, str):
            return np.stack([value, ~empty], axis=-1)
        return np.stack([np.where(empty, worth, value), np.ones_like(value)], axis=-1)


def sum_of_labels(chance: Floats) -> Floats:
    """(K + 1, n) distribution of how many labels apply, from (n, C) the chance of each (Poisson-binomial).

    K is as many as may apply, or a number beyond which there is no chance worth speaking of.

    >>> sum_of_labels(np.array([[0.5, 0.5, 0.0]])).T.tolist()
    [[0.25, 0.5, 0.25]]
    """
    possible = int((chance > 0).sum(axis=1).max(initial=0))
    mean, variance = chance.sum(axis=1), (chance * (1.0 - chance)).sum(axis=1)
    # P(sum >= mean + t) <= exp(-t^2 / 2 (variance + t / 3)): Bernstein's inequality, solved for t.
    beyond = _NEGLIGIBLE / 3 + np.sqrt((_NEGLIGIBLE / 3) ** 2 + 2 * _NEGLIGIBLE * variance)
    most = min(possible, int(np.ceil((mean + beyond).max(initial=0.0))))
    out = np.zeros((most + 1, len(chance)))
    out[0] = 1.0
    top = 0
    for label in chance.T[(chance > 0).any(axis=0)]:
        top = min(top + 1, most)
        up = out[:top] * label
        out[: top + 1] *= 1.0 - label
        out[1 : top + 1] += up
    return out
