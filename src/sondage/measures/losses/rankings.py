"""Losses of ranked lists: what a query contributes, by the grades of its documents.

The grades of a query are too many to be written out. A belief gives every document a distribution over
grades, all independent, and what designs want to know is the mean and the covariance of a few values under
it: exact where a value is a sum over documents or stops at the first good one, by sampling elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sondage.errors import NotSupported
from sondage.measures.influence import ALL, Influence, written_out
from sondage.measures.losses.base import Input, Losses
from sondage.measures.losses.vectors import VectorInfluence, VectorLosses, told
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.types import Array, Bools, Floats, Ints

if TYPE_CHECKING:
    from sondage.measures.catalogue.rankings import RankingMeasure

ABSENT = -np.inf
"""The grade of what is not there."""
_AT_ONCE = 1 << 22
_NOTHING = 1e-12


class RankingLosses(VectorLosses):
    """The weight, and contrasts of the values of one measure for several systems' lists."""

    wide = False

    def __init__(self, sides: Sequence[RankingMeasure], rows: Floats) -> None:
        self.sides, self.rows, self.d = tuple(sides), rows, 1 + len(rows)

    def contrasts(self, sides: Sequence[Losses], rows: Floats) -> Losses | None:
        measures = [one.sides[0] for one in sides if isinstance(one, RankingLosses)]
        return RankingLosses(measures, rows) if len(measures) == len(sides) else None

    def inputs(self, pool: Pool) -> tuple[Input, ...]:
        """No column of the items: lists are looked at instead."""
        return ()

    def systems(self, pool: Pool) -> tuple[str, ...]:
        return tuple(pool.system_name(one.system) for one in self.sides)

    def signature(self, pool: Pool) -> Array | None:
        """None: no two queries are alike."""
        return None

    def pattern(self, pool: Pool) -> Array:
        """Whether all lists of a query are the same: then nothing depends on its grades."""
        return self.alike(pool.rows(ALL)).astype(np.int8)

    def known(self, pool: Pool) -> Floats:
        return np.concatenate([[pool.mean("weight")], np.full(self.d - 1, np.nan)])

    def needs(self, pool: Pool) -> Bools:
        """(P,) documents whose grades the values depend on."""
        assert pool.parts is not None
        wanted = [one.needs(pool.parts, pool.system_name(one.system)) for one in self.sides]
        return np.asarray(np.any(wanted, axis=0))

    @property
    def gaps(self) -> bool:
        """Whether values are defined where some of these have no grade."""
        return all(one.unjudged != "unknown" for one in self.sides)

    def of_labels(self, rows: Rows, label: Floats) -> Floats:
        label = np.broadcast_to(label, (len(rows), *label.shape[1:]))
        values = np.stack([one.values(rows, label) for one in self.sides], axis=-1)
        values = values - values[..., :1] if len(self.sides) > 1 else values  # equal lists are exactly alike
        out = np.concatenate([np.ones((*values.shape[:2], 1)), values @ self.rows.T], axis=-1)
        return out * rows.weight[:, None, None]

    def expected(self, rows: Rows, y: Floats, weights: Floats) -> Floats:
        if written_out(y):
            return super().expected(rows, y, weights)
        mean, _ = self.believed(rows, weights)
        return np.concatenate([np.ones((len(rows), 1)), mean], axis=1) * rows.weight[:, None]

    def second_moment(self, rows: Rows, y: Floats, weights: Floats, factor: Floats) -> Floats:
        if written_out(y):
            return super().second_moment(rows, y, weights, factor)
        mean, covariance = self.believed(rows, weights)
        mean = np.concatenate([np.ones((len(rows), 1)), mean], axis=1)
        share = factor * np.square(rows.weight)
        out = np.einsum("n,ni,nj->ij", share, mean, mean)
        out[1:, 1:] += np.einsum("n,nij->ij", share, covariance)
        return np.asarray(out)

    def extremes(self, rows: Rows, alpha: Floats) -> tuple[Floats, Floats]:
        return RankingInfluence(self, alpha).ends(rows)

    def believed(self, rows: Rows, weights: Floats) -> tuple[Floats, Floats]:
        """(n, c) means of the contrasts and (n, c, c) their covariances."""
        grades = getattr(rows.labels, "scale", ())
        step = max(_AT_ONCE // max(weights.shape[1], 1), 1)
        means, covariances = [], []
        for begin in range(0, len(rows), step):
            piece = np.arange(begin, min(begin + step, len(rows)))
            chance = weights[piece].reshape(len(piece), -1, len(grades))
            mean, covariance = self.sides[0].moments(rows.take(piece), chance, self.sides)
            means.append(mean @ self.rows.T)
            covariances.append(np.einsum("ci,nij,dj->ncd", self.rows, covariance, self.rows))
        return np.concatenate(means), np.concatenate(covariances)

    def alike(self, rows: Rows) -> Bools:
        """(n,) whether the lists of all systems are the same, so that every contrast of them is 0."""
        lists = [one.list_of(rows) for one in self.sides]
        if len(lists) < 2 or np.abs(self.rows.sum(axis=1)).max() > _NOTHING:
            return np.zeros(len(rows), dtype=bool)
        long = max(one.shape[1] for one in lists)
        padded = [np.pad(one, ((0, 0), (0, long - one.shape[1])), constant_values=-1) for one in lists]
        return np.asarray(np.all([(one == padded[0]).all(axis=1) for one in padded], axis=0))

    def _along(self, slope: Any) -> Influence:
        return RankingInfluence(self, slope)


class RankingInfluence(VectorInfluence):
    """A matrix times the losses of ranked lists."""

    def __init__(self, losses: RankingLosses, J: Floats) -> None:
        self.losses, self.J, self.m = losses, J, len(J)

    def of(self, rows: Rows, y: Floats, which: slice = ALL) -> Floats:
        return self.losses.of_labels(rows, told(rows, y)) @ self.J[which].T

    def believed_together(self, rows: Rows, weights: Floats) -> tuple[Floats, Floats]:
        mean, covariance = self.losses.believed(rows, weights)
        J, weight = self.J, rows.weight[:, None]
        together = np.einsum("mc,ncd,kd->nmk", J[:, 1:], covariance, J[:, 1:], optimize=True)
        return (J[:, 0] + mean @ J[:, 1:].T) * weight, together * np.square(weight)[..., None]

    def believed(self, rows: Rows, means: Floats, which: slice = ALL) -> tuple[Floats, Floats]:
        mean, covariance = self.losses.believed(rows, means)
        J, weight = self.J[which], rows.weight[:, None]
        variance = np.einsum("mc,ncd,md->nm", J[:, 1:], covariance, J[:, 1:])
        return (J[:, 0] + mean @ J[:, 1:].T) * weight, np.maximum(variance, 0.0) * np.square(weight)

    def ends(self, rows: Rows, which: slice = ALL) -> tuple[Floats, Floats]:
        J, weight = self.J[which], rows.weight[:, None]
        top = np.array([one.top for one in self.losses.sides])
        each = (J[:, 1:] @ self.losses.rows) * top
        moving = ~self.losses.alike(rows)[:, None]
        low, high = (bound(each, 0.0).sum(axis=1) * moving for bound in (np.minimum, np.maximum))
        return (J[:, 0] + low) * weight, (J[:, 0] + high) * weight


def graded(rows: Rows, label: Floats, places: Ints, measure: RankingMeasure, depth: int | None) -> Floats:
    """(n, S, L) grades of the documents of lists, best first; ``ABSENT`` behind the last.

    A document without a grade is refused, counts as ``ABSENT``, or is passed over (``condensed``).
    """
    inside = places >= 0
    at = np.broadcast_to(np.maximum(places, 0)[:, None, :], (*label.shape[:2], places.shape[1]))
    grades = np.take_along_axis(label, at, axis=2)
    there = np.broadcast_to(inside[:, None, :], grades.shape)
    gap = np.isnan(grades) & there
    if gap.any():
        refuse_gaps(rows, np.asarray(gap.any(axis=1)), places, measure)
    if measure.unjudged == "condensed":
        order = np.argsort(gap | ~there, axis=2, kind="stable")
        grades, there = np.take_along_axis(grades, order, 2), np.take_along_axis(there & ~gap, order, 2)
    grades = np.where(there & ~np.isnan(grades), grades, ABSENT)
    return grades if depth is None else grades[..., :depth]


def refuse_gaps(rows: Rows, gap: Bools, places: Ints, measure: RankingMeasure) -> None:
    """``NotSupported`` where documents without a grade decide a value, and nothing says how they count."""
    if measure.unjudged != "unknown":
        return
    documents, item = rows.documents, int(np.flatnonzero(gap.any(axis=1))[0])
    row = int(np.arange(len(documents.count))[rows.index][item])
    place = int(places[item][np.flatnonzero(gap[item])[0]])
    raise NotSupported(
        f"{measure.names[0]} depends on {int(gap.sum()):,} documents that were not judged, such as "
        f"{documents.id_of(row, place)!r} in row {row} of the queries: make the study for this measure and "
        "system, or say how they count with unjudged='irrelevant' or 'condensed'"
    )
