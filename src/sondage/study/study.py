"""The study: the loop of ask, tell, estimate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

import numpy as np

from sondage.designs.base import Problem
from sondage.errors import Conflict, InvalidInput
from sondage.estimators import Case, Estimator, Sample, estimate_totals
from sondage.estimators.sample import ANSWERED, OPEN, REFUSED
from sondage.ingest.pandas_index import labels_by_id
from sondage.intervals.base import Alternative, Interval
from sondage.intervals.joint_region import Region, region
from sondage.journal import Journal, Record
from sondage.measures import Measure, PerGroup, Where, for_system, parts_of, resolve
from sondage.pool.pool import Pool
from sondage.registry import Named
from sondage.streams import stream
from sondage.study.answers import checked_answers, withdrawal
from sondage.study.assess import Question, assess, checked_level, effective_labels, together
from sondage.study.belief_report import BeliefReport, belief_report
from sondage.study.budget import Cost
from sondage.study.estimate import Estimate
from sondage.study.hand_out import handed_out
from sondage.study.html import study_table
from sondage.study.item import Item
from sondage.study.labels import labels_frame
from sondage.study.loop import run
from sondage.study.planning.make import make_plan
from sondage.study.planning.result import Plan
from sondage.study.rounds import next_round
from sondage.study.state import Parts, StudyState
from sondage.study.stopping.looking import after_looks, look, remember
from sondage.study.stopping.rules import Decision, StopRule
from sondage.study.systems import add_system
from sondage.types import Id, Ints, is_whole

if TYPE_CHECKING:
    from sondage.report.explanation import Explanation

T = TypeVar("T", bound=Named)
Method = TypeVar("Method", bound=Callable[..., Any])
_NOTHING: Any = object()
_FEW_PARTS = 8
"""Measures of a study that another is held against."""


def one_at_a_time(method: Method) -> Method:
    """A method that threads sharing a study run one after the other."""

    @wraps(method)
    def alone(self: Study, *args: Any, **kwargs: Any) -> Any:
        with self.state.mutex:
            return method(self, *args, **kwargs)

    return cast(Method, alone)


class Study:
    """One evaluation: which items to label, what they say, and when it is enough.

    Make one with ``create_study`` or ``load_study``. The constructor puts the parts together and leaves
    the journal alone; every method first takes in what the journal has. Threads may share a study.
    """

    def __init__(self, name: str, parts: Parts, journal: Journal) -> None:
        self.parts, self.journal = parts, journal
        self.measure, self.design = parts.measure, parts.design
        self.state = StudyState(name, parts, journal)
        self.units, self.belief = self.state.units, self.state.belief
        self._history: list[Estimate] = []

    @one_at_a_time
    def __repr__(self) -> str:
        self.state.catch_up()
        budget = f" of {self.parts.budget}" if isinstance(self.parts.budget, int) else ""
        return (
            f"<Study {self.name!r}: {shown_names(self.measure.names)} by {self.design.alias!r}, "
            f"{self.state.ledger.asked}{budget} asked, {self.n_open} open>"
        )

    @one_at_a_time
    def _repr_html_(self) -> str:
        return study_table(self)

    # ---- ask and tell ----------------------------------------------------------------------------

    @one_at_a_time
    def ask(self, n: int = 1, *, annotator: str | None = None) -> Sequence[Item]:
        """Up to ``n`` items never asked before, chosen by the design and written down already.

        Poisson rounds return what arrives: ``n`` on average, never more than the budget allows. With a
        stochastic oracle an item may come again, because every answer counts.
        """
        if not is_whole(n) or n < 1:
            raise InvalidInput(f"ask(n) takes a whole number above 0, not {n!r}")
        return self._items(self._write(lambda: next_round(self.state, int(n), annotator)))

    @one_at_a_time
    def tell(
        self,
        id: Any,
        label: Any = _NOTHING,
        *,
        annotator: str | None = None,
        replace: bool = False,
    ) -> None:
        """Answer an item, or many at once by a mapping of id to label (or a Series with ids as its index).

        ``None`` or ``CANNOT_TELL`` means that the item cannot be told. A second answer needs another
        ``annotator``, or ``replace=True`` to correct the first.
        """
        told = labels_by_id(self.pool, id)
        if (label is _NOTHING) != (told is not None):
            raise InvalidInput("tell() takes an id and its label, or one mapping of ids to labels")
        if isinstance(id, Item):
            raise InvalidInput("tell() takes the id of an item: pass item.id")
        if isinstance(id, list | set | np.ndarray):
            raise InvalidInput(
                "tell() takes one id, or a mapping: tell({id: label, ...}) answers many at once"
            )
        answers = {id: label} if told is None else told
        self._write(lambda: checked_answers(self.state, answers, annotator, replace))

    @one_at_a_time
    def reopen(self, id: Id) -> None:
        """Take back every answer to an item, so that it is open again (for one that could not be told)."""
        self._write(lambda: [withdrawal(self.state, id)])

    def _write(self, records: Callable[[], Sequence[Record]]) -> Ints:
        """Write records that follow from all that is known, and return the slots that they made.

        Nothing may come between the look and the write: an item would be asked or answered twice.
        """
        while True:
            with self.state.turn():
                before, made = self.state.ledger.asked, records()
                try:
                    if made:
                        self.state.append(made, after=self.state.ledger.seq)
                except Conflict:
                    continue  # a journal without turns, and another process was first: look again
                return np.arange(before, self.state.ledger.asked)

    # ---- estimate --------------------------------------------------------------------------------

    @one_at_a_time
    def estimate(
        self,
        measure: str | Measure | Sequence[str | Measure] | None = None,
        *,
        by: str | Sequence[str] | None = None,
        where: Any = None,
        system: str | None = None,
        interval: str | Interval | None = None,
        rounds: Literal["all", "closed"] = "all",
        confidence_level: float | None = None,
        alternative: Alternative = "two-sided",
        exclude: bool = False,
        estimator: str | Estimator | None = None,
    ) -> Estimate:
        """The measure (the study's own, or any other) from the labels so far.

        ``by`` splits by a grouping column, or by several crossed (or names it, for a measure that compares
        groups), ``where`` restricts to an event such as ``{"region": "north"}`` (see ``measures.Where``),
        ``system`` looks at another system, ``rounds="closed"`` leaves out rounds with open items,
        ``alternative="greater"`` gives a lower bound in place of an interval and ``"less"`` an upper one
        (scipy's words), ``exclude=True`` makes the items that can be told the target, ``estimator``
        replaces the one that belongs to the sampling kind.
        """
        self.state.catch_up()
        if rounds not in ("all", "closed"):
            raise InvalidInput(f"rounds= must be 'all' or 'closed', not {rounds!r}")
        bound, own = self._bound(measure, by, where, system)
        case = self.case(bound)
        question = Question(
            level=checked_level(
                self.parts.confidence_level if confidence_level is None else confidence_level
            ),
            target=self.parts.target,
            rounds=rounds,
            exclude=exclude,
            alternative=alternative,
            interval=_resolved(Interval, interval),  # type: ignore[type-abstract]
            estimator=_resolved(Estimator, estimator),  # type: ignore[type-abstract]
            target_of_design=own,
            pool_size=len(self.pool),
            design_n_eff=0.0 if own else self._effective_for_its_own(bound),
            n_labels=self.n_labels,
            n_open=self.n_open,
            n_refused=self.n_refused,
            cost=self.spent,
        )
        estimate = assess(case, question, self.parts.seed)
        return replace(estimate, warnings=(*estimate.warnings, *after_looks(self, estimate)))

    @one_at_a_time
    def region(
        self,
        measure: str | Measure | Sequence[str | Measure] | None = None,
        *,
        by: str | Sequence[str] | None = None,
        system: str | None = None,
        confidence_level: float | None = None,
    ) -> Region:
        """The joint region of several coordinates: where all of them are at once."""
        self.state.catch_up()
        bound, _ = self._bound(measure, by, None, system)
        level = self.parts.confidence_level if confidence_level is None else confidence_level
        case = self.case(bound)
        case = together(case)
        return region(estimate_totals(case), case.measure, checked_level(level))

    def _bound(self, measure: Any, by: Any, where: Any, system: str | None) -> tuple[Measure, bool]:
        if measure is None and by is None and where is None and system is None:
            return self.measure, True
        wanted = self.measure if measure is None else resolve(measure)
        if system is not None:
            wanted = for_system(wanted, system)
        if where is not None:
            wanted = Where(wanted, where)
        if by is not None:
            compares = getattr(wanted, "by", "") is None
            wanted = replace(wanted, by=by) if compares else PerGroup(wanted, by)  # type: ignore[type-var]
        bound = wanted.bind(self.pool)
        return bound, bound == self.measure or bound in parts_of(self.measure)

    def _effective_for_its_own(self, other: Measure) -> float:
        """Effective labels for what the labels were chosen for, to hold those for another measure against.

        0 where there is nothing to compare: labels chosen for this too, or for no measure. Of several
        coordinates together the number is another one, that of the weights alone.
        """
        aims, own = self.design.aims(self.measure), parts_of(self.measure)
        if not aims or other in aims or any(one.m > 1 for one in (other, *own)):
            return 0.0
        return min(effective_labels(self.case(one)) for one in own[:_FEW_PARTS])

    @one_at_a_time
    def add_system(self, name: str, source: Any, *, id: str | None = None, **parts: Any) -> None:
        """Put one more system on the same items and the same labels, for instance a new model version.

        ``source`` is a frame, a parquet path, or a mapping of names to arrays, in any row order, with every
        id of the pool once in its ``id`` column; ``parts`` name its columns, as ``Pool.with_system`` takes
        them. The system can then be estimated (``system=name``) and compared. Draws do not change, and the
        journal does not hold it: add it again after loading.
        """
        add_system(self.state, name, source, {"id": id, **parts})

    # ---- the loop --------------------------------------------------------------------------------

    def run(
        self,
        oracle: Mapping[Id, Any] | Callable[[Item], Any],
        *,
        budget: int | None = None,
        stop: StopRule | None = None,
        batch: int | None = None,
        allow_unsafe: bool = False,
    ) -> Estimate:
        """Ask and tell until the budget is spent, the pool is labelled, or ``stop`` says so (maybe at once).

        ``oracle`` maps ids to labels (a pandas Series does by its index), or is called with each item.
        ``budget`` is a number of items for this call (default: all that is left). ``batch`` is how many are
        asked at a time (default: as the design likes it). ``allow_unsafe`` is handed to ``should_stop``.
        Where ``stop`` looked at intervals, the estimate has the interval that it looked at.
        """
        return run(self, oracle, budget, stop, batch, allow_unsafe)

    @one_at_a_time
    def should_stop(
        self, rule: StopRule, *, interval: str | Interval | None = None, allow_unsafe: bool = False
    ) -> Decision:
        """Whether a rule says that it is enough; rules that are not safe to look at often need consent.

        The rule looks at an interval that holds however often one looks, where the design has one
        (``auto-audit``, ``sequential``, ``uniform``), or at ``calibrated`` where ``auto`` believes in error
        curves; with ``allow_unsafe=True``, at the ordinary one; or at ``interval``.
        """
        estimate = look(self, rule, allow_unsafe, _resolved(Interval, interval))  # type: ignore[type-abstract]
        self._history.append(estimate)
        decision = rule.check(self._history)
        remember(self.state, rule, decision, estimate)
        return decision

    # ---- what there is ---------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """Under which the journal keeps it."""
        return self.state.name

    @property
    def pool(self) -> Pool:
        """The items, with every system, also those added later."""
        return self.state.pool

    @property
    @one_at_a_time
    def n_labels(self) -> int:
        """Items with a label."""
        self.state.catch_up()
        return int((self.state.ledger.status == ANSWERED).sum())

    @property
    @one_at_a_time
    def n_open(self) -> int:
        """Items asked and not answered."""
        self.state.catch_up()
        return int((self.state.ledger.status == OPEN).sum())

    @property
    @one_at_a_time
    def n_refused(self) -> int:
        """Items that cannot be told."""
        self.state.catch_up()
        return int((self.state.ledger.status == REFUSED).sum())

    @property
    @one_at_a_time
    def spent(self) -> float:
        """Cost of all items asked, open ones included, and of further opinions."""
        self.state.catch_up()
        return self.state.spent

    @property
    @one_at_a_time
    def remaining(self) -> float:
        """What is left of the budget: labels, or cost; infinite without a budget.

        Further opinions on an item count too. They are taken in even where nothing is left, because
        nothing told is ever lost: the cap is on what is asked.
        """
        self.state.catch_up()
        return max(self.state.left, 0)

    @property
    @one_at_a_time
    def sample(self) -> Sample:
        """All draws so far, with what came of them."""
        self.state.catch_up()
        return self.state.ledger.sample

    @one_at_a_time
    def problem(self) -> Problem:
        """What the design may look at now."""
        self.state.catch_up()
        return self.state.problem()

    @one_at_a_time
    def case(self, measure: Measure | None = None) -> Case:
        """What estimators see, for a bound measure (the study's own by default)."""
        self.state.catch_up()
        return self.state.case(self.measure if measure is None else measure)

    @one_at_a_time
    def open_items(self) -> list[Item]:
        """Items asked and not yet answered, for instance after a crash."""
        self.state.catch_up()
        return self._items(np.flatnonzero(self.state.ledger.status == OPEN))

    @one_at_a_time
    def belief_report(
        self,
        *,
        n: int | None = None,
        bins: int | Sequence[float] | None = None,
        confidence_level: float | None = None,
    ) -> BeliefReport:
        """How the belief fares against the labels so far, and the saving that it expects.

        ``n`` is the number of labels at which the saving is worked out (default: the budget); ``bins`` are
        the edges of the reliability table, or how many bins it should have.
        """
        estimate = self.estimate()
        level = self.parts.confidence_level if confidence_level is None else confidence_level
        return belief_report(self.state, estimate, n=n, bins=bins, level=checked_level(level))

    @one_at_a_time
    def explain(self, *, n: int | None = None) -> Explanation:
        """In plain words: what is thought of the pool, where the next labels go, what the estimate rests on.

        ``n`` is how many labels to look ahead (default: as many as the design likes to ask for at once).
        """
        from sondage.report.explanation import explain  # what people see is built on studies

        return explain(self, n=n)

    @one_at_a_time
    def plan(
        self,
        *,
        width: float | None = None,
        difference: float | None = None,
        power: float = 0.8,
        budgets: Sequence[int | Cost] | None = None,
        confidence_level: float | None = None,
        draws: int = 32,
    ) -> Plan:
        """How many labels it takes, and how wide the interval will be, by what the labels so far say.

        Labels that are there count. See ``sondage.plan``, which does this before there is a study.
        """
        self.state.catch_up()
        level = self.parts.confidence_level if confidence_level is None else confidence_level
        source = stream(self.parts.seed, "simulate", self.state.ledger.seq)
        return make_plan(
            self.state,
            width=width,
            difference=difference,
            power=power,
            budgets=budgets,
            level=checked_level(level),
            draws=draws,
            seed=int.from_bytes(source.words(2).tobytes(), "little"),
        )

    @one_at_a_time
    def labels(self) -> Any:
        """Frame of id, label, probability and weight; the weight serves as ``sample_weight``.

        ``probability`` is what the design recorded when it asked: the chance of the item's inclusion in its
        round, or of one draw where draws are one by one; by strata (``auto``), the share of its cell that was
        asked so far. The weight is what the item counts for after all rounds, and so not always its inverse.
        One row per labelled item, in the order drawn; with a stochastic oracle, one per answer.
        """
        self.state.catch_up()
        return labels_frame(self.state)

    def _items(self, slots: Ints) -> list[Item]:
        """Items as an oracle sees them; why each was asked is said when somebody wants to know."""
        pool, state = self.pool, self.state
        slots = handed_out(state, slots)
        rows = state.ledger.drawn("row", slots)
        return [
            Item(id, pool.payload_of(row), pool.cost_of(row), partial(_reason, state, slot))
            for id, row, slot in zip(pool.ids_of(rows), rows.tolist(), slots.tolist(), strict=True)
        ]


def _reason(state: StudyState, slot: int) -> str:
    """Why a drawn item was asked: what the design says of its unit, and the chance by which it was drawn."""
    with state.mutex:
        return _reason_now(state, slot)


def _reason_now(state: StudyState, slot: int) -> str:
    columns = ("p", "pi", "left", "round", "unit")
    p, pi, left, number, unit = (state.ledger.drawn(name, np.array([slot])).item() for name in columns)
    if not np.isnan(pi):
        chance = f"included with chance {pi:.2g}"
    elif not np.isnan(p):
        chance = f"drawn with chance {p:.2g}"
    else:
        chance = f"at random from {left:,} items of its cell" if left > 1 else "the last item of its cell"
    why = state.parts.design.reason(state.problem_of(number), unit)
    return f"{why}; {chance}" if why else chance


def shown_names(names: Sequence[str], most: int = 4) -> str:
    """The first of many names."""
    more = f", ... ({len(names):,} in all)" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _resolved(family: type[T], part: Any) -> T | None:
    """A part of a family from its name or itself."""
    if isinstance(part, str):
        return family.from_alias(part)
    if part is None or isinstance(part, family):
        return part
    name = family.__name__
    raise InvalidInput(f"{name.lower()}= takes a name or an {name}, not {part!r}")
