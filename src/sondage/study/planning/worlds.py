"""Worlds: studies played through with labels drawn from what is held possible of a classifier's errors.

In a world every cell has its own chances of the labels. The design asks, the labels come out by those
chances, and the belief learns from them: with the design's, the belief's, the estimator's and the interval's
own functions. Only what depends on the labels seen is worked out, so the size of the pool does not matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sondage.beliefs.base import Belief, Seen, State
from sondage.designs.base import Problem
from sondage.designs.influence.of_items import item_spread
from sondage.estimators import Case, Sample, estimate_totals
from sondage.estimators.linear import for_population
from sondage.estimators.sample import ANSWERED, OPEN, RoundInfo
from sondage.intervals.base import Interval
from sondage.measures.base import Measure
from sondage.objective import EstimateAll
from sondage.pool.units import Units
from sondage.sampling import Quotas
from sondage.streams import stream
from sondage.study.estimates.assess import default_interval
from sondage.study.planning.possible import InWorld
from sondage.study.snapshot import Snapshot
from sondage.types import Floats, Ints

_FINER = 1.5
"""Factor between the numbers of labels at which a simulated design looks at its belief again."""
_REPLICATES, _TAIL = 200, 10
"""Pools drawn for an interval, and how many of them should lie beyond it at least."""


class Worlds:
    """What all worlds of a study have in common: its state now, and rows that can still be asked.

    ``cells`` are the cells of ``possible``; ``weights`` has (K, S) the chances of the labels in each of
    them, in every world.
    """

    def __init__(
        self,
        study: Snapshot,
        cells: Units,
        weights: Sequence[Floats],
        *,
        most: int,
        level: float,
        seed: int,
    ) -> None:
        self.study, self.cells, self.weights = study, cells, weights
        self.level, self.seed, self.interval = level, seed, ""
        problem = study.problem()
        self.problem = replace(problem, left=float(most - study.asked))
        self.case = study.case(study.parts.measure)
        self.spare = _spare(study, most)

    def each(self) -> list[World]:
        """All of them, at the labels that there are."""
        return [World(self, number) for number in range(len(self.weights))]

    def uniform_spread(self) -> Floats:
        """(D, m) variance of the influence of one uniform draw in each world."""
        measure, pool, found = self.case.measure, self.problem.pool, []
        rows, _ = self.cells.representatives()
        labels = np.arange(pool.labels.size, dtype=np.float64)
        share, shown = self.cells.size / len(pool), pool.rows(rows)
        alike = len(rows) == self.cells.count and self.cells is self.study.units
        for weights in self.weights:
            if not alike:  # items of a cell differ in what they count: one by one
                found.append(item_spreads(self.problem, measure, InWorld(self.cells, weights)))
                continue
            with np.errstate(all="ignore"):
                R = measure.total(shown, labels, weights, share)
                found.append(measure.influence(R).square_sum(shown, labels, weights, share))
        return np.array(found)


class World:
    """A study under way in one world."""

    def __init__(self, worlds: Worlds, number: int) -> None:
        now = worlds.study
        self.worlds, self.number = worlds, number
        self.cumulative = np.cumsum(worlds.weights[number], axis=1)
        self.cumulative /= self.cumulative[:, -1:]
        self.draws = stream(worlds.seed, "draw", number)
        self.before = now.sample
        self.status, self.y = self.before.status.copy(), self.before.y.copy()
        waiting = self.status == OPEN
        self.y[waiting] = self._labels(self.before.row[waiting])  # asked already: they will be answered
        self.status[waiting] = ANSWERED
        self.unit = np.empty(0, dtype=np.int64)
        self.row, self.label = self.unit.copy(), np.empty(0)
        self.rounds = 0
        self.taken = np.zeros(worlds.problem.units.count, dtype=np.int64)
        self.belief: State = worlds.problem.state
        if waiting.any():
            self._learn()

    @property
    def asked(self) -> int:
        """Items asked so far, those of the real study included."""
        return self.worlds.study.asked + len(self.row)

    @property
    def cost(self) -> float:
        """What has been spent so far."""
        study = self.worlds.study
        return study.spent + float(study.units.cost_of(self.row).sum())

    def advance(self, to: int) -> None:
        """Ask and tell until ``to`` items are asked, or none is left."""
        first = self.worlds.study.parts.design.batch
        while self.asked < to:
            n = min(to, max(int(_FINER * self.asked), self.asked + first)) - self.asked
            problem = self._problem()
            quota = self.worlds.study.parts.design.table(problem, n).quota
            assert quota is not None
            if not quota.any():
                return
            rows = np.concatenate(
                [
                    self.worlds.spare[unit][self.taken[unit] : self.taken[unit] + quota[unit]]
                    for unit in np.flatnonzero(quota).tolist()
                ]
            )
            self.taken += quota
            self.rounds += 1
            self.unit = np.concatenate([self.unit, np.repeat(np.arange(len(quota)), quota)])
            self.row = np.concatenate([self.row, rows])
            self.label = np.concatenate([self.label, self._labels(rows)])
            self._learn()

    def widths(self, interval: Interval | None = None) -> Floats:
        """(m,) width of the interval that the study would give now, or of another."""
        worlds = self.worlds
        case: Case = replace(worlds.case, sample=self._sample())
        measure = case.measure
        whole = measure.range[1] - measure.range[0]
        totals = estimate_totals(case)
        if worlds.study.parts.target == "population" and totals.given:
            totals = for_population(totals, len(case.pool))
        if not totals.given:
            return whole
        if interval is None:
            # Noise of a single interval is averaged over worlds.
            few = max(_REPLICATES, int(_TAIL / (1.0 - worlds.level)))
            interval = default_interval(measure, totals).drawing(few)
            worlds.interval = interval.alias
        elif interval.refuses(totals, measure):
            return np.full(measure.m, np.nan)
        # Without labels of its own a world is the study as it is: one interval, not one for each.
        source = stream(worlds.seed, "interval", self.number if len(self.row) else 0)
        low, high = interval(totals, measure, worlds.level, source)
        width = np.asarray(high - low, dtype=np.float64)
        return np.where(np.isnan(width), whole, width)

    def _labels(self, rows: Ints) -> Floats:
        """Labels of items, as this world has them."""
        drawn = self.draws.uniform(len(rows))[:, None] >= self.cumulative[self.worlds.cells.of(rows)]
        return np.asarray(drawn.sum(axis=1), dtype=np.float64)

    def _learn(self) -> None:
        self.belief = self.worlds.study.belief.step(self.belief, self._seen())

    def _seen(self) -> Seen:
        told = self.status == ANSWERED
        return Seen(
            np.concatenate([self.before.unit[told], self.unit]),
            np.concatenate([self.before.row[told], self.row]),
            np.concatenate([self.y[told], self.label]),
        )

    def _problem(self) -> Problem:
        worlds, seen = self.worlds, self._seen()
        return replace(
            worlds.problem,
            state=self.belief,
            asked_units=np.concatenate([self.before.unit, self.unit]),
            answered_units=seen.unit,
            asked_rows=np.concatenate([self.before.row, self.row]),
            labels=np.concatenate([self.y, self.label]),
            seen=seen,
            seed=worlds.seed + self.number,
            round=worlds.problem.round + self.rounds,
        )

    def _sample(self) -> Sample:
        """All draws: those of the study, and those of this world in one further round."""
        before, more = self.before, len(self.row)
        nothing = np.full(more, np.nan)
        ones = np.ones(more, dtype=np.int64)
        added = {
            "round": ones * len(before.rounds),
            "row": self.row,
            "unit": self.unit,
            "times": ones,
            "p": nothing,
            "pi": nothing,
            "left": ones,
            "new": ones.astype(bool),
        }
        joined = {name: np.concatenate([getattr(before, name), one]) for name, one in added.items()}
        return Sample(
            **joined,
            y=np.concatenate([self.y, self.label]),
            status=np.concatenate([self.status, ones * ANSWERED]),
            rounds=(*before.rounds, RoundInfo(Quotas(), np.nan, float(self.asked))),
        )


def item_spreads(problem: Problem, measure: Measure, truth: Belief) -> Floats:
    """(m,) mean squared influence of an item on each coordinate, if labels are as ``truth`` says."""
    each = []
    for j in range(measure.m):
        only = EstimateAll(tuple(float(k == j) for k in range(measure.m)), scaled=False)
        one = replace(problem, measure=measure, belief=truth, objective=only, memo={})
        each.append(item_spread(one).mean())
    return np.array(each)


def _spare(study: Snapshot, most: int) -> list[Ints]:
    """Of every unit, rows that were not asked yet, as many as may be wanted."""
    units, asked = study.units, study.asked_rows
    spare = []
    for unit in range(units.count):
        rows = units.members(unit)[: most + len(asked)]
        spare.append(np.setdiff1d(rows, asked)[:most] if len(asked) else np.asarray(rows[:most]))
    return spare
