"""Measures of a decision among any number of classes, all classes together."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np

from sondage.errors import InvalidInput
from sondage.measures.base import OwnMap, PlainMean
from sondage.measures.catalogue.one_class import bind_to_vectors
from sondage.measures.losses.base import Losses, class_of
from sondage.measures.losses.class_counts import PairTable, RightByClass, class_codes
from sondage.measures.maps.base import divide
from sondage.measures.maps.counts import CountsMap, SplitCounts, mean_of_classes
from sondage.pool.labels import shown
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.types import Array, Floats


@dataclass(frozen=True)
class Accuracy(PlainMean):
    """Share of items whose predicted class is the true one; in [0, 1].

    >>> from sondage.measures import exact
    >>> float(exact("accuracy", ["a", "b", "c", "a"], ["a", "b", "a", "a"]))
    0.75
    """

    alias: ClassVar[str] = "accuracy"
    system: str | None = None

    def bind(self, pool: Pool) -> Any:
        """Fit to the labels of the pool: exact match where they are yes or no to many."""
        return bind_to_vectors(self, pool) if pool.labels.kind == "vector" else super().bind(pool)

    def parts(self, rows: Rows, y: Floats) -> Floats:
        right = rows.prediction(self.system)[:, None] == y
        return np.asarray(right[..., None], dtype=np.float64)


@dataclass(frozen=True)
class ErrorRate(PlainMean):
    """Share of items whose predicted class is not the true one, 1 - accuracy; in [0, 1].

    >>> from sondage.measures import exact
    >>> float(exact("error_rate", ["a", "b", "c", "a"], ["a", "b", "a", "a"]))
    0.25
    """

    alias: ClassVar[str] = "error_rate"
    aliases: ClassVar[tuple[str, ...]] = ("zero_one_loss",)
    less_is_better = True
    system: str | None = None

    def parts(self, rows: Rows, y: Floats) -> Floats:
        wrong = rows.prediction(self.system)[:, None] != y
        return np.asarray(wrong[..., None], dtype=np.float64)


@dataclass(frozen=True)
class ExpectedCost(PlainMean):
    """Mean of ``cost[true][predicted]``, with classes in the order of the pool's labels.

    Between the least and the greatest cost. A gain is a negative cost.

    >>> from sondage.measures import exact
    >>> missed, false_alarm = 5, 1
    >>> float(exact(ExpectedCost([[0, false_alarm], [missed, 0]]), [1, 0, 1, 0], [1, 1, 0, 0]))
    1.5
    """

    alias: ClassVar[str] = "expected_cost"
    less_is_better = True
    cost: tuple[tuple[float, ...], ...]
    system: str | None = None

    def __post_init__(self) -> None:
        try:
            cost = np.array(self.cost, dtype=np.float64)
        except (TypeError, ValueError):
            cost = np.array(np.nan)
        if cost.ndim != 2 or cost.shape[0] != cost.shape[1] or not np.isfinite(cost).all():
            raise InvalidInput(
                "cost= must be a square table of finite numbers, a row for every true class and a column for "
                f"every predicted one, not {self.cost!r}"
            )
        if cost.min() == cost.max():
            raise InvalidInput(
                f"cost= is {cost.flat[0]:g} for every prediction: there is nothing to estimate"
            )
        object.__setattr__(self, "cost", tuple(map(tuple, cost.tolist())))

    def bind(self, pool: Pool) -> Any:
        bound = super().bind(pool)
        if len(self.cost) != pool.labels.size:
            raise InvalidInput(
                f"cost= has {len(self.cost)} rows and columns, but the pool has {pool.labels.size} classes "
                f"{shown(pool.labels.values or ())}: give one for each, in this order"
            )
        return bound

    @property
    def range(self) -> tuple[Floats, Floats]:
        cost = np.array(self.cost)
        return np.array([cost.min()]), np.array([cost.max()])

    def parts(self, rows: Rows, y: Floats) -> Floats:
        table = np.pad(np.array(self.cost), ((0, 1), (0, 0)), constant_values=np.nan)
        return table[class_codes(y, len(self.cost)), class_of(rows, self.system)[:, None]][..., None]


@dataclass(frozen=True)
class OfAllClasses(CountsMap, OwnMap):
    """A measure of counts of all classes, and its own map; ``bind`` fills in ``size``, their number."""

    size: int = field(default=0, kw_only=True, repr=False)

    def bind(self, pool: Pool) -> Any:
        return replace(super().bind(pool), size=pool.labels.size)

    @property
    def classes(self) -> int:  # type: ignore[override]
        return self.size


@dataclass(frozen=True)
class BalancedAccuracy(OfAllClasses):
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

    @cached_property
    def losses(self) -> Losses:
        return RightByClass(self.system, self.size)

    @property
    def pairs(self) -> int:  # type: ignore[override]
        return self.size

    @property
    def skip(self) -> bool:
        """Whether classes that are never the truth are left out."""
        return self.zero_division == "skip"

    @property
    def names(self) -> tuple[str, ...]:
        return (f"{self.alias}_adjusted" if self.adjusted else self.alias,)

    @property
    def range(self) -> tuple[Floats, Floats]:
        """[0, 1]; adjusted, from the least that classes left over may give."""
        fewest = 2 if self.skip else self.size
        return np.array([-1.0 / (fewest - 1) if self.adjusted else 0.0]), np.array([1.0])

    def g(self, R: Array) -> Array:
        counts = self.split(R)
        recall = divide(counts.pair, counts.actual)
        mean = mean_of_classes(recall, self.skip)
        if self.adjusted:
            guess = divide(np.ones(mean.shape), self._averaged_over(recall))
            mean = divide(mean - guess, 1.0 - guess)
        return mean[..., None]

    def derivative(self, R: Floats) -> SplitCounts:
        counts = self.split(R)
        recall = divide(counts.pair, counts.actual)
        scale = 1.0 / (self._averaged_over(recall) - (1.0 if self.adjusted else 0.0))
        undefined = 0.0 if self.skip else np.nan
        right = np.where(counts.actual == 0, undefined, scale / counts.actual)
        actual = np.where(counts.actual == 0, undefined, -recall * scale / counts.actual)
        return SplitCounts(np.zeros(1), right[None], actual[None], np.zeros((1, self.size)))

    def _averaged_over(self, recall: Array) -> Array:
        """Number of classes that the mean is over."""
        if not self.skip:
            return np.full(recall.shape[:-1], float(self.size))
        return np.asarray((~np.isnan(recall)).sum(axis=-1, dtype=np.float64))


@dataclass(frozen=True)
class CohenKappa(OfAllClasses):
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
    limits: ClassVar[tuple[float, float]] = (-1.0, 1.0)
    pairs = 1
    system: str | None = None
    weights: Literal["linear", "quadratic"] | None = None

    def __post_init__(self) -> None:
        self.require(weights=(None, "linear", "quadratic"))

    @cached_property
    def table(self) -> Floats:
        """(size, size) how far two classes are apart."""
        place = np.arange(self.size)
        distance = np.abs(place[:, None] - place).astype(np.float64)
        if self.weights is None:
            distance = np.minimum(distance, 1.0)
        return np.asarray(np.square(distance) if self.weights == "quadratic" else distance)

    @cached_property
    def losses(self) -> Losses:
        return PairTable(self.system, self.table)

    @property
    def names(self) -> tuple[str, ...]:
        return (self.alias if self.weights is None else f"{self.alias}_{self.weights}",)

    def g(self, R: Array) -> Array:
        """1 less the disagreement over that of independent margins (Cohen 1968)."""
        weight, apart, actual, predicted = self.split(R)
        by_chance = ((actual @ self.table) * predicted).sum(axis=-1)
        return 1.0 - divide(apart * weight[..., None], by_chance[..., None])

    def derivative(self, R: Floats) -> SplitCounts:
        """By hand, as there are twice as many averages as classes."""
        weight, apart, actual, predicted = self.split(R)
        towards = self.table @ predicted
        by_chance = actual @ towards
        share = apart[0] * weight / by_chance**2
        return SplitCounts(
            np.array([-apart[0] / by_chance]),
            np.array([[-weight / by_chance]]),
            (share * towards)[None],
            (share * (actual @ self.table))[None],
        )


class CorrelationOfClasses(CountsMap):
    """Correlation of decision and truth over all classes at once (Gorodkin 2004, R_K); in [-1, 1]."""

    pairs = 1
    names: tuple[str, ...] = ()
    range = np.array([-1.0]), np.array([1.0])

    def __init__(self, names: tuple[str, ...], classes: int) -> None:
        self.names, self.classes = names, classes

    def g(self, R: Array) -> Array:
        """Covariance over the root of the product of the variances, each summed over the classes."""
        weight, right, actual, predicted = self.split(R)
        with np.errstate(invalid="ignore"):
            scale = np.sqrt(_variance(weight, actual) * _variance(weight, predicted))
        return divide(weight * right[..., 0] - (actual * predicted).sum(axis=-1), scale)[..., None]

    def derivative(self, R: Floats) -> SplitCounts:
        weight, right, actual, predicted = self.split(R)
        one, two = _variance(weight, actual), _variance(weight, predicted)
        scale, value = np.sqrt(one * two), self.g(R)
        return SplitCounts(
            right / scale - value * weight * (1.0 / one + 1.0 / two),
            np.array([[weight / scale]]),
            (-predicted / scale + value * actual / one)[None],
            (-actual / scale + value * predicted / two)[None],
        )


def _variance(weight: Array, share: Array) -> Array:
    """Of the indicators of all classes; exactly 0 where one class is all there is."""
    rest = np.square(weight) - np.square(share).sum(axis=-1)
    return np.where((share == weight[..., None]).any(axis=-1), 0.0, rest)
