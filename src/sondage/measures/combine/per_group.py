"""A measure in every level of a grouping column: losses by level, and the measure's map on each block.

An item counts in its own level and moves nothing else. So nothing here is as large as items times levels
unless it is asked for written out (``loss``, ``Influence.of``, ``moments``, ``jac``): sums over items are
kept level by level, designs look through ``folded`` at an item's own level alone, and estimates are made of
some levels at a time (``blocks``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from sondage.measures.base import FILLED_IN, Measure
from sondage.measures.combine.stack import resolve
from sondage.measures.losses.by_level import ByLevel
from sondage.measures.maps.base import Map, no_gaps
from sondage.pool.pool import Pool
from sondage.types import Array, Floats, Ints

By = str | tuple[str, ...]
"""A grouping column, or several whose levels are crossed."""


def crossing(by: Any) -> Any:
    """Columns of a crossing, each once; one is itself."""
    if not isinstance(by, (list, tuple)):
        return by
    names = tuple(dict.fromkeys(map(str, by)))
    return names[0] if len(names) == 1 else names


def by_words(by: By) -> str:
    """The name of a grouping: ``age``, or ``age × job``, as levels of a crossing are called."""
    return by if isinstance(by, str) else " × ".join(by)


@dataclass(frozen=True)
class PerGroup(Measure):
    """A measure in every level of a grouping column; ``by=("age", "job")`` crosses two.

    ``levels`` and what follows it are filled in by ``bind`` and by ``blocks``: the names of the levels, the
    number of the first of them, the measure of each where it has fewer losses there than in the pool, and
    all levels where these are some of them.
    """

    alias: ClassVar[str] = "per_group"
    label_kind = "any"
    measure: Measure
    by: By
    levels: tuple[str, ...] = ()
    start: int = field(default=0, kw_only=True, repr=False, metadata=FILLED_IN)
    narrow: tuple[Measure, ...] = field(
        default=(), kw_only=True, repr=False, compare=False, metadata=FILLED_IN
    )
    whole: PerGroup | None = field(default=None, kw_only=True, repr=False, compare=False, metadata=FILLED_IN)

    def __post_init__(self) -> None:
        object.__setattr__(self, "measure", resolve(self.measure))
        object.__setattr__(self, "by", crossing(self.by))

    @property
    def less_is_better(self) -> bool:
        return self.measure.less_is_better

    def bind(self, pool: Pool) -> PerGroup:
        measure, levels = self.measure.bind(pool), pool.levels(self.by)
        bound = replace(self, measure=measure, levels=levels, start=0, narrow=(), whole=None)
        if not measure.wide:
            return bound
        own = [measure.narrowed(rows) for _, _, rows in bound.losses.members(pool.rows(slice(None)))]
        plain = len(own) < len(levels) or all(one is measure for one in own)
        return bound if plain else replace(bound, narrow=tuple(own))

    @cached_property
    def losses(self) -> ByLevel:
        own = tuple(one.losses for one in self.narrow)
        return ByLevel(self.measure.losses, self.by, self.start, len(self.levels), own)

    @cached_property
    def map(self) -> Map:
        own = tuple(one.map for one in self.narrow)
        suffixes = [f"[{by_words(self.by)}={level}]" for level in self.levels]
        return Blocks(self.measure.map, suffixes, self.losses.starts, own)

    @property
    def layout(self) -> PerGroup:
        return self if self.whole is None else self.whole

    def blocks(self, most: int) -> Sequence[Measure]:
        """So many levels at a time that they have no more than ``most`` losses together."""
        if self.d <= most:
            return (self,)
        out, begin, starts = [], 0, self.losses.starts
        while begin < len(self.levels):
            end = int(np.searchsorted(starts, starts[begin] + most - 1, "right")) - 1
            end = min(max(end, begin + 1), len(self.levels))
            own, start = self.narrow[begin:end], self.start + begin
            begin, some = end, self.levels[begin:end]
            out.append(replace(self, levels=some, start=start, narrow=own, whole=self.layout))
        return out


class Blocks(Map):
    """A map on each block of the averages, after the weight: homogeneity makes a level's size cancel.

    ``starts`` are where the blocks begin, and where the last one ends; ``own`` the maps of the blocks where
    they differ in the number of their losses.
    """

    def __init__(self, inner: Map, suffixes: Sequence[str], starts: Ints, own: tuple[Map, ...]) -> None:
        self.inner, self.suffixes, self.starts, self.own = inner, tuple(suffixes), starts, own

    @property
    def names(self) -> tuple[str, ...]:
        """``recall[region=north]``, or ``recall[region × age=north × old]`` of a crossing."""
        return tuple(name + suffix for suffix in self.suffixes for name in self.inner.names)

    @property
    def m(self) -> int:
        return len(self.suffixes) * self.inner.m

    @property
    def range(self) -> tuple[Floats, Floats]:
        low, high = self.inner.range
        return np.tile(low, len(self.suffixes)), np.tile(high, len(self.suffixes))

    @property
    def apart(self) -> bool:
        return self.inner.apart

    def g(self, R: Array) -> Array:
        if self.own:
            pieces = zip(self.own, self._split(R), strict=True)
            return np.concatenate([one.g(piece) for one, piece in pieces], axis=-1)
        blocks = R[..., 1:].reshape(*R.shape[:-1], len(self.suffixes), -1)
        return self.inner.g(blocks).reshape(*R.shape[:-1], self.m)

    def jac(self, R: Floats) -> Floats:
        out = np.zeros((self.m, int(self.starts[-1])))
        m = self.inner.m
        if self.own:
            each: Any = [one.jac(piece) for one, piece in zip(self.own, self._split(R), strict=True)]
        else:
            each = self.inner.jacs(R[1:].reshape(len(self.suffixes), -1))
        for k, (begin, end) in enumerate(zip(self.starts[:-1], self.starts[1:], strict=True)):
            out[k * m : (k + 1) * m, begin:end] = each[k]
        return out

    def slope(self, R: Floats, weight: Floats | None = None) -> Any:
        """The slope of every level: (levels, m, d) where they are matrices of as many losses each."""
        if not self.own and type(self.inner).slope is Map.slope:
            J = self.inner.jacs(R[1:].reshape(len(self.suffixes), -1))
            if weight is not None:
                J = J * np.sqrt(weight).reshape(len(self.suffixes), -1, 1)
            return no_gaps(J)
        blocks = self._split(R)
        weights = [None] * len(blocks) if weight is None else np.split(weight, len(blocks))
        maps = self.own or (self.inner,) * len(blocks)
        return tuple(one.slope(block, mine) for one, block, mine in zip(maps, blocks, weights, strict=True))

    def _split(self, R: Array) -> list[Array]:
        return np.split(R, self.starts[:-1], axis=-1)[1:]
