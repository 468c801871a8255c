"""Paths: the draws of a study and what came of them, without its journal.

Tables, chances and draws are the package's own, and the same as those of a study with the same seed
(tests/slow/test_sequences.py compares the two). What depends on the pool alone is worked out once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sondage import Pool
from sondage.beliefs.base import Seen, State
from sondage.designs import Design, Problem
from sondage.estimators import ANSWERED, Case, RoundInfo, Sample, Totals, estimator_for
from sondage.estimators.increments import Increments
from sondage.estimators.sample import REFUSED
from sondage.intervals import Interval
from sondage.measures import Measure, resolve
from sondage.objective import EstimateAll
from sondage.pool.units import CellUnits
from sondage.sampling import History, Limit, Table
from sondage.strata.base import Strata
from sondage.streams import seed_from, stream
from sondage.types import Bools, Floats, Ints

NOMINAL = 0.05


@dataclass(frozen=True)
class Path:
    """Draws in order, with the table and the belief of every round."""

    pool: Pool
    units: CellUnits
    sample: Sample
    belief: Any
    states: list[State]
    tables: list[Table]
    memo: dict[Any, Any]

    def case(self, measure: Measure, labels: int | None = None) -> Case:
        """What an estimator sees after so many draws, by default all."""
        sample = self.sample
        if labels is not None:
            sample = sample.where(np.arange(len(sample)) < labels)
            rounds = int(sample.round[-1]) + 1
            sample = replace(sample, rounds=self.sample.rounds[:rounds])
        return Case(
            self.pool,
            self.units,
            measure,
            sample,
            self.belief,
            self.states,
            lambda number: self.tables[number],
            memo=self.memo,
        )

    def totals(self, measure: Measure, labels: int | None = None) -> Totals:
        """All that a sequence looks at."""
        nothing = Totals.undefined(measure.d, "not wanted")
        return replace(nothing, increments=Increments(self.case(measure, labels)))


class Paths:
    """Paths of one design through one pool."""

    def __init__(self, pool: Pool, y: Floats, measure: str | Measure, design: Design) -> None:
        self.pool, self.y, self.design = pool, y, design
        self.measure = resolve(measure).bind(pool)
        systems = self.measure.systems(pool)
        strata = design.strata
        assert isinstance(strata, Strata)
        self._codes, self._signature = strata.codes(pool, systems, 0), self.measure.signature(pool)
        self.belief = design.belief_for("deterministic", pool, self.measure).bind(pool, systems)
        self._static: dict[Any, Any] = {}
        units = self._units(0)
        self._start = self.belief.start(pool, units)
        self._shared = {"representatives": units.representatives()}

    def _units(self, seed: int) -> CellUnits:
        return CellUnits(self.pool, self._codes, self._signature, seed=seed)

    def __call__(self, number: int, labels: int, batch: int, silent: Bools | None = None) -> Path:
        """The path of one seed; ``silent`` are items that cannot be told."""
        seed, pool = seed_from(number), self.pool
        units = self._units(seed)
        centre = estimator_for(self.design.kind).centre
        # What estimators keep of pool, cells and measure serves all paths; what follows draws does not.
        memo = {key: value for key, value in self._static.items() if key[0] != "walk"}
        states: list[State] = []
        tables, infos, drawn = [], [], []
        asked = np.empty(0, dtype=np.int64)
        told = np.empty(0, dtype=bool)
        state = self._start
        kept: dict[str, Any] = dict(self._shared)
        while len(asked) < labels:
            row = asked[told]
            seen = Seen(units.of(row), row, self.y[row])
            state = self.belief.step(state, seen)
            problem = self._problem(units, state, centre, asked, told, seen, kept)
            n = min(batch, labels - len(asked))
            table = self.design.table(problem, n)
            history = History(problem.asked, np.empty(0, dtype=bool), asked)
            draws = table.draw(units, history, n, Limit(n), stream(seed, "draw", len(states)))
            states.append(state)
            tables.append(table)
            infos.append(RoundInfo(self.design.kind, np.nan, float(len(asked) + n)))
            drawn.append(draws)
            asked = np.concatenate([asked, draws.row])
            told = np.ones(len(asked), dtype=bool) if silent is None else ~silent[asked]
        sample = Sample(
            round=np.repeat(np.arange(len(drawn)), [len(one) for one in drawn]),
            row=asked,
            unit=np.concatenate([one.unit for one in drawn]),
            times=np.ones(len(asked), dtype=np.int64),
            p=np.concatenate([one.p for one in drawn]),
            pi=np.full(len(asked), np.nan),
            left=np.concatenate([one.left for one in drawn]),
            new=np.ones(len(asked), dtype=bool),
            y=np.where(told, self.y[asked], np.nan),
            status=np.where(told, ANSWERED, REFUSED),
            rounds=tuple(infos),
        )
        self._static = memo
        return Path(pool, units, sample, self.belief, states, tables, memo)

    def _problem(
        self,
        units: CellUnits,
        state: State,
        centre: Any,
        asked: Ints,
        told: Bools,
        seen: Seen,
        kept: dict[str, Any],
    ) -> Problem:
        return Problem(
            pool=self.pool,
            units=units,
            measure=self.measure.aim,
            objective=EstimateAll(),
            belief=self.belief,
            state=state,
            centre=centre,
            oracle="deterministic",
            left=np.inf,
            expected=float(len(asked)),
            asked_units=units.of(asked),
            asked_rows=asked,
            labels=np.where(told, self.y[asked], np.nan),
            seen=seen,
            seed=0,  # designs that draw one by one round nothing
            round=0,
            memo=kept,
        )


def labels_of(pool: Pool, answers: Any) -> Floats:
    return np.array([answers[id] for id in pool.ids.tolist()], dtype=np.float64)


def ends(interval: Interval, path: Path, measure: Measure, labels: int | None = None) -> tuple[float, float]:
    """Limits of a measure with one coordinate after so many draws."""
    low, high = interval.limits(path.totals(measure, labels), measure, 1 - NOMINAL, 2, stream(1, "interval"))
    return float(low[0]), float(high[0])


def outside(truth: float, limits: tuple[float, float]) -> bool:
    return not limits[0] - 1e-9 <= truth <= limits[1] + 1e-9
