"""MD5 of many messages at once is MD5."""

from __future__ import annotations

import hashlib

import numpy as np

from sondage.pool import md5

PREFIX = bytes(range(64))


def test_columns_and_single_messages_have_the_digests_of_hashlib() -> None:
    """Every length that fits into one block, with bytes of all values."""
    rng = np.random.default_rng(0)
    length = np.arange(md5.MOST_BYTES + 1)
    rows = rng.integers(0, 256, (len(length), md5.MOST_BYTES), dtype=np.uint8)
    rows[np.arange(md5.MOST_BYTES) >= length[:, None]] = 0
    messages = [row[:size].tobytes() for row, size in zip(rows, length, strict=True)]
    expected = [
        int.from_bytes(hashlib.md5(PREFIX + one, usedforsecurity=False).digest()[:8]) for one in messages
    ]
    assert md5.of_columns(PREFIX, rows, length).tolist() == expected
    assert md5.of_bytes(PREFIX, messages).tolist() == expected


def test_no_messages() -> None:
    assert md5.of_bytes(PREFIX, []).tolist() == []
