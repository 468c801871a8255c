"""The tangent: a measure with very many losses, replaced by what it is near the estimated averages.

Averages of thousands of losses have covariances that nobody can write down, and labels of many numbers
cannot be enumerated. What the variance of ``g(R)`` needs is less: the influence ``J @ l`` of each draw.
So such a measure is first estimated from plain weighted sums, ``R1``; then the sample is estimated from
again with the influence at ``R1`` as loss. The value is ``g(R1) + J @ R2``, one Newton step, which takes in
what the estimator knows beyond the weights (sizes of strata, predictions of the belief) and has the
variance of ``J @ R2`` (the delta method; Särndal, Swensson and Wretman 1992, 5.5).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from sondage.estimators.base import Case, Estimator
from sondage.estimators.census import averages_of_all
from sondage.estimators.combine import estimators_of
from sondage.measures.base import Measure
from sondage.measures.influence import Influence
from sondage.measures.losses.base import Input, Losses
from sondage.measures.maps.base import Map
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.types import Array, Bools, Floats

LEAST, GREATEST = -np.inf, np.inf
"""Labels that stand for whichever makes each influence least, or greatest."""
_AT_ONCE, _BLOCK = 2048, 512
"""Coordinates that are estimated together: all of them if that is not too many."""


class Influences(Losses):
    """The weight, and the influence on some coordinates, as the losses of a measure near some averages.

    The losses of items hardly matter one by one, so nothing is taken to be known without a label, but for
    items of which no label can move the measure.
    """

    plain: ClassVar[bool] = False

    def __init__(self, inner: Losses, psi: Any, which: slice, number: int) -> None:
        self.inner, self.psi, self.which, self.d = inner, psi, which, 1 + number

    def inputs(self, pool: Pool) -> tuple[Input, ...]:
        return self.inner.inputs(pool)

    def signature(self, pool: Pool) -> Array | None:
        return self.inner.signature(pool)

    def loss(self, rows: Rows, y: Floats) -> Floats:
        """The weight and the influences; the least or greatest where the label is ``LEAST``, ``GREATEST``."""
        y = np.atleast_2d(np.asarray(y, dtype=np.float64))
        out = np.empty((len(rows), y.shape[1], self.d))
        out[..., 0] = rows.weight[:, None]
        extreme = np.isinf(y)
        told = np.where(extreme, 0.0, y) if extreme.any() else y
        out[..., 1:] = self.psi.of(rows, told, self.which)
        if extreme.any():
            low, high = (one[:, None, 1:] for one in self.extremes(rows, np.eye(self.d)))
            out[..., 1:] = np.where((y == LEAST)[..., None], low, out[..., 1:])
            out[..., 1:] = np.where((y == GREATEST)[..., None], high, out[..., 1:])
        return out

    def expected(self, rows: Rows, y: Floats, weights: Floats) -> Floats:
        mean, _ = self.psi.moments(rows, y, weights, self.which)
        return np.concatenate([rows.weight[:, None], mean], axis=1)

    def second_moment(self, rows: Rows, y: Floats, weights: Floats, factor: Floats) -> Floats:
        """Of each influence by itself: the diagonal is all that a variance needs."""
        square = self.psi.square_sum(rows, y, weights, factor, self.which)
        return np.diag(np.concatenate([[0.0], square]))

    def extremes(self, rows: Rows, alpha: Floats) -> tuple[Floats, Floats]:
        """Over the classes; for labels of several numbers, over each number by itself."""
        one_each = bool((np.count_nonzero(alpha, axis=1) <= 1).all())
        if rows.labels.kind == "real" or (rows.labels.finite and not one_each):
            return super().extremes(rows, alpha)
        low, high = self.psi.ends(rows, self.which)
        weight = rows.weight[:, None]
        low, high = np.concatenate([weight, low], axis=1), np.concatenate([weight, high], axis=1)
        up, down = np.maximum(alpha, 0.0).T, np.minimum(alpha, 0.0).T
        with np.errstate(invalid="ignore"):
            return _times(low, up) + _times(high, down), _times(high, up) + _times(low, down)


@dataclass(frozen=True, eq=False)
class Tangent(Map, Measure):
    """A bound measure near the averages ``R``: ``value + mean influence`` of some coordinates."""

    label_kind = "any"
    tangent: ClassVar[bool] = True
    measure: Measure
    psi: Influence | None
    weight: float
    value: Floats
    which: slice

    @cached_property
    def losses(self) -> Losses:
        return Influences(self.measure.losses, self.psi, self.which, len(self.value))

    @property
    def map(self) -> Map:
        return self

    def settled(self, rows: Rows) -> Bools:
        return self.measure.settled(rows)

    @property
    def names(self) -> tuple[str, ...]:
        return self.measure.names[self.which]

    @property
    def range(self) -> tuple[Floats, Floats]:
        low, high = self.measure.range
        return low[self.which], high[self.which]

    def g(self, R: Array) -> Array:
        return np.asarray(self.value + R[..., 1:] / R[..., :1] * self.weight)

    def jac(self, R: Floats) -> Floats:
        scale = self.weight / R[0]
        out = np.zeros((len(self.value), 1 + len(self.value)))
        out[:, 0] = -R[1:] / R[0] * scale
        out[:, 1:] = scale * np.eye(len(self.value))
        return out


def _times(ends: Floats, factor: Floats) -> Floats:
    """Product in which an infinite end times nothing is nothing."""
    finite = np.where(np.isfinite(ends), ends, 0.0) @ factor
    endless = np.where(np.isfinite(ends), 0.0, np.sign(ends)) @ factor
    return np.where(endless != 0, np.sign(endless) * np.inf, finite)


def tangent_cases(case: Case, estimator: Estimator | None) -> Iterator[Case]:
    """The case with its measure replaced by tangents, for all coordinates or blocks of them."""
    measure, psi = case.measure, None
    R, value = np.ones(1), np.full(measure.m, np.nan)
    if case.sample.answered.any():
        R = weighted_averages(case, estimator)
        with np.errstate(all="ignore"):
            value = np.asarray(measure.g(R), dtype=np.float64)
            psi = measure.influence(R)
    step = measure.m if measure.m <= _AT_ONCE else _BLOCK
    for start in range(0, measure.m, step):
        which = slice(start, min(start + step, measure.m))
        local = Tangent(measure, psi, float(R[0]), value[which], which)
        yield replace(case, measure=local, memo={})


def weighted_averages(case: Case, estimator: Estimator | None = None) -> Floats:
    """(d,) averages from the draws' weights alone, on the scale of the pool.

    Totals that need no label are left to the Newton step. Put in here they would stand beside estimates of
    their own parts, and the errors of both sides of a ratio would no longer cancel.
    """
    measure, pool = case.measure, case.pool
    whole = averages_of_all(case)
    if whole is not None:
        return whole
    parts = [(one.weights(mine), share, mine.sample) for one, share, mine in estimators_of(case, estimator)]
    R = np.zeros(measure.d)
    for weight, share, sample in parts:
        told = np.flatnonzero((weight > 0) & ~np.isnan(sample.y))
        rows = pool.rows(sample.row[told])
        total = measure.total(rows, sample.y[told, None], weight[told, None])
        # The pool's own weight is known, so that weights need to be right up to a factor only.
        R += share * total * (len(pool) / max(float(weight.sum()), 1e-300)) / len(pool)
    return R
