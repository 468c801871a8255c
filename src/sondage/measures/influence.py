"""What moves a measure: losses contracted with a slope, the one thing that designs and variances look at."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from sondage.errors import NotSupported
from sondage.pool.labels import LabelSpace
from sondage.pool.rows import Rows
from sondage.types import Floats, Ints

if TYPE_CHECKING:
    from sondage.measures.losses.base import Losses

ALL = slice(None)
Power = Literal[1, 2]
_CELLS = 1 << 22
"""Entries of an array of influences that is only looked through."""


class Influence(ABC):
    """``J @ l`` near some averages: how far an item moves each coordinate under each label.

    ``rows`` are n items, and ``(y, weights)`` what is believed of their labels: S labels, (S,) or (n, S), and
    (n, S) their chances; of labels of several numbers that are not written out, no labels and (n, C) means.
    ``which`` are the coordinates wanted. Write ``of``, and whatever has a shorter way than the sums here.
    """

    m: int
    """Number of coordinates."""

    @abstractmethod
    def of(self, rows: Rows, y: Floats, which: slice = ALL) -> Floats:
        """(n, S, m) influence of n rows under their labels."""

    def affine(self, rows: Rows, which: slice = ALL) -> tuple[Floats, Floats]:
        """(n, m) and (n, m, C): influence as ``constant + factor @ label``, for labels of C numbers."""
        raise NotSupported("the losses are not linear in the components of the labels")

    def believed_together(self, rows: Rows, weights: Floats) -> tuple[Floats, Floats]:
        """(n, m) and (n, m, m): mean and covariance under a belief whose labels are not written out."""
        raise NotSupported("the belief about these labels has no covariances")

    def ends(self, rows: Rows, which: slice = ALL) -> tuple[Floats, Floats]:
        """(n, m) least and greatest influence of each row over all labels; endless where nobody can tell."""
        number = len(range(self.m)[which])
        low, high = np.empty((2, len(rows), number))
        if rows.labels.kind == "vector":
            for k, j in enumerate(range(self.m)[which]):
                low[:, k], high[:, k] = -np.inf, np.inf
                with suppress(NotSupported):  # a measure made of one that is not linear in the label
                    ends = affine_extremes(rows.labels, *self.affine(rows, slice(j, j + 1)))
                    low[:, k], high[:, k] = ends[0][:, 0], ends[1][:, 0]
            return low, high
        labels = np.arange(rows.labels.size, dtype=np.float64)
        step = max(_CELLS // max(len(labels) * number, 1), 1)
        for start in range(0, len(rows), step):
            piece = np.arange(start, min(start + step, len(rows)))
            influence = self.of(rows.take(piece), labels, which)
            low[piece], high[piece] = influence.min(axis=1), influence.max(axis=1)
        return low, high

    def moments(self, rows: Rows, y: Floats, weights: Floats, which: slice = ALL) -> tuple[Floats, Floats]:
        """(n, m) twice: the belief's mean and mean square of the influence of each row."""
        return weighted_moments(self.of(rows, y, which), weights)

    def square_sum(
        self, rows: Rows, y: Floats, weights: Floats, factor: Floats, which: slice = ALL
    ) -> Floats:
        """(m,) sum over rows of ``factor`` times the belief's mean squared influence."""
        return np.asarray(factor @ self.moments(rows, y, weights, which)[1])

    def spread(
        self, rows: Rows, y: Floats, weights: Floats, *, centre: Floats | None = None, power: Power = 2
    ) -> Floats:
        """(n,) belief's mean of ``|J @ l - centre| ** power``, where ``centre`` is (n, m).

        Of labels that are not written out power 1 is the root of the mean square: the mean length has no
        closed form, and the root is never below it.
        """
        if not written_out(y):
            mean, square = self.moments(rows, y, weights)
            if centre is not None:
                square = np.maximum(square - np.square(mean), 0.0) + np.square(mean - centre)
            total = square.sum(axis=1)
            return np.asarray(total if power == 2 else np.sqrt(total))
        influence = self.of(rows, y)
        if centre is not None:
            influence = influence - centre[:, None, :]
        return mean_power(np.square(influence).sum(axis=-1), weights, power)

    @property
    def folded(self) -> Influence:
        """For sums over coordinates: those that no item moves together, laid over each other."""
        return self

    def fold(self, rows: Rows) -> Ints | None:
        """(n,) which of the layers of ``folded`` each row moves; None if there is but one."""
        return None


class Dense(Influence):
    """Losses written out, times a matrix (m, d)."""

    def __init__(self, losses: Losses, J: Floats) -> None:
        self.losses, self.J, self.m = losses, J, len(J)

    def of(self, rows: Rows, y: Floats, which: slice = ALL) -> Floats:
        return np.asarray(self.losses.loss(rows, y) @ self.J[which].T)


class Chained(Influence):
    """The influence on a function of other coordinates: theirs, times the derivative (m, m of inner)."""

    def __init__(self, inner: Influence, outer: Floats) -> None:
        self.inner, self.outer, self.m = inner, outer, len(outer)

    def of(self, rows: Rows, y: Floats, which: slice = ALL) -> Floats:
        return np.asarray(self.inner.of(rows, y) @ self.outer[which].T)

    def affine(self, rows: Rows, which: slice = ALL) -> tuple[Floats, Floats]:
        constant, factor = self.inner.affine(rows)
        outer = self.outer[which]
        return constant @ outer.T, np.einsum("nmc,km->nkc", factor, outer)

    def moments(self, rows: Rows, y: Floats, weights: Floats, which: slice = ALL) -> tuple[Floats, Floats]:
        if written_out(y):
            return super().moments(rows, y, weights, which)
        try:
            mean, variance = affine_moments(rows, weights, *self.affine(rows, which))
        except NotSupported:  # not linear in the label: no more than if all went together
            mean, square = self.inner.moments(rows, y, weights)
            outer, deviation = self.outer[which], np.sqrt(np.maximum(square - np.square(mean), 0.0))
            mean, variance = mean @ outer.T, np.square(deviation @ np.abs(outer).T)
        return mean, np.square(mean) + variance


class Chain(NamedTuple):
    """The slope of a function of a measure's coordinates: the slope inside, and the function's derivative."""

    inner: Any
    outer: Floats


def weighted_moments(influence: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """(n, m) twice: mean and mean square of (n, S, m) influences under (n, S) weights."""
    mean = np.einsum("ns,nsm->nm", weights, influence)
    return mean, np.einsum("ns,nsm->nm", weights, np.square(influence))


def mean_power(squared: Floats, weights: Floats, power: Power) -> Floats:
    """(n,) mean under (n, S) weights of (n, S) squared lengths, or of the lengths."""
    return np.asarray((weights * (squared if power == 2 else np.sqrt(squared))).sum(axis=1))


def affine_moments(rows: Rows, means: Floats, constant: Floats, factor: Floats) -> tuple[Floats, Floats]:
    """(n, m) mean and variance of ``constant + factor @ label``, the label's numbers being independent.

    ``E[(a + b.y)^2] = (a + b.E y)^2 + b^2.Var y``: equal to the sum over all labels, without writing them
    out (Yilmaz et al., eq. 95-97).
    """
    mean = constant + np.einsum("nmc,nc->nm", factor, means)
    return mean, np.einsum("nmc,nc->nm", np.square(factor), rows.labels.component_variance(means))


def affine_extremes(space: LabelSpace, constant: Floats, factor: Floats) -> tuple[Floats, Floats]:
    """(n, m) least and greatest ``constant + factor @ label`` over labels of several numbers."""

    def sum_of(up: float, down: float) -> Floats:
        """Each number at the end that its factor asks for."""
        total = np.zeros(constant.shape)
        for part, sign, end in ((np.maximum(factor, 0.0), 1.0, up), (np.minimum(factor, 0.0), -1.0, down)):
            if np.isfinite(end):
                total = total + end * part.sum(axis=-1)
            else:
                total = total + np.where(part.any(axis=-1), sign * end, 0.0)
        return total

    return constant + sum_of(space.low, space.high), constant + sum_of(space.high, space.low)


def written_out(y: Floats) -> bool:
    """Whether a belief lists labels; if not, its weights are what it expects of each number."""
    return bool(np.shape(y)[-1])
