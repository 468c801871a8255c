"""Several measures at once: their losses side by side, and their maps each on its own losses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from sondage.errors import InvalidInput
from sondage.measures.base import Bound, Measure
from sondage.measures.influence import ALL, Influence
from sondage.measures.losses.base import Input, Losses
from sondage.measures.maps.base import Map
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.registry import what_it_is
from sondage.types import Array, Bools, Floats


class Several(Losses):
    """Losses made of those of several measures."""

    def __init__(self, each: Sequence[Losses]) -> None:
        self.each = tuple(each)
        self.wide = any(one.wide for one in self.each)

    def inputs(self, pool: Pool) -> tuple[Input, ...]:
        return tuple(dict.fromkeys(part for one in self.each for part in one.inputs(pool)))

    def needs(self, pool: Pool) -> Bools:
        return np.asarray(np.any([one.needs(pool) for one in self.each], axis=0))

    @property
    def gaps(self) -> bool:
        return all(one.gaps for one in self.each)

    def signature(self, pool: Pool) -> Array | None:
        """That of the inputs of all; None if any of them has none."""
        if any(one.signature(pool) is None for one in self.each):
            return None
        return super().signature(pool)


class SideBySide(Several):
    """The losses of several measures, one after the other."""

    plain: ClassVar[bool] = False

    def __init__(self, each: Sequence[Losses]) -> None:
        super().__init__(each)
        self.d = sum(one.d for one in self.each)

    def known(self, pool: Pool) -> Floats:
        return np.concatenate([one.known(pool) for one in self.each])

    def settled(self, rows: Rows) -> Bools:
        return np.asarray(np.all([one.settled(rows) for one in self.each], axis=0))

    def loss(self, rows: Rows, y: Floats) -> Floats:
        return np.concatenate([one.loss(rows, y) for one in self.each], axis=-1)

    def total(self, rows: Rows, y: Floats, weights: Floats, factor: Floats | None = None) -> Floats:
        return np.concatenate([one.total(rows, y, weights, factor) for one in self.each])

    def _along(self, slope: Any) -> Influence:
        return Beside([one.along(mine) for one, mine in zip(self.each, slope, strict=True)])


class Beside(Influence):
    """Influences on coordinates that stand side by side."""

    def __init__(self, each: Sequence[Influence]) -> None:
        self.each, self.m = tuple(each), sum(one.m for one in each)

    def of(self, rows: Rows, y: Floats, which: slice = ALL) -> Floats:
        return np.concatenate([one.of(rows, y, mine) for one, mine in self._pieces(which)], axis=-1)

    def affine(self, rows: Rows, which: slice = ALL) -> tuple[Floats, Floats]:
        return _joined([one.affine(rows, mine) for one, mine in self._pieces(which)])

    def ends(self, rows: Rows, which: slice = ALL) -> tuple[Floats, Floats]:
        return _joined([one.ends(rows, mine) for one, mine in self._pieces(which)])

    def moments(self, rows: Rows, y: Floats, weights: Floats, which: slice = ALL) -> tuple[Floats, Floats]:
        return _joined([one.moments(rows, y, weights, mine) for one, mine in self._pieces(which)])

    def square_sum(
        self, rows: Rows, y: Floats, weights: Floats, factor: Floats, which: slice = ALL
    ) -> Floats:
        pieces = self._pieces(which)
        return np.concatenate([one.square_sum(rows, y, weights, factor, mine) for one, mine in pieces])

    def _pieces(self, which: slice) -> list[tuple[Influence, slice]]:
        """Those that have a part in the coordinates ``which``, and that part."""
        start, stop, _ = which.indices(self.m)
        pieces, begin = [], 0
        for one in self.each:
            low, high = max(start - begin, 0), min(stop - begin, one.m)
            if low < high:
                pieces.append((one, slice(low, high)))
            begin += one.m
        return pieces


def _joined(each: Sequence[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    first, second = zip(*each, strict=True)
    return np.concatenate(first, axis=1), np.concatenate(second, axis=1)


class Stacked(Map):
    """Several maps, each of its own piece of the averages; ``sizes`` are the numbers of their losses."""

    def __init__(self, each: Sequence[Map], sizes: Sequence[int], systems: Sequence[str | None]) -> None:
        self.each, self.sizes, self.systems = tuple(each), tuple(sizes), tuple(systems)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all; those that are the same for several systems have their system's name."""
        plain = [name for one in self.each for name in one.names]
        systems = [system for one, system in zip(self.each, self.systems, strict=True) for _ in range(one.m)]
        return tuple(
            name if system is None or plain.count(name) == 1 else f"{name} of {system}"
            for name, system in zip(plain, systems, strict=True)
        )

    @property
    def m(self) -> int:
        return sum(one.m for one in self.each)

    @property
    def range(self) -> tuple[Floats, Floats]:
        low, high = zip(*(one.range for one in self.each), strict=True)
        return np.concatenate(low), np.concatenate(high)

    @property
    def ratio(self) -> tuple[Floats, Floats] | None:
        return self.each[0].ratio if len(self.each) == 1 else None

    @property
    def apart(self) -> bool:
        return any(one.apart for one in self.each)

    def g(self, R: Array) -> Array:
        return np.concatenate([one.g(piece) for one, piece in self._with_pieces(R)], axis=-1)

    def jac(self, R: Floats) -> Floats:
        out = np.zeros((self.m, sum(self.sizes)))
        row = column = 0
        for one, piece in self._with_pieces(R):
            out[row : row + one.m, column : column + len(piece)] = one.jac(piece)
            row, column = row + one.m, column + len(piece)
        return out

    def slope(self, R: Floats, weight: Floats | None = None) -> tuple[Any, ...]:
        ends = np.cumsum([one.m for one in self.each])[:-1]
        weights = [None] * len(self.each) if weight is None else np.split(weight, ends)
        return tuple(
            one.slope(piece, mine) for (one, piece), mine in zip(self._with_pieces(R), weights, strict=True)
        )

    def uniform_variance(self, R: Floats) -> Floats | None:
        each = [one.uniform_variance(piece) for one, piece in self._with_pieces(R)]
        known = [one for one in each if one is not None]
        return np.concatenate(known) if len(known) == len(each) else None

    def _with_pieces(self, R: Array) -> list[tuple[Map, Array]]:
        pieces = np.split(R, np.cumsum(self.sizes)[:-1], axis=-1)
        return list(zip(self.each, pieces, strict=True))


@dataclass(frozen=True)
class Stack(Measure):
    """Several measures at once, estimated from the same labels."""

    alias: ClassVar[str] = "stack"
    label_kind = "any"
    measures: tuple[Measure, ...]

    def __post_init__(self) -> None:
        if not self.measures:
            raise InvalidInput("a list of measures must name at least one")
        object.__setattr__(self, "measures", tuple(resolve(one) for one in self.measures))

    def settled(self, rows: Rows) -> Bools:
        return np.asarray(np.all([one.settled(rows) for one in self.measures], axis=0))

    def bind(self, pool: Pool) -> Stack:
        return Stack(tuple(one.bind(pool) for one in self.measures))

    @cached_property
    def losses(self) -> Losses:
        return SideBySide([one.losses for one in self.measures])

    @cached_property
    def map(self) -> Map:
        systems = [getattr(getattr(one, "spec", one), "system", None) for one in self.measures]
        return Stacked([one.map for one in self.measures], [one.d for one in self.measures], systems)

    @property
    def less_is_better(self) -> bool:
        return all(one.less_is_better for one in self.measures)

    def narrowed(self, rows: Rows) -> Measure:
        each = tuple(one.narrowed(rows) for one in self.measures)
        same = all(one is other for one, other in zip(each, self.measures, strict=True))
        return self if same else Stack(each)


def resolve(measure: str | Measure | Sequence[str | Measure]) -> Measure:
    """A measure from its name, itself, or a list of either."""
    if isinstance(measure, Measure):
        return measure
    if isinstance(measure, str):
        return Measure.from_alias(measure)
    if isinstance(measure, Sequence):
        return Stack(tuple(resolve(one) for one in measure))
    raise InvalidInput(f"measure= takes a name, a measure or a list of them, not {what_it_is(measure)}")


def parts_of(measure: Measure) -> tuple[Measure, ...]:
    """The measures of a list; one that is no list, by itself."""
    return measure.measures if isinstance(measure, Stack) else (measure,)


def for_system(measure: Measure, system: str | None) -> Measure:
    """The same measure, looking at another system; to be bound to a pool again."""
    if isinstance(measure, Stack):
        return Stack(tuple(for_system(one, system) for one in measure.measures))
    changed: Any = measure.spec if isinstance(measure, Bound) else measure
    if hasattr(changed, "system"):
        other: Measure = replace(changed, system=system)
        return other
    if hasattr(changed, "measure") and not hasattr(changed, "compared"):
        inside: Measure = replace(changed, measure=for_system(changed.measure, system))
        return inside
    raise InvalidInput(f"a measure {measure.alias!r} names its systems itself: system= cannot change them")
