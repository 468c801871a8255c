"""Measures of a hard decision about one class: precision, recall, F, Matthews' correlation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sondage.errors import InvalidInput
from sondage.measures.base import divide
from sondage.measures.one_class import OneClass
from sondage.pool.rows import Rows
from sondage.types import Array, Floats


@dataclass(frozen=True)
class _Decision(OneClass):
    """Decision and truth as 0/1 for the positive class."""

    def _indicators(self, rows: Rows, y: Floats) -> tuple[Floats, Floats]:
        positive = rows.labels.positive(self.pos_label)
        predicted = (rows.prediction(self.system) == positive).astype(np.float64)[:, None]
        actual = (y == positive).astype(np.float64)
        shape = (len(rows), y.shape[1])
        return np.broadcast_to(predicted, shape), np.broadcast_to(actual, shape)


@dataclass(frozen=True)
class Precision(_Decision):
    """Share of predicted positives that are positive.

    >>> from sondage.measures import exact
    >>> float(exact("precision", [1, 0, 1, 1], [1, 1, 1, 0]))
    0.6666666666666666
    """

    alias: ClassVar[str] = "precision"
    k: ClassVar[int] = 2

    @property
    def ratio(self) -> tuple[Floats, Floats]:
        """True positives over predicted positives."""
        return np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0])

    def parts(self, rows: Rows, y: Floats) -> Floats:
        """True positive, predicted positive."""
        predicted, actual = self._indicators(rows, y)
        return np.stack([predicted * actual, predicted], axis=-1)


@dataclass(frozen=True)
class Recall(_Decision):
    """Share of positives that are predicted positive."""

    alias: ClassVar[str] = "recall"
    k: ClassVar[int] = 2

    @property
    def ratio(self) -> tuple[Floats, Floats]:
        """True positives over positives."""
        return np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0])

    def parts(self, rows: Rows, y: Floats) -> Floats:
        """True positive, positive."""
        predicted, actual = self._indicators(rows, y)
        return np.stack([predicted * actual, actual], axis=-1)


@dataclass(frozen=True)
class FBeta(_Decision):
    """Weighted harmonic mean of precision and recall; ``beta`` > 1 favours recall, as in scikit-learn.

    In the papers' ``F_alpha``, ``alpha = 1 / (1 + beta**2)``, so that alpha = 1 is precision.
    """

    alias: ClassVar[str] = "fbeta"
    aliases: ClassVar[tuple[str, ...]] = ("f1",)
    k: ClassVar[int] = 3
    beta: float = 1.0

    def __post_init__(self) -> None:
        if not (np.isfinite(self.beta) and self.beta > 0):
            raise InvalidInput(f"beta= must be a number above 0, not {self.beta}")

    @property
    def names(self) -> tuple[str, ...]:
        """``f1``, ``f2``, ``f0.5``, ..."""
        return (f"f{self.beta:g}",)

    @property
    def ratio(self) -> tuple[Floats, Floats]:
        """(1 + b2) TP over b2 * positives + predicted positives."""
        b2 = self.beta**2
        return np.array([0.0, 1.0 + b2, 0.0, 0.0]), np.array([0.0, 0.0, b2, 1.0])

    def parts(self, rows: Rows, y: Floats) -> Floats:
        """True positive, positive, predicted positive."""
        predicted, actual = self._indicators(rows, y)
        return np.stack([predicted * actual, actual, predicted], axis=-1)


@dataclass(frozen=True)
class MatthewsCorrcoef(_Decision):
    """Correlation of decision and truth. Not a ratio of averages: the root is a smooth map of them."""

    alias: ClassVar[str] = "matthews_corrcoef"
    limits: ClassVar[tuple[float, float]] = (-1.0, 1.0)
    k: ClassVar[int] = 3

    def parts(self, rows: Rows, y: Floats) -> Floats:
        """True positive, positive, predicted positive."""
        predicted, actual = self._indicators(rows, y)
        return np.stack([predicted * actual, actual, predicted], axis=-1)

    def value(self, means: Array) -> Array:
        """Covariance over the product of the standard deviations."""
        both, actual, predicted = means[..., 0], means[..., 1], means[..., 2]
        with np.errstate(invalid="ignore"):
            scale = np.sqrt(actual * (1 - actual) * predicted * (1 - predicted))
        return divide(both - actual * predicted, scale)[..., None]
