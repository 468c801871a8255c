"""Measures of how decision and truth go together, class by class, however many classes there are.

An item touches two classes only, the one decided on and its label. So sums over items are counts, and the
influence of an item is looked up by its two classes: nothing is ever as large as items times classes
times losses.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from sondage.measures.base import ALL, Input, Measure
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.types import Array, Bools, Floats, Ints

FEW = 31
"""Losses that are still written out: those of ten classes."""
_TABLE = 1 << 25
"""Entries of the largest table of influences by decision, label and coordinate."""


class Counts(NamedTuple):
    """Averages, or derivatives by them: ``actual`` and ``predicted`` have an entry for every class."""

    weight: Array
    pair: Array
    actual: Array
    predicted: Array


@dataclass(frozen=True)
class Margins(Measure):
    """Losses: the weight, some of the pair (decision, label), then for each class whether it is the
    label, and for each class whether it is the decision.

    Write ``pairs`` (how many losses of the pair there are), ``of_pair``, ``g`` and ``derivative``. ``size``
    and ``codes`` are filled in by ``bind``: the number of classes, and those that count (none named: all).
    """

    size: int = field(default=0, kw_only=True, repr=False)
    codes: tuple[int, ...] = field(default=(), kw_only=True, repr=False)

    @property
    @abstractmethod
    def decided_by(self) -> str | None:
        """The system whose decisions are looked at; None: the first."""

    @property
    @abstractmethod
    def pairs(self) -> int:
        """Number of losses of the pair."""

    @abstractmethod
    def of_pair(self, predicted: Ints, y: Ints) -> Floats:
        """(n, S, pairs) losses of the pair, from classes (n, 1) and (n or 1, S); ``size`` is no label."""

    @abstractmethod
    def derivative(self, R: Floats) -> Counts:
        """Derivative of ``g`` at ``R``: (m,), (m, pairs), (m, classes), (m, classes)."""

    def bind(self, pool: Pool) -> Self:
        """Learn the number of classes."""
        return replace(super().bind(pool), size=pool.labels.size)

    @property
    def classes(self) -> int:
        """How many classes count."""
        return len(self.codes) or self.size

    @property
    def d(self) -> int:
        """The weight, the pair, and two for every class."""
        return 1 + self.pairs + 2 * self.classes

    @property
    def wide(self) -> bool:  # type: ignore[override]
        """With more than about ten classes, or several coordinates: each rests on labels of its own."""
        return self.d > FEW or self.m > 1

    def inputs(self, pool: Pool) -> tuple[Input, ...]:
        """The decisions."""
        return (Input("prediction", pool.system_name(self.decided_by)),)

    def signature(self, pool: Pool) -> Array | None:
        """The decision; None where a table of all influences by decision and label would be too large."""
        return None if self.size**2 * self.m > _TABLE else super().signature(pool)

    def split(self, R: Array) -> Counts:
        """Averages by what they are about."""
        weight, pair, actual, predicted = np.split(
            R, np.cumsum([1, self.pairs, self.classes]).tolist(), axis=-1
        )
        return Counts(weight[..., 0], pair, actual, predicted)

    def jac(self, R: Floats) -> Floats:
        """The derivative written by hand, as a matrix."""
        with np.errstate(all="ignore"):
            weight, pair, actual, predicted = self.derivative(R)
        return np.concatenate([weight[:, None], pair, actual, predicted], axis=1)

    def known(self, pool: Pool) -> Floats:
        """The weight and the decisions."""
        code = np.asarray(pool.system(self.decided_by).prediction).astype(np.int64)
        weights = np.ones(len(pool)) if pool.weight is None else pool.weight
        count = sums(self.places[code], weights, self.classes + 1)
        pair = self.known_pairs(count[:-1])
        unknown = np.full(self.classes, np.nan)
        return np.concatenate([[weights.sum()], pair, unknown, count[:-1]]) / len(pool)

    def known_pairs(self, predicted: Floats) -> Floats:
        """(pairs,) totals of the pair that need no label, given how often each class is decided on."""
        return np.full(self.pairs, np.nan)

    def loss(self, rows: Rows, y: Floats) -> Floats:
        """Written out: for few classes, and to check the rest against."""
        predicted, label = self.seen(rows, y)
        out = np.zeros((len(rows), label.shape[1], self.d))
        parts = self.split(out)
        parts.weight[...] = 1.0
        parts.pair[...] = self.of_pair(predicted, label)
        one_hot = np.eye(self.classes + 1)[:, :-1]
        parts.actual[...] = one_hot[self.places[label]]
        parts.predicted[...] = one_hot[self.places[predicted]]
        return out * rows.weight[:, None, None]

    def settled(self, rows: Rows) -> Bools:
        """None: every label counts, as one of the classes or as none of them."""
        return np.full(len(rows), self.size < 2)

    def total(self, rows: Rows, y: Floats, weights: Floats) -> Floats:
        """Counts."""
        return self.expected_total(rows, y, weights, np.ones(len(rows)))

    def expected_total(self, rows: Rows, y: Floats, weights: Floats, factor: Floats) -> Floats:
        """Counts, every row counting ``factor`` times its weight."""
        predicted, label = self.seen(rows, y)
        factor = factor * rows.weight
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
        return np.asarray(
            np.einsum("n,ns,nsq->q", factor, weights, self.of_pair(predicted, y), optimize=True)
        )

    def influence(self, rows: Rows, y: Floats, slope: Any, which: slice = ALL) -> Floats:
        """Looked up by decision and label."""
        return self.looked_up(rows, y, slope[which])

    def looked_up(self, rows: Rows, y: Floats, J: Floats) -> Floats:
        """(n, S, a) ``J @ l`` for a matrix (a, d)."""
        predicted, label = self.seen(rows, y)
        slope = Counts(*(self._with_none(part) for part in self.split(J)))
        alone = slope.weight + slope.predicted[self.places[predicted[:, 0]]]
        out = slope.actual[self.places[label]] + alone[:, None, :]
        out = out + self.pair_influence(predicted, label, slope.pair)
        return np.asarray(out * rows.weight[:, None, None])

    def _with_none(self, part: Floats) -> Floats:
        """(entries + 1, a) from (a, entries): a row of zeros in the end, for no class at all."""
        return part if part.ndim == 1 else np.pad(part.T, ((0, 1), (0, 0)))

    def pair_influence(self, predicted: Ints, y: Ints, pair: Floats) -> Floats:
        """(n, S, a) influence of the losses of the pair; ``pair`` is (pairs + 1, a)."""
        return np.asarray(self.of_pair(predicted, y) @ pair[:-1])

    def extremes(self, rows: Rows, alpha: Floats) -> tuple[Floats, Floats]:
        """Over all classes."""
        values = self.looked_up(rows, np.arange(self.size, dtype=np.float64), alpha)
        return values.min(axis=1), values.max(axis=1)

    @cached_property
    def places(self) -> Ints:
        """(size + 1,) place of each class among those that count; the place after the last if it is none."""
        counted = np.array(self.codes or range(self.size), dtype=np.int64)
        out = np.full(self.size + 1, len(counted))
        out[counted] = np.arange(len(counted))
        return out

    def seen(self, rows: Rows, y: Floats) -> tuple[Ints, Ints]:
        """Classes decided on (n, 1), and labels (n or 1, S), where ``size`` stands for no label."""
        predicted = rows.prediction(self.decided_by).astype(np.int64)[:, None]
        return predicted, class_codes(y, self.size)


def sums(place: Ints, weights: Floats, size: int) -> Floats:
    """(size,) sum of the weights at each place."""
    return np.asarray(np.bincount(place.ravel(), weights=weights.ravel(), minlength=size), dtype=np.float64)


def class_codes(y: Floats, none: int) -> Ints:
    """(n or 1, S) labels as whole numbers; ``none`` where there is no label."""
    y = np.atleast_2d(np.asarray(y, dtype=np.float64))
    return np.where(np.isnan(y), none, y).astype(np.int64)
