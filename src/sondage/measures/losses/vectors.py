"""Losses of labels of several numbers: yes or no to many at once, or counts.

Such labels are too many to be written out: a hundred of yes or no are 2^100. A belief about one is what it
expects of each number, all independent (``Nodes`` with no labels), and what designs and estimators want to
know follows from that in closed form. Labels that were told come as codes, as everywhere.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from sondage.errors import InvalidInput
from sondage.measures.influence import ALL, Influence, Power, affine_extremes, affine_moments, written_out
from sondage.measures.losses.base import Losses
from sondage.measures.maps.counts import OwnSlope
from sondage.pool.labels import shown
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.types import Floats


class VectorLosses(Losses):
    """Losses of labels of several numbers: write ``of_labels`` and ``expected``."""

    wide = True
    plain: ClassVar[bool] = False

    @abstractmethod
    def of_labels(self, rows: Rows, label: Floats) -> Floats:
        """(n, S, d) losses of n rows under S labels of C numbers: ``label`` is (n or 1, S, C)."""

    def loss(self, rows: Rows, y: Floats) -> Floats:
        return self.of_labels(rows, told(rows, y))

    def total(self, rows: Rows, y: Floats, weights: Floats, factor: Floats | None = None) -> Floats:
        if written_out(y):
            return super().total(rows, y, weights, factor)
        each = self.expected(rows, y, weights)
        return np.asarray(each.sum(axis=0) if factor is None else factor @ each)


class VectorInfluence(Influence):
    """An influence whose moments have a closed form: write ``believed`` and ``ends``."""

    @abstractmethod
    def believed(self, rows: Rows, means: Floats, which: slice = ALL) -> tuple[Floats, Floats]:
        """(n, m) twice: mean and variance of the influence, where each number has the mean (n, C)."""

    def moments(self, rows: Rows, y: Floats, weights: Floats, which: slice = ALL) -> tuple[Floats, Floats]:
        if written_out(y):
            return super().moments(rows, y, weights, which)
        mean, variance = self.believed(rows, weights, which)
        return mean, np.square(mean) + variance

    def spread(
        self, rows: Rows, y: Floats, weights: Floats, *, centre: Floats | None = None, power: Power = 2
    ) -> Floats:
        """``E|psi - c|^2 = |E psi - c|^2 + Var psi``; for power 1 the root of it."""
        if written_out(y):
            return super().spread(rows, y, weights, centre=centre, power=power)
        mean, variance = self.believed(rows, weights)
        squared = (np.square(mean if centre is None else mean - centre) + variance).sum(axis=1)
        return np.asarray(squared if power == 2 else np.sqrt(squared))


class LinearLosses(VectorLosses):
    """Losses that are linear in the label: write ``of_labels``, and ``affine`` where labels are long.

    Under independent numbers ``E[(a + b.y)^2] = (a + b.E y)^2 + b^2.Var y``, equal to the sum over all labels
    (Yilmaz et al., eq. 95-97).
    """

    def affine(self, rows: Rows, J: Floats) -> tuple[Floats, Floats]:
        """(n, m) and (n, m, C): a matrix times the losses, as ``constant + factor @ label``."""
        constant, factor = self._as_affine(rows)
        return constant @ J.T, np.einsum("ndc,md->nmc", factor, J, optimize=True)

    def expected(self, rows: Rows, y: Floats, weights: Floats) -> Floats:
        if written_out(y):
            return super().expected(rows, y, weights)
        return self.of_labels(rows, weights[:, None, :])[:, 0]

    def extremes(self, rows: Rows, alpha: Floats) -> tuple[Floats, Floats]:
        return affine_extremes(rows.labels, *LinearLosses.affine(self, rows, alpha))

    def _as_affine(self, rows: Rows) -> tuple[Floats, Floats]:
        """(n, d) and (n, d, C): losses as ``constant + factor @ label``, from what each number adds."""
        size = len(rows.labels.components)
        corners = np.concatenate([np.zeros((1, size)), np.eye(size)])
        loss = self.of_labels(rows, corners[None])
        return loss[:, 0], np.moveaxis(loss[:, 1:] - loss[:, :1], 1, 2)

    def _along(self, slope: Any) -> Influence:
        return Linear(self, slope)


class Linear(VectorInfluence):
    """``constant + factor @ label``."""

    def __init__(self, losses: LinearLosses, J: Floats) -> None:
        self.losses, self.J, self.m = losses, J, len(J)

    def affine(self, rows: Rows, which: slice = ALL) -> tuple[Floats, Floats]:
        return self.losses.affine(rows, self.J[which])

    def of(self, rows: Rows, y: Floats, which: slice = ALL) -> Floats:
        constant, factor = self.affine(rows, which)
        label = told(rows, y)
        label = np.broadcast_to(label, (len(rows), *label.shape[1:]))
        return np.asarray(constant[:, None, :] + np.einsum("nmc,nsc->nsm", factor, label))

    def believed(self, rows: Rows, means: Floats, which: slice = ALL) -> tuple[Floats, Floats]:
        return affine_moments(rows, means, *self.affine(rows, which))

    def ends(self, rows: Rows, which: slice = ALL) -> tuple[Floats, Floats]:
        return affine_extremes(rows.labels, *self.affine(rows, which))


class LabelCounts(LinearLosses):
    """Counts of labels that are yes or no to many questions at once, at some ``places``.

    The losses are the weight, then for each label whether it applies and is predicted, whether it applies,
    and whether it is predicted: as counts of classes (``class_counts.py``), so that the same maps serve both.
    """

    def __init__(self, system: str | None, places: tuple[int, ...]) -> None:
        self.system, self.places, self.d = system, places, 1 + 3 * len(places)

    def known(self, pool: Pool) -> Floats:
        total = np.zeros(self.d)
        for _, rows in pool.chunks():
            said = self.said(rows)
            total += self._totals(said, np.zeros_like(said), rows.weight)
        total[1 : 1 + 2 * len(self.places)] = np.nan
        return total / len(pool)

    def of_labels(self, rows: Rows, label: Floats) -> Floats:
        said, actual = np.broadcast_arrays(self.said(rows)[:, None, :], chosen(label, self.places))
        one = np.ones((*actual.shape[:2], 1))
        return np.concatenate([one, said * actual, actual, said], axis=-1) * rows.weight[:, None, None]

    def total(self, rows: Rows, y: Floats, weights: Floats, factor: Floats | None = None) -> Floats:
        each = rows.weight if factor is None else factor * rows.weight
        if not written_out(y):
            return self._totals(self.said(rows), chosen(weights, self.places) * each[:, None], each)
        share, label = weights * each[:, None], chosen(told(rows, y), self.places)
        label = np.broadcast_to(label, (len(rows), *label.shape[1:]))
        return self._totals(self.said(rows), np.einsum("ns,nsk->nk", share, label), share.sum(axis=1))

    def _totals(self, said: Floats, actual: Floats, share: Floats) -> Floats:
        """(d,) totals, from (n, k) how much of each label every row has and (n,) how much the row counts."""
        both = np.einsum("nk,nk->k", said, actual)
        return np.concatenate([[share.sum()], both, actual.sum(axis=0), share @ said])

    def said(self, rows: Rows) -> Floats:
        """(n, k) what is predicted for each row and label."""
        return chosen(rows.prediction(self.system), self.places)

    def _along(self, slope: Any) -> Influence:
        if isinstance(slope, OwnSlope):
            both, actual, predicted = slope
            return OfLabels(self, np.stack([both - actual - predicted, actual, predicted]), each=True)
        return OfLabels(self, slope[0, 1:].reshape(3, -1), each=False)


class OfLabels(VectorInfluence):
    """Terms ``c + b * label`` of every label, where ``c`` and ``b`` depend on the prediction alone.

    A value of every label has each term as a coordinate (``each``); an average has their sum as its only
    one. All labels of an item are drawn together, so that the square is that of the whole sum: covariances
    between labels belong to the variance of an average (Yilmaz et al., eq. 112-119, leave them out).
    ``slope`` has the derivatives by both, actual and predicted.
    """

    def __init__(self, losses: LabelCounts, slope: Floats, *, each: bool) -> None:
        self.losses, self.slope, self.each = losses, slope, each
        self.m = len(losses.places) if each else 1

    def of(self, rows: Rows, y: Floats, which: slice = ALL) -> Floats:
        constant, factor, mine = self._terms(rows, which)
        return self._summed(constant[:, None, :] + factor[:, None, :] * chosen(told(rows, y), mine))

    def believed(self, rows: Rows, means: Floats, which: slice = ALL) -> tuple[Floats, Floats]:
        constant, factor, mine = self._terms(rows, which)
        means = chosen(means, mine)
        variance = np.square(factor) * rows.labels.component_variance(means)
        return self._summed(constant + factor * means), self._summed(variance)

    def ends(self, rows: Rows, which: slice = ALL) -> tuple[Floats, Floats]:
        constant, factor, _ = self._terms(rows, which)
        low, high = np.minimum(factor, 0.0), np.maximum(factor, 0.0)
        return self._summed(constant + low), self._summed(constant + high)

    def affine(self, rows: Rows, which: slice = ALL) -> tuple[Floats, Floats]:
        constant, factor, mine = self._terms(rows, which)
        out = np.zeros((len(rows), len(mine) if self.each else 1, len(rows.labels.components)))
        out[:, np.arange(len(mine)) if self.each else 0, mine] = factor
        return self._summed(constant), out

    def _terms(self, rows: Rows, which: slice) -> tuple[Floats, Floats, tuple[int, ...]]:
        """(n, k) ``c`` and ``b`` of the labels that the coordinates ``which`` are about, and their places."""
        kept = which if self.each else ALL
        mine = self.losses.places[kept]
        both, actual, predicted = self.slope[:, kept]
        weight, said = rows.weight[:, None], chosen(rows.prediction(self.losses.system), mine)
        return said * predicted * weight, (said * both + actual) * weight, mine

    def _summed(self, terms: Floats) -> Floats:
        return terms if self.each else terms.sum(axis=-1, keepdims=True)


def told(rows: Rows, y: Floats) -> Floats:
    """(n or 1, S, C) the numbers of labels that are codes, (n or 1, S) or (S,)."""
    return rows.labels.vectors(np.atleast_2d(np.asarray(y, dtype=np.float64)))


def places_of(
    wanted: Sequence[Any] | None, components: Sequence[str], argument: str = "labels"
) -> tuple[int, ...]:
    """Where the wanted parts of a label are; all of them, unless named."""
    if wanted is None:
        return tuple(range(len(components)))
    where = {name: place for place, name in enumerate(components)}
    names = [str(name) for name in wanted]
    unknown = [name for name in names if name not in where]
    if unknown:
        raise InvalidInput(f"{argument}= names {unknown[0]!r}, which is not one of {shown(components)}")
    if not names or len(set(names)) != len(names):
        raise InvalidInput(f"{argument}= must be different names, at least one, not {names}")
    return tuple(where[name] for name in names)


def chosen(table: Floats, places: tuple[int, ...] | None) -> Floats:
    """Some parts of labels, on the last axis; the table itself where that is all of them (None)."""
    if places is None or places == tuple(range(table.shape[-1])):
        return table
    return table[..., places]


def check_yes_or_no(alias: str, pool: Pool) -> None:
    """Refuse a pool whose labels are several numbers, but not yes or no to each."""
    if not (pool.labels.whole and pool.labels.high == 1):
        raise InvalidInput(
            f"measure {alias!r} needs labels that are yes or no to each of several: make the pool "
            f"with multilabel=True (its labels are {pool.labels.words()})"
        )
