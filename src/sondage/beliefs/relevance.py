"""Belief about documents: how relevant each is, by where the systems put it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
from scipy.special import expit

from sondage.beliefs.base import Nodes, StaticBelief
from sondage.errors import InvalidInput
from sondage.pool.parts import Documents
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.types import Array, Floats

_FIRST, _FALL, _NEXT = -0.6, 1.5, -1.0
"""Log odds of relevance in the middle of lists, how they rise towards their top, and of each next grade."""
_ENOUGH = 200
"""Documents judged beforehand from which the curve is fitted to them."""
_LEAST = 1e-4
_RIDGE = 1.0


@dataclass(frozen=True)
class RelevanceBelief(StaticBelief):
    """An ordered logit of the grade on a document's place in the systems' lists, equally for all systems.

    ``P(grade >= g) = expit(cut_g + slope * x)``, where x is how near the top a document is on average over
    all systems of the pool, ``1 / log2(place + 1)`` (``by="place"``); or its mean score, in standard
    deviations of each system's scores (``by="score"``), for scores that mean the same in every query; or the
    sum of both, scores on the scale of places (``by="both"``, the default; places alone where there are no
    scores). What several systems put near the top is probably relevant, and where they disagree little is.
    Fitted to the grades that the pool comes with, where there are enough; otherwise by a curve that falls as
    such curves do. ``even=True`` holds every grade as likely as any other.
    """

    alias: ClassVar[str] = "relevance"
    even: bool = False
    by: Literal["both", "place", "score"] = "both"
    systems: tuple[str, ...] = ()
    cuts: tuple[float, ...] = ()
    slope: float = 0.0

    def __post_init__(self) -> None:
        self.require(by=("both", "place", "score"))

    def bind(self, pool: Pool, systems: tuple[str, ...]) -> RelevanceBelief:
        if pool.parts is None:
            raise InvalidInput("belief 'relevance' is about documents: make the pool with from_rankings")
        if self.by == "score" and any(np.isnan(pool.parts.score[name]).all() for name in systems):
            raise InvalidInput("belief by='score' needs score= of every system: pass it to from_rankings")
        systems = tuple(pool.parts.rank)
        scale = getattr(pool.labels, "scale", ())
        cuts = _FIRST + _NEXT * np.arange(len(scale) - 1.0)
        bound = replace(self, systems=systems, cuts=tuple(cuts.tolist()), slope=_FALL)
        judged = np.flatnonzero(~np.isnan(pool.parts.grade))
        if self.even or len(judged) < _ENOUGH:
            return bound
        grade = np.searchsorted(scale, pool.parts.grade[judged])
        return bound._fitted(bound._all(pool.parts)[judged], grade)

    def _all(self, documents: Documents) -> Floats:
        """(P,) what the chances of each document go by."""
        near = np.mean([_near(documents.rank[name]) for name in self.systems], axis=0)
        each = [documents.score[name] for name in self.systems]
        each = [one for one in each if not np.isnan(one).all()]
        if self.by == "place" or not each:
            return np.asarray(near)
        scaled = np.array([(one - np.nanmean(one)) / (np.nanstd(one) or 1.0) for one in each])
        there = ~np.isnan(scaled)
        score = np.where(there, scaled, 0.0).sum(axis=0) / np.maximum(there.sum(axis=0), 1)
        if self.by == "score":
            return np.asarray(score)
        return np.asarray(near + score * near.std() / (score.std() or 1.0))

    def _fitted(self, x: Floats, grade: Array) -> RelevanceBelief:
        """The most likely curve of these grades, held near the usual one."""
        from scipy.optimize import minimize  # slow to load, and needed for rankings alone

        start = np.append(self.cuts[0], [*np.log(-np.diff(self.cuts)), self.slope])

        def loss(parameters: Floats) -> float:
            cuts = np.cumsum(np.append(parameters[0], -np.exp(parameters[1:-1])))
            chance = grade_chances(x, cuts, parameters[-1])[np.arange(len(x)), grade]
            return float(-np.log(chance).sum() + 0.5 * _RIDGE * np.square(parameters - start).sum())

        found = minimize(loss, start, method="L-BFGS-B").x.round(6)
        cuts = np.cumsum(np.append(found[0], -np.exp(found[1:-1])))
        return replace(self, cuts=tuple(cuts.tolist()), slope=float(found[-1]))

    def items(self, rows: Rows) -> Nodes:
        """No labels written out; the chances of all grades of every document, one after another."""
        documents, grades = rows.documents, np.asarray(getattr(rows.labels, "scale", ()))
        if self.even:
            shape = (len(rows), documents.width, len(grades))
            chance = np.full(shape, 1.0 / len(grades))
        else:
            x = documents.table(self._all(documents), rows.index, 0.0)
            chance = grade_chances(x, np.array(self.cuts), self.slope)
        known = documents.table(documents.grade, rows.index, np.nan)
        judged = ~np.isnan(known)
        chance[judged] = known[judged][:, None] == grades
        return Nodes(np.empty((len(rows), 0)), chance.reshape(len(rows), -1))

    def log_likelihood(self, rows: Rows, y: Floats) -> Floats:
        """(n,) log chance of all grades that were told."""
        told = rows.labels.vectors(y)
        grades = np.asarray(getattr(rows.labels, "scale", ()))
        chance = self.items(rows).weights.reshape(len(rows), -1, len(grades))
        place = np.searchsorted(grades, np.where(np.isnan(told), grades[0], told))
        found = np.take_along_axis(chance, place[..., None], axis=2)[..., 0]
        return np.asarray(np.where(np.isnan(told), 0.0, np.log(np.maximum(found, _LEAST))).sum(axis=1))


def _near(rank: Array) -> Floats:
    return np.where(rank > 0, 1.0 / np.log2(np.maximum(rank, 1) + 1.0), 0.0)


def grade_chances(x: Floats, cuts: Floats, slope: float) -> Floats:
    """(..., G) chance of each grade under an ordered logit; none below a least one."""
    above = expit(cuts + slope * x[..., None])
    ends = np.ones((*x.shape, 1))
    chance = -np.diff(np.concatenate([ends, above, 0.0 * ends], axis=-1), axis=-1)
    chance = np.maximum(chance, _LEAST)
    return np.asarray(chance / chance.sum(axis=-1, keepdims=True))
