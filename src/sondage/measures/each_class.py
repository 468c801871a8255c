"""A ratio of counts of every class, each for itself: as many coordinates as classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from sondage.measures.averages import OfClasses
from sondage.measures.base import ALL
from sondage.measures.margins import Counts, sums
from sondage.pool.rows import Rows
from sondage.types import Array, Floats, Ints


class OwnSlope(NamedTuple):
    """(classes,) influence of an item on its own classes: label and decision, label only, decision only."""

    both: Floats
    label: Floats
    decision: Floats


@dataclass(frozen=True)
class EachClass(OfClasses):
    """The ratio of every class.

    An item moves the coordinates of its label and of the class decided on, and no other: sums over all
    coordinates have two terms.
    """

    @property
    def names(self) -> tuple[str, ...]:
        """``recall[x]``, ..."""
        return tuple(f"{self.measure.names[0]}[{label}]" for label in self.labels)

    def g(self, R: Array) -> Array:
        """The ratio of every class."""
        return np.where(R[..., :1] == 0, np.nan, self.values(R, self.measure.per_class))

    def derivative(self, R: Floats) -> Counts:
        """Of each by its own counts; no number where the value is made up for 0/0."""
        parts = (np.diag(one) for one in self._own(R))
        return Counts(np.zeros(self.classes), *parts)

    def _own(self, R: Floats) -> tuple[Floats, Floats, Floats]:
        """(classes,) derivatives by right, actual and predicted."""
        terms = self.measure.per_class
        each = self.values_derivative(R, terms)
        undefined = np.isnan(self.undefined_as_nan(R, terms))
        right, actual, predicted = (np.where(undefined, np.nan, one) for one in each[1:])
        return right, actual, predicted

    def slope(self, R: Floats, weight: Floats | None = None) -> OwnSlope:
        """The three influences of every class."""
        with np.errstate(all="ignore"):
            right, actual, predicted = (
                np.nan_to_num(one, nan=0.0, posinf=0.0, neginf=0.0) for one in self._own(R)
            )
        scale = 1.0 if weight is None else np.sqrt(weight)
        return OwnSlope((right + actual + predicted) * scale, actual * scale, predicted * scale)

    def influence(self, rows: Rows, y: Floats, slope: Any, which: slice = ALL) -> Floats:
        """Zero but for the label and the class decided on."""
        predicted, codes = self.seen(rows, y)
        column = np.arange(self.classes)[which]
        label, decision = (self.places[one][..., None] == column for one in (codes, predicted))
        both, alone, chosen = (one[which] for one in slope)
        out = np.where(label & decision, both, np.where(label, alone, np.where(decision, chosen, 0.0)))
        return np.asarray(out * rows.weight[:, None, None])

    def moments(
        self, rows: Rows, y: Floats, weights: Floats, slope: Any, which: slice = ALL
    ) -> tuple[Floats, Floats]:
        """From the chance of each class."""
        predicted, codes = self.seen(rows, y)
        mass = self._mass(codes, weights)[:, which]
        total = weights.sum(axis=1)[:, None]
        decision = self.places[predicted] == np.arange(self.classes)[which]
        both, alone, chosen = (one[which] for one in slope)
        weight = rows.weight[:, None]
        mean, square = (
            np.where(decision, mass * both**power + (total - mass) * chosen**power, mass * alone**power)
            for power in (1, 2)
        )
        return mean * weight, square * np.square(weight)

    def ends(self, rows: Rows, slope: Any, which: slice = ALL) -> tuple[Floats, Floats]:
        """The label is the class, or another."""
        decided = self.places[rows.prediction(self.decided_by).astype(np.int64)][:, None]
        decision = decided == np.arange(self.classes)[which]
        both, alone, chosen = (one[which] for one in slope)
        is_label = np.where(decision, both, alone)
        other = np.where(decision, chosen, 0.0) if self.size > 1 else is_label
        weight = rows.weight[:, None]
        return np.minimum(is_label, other) * weight, np.maximum(is_label, other) * weight

    def square_sum(
        self, rows: Rows, y: Floats, weights: Floats, slope: Any, factor: Floats, which: slice = ALL
    ) -> Floats:
        """From the sums over rows of the chance of each class, and of the class decided on."""
        predicted, codes = self.seen(rows, y)
        factor = factor * np.square(rows.weight)
        decided = self.places[predicted[:, 0]]
        each = factor * weights.sum(axis=1)
        decision = sums(decided, each, self.classes + 1)[:-1]
        label = self.label_total(codes, weights, factor)[:-1]
        right = self.pair_total(predicted, codes, weights, factor)
        return self._squares(right, label, decision, slope)[which]

    def spread(
        self,
        rows: Rows,
        y: Floats,
        weights: Floats,
        slope: Any,
        *,
        centre: Floats | None = None,
        power: Literal[1, 2] = 2,
    ) -> Floats:
        """``|psi - c|^2 = |psi|^2 - 2 psi.c + |c|^2``, of which psi has two entries."""
        predicted, codes = self.seen(rows, y)
        both, alone, chosen = (np.append(one, 0.0) for one in slope)
        decided, label = self.places[predicted], self.places[codes]
        agree = predicted == codes
        weight = rows.weight[:, None]
        squared = np.where(
            agree, np.square(both[decided]), np.square(alone[label]) + np.square(chosen[decided])
        )
        squared = squared * np.square(weight)
        if centre is not None:
            padded = np.pad(centre, ((0, 0), (0, 1)))
            row = np.arange(len(rows))[:, None]
            at_label, at_decision = padded[row, label], padded[row, decided]
            along = np.where(
                agree, both[decided] * at_decision, alone[label] * at_label + chosen[decided] * at_decision
            )
            squared = squared - 2.0 * weight * along + np.square(centre).sum(axis=1)[:, None]
            squared = np.maximum(squared, 0.0)
        return np.asarray((weights * (squared if power == 2 else np.sqrt(squared))).sum(axis=1))

    def uniform_variance(self, R: Floats) -> Floats:
        """From how often a class is label and decision, only one, or only the other."""
        counts = self.split(R)
        return float(R[0]) * self._squares(counts.pair, counts.actual, counts.predicted, self.slope(R))

    def _squares(self, right: Floats, label: Floats, decision: Floats, slope: OwnSlope) -> Floats:
        """(classes,) sum of squared influences, from how often a class is both, label and decision."""
        both, alone, chosen = map(np.square, slope)
        return np.asarray(right * both + (label - right) * alone + (decision - right) * chosen)

    def _mass(self, codes: Ints, weights: Floats) -> Floats:
        """(n, classes) chance of each class."""
        if len(codes) == 1 and np.array_equal(self.places[codes[0]], np.arange(self.classes)):
            return weights
        end = self.classes + 1
        place = np.arange(len(weights))[:, None] * end + self.places[codes]
        return sums(place, weights, len(weights) * end).reshape(-1, end)[:, :-1]
