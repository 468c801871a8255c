"""A measure over the levels of a grouping column, as one number: the worst, the gap, the ratio."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, Literal, Self

import numpy as np

from sondage.errors import InvalidInput
from sondage.measures.base import Derived, Measure
from sondage.measures.combine.per_group import By, PerGroup, by_words, crossing
from sondage.measures.combine.stack import Stack, parts_of, resolve
from sondage.measures.maps.base import divide
from sondage.pool.pool import Pool
from sondage.types import Array, Floats, Ints

Method = Literal["between_groups", "to_overall"]
Undefined = Literal["undefined", "skip"]


def check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Refuse an option that is none of the choices."""
    if value not in choices:
        raise InvalidInput(f"{name}= must be one of {', '.join(map(repr, choices))}, not {value!r}")


@dataclass(frozen=True)
class OverGroups(Derived):
    """A function of a measure's values in the levels of ``by``, for each of its coordinates.

    Where the measure is undefined in a level, so is the result (``zero_division="undefined"``), or the
    level is left out as in fairlearn (``zero_division="skip"``). ``levels`` is filled in by ``bind``.
    """

    measure: Measure
    by: By
    zero_division: Undefined = field(default="undefined", kw_only=True)
    levels: tuple[str, ...] = field(default=(), kw_only=True)
    least_levels: ClassVar[int] = 2

    @property
    @abstractmethod
    def what(self) -> str:
        """What is made of the levels, in the names of the coordinates."""

    @property
    def names(self) -> tuple[str, ...]:
        """``recall: min over region``, ``recall: gap to overall over region``, ..."""
        return tuple(f"{name}: {self.what} over {by_words(self.by)}" for name in self.measure.names)

    def __post_init__(self) -> None:
        object.__setattr__(self, "measure", resolve(self.measure))
        object.__setattr__(self, "by", crossing(self.by))
        check_choice("zero_division", self.zero_division, ("undefined", "skip"))

    def bind(self, pool: Pool) -> Self:
        levels = pool.levels(self.by)
        if len(levels) < self.least_levels:
            raise InvalidInput(
                f"measure {self.alias!r} compares levels, but group {by_words(self.by)!r} has one"
            )
        return replace(self, measure=self.measure.bind(pool), levels=levels)

    @cached_property
    def inner(self) -> Measure:
        return PerGroup(self.measure, self.by, self.levels)

    @property
    def aim(self) -> Measure:
        """All levels: which of them enters is not known before they are measured."""
        return self.inner

    @abstractmethod
    def attained(self, R: Floats) -> tuple[str, ...]:
        """Which levels the value of each coordinate is about."""

    def jac(self, R: Floats) -> Floats:
        """The chain rule; levels that do not enter need not have a derivative."""
        outer, inner = self.outer_jac(np.asarray(self.inner.g(R))), self.inner.jac(R)
        return outer @ np.where((outer != 0).any(axis=0)[:, None], inner, 0.0)

    def table(self, values: Array) -> Array:
        """(..., levels, coordinates) of the values of all levels."""
        return values.reshape(*values.shape[:-1], len(self.levels), self.measure.m)

    def least(self, table: Array) -> Ints:
        """(..., coordinates) the level with the least value: the last of several.

        The first for the greatest and the last for the least: of levels that are all equal, two different
        ones are compared, so that the variance of their difference is not lost.
        """
        turned = np.flip(np.real(table), axis=-2)
        if self.zero_division == "skip":
            turned = np.where(np.isnan(turned), np.inf, turned)
        return np.asarray(table.shape[-2] - 1 - np.argmin(turned, axis=-2))

    def greatest(self, table: Array) -> Ints:
        """(..., coordinates) the level with the greatest value: the first of several."""
        real = np.real(table)
        if self.zero_division == "skip":
            real = np.where(np.isnan(real), -np.inf, real)
        return np.asarray(np.argmax(real, axis=-2))

    def place(self, level: Ints) -> Ints:
        """(..., coordinates) where the values of one level for each coordinate are among those of all."""
        return np.asarray(level * self.measure.m + np.arange(self.measure.m))

    def slopes(self, *entries: tuple[Ints, Array | float], values: Floats) -> Floats:
        """(m, m of inner) a derivative that is zero but for some places, and what it is there."""
        out = np.zeros((self.m, len(values)))
        for place, slope in entries:
            out[np.arange(self.m), place] = slope
        return out


def taken(values: Array, place: Ints) -> Array:
    """(..., coordinates) the values at one place for each coordinate."""
    return np.take_along_axis(values, place, axis=-1)


@dataclass(frozen=True)
class WorstGroup(OverGroups):
    """A measure in the level of ``by`` where it is worst: least, or greatest where less of it is better.

    ``worst="min"`` and ``worst="max"`` say which; without, an error or a loss is worst where it is greatest.

    The derivative is that of the level attained, so the interval is the interval of the level that looks
    worst. Where one level is clearly the worst this is right. Where k levels are equally bad, the one that
    looks worst was picked for looking bad: the estimate errs on the bad side, and a 95% interval covers about
    ``.975**k - .025**k`` of the time (0.95 for two, 0.88 for five), nearly always missing on that side.

    >>> import numpy as np
    >>> from sondage.measures import exact
    >>> region = np.array(["north", "north", "south", "south"])
    >>> float(exact(WorstGroup("accuracy", "region"), [1, 0, 1, 1], [1, 0, 0, 1], groups={"region": region}))
    0.5
    """

    alias: ClassVar[str] = "worst_group"
    least_levels: ClassVar[int] = 1
    worst: Literal["min", "max"] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.worst is not None:
            check_choice("worst", self.worst, ("min", "max"))
        elif len({one.less_is_better for one in parts_of(self.measure)}) > 1:
            raise InvalidInput('worst= is needed where less is better of some measures only: "min" or "max"')

    @property
    def what(self) -> str:
        return self.worst or ("max" if self.less_is_better else "min")

    @property
    def less_is_better(self) -> bool:
        return self.measure.less_is_better

    @property
    def range(self) -> tuple[Floats, Floats]:
        return self.measure.range

    def worst_level(self, values: Array) -> Ints:
        """(..., coordinates) the level that is worst."""
        table = self.table(values)
        return self.least(table) if self.what == "min" else self.greatest(table)

    def outer(self, values: Array) -> Array:
        return taken(values, self.place(self.worst_level(values)))

    def outer_jac(self, values: Floats) -> Floats:
        return self.slopes((self.place(self.worst_level(values)), 1.0), values=values)

    def attained(self, R: Floats) -> tuple[str, ...]:
        return tuple(self.levels[level] for level in self.worst_level(np.asarray(self.inner.g(R))))


@dataclass(frozen=True)
class Compared(OverGroups):
    """Levels compared with each other, or with the whole pool (``method="to_overall"``)."""

    method: Method = "between_groups"
    is_above: ClassVar[np.ufunc] = np.greater
    """How a level is told from the whole pool: where they are equal, the derivative has a sign by this."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("method", self.method, ("between_groups", "to_overall"))

    @property
    def to_overall(self) -> bool:
        """Whether levels are compared with the whole pool."""
        return self.method == "to_overall"

    @property
    def what(self) -> str:
        word = self.alias.removeprefix("group_")
        return f"{word} to overall" if self.to_overall else word

    @cached_property
    def inner(self) -> Measure:
        """The measure in every level, and in the whole pool in front if it is compared with."""
        each = PerGroup(self.measure, self.by, self.levels)
        return Stack((self.measure, each)) if self.to_overall else each

    @abstractmethod
    def furthest(self, table: Array, whole: Array) -> Ints:
        """(..., coordinates) the level furthest from the whole pool; ``whole`` is (..., 1, coordinates)."""

    def greater_and_lesser(self, values: Array) -> tuple[Ints, Ints]:
        """(..., coordinates) where the greater and the lesser of the two values compared are.

        They are the same only if all other levels are left out; then there is nothing to compare.
        """
        m = self.measure.m
        if not self.to_overall:
            table = self.table(values)
            return self.place(self.greatest(table)), self.place(self.least(table))
        there = m + self.place(self.furthest(self.table(values[..., m:]), values[..., None, :m]))
        above = self.is_above(np.real(taken(values, there)), np.real(values[..., :m]))
        return np.where(above, there, np.arange(m)), np.where(above, np.arange(m), there)

    def attained(self, R: Floats) -> tuple[str, ...]:
        """The greatest and the least level, or the one furthest from the whole pool."""
        m, (high, low) = self.measure.m, self.greater_and_lesser(np.asarray(self.inner.g(R)))
        if self.to_overall:
            return tuple(self.levels[level - 1] for level in np.maximum(high, low) // m)
        pairs = zip(high // m, low // m, strict=True)
        return tuple(f"{self.levels[most]}, {self.levels[least]}" for most, least in pairs)


@dataclass(frozen=True)
class Gap(Compared):
    """The greatest less the least value of a measure over the levels of ``by``; 0 and above.

    With ``method="to_overall"``, the greatest distance of a level from the whole pool. The derivative is that
    of the two levels attained. A gap of noisy values is too large on average, most so where there is none:
    a 95% interval reaches 0 about 95% of the time if two levels are equal, but only 71% if five are, because
    the two that differ most were picked. The range is left open above, so that intervals are symmetric and
    cut at 0; a scale that stretches the end at 0 could never reach it.

    >>> import numpy as np
    >>> from sondage.measures import exact
    >>> region = np.array(["north", "north", "south", "south"])
    >>> float(exact(Gap("accuracy", "region"), [1, 0, 1, 1], [1, 0, 0, 1], groups={"region": region}))
    0.5
    """

    alias: ClassVar[str] = "gap"
    less_is_better = True
    is_above: ClassVar[np.ufunc] = np.greater_equal

    @property
    def range(self) -> tuple[Floats, Floats]:
        return np.zeros(self.measure.m), np.full(self.measure.m, np.inf)

    def furthest(self, table: Array, whole: Array) -> Ints:
        return self.greatest(np.abs(np.real(table - whole)))

    def outer(self, values: Array) -> Array:
        high, low = self.greater_and_lesser(values)
        return np.where(high == low, np.nan, taken(values, high) - taken(values, low))

    def outer_jac(self, values: Floats) -> Floats:
        high, low = self.greater_and_lesser(values)
        return self.slopes((low, -1.0), (high, 1.0), values=values)


@dataclass(frozen=True)
class GroupRatio(Compared):
    """The least over the greatest value of a measure over the levels of ``by``: 1 where all are equal.

    With ``method="to_overall"``, the least ratio of a level and the whole pool, turned so that it is at most
    1. Undefined where it is 0/0. The range is left open below, for the reason given at ``Gap``.

    >>> import numpy as np
    >>> from sondage.measures import exact
    >>> region = np.array(["north", "north", "south", "south"])
    >>> measure = GroupRatio("accuracy", "region")
    >>> float(exact(measure, [1, 0, 1, 1], [1, 0, 0, 1], groups={"region": region}))
    0.5
    """

    alias: ClassVar[str] = "group_ratio"

    def bind(self, pool: Pool) -> Self:
        """Refuse a measure that may be negative too."""
        bound = super().bind(pool)
        if (bound.measure.range[0] < 0).any():
            names = ", ".join(bound.measure.names)
            raise InvalidInput(f"a ratio of groups needs a measure of 0 and above, not {names}: use Gap")
        return bound

    @property
    def range(self) -> tuple[Floats, Floats]:
        return np.full(self.measure.m, -np.inf), np.ones(self.measure.m)

    def furthest(self, table: Array, whole: Array) -> Ints:
        """The level with the least ratio, turned to be at most 1."""
        share = np.real(divide(table, whole))
        with np.errstate(divide="ignore"):
            return self.least(np.where(share > 1, 1 / share, share))

    def outer(self, values: Array) -> Array:
        high, low = self.greater_and_lesser(values)
        return np.where(high == low, np.nan, divide(taken(values, low), taken(values, high)))

    def outer_jac(self, values: Floats) -> Floats:
        """``1 / b`` for the lesser, ``- a / b^2`` for the greater."""
        high, low = self.greater_and_lesser(values)
        lesser, greater = taken(values, low), taken(values, high)
        down, up = -divide(lesser, greater**2), divide(np.ones(self.m), greater)
        return self.slopes((high, down), (low, up), values=values)
