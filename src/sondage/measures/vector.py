"""What measures of labels of several numbers have in common: yes or no to many at once, or counts.

Such labels are too many to be written out: a hundred of yes or no are 2^100. A belief about one is what it
expects of each number, all independent (``Nodes`` with no labels), and what designs and estimators want to
know follows from that in closed form. Labels that were told come as codes, as everywhere.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from sondage.errors import InvalidInput
from sondage.measures.base import ALL, Measure, affine_extremes
from sondage.pool.labels import shown
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.types import Bools, Floats

_GOLDEN = 0.6180339887498949


class VectorMeasure(Measure):
    """A measure of labels of several numbers.

    Write ``losses``, ``believed``, ``expected`` and ``ends``, or only what ``LinearMeasure`` asks for.
    ``spread`` with power 1 is the root of the mean square: the mean length itself has no closed form, and the
    root is never below it.
    """

    label_kind = "vector"
    wide: ClassVar[bool] = True

    @abstractmethod
    def losses(self, rows: Rows, label: Floats) -> Floats:
        """(n, S, d) losses of n rows under S labels of C numbers: ``label`` is (n or 1, S, C)."""

    @abstractmethod
    def believed(self, rows: Rows, means: Floats, slope: Any, which: slice = ALL) -> tuple[Floats, Floats]:
        """(n, m) twice: mean and variance of the influence, where each number has the mean (n, C)."""

    @abstractmethod
    def ends(self, rows: Rows, slope: Any, which: slice = ALL) -> tuple[Floats, Floats]:
        """(n, m) least and greatest influence over all labels."""

    def settled(self, rows: Rows) -> Bools:
        """Where labels move nothing to first order, at averages as good as any: then they never do."""
        anywhere = 0.5 + np.arange(1.0, self.d + 1.0) * _GOLDEN % 1.0
        low, high = self.ends(rows, self.slope(anywhere))
        return np.asarray((low == high).all(axis=1))

    def loss(self, rows: Rows, y: Floats) -> Floats:
        """The losses of labels that were told."""
        return self.losses(rows, told(rows, y))

    def moments(
        self, rows: Rows, y: Floats, weights: Floats, slope: Any, which: slice = ALL
    ) -> tuple[Floats, Floats]:
        """In closed form; sums over the labels where they are written out."""
        if written_out(y):
            return super().moments(rows, y, weights, slope, which)
        mean, variance = self.believed(rows, weights, slope, which)
        return mean, np.square(mean) + variance

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
        """``E|psi - c|^2 = |E psi - c|^2 + Var psi``; for power 1 the root of it."""
        if written_out(y):
            return super().spread(rows, y, weights, slope, centre=centre, power=power)
        mean, variance = self.believed(rows, weights, slope)
        squared = (np.square(mean if centre is None else mean - centre) + variance).sum(axis=1)
        return np.asarray(squared if power == 2 else np.sqrt(squared))

    def expected_total(self, rows: Rows, y: Floats, weights: Floats, factor: Floats) -> Floats:
        """The sum of what is expected of each row."""
        if written_out(y):
            return super().expected_total(rows, y, weights, factor)
        return np.asarray(factor @ self.expected(rows, y, weights))


class LinearMeasure(VectorMeasure):
    """A measure whose losses are linear in the label: write ``losses``, and ``affine`` where labels are long.

    Under independent numbers ``E[(a + b.y)^2] = (a + b.E y)^2 + b^2.Var y``, equal to the sum over all labels
    (Yilmaz et al., eq. 95-97).
    """

    def affine(self, rows: Rows, slope: Any, which: slice = ALL) -> tuple[Floats, Floats]:
        """From the losses written out, ``slope`` being the matrix of derivatives."""
        constant, factor = self._losses_as_affine(rows)
        return constant @ slope[which].T, np.einsum("ndc,md->nmc", factor, slope[which])

    def influence(self, rows: Rows, y: Floats, slope: Any, which: slice = ALL) -> Floats:
        """``constant + factor @ label``."""
        constant, factor = self.affine(rows, slope, which)
        label = told(rows, y)
        label = np.broadcast_to(label, (len(rows), *label.shape[1:]))
        return np.asarray(constant[:, None, :] + np.einsum("nmc,nsc->nsm", factor, label))

    def believed(self, rows: Rows, means: Floats, slope: Any, which: slice = ALL) -> tuple[Floats, Floats]:
        """The mean and the variance of ``constant + factor @ label``."""
        constant, factor = self.affine(rows, slope, which)
        mean = constant + np.einsum("nmc,nc->nm", factor, means)
        return mean, np.einsum("nmc,nc->nm", np.square(factor), rows.labels.component_variance(means))

    def ends(self, rows: Rows, slope: Any, which: slice = ALL) -> tuple[Floats, Floats]:
        """Each number at the end that its factor asks for."""
        return affine_extremes(rows.labels, *self.affine(rows, slope, which))

    def expected(self, rows: Rows, y: Floats, weights: Floats) -> Floats:
        """The losses of the mean label."""
        if written_out(y):
            return super().expected(rows, y, weights)
        return self.losses(rows, weights[:, None, :])[:, 0]

    def second_moment(self, rows: Rows, y: Floats, weights: Floats, factor: Floats) -> Floats:
        """Written out: for few losses."""
        if written_out(y):
            return super().second_moment(rows, y, weights, factor)
        mean, (_, slope) = self.expected(rows, y, weights), self._losses_as_affine(rows)
        variance = rows.labels.component_variance(weights) * factor[:, None]
        between = (mean * factor[:, None]).T @ mean
        return np.asarray(between + np.einsum("ndc,nc,nec->de", slope, variance, slope, optimize=True))

    def extremes(self, rows: Rows, alpha: Floats) -> tuple[Floats, Floats]:
        """Each number at the end that its factor asks for."""
        constant, factor = self._losses_as_affine(rows)
        return affine_extremes(
            rows.labels, constant @ alpha.T, np.einsum("ndc,ad->nac", factor, alpha, optimize=True)
        )

    def _losses_as_affine(self, rows: Rows) -> tuple[Floats, Floats]:
        """(n, d) and (n, d, C): losses as ``constant + factor @ label``, from what each number adds."""
        size = len(rows.labels.components)
        corners = np.concatenate([np.zeros((1, size)), np.eye(size)])
        loss = self.losses(rows, corners[None])
        return loss[:, 0], np.moveaxis(loss[:, 1:] - loss[:, :1], 1, 2)


def told(rows: Rows, y: Floats) -> Floats:
    """(n or 1, S, C) the numbers of labels that are codes, (n or 1, S) or (S,)."""
    return rows.labels.vectors(np.atleast_2d(np.asarray(y, dtype=np.float64)))


def written_out(y: Floats) -> bool:
    """Whether a belief lists labels; if not, its weights are what it expects of each number."""
    return bool(np.shape(y)[-1])


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


def chosen(table: Floats, places: tuple[int, ...]) -> Floats:
    """Some parts of labels, on the last axis; the table itself where that is all of them."""
    return table if places == tuple(range(table.shape[-1])) else table[..., places]


def check_yes_or_no(measure: Measure, pool: Pool) -> None:
    """Refuse a pool whose labels are several numbers, but not yes or no to each."""
    if not (pool.labels.whole and pool.labels.high == 1):
        raise InvalidInput(
            f"measure {measure.alias!r} needs labels that are yes or no to each of several: make the pool "
            f"with multilabel=True (its labels are {pool.labels.words()})"
        )
