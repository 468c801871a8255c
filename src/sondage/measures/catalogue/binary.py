"""Measures of a hard decision about one class: precision, recall, F, Jaccard, rates, prevalence, ..."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sondage.measures.base import Bound, Measure, PlainMean, RatioOfTwo
from sondage.measures.catalogue.classes import CorrelationOfClasses
from sondage.measures.catalogue.one_class import Average, ByClass, OneClass
from sondage.measures.losses.class_counts import PairTable
from sondage.measures.maps.base import divide
from sondage.measures.maps.counts import ACTUAL, PREDICTED, RIGHT, Terms
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.types import Array, Floats


@dataclass(frozen=True)
class Precision(ByClass):
    """Share of predicted positives that are positive; in [0, 1], 0/0 where nothing is predicted positive.

    ``average`` takes several classes together, see ``ByClass``. A mean over classes of which one is never
    predicted is refused, unless ``zero_division`` says what that class is worth.

    >>> from sondage.measures import exact
    >>> float(exact("precision", [1, 0, 1, 1], [1, 1, 1, 0]))
    0.6666666666666666
    >>> exact(Precision(average=None), ["a", "b", "c", "c"], ["a", "c", "b", "c"]).tolist()
    [1.0, 0.0, 0.5]
    """

    alias: ClassVar[str] = "precision"
    per_class = (RIGHT, PREDICTED)


@dataclass(frozen=True)
class Recall(ByClass):
    """Share of positives that are predicted positive; in [0, 1], 0/0 where nothing is positive.

    ``average`` takes several classes together, see ``ByClass``.

    >>> from sondage.measures import exact
    >>> float(exact("recall", [1, 0, 1, 0], [1, 1, 0, 0]))
    0.5
    >>> float(exact(Recall(average="macro"), ["a", "b", "c", "c"], ["a", "c", "b", "c"]))
    0.5
    """

    alias: ClassVar[str] = "recall"
    per_class = (RIGHT, ACTUAL)


@dataclass(frozen=True)
class FBeta(ByClass):
    """Weighted harmonic mean of precision and recall; ``beta`` > 1 favours recall, as in scikit-learn.

    In [0, 1], 0/0 where nothing is positive nor predicted so. In the papers' ``F_alpha``,
    ``alpha = 1 / (1 + beta**2)``, so that alpha = 1 is precision.

    ``average`` takes several classes together, see ``ByClass``. Two things are called macro F1:
    ``average="macro"`` is the mean of the classes' F1, as in scikit-learn; ``average="macro_of_means"`` is
    the harmonic mean of macro precision and macro recall (0 where both are 0), which is never smaller.

    >>> from sondage.measures import exact
    >>> y, f = ["a", "b", "c", "c", "a"], ["a", "c", "b", "c", "c"]
    >>> [round(float(exact(FBeta(average=how), y, f)), 4) for how in ("macro", "macro_of_means")]
    [0.3556, 0.381]
    """

    alias: ClassVar[str] = "fbeta"
    aliases: ClassVar[tuple[str, ...]] = ("f1",)
    averages: ClassVar[tuple[Average, ...]] = (*ByClass.averages, "macro_of_means")
    beta: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require(beta="above 0")

    @property
    def names(self) -> tuple[str, ...]:
        return (f"f{self.beta:g}",)

    @property
    def companions(self) -> tuple[Measure, ...]:
        """Precision and recall of the same class."""
        if self.average != "binary":
            return ()
        return Precision(self.system, self.pos_label), Recall(self.system, self.pos_label)

    @property
    def per_class(self) -> Terms:
        b2 = self.beta**2
        return (1.0 + b2) * RIGHT, b2 * ACTUAL + PREDICTED


@dataclass(frozen=True)
class Jaccard(RatioOfTwo, ByClass):
    """Positives predicted so over all that are positive or predicted so; in [0, 1], 0/0 where nothing is.

    ``average`` takes several classes together, see ``ByClass``.

    >>> from sondage.measures import exact
    >>> float(exact("jaccard", [1, 0, 1, 1], [1, 1, 1, 0]))
    0.5
    """

    alias: ClassVar[str] = "jaccard"
    per_class = (RIGHT, ACTUAL + PREDICTED - RIGHT)

    def parts(self, rows: Rows, y: Floats) -> Floats:
        predicted, actual = self.indicators(rows, y)
        return np.stack([predicted * actual, np.maximum(predicted, actual)], axis=-1)


@dataclass(frozen=True)
class SelectionRate(PlainMean, OneClass):
    """Share of items that are predicted positive; known without any label.

    >>> from sondage.measures import exact
    >>> float(exact("selection_rate", [1, 0, 1, 1], [1, 0, 0, 0]))
    0.25
    """

    alias: ClassVar[str] = "selection_rate"

    def parts(self, rows: Rows, y: Floats) -> Floats:
        return self.indicators(rows, y)[0][..., None]


@dataclass(frozen=True)
class _Rate(RatioOfTwo, OneClass):
    """Share of the items that are ``truly`` positive (or negative) on which the decision is ``said``."""

    truly: ClassVar[bool]
    said: ClassVar[bool]

    def parts(self, rows: Rows, y: Floats) -> Floats:
        predicted, actual = self.indicators(rows, y)
        given = actual if self.truly else 1.0 - actual
        return np.stack([given * (predicted if self.said else 1.0 - predicted), given], axis=-1)


@dataclass(frozen=True)
class Specificity(_Rate):
    """Share of negatives that are predicted negative; in [0, 1], undefined where nothing is negative.

    The false positive rate is 1 less this, the false negative rate 1 less the recall, and the negative
    predictive value the precision of the other class (``Precision(pos_label=...)``).

    >>> from sondage.measures import exact
    >>> float(exact("specificity", [1, 0, 0, 0], [1, 1, 0, 0]))
    0.6666666666666666
    """

    alias: ClassVar[str] = "specificity"
    aliases: ClassVar[tuple[str, ...]] = ("true_negative_rate",)
    truly, said = False, False


@dataclass(frozen=True)
class TruePositiveRate(_Rate):
    """Share of positives that are predicted positive: ``recall``. Undefined without positives.

    >>> from sondage.measures import exact
    >>> float(exact("true_positive_rate", [1, 0, 1, 1], [1, 0, 0, 1]))
    0.6666666666666666
    """

    alias: ClassVar[str] = "true_positive_rate"
    truly, said = True, True


@dataclass(frozen=True)
class FalseNegativeRate(_Rate):
    """Share of positives that are predicted negative. Undefined without positives.

    >>> from sondage.measures import exact
    >>> float(exact("false_negative_rate", [1, 0, 1, 1], [1, 0, 0, 1]))
    0.3333333333333333
    """

    alias: ClassVar[str] = "false_negative_rate"
    less_is_better = True
    truly, said = True, False


@dataclass(frozen=True)
class FalsePositiveRate(_Rate):
    """Share of negatives that are predicted positive. Undefined without negatives.

    >>> from sondage.measures import exact
    >>> float(exact("false_positive_rate", [1, 0, 0, 1], [1, 1, 0, 1]))
    0.5
    """

    alias: ClassVar[str] = "false_positive_rate"
    less_is_better = True
    truly, said = False, True


@dataclass(frozen=True)
class FowlkesMallows(OneClass):
    """Geometric mean of precision and recall; in [0, 1], undefined where either is.

    Not scikit-learn's ``fowlkes_mallows_score``, which applies the same index to pairs of clustered items.

    >>> from sondage.measures import exact
    >>> round(float(exact("fowlkes_mallows", [1, 0, 1, 1, 1], [1, 1, 1, 0, 0])), 4)
    0.5774
    """

    alias: ClassVar[str] = "fowlkes_mallows"

    def value(self, means: Array) -> Array:
        both, actual, predicted = means[..., 0], means[..., 1], means[..., 2]
        with np.errstate(invalid="ignore"):
            return divide(both, np.sqrt(actual * predicted))[..., None]


@dataclass(frozen=True)
class MatthewsCorrcoef(OneClass):
    """Correlation of decision and truth; in [-1, 1], undefined where either is always the same class.

    With more than two classes it is Gorodkin's correlation of all of them, as in scikit-learn, unless
    ``pos_label`` sets one against the rest. Not a ratio of averages: the root is a smooth map of them.

    >>> from sondage.measures import exact
    >>> round(float(exact("matthews_corrcoef", [1, 0, 1, 1, 0], [1, 0, 1, 0, 0])), 4)
    0.6667
    """

    alias: ClassVar[str] = "matthews_corrcoef"
    aliases: ClassVar[tuple[str, ...]] = ("mcc",)
    either_way: ClassVar[bool] = True
    limits: ClassVar[tuple[float, float]] = (-1.0, 1.0)

    def bind(self, pool: Pool) -> Any:  # itself, or the measure that does the work
        if not pool.labels.finite or pool.labels.size == 2 or self.pos_label is not None:
            return super().bind(pool)
        Measure.bind(self, pool)
        size = pool.labels.size
        return Bound(self, PairTable(self.system, np.eye(size)), CorrelationOfClasses(self.names, size))

    def value(self, means: Array) -> Array:
        """Covariance over the product of the standard deviations."""
        both, actual, predicted = means[..., 0], means[..., 1], means[..., 2]
        with np.errstate(invalid="ignore"):
            scale = np.sqrt(actual * (1 - actual) * predicted * (1 - predicted))
        return divide(both - actual * predicted, scale)[..., None]


@dataclass(frozen=True)
class Prevalence(PlainMean, OneClass):
    """Share of items whose label is the positive class; in [0, 1].

    Only labels are counted: what ``system`` says helps a design to choose, and changes nothing else.

    >>> from sondage.measures import exact
    >>> float(exact("prevalence", [1, 0, 0, 0]))
    0.25
    """

    alias: ClassVar[str] = "prevalence"
    reads: ClassVar[tuple[str, ...]] = ()

    def parts(self, rows: Rows, y: Floats) -> Floats:
        return self.positives(rows, y)[..., None]
