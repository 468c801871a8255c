"""Text in arrays: of one width where that takes hardly more than the text itself, else entry by entry.

Numpy's text is as wide as its longest entry, so that one id of five thousand characters among a hundred
thousand short ones would take gigabytes. Such a column is kept as an array of Python's own text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from sondage.types import Array, Bools, Ints

_LARGE = 1 << 26
"""Bytes below which padding does not matter."""
_PADDED = 8
"""Large text may be padded to this many times its own size."""
_AT_ONCE = 1 << 22
"""Characters handled at once."""


def is_text(values: Array) -> bool:
    """Whether a checked column holds text: its objects can be nothing else."""
    return values.dtype.kind in "UO"


def one_by_one(lengths: Ints) -> bool:
    """Whether text of such lengths is kept entry by entry.

    >>> one_by_one(np.full(100_000, 36)), one_by_one(np.append(np.full(100_000, 6), 5_000))
    (False, True)
    """
    padded = len(lengths) * int(lengths.max(initial=0))
    return 4 * padded > _LARGE and padded > _PADDED * int(lengths.sum())


def lengths_of(values: Sequence[str] | Array) -> Ints:
    """(n,) how many characters each entry has."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "UT":
        return np.asarray(np.strings.str_len(values), dtype=np.int64)
    return np.fromiter(map(len, values), dtype=np.int64, count=len(values))


def as_text(values: Array) -> Array:
    """An array of text as wide as its longest entry, so that equal text is equal bytes; or entry by entry."""
    lengths = lengths_of(values)
    if one_by_one(lengths):
        return values.astype(object, copy=False)
    return values.astype(f"U{max(int(lengths.max(initial=1)), 1)}", copy=False)


def of_like_width(ids: Array, most: int) -> Iterator[tuple[slice | Bools | Ints, Array]]:
    """Ids in blocks of one width each: their places, and the ids."""
    if ids.dtype.kind != "O":
        width = ids.dtype.itemsize // 4 if ids.dtype.kind == "U" else 1
        step = max(min(most, _AT_ONCE // max(width, 1)), 1)
        for start in range(0, len(ids), step):
            yield slice(start, start + step), ids[start : start + step]
        return
    lengths = lengths_of(ids)
    doublings = np.frexp(lengths)[1]  # entries of about the same length together
    for one in np.unique(doublings):
        place = np.flatnonzero(doublings == one)
        step = max(min(most, _AT_ONCE >> int(one)), 1)
        for start in range(0, len(place), step):
            piece = place[start : start + step]
            yield piece, ids[piece].astype(np.str_)
