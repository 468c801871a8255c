"""The default for classifiers: labels go where a smooth curve of the error rate leaves most to learn."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from sondage.beliefs.base import Belief
from sondage.beliefs.error_curve import CurveState, ErrorCurve
from sondage.designs.allocation import shares
from sondage.designs.base import CostRule, Design, Kind, Problem, Table, check_cost
from sondage.designs.influence import unseen_variance
from sondage.errors import InvalidInput
from sondage.measures.base import Measure
from sondage.pool.pool import Pool
from sondage.pool.strata import LogRank, Strata
from sondage.pool.units import Units
from sondage.streams import Stream
from sondage.types import Floats, Ints

_LEAST_VALUE = 0.05
"""Share of its range at which a measure is linearised at least: misses must matter before a hit is seen."""
_NOTHING = 1e-9
_MOST_BY_SIZE = 0.9


@dataclass(frozen=True)
class ErrorCurveDesign(Design):
    """Strata by rank from the decision boundary, and quotas in proportion to the spread of the influence.

    The belief is a curve of the error rate against log-rank (``beliefs.ErrorCurve``), the quotas are
    Neyman's under it, without replacement. With ``joint`` a single measure is aimed at together with those
    that are read off the same labels (F1 with precision and recall), which costs it little.

    Two things guard against a belief that is wrong. A share of the labels goes by size alone, as large as
    the variance that Neyman's quotas are thought to leave of that of quotas by size: where there is little
    to gain little is risked. It is ``by_size`` at least. Of the rest, the share ``floor`` is spread evenly
    along the log-rank. And the rates by which the quotas are made lean towards the mean of their class, by
    ``doubt`` labels times the square of that same ratio.
    """

    alias: ClassVar[str] = "error-curve"
    kind: ClassVar[Kind] = "strata"
    estimator: ClassVar[str] = "posterior"
    belief: Belief = field(default_factory=ErrorCurve)
    strata: Strata = field(default_factory=LogRank)
    floor: float = 0.15
    by_size: float = 0.2
    doubt: float = 10.0
    joint: bool = True
    cost: CostRule = "use"

    def __post_init__(self) -> None:
        check_cost(self.cost)
        if not isinstance(self.belief_for("deterministic"), ErrorCurve):
            raise InvalidInput(
                f"belief= of design {self.alias!r} must be an 'error-curve', not {self.belief!r}: "
                "other beliefs go with design='stratified'"
            )
        for name in ("floor", "by_size"):
            if not 0 <= getattr(self, name) <= 1:
                raise InvalidInput(f"{name}= must be in [0, 1], not {getattr(self, name)}")
        if not 0 <= self.doubt < np.inf:
            raise InvalidInput(f"doubt= must be a number of labels, 0 or above, not {self.doubt}")

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
        weight = self.weights(problem)
        if self.cost == "only":
            weight = size.astype(np.float64)
        if self.cost != "ignore":
            weight = weight / np.sqrt(problem.units.cost)
        goal = shares(weight, size, int(problem.asked.sum()) + n)
        return Table(self.kind, quota=self._quota(goal, problem, n))

    def weights(self, problem: Problem) -> Floats:
        """(U,) share of the labels that each unit should have, costs apart."""
        state, size = problem.state, problem.units.size
        assert isinstance(state, CurveState)
        assert state.ranks is not None
        deviation = self._deviation(problem, state)
        matters = deviation > 0
        if not matters.any():
            return np.asarray(size / size.sum())
        evenly, by_size, believed = state.ranks.reach * matters, size * matters, size * deviation
        risked = max(self.by_size, min(_remains(by_size, deviation), _MOST_BY_SIZE))
        floor = self.floor * (1.0 - risked)
        parts = ((1.0 - floor - risked, believed), (floor, evenly), (risked, by_size))
        return np.asarray(sum(share * one / one.sum() for share, one in parts))

    def _deviation(self, problem: Problem, state: CurveState) -> Floats:
        """(U,) standard deviation of the influence of an item of each unit, its rate being doubted."""
        measure, size = problem.measure, problem.units.size
        aims = (measure, *measure.companions) if self.joint else (measure,)
        assert state.ranks is not None
        belief = problem.belief
        assert isinstance(belief, ErrorCurve)
        own = belief.own
        rate = np.clip(state.rate(own), _NOTHING, 1.0 - _NOTHING)
        jump = unseen_variance(problem, aims, _LEAST_VALUE) / (rate * (1.0 - rate))
        doubt = self.doubt * _remains(size, np.sqrt(jump * rate * (1.0 - rate))) ** 2
        family = state.ranks.family
        mean = np.bincount(family, weights=size * rate) / np.bincount(family, weights=size)
        counted = problem.answered + own
        rate = (counted * rate + doubt * mean[family]) / (counted + doubt)
        return np.asarray(np.sqrt(jump * rate * (1.0 - rate)))

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


def _remains(size: Ints, deviation: Floats) -> float:
    """Variance that Neyman's quotas leave of that of quotas by size, for these deviations (1 if none)."""
    square = float(size.sum()) * float(size @ np.square(deviation))
    return float(size @ deviation) ** 2 / square if square > 0 else 1.0


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
