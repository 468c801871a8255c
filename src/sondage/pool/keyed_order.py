"""Keyed order: a random order of items that depends on the seed and the ids, never on file order.

The key of an item is the first 64 bits of the MD5 of the study's seed and the id, both as text. MD5 is the
same function in DuckDB, Spark, PostgreSQL and here, and its keys are as good as random whatever the ids look
like. Nothing secret depends on it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sondage.pool import md5
from sondage.pool.text import in_pieces, lengths_of
from sondage.types import Array, Ints, Words

_BLOCK = 1 << 15
_MANY = 1 << 10
"""Ids from which the columns' way is the faster one."""
_FIRST = 4096
_CUTTING = 0x9E3779B97F4A7C15F39CC0605CEDC834
_DIGITS = 20
_FOUR_DIGITS = np.array([f"{k:04d}" for k in range(10_000)], dtype="S4").view(np.uint32)
_POWERS = np.array([10**k for k in range(1, _DIGITS)], dtype=np.uint64)


def cutting_seed(seed: int) -> int:
    """The key for rules that cut a pool: whatever decides a cell must not decide as well who is drawn in it.

    >>> order = keyed_hash(5, np.arange(2000)).argsort().argsort()
    >>> cut = keyed_hash(cutting_seed(5), np.arange(2000)).argsort().argsort()
    >>> bool(abs(np.corrcoef(order, cut)[0, 1]) < 0.1)
    True
    """
    return seed ^ _CUTTING


def keyed_sql(seed: int, column: str) -> str:
    """The same key in SQL, for DuckDB, Spark and PostgreSQL alike: 16 hexadecimal digits, as text.

    Text in the order of its bytes is then in keyed order: in PostgreSQL say ``COLLATE "C"``, here and for the
    ids that break ties. Whole numbers are written in decimal, text in UTF-8.

    >>> keyed_sql(5, "id")
    "substr(md5(concat('0000000000000000000000000000000000000000000000000000000000000005', id)), 1, 16)"
    """
    return f"substr(md5(concat('{_prefix(seed)}', {column})), 1, 16)"


def _prefix(seed: int) -> str:
    """As long as one block of MD5, so that the seed costs nothing from the second id on."""
    return f"{seed:064x}"


def keyed_hash(seed: int, ids: Array) -> Words:
    """64-bit key of each id under a seed; equal for equal ids in any array.

    >>> [f"{key:016x}" for key in keyed_hash(5, np.array([3, 9]))]
    ['f74bd5982631d0b8', '4e037a3bafb948a1']
    """
    prefix = _prefix(seed).encode()
    out = np.empty(len(ids), dtype=np.uint64)
    for place, part in in_pieces(ids, _BLOCK):
        columns = _characters(part) if len(part) >= _MANY else None
        if columns is None:
            out[place] = md5.of_bytes(
                prefix, (str(one).encode("utf-8", "surrogatepass") for one in part.tolist())
            )
        else:
            out[place] = md5.of_columns(prefix, *columns)
    return out


def _characters(ids: Array) -> tuple[NDArray[np.uint8], Ints] | None:
    """Ids written in ASCII, one row each, and their lengths; None where some cannot be, or are too long."""
    if ids.dtype.kind != "U":
        return _decimals(ids.astype(np.int64))
    width = ids.dtype.itemsize // 4
    points = np.ascontiguousarray(ids).view(np.uint32).reshape(len(ids), width)
    if width > md5.MOST_BYTES or points.max(initial=0) >= 128:
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
