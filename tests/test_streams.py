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


def test_what_is_made_of_uniform_numbers_is_made_once_and_the_same() -> None:
    made: list[int] = []

    def squares(uniform: np.ndarray) -> np.ndarray:
        made.append(len(uniform))
        return np.square(uniform)

    for source in (stream(14, "interval"), kept_stream(14, "interval"), kept_stream(14, "interval")):
        uniform, square = source.uniform_and(5, "squares", squares)
        np.testing.assert_array_equal(uniform, stream(14, "interval").uniform(5))
        np.testing.assert_array_equal(square, np.square(uniform))
        np.testing.assert_array_equal(source.uniform(3), stream(14, "interval").uniform(8)[5:])
    assert made == [5, 5]


def test_a_kept_stream_goes_on_after_what_was_drawn_from_it_before() -> None:
    kept: dict[object, object] = {}
    owner, other, made = object(), object(), []

    def drawn(seed: int, owner: object, skip: int = 0) -> np.ndarray:
        source = kept_stream(seed, "interval")
        source.uniform(skip)

        def make() -> np.ndarray:
            made.append(seed)
            return source.uniform(4)

        first = source.again(kept, "numbers", owner, make)
        return np.concatenate([first, source.uniform(2)])

    for arguments in ((15, owner), (15, owner), (15, other), (15, other, 1), (16, other), (16, other)):
        plain = stream(arguments[0], "interval").uniform(7)
        begin = arguments[2] if len(arguments) > 2 else 0
        np.testing.assert_array_equal(drawn(*arguments), plain[begin : begin + 6])
    assert made == [15, 15, 15, 16]  # once for each owner, place and seed in a row
