"""Ratios of counts of classes or labels: of every one for itself, or averaged over them.

The averages are the weight, then for every class how often it is decided on rightly, how often it is the
label, and how often the decision. One ratio of these three serves one class, many, and labels that are yes or
no to many questions.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from sondage.errors import InvalidInput
from sondage.measures.maps.base import Map, divide, no_gaps
from sondage.types import Array, Floats

ZeroDivision = Literal["undefined", "skip"] | float
Terms = tuple[Floats, Floats]
"""A ratio: what is above and below the line, as multiples of (right, actual, predicted)."""

RIGHT, ACTUAL, PREDICTED = np.eye(3)


class SplitCounts(NamedTuple):
    """Averages, or derivatives by them: ``actual`` and ``predicted`` have an entry for every class."""

    weight: Array
    pair: Array
    actual: Array
    predicted: Array


def split_counts(R: Array, pairs: int, classes: int) -> SplitCounts:
    """Averages by what they are about."""
    weight, pair, actual, predicted = np.split(R, np.cumsum([1, pairs, classes]).tolist(), axis=-1)
    return SplitCounts(weight[..., 0], pair, actual, predicted)


class OwnSlope(NamedTuple):
    """(classes,) influence of an item on its own classes: label and decision, label only, decision only."""

    both: Floats
    label: Floats
    decision: Floats

    def squares(self, right: Floats, label: Floats, decision: Floats) -> Floats:
        """(classes,) sum of squared influences, from how often a class is both, label and decision."""
        both, alone, chosen = map(np.square, self)
        return np.asarray(right * both + (label - right) * alone + (decision - right) * chosen)


class CountsMap(Map):
    """A map of counts of classes, whose derivative is written by hand: write ``derivative``."""

    pairs: int
    classes: int

    def split(self, R: Array) -> SplitCounts:
        return split_counts(R, self.pairs, self.classes)

    @abstractmethod
    def derivative(self, R: Floats) -> SplitCounts:
        """Derivative of ``g`` at ``R``: (m,), (m, pairs), (m, classes), (m, classes)."""

    @property
    def apart(self) -> bool:
        return self.m > 1

    def jac(self, R: Floats) -> Floats:
        with np.errstate(all="ignore"):
            weight, pair, actual, predicted = self.derivative(R)
        return np.concatenate([weight[:, None], pair, actual, predicted], axis=1)


class ClassRatios(CountsMap):
    """A ratio of counts of every class; ``zero_division`` says what 0/0 is worth."""

    def __init__(
        self, name: str, terms: Terms, classes: Sequence[str], zero_division: ZeroDivision, beta: float
    ) -> None:
        self.name, self.terms, self.labels, self.beta = name, terms, tuple(classes), beta
        self.pairs = self.classes = len(self.labels)
        self.zero_division = zero_division

    @property
    def range(self) -> tuple[Floats, Floats]:
        return np.zeros(self.m), np.ones(self.m)

    def values(self, R: Array, terms: Terms) -> Array:
        """(..., classes) the ratio of every class; nan where it is 0/0 and nothing else was asked for."""
        return filled(self.undefined_as_nan(R, terms), self.zero_division)

    def undefined_as_nan(self, R: Array, terms: Terms) -> Array:
        """(..., classes) the ratio of every class; nan where it is 0/0."""
        num, den = (_times(self.split(R), factor) for factor in terms)
        return divide(num, den)

    def values_derivative(self, R: Floats, terms: Terms) -> Floats:
        """(3, classes) derivatives of each ratio by its own counts; 0 where a value stands in for 0/0."""
        den, value = _times(self.split(R), terms[1]), self.values(R, terms)
        undefined = np.nan if self.zero_division == "undefined" else 0.0
        up, down = (one[:, None] for one in terms)
        return np.where(den == 0, undefined, (up - value * down) / den)


class EachClass(ClassRatios):
    """The ratio of every class for itself."""

    @property
    def names(self) -> tuple[str, ...]:
        """``recall[x]``, ..."""
        return tuple(f"{self.name}[{label}]" for label in self.labels)

    @property
    def m(self) -> int:
        return self.classes

    def g(self, R: Array) -> Array:
        return np.where(R[..., :1] == 0, np.nan, self.values(R, self.terms))

    def derivative(self, R: Floats) -> SplitCounts:
        """Of each by its own counts; no number where the value is made up for 0/0."""
        return SplitCounts(np.zeros(self.classes), *(np.diag(one) for one in self._own(R)))

    def _own(self, R: Floats) -> Floats:
        """(3, classes) derivatives by right, actual and predicted."""
        undefined = np.isnan(self.undefined_as_nan(R, self.terms))
        return np.where(undefined, np.nan, self.values_derivative(R, self.terms))

    def slope(self, R: Floats, weight: Floats | None = None) -> OwnSlope:
        with np.errstate(all="ignore"):
            right, actual, predicted = no_gaps(self._own(R))
        scale = 1.0 if weight is None else np.sqrt(weight)
        return OwnSlope((right + actual + predicted) * scale, actual * scale, predicted * scale)

    def uniform_variance(self, R: Floats) -> Floats:
        """From how often a class is label and decision, only one, or only the other."""
        counts = self.split(R)
        return float(R[0]) * self.slope(R).squares(counts.pair, counts.actual, counts.predicted)


class Averaged(ClassRatios):
    """One number for several classes: ``average`` is micro, macro, weighted or macro_of_means."""

    m = 1

    def __init__(self, average: str, *ratio: Any) -> None:
        super().__init__(*ratio)
        self.average, self._skip = average, bool(self.zero_division == "skip")

    @property
    def names(self) -> tuple[str, ...]:
        """``f1_macro``, as scikit-learn names its scorers."""
        return (f"{self.name}_{self.average}",)

    def g(self, R: Array) -> Array:
        with np.errstate(all="ignore"):
            if self.average == "micro":
                num, den = (_times(self.split(R), factor).sum(axis=-1) for factor in self.terms)
                out = filled(divide(num, den), self.zero_division)
            elif self.average == "macro_of_means":
                out = self._harmonic(*(mean_of_classes(self.values(R, one), self._skip) for one in _BOTH))
            else:
                value, actual = self.values(R, self.terms), self.split(R).actual
                weight = np.ones(value.shape) if self.average == "macro" else actual
                out = mean_of_classes(value, self._skip, weight)
        return np.where(R[..., 0] == 0, np.nan, out)[..., None]

    def derivative(self, R: Floats) -> SplitCounts:
        """Of the average, by the chain rule; no number where no class has a value of its own."""
        terms, counts = self.terms, self.split(R)
        if self.average == "macro_of_means":
            return self._derivative_of_harmonic(R)
        if self.average == "micro":
            num, den = (_times(counts, factor).sum() for factor in terms)
            each = (terms[0] - divide(num, den) * terms[1]) / den
            return SplitCounts(np.zeros(1), *np.broadcast_to(each[:, None, None], (3, 1, self.classes)))
        weight = np.ones(self.classes) if self.average == "macro" else counts.actual
        value = self.values(R, terms)
        counted = _counted(value, weight, self._skip)
        share = np.where(counted, weight, 0.0) / weight[counted].sum()
        each = np.where(counted, share * self.values_derivative(R, terms), 0.0)
        if self.average == "weighted":  # by actual: the weights move as well
            away = value - mean_of_classes(value, self._skip, weight)
            each[1] += np.where(counted, away, 0.0) / weight[counted].sum()
        made_up = np.nan if bool((_times(counts, terms[1]) == 0).all()) else 0.0
        return SplitCounts(np.zeros(1), *(each + made_up)[:, None])

    def _harmonic(self, precision: Array, recall: Array) -> Array:
        """F of two means; 0 where both are."""
        b2 = self.beta**2
        below = b2 * precision + recall
        return np.where(below == 0, 0.0, (1.0 + b2) * precision * recall / np.where(below == 0, 1.0, below))

    def _derivative_of_harmonic(self, R: Floats) -> SplitCounts:
        b2 = self.beta**2
        means, slopes = [], []
        for terms in _BOTH:
            value = self.values(R, terms)
            counted = _counted(value, np.ones(self.classes), self._skip)
            means.append(mean_of_classes(value, self._skip))
            slopes.append(np.where(counted, self.values_derivative(R, terms), 0.0) / counted.sum())
        precision, recall = means
        below = np.square(b2 * precision + recall)
        by_precision = (1.0 + b2) * np.square(recall) / below
        by_recall = (1.0 + b2) * b2 * np.square(precision) / below
        return SplitCounts(np.zeros(1), *(by_precision * slopes[0] + by_recall * slopes[1])[:, None])


class MicroRatio(Averaged):
    """The ratio of the counts of all labels together, which is a ratio of averages."""

    @property
    def ratio(self) -> tuple[Floats, Floats] | None:
        if self.zero_division != "undefined":
            return None
        num, den = (np.concatenate([[0.0], np.repeat(one, self.classes)]) for one in self.terms)
        return num, den


_BOTH = ((RIGHT, PREDICTED), (RIGHT, ACTUAL))
"""Precision and recall."""


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
    return np.asarray((weight != 0) & ~np.isnan(value) if skip else weight != 0)


def _times(counts: SplitCounts, factor: Floats) -> Array:
    return np.asarray(factor[0] * counts.pair + factor[1] * counts.actual + factor[2] * counts.predicted)
