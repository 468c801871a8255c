"""A study at one moment: what the journal's events come to, fixed, so that threads can share it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sondage.beliefs.base import Belief, Seen, State
from sondage.designs.base import Centre, Design, Oracle, Problem
from sondage.errors import DamagedJournal, VersionMismatch
from sondage.estimators import Case, Sample, estimator_for
from sondage.estimators.sample import ANSWERED
from sondage.measures import Measure
from sondage.mutex import Mutex
from sondage.objective import Objective
from sondage.pool.pool import Pool
from sondage.pool.units import Units
from sondage.sampling import History, Table
from sondage.study.budget import Budget, Cost, labels_paid_for
from sondage.study.view import StudyView
from sondage.types import Array, Ints

if TYPE_CHECKING:
    from sondage.study.replay.replay import Replay


@dataclass(frozen=True)
class Parts:
    """What a study is put together from, all bound to its pool. Nothing of it changes.

    What pool, measure and design answer alike at every step is asked of them once, and kept here.
    """

    pool: Pool
    measure: Measure
    design: Design
    objective: Objective
    budget: Budget
    oracle: Oracle
    target: str
    seed: int
    confidence_level: float
    memo: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)
    """What designs and estimators have worked out once and for all."""

    @cached_property
    def size(self) -> int:
        """Number of items in the pool."""
        return len(self.pool)

    @cached_property
    def aim(self) -> Measure:
        """The measure that the design looks at."""
        return self.measure.aim

    @cached_property
    def units(self) -> Units:
        """The rows that a step works on."""
        labels = labels_paid_for(self.budget, self.pool)
        return self.design.make_units(self.pool, self.measure, self.seed, labels)

    @cached_property
    def belief(self) -> Belief:
        """What labels are expected to be."""
        belief = self.design.belief_for(self.oracle, self.pool, self.measure)
        return belief.bind(self.pool, self.measure.systems(self.pool))

    @cached_property
    def static(self) -> bool:
        """Whether chances stay what they are: they can then be made again and are not kept."""
        return self.design.static and not self.belief.renews

    @cached_property
    def estimator(self) -> str:
        """Name of the estimator that the rounds belong to; "" for the usual one of their kind."""
        return self.design.estimator or self.belief.estimator

    @cached_property
    def centre(self) -> Centre:
        """What that estimator subtracts from a loss."""
        return estimator_for(self.design.kind, self.estimator).centre

    @cached_property
    def start(self) -> State:
        """The state of the belief before any label has come."""
        return self.belief.start(self.pool, self.units)


class Snapshot(StudyView):
    """A study after its first ``seq`` events: a pure function of its parts and these.

    ``pool`` has every system, also those added later. A slot is a drawn item that waits for one label (see
    ``Ledger``): ``asked_rows``, ``asked_units``, ``status``, ``asked_labels`` (nan where there is none) and
    ``opinions`` (how many have answered) are of the slots, in the order asked; ``leases`` are by slot.
    ``slots`` has the slot of every draw, ``states`` the belief at the start of every round.
    """

    name: str
    pool: Pool

    def __init__(self, replay: Replay) -> None:
        ledger = replay.ledger
        self.name, self.parts, self.pool = replay.name, replay.parts, replay.pool
        self.journal, self.latest, self._tables = replay.journal, replay.latest, replay.tables
        self.seq, self.states = ledger.seq, tuple(replay.states)
        self.rounds, self._digests = tuple(ledger.rounds), ledger.digests
        self._columns = {name: column.fixed() for name, column in ledger.draws.items()}
        self.slots = self._columns.pop("slot")
        asked = ledger.slots
        self.asked_rows, self.asked_units = asked["row"].fixed(), asked["unit"].fixed()
        self._slot_draw = asked["draw"].fixed()
        self.status, self.asked_labels = asked["status"].fixed(changing=True), asked["y"].fixed(changing=True)
        self.opinions, self.leases = asked["opinions"].fixed(changing=True), dict(ledger.leases)
        self.open_places = dict(ledger.open_places)
        self.extra_answers, self.extra_cost = ledger.extra_answers, ledger.extra_cost
        self.corrections, self.corrections_before = ledger.corrections, ledger.corrections_before
        self.stopped_by = ledger.stopped_by
        self.n_imported, self.imported = len(ledger.imports), ledger.imports.samples()
        self._known = ledger.imports.known(ledger.slots_of) if self.n_imported else None
        self.free, self.free_cost = ledger.free, ledger.free_cost
        self._asked_mask = ledger.asked_mask
        self._mutex = Mutex()
        self._belief_now: State | None = None

    def snapshot(self) -> Snapshot:
        return self

    # ---- draws and labels ------------------------------------------------------------------------

    @property
    def asked(self) -> int:
        """Number of slots: items, or draws where each needs an answer of its own."""
        return len(self.asked_rows)

    @cached_property
    def sample(self) -> Sample:
        y, status = self.asked_labels[self.slots], self.status[self.slots]
        return Sample(**self._columns, y=y, status=status, rounds=self.rounds)

    @cached_property
    def seen(self) -> Seen:
        """All labels so far, with the item and unit of each; imported ones come last."""
        own, known = self.own, self._known
        if known is None or not len(known.row):
            return own
        more = Seen(self.units.of(known.row), known.row, known.y, np.ones_like(known.row), known.weight)
        joined: Any = (None if a is None else np.concatenate([a, b]) for a, b in zip(own, more, strict=True))
        return Seen(*joined)

    @cached_property
    def own(self) -> Seen:
        """Labels of the study's own draws."""
        seen, told = self._seen(self.asked)
        if not self.rounds or not self.rounds[-1].kind.comes_again:
            return seen
        drawn = self._columns["times"]
        times = np.bincount(self.slots, drawn, self.asked)[told].astype(np.int64)
        weight = np.bincount(self.slots, drawn / self._columns["p"], self.asked)[told]
        return seen._replace(times=times, weight=weight / self.parts.size)

    def _seen(self, first: int) -> tuple[Seen, Ints]:
        """The labels of the first slots, and which slots have them."""
        told = np.flatnonzero(self.status[:first] == ANSWERED)
        return Seen(self.asked_units[told], self.asked_rows[told], self.asked_labels[told]), told

    @property
    def expected(self) -> float:
        """Number of items that all rounds asked for."""
        return self.rounds[-1].expected if self.rounds else 0.0

    def drawn(self, name: str, slots: Ints) -> Array:
        """A column of the draws that made some slots."""
        return self._columns[name][self._slot_draw[slots]]

    def history(self) -> History:
        """What was asked before, as drawing needs it; for whoever has the turn to write."""
        nothing = np.empty(0, dtype=np.int64)
        stochastic = self.parts.oracle == "stochastic"
        if self.units.itemwise:
            return History(nothing, self._asked_mask(), self.asked_rows, stochastic)
        taken = np.bincount(self.asked_units, minlength=self.units.count)
        return History(taken, nothing.astype(bool), self.asked_rows, stochastic)

    def belief_now(self) -> State:
        """The belief after all that is known; worked out once, whoever asks first."""
        with self._mutex:
            if self._belief_now is None:
                before = self.states[-1] if self.states else self.parts.start
                self._belief_now = self.belief.step(before, self.seen)
            return self._belief_now

    # ---- what designs and estimators see ---------------------------------------------------------

    def problem(self) -> Problem:
        parts = self.parts
        return Problem(
            pool=parts.pool,
            units=parts.units,
            measure=parts.aim,
            objective=parts.objective,
            belief=parts.belief,
            state=self.belief_now(),
            centre=parts.centre,
            oracle=parts.oracle,
            left=self.labels_left,
            expected=self.expected,
            asked_units=self.asked_units,
            asked_rows=self.asked_rows,
            labels=self.asked_labels,
            seen=self.seen,
            seed=parts.seed,
            round=len(self.rounds),
            memo=parts.memo,
        )

    def problem_of(self, number: int) -> Problem:
        """What the design looked at for a round: labels of items asked before it, and its belief."""
        before = int(np.count_nonzero(self._columns["new"] & (self._columns["round"] < number)))
        seen, _ = self._seen(before)
        return replace(
            self.problem(),
            state=self.states[number],
            asked_units=self.asked_units[:before],
            asked_rows=self.asked_rows[:before],
            labels=self.asked_labels[:before],
            seen=seen,
            round=number,
        )

    def case(self, measure: Measure | None = None) -> Case:
        parts = self.parts
        return Case(
            self.pool,
            parts.units,
            parts.measure if measure is None else measure,
            self.sample,
            parts.belief,
            self.states,
            self.table,
            parts.oracle,
            parts.memo,
            estimator=parts.estimator,
            budget=parts.budget.amount if isinstance(parts.budget, Cost) else np.nan,
        )

    def table(self, number: int) -> Table | None:
        """The table of a round: made again where it is static, read back otherwise."""
        kind, digest = self.rounds[number].kind, self._digests[number]
        if kind.by_quota:
            return None
        if digest not in self._tables:
            if self.parts.static:
                made = self.parts.design.table(self.problem(), 1)
                if made.digest != digest:
                    raise VersionMismatch(
                        f"study {self.name!r}: this version of sondage gives the items other chances than "
                        "they were drawn with: take the version that the study was made with"
                    )
            else:
                chance = self.journal.table(self.name, digest)
                if chance is None:
                    raise DamagedJournal(
                        f"study {self.name!r}: the chances of round {number} are missing from the journal: "
                        "take a copy from before the damage"
                    )
                made = kind.table_from(chance, self.units.count)
            self._tables[digest] = made
        return self._tables[digest]

    # ---- the budget ------------------------------------------------------------------------------

    @cached_property
    def spent(self) -> float:
        return float(self.units.cost_of(self.asked_rows).sum()) + self.extra_cost - self.free_cost

    @property
    def left(self) -> float:
        """What is left of the budget, below 0 where further opinions have overdrawn it."""
        budget = self.parts.budget
        if budget is None:
            return np.inf
        if isinstance(budget, Cost):
            return budget.amount - self.spent
        return budget - self.asked - self.extra_answers + self.free

    @property
    def labels_left(self) -> float:
        """Labels that the budget left pays for, at the mean cost of one."""
        if not isinstance(self.parts.budget, Cost):
            return self.left
        return self.left / float(np.average(self.units.cost, weights=self.units.size))
