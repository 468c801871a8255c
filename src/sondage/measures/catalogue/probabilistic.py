"""Measures of predicted probabilities: Brier score, log loss, the truth among the likeliest classes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from sondage.errors import InvalidInput
from sondage.measures.base import Measure, PlainMean
from sondage.measures.catalogue.one_class import OneClass
from sondage.measures.losses.class_counts import class_codes
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.types import Floats, is_whole


@dataclass(frozen=True)
class BrierScoreLoss(PlainMean, OneClass):
    """Mean squared distance of the predicted probabilities from the truth, as in scikit-learn; 0 is best.

    With two classes, or with ``pos_label``, that of the positive class's probability from 0 or 1, in [0, 1].
    With more classes the squares are summed over all of them, in [0, 2]. ``scale_by_half`` says otherwise:
    True takes half of the sum over the classes, False the whole sum (for two classes, twice the usual).

    >>> from sondage.measures import exact
    >>> round(float(exact("brier_score_loss", [1, 0], probability=[0.8, 0.4])), 4)
    0.1
    >>> table = [[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]]
    >>> round(float(exact("brier", [0, 2], probability=table, labels=[0, 1, 2])), 4)
    0.2
    """

    alias: ClassVar[str] = "brier_score_loss"
    less_is_better = True
    reads: ClassVar[tuple[str, ...]] = ("probability",)
    aliases: ClassVar[tuple[str, ...]] = ("brier",)
    scale_by_half: Literal["auto"] | bool = "auto"
    classes: int = 2

    def __post_init__(self) -> None:
        self.require(scale_by_half=("auto", True, False))

    def bind(self, pool: Pool) -> Any:
        """Learn whether one class is meant, or all."""
        if pool.labels.finite and pool.labels.size > 2 and self.pos_label is None:
            return replace(Measure.bind(self, pool), classes=pool.labels.size)
        return replace(super().bind(pool), classes=2)

    @property
    def _factor(self) -> float:
        """What half the sum over the classes is multiplied by."""
        half = self.classes == 2 if self.scale_by_half == "auto" else self.scale_by_half
        return 1.0 if half else 2.0

    @property
    def range(self) -> tuple[Floats, Floats]:
        """From certainty in the truth to certainty in another class."""
        return np.array([0.0]), np.array([self._factor])

    def parts(self, rows: Rows, y: Floats) -> Floats:
        probability = rows.probability(self.system)
        if self.classes == 2:
            positive = rows.labels.positive(self.pos_label)
            squared = np.square(probability[:, positive, None] - (y == positive))
            return np.asarray(squared[..., None] if self._factor == 1.0 else 2.0 * squared[..., None])
        # sum_c (p_c - [c = y])^2 = sum_c p_c^2 - 2 p_y + 1
        size = np.square(probability).sum(axis=1)[:, None]
        squared = size - 2.0 * _of_label(probability, y) + 1.0
        return np.asarray(0.5 * self._factor * squared[..., None])


@dataclass(frozen=True)
class LogLoss(PlainMean):
    """Mean of minus the logarithm of the probability of the true class; 0 is best.

    Probabilities are clipped to [eps, 1 - eps], so that the range is (0, -log eps) and no single item can
    make it infinite. The default is scikit-learn's, the step of a double above 1 (2.2e-16, a range up to
    36). With a wider clip, such as 1e-3 (up to 6.9), predictions that are sure and wrong weigh less.

    >>> from sondage.measures import exact
    >>> round(float(exact("log_loss", [1, 0], probability=[0.8, 0.4])), 4)
    0.367
    """

    alias: ClassVar[str] = "log_loss"
    less_is_better = True
    reads: ClassVar[tuple[str, ...]] = ("probability",)
    system: str | None = None
    eps: float = float(np.finfo(np.float64).eps)

    def __post_init__(self) -> None:
        self.require(eps="(0, 0.5)")

    @property
    def range(self) -> tuple[Floats, Floats]:
        return np.array([0.0]), np.array([-np.log(self.eps)])

    def parts(self, rows: Rows, y: Floats) -> Floats:
        probability = _of_label(rows.probability(self.system), y)
        return -np.log(np.clip(probability, self.eps, 1.0 - self.eps))[..., None]


@dataclass(frozen=True)
class TopKAccuracy(PlainMean):
    """Share of items whose true class is among the ``k`` likeliest; in [0, 1].

    As in scikit-learn, of classes with equal probability the later in the pool's labels comes first; with
    two classes (k = 1) the second is chosen where its probability is above 1/2. A ``k`` of all classes is
    refused: the value would be 1 whatever the labels.

    >>> from sondage.measures import exact
    >>> table = [[0.5, 0.3, 0.2], [0.1, 0.3, 0.6], [0.2, 0.2, 0.6]]
    >>> float(exact(TopKAccuracy(k=2), [1, 2, 0], probability=table, labels=[0, 1, 2])).__round__(4)
    0.6667
    """

    alias: ClassVar[str] = "top_k_accuracy"
    reads: ClassVar[tuple[str, ...]] = ("probability",)
    k: int = 2  # type: ignore[misc]  # here an option, not the number of parts
    system: str | None = None

    def __post_init__(self) -> None:
        if not is_whole(self.k) or self.k < 1:
            raise InvalidInput(f"k= must be a whole number above 0, not {self.k!r}")

    def bind(self, pool: Pool) -> Any:
        """Refuse a ``k`` that no label can miss."""
        bound = super().bind(pool)
        if self.k >= pool.labels.size:
            raise InvalidInput(
                f"k={self.k} of {pool.labels.size} classes takes in every class, so that top_k_accuracy is 1 "
                f"whatever the labels: choose k= below {pool.labels.size}"
            )
        return bound

    @property
    def names(self) -> tuple[str, ...]:
        return (f"top_{self.k}_accuracy",)

    def parts(self, rows: Rows, y: Floats) -> Floats:
        probability = rows.probability(self.system)
        if probability.shape[1] == 2:
            second = (probability[:, 1] > 0.5).astype(np.float64)
            likely = np.stack([1.0 - second, second], axis=1)
        else:
            # Of classes that tie for the last places, the last ones.
            least = -np.partition(-probability, self.k - 1, axis=1)[:, self.k - 1 : self.k]
            above, tied = probability > least, probability == least
            places = self.k - above.sum(axis=1, keepdims=True)
            from_the_end = np.cumsum(tied[:, ::-1], axis=1)[:, ::-1]
            likely = (above | (tied & (from_the_end <= places))).astype(np.float64)
        return _of_label(likely, y)[..., None]


def _of_label(table: Floats, y: Floats) -> Floats:
    """(n, S) entry of each label in a table with a column per class; nan where there is no label."""
    padded = np.pad(table, ((0, 0), (0, 1)), constant_values=np.nan) if np.isnan(y).any() else table
    return np.asarray(padded[np.arange(len(table))[:, None], class_codes(y, table.shape[1])])
