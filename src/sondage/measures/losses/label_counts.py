"""Counts of labels that are yes or no to many questions at once.

The losses are the weight, then for each label whether it applies and is predicted, whether it applies, and
whether it is predicted: as counts of classes (``class_counts.py``), so that the same maps serve both. The
influence of an item is a sum over the labels of ``c + b * label``, where ``c`` and ``b`` depend on the
prediction alone; an average has that sum as its one coordinate, and a value of every label each term. All
labels of an item are drawn together, so that the square is that of the whole sum: covariances between labels
belong to the variance of an average (Yilmaz et al., eq. 112-119, leave them out).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sondage.measures.influence import ALL, Influence, written_out
from sondage.measures.losses.vectors import LinearLosses, VectorInfluence, chosen, told
from sondage.measures.maps.counts import OwnSlope
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.types import Floats


class LabelCounts(LinearLosses):
    """Right, actual and predicted of the labels at some ``places``."""

    def __init__(self, system: str | None, places: tuple[int, ...]) -> None:
        self.system, self.places = system, places

    @property
    def d(self) -> int:
        return 1 + 3 * len(self.places)

    def known(self, pool: Pool) -> Floats:
        total = np.zeros(self.d)
        for _, rows in pool.chunks():
            said = self.said(rows)
            total += self._totals(said, np.zeros_like(said), rows.weight)
        total[1 : 1 + 2 * len(self.places)] = np.nan
        return total / len(pool)

    def of_labels(self, rows: Rows, label: Floats) -> Floats:
        said, actual = np.broadcast_arrays(self.said(rows)[:, None, :], chosen(label, self.places))
        one = np.ones((*actual.shape[:2], 1))
        return np.concatenate([one, said * actual, actual, said], axis=-1) * rows.weight[:, None, None]

    def total(self, rows: Rows, y: Floats, weights: Floats, factor: Floats | None = None) -> Floats:
        each = rows.weight if factor is None else factor * rows.weight
        if not written_out(y):
            return self._totals(self.said(rows), chosen(weights, self.places) * each[:, None], each)
        share, label = weights * each[:, None], chosen(told(rows, y), self.places)
        label = np.broadcast_to(label, (len(rows), *label.shape[1:]))
        return self._totals(self.said(rows), np.einsum("ns,nsk->nk", share, label), share.sum(axis=1))

    def _totals(self, said: Floats, actual: Floats, share: Floats) -> Floats:
        """(d,) totals, from (n, k) how much of each label every row has and (n,) how much the row counts."""
        both = np.einsum("nk,nk->k", said, actual)
        return np.concatenate([[share.sum()], both, actual.sum(axis=0), share @ said])

    def said(self, rows: Rows) -> Floats:
        """(n, k) the predictions."""
        return chosen(rows.prediction(self.system), self.places)

    def _along(self, slope: Any) -> Influence:
        if isinstance(slope, OwnSlope):
            both, actual, predicted = slope
            return OfLabels(self, np.stack([both - actual - predicted, actual, predicted]), each=True)
        return OfLabels(self, slope[0, 1:].reshape(3, -1), each=False)


class OfLabels(VectorInfluence):
    """Terms of every label, or their sum; ``slope`` has the derivatives by both, actual and predicted."""

    def __init__(self, losses: LabelCounts, slope: Floats, *, each: bool) -> None:
        self.losses, self.slope, self.each = losses, slope, each
        self.m = len(losses.places) if each else 1

    def of(self, rows: Rows, y: Floats, which: slice = ALL) -> Floats:
        constant, factor, mine = self._terms(rows, which)
        return self._summed(constant[:, None, :] + factor[:, None, :] * chosen(told(rows, y), mine))

    def believed(self, rows: Rows, means: Floats, which: slice = ALL) -> tuple[Floats, Floats]:
        constant, factor, mine = self._terms(rows, which)
        means = chosen(means, mine)
        variance = np.square(factor) * rows.labels.component_variance(means)
        return self._summed(constant + factor * means), self._summed(variance)

    def ends(self, rows: Rows, which: slice = ALL) -> tuple[Floats, Floats]:
        constant, factor, _ = self._terms(rows, which)
        low, high = np.minimum(factor, 0.0), np.maximum(factor, 0.0)
        return self._summed(constant + low), self._summed(constant + high)

    def affine(self, rows: Rows, which: slice = ALL) -> tuple[Floats, Floats]:
        constant, factor, mine = self._terms(rows, which)
        out = np.zeros((len(rows), len(mine) if self.each else 1, len(rows.labels.components)))
        out[:, np.arange(len(mine)) if self.each else 0, mine] = factor
        return self._summed(constant), out

    def _terms(self, rows: Rows, which: slice) -> tuple[Floats, Floats, tuple[int, ...]]:
        """(n, k) ``c`` and ``b`` of the labels that the coordinates ``which`` are about, and their places."""
        kept = which if self.each else ALL
        mine = self.losses.places[kept]
        both, actual, predicted = self.slope[:, kept]
        weight, said = rows.weight[:, None], chosen(rows.prediction(self.losses.system), mine)
        return said * predicted * weight, (said * both + actual) * weight, mine

    def _summed(self, terms: Floats) -> Floats:
        return terms if self.each else terms.sum(axis=-1, keepdims=True)
