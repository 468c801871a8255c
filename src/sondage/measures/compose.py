"""Measures made of measures: several at once, per group, a difference between systems."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from sondage.errors import InvalidInput
from sondage.measures.base import Input, Measure
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.types import Array, Floats


@dataclass(frozen=True)
class Stack(Measure):
    """Several measures at once, estimated from the same labels."""

    alias: ClassVar[str] = "stack"
    label_kind = "any"
    measures: tuple[Measure, ...]

    def __post_init__(self) -> None:
        if not self.measures:
            raise InvalidInput("a list of measures must name at least one")
        object.__setattr__(self, "measures", tuple(_made(one) for one in self.measures))

    def bind(self, pool: Pool) -> Stack:
        """Bind each."""
        return Stack(tuple(one.bind(pool) for one in self.measures))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all."""
        return tuple(name for one in self.measures for name in one.names)

    @property
    def d(self) -> int:
        """The losses of all."""
        return sum(one.d for one in self.measures)

    @property
    def range(self) -> tuple[Floats, Floats]:
        """The ranges of all."""
        low, high = zip(*(one.range for one in self.measures), strict=True)
        return np.concatenate(low), np.concatenate(high)

    @property
    def ratio(self) -> tuple[Floats, Floats] | None:
        """Of a stack of one."""
        return self.measures[0].ratio if len(self.measures) == 1 else None

    def inputs(self, pool: Pool) -> tuple[Input, ...]:
        """The inputs of all, each once."""
        return tuple(dict.fromkeys(part for one in self.measures for part in one.inputs(pool)))

    def loss(self, rows: Rows, y: Floats) -> Floats:
        """The losses of all, side by side."""
        return np.concatenate([one.loss(rows, y) for one in self.measures], axis=-1)

    def g(self, R: Array) -> Array:
        """Each measure of its own losses."""
        ends = np.cumsum([one.d for one in self.measures])
        pieces = np.split(R, ends[:-1], axis=-1)
        return np.concatenate(
            [one.g(piece) for one, piece in zip(self.measures, pieces, strict=True)], axis=-1
        )


@dataclass(frozen=True)
class Difference(Measure):
    """A measure of system ``a`` less the same measure of system ``b``."""

    alias: ClassVar[str] = "difference"
    label_kind = "any"
    measure: Measure
    a: str
    b: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "measure", _made(self.measure))

    def bind(self, pool: Pool) -> Difference:
        """Bind both sides."""
        if self.a == self.b:
            raise InvalidInput(f"a difference needs two systems, not {self.a!r} twice")
        self._both.bind(pool)
        return replace(self, measure=self.measure.bind(pool))

    @property
    def _both(self) -> Stack:
        return Stack((for_system(self.measure, self.a), for_system(self.measure, self.b)))

    @property
    def names(self) -> tuple[str, ...]:
        """``f1: a - b``."""
        return tuple(f"{name}: {self.a} - {self.b}" for name in self.measure.names)

    @property
    def d(self) -> int:
        """The losses of both."""
        return 2 * self.measure.d

    @property
    def range(self) -> tuple[Floats, Floats]:
        """From all of one to all of the other."""
        low, high = self.measure.range
        return low - high, high - low

    def inputs(self, pool: Pool) -> tuple[Input, ...]:
        """The inputs of both."""
        return self._both.inputs(pool)

    def loss(self, rows: Rows, y: Floats) -> Floats:
        """The losses of both, side by side."""
        return self._both.loss(rows, y)

    def g(self, R: Array) -> Array:
        """One less the other."""
        a, b = np.split(self._both.g(R), 2, axis=-1)
        return np.asarray(a - b)


@dataclass(frozen=True)
class PerGroup(Measure):
    """A measure in every level of a grouping column."""

    alias: ClassVar[str] = "per_group"
    label_kind = "any"
    measure: Measure
    by: str
    levels: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "measure", _made(self.measure))

    def bind(self, pool: Pool) -> PerGroup:
        """Bind the measure and learn the levels."""
        return replace(self, measure=self.measure.bind(pool), levels=pool.group(self.by).levels)

    @property
    def names(self) -> tuple[str, ...]:
        """``recall[region=north]``."""
        return tuple(f"{name}[{self.by}={level}]" for level in self.levels for name in self.measure.names)

    @property
    def d(self) -> int:
        """The weight, and the losses of every level."""
        return 1 + len(self.levels) * self.measure.d

    @property
    def range(self) -> tuple[Floats, Floats]:
        """The range of every level."""
        low, high = self.measure.range
        return np.tile(low, len(self.levels)), np.tile(high, len(self.levels))

    def inputs(self, pool: Pool) -> tuple[Input, ...]:
        """The measure's, and the group."""
        return (*self.measure.inputs(pool), Input("group", self.by))

    def loss(self, rows: Rows, y: Floats) -> Floats:
        """The item's weight, then its losses in its own level and zeros in the others."""
        inner = self.measure.loss(rows, y)
        member = rows.group(self.by)[:, None] == np.arange(len(self.levels))
        blocks = inner[:, :, None, :] * member[:, None, :, None]
        return np.concatenate([inner[..., :1], blocks.reshape(*inner.shape[:2], self.d - 1)], axis=-1)

    def g(self, R: Array) -> Array:
        """The measure of every level: homogeneity makes the level's size cancel."""
        blocks = R[..., 1:].reshape(*R.shape[:-1], len(self.levels), self.measure.d)
        return self.measure.g(blocks).reshape(*R.shape[:-1], self.m)


def _made(measure: Measure | str) -> Measure:
    """A measure from its name or itself."""
    return Measure.from_alias(measure) if isinstance(measure, str) else measure


def for_system(measure: Measure, system: str | None) -> Measure:
    """The same measure, looking at another system."""
    if isinstance(measure, Stack):
        return Stack(tuple(for_system(one, system) for one in measure.measures))
    if isinstance(measure, PerGroup):
        return replace(measure, measure=for_system(measure.measure, system))
    if not hasattr(measure, "system"):
        raise InvalidInput(
            f"a measure {measure.alias!r} names its systems itself: system= cannot change them"
        )
    changed: Any = measure
    other: Measure = replace(changed, system=system)
    return other
