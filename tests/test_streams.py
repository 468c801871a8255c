"""Streams of random numbers: the same however they are come by."""

from __future__ import annotations

import numpy as np
import pytest

from sondage.streams import kept_stream, stream


def test_a_kept_stream_gives_the_numbers_of_the_stream_whatever_was_kept() -> None:
    asked = [("uniform", 5), ("normal", 7), ("uniform_and_normal", 4), ("uniform", 3)]
    others = [("uniform", 5), ("uniform", 2), ("normal", 9), ("uniform_and_normal", 4)]
    for wanted in (asked, others, asked, others[::-1]):
        plain, kept = stream(11, "interval"), kept_stream(11, "interval")
        for method, n in wanted:
            np.testing.assert_array_equal(getattr(kept, method)(n), getattr(plain, method)(n))
        np.testing.assert_array_equal(kept.words(6), plain.words(6))


def test_what_is_kept_cannot_be_changed_and_is_not_made_again() -> None:
    first, second = (kept_stream(12, "interval").uniform(8) for _ in range(2))
    assert first is second
    with pytest.raises(ValueError, match="read-only"):
        first[0] = 0.0


def test_very_many_numbers_are_not_kept() -> None:
    first, second = (kept_stream(13, "interval").uniform(2**19 + 1) for _ in range(2))
    assert first is not second
    np.testing.assert_array_equal(first, second)


def test_streams_of_seeds_and_rounds_have_numbers_of_their_own() -> None:
    drawn = [
        kept_stream(seed, "interval", number).uniform(4)[0] for seed in range(6) for number in range(3)
    ] + [stream(0, "draw").uniform(4)[0]]
    assert len(set(drawn)) == len(drawn)
