"""Curves over the thresholds of a score: precision and recall, or true and false positive rate, at each."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from sondage.errors import InvalidInput
from sondage.measures.base import FILLED_IN, OwnMap
from sondage.measures.catalogue.one_class import AboutOneClass
from sondage.measures.losses.bins import THIN, BinLosses, Steps, bins_of, reached, thinned
from sondage.measures.losses.thresholds import Scores, Thresholds, checked, written
from sondage.measures.maps.base import divide, no_gaps
from sondage.pool.pool import Pool
from sondage.types import Array, Floats


class Curve(NamedTuple):
    """A curve to plot or read: a point for every threshold, with the ends of both intervals."""

    thresholds: Floats
    x: Floats
    y: Floats
    x_low: Floats
    x_high: Floats
    y_low: Floats
    y_high: Floats
    x_name: str
    y_name: str


@dataclass(frozen=True)
class Binned(OwnMap, AboutOneClass):
    """A measure over thresholds of the score of the positive class; between 0 and 1.

    ``thresholds``: None for all distinct scores, a number to choose so many, more closely among the highest
    scores, or the thresholds themselves.
    """

    thresholds: Thresholds = None
    scores: Scores | None = field(default=None, kw_only=True, repr=False, compare=False, metadata=FILLED_IN)

    def __post_init__(self) -> None:
        object.__setattr__(self, "thresholds", checked(self.thresholds))

    def bind(self, pool: Pool) -> Any:
        """Sort the scores and choose the thresholds."""
        super().bind(pool)
        known = self.scores is not None and self.scores.pool is pool
        bound = self if known else replace(self, scores=Scores(pool))
        bound.cuts  # noqa: B018 - thresholds that do not fit the scores are refused here
        return bound

    @cached_property
    def losses(self) -> BinLosses:
        return BinLosses(self.system, self.pos_label, self.thresholds, self.scores)

    @property
    def cuts(self) -> Floats:
        """(L,) the thresholds in use, from the lowest to the highest."""
        return self.losses.cuts

    @property
    def apart(self) -> bool:
        return self.m > 1


@dataclass(frozen=True)
class _OverThresholds(Binned):
    """Two rates at every threshold: first ``kinds[0]`` at each, then ``kinds[1]`` at each."""

    kinds: ClassVar[tuple[str, str]]
    axes: ClassVar[tuple[int, int]]
    """Which of the two is plotted along x, and which along y."""

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(f"{kind}@{cut}" for kind in self.kinds for cut in written(self.cuts))

    @property
    def m(self) -> int:
        return 2 * len(self.cuts)

    @abstractmethod
    def rates(self, positive: Array, other: Array) -> list[tuple[Array, Array]]:
        """Numerator and denominator of both, (..., L) each, from what reaches each threshold (..., bins)."""

    @abstractmethod
    def steps(self, positive: Floats, other: Floats) -> Steps:
        """The influence, from what reaches each threshold."""

    def g(self, R: Array) -> Array:
        rates = self.rates(*map(reached, bins_of(R)))
        return np.concatenate([divide(*np.broadcast_arrays(*rate)) for rate in rates], axis=-1)

    def _steps(self, R: Floats) -> Steps:
        with np.errstate(all="ignore"):
            return self.steps(*map(reached, bins_of(R)))

    def jac(self, R: Floats) -> Floats:
        steps, bins = self._steps(R), np.arange(self.losses.bins)
        other, positive = (steps.table(bins, label).T for label in (0, 1))
        return np.concatenate([np.zeros((self.m, 1)), positive, other], axis=1)

    def slope(self, R: Floats, weight: Floats | None = None) -> Steps:
        """The steps; with ``weight``, as a design sees them, at most ``THIN`` thresholds.

        Of more, some are kept, each standing for those up to the next one kept. They crowd at the highest
        scores, where neighbours differ most.
        """
        steps = self._steps(R)
        if weight is not None:
            if len(self.cuts) > THIN:
                kept, weight = thinned(weight.reshape(2, -1))
                steps = Steps(steps.level[kept], steps.inside[:, kept], steps.outside[:, kept])
            steps = steps.scaled(np.sqrt(weight))
        return Steps(steps.level, no_gaps(steps.inside), no_gaps(steps.outside))

    def uniform_variance(self, R: Floats) -> Floats:
        """``G (1 - G)`` over the share of items in the denominator, as if all items had the same weight."""
        positive, other = bins_of(R)
        mass = np.stack([other, positive])
        return np.asarray(self._steps(R).square_sum(mass) * mass.sum())

    def curve(self, estimate: Any) -> Curve:
        """An estimate of this bound measure, or its values alone, as arrays to plot.

        ``estimate`` is what a study gives, or an array of values: then the ends of the intervals are nan.
        """
        value = np.asarray(getattr(estimate, "value", estimate), dtype=np.float64)
        if value.shape != (self.m,):
            raise InvalidInput(
                f"the estimate has {value.size} coordinates, but {self.alias} has {self.m} here: "
                "pass one of this measure and pool"
            )
        ci = getattr(estimate, "ci", None)
        low, high = (np.full(self.m, np.nan), np.full(self.m, np.nan)) if ci is None else (ci.low, ci.high)
        at, least, most = (np.split(np.asarray(one), 2) for one in (value, low, high))
        x, y = self.axes
        points = at[x], at[y], least[x], most[x], least[y], most[y]
        return Curve(self.cuts, *points, self.kinds[x], self.kinds[y])


@dataclass(frozen=True)
class PrecisionRecallCurve(_OverThresholds):
    """Precision and recall at every threshold, where a score that reaches it is predicted positive.

    Between 0 and 1. Precision is undefined where nothing (of what was drawn) reaches the threshold, recall
    where there are no positives. ``thresholds``: None for all distinct scores, a number to choose so many,
    more closely among the highest scores, or the thresholds themselves. At or below the least score recall is
    1, whatever the labels.

    >>> from sondage.measures import exact
    >>> curve = PrecisionRecallCurve(thresholds=[0.3, 0.5])
    >>> exact(curve, [1, 0, 1, 0], score=[0.9, 0.6, 0.4, 0.1]).round(3).tolist()
    [0.667, 0.5, 1.0, 0.5]
    """

    alias: ClassVar[str] = "precision_recall_curve"
    kinds: ClassVar[tuple[str, str]] = ("precision", "recall")
    axes: ClassVar[tuple[int, int]] = (1, 0)

    def rates(self, positive: Array, other: Array) -> list[tuple[Array, Array]]:
        tp, fp, positives = positive[..., 1:], other[..., 1:], positive[..., :1]
        return [(tp, tp + fp), (tp, positives)]

    def steps(self, positive: Floats, other: Floats) -> Steps:
        """``(y - P) / predicted`` inside; ``y (1 - R) / positives`` inside, ``-y R / positives`` outside."""
        tp, predicted, positives = positive[1:], positive[1:] + other[1:], positive[0]
        precision, recall, nothing = tp / predicted, tp / positives, np.zeros(len(tp))
        wrong = other[1:] / predicted  # 1 - precision, without a difference of nearly equal numbers
        return Steps(
            np.tile(np.arange(1, len(positive)), 2),
            np.block([[-precision / predicted, nothing], [wrong / predicted, (1 - recall) / positives]]),
            np.block([[nothing, nothing], [nothing, -recall / positives]]),
        )


@dataclass(frozen=True)
class RocCurve(_OverThresholds):
    """False and true positive rate at every threshold.

    Between 0 and 1; undefined where there are no negatives, or no positives. ``thresholds`` as for
    ``PrecisionRecallCurve``. scikit-learn's curve has one more point, (0, 0), at an infinite threshold.

    >>> from sondage.measures import exact
    >>> exact(RocCurve(thresholds=[0.3, 0.5]), [1, 0, 1, 0], score=[0.9, 0.6, 0.4, 0.1]).tolist()
    [0.5, 0.5, 1.0, 0.5]
    """

    alias: ClassVar[str] = "roc_curve"
    kinds: ClassVar[tuple[str, str]] = ("fpr", "tpr")
    axes: ClassVar[tuple[int, int]] = (0, 1)

    def rates(self, positive: Array, other: Array) -> list[tuple[Array, Array]]:
        return [(other[..., 1:], other[..., :1]), (positive[..., 1:], positive[..., :1])]

    def steps(self, positive: Floats, other: Floats) -> Steps:
        """``(1 - rate) / all`` inside and ``-rate / all`` outside, on the items of one class."""
        fpr, tpr = other[1:] / other[0], positive[1:] / positive[0]
        nothing = np.zeros(len(fpr))
        return Steps(
            np.tile(np.arange(1, len(positive)), 2),
            np.block([[(1 - fpr) / other[0], nothing], [nothing, (1 - tpr) / positive[0]]]),
            np.block([[-fpr / other[0], nothing], [nothing, -tpr / positive[0]]]),
        )
