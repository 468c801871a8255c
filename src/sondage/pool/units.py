"""Units: the rows a step works on. A cell of like items, or one item where nothing pools."""

from __future__ import annotations

from functools import cached_property
from typing import Protocol

import numpy as np

from sondage.pool.division import REPRESENTATIVES, Division, cost_band, crossed
from sondage.pool.keyed_order import LazyOrder, keyed_hash
from sondage.pool.pool import Pool
from sondage.streams import unit_interval
from sondage.types import Array, Bools, Floats, Ints

_BLOCK = 1 << 16
_READY, _MOST_READY = 256, 1 << 18
"""Items of one cell, and of all, put into keyed order at once; others only when they are asked for."""


class Units(Protocol):
    """Rows a step works on. Made once per study; numbered by content, never by row order.

    Contract: every item is in exactly one unit; ``nth(unit, k)`` for k < size lists the items of a
    unit once each, in the order of a keyed hash of seed and id; ``size`` sums to the pool's size.
    """

    itemwise: bool

    @property
    def count(self) -> int:
        """How many units a step works on."""

    @property
    def size(self) -> Ints:
        """(U,) how many items each unit has."""

    @property
    def cost(self) -> Floats:
        """(U,) mean cost of a label in each unit."""

    @property
    def dearest(self) -> Floats:
        """(U,) greatest cost of a label in each unit."""

    @property
    def codes(self) -> Array:
        """(N,) unit of every row: only for what reads and cuts a pool."""

    def cost_of(self, rows: Ints) -> Floats:
        """What the label of each row costs."""

    def of(self, rows: Ints | slice) -> Ints:
        """The unit of some rows, or of a piece of the pool."""

    @property
    def first(self) -> Ints:
        """(U,) the first row of each unit."""

    def members(self, unit: int) -> Ints:
        """All rows of a unit, in the order of ids."""

    def rows_in(self, units: Bools) -> Ints:
        """The rows of some units, in the order of ids."""

    def nth(self, unit: int, k: int) -> int:
        """The k-th row of a unit in keyed order."""

    def rows_at(self, unit: Ints, k: Ints) -> Ints:
        """``nth`` of many units at once."""

    def representatives(self) -> tuple[Ints, Ints]:
        """Rows that stand for the units, and the unit that each stands for."""


class CellUnits(Division):
    """Cells: items with the same stratum, signature and cost band. ``Units`` says what the methods give.

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
        levels = [strata, signature, cost_band(pool.cost) if by_cost else None]
        super().__init__(crossed([one for one in levels if one is not None]))
        self._pool = pool
        self._seed = seed
        self._exact = signature is not None
        self._strata = strata
        self._orders: dict[int, LazyOrder] = {}

    @cached_property
    def stratum(self) -> Ints:
        """(U,) the stratum that each cell is a part of."""
        return np.asarray(self._strata[self.first], dtype=np.int64)

    @cached_property
    def cost(self) -> Floats:
        if self._pool.cost is None:
            return np.ones(self.count)
        return np.bincount(self.codes, weights=self._pool.cost) / self.size

    @cached_property
    def dearest(self) -> Floats:
        if self._pool.cost is None:
            return np.ones(self.count)
        most = np.zeros(self.count)
        np.maximum.at(most, self.codes, self._pool.cost)
        return most

    def cost_of(self, rows: Ints) -> Floats:
        return self._pool.costs(rows)

    def nth(self, unit: int, k: int) -> int:
        begin, count, rows = self._first
        if k < count[unit]:
            return int(rows[begin[unit] + k])
        if unit not in self._orders:  # a cell that is read on and on
            self._orders[unit] = self._pool.source.order(self._seed, self.members(unit))
        return int(self.members(unit)[self._orders[unit][k]])

    def rows_at(self, unit: Ints, k: Ints) -> Ints:
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

    def representatives(self) -> tuple[Ints, Ints]:
        """One row per cell if all its items have the same losses, otherwise some spread over it."""
        return self.some(1 if self._exact else REPRESENTATIVES)


class ItemUnits:
    """Every item is its own unit: for static designs that look at each item once."""

    itemwise = True

    def __init__(self, pool: Pool, seed: int) -> None:
        self._pool = pool
        self._seed = seed
        self.count = len(pool)

    @property
    def size(self) -> Ints:
        return np.ones(self.count, dtype=np.int64)

    @property
    def cost(self) -> Floats:
        return self._pool.costs(slice(None))

    @property
    def dearest(self) -> Floats:
        return self.cost

    @property
    def codes(self) -> Ints:
        return np.arange(self.count)

    @property
    def first(self) -> Ints:
        return self.codes

    def cost_of(self, rows: Ints) -> Floats:
        return self._pool.costs(rows)

    def of(self, rows: Ints | slice) -> Ints:
        return self.codes[rows] if isinstance(rows, slice) else rows

    def members(self, unit: int) -> Ints:
        return np.array([unit])

    def rows_in(self, units: Bools) -> Ints:
        return np.flatnonzero(units)

    def nth(self, unit: int, k: int) -> int:
        if k:
            raise IndexError("a unit of one item has no further items")
        return unit

    def rows_at(self, unit: Ints, k: Ints) -> Ints:
        if k.any():
            raise IndexError("a unit of one item has no further items")
        return unit

    def representatives(self) -> tuple[Ints, Ints]:
        return self.codes, self.codes

    def permanent(self) -> Floats:
        """A permanent random number on (0, 1] per item: the same for every sample size."""
        return unit_interval(keyed_hash(self._seed, self._pool.ids)) + 2.0**-53
