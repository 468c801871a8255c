"""Areas under the curves: average precision and ROC AUC."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sondage.measures.base import divide
from sondage.measures.bins import BinnedNumber, reached
from sondage.types import Array, Floats


@dataclass(frozen=True)
class AveragePrecision(BinnedNumber):
    """Precision at every threshold, averaged over the positives: ``sum (R_n - R_{n-1}) P_n``.

    Between 0 and 1; undefined where there are no positives. As scikit-learn's ``average_precision_score``:
    a sum without interpolation, equal scores together. With fewer ``thresholds`` than distinct scores it is
    that of the binned scores.

    >>> from sondage.measures import exact
    >>> round(float(exact("average_precision", [1, 0, 1, 0], score=[0.9, 0.6, 0.4, 0.1])), 4)
    0.8333
    """

    alias: ClassVar[str] = "average_precision"
    aliases: ClassVar[tuple[str, ...]] = ("average_precision_score",)

    def value_of(self, positive: Array, other: Array) -> Array:
        """Sum over bins of positives times precision."""
        tp, fp = reached(positive), reached(other)
        precision = divide(tp, tp + fp)
        return divide((positive * np.where(np.isnan(precision), 0.0, precision)).sum(axis=-1), tp[..., 0])

    def tables(self, positive: Floats, other: Floats) -> Floats:
        """An item changes the precision at its own threshold and at all lower ones.

        Where nothing is predicted yet, a positive would have precision 1.
        """
        tp, fp = reached(positive), reached(other)
        predicted = tp + fp
        precision = np.nan_to_num(divide(tp, predicted), nan=1.0)
        wrong, step = (np.nan_to_num(divide(one, predicted)) for one in (fp, positive))
        value = (positive * precision).sum() / tp[0]
        return np.stack(
            [-np.cumsum(step * precision) / tp[0], (precision + np.cumsum(step * wrong) - value) / tp[0]]
        )


@dataclass(frozen=True)
class RocAuc(BinnedNumber):
    """Chance that a positive scores higher than a negative, ties counting half: area under the ROC curve.

    Between 0 and 1; undefined where there are no positives or no negatives. As scikit-learn's
    ``roc_auc_score`` for two classes. With fewer ``thresholds`` than distinct scores it is that of the binned
    scores.

    >>> from sondage.measures import exact
    >>> float(exact("roc_auc", [1, 0, 1, 0], score=[0.9, 0.6, 0.4, 0.1]))
    0.75
    """

    alias: ClassVar[str] = "roc_auc"
    aliases: ClassVar[tuple[str, ...]] = ("roc_auc_score",)

    def value_of(self, positive: Array, other: Array) -> Array:
        """Pairs in the right order over all pairs."""
        pairs = (positive * _below(other)).sum(axis=-1)
        return divide(pairs, positive.sum(axis=-1) * other.sum(axis=-1))

    def tables(self, positive: Floats, other: Floats) -> Floats:
        """The share of the other class on the right side of the item, less the value."""
        positives, others = positive.sum(), other.sum()
        value = (positive * _below(other)).sum() / (positives * others)
        above = _below(positive[::-1])[::-1]
        return np.stack([(above / positives - value) / others, (_below(other) / others - value) / positives])


def _below(counts: Array) -> Array:
    """(..., bins) what lies below each bin, and half of the bin itself."""
    return np.cumsum(counts, axis=-1) - 0.5 * counts
