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
from sondage.pool.labels import shown
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.types import Floats


class VectorLosses(Losses):
    """Losses of labels of several numbers: write ``of_labels``, ``expected`` and ``second_moment``."""

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

    def second_moment(self, rows: Rows, y: Floats, weights: Floats, factor: Floats) -> Floats:
        if written_out(y):
            return super().second_moment(rows, y, weights, factor)
        mean, (_, slope) = self.expected(rows, y, weights), self._as_affine(rows)
        variance = rows.labels.component_variance(weights) * factor[:, None]
        between = (mean * factor[:, None]).T @ mean
        return np.asarray(between + np.einsum("ndc,nc,nec->de", slope, variance, slope, optimize=True))

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
