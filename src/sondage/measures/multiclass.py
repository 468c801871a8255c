"""Measures of a decision among any number of classes, all classes together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from sondage.errors import InvalidInput
from sondage.measures.averages import RightByClass, mean_of_classes
from sondage.measures.base import Averages, bind_to_vectors, divide
from sondage.measures.margins import Counts
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.types import Array, Floats


@dataclass(frozen=True)
class Accuracy(Averages):
    """Share of items whose predicted class is the true one; in [0, 1].

    >>> from sondage.measures import exact
    >>> float(exact("accuracy", ["a", "b", "c", "a"], ["a", "b", "a", "a"]))
    0.75
    """

    alias: ClassVar[str] = "accuracy"
    system: str | None = None

    def bind(self, pool: Pool) -> Any:  # itself, or exact match where labels are yes or no to many
        """Fit to the labels of the pool."""
        return bind_to_vectors(self, pool) if pool.labels.kind == "vector" else super().bind(pool)

    @property
    def ratio(self) -> tuple[Floats, Floats]:
        """Right over all."""
        return np.array([0.0, 1.0]), np.array([1.0, 0.0])

    def parts(self, rows: Rows, y: Floats) -> Floats:
        """Right."""
        right = rows.prediction(self.system)[:, None] == y
        return np.asarray(right[..., None], dtype=np.float64)


@dataclass(frozen=True)
class BalancedAccuracy(RightByClass):
    """Mean over the classes of their recall; in [0, 1], undefined where a class is never the truth.

    ``adjusted=True`` puts guessing at 0 and perfection at 1. ``zero_division="skip"`` leaves out classes
    that are never the truth, as scikit-learn does.

    >>> from sondage.measures import exact
    >>> float(exact("balanced_accuracy", [1, 0, 0, 0, 0, 1], [1, 0, 0, 1, 0, 0]))
    0.625
    >>> float(exact(BalancedAccuracy(adjusted=True), [1, 0, 0, 0, 0, 1], [1, 0, 0, 1, 0, 0]))
    0.25
    """

    alias: ClassVar[str] = "balanced_accuracy"
    system: str | None = None
    adjusted: bool = False
    zero_division: Literal["undefined", "skip"] = "undefined"

    def __post_init__(self) -> None:
        if self.zero_division not in ("undefined", "skip"):
            raise InvalidInput(
                "zero_division= of balanced_accuracy must be 'undefined' or 'skip', "
                f"not {self.zero_division!r}"
            )

    @property
    def decided_by(self) -> str | None:
        """The system."""
        return self.system

    @property
    def names(self) -> tuple[str, ...]:
        """``balanced_accuracy``, or ``balanced_accuracy_adjusted``."""
        return (f"{self.alias}_adjusted" if self.adjusted else self.alias,)

    @property
    def range(self) -> tuple[Floats, Floats]:
        """[0, 1]; adjusted, from the least that classes left over may give."""
        fewest = 2 if self.zero_division == "skip" else self.size
        return np.array([-1.0 / (fewest - 1) if self.adjusted else 0.0]), np.array([1.0])

    def g(self, R: Array) -> Array:
        """The mean recall."""
        counts = self.split(R)
        recall = divide(counts.pair, counts.actual)
        mean = mean_of_classes(recall, self.zero_division == "skip")
        if self.adjusted:
            guess = divide(np.ones(mean.shape), self._share(recall))
            mean = divide(mean - guess, 1.0 - guess)
        return mean[..., None]

    def derivative(self, R: Floats) -> Counts:
        """Of the mean recall."""
        counts = self.split(R)
        recall = divide(counts.pair, counts.actual)
        classes = self._share(recall)
        scale = 1.0 / (classes - 1.0) if self.adjusted else 1.0 / classes
        undefined = 0.0 if self.zero_division == "skip" else np.nan
        right = np.where(counts.actual == 0, undefined, scale / counts.actual)
        actual = np.where(counts.actual == 0, undefined, -recall * scale / counts.actual)
        return Counts(np.zeros(1), right[None], actual[None], np.zeros((1, self.classes)))

    def _share(self, recall: Array) -> Array:
        """Number of classes that the mean is over."""
        if self.zero_division == "undefined":
            return np.full(recall.shape[:-1], float(self.classes))
        return np.asarray((~np.isnan(recall)).sum(axis=-1, dtype=np.float64))
