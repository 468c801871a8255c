"""Strata: bands of the pool in which labels are expected to be alike."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sondage.errors import InvalidInput
from sondage.pool.keyed import keyed_hash
from sondage.pool.pool import CHUNK, Pool
from sondage.pool.units import crossed
from sondage.registry import Named
from sondage.types import Array, Floats, Ints


class Strata(Named, family="sondage.pool"):
    """A rule that puts every item into one band, the same for any row order of the source."""

    @abstractmethod
    def codes(self, pool: Pool, systems: tuple[str, ...], seed: int) -> Array:
        """The band of every item, numbered from 0; neighbouring numbers are neighbouring bands."""


@dataclass(frozen=True)
class OneStratum(Strata):
    """The whole pool."""

    alias: ClassVar[str] = "none"

    def codes(self, pool: Pool, systems: tuple[str, ...], seed: int) -> Array:
        """Zero for every item."""
        return np.zeros(len(pool), dtype=np.int8)


@dataclass(frozen=True)
class EqualSize(Strata):
    """``count`` bands of equal size along the score (or the spread, for regression)."""

    alias: ClassVar[str] = "equal-size"
    count: int = 10

    def __post_init__(self) -> None:
        if self.count < 1:
            raise InvalidInput(f"count= must be at least 1, not {self.count}")

    def codes(self, pool: Pool, systems: tuple[str, ...], seed: int) -> Array:
        """Bands in the order of the score."""
        order = _order_by(pool, systems)
        cuts = np.unique(np.rint(np.linspace(0, len(pool), self.count + 1)).astype(np.int64))
        return _bands(order, np.arange(len(pool)), cuts, pool, seed)


@dataclass(frozen=True)
class LogRank(Strata):
    """Bands that widen with the rank from the decision boundary, inside each predicted class.

    Band k+1 holds ``growth`` times the items nearer to the boundary than it, at most the share
    ``largest`` of its class. Errors crowd at the boundary and thin out with rank, so this puts the
    narrow bands where they pay, whatever the scale or calibration of the scores.
    """

    alias: ClassVar[str] = "log-rank"
    growth: float = 0.3
    largest: float = 1 / 16

    def __post_init__(self) -> None:
        if not self.growth > 0:
            raise InvalidInput(f"growth= must be above 0, not {self.growth}")
        if not 0 < self.largest <= 1:
            raise InvalidInput(f"largest= must be in (0, 1], not {self.largest}")

    def codes(self, pool: Pool, systems: tuple[str, ...], seed: int) -> Array:
        """Bands numbered by predicted class, then outwards from the boundary."""
        if not pool.labels.finite:
            return EqualSize(10).codes(pool, systems, seed)
        classes = predicted_pattern(pool, systems)
        codes = np.empty(len(pool), dtype=np.int32)
        begin = 0
        for one in np.unique(classes):
            members = np.flatnonzero(classes == one)
            distance = _distance(pool, systems, members)
            if distance is None:
                cuts, distance = np.array([0, len(members)]), np.zeros(len(members))
            else:
                cuts = self._cuts(len(members))
            codes[members] = begin + _bands(distance, members, cuts, pool, seed)
            begin += len(cuts) - 1
        return codes

    def _cuts(self, n: int) -> Ints:
        widest = math.ceil(n * self.largest)
        cuts = [0]
        while cuts[-1] < n:
            size = min(max(1, math.ceil(self.growth * cuts[-1])), widest)
            cuts.append(min(n, cuts[-1] + size))
        return np.array(cuts)


@dataclass(frozen=True)
class ByGroup(Strata):
    """An existing grouping column."""

    alias: ClassVar[str] = "group"
    name: str = ""

    def codes(self, pool: Pool, systems: tuple[str, ...], seed: int) -> Array:
        """The level of every item."""
        return pool.group(self.name).codes


def predicted_pattern(pool: Pool, systems: tuple[str, ...]) -> Array:
    """What the systems together predict, as one number per item."""
    known = [pool.system(name).prediction for name in systems] if pool.labels.finite else []
    columns = [column for column in known if column is not None]
    return crossed(columns) if columns else np.zeros(len(pool), dtype=np.int8)


def _distance(pool: Pool, systems: tuple[str, ...], members: Ints) -> Floats | None:
    """How far items of one predicted pattern are from the decision boundary; only ranks matter."""
    total = None
    for name in systems:
        system = pool.system(name)
        if system.probability is not None and system.probability.ndim == 2:
            one: Array = system.probability[members].max(axis=1)
        else:
            score = system.score if system.score is not None else system.probability
            if score is None:
                continue
            one = score[members]
            if system.prediction is not None and not system.prediction[members[0]] > 0:
                np.negative(one, out=one)
        if len(systems) > 1:  # scores of different systems share no scale
            one = (one - one.mean()) / (one.std() or 1.0)
        total = one if total is None else total + one
    return total


def _order_by(pool: Pool, systems: tuple[str, ...]) -> Array:
    """The column along which the pool is cut when classes play no part."""
    system = pool.system(systems[0] if systems else None)
    for column in (system.std if not pool.labels.finite else None, system.score):
        if column is not None:
            return column
    if system.probability is not None:
        return system.probability if system.probability.ndim == 1 else system.probability.max(axis=1)
    if system.prediction is not None:
        return system.prediction
    return np.zeros(len(pool))


def _bands(by: Array, members: Ints, cuts: Ints, pool: Pool, seed: int) -> Array:
    """Bands between the cuts of the sorted values; a run of equal values is cut in keyed order.

    Only the values at the cuts are sorted out, so that no permutation of the pool is held.
    """
    inner = cuts[1:-1]
    edges = np.partition(by, inner)[inner] if len(inner) else by[:0]
    codes = np.empty(len(by), dtype=np.int32)
    for start in range(0, len(by), CHUNK):
        codes[start : start + CHUNK] = np.searchsorted(edges, by[start : start + CHUNK], "right")
    reached = np.cumsum(np.bincount(codes, minlength=len(cuts) - 1))[:-1]
    for value in np.unique(edges[reached != inner]):  # ties: fewer or more items than the cut wants
        tied = np.flatnonzero(by == value)
        tied = tied[np.argsort(keyed_hash(seed, pool.ids[members[tied]]), kind="stable")]
        place = int(np.count_nonzero(by < value)) + np.arange(len(tied))
        codes[tied] = np.searchsorted(cuts, place, "right") - 1
    return codes
