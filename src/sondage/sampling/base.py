"""What a kind of sampling is: it turns a round's table into draws, and knows what follows from that."""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np

from sondage.errors import InvalidInput, NotSupported
from sondage.pool.units import Units
from sondage.registry import Named
from sondage.streams import Stream
from sondage.types import Array, Bools, Floats, Ints

T = TypeVar("T")
_NOTHING = 1e-12


@dataclass(frozen=True)
class Draws:
    """Items taken in one round, in the order taken, with their chances *at that moment*.

    ``times``: repeats in the round (with replacement). ``p``: chance of this item at this draw, ``pi``: of
    being included in the round's sample; nan where the kind of sampling records none. ``left``: items of the
    unit not asked before this draw, or before the round. ``new``: whether it costs a label. ``scale``: one
    number of the round, whose meaning is the kind's own.
    """

    row: Ints
    unit: Ints
    times: Ints
    p: Floats
    pi: Floats
    left: Ints
    new: Bools
    scale: float = np.nan

    @classmethod
    def once(
        cls,
        row: Ints,
        unit: Ints,
        left: Ints,
        *,
        p: Floats | None = None,
        pi: Floats | None = None,
        scale: float = np.nan,
    ) -> Draws:
        """Draws of new items, each taken once."""
        nothing, ones = np.full(len(row), np.nan), np.ones(len(row), np.int64)
        p, pi = (nothing if one is None else one for one in (p, pi))
        return cls(row, unit, ones, p, pi, left, np.ones(len(row), bool), scale)

    def __len__(self) -> int:
        return len(self.row)


@dataclass(frozen=True)
class History:
    """What was asked before a round: all that drawing needs of the past.

    ``taken`` counts per unit and ``asked`` is a mask of the pool; the first is empty where every item
    is a unit, the second where units are cells. ``rows`` are the items asked, in order.
    ``repeats_count``: the oracle's answers vary, so that every draw needs an answer of its own.
    """

    taken: Ints
    asked: Bools
    rows: Ints
    repeats_count: bool = False


@dataclass(frozen=True)
class Limit:
    """What may be spent: a number of labels, and what they may cost together."""

    labels: int
    cost: float = np.inf

    def cut(self, cost: Floats) -> int:
        """How many of these items, in order, fit."""
        fits = np.cumsum(cost) <= self.cost * (1 + 1e-12)
        return min(self.labels, int(fits.sum()))


@dataclass(frozen=True)
class Table:
    """The rule that a round draws by. Each kind says which of these it reads.

    ``chance`` is that of an item of each unit, ``quota`` a number of its items; ``asked`` is the chance of
    each item asked before, in the order asked; ``goal`` the number of items that each unit should have had
    when the round ends. ``kind`` may be given by its name.
    """

    kind: SamplingKind
    chance: Floats | None = None
    quota: Ints | None = None
    scale: float = np.nan
    asked: Floats | None = None
    goal: Floats | None = None
    cache: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """What is worked out from ``chance`` alone; tables that differ in scale share it."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", kind_of(self.kind))

    def draw(self, units: Units, history: History, n: int, limit: Limit, stream: Stream) -> Draws:
        """``n`` new items, never more than the limit allows."""
        return self.kind.draw(self, units, history, n, limit, stream)

    def next_chance(self, size: Ints, asked: Array) -> Floats:
        """(..., U) chance of one item left in each unit at the next draw, where draws are one by one."""
        return self.kind.next_chance(self, size, asked)

    def cached(self, name: str, make: Callable[[], T]) -> T:
        """Something that follows from the chances, made the first time it is wanted."""
        if name not in self.cache:
            self.cache[name] = make()
        value: T = self.cache[name]
        return value

    @property
    def digest(self) -> str:
        """Name of the table by its content (without the scale, which is the round's own)."""
        if "digest" not in self.cache:
            content = self.kind.alias.encode() + np.ascontiguousarray(self.content).tobytes()
            self.cache["digest"] = hashlib.blake2b(content, digest_size=12).hexdigest()
        return str(self.cache["digest"])

    @property
    def content(self) -> Floats | Ints:
        """All its numbers in one array, as a journal keeps them."""
        body = self.quota if self.chance is None else self.chance
        assert body is not None
        more = [one for one in (self.asked, self.goal) if one is not None]
        return np.concatenate([body, *more]) if more else body


@dataclass(frozen=True)
class SamplingKind(Named, family="sondage.sampling"):
    """How the items of a round are drawn by its table.

    Contract
    --------
    * ``draw`` looks at its arguments alone, records every chance as it was at that moment, and never exceeds
      the limit; where the limit could decide which items come, that is settled before the draw.
    * whatever differs between kinds is asked of the kind: no other part of the package compares their names.
    * a journal keeps the alias, and the ``content`` of a table, which ``table_from`` turns into a table
      again.

    A kind that differs only in a detail inherits from the one it is like, and uses its estimator.
    """

    rule: ClassVar[str]
    """What happens, in one plain sentence."""
    estimator: ClassVar[str]
    """Alias of the estimator that its rounds belong to, unless a design names another."""
    recorded: ClassVar[Literal["p", "pi", ""]]
    """Which chance a draw has: of this item at this draw, of inclusion in the round, or none of its own."""
    by_quota: ClassVar[bool] = False
    """Whether units have numbers of items instead of chances."""
    one_by_one: ClassVar[bool] = False
    """Whether every item left has a recorded chance at every draw, given the draws before it."""
    comes_again: ClassVar[bool] = False
    """Whether an item that was asked can be drawn again."""
    stands_alone: ClassVar[bool] = False
    """Whether a round can be used whatever is open in earlier ones; others build on these."""
    fixed_size: ClassVar[bool] = False
    """Whether the number of items included is settled before the draw."""
    counts_down: ClassVar[bool] = False
    """Whether ``left`` falls with every draw of a unit; otherwise it is that at the start of the round."""
    next_item: ClassVar[str] = "another item"
    """What a budget that is nearly spent does not pay for, in words."""

    @abstractmethod
    def draw(
        self, table: Table, units: Units, history: History, n: int, limit: Limit, stream: Stream
    ) -> Draws:
        """``n`` new items by the table."""

    @abstractmethod
    def relative_chance(self, table: Table, size: Ints, asked: Ints, expected: float, n: int) -> Floats:
        """(U,) chance that an item of a unit is asked, over that in a random sample of the same size.

        So many of each unit, and ``expected`` in all, were ``asked`` for before, and ``n`` are to come.
        """

    def coming_chance(self, table: Table, size: Ints, asked: Ints, expected: float, n: int) -> Floats:
        """(U,) relative chance of an item not asked yet to be among the next ``n``, on any scale.

        About the same as above: what a round draws first is no longer there for its later draws.
        """
        return self.relative_chance(table, size, asked, expected, n)

    def variance(
        self, table: Table, units: Units, spread: Floats, n: int, repeats_count: bool
    ) -> tuple[float, float]:
        """Variance and cost of ``n`` labels before any, by the mean squared influence of each unit's items.

        Without replacement it falls like that of the plain random sample, by 1 / n - 1 / N.
        ``repeats_count``: every draw needs an answer of its own.
        """
        variance, cost = one_draw(table, units, spread)
        return variance * (1.0 / n - 1.0 / int(units.size.sum())), n * cost

    @abstractmethod
    def adds_up(self, table: Table, size: Ints, asked: Ints, expected: float, n: int) -> tuple[float, float]:
        """What the numbers of a table add up to over the items, and what they have to."""

    def check(self, table: Table, size: Ints, asked: Ints, expected: float, n: int) -> None:
        """``InvalidInput`` if a design's table is not one that this kind can draw from."""
        given, what = (table.quota, "quota") if self.by_quota else (table.chance, "chance")
        most = size - asked if self.by_quota else np.inf
        if given is None or given.shape != size.shape or not ((given >= 0) & (given <= most)).all():
            why = f"has {what}=, a number of 0 or above (and possible) for each of the {len(size):,} units"
        else:
            found, wanted = self.adds_up(table, size, asked, expected, n)
            why = f"has numbers that add up to {wanted:g} over the items, not to {found:g}"
            if np.isclose(found, wanted, rtol=1e-9, atol=1e-9):
                return
        raise InvalidInput(f"a table of sampling kind {self.alias!r} {why}")

    def table_from(self, content: Floats, units: int) -> Table:
        """The table that a journal kept the content of."""
        return Table(self, chance=content[:units])

    def next_chance(self, table: Table, size: Ints, asked: Array) -> Floats:
        """(..., U) chance of one item left in each unit at the next draw, where draws are one by one."""
        raise NotSupported(f"sampling kind {self.alias!r} does not draw items one by one")

    def is_uniform(self, units: Units) -> bool:
        """Whether its samples are plain random samples of the pool."""
        return False

    def may_be_empty(self, table: Table, draws: Draws) -> bool:
        """Whether a round without an item came about by chance alone, and the next may have some."""
        return False

    def is_over(self, scale: float) -> bool:
        """Whether a round that recorded this scale was the last that the budget allows."""
        return False

    def left_to_chance(self, weight: Floats, times: Ints) -> Floats:
        """Part in the variance of draws that stand for so many items each: by inclusion, what it leaves."""
        return np.asarray(weight * np.maximum(weight - 1.0, 0.0))


@cache
def kind_of(kind: SamplingKind | str) -> SamplingKind:
    """A sampling kind, given itself or by its name."""
    return SamplingKind.from_alias(kind) if isinstance(kind, str) else kind


def chances_of(table: Table) -> Floats:
    """The chances that a table of this kind has."""
    assert table.chance is not None
    return table.chance


def relative(chance: Floats, size: Array) -> Floats:
    """Chances over their mean over so many items of each unit."""
    return np.asarray(chance * size.sum() / float(chance @ size))


def sum_over(spread: Floats, chance: Floats) -> float:
    """``sum(spread / chance)``; infinite where something that matters is never asked."""
    matters = spread > _NOTHING * float(spread.max(initial=0.0))
    if (chance[matters] <= 0).any():
        return np.inf
    return float((spread[matters] / chance[matters]).sum())


def one_draw(table: Table, units: Units, spread: Floats) -> tuple[float, float]:
    """Variance and cost of one label by chances of cells, for all items of the pool."""
    size, N = units.size, int(units.size.sum())
    chance = chances_of(table) / float(chances_of(table) @ size)
    return sum_over(size * spread, chance) / (N * N), float((chance * size) @ units.cost)


def running_index(unit: Ints) -> Ints:
    """0, 1, 2, ... for the first, second, third, ... time that a unit appears.

    >>> running_index(np.array([5, 2, 5, 5])).tolist()
    [0, 0, 1, 2]
    """
    order = np.argsort(unit, kind="stable")
    index = np.empty(len(unit), dtype=np.int64)
    index[order] = np.arange(len(unit)) - np.searchsorted(unit[order], unit[order])
    return index
