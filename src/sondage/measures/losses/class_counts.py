"""How decision and truth go together, class by class, however many classes there are.

An item touches two classes only, the one decided on and its label. So sums over items are counts, and the
influence of an item is looked up by its two classes: nothing is ever as large as items times classes
times losses.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from sondage.measures.influence import ALL, Influence, Power, mean_power
from sondage.measures.losses.base import Losses, class_of
from sondage.measures.maps.counts import OwnSlope, SplitCounts, split_counts
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.types import Array, Bools, Floats, Ints

FEW = 31
"""Losses that are still written out: those of ten classes."""
_TABLE = 1 << 25
"""Entries of the largest table of influences by decision, label and coordinate."""


class ClassCounts(Losses):
    """The weight, some losses of the pair (decision, label), then for each class whether it is the label,
    and for each class whether it is the decision.

    ``size`` is the number of classes, ``codes`` those that count (none named: all). Write ``of_pair``;
    ``coordinates`` is how many values are made of the counts.
    """

    plain: ClassVar[bool] = False

    def __init__(
        self, system: str | None, size: int, codes: tuple[int, ...] = (), *, pairs: int, coordinates: int = 1
    ) -> None:
        self.system, self.size, self.codes, self.pairs = system, size, codes, pairs
        self.classes, self.coordinates = len(codes) or size, coordinates
        self.d = 1 + pairs + 2 * self.classes
        self.wide = self.d > FEW

    @abstractmethod
    def of_pair(self, predicted: Ints, y: Ints) -> Floats:
        """(n, S, pairs) losses of the pair, from classes (n, 1) and (n or 1, S); ``size`` is no label."""

    def signature(self, pool: Pool) -> Array | None:
        """The decision; None where a table of all influences by decision and label would be too large."""
        return None if self.size**2 * self.coordinates > _TABLE else super().signature(pool)

    def known(self, pool: Pool) -> Floats:
        count = np.zeros(self.classes + 1)
        for _, rows in pool.chunks():
            count += sums(self.places[class_of(rows, self.system)], rows.weight, self.classes + 1)
        pair, unknown = self.known_pairs(count[:-1]), np.full(self.classes, np.nan)
        return np.concatenate([[count.sum()], pair, unknown, count[:-1]]) / len(pool)

    def known_pairs(self, predicted: Floats) -> Floats:
        """(pairs,) totals of the pair that need no label, given how often each class is decided on."""
        return np.full(self.pairs, np.nan)

    def loss(self, rows: Rows, y: Floats) -> Floats:
        """Written out: for few classes, and to check the rest against."""
        predicted, label = self.seen(rows, y)
        out = np.zeros((len(rows), label.shape[1], self.d))
        parts = split_counts(out, self.pairs, self.classes)
        parts.weight[...] = 1.0
        parts.pair[...] = self.of_pair(predicted, label)
        one_hot = np.eye(self.classes + 1)[:, :-1]
        parts.actual[...] = one_hot[self.places[label]]
        parts.predicted[...] = one_hot[self.places[predicted]]
        return out * rows.weight[:, None, None]

    def settled(self, rows: Rows) -> Bools:
        """None: every label counts, as one of the classes or as none of them."""
        return np.full(len(rows), self.size < 2)

    def total(self, rows: Rows, y: Floats, weights: Floats, factor: Floats | None = None) -> Floats:
        predicted, label = self.seen(rows, y)
        factor = rows.weight if factor is None else factor * rows.weight
        each = factor * weights.sum(axis=1)
        by_decision = sums(self.places[predicted[:, 0]], each, self.classes + 1)
        by_label = self.label_total(label, weights, factor)
        pair = self.pair_total(predicted, label, weights, factor)
        return np.concatenate([[each.sum()], pair, by_label[:-1], by_decision[:-1]])

    def label_total(self, label: Ints, weights: Floats, factor: Floats) -> Floats:
        """(classes + 1,) totals of the labels; the last is of those that do not count."""
        if len(label) == 1:
            return sums(self.places[label[0]], factor @ weights, self.classes + 1)
        return sums(self.places[label], weights * factor[:, None], self.classes + 1)

    def pair_total(self, predicted: Ints, y: Ints, weights: Floats, factor: Floats) -> Floats:
        """(pairs,) totals of the losses of the pair."""
        pair = self.of_pair(predicted, y)
        return np.asarray(np.einsum("n,ns,nsq->q", factor, weights, pair, optimize=True))

    def pair_influence(self, predicted: Ints, y: Ints, pair: Floats) -> Floats:
        """(n, S, a) influence of the losses of the pair; ``pair`` is (pairs + 1, a)."""
        return np.asarray(self.of_pair(predicted, y) @ pair[:-1])

    def extremes(self, rows: Rows, alpha: Floats) -> tuple[Floats, Floats]:
        values = LookedUp(self, alpha).of(rows, np.arange(self.size, dtype=np.float64))
        return values.min(axis=1), values.max(axis=1)

    def _along(self, slope: Any) -> Influence:
        return LookedUp(self, slope)

    @cached_property
    def places(self) -> Ints:
        """(size + 1,) place of each class among those that count; the place after the last if it is none."""
        counted = np.array(self.codes or range(self.size), dtype=np.int64)
        out = np.full(self.size + 1, len(counted))
        out[counted] = np.arange(len(counted))
        return out

    def seen(self, rows: Rows, y: Floats) -> tuple[Ints, Ints]:
        """Classes decided on (n, 1), and labels (n or 1, S), where ``size`` stands for no label."""
        return class_of(rows, self.system)[:, None], class_codes(y, self.size)


class LookedUp(Influence):
    """A matrix (m, d) times counts of classes, looked up by decision and label."""

    def __init__(self, losses: ClassCounts, J: Floats) -> None:
        self.losses, self.J, self.m = losses, J, len(J)

    def of(self, rows: Rows, y: Floats, which: slice = ALL) -> Floats:
        losses, slope = self.losses, self.split(which)
        predicted, label = losses.seen(rows, y)
        alone = slope.weight + slope.predicted[losses.places[predicted[:, 0]]]
        out = slope.actual[losses.places[label]] + alone[:, None, :]
        out = out + losses.pair_influence(predicted, label, slope.pair)
        return np.asarray(out * rows.weight[:, None, None])

    def split(self, which: slice) -> SplitCounts:
        """(entries + 1, m) derivatives by what they are about: a row of zeros in the end, for no class."""
        parts = split_counts(self.J[which], self.losses.pairs, self.losses.classes)
        return SplitCounts(*(one if one.ndim == 1 else np.pad(one.T, ((0, 1), (0, 0))) for one in parts))


class RightByClass(ClassCounts):
    """Counts of right decisions, of labels and of decisions, for each class."""

    def __init__(
        self, system: str | None, size: int, codes: tuple[int, ...] = (), coordinates: int = 1
    ) -> None:
        super().__init__(system, size, codes, pairs=len(codes) or size, coordinates=coordinates)

    def of_pair(self, predicted: Ints, y: Ints) -> Floats:
        one_hot = np.eye(self.classes + 1)[:, :-1]
        return np.asarray(one_hot[self.places[y]] * (predicted == y)[..., None])

    def known_pairs(self, predicted: Floats) -> Floats:
        """A class never decided on is never decided on rightly."""
        return np.where(predicted == 0, 0.0, np.nan)

    def pair_total(self, predicted: Ints, y: Ints, weights: Floats, factor: Floats) -> Floats:
        row, column = np.nonzero(predicted == y)
        share = weights[row, column] * factor[row]
        return sums(self.places[predicted[row, 0]], share, self.classes + 1)[:-1]

    def pair_influence(self, predicted: Ints, y: Ints, pair: Floats) -> Floats:
        """That of the decided class, where the label agrees."""
        return np.asarray((predicted == y)[..., None] * pair[self.places[predicted[:, 0]]][:, None, :])

    def _along(self, slope: Any) -> Influence:
        return OwnClasses(self, slope) if isinstance(slope, OwnSlope) else OfRight(self, slope)


class OfRight(LookedUp):
    """A matrix times right decisions, labels and decisions."""

    def moments(self, rows: Rows, y: Floats, weights: Floats, which: slice = ALL) -> tuple[Floats, Floats]:
        """Sums over the labels as products of matrices, where the rows share their labels.

        The influence is ``b + a[label]``, and ``r`` more where the label is the decision.
        """
        places = self.losses.places
        predicted, codes = self.losses.seen(rows, y)
        agree = _weight_of_decision(predicted[:, 0], codes, weights, self.losses.size)
        if agree is None:
            return super().moments(rows, y, weights, which)
        part, decided = self.split(which), places[predicted[:, 0]]
        a, b = part.actual[places[codes[0]]], part.weight + part.predicted[decided]
        r = part.pair[decided]
        total, first = weights.sum(axis=1)[:, None], weights @ a
        mean = b * total + first + agree[:, None] * r
        square = b * (b * total + 2.0 * first) + weights @ np.square(a)
        square += agree[:, None] * r * (2.0 * (b + part.actual[decided]) + r)
        weight = rows.weight[:, None]
        return mean * weight, np.maximum(square, 0.0) * np.square(weight)


class OwnClasses(Influence):
    """The influence on a value of every class.

    An item moves the coordinates of its label and of the class decided on, and no other: sums over all
    coordinates have two terms.
    """

    def __init__(self, losses: RightByClass, slope: OwnSlope) -> None:
        self.losses, self.slope, self.m = losses, slope, losses.classes

    def of(self, rows: Rows, y: Floats, which: slice = ALL) -> Floats:
        """Zero but for the label and the class decided on."""
        predicted, codes = self.losses.seen(rows, y)
        column, places = np.arange(self.m)[which], self.losses.places
        label, decision = (places[one][..., None] == column for one in (codes, predicted))
        both, alone, chosen = (one[which] for one in self.slope)
        out = np.where(label & decision, both, np.where(label, alone, np.where(decision, chosen, 0.0)))
        return np.asarray(out * rows.weight[:, None, None])

    def moments(self, rows: Rows, y: Floats, weights: Floats, which: slice = ALL) -> tuple[Floats, Floats]:
        predicted, codes = self.losses.seen(rows, y)
        place = self.losses.places[codes]
        every = len(codes) == 1 and np.array_equal(place[0], np.arange(self.m))  # each class, in order
        mass = (weights if every else chances_of_classes(place, weights, self.m))[:, which]
        total = weights.sum(axis=1)[:, None]
        decision = self.losses.places[predicted] == np.arange(self.m)[which]
        both, alone, chosen = (one[which] for one in self.slope)
        weight = rows.weight[:, None]
        mean, square = (
            np.where(decision, mass * both**power + (total - mass) * chosen**power, mass * alone**power)
            for power in (1, 2)
        )
        return mean * weight, square * np.square(weight)

    def ends(self, rows: Rows, which: slice = ALL) -> tuple[Floats, Floats]:
        decided = self.losses.places[class_of(rows, self.losses.system)][:, None]
        decision = decided == np.arange(self.m)[which]
        both, alone, chosen = (one[which] for one in self.slope)
        is_label = np.where(decision, both, alone)
        other = np.where(decision, chosen, 0.0) if self.losses.size > 1 else is_label
        weight = rows.weight[:, None]
        return np.minimum(is_label, other) * weight, np.maximum(is_label, other) * weight

    def square_sum(
        self, rows: Rows, y: Floats, weights: Floats, factor: Floats, which: slice = ALL
    ) -> Floats:
        """From the sums over rows of the chance of each class, and of the class decided on."""
        predicted, codes = self.losses.seen(rows, y)
        factor = factor * np.square(rows.weight)
        each = factor * weights.sum(axis=1)
        decision = sums(self.losses.places[predicted[:, 0]], each, self.m + 1)[:-1]
        label = self.losses.label_total(codes, weights, factor)[:-1]
        right = self.losses.pair_total(predicted, codes, weights, factor)
        return self.slope.squares(right, label, decision)[which]

    def spread(
        self, rows: Rows, y: Floats, weights: Floats, *, centre: Floats | None = None, power: Power = 2
    ) -> Floats:
        """``|psi - c|^2 = |psi|^2 - 2 psi.c + |c|^2``, of which psi has two entries."""
        predicted, codes = self.losses.seen(rows, y)
        both, alone, chosen = (np.append(one, 0.0) for one in self.slope)
        decided, label = self.losses.places[predicted], self.losses.places[codes]
        agree, weight = predicted == codes, rows.weight[:, None]
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
        return mean_power(squared, weights, power)


class PairTable(ClassCounts):
    """Counts of labels and decisions, and one number for the pair, looked up in a table (size, size)."""

    def __init__(self, system: str | None, table: Floats) -> None:
        super().__init__(system, len(table), pairs=1)
        self.table = np.pad(table, ((0, 0), (0, 1)))  # zeros where there is no label

    def of_pair(self, predicted: Ints, y: Ints) -> Floats:
        return self.table[predicted, y][..., None]


def sums(place: Ints, weights: Floats, size: int) -> Floats:
    """(size,) sum of the weights at each place."""
    return np.asarray(np.bincount(place.ravel(), weights=weights.ravel(), minlength=size), dtype=np.float64)


def chances_of_classes(place: Ints, weights: Floats, classes: int) -> Floats:
    """(n, classes) sum of the weights of each row at each place; the place after the last is no class."""
    at = np.arange(len(weights))[:, None] * (classes + 1) + place
    return sums(at, weights, len(weights) * (classes + 1)).reshape(-1, classes + 1)[:, :-1]


def class_codes(y: Floats, none: int) -> Ints:
    """(n or 1, S) labels as whole numbers; ``none`` where there is no label."""
    y = np.atleast_2d(np.asarray(y, dtype=np.float64))
    return np.where(np.isnan(y), none, y).astype(np.int64)


def _weight_of_decision(decided: Ints, y: Ints, weights: Floats, size: int) -> Floats | None:
    """(n,) the weight of the label that equals the decision; None where labels are not the same for all."""
    if len(y) != 1 or len(set(y[0].tolist())) != y.shape[1]:
        return None
    column = np.full(size + 1, -1)
    column[y[0]] = np.arange(y.shape[1])
    place = column[decided]
    return np.where(place < 0, 0.0, weights[np.arange(len(decided)), place])
