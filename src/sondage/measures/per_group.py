"""A measure in every level of a grouping column.

An item counts in its own level and moves nothing else. So nothing here is as large as items times levels
unless it is asked for written out (``loss``, ``influence``, ``moments``, ``jac``): sums over items are kept
level by level, designs look through ``folded`` at an item's own level alone, and estimates are made of
some levels at a time (``blocks``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np

from sondage.measures.base import ALL, Input, Measure, complex_step, weighted_moments
from sondage.measures.compose import made
from sondage.pool.division import compressed, crossed
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.types import Array, Bools, Floats, Ints

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
    start: int = field(default=0, kw_only=True, repr=False)
    narrow: tuple[Measure, ...] = field(default=(), kw_only=True, repr=False, compare=False)
    whole: PerGroup | None = field(default=None, kw_only=True, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "measure", made(self.measure))
        object.__setattr__(self, "by", crossing(self.by))

    def bind(self, pool: Pool) -> PerGroup:
        """Bind the measure and learn the levels."""
        measure, group = self.measure.bind(pool), pool.group(self.by)
        bound = replace(self, measure=measure, levels=group.levels, start=0, narrow=(), whole=None)
        if not measure.wide:
            return bound
        own = [measure.narrowed(rows) for _, _, rows in bound.members(pool.rows(ALL))]
        plain = len(own) < len(group.levels) or all(one is measure for one in own)
        return bound if plain else replace(bound, narrow=tuple(own))

    def config(self) -> dict[str, Any]:
        """What the user gave."""
        config = super().config()
        for name in ("start", "narrow", "whole"):
            del config["options"][name]
        return config

    @property
    def wide(self) -> bool:  # type: ignore[override]
        """As the measure inside."""
        return self.measure.wide

    @property
    def names(self) -> tuple[str, ...]:
        """``recall[region=north]``, or ``recall[region × age=north × old]`` of a crossing."""
        by = by_words(self.by)
        return tuple(f"{name}[{by}={level}]" for level in self.levels for name in self.measure.names)

    @property
    def m(self) -> int:
        """The coordinates of every level."""
        return len(self.levels) * self.measure.m

    @property
    def d(self) -> int:
        """The weight, and the losses of every level."""
        return int(self._ends[-1])

    @cached_property
    def _ends(self) -> Ints:
        """(levels + 1,) where the losses of each level begin, and where the last ones end."""
        sizes = [one.d for one in self.narrow] or [self.measure.d] * len(self.levels)
        return np.cumsum([1, *sizes])

    @property
    def range(self) -> tuple[Floats, Floats]:
        """The range of every level."""
        low, high = self.measure.range
        return np.tile(low, len(self.levels)), np.tile(high, len(self.levels))

    def inputs(self, pool: Pool) -> tuple[Input, ...]:
        """The measure's, and the group or those crossed."""
        groups = (self.by,) if isinstance(self.by, str) else self.by
        return (*self.measure.inputs(pool), *(Input("group", one) for one in groups))

    def signature(self, pool: Pool) -> Array | None:
        """The measure's, crossed with the level; None if it has none."""
        return None if self.measure.signature(pool) is None else super().signature(pool)

    def pattern(self, pool: Pool) -> Array:
        """The measure's, crossed with the level."""
        level = self.layout.level(pool.rows(ALL))
        return compressed(crossed([self.measure.pattern(pool), level]))

    @property
    def layout(self) -> PerGroup:
        """All levels."""
        return self if self.whole is None else self.whole

    def touches(self, rows: Rows) -> Bools:
        """Whether it is in one of the levels."""
        return self.level(rows) < len(self.levels)

    def blocks(self, most: int) -> Sequence[Measure]:
        """So many levels at a time that they have no more than ``most`` losses together."""
        if self.d <= most:
            return (self,)
        out, begin = [], 0
        while begin < len(self.levels):
            end = int(np.searchsorted(self._ends, self._ends[begin] + most - 1, "right")) - 1
            end = min(max(end, begin + 1), len(self.levels))
            own, start = self.narrow[begin:end], self.start + begin
            begin, some = end, self.levels[begin:end]
            out.append(replace(self, levels=some, start=start, narrow=own, whole=self.layout))
        return out

    # ---- items by their level ----------------------------------------------------------------------

    def level(self, rows: Rows) -> Ints:
        """(n,) the level of each row; one more than the last where it is in none of them."""
        code = rows.group(self.by).astype(np.int64) - self.start
        return np.where((code >= 0) & (code < len(self.levels)), code, len(self.levels))

    def fold(self, rows: Rows) -> Ints:
        """The level."""
        return self.level(rows)

    @property
    def folded(self) -> Measure:
        """The levels laid over each other."""
        return Folded(self)

    def inside(self, k: int) -> Measure:
        """The measure of one level."""
        return self.narrow[k] if self.narrow else self.measure

    def members(self, rows: Rows, which: tuple[int, int] | None = None) -> Iterator[tuple[int, Ints, Rows]]:
        """Each level that has any of the rows (or of some levels), their places, and the rows themselves."""
        level = self.level(rows)
        order = np.argsort(level, kind="stable")
        low, high = (0, len(self.levels)) if which is None else which
        begin = np.searchsorted(level[order], np.arange(low, high + 1))
        for k in np.flatnonzero(np.diff(begin)):
            place = order[begin[k] : begin[k + 1]]
            yield low + int(k), place, rows.take(place)

    def _plain(self, rows: Rows) -> bool:
        """Whether the losses inside are few and all that the measure is made of: then levels go together."""
        kind = type(self.measure)
        own = all(
            getattr(kind, name) is getattr(Measure, name)
            for name in ("total", "slope", "influence", "moments", "expected_total")
        )
        return own and not self.wide and rows.labels.kind != "vector"

    def _by_level(self, level: Ints, values: Floats) -> Floats:
        """(levels, k) sums of (n, k) values by level."""
        count = len(self.levels) + 1
        columns = [np.bincount(level, weights=column, minlength=count)[:-1] for column in values.T]
        return np.stack(columns, axis=1).astype(np.float64, copy=False)

    # ---- losses and sums of them -------------------------------------------------------------------

    def loss(self, rows: Rows, y: Floats) -> Floats:
        """The item's weight, then its losses in its own level and zeros in the others."""
        shape = len(rows), np.shape(y)[-1]
        out = np.zeros((*shape, self.d))
        out[..., 0] = rows.weight[:, None]
        if not self.narrow:
            level, inner = self.level(rows), self.measure.loss(rows, y)
            blocks = out[..., 1:].reshape(*shape, len(self.levels), self.measure.d)
            mine = np.flatnonzero(level < len(self.levels))
            blocks[mine, :, level[mine]] = inner[mine]
            out[..., 1:] = blocks.reshape(*shape, self.d - 1)
            return out
        for k, place, some in self.members(rows):
            out[place, :, self._ends[k] : self._ends[k + 1]] = self.narrow[k].loss(some, _of(y, place, rows))
        return out

    def settled(self, rows: Rows) -> Bools:
        """Where the measure is, and outside of its levels."""
        return np.asarray(self.measure.settled(rows) | (self.level(rows) == len(self.levels)))

    def expected(self, rows: Rows, y: Floats, weights: Floats) -> Floats:
        """The weight, and the expected losses in the item's own level."""
        if not self._plain(rows) or self.narrow:
            return super().expected(rows, y, weights)
        own = self.measure.expected(rows, y, weights)
        out = np.zeros((len(rows), self.d))
        out[:, 0] = own[:, 0]
        mine = np.flatnonzero(self.touches(rows))
        first = 1 + self.level(rows)[mine] * self.measure.d
        for j in range(self.measure.d):
            out[mine, first + j] = own[mine, j]
        return out

    def second_moment(self, rows: Rows, y: Floats, weights: Floats, factor: Floats) -> Floats:
        """Of the losses of every level, and of the weight with them: losses of two levels never meet."""
        if not self._plain(rows) or self.narrow:
            return super().second_moment(rows, y, weights, factor)
        loss, level, d = self.measure.loss(rows, y), self.level(rows), self.measure.d
        share = np.broadcast_to(weights, loss.shape[:2]) * factor[:, None]
        each = np.einsum("ns,nsd,nse->nde", share, loss, loss).reshape(len(rows), -1)
        squares = self._by_level(level, each).reshape(-1, d, d)
        out = np.zeros((self.d, self.d))
        blocks = out[1:, 1:].reshape(len(self.levels), d, len(self.levels), d)
        own = np.arange(len(self.levels))
        blocks[own, :, own] = squares
        out[1:, 1:] = blocks.reshape(self.d - 1, self.d - 1)
        out[0, 1:] = out[1:, 0] = squares[:, 0].ravel()  # the first loss of a level is the weight
        out[0, 0] = share.sum(axis=1) @ np.square(rows.weight)
        return out

    def total(self, rows: Rows, y: Floats, weights: Floats) -> Floats:
        """The weight, and the totals of every level."""
        out = np.zeros(self.d)
        out[0] = (weights * rows.weight[:, None]).sum()
        if self._plain(rows):
            each = np.einsum("ns,nsd->nd", weights, self.measure.loss(rows, y))
            out[1:] = self._by_level(self.level(rows), each).ravel()
            return out
        for k, place, some in self.members(rows):
            mine = self.inside(k).total(some, _of(y, place, rows), weights[place])
            out[self._ends[k] : self._ends[k + 1]] = mine
        return out

    def expected_total(self, rows: Rows, y: Floats, weights: Floats, factor: Floats) -> Floats:
        """The weight, and the expected totals of every level."""
        if self._plain(rows):
            return self.total(rows, y, weights * factor[:, None])
        out = np.zeros(self.d)
        for k, place, some in self.members(rows):
            mine = self.inside(k).expected_total(some, _of(y, place, rows), weights[place], factor[place])
            out[self._ends[k] : self._ends[k + 1]] = mine
        out[0] = self._weight(rows, y, weights, factor)
        return out

    def _weight(self, rows: Rows, y: Floats, weights: Floats, factor: Floats) -> float:
        """The weight of the rows; where labels are not written out, ``weights`` says nothing of it."""
        share = weights.sum(axis=1) if np.shape(y)[-1] else np.ones(len(rows))
        return float((share * factor) @ rows.weight)

    # ---- the map -----------------------------------------------------------------------------------

    def g(self, R: Array) -> Array:
        """The measure of every level: homogeneity makes the level's size cancel."""
        if self.narrow:
            pieces = zip(self.narrow, self._split(R), strict=True)
            return np.concatenate([one.g(piece) for one, piece in pieces], axis=-1)
        blocks = R[..., 1:].reshape(*R.shape[:-1], len(self.levels), self.measure.d)
        return self.measure.g(blocks).reshape(*R.shape[:-1], self.m)

    def _split(self, R: Array) -> list[Array]:
        """The losses of each level."""
        return np.split(R, self._ends[:-1], axis=-1)[1:]

    def _jacobians(self, R: Floats) -> Floats:
        """(levels, m, d) the derivatives of every level, none of them narrowed."""
        blocks = R[1:].reshape(len(self.levels), self.measure.d)
        if type(self.measure).jac is Measure.jac:
            return complex_step(self.measure.g, blocks)
        return np.stack([self.measure.jac(block) for block in blocks])

    def jac(self, R: Floats) -> Floats:
        """The derivatives of every level, as blocks."""
        out = np.zeros((self.m, self.d))
        m = self.measure.m
        each = self._jacobians(R) if not self.narrow else None
        for k, (begin, end) in enumerate(zip(self._ends[:-1], self._ends[1:], strict=True)):
            block = self.narrow[k].jac(R[begin:end]) if each is None else each[k]
            out[k * m : (k + 1) * m, begin:end] = block
        return out

    def slope(self, R: Floats, weight: Floats | None = None) -> Any:
        """The slope of every level: (levels, m, d) where they are matrices of few losses."""
        kind = type(self.measure)
        if kind.slope is Measure.slope and not self.wide:
            J = self._jacobians(R)
            if weight is not None:
                J = J * np.sqrt(weight).reshape(len(self.levels), -1, 1)
            return np.nan_to_num(J, nan=0.0, posinf=0.0, neginf=0.0)
        blocks = self._split(R)
        weights = [None] * len(blocks) if weight is None else np.split(weight, len(blocks))
        return tuple(
            self.inside(k).slope(block, mine)
            for k, (block, mine) in enumerate(zip(blocks, weights, strict=True))
        )

    # ---- what an item moves ------------------------------------------------------------------------

    def own_influence(
        self, rows: Rows, y: Floats, slope: Any, which: tuple[int, int] | None = None
    ) -> Floats:
        """(n, S, m of the measure) influence on the item's own level; zero if that is none (of some)."""
        out = np.zeros((len(rows), np.shape(y)[-1], self.measure.m))
        if self._plain(rows):
            level = self.level(rows)
            low, high = (0, len(self.levels)) if which is None else which
            mine = np.flatnonzero((level >= low) & (level < high))
            loss = self.measure.loss(rows.take(mine), _of(y, mine, rows))
            out[mine] = np.einsum("nsd,nmd->nsm", loss, slope[level[mine]], optimize=True)
            return out
        for k, place, some in self.members(rows, which):
            out[place] = self.inside(k).influence(some, _of(y, place, rows), slope[k])
        return out

    def own_moments(
        self, rows: Rows, y: Floats, weights: Floats, slope: Any, which: tuple[int, int] | None = None
    ) -> tuple[Floats, Floats]:
        """(n, m of the measure) twice: moments on the item's own level; zero if that is none (of some)."""
        if self._plain(rows):
            return weighted_moments(self.own_influence(rows, y, slope, which), weights)
        mean, square = np.zeros((2, len(rows), self.measure.m))
        for k, place, some in self.members(rows, which):
            mean[place], square[place] = self.inside(k).moments(
                some, _of(y, place, rows), weights[place], slope[k]
            )
        return mean, square

    def _spread_out(self, rows: Rows, own: Floats, which: slice) -> Floats:
        """(n, ..., coordinates) from (n, ..., m of the measure) numbers of the own level: zero elsewhere."""
        start, stop, _ = which.indices(self.m)
        m, level = self.measure.m, self.level(rows)
        out = np.zeros((*own.shape[:-1], stop - start))
        for j in range(m):
            column = level * m + j - start
            mine = np.flatnonzero((column >= 0) & (column < stop - start) & (level < len(self.levels)))
            out[mine, ..., column[mine]] = own[mine, ..., j]
        return out

    def _touched(self, which: slice) -> tuple[int, int]:
        """The levels that have any of some coordinates."""
        start, stop, _ = which.indices(self.m)
        return start // self.measure.m, -(-stop // self.measure.m)

    def influence(self, rows: Rows, y: Floats, slope: Any, which: slice = ALL) -> Floats:
        """The influence on the item's own level, zero on the others."""
        return self._spread_out(rows, self.own_influence(rows, y, slope, self._touched(which)), which)

    def moments(
        self, rows: Rows, y: Floats, weights: Floats, slope: Any, which: slice = ALL
    ) -> tuple[Floats, Floats]:
        """The moments on the item's own level, zero on the others."""
        own = self.own_moments(rows, y, weights, slope, self._touched(which))
        mean, square = (self._spread_out(rows, one, which) for one in own)
        return mean, square

    def ends(self, rows: Rows, slope: Any, which: slice = ALL) -> tuple[Floats, Floats]:
        """Of the influence on the item's own level, zero on the others."""
        low, high = np.zeros((2, len(rows), self.measure.m))
        if self._plain(rows):
            influence = self.own_influence(rows, np.arange(rows.labels.size, dtype=np.float64), slope)
            low, high = influence.min(axis=1), influence.max(axis=1)
        else:
            for k, place, some in self.members(rows, self._touched(which)):
                low[place], high[place] = self.inside(k).ends(some, slope[k])
        return self._spread_out(rows, low, which), self._spread_out(rows, high, which)

    def square_sum(
        self, rows: Rows, y: Floats, weights: Floats, slope: Any, factor: Floats, which: slice = ALL
    ) -> Floats:
        """The sums of every level."""
        _, square = self.own_moments(rows, y, weights, slope, self._touched(which))
        return self._by_level(self.level(rows), square * factor[:, None]).ravel()[which]

    def spread(
        self,
        rows: Rows,
        y: Floats,
        weights: Floats,
        slope: Any,
        *,
        centre: Floats | None = None,
        power: Literal[1, 2] = 2,
    ) -> Floats:
        """On the item's own level; around a centre on all of them, written out."""
        if centre is None:
            return self.folded.spread(rows, y, weights, slope, power=power)
        return super().spread(rows, y, weights, slope, centre=centre, power=power)

    def affine(self, rows: Rows, slope: Any, which: slice = ALL) -> tuple[Floats, Floats]:
        """The form on the item's own level, zero on the others."""
        m, components = self.measure.m, len(rows.labels.components)
        constant, factor = np.zeros((len(rows), m)), np.zeros((len(rows), components, m))
        for k, place, some in self.members(rows, self._touched(which)):
            constant[place], each = self.inside(k).affine(some, slope[k])
            factor[place] = np.swapaxes(each, 1, 2)
        wide = self._spread_out(rows, factor, which)
        return self._spread_out(rows, constant, which), np.swapaxes(wide, 1, 2)


@dataclass(frozen=True, eq=False)
class Folded(Measure):
    """The levels of a grouping laid over each other: what an item moves in its own level, and where that is.

    Sums over all coordinates are the same as over those of the item's own level. Slopes are the grouping's.
    """

    label_kind = "any"
    groups: PerGroup

    @property
    def wide(self) -> bool:  # type: ignore[override]
        """As the measure inside."""
        return self.groups.wide

    @property
    def names(self) -> tuple[str, ...]:
        """The measure's."""
        return self.groups.measure.names

    @property
    def d(self) -> int:
        """The weight, and the losses of one level."""
        return 1 + self.groups.measure.d

    @property
    def range(self) -> tuple[Floats, Floats]:
        """The measure's."""
        return self.groups.measure.range

    def inputs(self, pool: Pool) -> tuple[Input, ...]:
        """The grouping's."""
        return self.groups.inputs(pool)

    def loss(self, rows: Rows, y: Floats) -> Floats:
        """The weight, and the losses in the item's own level, whichever that is."""
        inner = self.groups.measure.loss(rows, y)
        member = self.groups.level(rows) < len(self.groups.levels)
        return np.concatenate([inner[..., :1], inner * member[:, None, None]], axis=-1)

    def g(self, R: Array) -> Array:
        """The measure of one level."""
        return self.groups.measure.g(R[..., 1:])

    def influence(self, rows: Rows, y: Floats, slope: Any, which: slice = ALL) -> Floats:
        """On the item's own level."""
        return self.groups.own_influence(rows, y, slope)[..., which]

    def moments(
        self, rows: Rows, y: Floats, weights: Floats, slope: Any, which: slice = ALL
    ) -> tuple[Floats, Floats]:
        """On the item's own level."""
        mean, square = self.groups.own_moments(rows, y, weights, slope)
        return mean[:, which], square[:, which]


def _of(y: Floats, place: Ints, rows: Rows) -> Floats:
    """Labels of some rows: ``y`` is for all alike, or has a row for each."""
    y = np.asarray(y)
    return y[place] if y.ndim > 1 and len(y) == len(rows) else y
