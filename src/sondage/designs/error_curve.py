"""The default for classifiers: labels go where a smooth curve of the error rate leaves most to learn."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple

import numpy as np

from sondage.beliefs.base import Belief
from sondage.beliefs.error_curve import CurveState, ErrorCurve
from sondage.designs.base import CostRule, Design, Kind, Problem, Table, check_cost
from sondage.designs.caution import MEAN, RATIO, SHARED, Caution, remains
from sondage.designs.influence import divides_by_known, unseen_variance
from sondage.designs.reasons import reason_of
from sondage.designs.sharing import shares
from sondage.errors import InvalidInput
from sondage.measures.base import Measure
from sondage.pool.pool import Pool
from sondage.pool.strata import LogRank, Strata
from sondage.pool.units import Units
from sondage.streams import Stream
from sondage.types import Floats, Ints

_LEAST_VALUE = 0.05
"""Share of its range at which a measure is linearised at least: misses must matter before a hit is seen."""
_COMPANION = 0.25
"""What the squared error of a measure read off the same labels counts beside that of the one asked for."""
_NOTHING = 1e-9


class Shares(NamedTuple):
    """(U,) shares of the labels, by what they go by; all together they are 1."""

    believed: Floats
    evenly: Floats
    by_size: Floats

    @property
    def cautious(self) -> Floats:
        """What goes without regard to the belief."""
        return self.evenly + self.by_size

    @property
    def total(self) -> Floats:
        """The share of each unit."""
        return self.believed + self.cautious


@dataclass(frozen=True)
class ErrorCurveDesign(Design):
    """Strata by rank from the decision boundary, and quotas in proportion to the spread of the influence.

    The belief is a curve of the error rate against log-rank (``beliefs.ErrorCurve``), the quotas are
    Neyman's under it, without replacement. With ``joint`` a single measure is aimed at together with those
    that are read off the same labels (F1 with precision and recall), which costs it little.

    It is cautious (``designs.caution``): part of the labels goes by size alone, the more the less there is to
    gain, and part evenly along the log-rank. ``floor`` is the least share of the latter.
    """

    alias: ClassVar[str] = "error-curve"
    kind: ClassVar[Kind] = "strata"
    estimator: ClassVar[str] = "posterior"
    belief: Belief = field(default_factory=ErrorCurve)
    strata: Strata = field(default_factory=LogRank)
    floor: float = 0.0
    joint: bool = True
    cost: CostRule = "use"

    def __post_init__(self) -> None:
        check_cost(self.cost)
        belief = Belief.from_alias(self.belief) if isinstance(self.belief, str) else self.belief
        if not isinstance(belief, ErrorCurve):
            raise InvalidInput(
                f"belief= of design {self.alias!r} must be an 'error-curve', not {self.belief!r}: "
                "other beliefs go with design='stratified'"
            )
        if not 0 <= self.floor <= 1:
            raise InvalidInput(f"floor= must be in [0, 1], not {self.floor}")

    def make_units(self, pool: Pool, measure: Measure, seed: int) -> Units:
        """Cells of the strata; with more than two classes, of one rank of doubt over all of them."""
        if pool.labels.size > 2 and isinstance(self.strata, LogRank):
            return replace(self, strata=replace(self.strata, across=True))._units(pool, measure, seed)
        return self._units(pool, measure, seed)

    def _units(self, pool: Pool, measure: Measure, seed: int) -> Units:
        return super().make_units(pool, measure, seed)

    def table(self, problem: Problem, n: int) -> Table:
        """The quota of every cell."""
        size = problem.units.size
        weight = self.shares(problem, n).total
        if self.cost == "only":
            weight = size.astype(np.float64)
        if self.cost != "ignore":
            weight = weight / np.sqrt(problem.units.cost)
        goal = shares(weight, size, int(problem.asked.sum()) + n)
        return Table(self.kind, quota=self._quota(goal, problem, n))

    def shares(self, problem: Problem, n: int) -> Shares:
        """Share of the labels that each unit should have after ``n`` more, costs apart."""
        state, size = problem.state, problem.units.size
        assert isinstance(state, CurveState)
        assert state.ranks is not None
        caution = self._caution(problem)
        deviation = self._deviation(problem, state, caution)
        matters = deviation > 0
        if not matters.any():
            nothing = np.zeros(len(size))
            return Shares(nothing, nothing, size / size.sum())
        evenly, by_size, believed = state.ranks.reach * matters, size * matters, size * deviation
        outside = 1.0
        if caution is not SHARED:
            outside -= float(np.bincount(state.ranks.family, weights=by_size).max() / by_size.sum())
        flat, even = caution.shares(remains(by_size, deviation), outside, int(problem.answered.sum()), n)
        even = max(even, min(self.floor, 1.0 - flat))
        return Shares(
            (1.0 - even - flat) * believed / believed.sum(),
            even * evenly / evenly.sum(),
            flat * by_size / by_size.sum(),
        )

    def _caution(self, problem: Problem) -> Caution:
        """How far the belief is followed: by what the measure divides by, and how many curves there are."""
        if problem.pool.labels.size > 2:
            return SHARED
        return MEAN if problem.once("mean", lambda: divides_by_known(problem)) else RATIO

    def _deviation(self, problem: Problem, state: CurveState, caution: Caution) -> Floats:
        """(U,) standard deviation of the influence of an item of each unit, its rate being doubted."""
        belief, measure, size = problem.belief, problem.measure, problem.units.size
        assert isinstance(belief, ErrorCurve)
        assert state.ranks is not None
        aims = (measure, *measure.companions) if self.joint else (measure,)
        rate = np.clip(state.rate(belief.own), _NOTHING, 1.0 - _NOTHING)
        weights = [1.0, *[_COMPANION] * (len(aims) - 1)]
        jump = unseen_variance(problem, aims, _LEAST_VALUE, weights) / (rate * (1.0 - rate))
        rate = caution.doubted(rate, problem.answered + belief.own, size, state.ranks.family, jump)
        return np.asarray(np.sqrt(jump * rate * (1.0 - rate)))

    def reason(self, problem: Problem, unit: int) -> str:
        """What is thought of such predictions, and which measure learns most from a label there."""
        return reason_of(self, problem, unit)

    def _quota(self, goal: Floats, problem: Problem, n: int) -> Ints:
        """Whole labels to add, at random where shares are fractions; cells that are full give theirs on."""
        size, asked, source = problem.units.size, problem.asked, problem.stream
        n = min(n, int((size - asked).sum()))
        quota = np.zeros(len(size), dtype=np.int64)
        while quota.sum() < n:
            room = size - asked - quota
            lack = np.maximum(goal - asked - quota, 0.0) * (room > 0)
            if not lack.sum() > _NOTHING:
                lack = room.astype(np.float64)
            more = rounded(lack, n - int(quota.sum()), source)
            quota += np.minimum(more, room)
        return quota


def rounded(lack: Floats, n: int, stream: Stream) -> Ints:
    """Whole numbers in proportion to ``lack``, ``n`` in all: its running sum, read off at random equal steps.

    >>> from sondage.streams import stream
    >>> rounded(np.array([3.0, 0.5, 0.5]), 2, stream(1, "belief")).tolist()
    [2, 0, 0]
    """
    total = float(lack.sum())
    if total <= 0:
        return np.zeros(len(lack), dtype=np.int64)
    marks = (np.arange(n) + stream.uniform(1)) * (total / n)
    place = np.searchsorted(np.cumsum(lack), marks, "right")
    return np.bincount(np.minimum(place, np.flatnonzero(lack)[-1]), minlength=len(lack))
