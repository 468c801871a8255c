"""Belief about documents: how relevant each is, by where the systems put it and what has been judged."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

import numpy as np
from scipy.special import expit

from sondage.beliefs.base import Belief, Nodes, Seen, State
from sondage.errors import InvalidInput
from sondage.pool.parts import Documents
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.pool.units import Units
from sondage.types import Array, Floats, Ints

_FIRST, _FALL, _NEXT = -0.6, 1.5, -1.0
"""Log odds of relevance in the middle of lists, how they rise towards their top, and of each next grade."""
_ENOUGH = 200
"""Documents judged beforehand from which the curve is fitted to them."""
_QUERIES = 8
"""Judged queries at which the curve is fitted for the first time; again whenever there are twice as many."""
_MOVED = 0.02
"""Share of the chances of judged documents that a new curve must move to take the place of the last."""
_LEAST = 1e-4
_PSEUDO = 2.0
"""Documents that the usual curve is worth, at each of a few places."""
_STEPS, _CLOSE, _DIGITS = 60, 1e-10, 6


@dataclass(frozen=True)
class RelevanceState(State):
    """The curve after some rounds, and the queries judged when it was last looked at.

    ``rows`` stand for the units; None where units are single items.
    """

    cuts: tuple[float, ...] = ()
    slopes: tuple[float, ...] = ()
    judged: int = 0
    rows: Ints | None = None


@dataclass(frozen=True)
class RelevanceBelief(Belief):
    """An ordered logit of the grade on a document's place in the systems' lists, equally for all systems.

    ``P(grade >= g) = expit(cut_g + slopes @ x)``, where x is how near the top a document is on average over
    all systems of the pool, ``1 / log2(place + 1)`` (``by="place"``); or its mean score, in standard
    deviations of each system's scores (``by="score"``), for scores that mean the same in every query; or
    both (``by="both"``, the default; places alone where there are no scores). What several systems put near
    the top is probably relevant, and where they disagree little is. Fitted to the grades that the pool comes
    with, where there are enough; otherwise a curve that falls as such curves do. ``even=True`` holds every
    grade as likely as any other.

    With ``refit`` the curve follows the judgements: it is fitted to all judged documents when 8 queries are
    judged, and again at 16, 32, ... The usual curve counts as a few documents more. A new curve is used from
    the next round on, if it moves the chances of judged documents by 2 % or more.

    >>> import numpy as np
    >>> x = np.linspace(-2, 2, 9)[:, None]
    >>> grade = np.array([0, 0, 0, 1, 0, 1, 1, 2, 2])
    >>> cuts, slopes = fit_curve(x, grade, np.array([-0.6, -1.6]), np.array([1.5]))
    >>> bool(cuts[0] > cuts[1]), bool(slopes[0] > 1.5)
    (True, True)
    """

    alias: ClassVar[str] = "relevance"
    even: bool = False
    by: Literal["both", "place", "score"] = "both"
    refit: bool = False
    systems: tuple[str, ...] = ()
    cuts: tuple[float, ...] = ()
    slopes: tuple[float, ...] = ()
    pool: Pool | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        self.require(by=("both", "place", "score"))

    @property
    def renews(self) -> bool:
        return self.refit and not self.even

    def bind(self, pool: Pool, systems: tuple[str, ...]) -> RelevanceBelief:
        if pool.parts is None:
            raise InvalidInput("belief 'relevance' is about documents: make the pool with from_rankings")
        if self.by == "score" and any(np.isnan(pool.parts.score[name]).all() for name in systems):
            raise InvalidInput("belief by='score' needs score= of every system: pass it to from_rankings")
        bound = replace(self, systems=tuple(pool.parts.rank), pool=pool)
        if self.even:
            return bound
        x, scale = bound._looks_at(pool.parts), getattr(pool.labels, "scale", ())
        cuts = _FIRST + _NEXT * np.arange(len(scale) - 1.0)
        spread = x.std(axis=0)
        slopes = _FALL * spread[0] / np.where(spread > 0, spread, spread[0] or 1.0)  # places decide the scale
        judged = np.flatnonzero(~np.isnan(pool.parts.grade))
        if len(judged) >= _ENOUGH:
            grade = np.searchsorted(scale, pool.parts.grade[judged])
            cuts, slopes = fit_curve(x[judged], grade, cuts, slopes)
        return bound._with(cuts, slopes)

    def _with(self, cuts: Floats, slopes: Floats) -> RelevanceBelief:
        return replace(self, cuts=tuple(cuts.tolist()), slopes=tuple(slopes.tolist()))

    def _looks_at(self, documents: Documents) -> Floats:
        """(P, 1 or 2) what the chances of each document go by: place, score, or both."""
        near = np.mean([_near(documents.rank[name]) for name in self.systems], axis=0)
        each = [documents.score[name] for name in self.systems]
        each = [one for one in each if not np.isnan(one).all()]
        if self.by == "place" or not each:
            return np.asarray(near)[:, None]
        scaled = np.array([(one - np.nanmean(one)) / (np.nanstd(one) or 1.0) for one in each])
        there = ~np.isnan(scaled)
        score = np.where(there, scaled, 0.0).sum(axis=0) / np.maximum(there.sum(axis=0), 1)
        return np.asarray(score[:, None] if self.by == "score" else np.column_stack([near, score]))

    # ---- what has been judged

    def start(self, pool: Pool, units: Units) -> State:
        first = super().start(pool, units)
        rows = None if units.itemwise else units.representatives()[0]
        return RelevanceState(first.nodes, start=first.start, cuts=self.cuts, slopes=self.slopes, rows=rows)

    def step(self, state: State, seen: Seen) -> State:
        """The same until enough more is judged, and where that moves hardly anything."""
        assert isinstance(state, RelevanceState)
        if not self.renews or len(seen.y) < max(_QUERIES, 2 * state.judged):
            return state
        x, grade = self._judged(seen)
        state = replace(state, judged=len(seen.y))
        cuts, slopes = fit_curve(x, grade, np.array(self.cuts), np.array(self.slopes))
        before, after = self.as_of(state), self._with(cuts, slopes)
        moved = np.abs(after._chances(x @ slopes) - before._chances(x @ np.array(before.slopes)))
        if 0.5 * float(moved.sum(axis=1).mean()) < _MOVED:
            return state
        assert self.pool is not None
        nodes = None if state.rows is None else after.items(self.pool.rows(state.rows))
        return replace(state, nodes=nodes, cuts=after.cuts, slopes=after.slopes, stage=state.stage + 1)

    def as_of(self, state: State) -> RelevanceBelief:
        if not isinstance(state, RelevanceState) or not state.stage:
            return self
        return replace(self, cuts=state.cuts, slopes=state.slopes)

    def _judged(self, seen: Seen) -> tuple[Floats, Ints]:
        """What the chances of all judged documents go by, and the places of their grades on the scale."""
        assert self.pool is not None
        documents, labels = self.pool.parts, self.pool.labels
        assert documents is not None
        grade, told = documents.grade.copy(), labels.vectors(seen.y)
        at = documents.table(np.arange(len(grade)), seen.row, -1)
        there = ~np.isnan(told) & (at >= 0)
        grade[at[there]] = told[there]
        judged = np.flatnonzero(~np.isnan(grade))
        scale = getattr(labels, "scale", ())
        return self._looks_at(documents)[judged], np.searchsorted(scale, grade[judged])

    # ---- chances

    def _chances(self, x: Floats) -> Floats:
        return grade_chances(x, np.array(self.cuts))

    def items(self, rows: Rows) -> Nodes:
        """No labels written out; the chances of all grades of every document, one after another."""
        documents, grades = rows.documents, np.asarray(getattr(rows.labels, "scale", ()))
        if self.even:
            shape = (len(rows), documents.width, len(grades))
            chance = np.full(shape, 1.0 / len(grades))
        else:
            x = self._looks_at(documents) @ np.array(self.slopes)
            chance = self._chances(documents.table(x, rows.index, 0.0))
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


def grade_chances(x: Floats, cuts: Floats) -> Floats:
    """(..., G) chance of each grade under an ordered logit; none below a least one."""
    chance = np.maximum(_between(x, cuts), _LEAST)
    return np.asarray(chance / chance.sum(axis=-1, keepdims=True))


def _between(x: Floats, cuts: Floats) -> Floats:
    above = expit(cuts + x[..., None])
    ends = np.ones((*x.shape, 1))
    return -np.diff(np.concatenate([ends, above, 0.0 * ends], axis=-1), axis=-1)


def fit_curve(x: Floats, grade: Array, cuts: Floats, slopes: Floats) -> tuple[Floats, Floats]:
    """Cuts and slopes of an ordered logit, the most likely ones given judged documents and the usual curve.

    The usual curve counts as ``_PSEUDO`` documents, graded by its own chances, in the middle of what is
    looked at and one standard deviation to either side: no grade is ever ruled out, and a few judgements
    move it little.
    Newton's method with step halving: the logarithm of the likelihood is concave (Pratt 1981).
    """
    middle, aside = x.mean(axis=0), np.diag(np.where(x.std(axis=0) > 0, x.std(axis=0), 1.0))
    places = np.concatenate([middle[None], middle + aside, middle - aside])
    usual = _PSEUDO * grade_chances(places @ slopes, cuts)
    x = np.concatenate([x, places])
    weight = np.concatenate([np.eye(len(cuts) + 1)[grade], usual])
    here = np.concatenate([cuts, slopes])
    value, slope, curve = _density(x, weight, here, len(cuts))
    for _ in range(_STEPS):
        step, size = np.linalg.solve(curve, slope), 1.0
        if float(np.abs(step).max()) < _CLOSE:
            break
        while not (there := _density(x, weight, here + size * step, len(cuts)))[0] >= value:
            size /= 2
            if size < _CLOSE:
                return here[: len(cuts)].round(_DIGITS), here[len(cuts) :].round(_DIGITS)
        here, (value, slope, curve) = here + size * step, there
    return here[: len(cuts)].round(_DIGITS), here[len(cuts) :].round(_DIGITS)


def _density(x: Floats, weight: Floats, at: Floats, count: int) -> tuple[float, Floats, Floats]:
    """Log likelihood of weighted grades (n, G), its slope and minus its curvature in cuts and slopes."""
    cuts, slopes = at[:count], at[count:]
    if (np.diff(cuts) >= 0).any():
        return -np.inf, at, np.eye(len(at))
    chance = np.maximum(_between(x @ slopes, cuts), 1e-300)
    over = weight / chance
    twice = over / chance
    above = expit(cuts + (x @ slopes)[:, None])
    rise = above * (1.0 - above)
    away = over[:, 1:] - over[:, :-1]
    each = rise * away  # (n, G - 1), by each cut
    own = rise * (1.0 - 2.0 * above) * away - np.square(rise) * (twice[:, 1:] + twice[:, :-1])
    next_ = rise[:, :-1] * rise[:, 1:] * twice[:, 1:-1]
    by_cut = own.copy()
    by_cut[:, :-1] += next_
    by_cut[:, 1:] += next_
    curve = np.zeros((len(at), len(at)))
    curve[:count, :count] = np.diag(own.sum(axis=0))
    curve[:count, :count] += np.diag(next_.sum(axis=0), 1) + np.diag(next_.sum(axis=0), -1)
    curve[:count, count:] = by_cut.T @ x
    curve[count:, :count] = curve[:count, count:].T
    curve[count:, count:] = (x * by_cut.sum(axis=1)[:, None]).T @ x
    slope = np.concatenate([each.sum(axis=0), x.T @ each.sum(axis=1)])
    return float((weight * np.log(chance)).sum()), slope, -curve
