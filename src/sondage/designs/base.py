"""What a design is: the rule that gives each item a known chance to be asked."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, ClassVar, Literal, TypeVar, get_args

import numpy as np

from sondage.beliefs.base import Belief, Seen, State
from sondage.beliefs.scores import ScoreBelief
from sondage.errors import InvalidInput
from sondage.measures.base import Measure
from sondage.objective import Objective
from sondage.pool.division import Division
from sondage.pool.pool import Pool
from sondage.pool.units import ItemUnits, Units
from sondage.registry import Named
from sondage.sampling.base import SamplingKind, Table, kind_of
from sondage.strata.base import Strata
from sondage.strata.in_words import place_words
from sondage.streams import Stream, stream
from sondage.types import Floats, Ints

Centre = Literal["none", "unit", "belief"]
Oracle = Literal["deterministic", "stochastic"]
T = TypeVar("T")


@dataclass(frozen=True)
class Problem:
    """All that a design may look at.

    ``centre`` is what the estimator subtracts (nothing, the unit's mean, the belief's prediction), ``left``
    how many labels the remaining budget pays for, ``expected`` how many items earlier rounds asked for.
    """

    pool: Pool
    units: Units
    measure: Measure
    objective: Objective
    belief: Belief
    state: State
    centre: Centre
    oracle: Oracle
    left: float
    expected: float
    asked_units: Ints
    asked_rows: Ints
    labels: Floats
    """Of every item asked, in the order asked; nan where there is none (yet)."""
    seen: Seen
    seed: int
    round: int
    """Number of the round to come."""
    memo: dict[Any, Any] = field(default_factory=dict, repr=False)

    @cached_property
    def asked(self) -> Ints:
        """(U,) items asked so far in each unit: answered, refused or open."""
        return np.bincount(self.asked_units, minlength=self.units.count)

    @cached_property
    def answered(self) -> Ints:
        """(U,) items with a label in each unit."""
        return np.bincount(self.seen.unit, minlength=self.units.count)

    @property
    def stream(self) -> Stream:
        """Random numbers for rounding shares to whole labels: the same for a round, others in the next."""
        return stream(self.seed, "belief", self.round)

    def once(self, name: Hashable, make: Callable[[], T]) -> T:
        """Something static, made the first time it is wanted in this study."""
        if name not in self.memo:
            self.memo[name] = make()
        value: T = self.memo[name]
        return value


class Design(Named, family="sondage.designs"):
    """The rule that decides whom we ask.

    Contract
    --------
    * ``table`` returns chances or quotas and never draws: its ``kind`` of sampling does.
    * it looks at the ``Problem`` alone, so that a reload gives the same table;
    * it never names a measure: influence comes from ``designs.influence``.
    * an item whose label could matter never gets chance 0 for good without the estimate saying so;
    * a ``__post_init__`` of its own calls that of ``Design``, which makes parts of names.

    ``kind`` is a kind of sampling, or its name. ``strata`` is how the pool is cut into units; None makes
    every item its own unit. Kinds ``poisson`` and ``fixed`` draw single items and need None; kinds ``strata``
    and ``wor`` need units of several; kind ``wr`` takes both. A design with single items must be ``static``:
    its table may not depend on labels. ``batch`` is how many labels it likes to ask for at once.
    ``estimator`` names the estimator of its rounds, where that is not the usual one of their kind. Plans use
    only designs whose widths can be ``foreseen`` before there are labels.
    """

    kind: ClassVar[SamplingKind]
    oracles: ClassVar[frozenset[str]] = frozenset({"deterministic"})
    static: ClassVar[bool] = False
    foreseen: ClassVar[bool] = True
    estimator: ClassVar[str] = ""
    belief: Belief = ScoreBelief()
    strata: Strata | None = None
    batch: int = 25

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if isinstance(cls.__dict__.get("kind"), str):
            cls.kind = kind_of(cls.kind)

    def __post_init__(self) -> None:
        """Beliefs and strata may be given by name; one of a subclass calls this one."""
        self.require(batch="at least 1")
        defaults = {one.name: one.default for one in fields(self)}  # type: ignore[arg-type]
        for option, family, needed in (("belief", Belief, True), ("strata", Strata, self.kind.by_quota)):
            if option in defaults:
                optional = defaults[option] is None or not needed
                part = family.resolved(getattr(self, option), option, optional=optional)
                object.__setattr__(self, option, part)

    def belief_for(self, oracle: Oracle, pool: Pool, measure: Measure) -> Belief:
        """The belief that it works with, not yet bound to the pool."""
        return self.belief

    def with_truth(self, truth: Floats) -> Design:
        """The design for a simulation in which the true labels are these: itself, unless it wants to know."""
        return self

    def make_units(self, pool: Pool, measure: Measure, seed: int, labels: float = np.inf) -> Units:
        """The units that the design works on: items, or cells of its strata.

        ``labels`` is about how many there will be, for designs that must not have more cells than these can
        fill, such as ``stratified`` (``strata.fillable_cells``).
        """
        if self.strata is None:
            if self.kind.by_quota:
                raise InvalidInput(
                    f"design {self.alias!r} shares labels out by strata: give it strata=LogRank()"
                )
            return ItemUnits(pool, seed)
        cells = self.cells_of_queries(pool, measure, seed, labels)
        return cells or self.strata.cell_units(pool, measure.systems(pool), seed, measure.signature(pool))

    def cells_of_queries(self, pool: Pool, measure: Measure, seed: int, labels: float) -> Units | None:
        """Cells by what the belief predicts, where the strata go along a score and queries have none."""
        from sondage.designs.influence.predicted_cells import predicted_cells  # which knows of problems
        from sondage.strata.by_score import EqualSize
        from sondage.strata.log_rank import LogRank

        if pool.parts is None or not isinstance(self.strata, LogRank | EqualSize | None):
            return None
        belief = self.belief_for("deterministic", pool, measure).bind(pool, measure.systems(pool))
        return predicted_cells(pool, measure, belief, seed, labels)

    def even_parts(self, pool: Pool, measure: Measure, units: Units) -> Division | Units:
        """A division of the pool inside whose parts a design by quotas draws evenly: its units, or more."""
        return units

    def refuses(self, problem: Problem) -> str | None:
        """Why the design cannot serve this problem, and what can; None if it can."""
        if problem.oracle not in self.oracles:
            return (
                f"design {self.alias!r} asks every item at most once, which an oracle whose answers "
                "vary does not allow: use design='importance'"
            )
        return None

    def aims(self, measure: Measure) -> tuple[Measure, ...]:
        """The measures that the labels are for, in a study of one; none if they are chosen for nothing."""
        return (measure,)

    def reason(self, problem: Problem, unit: int) -> str:
        """Why an item of a unit is asked, in plain words; unless a design knows better, where it lies."""
        pool, units, systems = problem.pool, problem.units, problem.measure.systems(problem.pool)
        if pool.parts is not None:
            from sondage.designs.influence.predicted_cells import query_words

            rows, belief = units.members(unit), problem.belief.as_of(problem.state)
            return problem.once(
                ("place", unit, problem.state.stage), lambda: query_words(pool, problem.measure, belief, rows)
            )
        return problem.once(("place", unit), lambda: place_words(pool, systems, units.members(unit)))

    def tells_of(self, problem: Problem) -> Sequence[str | None]:
        """(U,) the measure that a label of each unit is for; None where nothing is known of that."""
        return (None,) * problem.units.count

    def rule_words(self, problem: Problem, n: int) -> str:
        """By which rule the next ``n`` labels are shared out; "" if its kind of sampling says it all."""
        return ""

    @abstractmethod
    def table(self, problem: Problem, n: int) -> Table:
        """The rule for asking ``n`` more items."""


CostRule = Literal["use", "ignore", "only"]
"""What a design makes of label costs: chance over their root, nothing, or nothing but them."""
COST_RULES: tuple[str, ...] = get_args(CostRule)
Form = Literal["auto", "mean", "rms"]
"""Size of an influence: its mean absolute value, its root mean square, or whichever suits the oracle."""
FORMS: tuple[str, ...] = get_args(Form)
PROBABILITY_FLOOR = "[0, 0.5)"
"""Range of the least label chance that a design reckons with: more leaves nothing to the belief."""


def over_root_cost(size: Floats, cost: Floats, rule: CostRule) -> Floats:
    """Sizes over the root of what a label costs (Sawade 2013, Thm 4.2)."""
    if rule == "ignore":
        return size
    least = cost.min(initial=np.inf, where=cost > 0)  # what costs nothing counts as the cheapest
    floored = np.maximum(cost, least if np.isfinite(least) else 1.0)
    return np.asarray((np.ones(len(size)) if rule == "only" else size) / np.sqrt(floored))


def drawing_power(form: Form, problem: Problem) -> Literal[1, 2]:
    """1 for the mean absolute influence, 2 for the root mean square.

    Where re-draws of a labelled item are free, with a deterministic oracle, the first is better per label.
    """
    mean = form == "mean" or (form == "auto" and problem.oracle == "deterministic")
    return 1 if mean else 2
