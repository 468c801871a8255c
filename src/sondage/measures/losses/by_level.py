"""Losses by the level of a grouping column: an item has those of its own level, and zeros elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from sondage.measures.influence import ALL, Influence, Power, written_out
from sondage.measures.losses.base import Input, Losses, with_weights
from sondage.measures.losses.masked import Masked
from sondage.pool.division import compressed, crossed
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.types import Array, Bools, Floats, Ints


class ByLevel(Losses):
    """The weight, then the losses of every one of ``count`` levels from ``start`` on.

    ``own`` are the losses of each level where they differ, otherwise none.
    """

    plain: ClassVar[bool] = False

    def __init__(
        self, inner: Losses, by: str | Sequence[str], start: int, count: int, own: tuple[Losses, ...] = ()
    ) -> None:
        self.inner, self.by, self.start, self.count, self.own = inner, by, start, count, own
        self.wide = inner.wide
        self.starts = np.cumsum([1, *([one.d for one in own] or [inner.d] * count)])
        self.d = int(self.starts[-1])

    def inputs(self, pool: Pool) -> tuple[Input, ...]:
        groups = (self.by,) if isinstance(self.by, str) else self.by
        return (*self.inner.inputs(pool), *(Input("group", one) for one in groups))

    def signature(self, pool: Pool) -> Array | None:
        """The measure's, crossed with the level; None if it has none."""
        return None if self.inner.signature(pool) is None else with_weights(self.pattern(pool), pool)

    def needs(self, pool: Pool) -> Bools:
        return self.inner.needs(pool)

    @property
    def gaps(self) -> bool:
        return self.inner.gaps

    def pattern(self, pool: Pool) -> Array:
        return compressed(crossed([self.inner.pattern(pool), pool.rows(ALL).group(self.by)]))

    # ---- items by their level ----------------------------------------------------------------------

    def level(self, rows: Rows) -> Ints:
        """(n,) the level of each row; one more than the last where it is in none of them."""
        code = rows.group(self.by).astype(np.int64) - self.start
        return np.where((code >= 0) & (code < self.count), code, self.count)

    fold = level

    def touches(self, rows: Rows) -> Bools:
        return self.level(rows) < self.count

    @property
    def folded(self) -> Losses:
        return InAnyLevel(self)

    def inside(self, k: int) -> Losses:
        """The losses that items of the k-th level have."""
        return self.own[k] if self.own else self.inner

    def members(self, rows: Rows) -> Iterator[tuple[int, Ints, Rows]]:
        """Each level that has any of the rows, their places, and the rows themselves."""
        level = self.level(rows)
        order = np.argsort(level, kind="stable")
        begin = np.searchsorted(level[order], np.arange(self.count + 1))
        for k in np.flatnonzero(np.diff(begin)):
            place = order[begin[k] : begin[k + 1]]
            yield int(k), place, rows.take(place)

    def together(self, rows: Rows) -> bool:
        """Whether the losses inside are few and all there is: then levels need not be gone through."""
        return self.inner.plain and not self.wide and not self.own and rows.labels.kind != "vector"

    def sum_by_level(self, level: Ints, values: Floats) -> Floats:
        """(levels, k) sums of (n, k) values by level."""
        columns = [np.bincount(level, weights=column, minlength=self.count + 1)[:-1] for column in values.T]
        return np.stack(columns, axis=1).astype(np.float64, copy=False)

    # ---- losses and sums of them -------------------------------------------------------------------

    def loss(self, rows: Rows, y: Floats) -> Floats:
        shape = len(rows), np.shape(y)[-1]
        out = np.zeros((*shape, self.d))
        out[..., 0] = rows.weight[:, None]
        if not self.own:
            level, inner = self.level(rows), self.inner.loss(rows, y)
            mine = np.flatnonzero(level < self.count)
            blocks = out[..., 1:].reshape(*shape, self.count, self.inner.d)  # a view: one axis is split
            blocks[mine, :, level[mine]] = inner[mine]
            return out
        for k, place, some in self.members(rows):
            loss = self.own[k].loss(some, of_rows(y, place, rows))
            out[place, :, self.starts[k] : self.starts[k + 1]] = loss
        return out

    def settled(self, rows: Rows) -> Bools:
        """Where the measure is, and outside of its levels."""
        return np.asarray(self.inner.settled(rows) | (self.level(rows) == self.count))

    def expected(self, rows: Rows, y: Floats, weights: Floats) -> Floats:
        alike = not written_out(y) and not self.own and not self.wide
        if not self.together(rows) and not alike:
            return super().expected(rows, y, weights)
        own, level = self.inner.expected(rows, y, weights), self.level(rows)
        mine = np.flatnonzero(level < self.count)
        out = np.zeros((len(rows), self.d))
        out[:, 0] = own[:, 0]
        out[:, 1:].reshape(len(rows), self.count, -1)[mine, level[mine]] = own[mine]
        return out

    def second_moment(self, rows: Rows, y: Floats, weights: Floats, factor: Floats) -> Floats:
        if not written_out(y) and not self.wide:
            out = np.zeros((self.d, self.d))
            out[0, 0] = factor @ np.square(rows.weight)
            for k, place, some in self.members(rows):
                mine, labels = slice(*self.starts[k : k + 2]), of_rows(y, place, rows)
                squares = self.inside(k).second_moment(some, labels, weights[place], factor[place])
                out[mine, mine], out[0, mine], out[mine, 0] = squares, squares[0], squares[0]
            return out
        if not self.together(rows):
            return super().second_moment(rows, y, weights, factor)
        loss, level, d = self.inner.loss(rows, y), self.level(rows), self.inner.d
        share = np.broadcast_to(weights, loss.shape[:2]) * factor[:, None]
        each = np.einsum("ns,nsd,nse->nde", share, loss, loss).reshape(len(rows), -1)
        squares = self.sum_by_level(level, each).reshape(-1, d, d)
        out = np.zeros((self.d, self.d))
        own = np.arange(self.count)
        out[1:, 1:].reshape(self.count, d, self.count, d)[own, :, own] = squares
        out[0, 1:] = out[1:, 0] = squares[:, 0].ravel()  # the first loss of a level is the weight
        out[0, 0] = share.sum(axis=1) @ np.square(rows.weight)
        return out

    def total(self, rows: Rows, y: Floats, weights: Floats, factor: Floats | None = None) -> Floats:
        out = np.zeros(self.d)
        each = np.ones(len(rows)) if factor is None else factor
        # Where labels are not written out, the weights say nothing of the row's own.
        share = weights.sum(axis=1) * each if written_out(y) else each
        if self.together(rows):
            found = np.einsum("ns,nsd->nd", weights, self.inner.loss(rows, y)) * each[:, None]
            out[1:] = self.sum_by_level(self.level(rows), found).ravel()
        else:
            for k, place, some in self.members(rows):
                times = None if factor is None else factor[place]
                mine = self.inside(k).total(some, of_rows(y, place, rows), weights[place], times)
                out[self.starts[k] : self.starts[k + 1]] = mine
        out[0] = share @ rows.weight
        return out

    def _along(self, slope: Any) -> Influence:
        return OnOwnLevel(self, slope)


class InAnyLevel(Masked):
    """The weight, and the losses in the item's own level, whichever that is."""

    plain: ClassVar[bool] = False

    def __init__(self, groups: ByLevel) -> None:
        self.groups, self.inner, self.wide, self.d = groups, groups.inner, groups.wide, 1 + groups.inner.d

    def member(self, rows: Rows) -> Bools:
        return self.groups.touches(rows)

    def inputs(self, pool: Pool) -> tuple[Input, ...]:
        return self.groups.inputs(pool)

    def loss(self, rows: Rows, y: Floats) -> Floats:
        inner = self.groups.inner.loss(rows, y)
        return np.concatenate([inner[..., :1], inner * self.groups.touches(rows)[:, None, None]], axis=-1)

    def total(self, rows: Rows, y: Floats, weights: Floats, factor: Floats | None = None) -> Floats:
        if written_out(y) or self.wide:
            return super().total(rows, y, weights, factor)
        each = self.expected(rows, y, weights)
        return np.asarray(each.sum(axis=0) if factor is None else factor @ each)


class Own(Influence):
    """The influence on an item's own level: the levels laid over each other."""

    def __init__(self, losses: ByLevel, slope: Any) -> None:
        self.losses, self.slope = losses, slope
        stacked = isinstance(slope, np.ndarray) and losses.inner.plain and not losses.own
        self.each = None if stacked else [losses.inside(k).along(one) for k, one in enumerate(slope)]
        self.m = slope.shape[1] if self.each is None else self.each[0].m

    def of(self, rows: Rows, y: Floats, which: slice = ALL) -> Floats:
        groups = self.losses
        out = np.zeros((len(rows), np.shape(y)[-1], self.m))
        if self.each is None:
            level = groups.level(rows)
            mine = np.flatnonzero(level < groups.count)
            loss = groups.inner.loss(rows.take(mine), of_rows(y, mine, rows))
            out[mine] = np.einsum("nsd,nmd->nsm", loss, self.slope[level[mine]], optimize=True)
            return out[..., which]
        for k, place, some in groups.members(rows):
            out[place] = self.each[k].of(some, of_rows(y, place, rows))
        return out[..., which]

    def moments(self, rows: Rows, y: Floats, weights: Floats, which: slice = ALL) -> tuple[Floats, Floats]:
        if self.each is None:
            return super().moments(rows, y, weights, which)
        mean, square = np.zeros((2, len(rows), self.m))
        for k, place, some in self.losses.members(rows):
            found = self.each[k].moments(some, of_rows(y, place, rows), weights[place])
            mean[place], square[place] = found
        return mean[:, which], square[:, which]

    def ends(self, rows: Rows, which: slice = ALL) -> tuple[Floats, Floats]:
        if self.each is None:
            return super().ends(rows, which)
        low, high = np.zeros((2, len(rows), self.m))
        for k, place, some in self.losses.members(rows):
            low[place], high[place] = self.each[k].ends(some)
        return low[:, which], high[:, which]

    def affine(self, rows: Rows, which: slice = ALL) -> tuple[Floats, Floats]:
        assert self.each is not None
        constant = np.zeros((len(rows), self.m))
        factor = np.zeros((len(rows), self.m, len(rows.labels.components)))
        for k, place, some in self.losses.members(rows):
            constant[place], factor[place] = self.each[k].affine(some)
        return constant[:, which], factor[:, which]

    def fold(self, rows: Rows) -> Ints:
        return self.losses.level(rows)


class OnOwnLevel(Influence):
    """The influence on the coordinates of every level: that on the item's own, zero on the others."""

    def __init__(self, losses: ByLevel, slope: Any) -> None:
        self.losses, self.own = losses, Own(losses, slope)
        self.m = losses.count * self.own.m

    @property
    def folded(self) -> Influence:
        return self.own

    def fold(self, rows: Rows) -> Ints:
        return self.losses.level(rows)

    def _members(self, rows: Rows, which: slice) -> Ints:
        """Places of the rows whose level has any of some coordinates."""
        start, stop, _ = which.indices(self.m)
        level = self.losses.level(rows)
        return np.flatnonzero((level >= start // self.own.m) & (level < -(-stop // self.own.m)))

    def _spread_out(self, rows: Rows, place: Ints, own: Floats, which: slice) -> Floats:
        """(n, coordinates, ...) from (rows at ``place``, m of one level, ...) numbers: zero elsewhere."""
        start, stop, _ = which.indices(self.m)
        level = self.losses.level(rows)[place]
        out = np.zeros((len(rows), stop - start, *own.shape[2:]))
        for j in range(self.own.m):
            column = level * self.own.m + j - start
            mine = np.flatnonzero((column >= 0) & (column < stop - start))
            out[place[mine], column[mine]] = own[mine, j]
        return out

    def of(self, rows: Rows, y: Floats, which: slice = ALL) -> Floats:
        place = self._members(rows, which)
        own = self.own.of(rows.take(place), of_rows(y, place, rows))
        return np.swapaxes(self._spread_out(rows, place, np.swapaxes(own, 1, 2), which), 1, 2)

    def moments(self, rows: Rows, y: Floats, weights: Floats, which: slice = ALL) -> tuple[Floats, Floats]:
        place = self._members(rows, which)
        mean, square = self.own.moments(rows.take(place), of_rows(y, place, rows), weights[place])
        return self._spread_out(rows, place, mean, which), self._spread_out(rows, place, square, which)

    def ends(self, rows: Rows, which: slice = ALL) -> tuple[Floats, Floats]:
        place = self._members(rows, which)
        low, high = self.own.ends(rows.take(place))
        return self._spread_out(rows, place, low, which), self._spread_out(rows, place, high, which)

    def affine(self, rows: Rows, which: slice = ALL) -> tuple[Floats, Floats]:
        place = self._members(rows, which)
        constant, factor = self.own.affine(rows.take(place))
        return self._spread_out(rows, place, constant, which), self._spread_out(rows, place, factor, which)

    def square_sum(
        self, rows: Rows, y: Floats, weights: Floats, factor: Floats, which: slice = ALL
    ) -> Floats:
        place = self._members(rows, which)
        _, square = self.own.moments(rows.take(place), of_rows(y, place, rows), weights[place])
        level = self.losses.level(rows)[place]
        return self.losses.sum_by_level(level, square * factor[place, None]).ravel()[which]

    def spread(
        self, rows: Rows, y: Floats, weights: Floats, *, centre: Floats | None = None, power: Power = 2
    ) -> Floats:
        """On the item's own level; around a centre on all of them, written out."""
        if centre is None:
            return self.own.spread(rows, y, weights, power=power)
        return super().spread(rows, y, weights, centre=centre, power=power)


def of_rows(y: Floats, place: Ints, rows: Rows) -> Floats:
    """Labels of some rows: ``y`` is for all alike, or has a row for each."""
    y = np.asarray(y)
    return y[place] if y.ndim > 1 and len(y) == len(rows) else y
