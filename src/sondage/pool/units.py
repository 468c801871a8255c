"""Units: the rows a step works on. A cell of like items, or one item where nothing pools."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Protocol

import numpy as np

from sondage.pool.keyed_order import LazyOrder, keyed_hash
from sondage.pool.pool import Pool
from sondage.streams import unit_interval
from sondage.types import Array, Floats, Ints

REPRESENTATIVES = 16
"""Items that stand for a cell whose losses differ inside."""
_FEW = 16
_BLOCK = 1 << 16
_READY, _MOST_READY = 64, 1 << 20
"""Items of a cell, and of all, that are put into keyed order at once; more only where they are asked for."""


class Units(Protocol):
    """Rows a step works on. Made once per study; numbered by content, never by row order.

    Contract: every item is in exactly one unit; ``nth(unit, k)`` for k < size lists the items of a
    unit once each, in the order of a keyed hash of seed and id; ``size`` sums to the pool's size.
    """

    itemwise: bool

    @property
    def count(self) -> int:
        """Number of units."""

    @property
    def size(self) -> Ints:
        """(U,) items in each unit."""

    @property
    def cost(self) -> Floats:
        """(U,) mean cost of a label in each unit."""

    @property
    def dearest(self) -> Floats:
        """(U,) greatest cost of a label in each unit."""

    @property
    def codes(self) -> Array:
        """(N,) unit of every row, in the smallest type that holds it."""

    def cost_of(self, rows: Ints) -> Floats:
        """What the label of each row costs."""

    def unit_of(self, rows: Ints) -> Ints:
        """The unit of each row."""

    def nth(self, unit: int, k: int) -> int:
        """The k-th row of a unit in keyed order."""

    def rows_at(self, unit: Ints, k: Ints) -> Ints:
        """``nth`` of many units at once."""

    def representatives(self) -> tuple[Ints, Ints]:
        """Rows that stand for the units, and the unit that each stands for."""


class CellUnits:
    """Cells: items with the same stratum, signature and cost band.

    >>> pool = Pool.from_arrays(prediction=[0, 1, 0, 1])
    >>> units = CellUnits(pool, np.zeros(4, int), pool.system().prediction, seed=1)
    >>> units.size.tolist()
    [2, 2]
    """

    itemwise = False

    def __init__(
        self,
        pool: Pool,
        strata: Array,
        signature: Array | None = None,
        *,
        seed: int,
        by_cost: bool = True,
    ) -> None:
        self._pool = pool
        self._seed = seed
        self._exact = signature is not None
        self._strata = strata
        levels = [strata, signature, cost_band(pool.cost) if by_cost else None]
        self.codes = compressed(crossed([one for one in levels if one is not None]))
        self._orders: dict[int, LazyOrder] = {}

    @cached_property
    def size(self) -> Ints:
        """(U,) items in each cell."""
        return np.bincount(self.codes)

    @cached_property
    def stratum(self) -> Ints:
        """(U,) the stratum that each cell is a part of."""
        first, _ = _spread_over(self._grouped, self.size, 1)
        return np.asarray(self._strata[first], dtype=np.int64)

    @property
    def count(self) -> int:
        """Number of cells."""
        return len(self.size)

    @cached_property
    def cost(self) -> Floats:
        """(U,) mean cost of a label in each cell."""
        if self._pool.cost is None:
            return np.ones(self.count)
        return np.bincount(self.codes, weights=self._pool.cost) / self.size

    @cached_property
    def dearest(self) -> Floats:
        """(U,) greatest cost of a label in each cell."""
        if self._pool.cost is None:
            return np.ones(self.count)
        most = np.zeros(self.count)
        np.maximum.at(most, self.codes, self._pool.cost)
        return most

    def cost_of(self, rows: Ints) -> Floats:
        """What the label of each row costs."""
        return costs_at(self._pool, rows)

    def unit_of(self, rows: Ints) -> Ints:
        """The cell of each row."""
        return self.codes[rows].astype(np.int64)

    def members(self, unit: int) -> Ints:
        """All rows of a cell, in the order of ids."""
        begin = self._starts[unit]
        return self._grouped[begin : begin + self.size[unit]]

    def nth(self, unit: int, k: int) -> int:
        """The k-th row of a cell in keyed order."""
        begin, count, rows = self._first
        if k < count[unit]:
            return int(rows[begin[unit] + k])
        return int(self.members(unit)[self._order(unit)[k]])

    def rows_at(self, unit: Ints, k: Ints) -> Ints:
        """``nth`` of many cells at once."""
        begin, count, rows = self._first
        ready = k < count[unit]
        out = np.empty(len(unit), dtype=np.int64)
        out[ready] = rows[begin[unit[ready]] + k[ready]]
        for j in np.flatnonzero(~ready).tolist():
            out[j] = self.nth(int(unit[j]), int(k[j]))
        return out

    @cached_property
    def _first(self) -> tuple[Ints, Ints, Ints]:
        """Where the first rows of each cell in keyed order begin, how many they are, and these rows.

        Found in one pass, so that no later step depends on the size of a cell: they are all the rows with a
        key below a limit that leaves about ``_READY``.
        """
        ready = min(_READY, max(_MOST_READY // self.count, 1))
        limit = np.full(self.count, 2**64 - 1, dtype=np.uint64)
        larger = self.size > ready
        limit[larger] = np.floor(ready / self.size[larger] * 2.0**64).astype(np.uint64)
        pieces, keys = [], []
        for start in range(0, len(self.codes), _BLOCK):
            key = keyed_hash(self._seed, self._pool.ids[start : start + _BLOCK])
            kept = np.flatnonzero(key <= limit[self.codes[start : start + _BLOCK]])
            pieces.append(kept + start)
            keys.append(key[kept])
        rows, key = np.concatenate(pieces), np.concatenate(keys)
        cell = self.codes[rows]
        count = np.bincount(cell, minlength=self.count)
        # Rows are in the order of ids, so a stable sort breaks equal keys by id.
        return np.cumsum(count) - count, count, rows[np.lexsort((key, cell))]

    def _order(self, unit: int) -> LazyOrder:
        """A cell in keyed order, for those that are read on and on."""
        if unit not in self._orders:
            rows = self.members(unit)
            self._orders[unit] = LazyOrder(len(rows), lambda: keyed_hash(self._seed, self._pool.ids[rows]))
        return self._orders[unit]

    def representatives(self) -> tuple[Ints, Ints]:
        """One row per cell if all its items have the same losses, otherwise some spread over it."""
        return _spread_over(self._grouped, self.size, 1 if self._exact else REPRESENTATIVES)

    @cached_property
    def _grouped(self) -> Array:
        order = np.argsort(self.codes, kind="stable")
        return order.astype(np.int32) if len(order) < 2**31 else order

    @cached_property
    def _starts(self) -> Ints:
        return np.cumsum(self.size) - self.size


class ItemUnits:
    """Every item is its own unit: for static designs that look at each item once."""

    itemwise = True

    def __init__(self, pool: Pool, seed: int) -> None:
        self._pool = pool
        self._seed = seed

    @property
    def count(self) -> int:
        """Number of items."""
        return len(self._pool)

    @property
    def size(self) -> Ints:
        """Ones."""
        return np.ones(self.count, dtype=np.int64)

    @property
    def cost(self) -> Floats:
        """(N,) cost of each label."""
        if self._pool.cost is None:
            return np.ones(self.count)
        return np.asarray(self._pool.cost, dtype=np.float64)

    @property
    def dearest(self) -> Floats:
        """(N,) cost of each label."""
        return self.cost

    @property
    def codes(self) -> Ints:
        """The rows themselves."""
        return np.arange(self.count)

    def cost_of(self, rows: Ints) -> Floats:
        """What the label of each row costs."""
        return costs_at(self._pool, rows)

    def unit_of(self, rows: Ints) -> Ints:
        """The row itself."""
        return rows

    def nth(self, unit: int, k: int) -> int:
        """The row itself."""
        if k:
            raise IndexError("a unit of one item has no further items")
        return unit

    def rows_at(self, unit: Ints, k: Ints) -> Ints:
        """The rows themselves."""
        if k.any():
            raise IndexError("a unit of one item has no further items")
        return unit

    def representatives(self) -> tuple[Ints, Ints]:
        """Every row, for itself."""
        rows = np.arange(self.count)
        return rows, rows

    def permanent(self) -> Floats:
        """A permanent random number on (0, 1] per item: the same for every sample size."""
        return unit_interval(keyed_hash(self._seed, self._pool.ids)) + 2.0**-53


def representatives_of(codes: Array, size: Ints) -> tuple[Ints, Ints]:
    """Some rows spread over every cell, and the cell of each."""
    return _spread_over(np.argsort(codes, kind="stable"), size, REPRESENTATIVES)


def _spread_over(grouped: Array, size: Ints, most: int) -> tuple[Ints, Ints]:
    """Up to ``most`` rows of each cell, evenly spaced, from the rows in the order of their cells."""
    each = np.minimum(size, most)
    cell = np.repeat(np.arange(len(size)), each)
    within = np.arange(len(cell)) - np.repeat(np.cumsum(each) - each, each)
    place = (np.cumsum(size) - size)[cell] + within * size[cell] // each[cell]
    return grouped[place].astype(np.int64), cell


def costs_at(pool: Pool, rows: Ints) -> Floats:
    """Label costs of some rows; one each where the pool has none."""
    if pool.cost is None:
        return np.ones(len(rows))
    return np.asarray(pool.cost[rows], dtype=np.float64)


def crossed(levels: Sequence[Array]) -> Array:
    """One code per item for the combination of its levels, ordered by the first, then the second, ..."""
    codes = levels[0]
    for finer in levels[1:]:
        if _combinations(codes, finer) >= 2**63:
            codes, finer = compressed(codes), compressed(finer)
        # Wide enough for the number of combinations itself: with one coarse level, that is the factor.
        wide = np.min_scalar_type(-_combinations(codes, finer) - 1)
        codes = codes.astype(wide) * wide.type(int(finer.max()) + 1) + finer.astype(wide)
    return codes


def _combinations(codes: Array, finer: Array) -> int:
    return (int(codes.max()) + 1) * (int(finer.max()) + 1)


def compressed(codes: Array) -> Array:
    """Codes renumbered 0, 1, 2, ... in their order, in the smallest type that holds them."""
    if len(codes) and int(codes.max()) < max(4 * len(codes), 1 << 20):
        used = np.bincount(codes) > 0
        if used.all():
            return codes.astype(np.min_scalar_type(len(used) - 1), copy=False)
        renumbered = np.cumsum(used) - 1
        return renumbered.astype(np.min_scalar_type(int(renumbered[-1])))[codes]
    values, inverse = np.unique(codes, return_inverse=True)
    return inverse.astype(np.min_scalar_type(max(len(values) - 1, 0)))


def first_and_size(codes: Array) -> tuple[Ints, Ints]:
    """(K,) the first item of each of the codes 0, 1, 2, ..., all of which occur, and how many it has.

    >>> [one.tolist() for one in first_and_size(np.array([1, 0, 1]))]
    [[1, 0], [1, 2]]
    """
    size = np.bincount(codes)
    first = np.empty(len(size), dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)  # of several, the last one written stays
    return first, size


def common(codes: Array, column: Array) -> Ints | None:
    """(K,) what all items of each of the codes 0, 1, 2, ... have in common; None if some differ.

    >>> common(np.array([0, 1, 0]), np.array([5, 7, 5])), common(np.array([0, 0]), np.array([5, 7]))
    (array([5, 7]), None)
    """
    found = np.zeros(int(codes.max()) + 1, dtype=np.int64)
    found[codes] = column
    return found if np.array_equal(found[codes], column) else None


def cost_band(values: Array | None) -> Array | None:
    """Levels of a positive column: its own values if few, otherwise one per doubling."""
    if values is None:
        return None
    levels = np.unique(values)
    if len(levels) <= _FEW:
        return np.searchsorted(levels, values)
    bands = np.floor(np.log2(values)).astype(np.int64)
    return np.asarray(bands - bands.min())
