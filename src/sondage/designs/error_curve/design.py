"""The default for classifiers: labels go where a smooth curve of the error rate leaves most to learn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple

import numpy as np

from sondage.arithmetic import shares_of, sums_by
from sondage.beliefs.base import Belief
from sondage.beliefs.error_curve.belief import ErrorCurve
from sondage.beliefs.error_curve.ranks import Ranks
from sondage.beliefs.error_curve.state import CurveState
from sondage.designs.base import COST_RULES, CostRule, Design, Problem
from sondage.designs.error_curve.cautious_quotas import (
    MEAN,
    RATIO,
    SHARED,
    Caution,
    evenly,
    remains,
    strangeness,
)
from sondage.designs.error_curve.companions import joint
from sondage.designs.error_curve.reasons import reason_of, rule_words, tells_of
from sondage.designs.influence.of_items import is_mean_over_pool
from sondage.designs.influence.unseen import unseen_variances
from sondage.designs.shares import rounded_at_random, shares, shortfall, some_of_each
from sondage.errors import InvalidInput, NotSupported
from sondage.measures.base import Measure, wrong_alike
from sondage.measures.combine.coordinates import separately
from sondage.pool.pool import Pool
from sondage.pool.units import Units
from sondage.sampling import Quotas, SamplingKind, Table
from sondage.strata.base import Strata
from sondage.strata.log_rank import LogRank
from sondage.types import Array, Bools, Floats, Ints

_NOTHING = 1e-9
_FIRST = 2.0
"""Labels that every pattern of predictions gets before long."""


class Shares(NamedTuple):
    """(..., U) shares of the labels, by what they go by; all together they are 1."""

    believed: Floats
    evenly: Floats
    by_size: Floats

    @property
    def cautious(self) -> Floats:
        """What goes without regard to the belief."""
        return self.evenly + self.by_size

    @property
    def total(self) -> Floats:
        """The share of the labels that each unit gets in all."""
        return self.believed + self.cautious


class Expected(NamedTuple):
    """(..., U) what a belief in error curves expects of every unit."""

    curve: Floats
    """Error rate by the unit's place alone."""
    rate: Floats
    """Error rate of the unit, by its own labels and the curve; neither 0 nor 1."""
    counted: Array
    """Labels that the rate rests on, those that the curve counts for among them."""
    variance: Floats
    """Of the influence of an unseen label."""


@dataclass(frozen=True)
class ErrorCurveDesign(Design):
    """Strata by rank from the decision boundary, and quotas in proportion to the spread of the influence.

    The belief is a curve of the error rate against log-rank (``beliefs.ErrorCurve``); the quotas are Neyman's
    under it, without replacement. With ``joint`` a single measure is aimed at together with those that are
    read off the same labels (F1 with precision and recall), as far as that costs it little (``companions``).

    It is cautious (``cautious_quotas``): part of the labels goes by size alone, the more the less there is to
    gain, and part evenly along the log-rank. ``floor`` is the least share of the latter.
    """

    alias: ClassVar[str] = "error-curve"
    kind: ClassVar[SamplingKind] = Quotas()
    estimator: ClassVar[str] = "posterior"
    belief: Belief = field(default_factory=ErrorCurve)
    strata: Strata = field(default_factory=LogRank)
    floor: float = 0.0
    joint: bool = True
    cost: CostRule = "use"

    def __post_init__(self) -> None:
        self.require(cost=COST_RULES, floor="[0, 1]")
        super().__post_init__()
        if not isinstance(self.belief, ErrorCurve):
            raise InvalidInput(
                f"belief= of design {self.alias!r} must be an 'error-curve', not {self.belief!r}: "
                "other beliefs go with design='stratified'"
            )
        if not isinstance(self.joint, bool):
            raise InvalidInput(f"joint= must be True or False, not {self.joint!r}")

    def make_units(self, pool: Pool, measure: Measure, seed: int, labels: float = np.inf) -> Units:
        """Cells of the strata; with more than two classes, of one rank of doubt over all of them.

        However many they are: a curve speaks for cells without labels.
        """
        if not pool.labels.finite:
            raise NotSupported(
                f"design {self.alias!r} counts wrong predictions, and numbers are not right or wrong: "
                "use design='auto', or 'stratified' or 'poisson'"
            )
        strata = self.strata
        if pool.labels.size > 2 and isinstance(strata, LogRank):
            strata = replace(strata, across=True)
        return strata.cell_units(pool, measure.systems(pool), seed, measure.signature(pool))

    def table(self, problem: Problem, n: int) -> Table:
        size = problem.units.size
        weight = self.shares(problem, n).total
        if self.cost != "ignore":
            weight = weight / np.sqrt(problem.units.cost)
        goal = shares(weight, size, int(problem.asked.sum()) + n)
        assert isinstance(problem.state, CurveState)
        ranks = problem.state.ranks
        if not ranks.across:
            goal = _some_of_each_pattern(goal, ranks)
        room = size - problem.asked
        first = some_of_each(_of_their_own(problem), problem.asked, room, goal, n // 2)
        return Table(self.kind, quota=self._quota(goal, problem, ranks.family, n, first))

    def shares(self, problem: Problem, n: int) -> Shares:
        """Share of the labels that each unit should have after ``n`` more, costs apart."""
        state, size = problem.state, problem.units.size
        assert isinstance(state, CurveState)
        if self.cost == "only":
            return Shares(np.zeros(len(size)), np.zeros(len(size)), shares_of(size))
        caution, ranks = self.caution(problem), state.ranks
        own = state.counts_for
        rate = np.clip(state.rate(own), _NOTHING, 1.0 - _NOTHING)
        variance = joint(self._unseen_variances(problem), size)
        expected = Expected(state.by_place, rate, own + problem.answered, variance)
        labels = int(problem.answered.sum()), n
        return cautious(caution, expected, ranks, labels, self.floor)

    def aims(self, measure: Measure) -> tuple[Measure, ...]:
        return (measure, *measure.companions) if self.joint else (measure,)

    def _unseen_variances(self, problem: Problem) -> Floats:
        """(A, U) of the measures that the labels are for: made once, as they keep what they work out."""
        return unseen_variances(problem, problem.once("aims", lambda: self.aims(problem.measure)))

    def caution(self, problem: Problem) -> Caution:
        """How far the belief is followed: by what the measure divides by, and how many curves there are."""
        if problem.pool.labels.size > 2:
            return SHARED
        rows, _ = problem.once("representatives", problem.units.representatives)
        mean = problem.once("mean", lambda: is_mean_over_pool(problem.measure, problem.pool, rows))
        return MEAN if mean else RATIO

    def strange(self, problem: Problem) -> tuple[float, float]:
        """The ``strangeness`` of the scores, and the share of the labels that goes by size because of it."""
        state = problem.state
        assert isinstance(state, CurveState)
        if self.cost == "only":
            return 0.0, 0.0
        matters = joint(self._unseen_variances(problem), state.ranks.size) > 0
        found = _strange(state.by_place, state.ranks, matters)
        return float(found), float(self.caution(problem).for_strange(found, int(problem.answered.sum())))

    def reason(self, problem: Problem, unit: int) -> str:
        return reason_of(self, problem, unit)

    def tells_of(self, problem: Problem) -> Sequence[str | None]:
        return tells_of(self, problem)

    def rule_words(self, problem: Problem, n: int) -> str:
        return rule_words(self, problem, n)

    def _quota(self, goal: Floats, problem: Problem, family: Ints, n: int, quota: Ints) -> Ints:
        """Whole labels to add, at random where shares are fractions; cells that are full give theirs on.

        ``quota`` are those given already.
        """
        size, asked, source = problem.units.size, problem.asked, problem.stream
        n = min(n, int((size - asked).sum()))
        while quota.sum() < n:
            room = size - asked - quota
            lack = shortfall(goal, asked + quota, room, family)
            if not lack.sum() > _NOTHING:
                lack = room.astype(np.float64)
            more = rounded_at_random(lack, n - int(quota.sum()), source)
            quota = quota + np.minimum(more, room)
        return quota


def cautious(
    caution: Caution, expected: Expected, ranks: Ranks, labels: tuple[int, int], floor: float = 0.0
) -> Shares:
    """(..., U) shares by what is believed; ``labels``: how many there are, and how many are asked for now."""
    curve, rate, counted, variance = expected
    jump = variance / (rate * (1.0 - rate))
    doubted = caution.doubted(rate, counted, ranks.size, ranks.family, jump)
    deviation = np.sqrt(jump * doubted * (1.0 - doubted))
    size, matters = ranks.size, deviation > 0
    some = np.asarray(matters.any(axis=-1, keepdims=True))
    by_size = size * np.where(some, matters, True)  # all of it where nothing is left to learn
    outside = 1.0 - sums_by(by_size, ranks.family).max(axis=-1) / by_size.sum(axis=-1)
    strange = _strange(curve, ranks, matters)
    flat = caution.by_size(remains(by_size, deviation), outside, strange, labels[0])
    even = np.maximum(evenly(flat, *labels), floor)
    flat = np.minimum(flat, 1.0 - even)
    flat, even = np.where(some[..., 0], flat, 1.0), np.where(some[..., 0], even, 0.0)
    parts = (1.0 - even - flat, even, flat)
    goes_by = (size * deviation, ranks.reach * matters, by_size)
    return Shares(*(part[..., None] * shares_of(one) for part, one in zip(parts, goes_by, strict=True)))


def _of_their_own(problem: Problem) -> Bools:
    """(kinds, U) units of each kind of items that need labels of their own, as no curve speaks for them.

    A curve says how many predictions of the first system are wrong: not which class they should have been,
    nor which of another system are.
    """

    def make() -> Bools:
        pool, measure, state = problem.pool, problem.measure, problem.state
        kinds = [np.zeros((0, problem.units.count), dtype=bool)]
        assert isinstance(state, CurveState)
        rows, unit = problem.once("representatives", problem.units.representatives)
        labels = np.arange(pool.labels.size, dtype=np.float64)
        for one, _ in separately(measure, pool) if state.ranks.across and not measure.wide else ():
            loss = one.loss(pool.rows(rows), labels)
            if not wrong_alike(loss, state.ranks.expects[unit]):
                open_ = np.ptp(loss, axis=1).any(axis=1)
                found, kind = np.unique(one.losses.pattern(pool)[rows[open_]], return_inverse=True)
                kinds.append(np.zeros((len(found), problem.units.count), dtype=bool))
                kinds[-1][kind, unit[open_]] = True
        return np.concatenate(kinds)

    return problem.once("kinds of their own", make)


def _some_of_each_pattern(goal: Floats, ranks: Ranks) -> Floats:
    """(U,) goals with ``_FIRST`` labels for every pattern of predictions that matters, or half of its part.

    Of predictions without any label nothing can be said, however few they are: shares by size would leave a
    handful of predicted positives out for long.
    """
    have = sums_by(goal, ranks.family)
    each = min(_FIRST, float(goal.sum()) / (2 * len(have)))
    wanted = np.minimum(each, sums_by(ranks.size, ranks.family))
    more = np.divide(wanted, have, out=np.ones_like(have), where=(have > 0) & (have < wanted))
    return np.asarray(goal * more[ranks.family])


def _strange(rate: Floats, ranks: Ranks, matters: Bools) -> Floats:
    """(...) the ``strangeness`` of the scores; 0 where one side does not matter, and so is never asked."""
    both = sums_by(ranks.size * matters, ranks.family).all(axis=-1)
    return np.asarray(both * strangeness(rate, ranks))
