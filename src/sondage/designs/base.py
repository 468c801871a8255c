"""What a design is: the rule that gives each item a known chance to be asked."""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np

from sondage.beliefs.base import Belief, Seen, State
from sondage.beliefs.scores import ScoreBelief
from sondage.designs.place import place_of
from sondage.errors import InvalidInput
from sondage.measures.base import Measure
from sondage.objective import Objective
from sondage.pool.pool import Pool
from sondage.pool.units import CellUnits, ItemUnits, Units
from sondage.registry import Named
from sondage.strata.base import Strata
from sondage.streams import Stream, integer_weights, stream
from sondage.types import Array, Floats, Ints

Kind = Literal["wr", "wor", "poisson", "fixed", "strata", "online", "systematic", "pivotal"]
Centre = Literal["none", "unit", "belief"]
Oracle = Literal["deterministic", "stochastic"]
T = TypeVar("T")


@dataclass(frozen=True)
class Table:
    """A round's rule, from which one function per kind draws.

    kind ``wr``
        ``chance`` per item and draw, with replacement. Where units are cells it is the chance of an item
        not asked before, and ``asked`` the chance of each item that was, in the order asked.
    kind ``wor``
        ``chance`` per item and draw, relative to the items left. With a ``goal``, the number of items that
        each unit should have had when the round ends, ``chance`` is what an item has in any case, and what
        is missing to 1 is shared by the units below their goal, as far as they are below it at that draw.
    kinds ``poisson``, ``fixed``
        an item is included with chance ``min(1, scale * chance)``; ``chance`` is only its size.
    kinds ``online``, ``systematic``, ``pivotal``
        ``chance`` of each item not asked before to be included in this round: independently, by equal steps
        along the units, or in a fixed number by pivoting. Every round stands for itself.
    kind ``strata``
        ``quota`` items of each unit, at random inside it; there is no chance per item.
    """

    kind: Kind
    chance: Floats | None = None
    quota: Ints | None = None
    scale: float = np.nan
    asked: Floats | None = None
    goal: Floats | None = None
    cache: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """What is worked out from ``chance`` alone; tables that differ in scale share it."""

    def cached(self, name: str, make: Callable[[], T]) -> T:
        """Something that follows from the chances, made the first time it is wanted."""
        if name not in self.cache:
            self.cache[name] = make()
        value: T = self.cache[name]
        return value

    @property
    def digest(self) -> str:
        """Name of the table by its content (without the scale, which is the round's own)."""

        def make() -> str:
            content = self.kind.encode() + np.ascontiguousarray(self.content).tobytes()
            return hashlib.blake2b(content, digest_size=12).hexdigest()

        return self.cached("digest", make)

    @property
    def content(self) -> Floats | Ints:
        """All its numbers in one array, as a journal keeps them."""
        body = self.quota if self.chance is None else self.chance
        assert body is not None
        more = [one for one in (self.asked, self.goal) if one is not None]
        return np.concatenate([body, *more]) if more else body

    @classmethod
    def from_content(cls, kind: Kind, content: Floats, units: int) -> Table:
        """The table of chances again."""
        more = content[units:] if len(content) > units else None
        if kind == "wor":
            return cls(kind, chance=content[:units], goal=more)
        return cls(kind, chance=content[:units], asked=more)

    def mass(self, size: Ints, asked: Array) -> Floats:
        """(..., U) kind ``wor``: relative chance of each unit at the next draw, so many having been asked.

        With a goal the chances add up to 1, unless no unit is below its goal.

        >>> table = Table("wor", chance=np.array([0.1, 0.1]), goal=np.array([1.0, 3.0]))
        >>> table.mass(np.array([2, 4]), np.array([0, 1])).round(2).tolist()
        [0.37, 0.63]
        """
        assert self.chance is not None
        mass = self.chance * (size - asked)
        if self.goal is None:
            return np.asarray(mass)
        short = np.maximum(self.goal - asked, 0.0)
        total = short.sum(axis=-1, keepdims=True)
        rest = 1.0 - mass.sum(axis=-1, keepdims=True)
        share = short / np.where(total > 0, total, 1.0)
        return np.asarray(mass + np.where(total > 0, rest * share, 0.0))

    def next_chance(self, size: Ints, asked: Array) -> Floats:
        """(..., U) kind ``wor``: chance of one item left in each unit at the next draw; 0 if none is."""
        mass, left = self.mass(size, asked), size - asked
        there = left > 0
        share = np.where(there, mass / np.where(there, left, 1), 0.0)
        return np.asarray(share / np.maximum(mass.sum(axis=-1, keepdims=True), 1e-300))

    @property
    def weights(self) -> Ints:
        """Chances of kind ``wr`` as integers: what is really drawn from, and recorded."""
        chance = self.chance
        assert chance is not None
        return self.cached("weights", lambda: integer_weights(chance))

    @property
    def cumulative(self) -> Ints:
        """Running sum of ``weights``."""
        return self.cached("cumulative", lambda: np.cumsum(self.weights))


@dataclass(frozen=True)
class Problem:
    """All that a design may look at.

    ``centre`` is what the estimator subtracts (nothing, the unit's mean, the belief's prediction);
    ``left`` is how many labels the budget left pays for; ``expected`` the number of items that earlier
    rounds asked for.
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
    answered_units: Ints
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
        return np.bincount(self.answered_units, minlength=self.units.count)

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
    """Whom we ask.

    Contract
    --------
    * ``table`` returns chances or quotas and never draws: drawing is one function per kind.
    * it looks at the ``Problem`` alone, so that a reload gives the same table;
    * it never names a measure: influence comes from ``designs.influence``.
    * an item whose label could matter never gets chance 0 for good without the estimate saying so.

    ``strata`` is how the pool is cut into units; None makes every item its own unit. Kinds ``poisson``
    and ``fixed`` draw single items and need None; kinds ``strata`` and ``wor`` need units of several; kind
    ``wr`` takes both. A design with single items must be ``static``: its table may not depend on labels.
    ``batch`` is how many labels it likes to ask for at once. ``estimator`` is the name of the estimator that
    its rounds belong to, where that is not the usual one of their kind. A plan is made of designs whose
    widths can be ``foreseen`` before there are labels.
    """

    kind: ClassVar[Kind]
    oracles: ClassVar[frozenset[str]] = frozenset({"deterministic"})
    static: ClassVar[bool] = False
    foreseen: ClassVar[bool] = True
    estimator: ClassVar[str] = ""
    belief: Belief = ScoreBelief()
    strata: Strata | None = None
    batch: int = 25

    def belief_for(self, oracle: Oracle, pool: Pool, measure: Measure) -> Belief:
        """The belief that it works with, not yet bound to the pool."""
        return Belief.from_alias(self.belief) if isinstance(self.belief, str) else self.belief

    def with_truth(self, truth: Floats) -> Design:
        """The design for a simulation in which the true labels are these: itself, unless it wants to know."""
        return self

    def make_units(self, pool: Pool, measure: Measure, seed: int, labels: float = np.inf) -> Units:
        """The units that the design works on: items, or cells of its strata.

        ``labels`` is about how many there will be: for designs that must not have more cells than these can
        fill, as ``stratified`` does (``pool.coarser``). Here it makes no difference.
        """
        if self.strata is None:
            if self.kind == "strata":
                raise InvalidInput(
                    f"design {self.alias!r} shares labels out by strata: give it strata=LogRank()"
                )
            return ItemUnits(pool, seed)
        strata = Strata.from_alias(self.strata) if isinstance(self.strata, str) else self.strata
        codes = strata.codes(pool, measure.systems(pool), seed)
        return CellUnits(pool, codes, measure.signature(pool), seed=seed)

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
        return place_of(problem, unit)

    @abstractmethod
    def table(self, problem: Problem, n: int) -> Table:
        """The rule for asking ``n`` more items."""


CostRule = Literal["use", "ignore", "only"]
"""What a design makes of label costs: chance over their root, nothing, or nothing but them."""


def check_cost(rule: str) -> None:
    """Refuse another rule."""
    if rule not in ("use", "ignore", "only"):
        raise InvalidInput(f"cost= must be 'use', 'ignore' or 'only', not {rule!r}")


def over_root_cost(problem: Problem, unit: Floats, asked: Floats, rule: CostRule) -> tuple[Floats, Floats]:
    """Sizes of units and of items asked, over the root of what their label costs (Sawade 2013, Thm 4.2)."""
    if rule == "only":
        unit, asked = np.ones(len(unit)), np.ones(len(asked))
    if rule == "ignore" or problem.pool.cost is None:
        return unit, asked
    return unit / np.sqrt(problem.units.cost), asked / np.sqrt(problem.units.cost[problem.asked_units])


def check_probability_floor(floor: float) -> None:
    """Refuse a least label chance that leaves nothing to the belief."""
    if not 0 <= floor < 0.5:
        raise InvalidInput(f"probability_floor= must be in [0, 0.5), not {floor}")
