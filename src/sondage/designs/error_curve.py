"""The default for classifiers: labels go where a smooth curve of the error rate leaves most to learn."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from sondage.beliefs.base import Belief
from sondage.beliefs.error_curve import CurveState, ErrorCurve, Ranks
from sondage.designs.allocation import shares
from sondage.designs.base import CostRule, Design, Kind, Problem, Table, check_cost
from sondage.designs.influence import unseen_variance
from sondage.designs.place import predicted_words
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
        size, asked = problem.units.size, problem.asked
        believed, floor = self._shares(problem, self._deviation(problem))
        weight = believed + floor
        if self.cost == "only":
            weight = size.astype(np.float64)
        if self.cost != "ignore":
            weight = weight / np.sqrt(problem.units.cost)
        goal = shares(weight, size, int(asked.sum()) + n)
        return Table(self.kind, quota=self._quota(goal, problem, n))

    def reason(self, problem: Problem, unit: int) -> str:
        """What is thought of such predictions, and which measure learns most from a label there."""
        about = self.tells_of(problem)[unit]
        why = f"a label there tells most about {about}"
        if about is None:
            why = "some labels go to all ranks alike, whatever is thought"
        return f"{thought_of(problem, unit)}; {why}"

    def tells_of(self, problem: Problem) -> list[str | None]:
        """(U,) the measure that learns most from a label of each unit, on the scale of what it has to learn.

        None where labels go mostly without regard to the belief. Worked out once for every state of it.
        """
        kept = problem.memo.get("tells of")
        if kept is not None and kept[0] is problem.state:
            return list(kept[1])
        aims = self.aims(problem.measure)
        each = np.array([unseen_variance(problem, (aim,), _LEAST_VALUE) for aim in aims])
        believed, floor = self._shares(problem, np.sqrt(each.sum(axis=0)))
        total = each @ problem.units.size
        most = (each / np.where(total > 0, total, 1.0)[:, None]).argmax(axis=0)
        names = [aim.names[0] if aim.m == 1 else "several measures" for aim in aims]
        found = [names[k] if by else None for k, by in zip(most.tolist(), believed >= floor, strict=True)]
        problem.memo["tells of"] = problem.state, found
        return list(found)

    def _shares(self, problem: Problem, deviation: Floats) -> tuple[Floats, Floats]:
        """(U,) twice: shares of the labels by the belief, and without regard to it; 1 together."""
        state, size = problem.state, problem.units.size
        assert isinstance(state, CurveState)
        assert state.ranks is not None
        believed, reach = size * deviation, state.ranks.reach
        floor = (1 - self.by_size) * reach / reach.sum() + self.by_size * size / size.sum()
        if not believed.sum() > 0:
            return np.zeros(len(size)), floor
        return (1 - self.floor) * believed / believed.sum(), self.floor * floor

    def aims(self, measure: Measure) -> tuple[Measure, ...]:
        """What the labels are for."""
        return (measure, *measure.companions) if self.joint else (measure,)

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
        return np.asarray(np.sqrt(unseen_variance(problem, self.aims(problem.measure), _LEAST_VALUE)))


def thought_of(problem: Problem, unit: int) -> str:
    """Where the items of a unit lie from the boundary, and how many of such predictions are thought wrong."""
    state, belief, pool = problem.state, problem.belief, problem.pool
    assert isinstance(state, CurveState)
    assert isinstance(belief, ErrorCurve)
    assert state.ranks is not None
    rows, _ = problem.once("representatives", problem.units.representatives)
    systems = belief.systems
    place = [predicted_words(pool, systems, rows[unit : unit + 1])]
    if state.ranks.ordered:
        place.append(rank_words(state.ranks, unit))
    whose = "" if state.ranks.agreed[int(state.ranks.family[unit])] else f" of {systems[0]}"
    rate = percent(float(state.rate(belief.own)[unit]))
    return f"{', '.join(place)}, where about {rate} of the predictions{whose} are thought wrong"


def rank_words(ranks: Ranks, unit: int) -> str:
    """The ranks of a unit's stratum: from the boundary, or by doubt where classes are ranked together."""
    first, last = int(ranks.first[unit]), int(ranks.last[unit])
    reach = f"{first:,}" if first == last else f"{first:,} to {last:,}"
    return f"rank {reach} " + ("by doubt" if ranks.across else "from the boundary")


def percent(share: float) -> str:
    """A share as people say it.

    >>> [percent(one) for one in (0.4731, 0.012, 0.00012)]
    ['47 %', '1.2 %', '1 in 8,300']
    """
    if share >= 0.001:
        return f"{100 * share:.2g} %"
    return f"1 in {float(f'{1 / max(share, 1e-9):.2g}'):,.0f}"


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
