"""Randomness: one stream per purpose and round, derived from the study's seed.

No generator state is kept anywhere. Only raw 64-bit words of Philox are used, turned into numbers by
our own code, so that draws do not change when numpy changes its samplers.
"""

from __future__ import annotations

import secrets
from typing import Literal

import numpy as np
from numpy.random import Generator, Philox, SeedSequence

from sondage.errors import InvalidInput
from sondage.types import Floats, Words

Purpose = Literal["draw", "belief", "interval", "simulate", "order", "hand-out"]
_PURPOSES: dict[Purpose, int] = {
    "draw": 0,
    "belief": 1,
    "interval": 2,
    "simulate": 3,
    "order": 4,
    "hand-out": 5,
}

RESOLUTION = 2**48
"""Chances are rounded to multiples of 1/RESOLUTION before anything is drawn from them."""


class Stream:
    """A sequence of random numbers that is the same on every machine."""

    def __init__(self, bits: Philox) -> None:
        self._bits = bits

    def words(self, n: int) -> Words:
        """``n`` raw 64-bit words."""
        return np.asarray(self._bits.random_raw(n), dtype=np.uint64)

    def uniform(self, n: int) -> Floats:
        """``n`` numbers uniform on [0, 1) with 53 bits."""
        return unit_interval(self.words(n))

    def pick(self, cumulative: np.ndarray, n: int) -> np.ndarray:
        """``n`` positions by inverse cdf over the integer cumulative weights (see ``integer_weights``)."""
        targets = np.floor(self.uniform(n) * float(cumulative[-1])).astype(np.int64)
        return np.searchsorted(cumulative, targets, side="right")


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
    return Stream(Philox(SeedSequence(seed, spawn_key=(_PURPOSES[purpose], number))))


def seed_from(rng: int | Generator | None) -> int:
    """The 128-bit seed of a study, drawn once from what the user passed as ``rng``."""
    if rng is None:
        return secrets.randbits(128)
    if isinstance(rng, Generator):
        return int.from_bytes(rng.bytes(16), "little")
    if isinstance(rng, (bool, float, str)) or not isinstance(rng, (int, np.integer)) or rng < 0:
        raise InvalidInput(f"rng must be a whole number >= 0, a numpy Generator or None, not {rng!r}")
    return int.from_bytes(SeedSequence(int(rng)).generate_state(4, np.uint32).tobytes(), "little")
