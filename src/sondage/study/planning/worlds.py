"""Worlds: studies simulated with labels drawn by error rates that the classifier may have.

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
from sondage.estimators import Sample, estimate_totals
from sondage.estimators.far_tail import far_tail
from sondage.estimators.linear import for_population
from sondage.estimators.sample import ANSWERED, OPEN, RoundInfo
from sondage.intervals.posterior import Calibrated
from sondage.measures.base import Measure
from sondage.objective import EstimateAll
from sondage.pool.units import Units
from sondage.progress import Progress
from sondage.sampling import Quotas
from sondage.streams import stream
from sondage.study.estimates.assess import default_interval
from sondage.study.planning.forecast import QUANTILES, Forecast, Sampling, three
from sondage.study.planning.possible import InWorld, Possible, affordable
from sondage.study.planning.result import Goal
from sondage.study.snapshot import Snapshot
from sondage.study.stopping.looking import CALIBRATED, safe_intervals
from sondage.types import Floats, Ints

_MOST = 16_000
"""Labels up to which studies are simulated; beyond, widths fall as those of a plain sample."""
_FINER = 1.5
"""Factor between the numbers of labels at which a simulated design looks at its belief again."""
_REPLICATES, _TAIL = 200, 10
"""Pools drawn for an interval, and how many of them should lie beyond it at least."""


def simulated(
    study: Snapshot, sampling: Sampling, labels: Ints, goal: Goal | None, draws: int, seed: int
) -> Forecast:
    """Widths in possible worlds; with a goal, for more labels until most of them reach it."""
    parts, errors = study.parts, study.belief_now().errors
    if errors is not None:
        possible = Possible(parts.pool, parts.measure, parts.units, parts.belief, errors)
    else:
        possible = Possible.of_pool(parts.pool, parts.measure, study.seen, parts.seed)
        draws = affordable(parts.pool, draws)
    weights = possible.weights(draws, stream(seed, "belief"))
    numbers = labels.tolist()
    target = np.inf if goal is None or goal.target is None else goal.target
    if goal is not None and goal.width is not None and safe_intervals(study) == (CALIBRATED,):
        target = target / Calibrated().stretch  # the interval that a stop rule looks at is to get there, too
    most = min(parts.size, max(_MOST if goal is not None else 0, numbers[-1]))
    worlds = Worlds(study, possible.units, weights, most=most, level=sampling.level, seed=seed)
    each, steps = worlds.each(), len(weights) * len(numbers)
    width: list[Floats] = []
    far: list[float] = []
    cost: list[float] = []
    with Progress("planning", total=steps) as progress:
        k = 0
        while k < len(numbers):
            found = []
            for d, world in enumerate(each):
                world.advance(numbers[k])
                found.append(world.widths())
                progress.at(min(k * len(each) + d + 1, steps))
            width.append(np.array(found))
            far.append(float(np.median([world.far for world in each])))
            cost.append(float(np.median([world.cost for world in each])))
            k += 1
            wide_yet = (three(width[-1], QUANTILES, axis=0)[-1] > target).any()
            if k == len(numbers) and wide_yet and numbers[-1] < most:
                numbers.append(min(2 * numbers[-1], most))
    spread = worlds.uniform_spread()
    made = np.array(numbers, dtype=np.int64), np.array(cost), np.array(width)
    return Forecast(*made, spread, QUANTILES, worlds.interval, far=tuple(far))


class Worlds:
    """What all worlds of a study have in common: its state now, and rows that can still be asked.

    ``cells`` are the cells of ``possible``; ``weights`` has (K, S) the chances of the labels in each of
    them, in every world. ``interval`` is the name of the one whose widths were asked for last.
    """

    def __init__(
        self, study: Snapshot, cells: Units, weights: Sequence[Floats], *, most: int, level: float, seed: int
    ) -> None:
        self.study, self.cells, self.weights = study, cells, weights
        self.level, self.seed, self.interval = level, seed, ""
        self.problem = replace(study.problem(), left=float(most - study.asked))
        self.case = study.case()
        self.spare: list[Ints] = []
        """Of every unit, rows that were not asked yet, as many as may be wanted."""
        for unit in range(study.units.count):
            rows = np.asarray(study.units.members(unit)[: most + study.asked])
            free = np.setdiff1d(rows, study.asked_rows) if study.asked else rows
            self.spare.append(free[:most])

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
    """A study under way in one world: ``sample`` has its draws, and those of the world in one more round."""

    def __init__(self, worlds: Worlds, number: int) -> None:
        self.worlds, self.number, self.rounds = worlds, number, 0
        self.cumulative = np.cumsum(worlds.weights[number], axis=1)
        self.cumulative /= self.cumulative[:, -1:]
        self.draws = stream(worlds.seed, "draw", number)
        self.taken = np.zeros(worlds.problem.units.count, dtype=np.int64)
        self.belief: State = worlds.problem.state
        self.far = 0.0
        """Share of the width asked for last that is doubt beyond the last error seen."""
        before = worlds.study.sample
        y, waiting = before.y.copy(), before.status == OPEN
        y[waiting] = self._labels(before.row[waiting])  # asked already: they will be answered
        self.sample: Sample = replace(before, y=y, status=np.where(waiting, ANSWERED, before.status))
        self._take(self.taken)
        if waiting.any():
            self._learn()

    @property
    def asked(self) -> int:
        """Items asked so far, those of the real study included."""
        return len(self.sample)

    @property
    def cost(self) -> float:
        """What has been spent so far."""
        study = self.worlds.study
        return study.spent + float(study.units.cost_of(self.sample.row[study.asked :]).sum())

    def advance(self, to: int) -> None:
        """Ask and tell until ``to`` items are asked, or none is left."""
        first = self.worlds.study.design.batch
        while self.asked < to:
            n = min(to, max(int(_FINER * self.asked), self.asked + first)) - self.asked
            quota = self.worlds.study.design.table(self._problem(), n).quota
            assert quota is not None
            if not quota.any():
                return
            self._take(quota)
            self.rounds += 1
            self._learn()

    def widths(self) -> Floats:
        """(m,) width of the interval that the study would give now."""
        worlds = self.worlds
        case = replace(worlds.case, sample=self.sample)
        measure = case.measure
        whole = measure.range[1] - measure.range[0]
        totals = estimate_totals(case)
        if not totals.given:
            return whole
        if worlds.study.parts.target == "population":
            totals = for_population(totals, len(case.pool))
        # Noise of a single interval is averaged over worlds.
        few = max(_REPLICATES, int(_TAIL / (1.0 - worlds.level)))
        interval = default_interval(measure, totals).drawing(few)
        worlds.interval = interval.alias
        # Without labels of its own a world is the study as it is: one interval, not one for each.
        source = stream(worlds.seed, "interval", self.number if self.rounds else 0)
        low, high = interval(totals, measure, worlds.level, source)
        tail = far_tail(totals, measure)
        self.far = 0.0 if tail is None else max(tail.share)
        width = np.asarray(high - low, dtype=np.float64)
        return np.where(np.isnan(width), whole, width)

    def _take(self, quota: Ints) -> None:
        """Ask so many more items of every unit, and hear their labels."""
        spare, study = self.worlds.spare, self.worlds.study.sample
        rows = [spare[u][self.taken[u] : self.taken[u] + quota[u]] for u in np.flatnonzero(quota).tolist()]
        row = np.concatenate([np.empty(0, dtype=np.int64), *rows])
        nothing, ones = np.full(len(row), np.nan), np.ones(len(row), dtype=np.int64)
        more = {
            "round": ones * len(study.rounds),
            "row": row,
            "unit": np.repeat(np.arange(len(quota)), quota),
            "times": ones,
            "p": nothing,
            "pi": nothing,
            "left": ones,
            "new": ones.astype(bool),
            "y": self._labels(row),
            "status": ones * ANSWERED,
        }
        columns = {name: np.concatenate([getattr(self.sample, name), one]) for name, one in more.items()}
        last = RoundInfo(Quotas(), np.nan, float(self.asked + len(row)))
        self.sample = Sample(**columns, rounds=(*study.rounds, last))
        self.taken = self.taken + quota

    def _labels(self, rows: Ints) -> Floats:
        """Labels of items, as this world has them."""
        drawn = self.draws.uniform(len(rows))[:, None] >= self.cumulative[self.worlds.cells.of(rows)]
        return np.asarray(drawn.sum(axis=1), dtype=np.float64)

    def _learn(self) -> None:
        self.belief = self.worlds.study.belief.step(self.belief, self._seen())

    def _seen(self) -> Seen:
        told = self.sample.answered
        return Seen(self.sample.unit[told], self.sample.row[told], self.sample.y[told])

    def _problem(self) -> Problem:
        worlds, seen = self.worlds, self._seen()
        return replace(
            worlds.problem,
            state=self.belief,
            asked_units=self.sample.unit,
            asked_rows=self.sample.row,
            labels=self.sample.y,
            seen=seen,
            seed=worlds.seed + self.number,
            round=worlds.problem.round + self.rounds,
        )


def item_spreads(problem: Problem, measure: Measure, truth: Belief) -> Floats:
    """(m,) mean squared influence of an item on each coordinate, if labels are as ``truth`` says."""
    each = []
    for j in range(measure.m):
        one = replace(problem, measure=measure, belief=truth, objective=only(j, measure.m), memo={})
        each.append(item_spread(one).mean())
    return np.array(each)


def only(j: int, m: int) -> EstimateAll:
    """The objective of one coordinate among ``m``."""
    return EstimateAll(tuple(float(k == j) for k in range(m)), scaled=False)
