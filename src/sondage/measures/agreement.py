"""Agreement of decision and truth beyond chance: Cohen's kappa, and Matthews' correlation of many classes."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np

from sondage.errors import InvalidInput
from sondage.measures.base import divide
from sondage.measures.margins import Counts, Margins
from sondage.pool.pool import Pool
from sondage.types import Array, Floats, Ints


@dataclass(frozen=True)
class Agreement(Margins):
    """Margins, and one number for the pair of decision and label; write ``table``."""

    @property
    def pairs(self) -> int:
        """One."""
        return 1

    @property
    @abstractmethod
    def table(self) -> Floats:
        """(size, size) what each pair of classes counts, the same both ways."""

    @cached_property
    def _padded(self) -> Floats:
        """The table, with zeros where there is no label."""
        return np.pad(self.table, ((0, 0), (0, 1)))

    def of_pair(self, predicted: Ints, y: Ints) -> Floats:
        """Looked up."""
        return self._padded[predicted, y][..., None]

    @property
    def range(self) -> tuple[Floats, Floats]:
        """From opposition to agreement."""
        return np.array([-1.0]), np.array([1.0])


@dataclass(frozen=True)
class CohenKappa(Agreement):
    """Agreement of decision and truth, less what margins alone would give, over the most that is possible.

    In [-1, 1], undefined where one class is all there is. ``weights`` makes a near miss count less than a
    far one, by the distance of the two classes in the order of the pool's labels: ``"linear"``, or
    ``"quadratic"`` for its square.

    >>> from sondage.measures import exact
    >>> round(float(exact("cohen_kappa", ["a", "b", "c", "c", "a"], ["a", "b", "c", "a", "a"])), 4)
    0.6875
    >>> round(float(exact(CohenKappa(weights="linear"), [1, 2, 3, 3, 1], [1, 2, 3, 2, 1])), 4)
    0.7826
    """

    alias: ClassVar[str] = "cohen_kappa"
    aliases: ClassVar[tuple[str, ...]] = ("kappa",)
    system: str | None = None
    weights: Literal["linear", "quadratic"] | None = None

    def __post_init__(self) -> None:
        if self.weights not in (None, "linear", "quadratic"):
            raise InvalidInput(f"weights= must be None, 'linear' or 'quadratic', not {self.weights!r}")

    @property
    def decided_by(self) -> str | None:
        """The system."""
        return self.system

    @property
    def names(self) -> tuple[str, ...]:
        """``cohen_kappa``, or with its weights ``cohen_kappa_linear``."""
        return (self.alias if self.weights is None else f"{self.alias}_{self.weights}",)

    @property
    def table(self) -> Floats:
        """How far two classes are apart."""
        place = np.arange(self.size)
        distance = np.abs(place[:, None] - place).astype(np.float64)
        if self.weights is None:
            distance = np.minimum(distance, 1.0)
        return np.asarray(np.square(distance) if self.weights == "quadratic" else distance)

    def g(self, R: Array) -> Array:
        """1 less the disagreement over that of independent margins (Cohen 1968)."""
        weight, apart, actual, predicted = self.split(R)
        by_chance = ((actual @ self.table) * predicted).sum(axis=-1)
        return 1.0 - divide(apart * weight[..., None], by_chance[..., None])

    def derivative(self, R: Floats) -> Counts:
        """Of ``1 - D w / (t' T p)``."""
        weight, apart, actual, predicted = self.split(R)
        towards = self.table @ predicted
        by_chance = actual @ towards
        share = apart[0] * weight / by_chance**2
        return Counts(
            np.array([-apart[0] / by_chance]),
            np.array([[-weight / by_chance]]),
            (share * towards)[None],
            (share * (actual @ self.table))[None],
        )


@dataclass(frozen=True)
class MatthewsOfClasses(Agreement):
    """Correlation of decision and truth over all classes at once (Gorodkin 2004, R_K)."""

    measure: Any

    @property
    def decided_by(self) -> str | None:
        """The measure's system."""
        system: str | None = self.measure.system
        return system

    def config(self) -> dict[str, Any]:
        """The original's: what depends on the pool is found again."""
        config: dict[str, Any] = self.measure.config()
        return config

    def bind(self, pool: Pool) -> Any:
        """Start again from the original."""
        return self.measure.bind(pool)

    @property
    def names(self) -> tuple[str, ...]:
        """The original's."""
        names: tuple[str, ...] = self.measure.names
        return names

    @property
    def table(self) -> Floats:
        """Whether both are the same class."""
        return np.eye(self.size)

    def g(self, R: Array) -> Array:
        """Covariance over the root of the product of the variances, each summed over the classes."""
        weight, right, actual, predicted = self.split(R)
        with np.errstate(invalid="ignore"):
            scale = np.sqrt(_variance(weight, actual) * _variance(weight, predicted))
        return divide(weight * right[..., 0] - (actual * predicted).sum(axis=-1), scale)[..., None]

    def derivative(self, R: Floats) -> Counts:
        """By hand, as ``g`` is of twice as many averages as there are classes."""
        weight, right, actual, predicted = self.split(R)
        one, two = _variance(weight, actual), _variance(weight, predicted)
        scale, value = np.sqrt(one * two), self.g(R)
        return Counts(
            right / scale - value * weight * (1.0 / one + 1.0 / two),
            np.array([[weight / scale]]),
            (-predicted / scale + value * actual / one)[None],
            (-actual / scale + value * predicted / two)[None],
        )


def _variance(weight: Array, share: Array) -> Array:
    """Of the indicators of all classes; exactly 0 where one class is all there is."""
    rest = np.square(weight) - np.square(share).sum(axis=-1)
    return np.where((share == weight[..., None]).any(axis=-1), 0.0, rest)
