"""Keyed order: a random order of items that depends on the seed and the ids, never on file order."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sondage.pool.text import in_pieces
from sondage.types import Array, Ints, Words

_MULTIPLY_1, _MULTIPLY_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_BLOCK = 1 << 16
_FIRST = 4096
_CUTTING = 0x9E3779B97F4A7C15F39CC0605CEDC834


def cutting_seed(seed: int) -> int:
    """The key for rules that cut a pool: whatever decides a cell must not decide as well who is drawn in it.

    >>> order = keyed_hash(5, np.arange(2000)).argsort().argsort()
    >>> cut = keyed_hash(cutting_seed(5), np.arange(2000)).argsort().argsort()
    >>> bool(abs(np.corrcoef(order, cut)[0, 1]) < 0.1)
    True
    """
    return seed ^ _CUTTING


def _mix(word: Words) -> Words:
    """Finaliser of splitmix64 (Steele, Lea and Flood 2014): every input bit reaches every output bit."""
    word ^= word >> np.uint64(30)
    word *= _MULTIPLY_1
    word ^= word >> np.uint64(27)
    word *= _MULTIPLY_2
    word ^= word >> np.uint64(31)
    return word


def keyed_hash(seed: int, ids: Array) -> Words:
    """64-bit hash of a 128-bit seed and each id; equal for equal ids in any array.

    >>> bool(keyed_hash(5, np.array([3, 9]))[1] == keyed_hash(5, np.array([9]))[0])
    True
    """
    low, high = np.uint64(seed & (2**64 - 1)), np.uint64((seed >> 64) & (2**64 - 1))
    out = np.empty(len(ids), dtype=np.uint64)
    for place, part in in_pieces(ids, _BLOCK):
        with np.errstate(over="ignore"):
            state = np.full(len(part), low, dtype=np.uint64)
            for word in _words(part):
                # Text is padded with zero words: skipping them makes the hash independent of width.
                state = np.where(word != 0, _mix(state ^ _mix(word + high)), state)
            out[place] = _mix(state + high)
    return out


def _words(ids: Array) -> list[Words]:
    if ids.dtype.kind == "U":
        width = ids.dtype.itemsize // 4
        points = np.ascontiguousarray(ids).view(np.uint32).reshape(len(ids), width)
        if width % 2:
            points = np.pad(points, ((0, 0), (0, 1)))
        pairs = points.astype(np.uint64)
        return [pairs[:, j] | (pairs[:, j + 1] << np.uint64(32)) for j in range(0, width, 2)]
    # Adding a constant keeps id 0 from being taken for padding.
    return [ids.astype(np.int64).view(np.uint64) + np.uint64(2**63)]


class LazyOrder:
    """Rows in increasing order of a key, sorted only as far as they have been read.

    ``keys`` is called anew for every extension, so that a pool of ten million rows keeps the few
    thousand rows that will ever be asked and not a permutation of all.

    >>> order = LazyOrder(4, lambda: np.array([.7, .1, .9, .3]))
    >>> [order[k] for k in range(4)]
    [1, 3, 0, 2]
    """

    def __init__(self, n: int, keys: Callable[[], Array]) -> None:
        self._n = n
        self._keys = keys
        self._rows: Ints = np.empty(0, dtype=np.int64)
        self._sorted_keys: Array = np.empty(0)

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, k: int) -> int:
        if k >= len(self._rows):
            self._extend(k + 1)
        return int(self._rows[k])

    def first(self, k: int) -> tuple[Ints, Array]:
        """The first ``k`` rows and their keys."""
        self._extend(k)
        return self._rows[:k], self._sorted_keys[:k]

    def count_up_to(self, key: float) -> int:
        """How many rows have a key of at most ``key``."""
        known = len(self._rows)
        while known < self._n and (known == 0 or self._sorted_keys[-1] <= key):
            self._extend(min(self._n, max(_FIRST, 2 * known)))
            known = len(self._rows)
        return int(np.searchsorted(self._sorted_keys, key, side="right"))

    def _extend(self, k: int) -> None:
        if k <= len(self._rows):
            return
        if k > self._n:
            raise IndexError(f"order has {self._n} rows, row {k - 1} was wanted")
        want = min(self._n, max(k, _FIRST, 2 * len(self._rows)))
        keys = self._keys()
        if want < self._n:
            rows = np.argpartition(keys, want - 1)[:want]
            # Equal keys at the cut would make the choice depend on the partition: take them all.
            cut = keys[rows].max()
            rows = np.flatnonzero(keys <= cut)
        else:
            rows = np.arange(self._n)
        # Rows are in the order of ids, so a stable sort breaks equal keys by id.
        rows = rows[np.argsort(keys[rows], kind="stable")]
        self._rows, self._sorted_keys = rows, keys[rows]
