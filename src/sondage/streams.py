"""Randomness: one stream per purpose and round, derived from the study's seed.

No generator state is kept anywhere. Only raw 64-bit words of Philox are used, turned into numbers by
our own code, so that draws do not change when numpy changes its samplers.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Hashable
from functools import cached_property, lru_cache
from typing import Any, Literal, TypeVar, get_args

import numpy as np
from numpy.random import Generator, Philox, SeedSequence
from scipy.special import ndtri

from sondage.errors import InvalidInput
from sondage.types import Floats, Words

T = TypeVar("T")
Purpose = Literal["draw", "belief", "interval", "simulate", "order", "hand-out"]
_PURPOSES: tuple[Purpose, ...] = get_args(Purpose)  # their places are part of the seed

RESOLUTION = 2**48
"""Chances are rounded to multiples of 1/RESOLUTION before anything is drawn from them."""
_MOST_KEPT = 2**19
"""Most numbers drawn at once that are kept."""


class Stream:
    """A sequence of random numbers that is the same on every machine; made when the first one is wanted."""

    def __init__(self, name: tuple[int, Purpose, int]) -> None:
        self._name = name

    def words(self, n: int) -> Words:
        """The next ``n`` raw words of 64 bits from the stream."""
        return np.asarray(self._bits.random_raw(n), dtype=np.uint64)

    @cached_property
    def _bits(self) -> Philox:
        return _philox(*self._name)

    def uniform(self, n: int) -> Floats:
        """``n`` numbers uniform on [0, 1) with 53 bits."""
        return unit_interval(self.words(n))

    def normal(self, n: int) -> Floats:
        """The next ``n`` standard normal numbers from the stream."""
        return np.asarray(ndtri(self.uniform(n) + 2.0**-54))

    def uniform_and_normal(self, n: int) -> tuple[Floats, Floats]:
        """``n`` uniform numbers, and the standard normal ones of the same ranks."""
        uniform = self.uniform(n)
        return uniform, np.asarray(ndtri(np.clip(uniform, 2.0**-54, 1.0 - 2.0**-53)))

    def uniform_and(self, n: int, what: str, make: Callable[[Floats], Floats]) -> tuple[Floats, Floats]:
        """``n`` uniform numbers, and what ``make`` makes of them, which is known by its name."""
        uniform = self.uniform(n)
        return uniform, make(uniform)

    def again(self, kept: dict[Any, Any], of: Hashable, owner: object, make: Callable[[], T]) -> T:
        """What ``make`` draws from here on for its owner; streams that are kept look in ``kept`` first."""
        return make()

    def pick(self, cumulative: np.ndarray, n: int) -> np.ndarray:
        """``n`` positions by inverse cdf over the integer cumulative weights (see ``integer_weights``)."""
        targets = np.floor(self.uniform(n) * float(cumulative[-1])).astype(np.int64)
        return np.searchsorted(cumulative, targets, side="right")


class KeptStream(Stream):
    """A stream whose numbers are kept, so that starting it again from the beginning costs nothing.

    For code that wants the same random numbers at every look. Numbers drawn in another order, or very many
    at once, are made as usual.
    """

    def __init__(self, name: tuple[int, Purpose, int], kept: dict[tuple[str, int, int], Any]) -> None:
        super().__init__(name)
        self._kept, self._used = kept, 0
        self._made = -1

    def words(self, n: int) -> Words:
        if self._made != self._used:  # the numbers before were not made here
            self._bits = _philox(*self._name)
            self._bits.random_raw(self._used, output=False)
        self._used += n
        self._made = self._used
        return super().words(n)

    def uniform(self, n: int) -> Floats:
        return self._once("uniform", n, super().uniform)

    def normal(self, n: int) -> Floats:
        return self._once("normal", n, super().normal)

    def uniform_and_normal(self, n: int) -> tuple[Floats, Floats]:
        return self._once("both", n, super().uniform_and_normal)

    def uniform_and(self, n: int, what: str, make: Callable[[Floats], Floats]) -> tuple[Floats, Floats]:
        plain = super().uniform_and
        return self._once(what, n, lambda n: plain(n, what, make))

    def again(self, kept: dict[Any, Any], of: Hashable, owner: object, make: Callable[[], T]) -> T:
        """The last that was made of something, if it was made for the same owner and from the same place."""
        found = kept.get(of)
        if found is None or found[0] is not owner or found[1] != (self._name, self._used):
            begin = self._name, self._used
            value = make()
            kept[of] = found = owner, begin, value, self._used
        self._used = found[3]
        made: T = found[2]
        return made

    def _once(self, what: str, n: int, make: Callable[[int], T]) -> T:
        key = (what, self._used, n)
        found: Any = self._kept.get(key)
        if found is not None:
            self._used += n
        else:
            found = make(n)
            if n <= _MOST_KEPT:
                for array in found if isinstance(found, tuple) else (found,):
                    array.flags.writeable = False
                self._kept[key] = found
        made: T = found
        return made


def unit_interval(words: Words) -> Floats:
    """64-bit words as numbers on [0, 1)."""
    return (words >> np.uint64(11)).astype(np.float64) * 2.0**-53


def integer_weights(mass: Floats) -> np.ndarray:
    """Masses as integers proportional to them on a grid of ``RESOLUTION``; positive stays positive."""
    total = float(mass.sum())
    weights = np.rint(mass * (RESOLUTION / total)).astype(np.int64)
    return np.where(mass > 0, np.maximum(weights, 1), 0)


def stream(seed: int, purpose: Purpose, number: int = 0) -> Stream:
    """The stream of a purpose and round.

    >>> float(stream(7, "draw", 3).uniform(1)[0]) == float(stream(7, "draw", 3).uniform(1)[0])
    True
    """
    return Stream((seed, purpose, number))


@lru_cache(maxsize=4)
def _kept(seed: int, purpose: Purpose, number: int) -> dict[tuple[str, int, int], Any]:
    return {}


def kept_stream(seed: int, purpose: Purpose, number: int = 0) -> Stream:
    """The same stream, for code that starts it again and again.

    >>> again = [kept_stream(7, "draw", 3).uniform(9) for _ in range(2)]
    >>> again[0] is again[1], bool((again[0] == stream(7, "draw", 3).uniform(9)).all())
    (True, True)
    """
    return KeptStream((seed, purpose, number), _kept(seed, purpose, number))


def _philox(seed: int, purpose: Purpose, number: int) -> Philox:
    return Philox(SeedSequence(seed, spawn_key=(_PURPOSES.index(purpose), number)))


def seed_from(rng: int | Generator | None) -> int:
    """The 128-bit seed of a study, drawn once from what the user passed as ``rng``."""
    if rng is None:
        return secrets.randbits(128)
    if isinstance(rng, Generator):
        return int.from_bytes(rng.bytes(16), "little")
    if isinstance(rng, (bool, float, str)) or not isinstance(rng, (int, np.integer)) or rng < 0:
        raise InvalidInput(f"rng must be a whole number >= 0, a numpy Generator or None, not {rng!r}")
    return int.from_bytes(SeedSequence(int(rng)).generate_state(4, np.uint32).tobytes(), "little")
