"""The next groups of a batch: what a label of each is worth, and a rule that chooses by that."""

from __future__ import annotations

from typing import TypeGuard

import numpy as np
from scipy.special import ndtr

from sondage.beliefs.group_values import GroupValues, RightOrWrong, WhichClass, group_values
from sondage.beliefs.grouped.rates import Rates
from sondage.beliefs.grouped.rewards import PairDecided, Rate, RateKnown, Reward
from sondage.beliefs.grouped.rules import RULES, multiple_play
from sondage.beliefs.learned_rates import RatesState
from sondage.designs.base import Problem
from sondage.measures.base import Measure
from sondage.measures.combine.over_groups import OverGroups
from sondage.measures.combine.per_group import By, PerGroup
from sondage.objective import AssessGroups, CompareGroups, IdentifyGroups
from sondage.pool.groupings import PREDICTION, of_system
from sondage.pool.pool import Pool
from sondage.strata.log_rank import LogRank
from sondage.streams import Stream
from sondage.types import Bools, Floats, Ints

_BY_DRAWS = ("thompson", "top-two", "multiple-play")
"""Rules that draw from the posterior for every choice: a batch then spreads by itself."""
_FLOOR = 0.2
"""Share of the items of a group that are drawn evenly from it, whatever its labels say."""
_DRAWS = 32
"""Draws from which the variance of a group's value is made, where it has no closed form."""
BANDS = LogRank(growth=1.0, largest=0.5, least=1 / 16)
"""Of a predicted class: the sixteenth nearest to the boundary, the next, then bands twice as wide each."""
_SURE = 0.999
"""Certainty at which two groups need no further labels."""


def names_groups(measure: Measure) -> TypeGuard[PerGroup | OverGroups]:
    """Whether a measure has groups of its own."""
    return isinstance(measure, (PerGroup, OverGroups))


def grouping_of(pool: Pool, measure: Measure) -> tuple[Measure, By]:
    """The measure inside of groups and their grouping; predicted classes where a measure names none."""
    if names_groups(measure):
        return measure.measure, measure.by
    return measure, str(of_system(PREDICTION, measure.systems(pool)[0]))


def values_of(problem: Problem) -> GroupValues | None:
    """How values of groups follow from counts; None where the measure does not say."""
    aim, by = grouping_of(problem.pool, problem.measure)
    if not isinstance(problem.measure, PerGroup):
        return None
    even = problem.units if in_bands(problem.pool, problem.measure) else None
    return problem.once("values of groups", lambda: group_values(problem.pool, aim, by, even))


def in_bands(pool: Pool, measure: Measure) -> bool:
    """Whether groups are cut by the score: what is wanted are classes, of which there are two."""
    if not isinstance(measure, PerGroup) or pool.labels.size != 2:
        return False
    name = measure.systems(pool)[0]
    return pool.summary(name).tells_apart and isinstance(
        group_values(pool, measure.measure, measure.by), WhichClass
    )


class Chooser:
    """The next groups of a batch, by what is known now."""

    def __init__(self, problem: Problem, arm: Ints, rule: str) -> None:
        assert isinstance(problem.state, RatesState)
        self.problem, self.state, self.rule = problem, problem.state, rule
        self.aim, _ = grouping_of(problem.pool, problem.measure)
        self.objective = problem.objective
        self.identifies = isinstance(self.objective, IdentifyGroups) and rule != "greedy-variance"
        values = values_of(problem)
        self.plain = values is None or isinstance(values, RightOrWrong)
        self.values = values
        self.labels = problem.seen.row, problem.seen.y
        strata = self.state.by_stratum(np.ones(len(arm)))
        self.of = np.zeros(len(strata), dtype=np.int64)
        self.of[self.state.stratum] = arm  # the group of every stratum
        self.size = np.bincount(arm, problem.units.size).astype(np.float64)
        right, n, size = (np.bincount(self.of, one).astype(np.float64) for one in self.state.counts)
        self.counts = right, n, size
        self._variance: Floats | None = None
        self._moves: Floats | None = None
        # Items asked and not answered yet count as if their labels had come as expected.
        asked = np.bincount(arm, problem.asked.astype(np.float64))
        self.waiting: Floats = np.zeros(len(n)) if self._draws else np.asarray(asked - n)

    @property
    def wanted(self) -> Bools:
        """(G,) groups that are asked at all: of two that are compared, these."""
        wanted = self.objective
        if not isinstance(wanted, CompareGroups) or wanted.groups is None:
            return np.ones(len(self.size), dtype=bool)
        return np.isin(self.problem.pool.levels(wanted.by), wanted.groups)

    @property
    def _draws(self) -> bool:
        return self.identifies and self.rule in _BY_DRAWS

    def next(self, left: Floats, stream: Stream) -> Ints:
        """The groups to ask one item of each."""
        if self.rule in ("uniform-items", "uniform-groups"):
            return np.atleast_1d(RULES[self.rule](Rate(self._rates(stream)), left, stream))
        reward = self._reward(left, stream)
        if self.rule == "multiple-play" and isinstance(self.objective, IdentifyGroups):
            chosen = multiple_play(reward, left, self.objective.top, stream)
        else:
            rule = {"greedy-variance": "greedy", "multiple-play": "thompson"}.get(self.rule, self.rule)
            chosen = np.atleast_1d(RULES[rule](reward, left, stream))
        return self._expected(np.asarray(chosen))

    def by_size(self, left: Floats, asked: Floats) -> Ints:
        """The group with fewest labels for its size: in the long run all get their share (Webster 1832).

        A measure of the whole pool has no value while a predicted class is without a label.
        """
        share = (left + asked) / (2.0 * asked + 1.0)
        return self._expected(np.array([np.argmax(np.where(left > 0, share, -1.0))]))

    def _expected(self, chosen: Ints) -> Ints:
        """The groups chosen, counted as asked where the next choice allows for what is under way."""
        if not self._draws:
            np.add.at(self.waiting, chosen, 1.0)
        return chosen

    def inside(self, room: Floats, stream: Stream) -> Floats:
        """(U,) items left in the units of a group, of which one is drawn.

        What a measure of classes needs most is the predicted class whose labels move it most for the doubt
        that is left (Neyman 1934); a fifth of the items ignores that. Others need the whole group alike.
        """
        if not isinstance(self.values, WhichClass) or self.rule.startswith("uniform"):
            return room
        there, at, gain = room > 0, self.state.stratum, self._gains()
        if stream.uniform(1)[0] < _FLOOR or not gain[at[there]].any():
            return room
        best = at[there][int(np.argmax(gain[at[there]]))]
        self._asked[best] += 1.0
        return np.where(at == best, room, 0.0)

    def _gains(self) -> Floats:
        """(S,) variance of its group's value that one more label of each stratum removes, nearly."""
        assert isinstance(self.values, WhichClass)
        if self._moves is None:
            rates = self.state.rates()
            self._moves = np.square(self.values.slopes(rates, self.labels)) * rates.variance
            _, n, _ = self.state.counts
            self._worth = n + self.state.prior[0] + self.state.prior[1]
            self._asked = np.zeros(len(n))
        return np.asarray(self._moves * self._worth / np.square(self._worth + self._asked + 1.0))

    def _rates(self, stream: Stream) -> Rates:
        """What is known of the groups' own rates, open items counted in as expected."""
        prior = self.state.drawn_prior(stream) if self._draws else self.state.prior
        if len(self.of) != len(self.size):  # groups of several strata: the mean of their pseudo-labels
            a, b = (np.bincount(self.of, one) / np.bincount(self.of) for one in prior)
            prior = a, b
        right, n, size = self.counts
        if not self.waiting.any():
            return Rates(*prior, right, n, size)
        a, b = prior[0] + right, prior[1] + n - right
        more = np.minimum(self.waiting, size - n)
        return Rates(*prior, right + more * a / (a + b), n + more, size)

    def _reward(self, left: Floats, stream: Stream) -> Reward:
        objective = self.objective
        if self.identifies:
            assert isinstance(objective, IdentifyGroups)
            low = objective.best == self.aim.less_is_better  # whether low values are wanted
            return self._found(-1.0 if low else 1.0, stream)
        if isinstance(objective, CompareGroups):
            return self._compared(objective, left, stream)
        weight = np.ones(len(self.size))
        if isinstance(objective, AssessGroups) and objective.weights == "size":
            weight = self.size / self.size.sum()
        return self._known(weight, stream)

    def _found(self, sign: float, stream: Stream) -> Reward:
        values = self.values
        if values is None or (isinstance(values, RightOrWrong) and len(self.of) == len(self.size)):
            falls = isinstance(values, RightOrWrong) and values.high < values.low
            return Rate(self._rates(stream), -sign if falls else sign)
        return Valued(values, self.state, self.labels, sign, stream)

    def _known(self, weight: Floats, stream: Stream) -> Reward:
        if self.plain:
            return RateKnown(self._rates(stream), weight)
        assert self.values is not None
        if isinstance(self.values, WhichClass):
            best = np.zeros(len(weight))
            np.maximum.at(best, self.of, self._gains())
            return Tells(weight * best)
        if self._variance is None:
            self._variance = variance_of(self.values, self.state, self.labels, stream)
        _, n, _ = self.state.counts
        worth = self.values.by_group(n + self.state.prior[0] + self.state.prior[1])
        return Tells(np.asarray(weight * self._variance * worth / np.square(worth + self.waiting + 1.0)))

    def _compared(self, objective: CompareGroups, left: Floats, stream: Stream) -> Reward:
        rates = self._rates(stream)
        names = self.problem.pool.levels(objective.by)
        if objective.groups is not None:
            pair = names.index(objective.groups[0]), names.index(objective.groups[1])
        else:
            pair = _least_sure(rates, self._rope(objective), left)
        if self.plain:
            return PairDecided(rates, pair, self._rope(objective))
        weight = np.zeros(len(names))
        weight[list(pair)] = 1.0
        return self._known(weight, stream)

    def _rope(self, objective: CompareGroups) -> float:
        """The rope as a difference of rates: of a cost, what is of no interest is so much of its scale."""
        values = self.values
        return objective.rope / (abs(values.high - values.low) if isinstance(values, RightOrWrong) else 1.0)


def _least_sure(rates: Rates, rope: float, left: Floats) -> tuple[int, int]:
    """The pair of groups of which it is least sure whether they differ by more than ``rope``.

    By the normal curve, which is enough to choose: certainty itself is worked out for the pair.
    """
    mean, variance = rates.mean, rates.variance
    apart = mean[:, None] - mean
    error = np.sqrt(np.maximum(variance[:, None] + variance, 1e-12))
    low, high = ndtr((-rope - apart) / error), ndtr((apart - rope) / error)
    sure = np.maximum(np.maximum(low, high), 1.0 - low - high)
    some = (left[:, None] > 0) | (left > 0)
    sure = np.where(np.triu(some, 1), np.where(sure > _SURE, sure + 1.0, sure), np.inf)
    first, second = np.unravel_index(int(np.argmin(sure)), sure.shape)
    return int(first), int(second)


class Valued:
    """Find groups by a value that is no plain rate: larger rewards sooner, ``sign`` times the value."""

    def __init__(
        self,
        values: GroupValues,
        state: RatesState,
        labels: tuple[Ints, Floats],
        sign: float,
        stream: Stream,
    ) -> None:
        self.values, self.state, self.labels, self.sign = values, state, labels, sign
        self._stream = stream

    def draw(self, stream: Stream) -> Floats:
        rates = self.state.rates(self.state.drawn_prior(stream))
        return np.nan_to_num(self.sign * self.values.one(rates, stream, self.labels), nan=-np.inf)

    @property
    def mean(self) -> Floats:
        return np.nan_to_num(self.sign * self.values.mean(self.state.rates(), self.labels), nan=-np.inf)

    @property
    def sd(self) -> Floats:
        return np.sqrt(variance_of(self.values, self.state, self.labels, self._stream))


class Tells:
    """Know the values of all groups: the variance that one more label removes, about one of as many."""

    def __init__(self, mean: Floats) -> None:
        self.mean = mean

    def draw(self, stream: Stream) -> Floats:
        return self.mean

    @property
    def sd(self) -> Floats:
        return np.zeros(len(self.mean))


def variance_of(
    values: GroupValues, state: RatesState, labels: tuple[Ints, Floats], stream: Stream
) -> Floats:
    """(G,) variance of the value of every group, from a few draws; 0 where it is not defined."""
    drawn = np.array([values.one(state.rates(), stream, labels) for _ in range(_DRAWS)])
    with np.errstate(invalid="ignore"):
        return np.asarray(np.nan_to_num(np.var(drawn, axis=0)))
