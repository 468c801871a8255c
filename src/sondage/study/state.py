"""What a study knows: its parts, and the journal's events folded into ledger and beliefs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sondage.beliefs.base import Belief, Seen, State
from sondage.designs.base import Design, Oracle, Problem
from sondage.errors import DamagedJournal, NothingLeft, NotSupported, VersionMismatch
from sondage.estimators import Case, estimator_for
from sondage.estimators.sample import ANSWERED, OPEN
from sondage.journal import Journal, Record, Round
from sondage.journal.mutex import Mutex
from sondage.measures import Measure
from sondage.objective import Objective
from sondage.pool.pool import Pool
from sondage.sampling import Limit, Table
from sondage.study.budget import Budget, Cost, labels_paid_for
from sondage.study.ledger import Ledger

_NO_END = 10**9


@dataclass(frozen=True)
class Parts:
    """What a study is put together from, all bound to its pool."""

    pool: Pool
    measure: Measure
    design: Design
    objective: Objective
    budget: Budget
    oracle: Oracle
    target: str
    seed: int
    confidence_level: float


class StudyState:
    """The state of a study: a pure fold of its journal, live and after a reload.

    ``states`` has the belief at the start of every round. Threads that share it hold ``mutex``.
    """

    def __init__(self, name: str, parts: Parts, journal: Journal) -> None:
        self.name, self.parts, self.journal = name, parts, journal
        self.mutex = Mutex()
        pool, measure, design = parts.pool, parts.measure, parts.design
        self.pool = pool  # what estimates see: systems may be added to it later
        self.units = design.make_units(pool, measure, parts.seed, labels_paid_for(parts.budget, pool))
        self.belief: Belief = design.belief_for(parts.oracle, pool, measure).bind(pool, measure.systems(pool))
        self.ledger = Ledger(pool, self.units, parts.oracle)
        self.states: list[State] = []
        self._start = self._latest = self.belief.start(pool, self.units)
        self._latest_at = -1
        self._memo: dict[Any, Any] = {}
        self._tables: dict[str, Table] = {}
        refusal = design.refuses(self.problem())
        if refusal:
            raise NotSupported(refusal)

    # ---- the fold --------------------------------------------------------------------------------

    def catch_up(self) -> None:
        """Take in what the journal has and we do not: after loading, or from other processes."""
        with self.mutex:
            for seq, record in self.journal.events(self.name, self.ledger.seq):
                self._apply(seq, record)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Nobody else writes between what we know in the block and what we append.

        Taking in what others wrote is work, most of it done before we queue, or while whoever is before us
        still writes.
        """
        self.catch_up()
        with self.journal.turn(self.name, self.catch_up):
            self.catch_up()
            yield

    def append(self, records: Sequence[Record], after: int | None = None) -> None:
        """Write records, durably, and only then take them in."""
        with self.mutex:
            for seq, record in self.journal.append(self.name, records, after):
                if seq == self.ledger.seq + 1:
                    self._apply(seq, record)
                else:
                    self.catch_up()

    def _apply(self, seq: int, record: Record) -> None:
        if isinstance(record, Round):
            # The belief is a fold over rounds: replayed, it goes through the same states.
            before, now = self.states[-1:], self.belief_now()
            self.states.append(now)
            for state in before:
                if state is not now:
                    state.forget()
        self.ledger.apply(seq, record)

    def belief_now(self) -> State:
        """The belief after all that is known now; worked out once per event."""
        if self._latest_at != self.ledger.seq:
            before = self.states[-1] if self.states else self._start
            self._latest = self.belief.step(before, self.ledger.seen)
            self._latest_at = self.ledger.seq
        return self._latest

    # ---- what designs and estimators see ---------------------------------------------------------

    def problem(self) -> Problem:
        """What the design may look at now."""
        parts, ledger = self.parts, self.ledger
        return Problem(
            pool=parts.pool,
            units=self.units,
            measure=parts.measure.aim,
            objective=parts.objective,
            belief=self.belief,
            state=self.belief_now(),
            centre=estimator_for(parts.design.kind, parts.design.estimator).centre,
            oracle=parts.oracle,
            left=self.labels_left,
            expected=ledger.expected,
            asked_units=ledger.asked_units,
            answered_units=ledger.asked_units[ledger.status == ANSWERED],
            asked_rows=ledger.asked_rows,
            labels=ledger.labels,
            seen=ledger.seen,
            seed=parts.seed,
            round=len(ledger.rounds),
            memo=self._memo,
        )

    def problem_of(self, number: int) -> Problem:
        """What the design looked at for a round: labels of items asked before it, and its belief."""
        ledger, sample = self.ledger, self.ledger.sample
        before = int(np.count_nonzero(sample.new & (sample.round < number)))
        told = np.flatnonzero(ledger.status[:before] == ANSWERED)
        return replace(
            self.problem(),
            state=self.states[number],
            asked_units=ledger.asked_units[:before],
            answered_units=ledger.asked_units[told],
            asked_rows=ledger.asked_rows[:before],
            labels=ledger.labels[:before],
            seen=Seen(ledger.asked_units[told], ledger.asked_rows[told], ledger.labels[told]),
            round=number,
        )

    def case(self, measure: Measure) -> Case:
        """What estimators see for a bound measure."""
        return Case(
            self.pool,
            self.units,
            measure,
            self.ledger.sample,
            self.belief,
            self.states,
            self.table,
            self.parts.oracle,
            self._memo,
            estimator=self.parts.design.estimator,
            budget=self.parts.budget.amount if isinstance(self.parts.budget, Cost) else np.nan,
        )

    def table(self, number: int) -> Table | None:
        """The table of a round: made again where it is static, read back otherwise."""
        kind, digest = self.ledger.rounds[number].kind, self.ledger.digests[number]
        if kind.by_quota:
            return None
        if digest not in self._tables:
            if self.parts.design.static:
                made = self.parts.design.table(self.problem(), 1)
                if made.digest != digest:
                    raise VersionMismatch(
                        f"study {self.name!r}: this version of sondage gives the items other chances than "
                        "they were drawn with: take the version that the study was made with"
                    )
                self._tables[digest] = made
            else:
                chance = self.journal.table(self.name, digest)
                if chance is None:
                    raise DamagedJournal(
                        f"study {self.name!r}: the chances of round {number} are missing from the journal: "
                        "take a copy from before the damage"
                    )
                self._tables[digest] = kind.table_from(chance, self.units.count)
        return self._tables[digest]

    # ---- the budget ------------------------------------------------------------------------------

    @property
    def spent(self) -> float:
        """Cost of all items asked, open ones included, and of further opinions."""
        return float(self.units.cost_of(self.ledger.asked_rows).sum()) + self.ledger.extra_cost

    @property
    def left(self) -> float:
        """What is left of the budget, below 0 where further opinions have overdrawn it."""
        budget = self.parts.budget
        if budget is None:
            return np.inf
        if isinstance(budget, Cost):
            return budget.amount - self.spent
        return budget - self.ledger.asked - self.ledger.extra_answers

    @property
    def labels_left(self) -> float:
        """Labels that the budget left pays for, at the mean cost of one."""
        if not isinstance(self.parts.budget, Cost):
            return self.left
        return self.left / float(np.average(self.units.cost, weights=self.units.size))

    def limit(self) -> Limit:
        """What the next round may take; ``NothingLeft`` if that is nothing."""
        items = _NO_END
        if self.parts.oracle == "deterministic":
            items = len(self.parts.pool) - self.ledger.asked
        last = self.ledger.rounds[-1] if self.ledger.rounds else None
        over = last is not None and last.kind.is_over(last.scale)
        if self.left <= 0 or items <= 0 or over:
            raise NothingLeft(self.why_nothing())
        if isinstance(self.parts.budget, Cost):
            return Limit(items, self.left)
        return Limit(int(min(self.left, items)))

    def why_nothing(self) -> str:
        """Why nothing more can be asked."""
        waiting = int((self.ledger.status == OPEN).sum())
        open_ = f"; {waiting} asked items are still open: see open_items()" if waiting else ""
        budget = self.parts.budget
        if isinstance(budget, int) and self.left <= 0:
            return f"the budget of {budget} labels is spent{open_}"
        if isinstance(budget, Cost):
            return (
                f"what is left of the cost budget ({max(self.left, 0):g} of {budget.amount:g}) does not "
                f"pay for {self.parts.design.kind.next_item}{open_}"
            )
        asked, items = self.ledger.asked, len(self.parts.pool)
        if asked == items:
            return f"all {items:,} items of the pool have been asked{open_}"
        return (
            f"all {asked:,} items that could move the measure have been asked, of {items:,} in the "
            f"pool{open_}"
        )
