"""One number over all thresholds: areas under curves, the best F, and where precision equals recall."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from sondage.measures.base import Measure
from sondage.measures.catalogue.binary import FBeta
from sondage.measures.catalogue.curves import Binned
from sondage.measures.losses.bins import bins_of, reached
from sondage.measures.losses.thresholds import Scores, Thresholds
from sondage.measures.maps.base import divide, no_gaps
from sondage.pool.rows import Rows
from sondage.types import Array, Floats

_AT_AN_END = 1e-9


@dataclass(frozen=True)
class BinnedNumber(Binned):
    """A single number over all thresholds: write ``value_of`` and ``tables``."""

    @abstractmethod
    def value_of(self, positive: Array, other: Array) -> Array:
        """(..., bins) twice, the weight of positives and of others in every bin -> (...)."""

    @abstractmethod
    def tables(self, positive: Floats, other: Floats) -> Floats:
        """(2, bins) derivative by the weight of others and by the weight of positives in every bin."""

    def narrowed(self, rows: Rows) -> Measure:
        """With the distinct scores of these rows as thresholds, unless the user chose thresholds."""
        if self.thresholds is not None or self.scores is None:
            return self
        return replace(self, scores=Scores(self.scores.pool, rows))

    def g(self, R: Array) -> Array:
        with np.errstate(all="ignore"):
            return self.value_of(*bins_of(R))[..., None]

    def jac(self, R: Floats) -> Floats:
        other, positive = self._tables(R)
        return np.concatenate([[0.0], positive, other])[None, :]

    def slope(self, R: Floats, weight: Floats | None = None) -> Floats:
        tables = self._tables(R)
        return no_gaps(tables if weight is None else tables * np.sqrt(weight))

    def uniform_variance(self, R: Floats) -> Floats:
        """Summed over the bins, as if all items had the same weight."""
        positive, other = bins_of(R)
        squares = np.nan_to_num(np.square(self._tables(R)))
        mean = other @ squares[0] + positive @ squares[1]
        return np.array([mean * (positive.sum() + other.sum())])

    def _tables(self, R: Floats) -> Floats:
        with np.errstate(all="ignore"):
            return self.tables(*bins_of(R))


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
        pairs = (positive * _below(other)).sum(axis=-1)
        return divide(pairs, positive.sum(axis=-1) * other.sum(axis=-1))

    def tables(self, positive: Floats, other: Floats) -> Floats:
        """The share of the other class on the right side of the item, less the value."""
        positives, others = positive.sum(), other.sum()
        value = (positive * _below(other)).sum() / (positives * others)
        above = _below(positive[::-1])[::-1]
        return np.stack([(above / positives - value) / others, (_below(other) / others - value) / positives])


@dataclass(frozen=True)
class MaxFBeta(BinnedNumber):
    """The greatest F over all thresholds; ``beta`` > 1 favours recall.

    Between 0 and 1; undefined where nothing is positive and nothing predicted. The derivative is that at the
    best threshold: moving the threshold changes nothing there (Danskin 1967).

    The greatest of many estimates is too high on average: with all distinct scores by about .6 standard
    errors where 30 of the labels are positive and .4 where 100 are; with ``thresholds=32`` by half of that or
    so (``docs/curves.md``). The interval does not correct for it.

    >>> from sondage.measures import exact
    >>> float(exact("max_f1", [1, 0, 1, 0], score=[0.9, 0.6, 0.4, 0.1]))
    0.8
    """

    alias: ClassVar[str] = "max_fbeta"
    aliases: ClassVar[tuple[str, ...]] = ("max_f1",)
    beta: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        FBeta(beta=self.beta)  # refuses what is no beta

    @property
    def names(self) -> tuple[str, ...]:
        return (f"max_f{self.beta:g}",)

    def _all(self, positive: Array, other: Array) -> tuple[Array, Array, Array]:
        """(..., L) F at every threshold, what it divides by, and (...) which threshold is best."""
        tp, fp = reached(positive), reached(other)
        below = self.beta**2 * tp[..., :1] + tp[..., 1:] + fp[..., 1:]
        each = divide((1 + self.beta**2) * tp[..., 1:], below)
        return each, below, np.argmax(np.where(np.isnan(each), -np.inf, each.real), axis=-1)

    def value_of(self, positive: Array, other: Array) -> Array:
        each, _, best = self._all(positive, other)
        return np.asarray(np.take_along_axis(each, best[..., None], axis=-1)[..., 0])

    def tables(self, positive: Floats, other: Floats) -> Floats:
        """Those of F at the best threshold."""
        each, below, best = self._all(positive, other)
        inside = np.arange(len(positive)) > best
        value, b2 = each[best], self.beta**2
        tables = np.stack([-value * inside, (1 + b2) * inside - value * (b2 + inside)])
        return np.asarray(tables / below[best])


@dataclass(frozen=True)
class BreakEven(BinnedNumber):
    """Precision where it equals recall: as many predicted positive as there are positives.

    Between 0 and 1; undefined where there are no positives. Also known as R-precision. Items between two
    thresholds count as in random order, so that true positives grow in proportion.

    Where the line is drawn depends on the number of positives, which is itself estimated; how fast true
    positives are lost there is read off the bin in which it lies. So ``thresholds`` should be few enough for
    a bin to hold some labels. The default makes a bin 10 to 20 % of all that score higher, and its value on
    labelled data is within about .01 of that with all distinct scores, ``thresholds=None``, whose standard
    error is up to twice too large (``docs/curves.md``).

    >>> from sondage.measures import exact
    >>> float(exact("break_even", [1, 0, 1, 0], score=[0.9, 0.6, 0.4, 0.1]))
    0.5
    """

    alias: ClassVar[str] = "break_even"
    thresholds: Thresholds = 64

    def value_of(self, positive: Array, other: Array) -> Array:
        place, share = _line(positive, other)
        tp = np.take_along_axis(reached(positive), place[..., None], axis=-1)[..., 0]
        here = np.take_along_axis(positive, place[..., None], axis=-1)[..., 0]
        return divide(tp - (1 - share) * here, positive.sum(axis=-1))

    def tables(self, positive: Floats, other: Floats) -> Floats:
        """At the line itself; where it lies between two bins, the mean of both sides."""
        place, share = (one.item() for one in _line(positive, other))
        value = float(self.value_of(positive, other))
        filled = np.flatnonzero(positive + other > 0)
        sides = [(place, share)]
        if share > 1 - _AT_AN_END and (filled < place).any():
            sides.append((filled[filled < place][-1], 0.0))
        elif share < _AT_AN_END and (filled > place).any():
            sides.append((filled[filled > place][0], 1.0))
        each = [self._one_side(positive, other, value, *side) for side in sides]
        return np.asarray(np.mean(each, axis=0))

    def _one_side(self, positive: Floats, other: Floats, value: float, place: int, share: float) -> Floats:
        """``TP = TP above + (positives - predicted above) q``, ``q`` being the precision inside the bin."""
        local = positive[place] / (positive[place] + other[place])
        bins = np.arange(len(positive))
        counted = (bins > place) + share * (bins == place)
        tables = np.stack([-local * counted, (1 - local) * counted + local - value])
        return np.asarray(tables / positive.sum())


def _below(counts: Array) -> Array:
    """(..., bins) what lies below each bin, and half of the bin itself."""
    return np.cumsum(counts, axis=-1) - 0.5 * counts


def _line(positive: Array, other: Array) -> tuple[Array, Array]:
    """The bin in which as many are predicted as there are positives, and the share of it that is needed."""
    predicted, each = reached(positive + other), positive + other
    wanted = positive.sum(axis=-1, keepdims=True)
    place = np.maximum((predicted.real >= wanted.real).sum(axis=-1, keepdims=True) - 1, 0)
    here = np.take_along_axis(each, place, axis=-1)
    above = np.take_along_axis(predicted, place, axis=-1) - here
    return place[..., 0], divide(wanted - above, here)[..., 0]
