"""A division of the pool: kinds of items, how many there are of each, and which ones stand for them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from sondage.types import Array, Bools, Ints

if TYPE_CHECKING:
    from sondage.pool.units import Units

REPRESENTATIVES = 16
"""Items that stand for a kind whose losses differ inside."""
_FEW = 16


class Kinds(Protocol):
    """What a sum by kind needs: how many kinds there are, and the kind of each row."""

    @property
    def count(self) -> int:
        """How many kinds of items there are."""

    def of(self, rows: Ints | slice) -> Ints:
        """The kind of some rows, or of a piece of the pool."""


class Division:
    """Kinds of items, numbered 0, 1, 2, ...; every item is of one kind, and no kind is empty.

    >>> kinds = Division(np.array([7, 3, 7]))
    >>> kinds.count, kinds.size.tolist(), kinds.first.tolist(), kinds.of(slice(0, 2)).tolist()
    (2, [1, 2], [1, 0], [1, 0])
    """

    def __init__(self, codes: Array) -> None:
        self.codes = compressed(codes)
        """(N,) kind of every row, in the smallest type that holds it: only for what reads and cuts a pool."""

    @cached_property
    def size(self) -> Ints:
        """(K,) how many items each kind has."""
        return np.bincount(self.codes)

    @cached_property
    def count(self) -> int:
        """How many kinds of items there are."""
        return len(self.size)

    def of(self, rows: Ints | slice) -> Ints:
        """The kind of some rows, or of a piece of the pool."""
        return self.codes[rows].astype(np.int64)

    @cached_property
    def first(self) -> Ints:
        """(K,) the first row of each kind."""
        first = np.empty(self.count, dtype=np.int64)
        first[self.codes[::-1]] = np.arange(len(self.codes) - 1, -1, -1)  # of several the last written stays
        return first

    def members(self, kind: int) -> Ints:
        """All rows of a kind, in the order of ids."""
        begin = self._starts[kind]
        return self._grouped[begin : begin + self.size[kind]]

    def some(self, most: int = REPRESENTATIVES) -> tuple[Ints, Ints]:
        """Up to ``most`` rows of each kind, evenly spaced, and the kind that each stands for."""
        each = np.minimum(self.size, most)
        kind = np.repeat(np.arange(self.count), each)
        within = np.arange(len(kind)) - np.repeat(np.cumsum(each) - each, each)
        place = self._starts[kind] + within * self.size[kind] // each[kind]
        return self._grouped[place].astype(np.int64), kind

    def rows_in(self, kinds: Bools) -> Ints:
        """The rows of some kinds, in the order of ids."""
        return np.flatnonzero(kinds[self.codes])

    def by(self, other: Division | Units) -> Division:
        """Kinds that differ in this division or in the other, ordered by this one first."""
        return Division(crossed([self.codes, other.codes]))

    def shared_in(self, other: Division | Units) -> Ints | None:
        """(K,) the kind that all items of each kind of the other share; None if some are mixed.

        >>> Division(np.array([1, 0, 0])).shared_in(Division(np.array([0, 1, 2]))).tolist()
        [1, 0, 0]
        """
        return self.of(other.first) if self.by(other).count == other.count else None

    @cached_property
    def _grouped(self) -> Array:
        order = np.argsort(self.codes, kind="stable")
        return order.astype(np.int32) if len(order) < 2**31 else order

    @cached_property
    def _starts(self) -> Ints:
        return np.cumsum(self.size) - self.size


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


def cost_band(values: Array | None) -> Array | None:
    """Levels of a positive column: its own values if few, otherwise one per doubling."""
    if values is None:
        return None
    levels = np.unique(values)
    if len(levels) <= _FEW:
        return np.searchsorted(levels, values)
    bands = np.floor(np.log2(np.maximum(values, levels[levels > 0][0]))).astype(np.int64)
    return np.asarray(bands - bands.min())
