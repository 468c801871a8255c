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


@dataclass(frozen=True)
class ErrorCurveDesign(Design):
    """Strata by rank from the decision boundary, and quotas in proportion to the spread of the influence.

    The belief is a curve of the error rate against log-rank (``beliefs.ErrorCurve``), the quotas are
    Neyman's under it, without replacement. ``floor`` is the share of the labels that goes without regard to
    the belief: evenly along the log-rank, and by size. With ``joint`` a single measure is aimed at together
    with those that are read off the same labels (F1 with precision and recall), which costs it little.
    """

    alias: ClassVar[str] = "error-curve"
    kind: ClassVar[Kind] = "strata"
    estimator: ClassVar[str | None] = "posterior"
    belief: Belief = field(default_factory=ErrorCurve)
    strata: Strata = field(default_factory=LogRank)
    floor: float = 0.2
    by_size: float = 0.0
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

    def make_units(self, pool: Pool, measure: Measure, seed: int) -> Units:
        """Cells of the strata; with more than two classes, of one rank of doubt over all of them."""
        if pool.labels.size > 2 and isinstance(self.strata, LogRank):
            return replace(self, strata=replace(self.strata, across=True))._units(pool, measure, seed)
        return self._units(pool, measure, seed)

    def _units(self, pool: Pool, measure: Measure, seed: int) -> Units:
        return super().make_units(pool, measure, seed)

    def table(self, problem: Problem, n: int) -> Table:
        """The quota of every cell."""
        state = problem.state
        assert isinstance(state, CurveState)
        assert state.ranks is not None
        size, asked = problem.units.size, problem.asked
        believed = size * self._deviation(problem)
        reach = state.ranks.reach
        floor = (1 - self.by_size) * reach / reach.sum() + self.by_size * size / size.sum()
        weight = floor
        if believed.sum() > 0:
            weight = (1 - self.floor) * believed / believed.sum() + self.floor * floor
        if self.cost == "only":
            weight = size.astype(np.float64)
        if self.cost != "ignore":
            weight = weight / np.sqrt(problem.units.cost)
        goal = shares(weight, size, int(asked.sum()) + n)
        return Table(self.kind, quota=self._quota(goal, problem, n))

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

    def _deviation(self, problem: Problem) -> Floats:
        """(U,) standard deviation of the influence of an item of each unit, under the belief."""
        measure = problem.measure
        aims = (measure, *measure.companions) if self.joint else (measure,)
        return np.asarray(np.sqrt(unseen_variance(problem, aims, _LEAST_VALUE)))


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
