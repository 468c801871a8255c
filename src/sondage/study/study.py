"""The study: the loop of ask, tell, estimate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from sondage.designs.base import Problem
from sondage.errors import Conflict, InvalidInput
from sondage.estimators import Case, Estimator, Sample, estimate_totals
from sondage.estimators.sample import ANSWERED, OPEN, REFUSED
from sondage.intervals.base import Alternative, Interval
from sondage.intervals.region import Region, region
from sondage.journal import Journal
from sondage.measures import Measure, PerGroup, Where, for_system, resolve
from sondage.pool.pool import Pool
from sondage.registry import Named
from sondage.streams import stream
from sondage.study.answers import checked_answers, withdrawal
from sondage.study.assess import Question, assess, checked_level, effective_labels, together
from sondage.study.belief_report import BeliefReport, belief_report
from sondage.study.budget import Cost
from sondage.study.estimate import Estimate
from sondage.study.html import study_table
from sondage.study.item import Item
from sondage.study.labels import labels_frame
from sondage.study.looks import look
from sondage.study.loop import run
from sondage.study.planning.make import make_plan
from sondage.study.planning.result import Plan
from sondage.study.rounds import next_round
from sondage.study.state import Parts, StudyState
from sondage.study.stop import SAFE, Decision, StopRule
from sondage.study.systems import add_system
from sondage.types import Id, Ints, is_whole

if TYPE_CHECKING:
    from sondage.report.explain import Explanation

T = TypeVar("T", bound=Named)
_NOTHING: Any = object()
_MANY_CORRECTED = 0.01
_CORRECTED = (
    "more than 1 % of the labels were corrected since the first look at a stop rule: its promise holds "
    "only if the result did not prompt the corrections"
)
_ENDED_BY_LOOKING = (
    "a stop rule that looks at intervals said that it is enough, and this interval does not allow for that: "
    "see the one that should_stop() and run(stop=) looked at"
)


class Study:
    """One evaluation: which items to label, what they say, and when it is enough.

    Make one with ``create_study`` or ``load_study``. The constructor puts the parts together and leaves
    the journal alone; every method first takes in what the journal has.
    """

    def __init__(self, name: str, parts: Parts, journal: Journal) -> None:
        self.name, self.parts, self.journal = name, parts, journal
        self.measure, self.design = parts.measure, parts.design
        self.state = StudyState(name, parts, journal)
        self.units, self.belief = self.state.units, self.state.belief
        self._history: list[Estimate] = []
        self._ended_by_looking = False
        self._corrections_before = 0

    def __repr__(self) -> str:
        self.state.catch_up()
        budget = f" of {self.parts.budget}" if isinstance(self.parts.budget, int) else ""
        return (
            f"<Study {self.name!r}: {shown_names(self.measure.names)} by {self.design.alias!r}, "
            f"{self.state.ledger.asked}{budget} asked, {self.n_open} open>"
        )

    def _repr_html_(self) -> str:
        return study_table(self)

    # ---- ask and tell ----------------------------------------------------------------------------

    def ask(self, n: int = 1, *, annotator: str | None = None) -> Sequence[Item]:
        """Up to ``n`` items never asked before, chosen by the design and written down already.

        Poisson rounds return what arrives: ``n`` on average, never more than the budget allows. With a
        stochastic oracle an item may come again, because every answer counts.
        """
        if not is_whole(n) or n < 1:
            raise InvalidInput(f"ask(n) takes a whole number above 0, not {n!r}")
        while True:
            self.state.catch_up()
            records = next_round(self.state, int(n), annotator)
            before = self.state.ledger.asked
            try:
                self.state.append(records, after=self.state.ledger.seq)
            except Conflict:
                continue  # another process asked or told meanwhile: look again, draw again
            return self._items(np.arange(before, self.state.ledger.asked))

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
        if (label is _NOTHING) != isinstance(id, Mapping):
            raise InvalidInput("tell() takes an id and its label, or one mapping of ids to labels")
        if isinstance(id, Item):
            raise InvalidInput("tell() takes the id of an item: pass item.id")
        if isinstance(id, list | set | np.ndarray):
            raise InvalidInput(
                "tell() takes one id, or a mapping: tell({id: label, ...}) answers many at once"
            )
        self.state.catch_up()
        answers = checked_answers(
            self.state, id if isinstance(id, Mapping) else {id: label}, annotator, replace
        )
        if answers:
            self.state.append(answers)

    def reopen(self, id: Id) -> None:
        """Take back every answer to an item, so that it is open again (for one that could not be told)."""
        self.state.catch_up()
        self.state.append([withdrawal(self.state, id)])

    # ---- estimate --------------------------------------------------------------------------------

    def estimate(
        self,
        measure: str | Measure | Sequence[str | Measure] | None = None,
        *,
        by: str | None = None,
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

        ``by`` splits by a grouping column (or names it, for a measure that compares groups), ``where``
        restricts to an event such as ``{"region": "north"}`` (see ``measures.Where``), ``system`` looks
        at another system, ``rounds="closed"`` leaves out rounds with open items,
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
            design_n_eff=0.0 if own else effective_labels(self.case(self.measure)),
            n_labels=self.n_labels,
            n_open=self.n_open,
            n_refused=self.n_refused,
            cost=self.spent,
        )
        # The same random numbers at every look: intervals differ by what the labels say alone.
        estimate = assess(case, question, stream(self.parts.seed, "interval"))
        if self._ended_by_looking and estimate.guarantee not in SAFE:
            estimate = replace(estimate, warnings=(*estimate.warnings, _ENDED_BY_LOOKING))
        return estimate

    def region(
        self,
        measure: str | Measure | Sequence[str | Measure] | None = None,
        *,
        by: str | None = None,
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

    def _bound(self, measure: Any, by: str | None, where: Any, system: str | None) -> tuple[Measure, bool]:
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
        return bound, bound == self.measure

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

        ``oracle`` maps ids to labels, or is called with each item. ``budget`` is a number of items for
        this call (default: all that is left). ``batch`` is how many are asked at a time (default: as the
        design likes it). ``allow_unsafe`` is handed to ``should_stop``. Where ``stop`` looked at
        intervals, the estimate has the interval that it looked at.
        """
        return run(self, oracle, budget, stop, batch, allow_unsafe)

    def should_stop(
        self, rule: StopRule, *, interval: str | Interval | None = None, allow_unsafe: bool = False
    ) -> Decision:
        """Whether a rule says that it is enough; rules that are not safe to look at often need consent.

        The rule looks at an interval that holds however often one looks, where the design has one
        (``auto-audit``, ``sequential``, ``uniform``), or at ``calibrated`` where ``auto`` believes in error
        curves; with ``allow_unsafe=True``, at the ordinary one; or at ``interval``.
        """
        estimate = look(self, rule, allow_unsafe, _resolved(Interval, interval))  # type: ignore[type-abstract]
        corrections = self.state.ledger.corrections
        if not self._history:
            self._corrections_before = corrections
        elif corrections - self._corrections_before > _MANY_CORRECTED * estimate.n_labels:
            estimate = replace(estimate, warnings=(*estimate.warnings, _CORRECTED))
        self._history.append(estimate)
        decision = rule.check(self._history)
        self._ended_by_looking |= decision.stop and rule.peeks
        return decision

    # ---- what there is ---------------------------------------------------------------------------

    @property
    def pool(self) -> Pool:
        """The items, with every system, also those added later."""
        return self.state.pool

    @property
    def n_labels(self) -> int:
        """Items with a label."""
        self.state.catch_up()
        return int((self.state.ledger.status == ANSWERED).sum())

    @property
    def n_open(self) -> int:
        """Items asked and not answered."""
        self.state.catch_up()
        return int((self.state.ledger.status == OPEN).sum())

    @property
    def n_refused(self) -> int:
        """Items that cannot be told."""
        self.state.catch_up()
        return int((self.state.ledger.status == REFUSED).sum())

    @property
    def spent(self) -> float:
        """Cost of all items asked, open ones included, and of further opinions."""
        self.state.catch_up()
        return self.state.spent

    @property
    def remaining(self) -> float:
        """What is left of the budget: labels, or cost; infinite without a budget.

        Further opinions on an item count too. They are taken in even where nothing is left, because
        nothing told is ever lost: the cap is on what is asked.
        """
        self.state.catch_up()
        return max(self.state.left, 0)

    @property
    def sample(self) -> Sample:
        """All draws so far, with what came of them."""
        self.state.catch_up()
        return self.state.ledger.sample

    def problem(self) -> Problem:
        """What the design may look at now."""
        self.state.catch_up()
        return self.state.problem()

    def case(self, measure: Measure | None = None) -> Case:
        """What estimators see, for a bound measure (the study's own by default)."""
        self.state.catch_up()
        return self.state.case(self.measure if measure is None else measure)

    def open_items(self) -> list[Item]:
        """Items asked and not yet answered, for instance after a crash."""
        self.state.catch_up()
        return self._items(np.flatnonzero(self.state.ledger.status == OPEN))

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

    def explain(self, *, n: int | None = None) -> Explanation:
        """In plain words: what is thought of the pool, where the next labels go, what the estimate rests on.

        ``n`` is how many labels to look ahead (default: as many as the design likes to ask for at once).
        """
        from sondage.report.explain import explain  # what people see is built on studies

        return explain(self, n=n)

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

    def labels(self) -> Any:
        """Frame of id, label, probability and weight; the weight serves as ``sample_weight``.

        ``probability`` is what the design recorded when it asked: the chance of the item's inclusion in its
        round, or of one draw where draws are one by one; by strata (``auto``), the share of its cell that was
        asked so far. The weight is what the item counts for after all rounds, and so not always its inverse.
        One row per labelled item, in the order asked; with a stochastic oracle, one per answer.
        """
        self.state.catch_up()
        return labels_frame(self.state)

    def _items(self, slots: Ints) -> list[Item]:
        """Items as an oracle sees them; why each was asked is said when somebody wants to know."""
        pool, state = self.pool, self.state
        rows = state.ledger.drawn("row", slots)
        return [
            Item(id, pool.payload_of(row), pool.cost_of(row), partial(_reason, state, slot))
            for id, row, slot in zip(pool.ids_of(rows), rows.tolist(), slots.tolist(), strict=True)
        ]


def _reason(state: StudyState, slot: int) -> str:
    """Why a drawn item was asked: what the design says of its unit, and the chance by which it was drawn."""
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
