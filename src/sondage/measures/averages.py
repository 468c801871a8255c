"""Counts of several classes, and averages over the classes of a ratio of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from sondage.errors import InvalidInput
from sondage.measures.base import ALL, divide
from sondage.measures.margins import Counts, Margins, sums
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.types import Array, Floats, Ints

ZeroDivision = Literal["undefined", "skip"] | float


@dataclass(frozen=True)
class RightByClass(Margins):
    """Margins, and for each class whether it is decided on rightly."""

    @property
    def pairs(self) -> int:
        """One per class."""
        return self.classes

    def of_pair(self, predicted: Ints, y: Ints) -> Floats:
        """Whether the decision on each class is right."""
        one_hot = np.eye(self.classes + 1)[:, :-1]
        return np.asarray(one_hot[self.places[y]] * (predicted == y)[..., None])

    def known_pairs(self, predicted: Floats) -> Floats:
        """A class never decided on is never decided on rightly."""
        return np.where(predicted == 0, 0.0, np.nan)

    def pair_total(self, predicted: Ints, y: Ints, weights: Floats, factor: Floats) -> Floats:
        """Counts of right decisions."""
        row, column = np.nonzero(predicted == y)
        place = self.places[predicted[row, 0]]
        share = weights[row, column] * factor[row]
        return sums(place, share, self.classes + 1)[:-1]

    def pair_influence(self, predicted: Ints, y: Ints, pair: Floats) -> Floats:
        """That of the decided class, where the label agrees."""
        return np.asarray((predicted == y)[..., None] * pair[self.places[predicted[:, 0]]][:, None, :])

    def moments(
        self, rows: Rows, y: Floats, weights: Floats, slope: Any, which: slice = ALL
    ) -> tuple[Floats, Floats]:
        """Sums over the labels as products of matrices, where the rows share their labels.

        The influence is ``b + a[label]``, and ``r`` more where the label is the decision.
        """
        predicted, codes = self.seen(rows, y)
        agree = _weight_of_decision(predicted[:, 0], codes, weights, self.size)
        if agree is None:
            return super().moments(rows, y, weights, slope, which)
        part = Counts(*(self._with_none(one) for one in self.split(slope[which])))
        decided = self.places[predicted[:, 0]]
        a, b = part.actual[self.places[codes[0]]], part.weight + part.predicted[decided]
        r = part.pair[decided]
        total, first = weights.sum(axis=1)[:, None], weights @ a
        mean = b * total + first + agree[:, None] * r
        square = b * (b * total + 2.0 * first) + weights @ np.square(a)
        square += agree[:, None] * r * (2.0 * (b + part.actual[decided]) + r)
        weight = rows.weight[:, None]
        return mean * weight, np.maximum(square, 0.0) * np.square(weight)


@dataclass(frozen=True)
class OfClasses(RightByClass):
    """What ``ByClass`` becomes on a pool: ``measure`` is the original, ``labels`` the classes' names."""

    measure: Any
    labels: tuple[str, ...]

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
    def range(self) -> tuple[Floats, Floats]:
        """The original's, for every coordinate."""
        low, high = self.measure.limits
        return np.full(self.m, low), np.full(self.m, high)

    def values(self, R: Array, terms: tuple[Floats, Floats]) -> Array:
        """(..., classes) the ratio of every class; nan where it is 0/0 and nothing else was asked for."""
        return filled(self.undefined_as_nan(R, terms), self.measure.zero_division)

    def undefined_as_nan(self, R: Array, terms: tuple[Floats, Floats]) -> Array:
        """(..., classes) the ratio of every class; nan where it is 0/0."""
        num, den = (_times(self.split(R), factor) for factor in terms)
        return divide(num, den)

    def values_derivative(self, R: Floats, terms: tuple[Floats, Floats]) -> Counts:
        """Derivative of each class's ratio by its own counts; 0 where a value stands in for 0/0."""
        den = _times(self.split(R), terms[1])
        value = self.values(R, terms)
        undefined = np.nan if self.measure.zero_division == "undefined" else 0.0
        right, actual, predicted = (
            np.where(den == 0, undefined, (up - value * down) / den) for up, down in zip(*terms, strict=True)
        )
        return Counts(np.zeros(0), right, actual, predicted)


@dataclass(frozen=True)
class Averaged(OfClasses):
    """One number for several classes."""

    @property
    def names(self) -> tuple[str, ...]:
        """``f1_macro``, as scikit-learn names its scorers."""
        return (f"{self.measure.names[0]}_{self.measure.average}",)

    def g(self, R: Array) -> Array:
        """The average."""
        average, terms = self.measure.average, self.measure.per_class
        with np.errstate(all="ignore"):
            if average == "micro":
                num, den = (_times(self.split(R), factor).sum(axis=-1) for factor in terms)
                out = filled(divide(num, den), self.measure.zero_division)
            elif average == "macro_of_means":
                out = self._harmonic(*(mean_of_classes(self.values(R, one), self._skip) for one in _BOTH))
            else:
                value, actual = self.values(R, terms), self.split(R).actual
                weight = np.ones(value.shape) if average == "macro" else actual
                out = mean_of_classes(value, self._skip, weight)
        return np.where(R[..., 0] == 0, np.nan, out)[..., None]

    def derivative(self, R: Floats) -> Counts:
        """Of the average, by the chain rule; no number where no class has a value of its own."""
        average, terms, counts = self.measure.average, self.measure.per_class, self.split(R)
        if average == "macro_of_means":
            return self._derivative_of_harmonic(R)
        if average == "micro":
            num, den = (_times(counts, factor).sum() for factor in terms)
            value = divide(num, den)
            parts = (
                np.full((1, self.classes), (up - value * down) / den) for up, down in zip(*terms, strict=True)
            )
            return Counts(np.zeros(1), *parts)
        weight = np.ones(self.classes) if average == "macro" else counts.actual
        value, each = self.values(R, terms), self.values_derivative(R, terms)
        counted = _counted(value, weight, self._skip)
        share = np.where(counted, weight, 0.0) / weight[counted].sum()
        right, actual, predicted = (
            np.where(counted, share * one, 0.0) for one in (each.pair, each.actual, each.predicted)
        )
        if average == "weighted":
            away = value - mean_of_classes(value, self._skip, weight)
            actual = actual + np.where(counted, away, 0.0) / weight[counted].sum()
        nothing = bool((_times(counts, terms[1]) == 0).all())
        made_up = np.nan if nothing else 0.0
        return Counts(np.zeros(1), *((one + made_up)[None] for one in (right, actual, predicted)))

    @property
    def _skip(self) -> bool:
        return bool(self.measure.zero_division == "skip")

    def _harmonic(self, precision: Array, recall: Array) -> Array:
        """F of two means; 0 where both are."""
        b2 = self.measure.beta**2
        below = b2 * precision + recall
        return np.where(below == 0, 0.0, (1.0 + b2) * precision * recall / np.where(below == 0, 1.0, below))

    def _derivative_of_harmonic(self, R: Floats) -> Counts:
        """Of F of the means of precision and recall."""
        b2 = self.measure.beta**2
        means, slopes = [], []
        for terms in _BOTH:
            value, each = self.values(R, terms), self.values_derivative(R, terms)
            counted = _counted(value, np.ones(self.classes), self._skip)
            means.append(mean_of_classes(value, self._skip))
            slopes.append([np.where(counted, one, 0.0) / counted.sum() for one in each[1:]])
        precision, recall = means
        below = np.square(b2 * precision + recall)
        by_precision, by_recall = (
            (1.0 + b2) * np.square(recall) / below,
            (1.0 + b2) * b2 * np.square(precision) / below,
        )
        parts = ((by_precision * one + by_recall * two)[None] for one, two in zip(*slopes, strict=True))
        return Counts(np.zeros(1), *parts)


_BOTH = (
    (np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0])),
    (np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])),
)
"""Precision and recall, as ``per_class`` has them."""


def check_zero_division(value: Any) -> None:
    """Refuse anything but the words and numbers that say what 0/0 is."""
    if isinstance(value, bool) or value not in ("undefined", "skip", 0.0, 1.0):
        raise InvalidInput(f"zero_division= must be 'undefined', 'skip', 0 or 1, not {value!r}")


def filled(value: Array, zero_division: ZeroDivision) -> Array:
    """Values with a number in place of nan, if one was asked for."""
    if isinstance(zero_division, str):
        return value
    return np.where(np.isnan(value), zero_division, value)


def mean_of_classes(value: Array, skip: bool, weight: Array | None = None) -> Array:
    """Mean over the last axis, without classes of no weight; with ``skip``, without undefined ones."""
    weight = np.ones(value.shape) if weight is None else weight
    counted = _counted(value, weight, skip)
    share = np.where(counted, weight, 0.0)
    return divide((share * np.where(counted, value, 0.0)).sum(axis=-1), share.sum(axis=-1))


def _counted(value: Array, weight: Array, skip: bool) -> Array:
    """Which classes enter a mean."""
    return np.asarray((weight != 0) & ~np.isnan(value) if skip else weight != 0)


def _times(counts: Counts, factor: Floats) -> Array:
    """The multiple of (right, actual, predicted)."""
    return np.asarray(factor[0] * counts.pair + factor[1] * counts.actual + factor[2] * counts.predicted)


def _weight_of_decision(decided: Ints, y: Ints, weights: Floats, size: int) -> Floats | None:
    """(n,) the weight of the label that equals the decision; None where labels are not the same for all."""
    if len(y) != 1 or len(set(y[0].tolist())) != y.shape[1]:
        return None
    column = np.full(size + 1, -1)
    column[y[0]] = np.arange(y.shape[1])
    place = column[decided]
    return np.where(place < 0, 0.0, weights[np.arange(len(decided)), place])
