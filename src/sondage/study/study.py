"""The study: the loop of ask, tell, estimate, and its state."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from sondage.beliefs.base import Belief, State
from sondage.designs.base import Design, Oracle, Problem, Table
from sondage.designs.draw import Draws, Limit, draw
from sondage.errors import (
    AlreadyAnswered,
    Conflict,
    InvalidInput,
    NothingLeft,
    NotSupported,
    UnknownItem,
)
from sondage.estimators import Case, estimate_totals, estimator_for
from sondage.estimators.sample import ANSWERED, OPEN, REFUSED
from sondage.frames import frame_of
from sondage.intervals.base import Interval
from sondage.journal import Answer, Journal, Lease, Record, Round
from sondage.journal.base import none_if_nan
from sondage.measures import Measure, PerGroup, for_system, resolve
from sondage.objective import Objective
from sondage.pool.pool import Pool
from sondage.progress import Progress
from sondage.streams import stream
from sondage.study.assess import Question, assess
from sondage.study.budget import Budget, Cost
from sondage.study.estimate import Estimate
from sondage.study.item import CANNOT_TELL, Item
from sondage.study.ledger import Ledger
from sondage.study.stop import Decision, StopRule, check_safety
from sondage.types import Id

_LEASE_SECONDS = 3600.0
_BATCH = 25
_NOTHING: Any = object()


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


class Study:
    """One evaluation: which items to label, what they say, and when it is enough.

    Make one with ``create_study`` or ``load_study``. The constructor puts the parts together and leaves
    the journal alone; every method first takes in what the journal has.
    """

    def __init__(self, name: str, parts: Parts, journal: Journal) -> None:
        self.name, self.parts, self.journal = name, parts, journal
        pool, measure = parts.pool, parts.measure
        self.pool, self.measure, self.design = pool, measure, parts.design
        self.units = parts.design.make_units(pool, measure, parts.seed)
        self.belief: Belief = parts.design.belief.bind(pool, measure.systems(pool))
        self._ledger = Ledger(pool, self.units, parts.oracle)
        self._start = self._state = self._fresh = self.belief.start(pool, self.units)
        self._states: list[State] = []
        self._stepped = -1
        self._memo: dict[Any, Any] = {}
        self._tables: dict[str, Table] = {}
        self._decisions: list[Estimate] = []
        refusal = parts.design.refuses(self._problem())
        if refusal:
            raise NotSupported(refusal)

    def __repr__(self) -> str:
        budget = f" of {self.parts.budget}" if isinstance(self.parts.budget, int) else ""
        return (
            f"<Study {self.name!r}: {', '.join(self.measure.names)} by {self.design.alias!r}, "
            f"{self._ledger.asked}{budget} asked, {self.n_open} open>"
        )

    # ---- ask -------------------------------------------------------------------------------------

    def ask(self, n: int = 1, *, annotator: str | None = None) -> Sequence[Item]:
        """Up to ``n`` items never asked before, chosen by the design and written down already."""
        if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
            raise InvalidInput(f"ask(n) takes a whole number above 0, not {n!r}")
        while True:
            self._catch_up()
            limit = self._limit()
            table, draws = self._draw(min(int(n), limit.labels), limit)
            if not draws.new.any() and not _may_be_empty(table, draws):
                raise NothingLeft(self._why_nothing())
            records = self._records(int(n), table, draws, annotator)
            try:
                self._append(records, after=self._ledger.seq)
            except Conflict:
                continue  # another process asked or told meanwhile: look again, draw again
            return [self._item(row) for row in draws.row[draws.new].tolist()]

    def _draw(self, n: int, limit: Limit) -> tuple[Table, Draws]:
        """The round's table and its draws: a function of pool, configuration, seed and events."""
        self._state = self._next_state()
        table = self.design.table(self._problem(), n)
        if not self.design.static and table.chance is not None:
            self.journal.put_table(self.name, table.digest, table.chance)
        source = stream(self.parts.seed, "draw", len(self._ledger.rounds))
        return table, draw(table, self.units, self._ledger.history, n, limit, source)

    def _records(self, n: int, table: Table, draws: Draws, annotator: str | None) -> list[Record]:
        ids = [self.pool.id_of(row) for row in draws.row.tolist()]
        this = Round(
            number=len(self._ledger.rounds),
            kind=table.kind,
            n=n,
            seen=self._ledger.seq,
            table=table.digest,
            scale=None if np.isnan(draws.scale) else min(float(draws.scale), 1e308),
            expected=self._ledger.expected + n,
            units_version=1,
            id=ids,
            unit=draws.unit.tolist(),
            times=draws.times.tolist(),
            p=none_if_nan(draws.p),
            pi=none_if_nan(draws.pi),
            p_within=none_if_nan(draws.p_within),
            left=draws.left.tolist(),
            new=draws.new.tolist(),
        )
        if annotator is None:
            return [this]
        until = time.time() + _LEASE_SECONDS
        fresh = [id for id, new in zip(ids, this.new, strict=True) if new]
        return [this, *(Lease(id, annotator, until) for id in fresh)]

    # ---- tell ------------------------------------------------------------------------------------

    def tell(
        self,
        id: Id | Mapping[Id, Any],
        label: Any = _NOTHING,
        *,
        annotator: str | None = None,
        replace: bool = False,
    ) -> None:
        """Answer an item, or many at once by a mapping of id to label.

        ``None`` or ``CANNOT_TELL`` means that the item cannot be told. A second answer needs another
        ``annotator``, or ``replace=True`` to correct the first.
        """
        self._catch_up()
        if (label is _NOTHING) != isinstance(id, Mapping):
            raise InvalidInput("tell() takes an id and its label, or one mapping of ids to labels")
        told = dict(id) if isinstance(id, Mapping) else {id: label}
        now = time.time()
        answers = [self._answer(one, value, annotator, replace, now) for one, value in told.items()]
        if answers:
            self._append(answers)

    def _answer(self, id: Id, label: Any, annotator: str | None, replace: bool, now: float) -> Answer:
        row = self.pool.row_of(id)
        if not self._ledger.is_asked(row):
            raise UnknownItem(
                f"id {id!r} was never asked, so its chance is unknown and its label cannot be used: "
                "tell only items that ask() has returned"
            )
        answers = self._ledger.answers(row)
        free = any(not one for one in answers)
        mine = any(annotator in one for one in answers) or (annotator is None and not free)
        if mine and not replace and not (free and self.parts.oracle == "stochastic"):
            raise AlreadyAnswered(
                f"id {id!r} has an answer already: pass replace=True to correct it, or annotator= for "
                "a second opinion"
            )
        refused = label is None or label is CANNOT_TELL
        if not refused:
            try:
                self.pool.labels.code(label)
            except InvalidInput as error:
                raise InvalidInput(f"id {id!r}: {error}") from None
        value = label.item() if hasattr(label, "item") else label
        plain_id: Any = id.item() if hasattr(id, "item") else id
        return Answer(plain_id, None if refused else value, refused, annotator, replace, None, now)

    # ---- estimate --------------------------------------------------------------------------------

    def estimate(
        self,
        measure: str | Measure | Sequence[str | Measure] | None = None,
        *,
        by: str | None = None,
        system: str | None = None,
        interval: str | Interval | None = None,
        rounds: Literal["all", "closed"] = "all",
        confidence_level: float | None = None,
    ) -> Estimate:
        """The measure (the study's own, or any other) from the labels so far.

        ``by`` splits by a grouping column, ``system`` looks at another system, ``rounds="closed"``
        leaves out rounds with open items.
        """
        self._catch_up()
        if rounds not in ("all", "closed"):
            raise InvalidInput(f"rounds= must be 'all' or 'closed', not {rounds!r}")
        bound, own = self._bound(measure, by, system)
        case = self._case(bound)
        question = Question(
            level=checked_level(
                self.parts.confidence_level if confidence_level is None else confidence_level
            ),
            target=self.parts.target,
            rounds=rounds,
            interval=_resolved(interval),
            estimator=None,
            target_of_design=own,
            pool_size=len(self.pool),
            design_n_eff=0.0 if own else estimate_totals(self._case(self.measure)).n_eff,
            n_labels=self.n_labels,
            n_open=self.n_open,
            n_refused=self.n_refused,
            cost=self.spent,
        )
        return assess(case, question, stream(self.parts.seed, "interval", self._ledger.seq))

    def _bound(self, measure: Any, by: str | None, system: str | None) -> tuple[Measure, bool]:
        if measure is None and by is None and system is None:
            return self.measure, True
        wanted = self.measure if measure is None else resolve(measure)
        if system is not None:
            wanted = for_system(wanted, system)
        if by is not None:
            wanted = PerGroup(wanted, by)
        bound = wanted.bind(self.pool)
        return bound, bound == self.measure

    def _case(self, measure: Measure) -> Case:
        return Case(
            self.pool,
            self.units,
            measure,
            self._ledger.sample,
            self.belief,
            self._states,
            self._table,
            self.parts.oracle,
            self._memo,
        )

    def _table(self, number: int) -> Table | None:
        """The table of a round: made again where it is static, read back otherwise."""
        kind, digest = self._ledger.rounds[number].kind, self._ledger.digests[number]
        if kind == "strata":
            return None
        if digest not in self._tables:
            if self.design.static:
                self._tables[digest] = self.design.table(self._problem(), 1)
            else:
                chance = self.journal.table(self.name, digest)
                if chance is None:
                    return None
                self._tables[digest] = Table(kind, chance=chance)
        return self._tables[digest]

    # ---- the loop --------------------------------------------------------------------------------

    def run(
        self,
        oracle: Mapping[Id, Any] | Callable[[Item], Any],
        *,
        budget: int | None = None,
        stop: StopRule | None = None,
        batch: int = _BATCH,
        allow_unsafe: bool = False,
    ) -> Estimate:
        """Ask and tell until the budget is spent, the pool is labelled, or ``stop`` says so.

        ``oracle`` maps ids to labels, or is called with each item. ``budget`` is a number of items for
        this call (default: all that is left). ``allow_unsafe`` is handed to ``should_stop``.
        """
        answer = _answerer(oracle)
        until = np.inf if budget is None else self._ledger.asked + budget
        if budget is None and self.parts.budget is None and stop is None:
            raise InvalidInput("run() needs budget= or stop=, because the study has no budget")
        if stop is not None:
            check_safety(stop, self.estimate(rounds="closed"), allow_unsafe)
        self._answer_open(answer)
        with Progress("labels", total=self._most(until), start=self._ledger.asked) as progress:
            while self._ledger.asked < until:
                try:
                    items = self.ask(int(min(batch, until - self._ledger.asked)))
                except NothingLeft:
                    break
                for item in items:
                    self.tell(item.id, answer(item))
                progress.at(self._ledger.asked)
                if stop is not None and self.should_stop(stop, allow_unsafe=allow_unsafe).stop:
                    break
        return self.estimate()

    def _answer_open(self, answer: Callable[[Item], Any]) -> None:
        """Items left open by an earlier run come first: they count against the budget already.

        An item is also open where opinions are tied: that takes a further one, not the same again.
        """
        for item in self.open_items():
            if any(not answers for answers in self._ledger.answers(self.pool.row_of(item.id))):
                self.tell(item.id, answer(item))

    def _most(self, until: float) -> int:
        most = min(until, len(self.pool))
        if isinstance(self.parts.budget, int):
            most = min(most, self.parts.budget)
        return int(most)

    def should_stop(self, rule: StopRule, *, allow_unsafe: bool = False) -> Decision:
        """Whether a rule says that it is enough; rules that are not safe to look at often need consent."""
        estimate = self.estimate(rounds="closed")
        check_safety(rule, estimate, allow_unsafe)
        self._decisions.append(estimate)
        return rule.check(self._decisions)

    # ---- what there is ---------------------------------------------------------------------------

    @property
    def n_labels(self) -> int:
        """Items with a label."""
        self._catch_up()
        return int((self._ledger.status == ANSWERED).sum())

    @property
    def n_open(self) -> int:
        """Items asked and not answered."""
        self._catch_up()
        return int((self._ledger.status == OPEN).sum())

    @property
    def n_refused(self) -> int:
        """Items that cannot be told."""
        self._catch_up()
        return int((self._ledger.status == REFUSED).sum())

    @property
    def spent(self) -> float:
        """Cost of all items asked, open ones included, and of further opinions."""
        return float(self.units.cost_of(self._ledger.asked_rows).sum()) + self._ledger.extra_cost

    @property
    def remaining(self) -> float:
        """What is left of the budget: labels, or cost; infinite without a budget.

        Further opinions on an item count too. They are taken in even where nothing is left, because
        nothing told is ever lost: the cap is on what is asked.
        """
        self._catch_up()
        budget = self.parts.budget
        if budget is None:
            return np.inf
        if isinstance(budget, Cost):
            return max(budget.amount - self.spent, 0.0)
        return max(budget - self._ledger.asked - self._ledger.extra_answers, 0)

    def open_items(self) -> list[Item]:
        """Items asked and not yet answered, for instance after a crash."""
        self._catch_up()
        rows = self._ledger.asked_rows[self._ledger.status == OPEN]
        return [self._item(row) for row in rows.tolist()]

    def labels(self) -> Any:
        """Frame of id, label, probability and weight; the weight serves as ``sample_weight``.

        One row per labelled item, in the order asked; with a stochastic oracle, one per answer.
        """
        self._catch_up()
        ledger, sample = self._ledger, self._ledger.sample
        kind = sample.kinds[0] if sample.kinds else "strata"
        weight = estimator_for(kind).weights(self._case(self.measure))
        total = np.bincount(ledger.slots, weights=weight, minlength=ledger.asked)
        chance = np.where(np.isnan(sample.pi), sample.p, sample.pi)[sample.new]
        told = np.flatnonzero(ledger.status == ANSWERED)
        return frame_of(
            {
                "id": [self.pool.id_of(row) for row in ledger.asked_rows[told].tolist()],
                "label": [self.pool.labels.decode(code) for code in ledger.labels[told].tolist()],
                "probability": chance[told].tolist(),
                "weight": total[told].tolist(),
            }
        )

    # ---- inside ----------------------------------------------------------------------------------

    def _problem(self) -> Problem:
        ledger = self._ledger
        return Problem(
            pool=self.pool,
            units=self.units,
            measure=self.measure,
            objective=self.parts.objective,
            belief=self.belief,
            state=self._state,
            centre=estimator_for(self.design.kind).centre,
            oracle=self.parts.oracle,
            left=self._left(),
            expected=ledger.expected,
            asked_units=ledger.asked_units,
            answered_units=ledger.asked_units[ledger.status == ANSWERED],
            memo=self._memo,
        )

    def _left(self) -> float:
        if isinstance(self.parts.budget, int):
            return self.parts.budget - self._ledger.asked - self._ledger.extra_answers
        return self.parts.budget.amount - self.spent if self.parts.budget else np.inf

    def _limit(self) -> Limit:
        left = self._left()
        items = len(self.pool) - self._ledger.asked if self.parts.oracle == "deterministic" else 10**9
        if left <= 0 or items <= 0:
            raise NothingLeft(self._why_nothing())
        if isinstance(self.parts.budget, Cost):
            return Limit(items, left)
        return Limit(int(min(left, items)))

    def _why_nothing(self) -> str:
        open_ = f"; {self.n_open} asked items are still open: see open_items()" if self.n_open else ""
        if isinstance(self.parts.budget, int) and self._left() <= 0:
            return f"the budget of {self.parts.budget} labels is spent{open_}"
        if isinstance(self.parts.budget, Cost):
            return (
                f"what is left of the cost budget ({max(self._left(), 0):g} of "
                f"{self.parts.budget.amount:g}) does not pay for another item{open_}"
            )
        return (
            f"all {self._ledger.asked:,} items that could move the measure have been asked, of "
            f"{len(self.pool):,} in the pool{open_}"
        )

    def _item(self, row: int) -> Item:
        return Item(self.pool.id_of(row), self.pool.payload_of(row), self.pool.cost_of(row))

    def _next_state(self) -> State:
        """The belief after all that is known now; worked out once per event."""
        if self._stepped != self._ledger.seq:
            before = self._states[-1] if self._states else self._start
            self._fresh = self.belief.step(before, self._ledger.seen)
            self._stepped = self._ledger.seq
        return self._fresh

    def _append(self, records: Sequence[Record], after: int | None = None) -> None:
        for seq, record in self.journal.append(self.name, records, after):
            if seq == self._ledger.seq + 1:
                self._apply(seq, record)
            else:
                self._catch_up()

    def _catch_up(self) -> None:
        """Take in what the journal has and we do not: after loading, or from other processes."""
        for seq, record in self.journal.events(self.name, self._ledger.seq):
            self._apply(seq, record)

    def _apply(self, seq: int, record: Record) -> None:
        if isinstance(record, Round):
            # The belief is a fold over rounds: replayed, it goes through the same states.
            self._states.append(self._next_state())
        self._ledger.apply(seq, record)


def _answerer(oracle: Any) -> Callable[[Item], Any]:
    """An oracle as a function of the item."""
    if callable(oracle):
        answer: Callable[[Item], Any] = oracle
        return answer
    if not isinstance(oracle, Mapping):
        raise InvalidInput(
            f"oracle= takes a mapping of ids to labels or a function of an item, not {oracle!r}"
        )

    def look_up(item: Item) -> Any:
        if item.id not in oracle:
            raise UnknownItem(f"the oracle has no label for id {item.id!r}: add it, or map it to CANNOT_TELL")
        return oracle[item.id]

    return look_up


def _resolved(interval: Any) -> Interval | None:
    if isinstance(interval, str):
        return Interval.from_alias(interval)
    if interval is None or isinstance(interval, Interval):
        return interval
    raise InvalidInput(f"interval= takes a name or an Interval, not {interval!r}")


def _may_be_empty(table: Table, draws: Draws) -> bool:
    """Whether no item arrived by chance alone: in a Poisson round that neither cap nor pool cut short."""
    return table.kind == "poisson" and np.isfinite(draws.scale) and draws.scale == table.scale


def checked_level(level: Any) -> float:
    """A confidence level strictly between 0 and 1."""
    if isinstance(level, bool) or not isinstance(level, (int, float)) or not 0 < level < 1:
        raise InvalidInput(f"confidence_level= must be between 0 and 1, not {level!r}")
    return float(level)
