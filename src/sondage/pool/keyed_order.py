"""Keyed order: a random order of items that depends on the seed and the ids, never on file order.

The key of an item is the first 64 bits of the MD5 of the study's seed and the id, both as text. MD5 is the
same function in DuckDB, Spark, PostgreSQL and here, and its keys are as good as random whatever the ids look
like. Nothing secret depends on it. hashlib takes half a microsecond for each id; whole columns of them
(RFC 1321, at the end of this file) are five times faster.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.pool.text import lengths_of, of_like_width
from sondage.types import Array, Ints, Words

_BLOCK = 1 << 15
_MANY = 1 << 10
"""Number of ids from which hashing whole columns is faster."""
_FIRST = 4096
_CUTTING = 0x9E3779B97F4A7C15F39CC0605CEDC834
_DIGITS = 20
_FOUR_DIGITS = np.array([f"{k:04d}" for k in range(10_000)], dtype="S4").view(np.uint32)
_POWERS = np.array([10**k for k in range(1, _DIGITS)], dtype=np.uint64)
_MOST_BYTES = 55
"""What fits into one block of MD5 beside the byte that ends a message and its length."""
_START = (0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476)
_TURNS = ((7, 12, 17, 22), (5, 9, 14, 20), (4, 11, 16, 23), (6, 10, 15, 21))
_WORD_STEP = ((1, 0), (5, 1), (3, 5), (7, 0))
_SINES = [np.uint32(int(abs(np.sin(step + 1.0)) * 2**32)) for step in range(64)]
_Half = NDArray[np.uint32]


def cutting_seed(seed: int) -> int:
    """The key for rules that cut a pool: whatever decides a cell must not decide as well who is drawn in it.

    >>> order = keyed_hash(5, np.arange(2000)).argsort().argsort()
    >>> cut = keyed_hash(cutting_seed(5), np.arange(2000)).argsort().argsort()
    >>> bool(abs(np.corrcoef(order, cut)[0, 1]) < 0.1)
    True
    """
    return seed ^ _CUTTING


def _prefix(seed: int) -> str:
    """As long as one block of MD5, so that the seed costs nothing from the second id on."""
    return f"{seed:064x}"


def keyed_hash(seed: int, ids: Array) -> Words:
    """64-bit key of each id under a seed; equal for equal ids in any array.

    >>> [f"{key:016x}" for key in keyed_hash(5, np.array([3, 9]))]
    ['f74bd5982631d0b8', '4e037a3bafb948a1']
    """
    prefix = _prefix(seed).encode()
    begun = hashlib.md5(prefix, usedforsecurity=False)
    out = np.empty(len(ids), dtype=np.uint64)
    for place, part in of_like_width(ids, _BLOCK):
        columns = _characters(part) if len(part) >= _MANY else None
        if columns is not None:
            out[place] = _md5_of_columns(prefix, *columns)
            continue
        digests = []
        for id in part.tolist():
            one = begun.copy()
            one.update(str(id).encode("utf-8", "surrogatepass"))
            digests.append(one.digest())
        out[place] = np.frombuffer(b"".join(digests), dtype=">u8")[::2]
    return out


def _characters(ids: Array) -> tuple[NDArray[np.uint8], Ints] | None:
    """Ids written in ASCII, one row each, and their lengths; None where some cannot be, or are too long."""
    if ids.dtype.kind != "U":
        return _decimals(ids.astype(np.int64))
    width = ids.dtype.itemsize // 4
    points = np.ascontiguousarray(ids).view(np.uint32).reshape(len(ids), width)
    if width > _MOST_BYTES or points.max(initial=0) >= 128:
        return None
    return points.astype(np.uint8), lengths_of(ids)


def _decimals(numbers: Ints) -> tuple[NDArray[np.uint8], Ints]:
    """Whole numbers in decimal digits from the left."""
    negative = numbers < 0
    size = np.abs(numbers).view(np.uint64)  # the absolute value of -2^63 is 2^63 only without a sign
    digits = np.empty((len(numbers), _DIGITS // 4), dtype=np.uint32)
    rest = size
    for k in range(_DIGITS // 4 - 1, -1, -1):
        tenthousands = rest // np.uint64(10_000)
        digits[:, k] = _FOUR_DIGITS[rest - tenthousands * np.uint64(10_000)]
        rest = tenthousands
    right = digits.view(np.uint8)
    length = np.searchsorted(_POWERS, size, side="right") + 1
    left = np.zeros((len(numbers), _DIGITS), dtype=np.uint8)
    left[negative, 0] = ord("-")
    shape = 2 * length + negative
    for one in np.flatnonzero(np.bincount(shape)).tolist():
        many, sign = divmod(one, 2)
        rows = np.flatnonzero(shape == one)
        left[rows, sign : sign + many] = right[rows, _DIGITS - many :]
    return left, length + negative


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


def _md5_of_columns(prefix: bytes, characters: NDArray[np.uint8], length: Ints) -> Words:
    """First 64 bits of the MD5 of a prefix of 64 bytes and each message of up to 55, padded with zeros."""
    n, width = characters.shape
    block = np.zeros((n, 64), dtype=np.uint8)
    block[:, :width] = characters
    block[np.arange(n), length] = 0x80
    words: list[Any] = list(block.view("<u4").T.copy())
    words[14] = (8 * (len(prefix) + length)).astype(np.uint32)
    a, b, _, _ = _compressed(_after(prefix), words)
    return (a.byteswap().astype(np.uint64) << np.uint64(32)) | b.byteswap()


@lru_cache(maxsize=16)
def _after(prefix: bytes) -> tuple[int, ...]:
    """The state after the bytes that all messages begin with."""
    return tuple(int(part[0]) for part in _compressed(_START, np.frombuffer(prefix, dtype="<u4")[:, None]))


def _compressed(state: Sequence[int], words: Sequence[_Half] | _Half) -> tuple[_Half, ...]:
    """The state after one block of sixteen words, each a column over messages."""
    a, b, c, d = (np.full(len(words[0]), part, dtype=np.uint32) for part in state)
    new, turned = np.empty_like(a), np.empty_like(a)
    for step in range(64):
        part, place = divmod(step, 16)
        if part == 0:
            np.bitwise_xor(c, d, out=new)
            new &= b
            new ^= d
        elif part == 1:
            np.bitwise_xor(b, c, out=new)
            new &= d
            new ^= c
        elif part == 2:
            np.bitwise_xor(b, c, out=new)
            new ^= d
        else:
            np.invert(d, out=new)
            new |= b
            new ^= c
        times, more = _WORD_STEP[part]
        new += a
        new += _SINES[step]
        new += words[(times * step + more) % 16]
        left = _TURNS[part][place % 4]
        np.left_shift(new, np.uint32(left), out=turned)
        new >>= np.uint32(32 - left)
        new |= turned
        new += b
        a, b, c, d, new = d, new, b, c, a
    return tuple(one + np.uint32(first) for one, first in zip((a, b, c, d), state, strict=True))
