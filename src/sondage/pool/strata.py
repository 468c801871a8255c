"""Strata: bands of the pool in which labels are expected to be alike."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sondage.errors import InvalidInput
from sondage.pool.keyed import keyed_hash
from sondage.pool.pool import Pool
from sondage.registry import Named
from sondage.types import Array, Floats, Ints


class Strata(Named, family="sondage.pool"):
    """A rule that puts every item into one band, the same for any row order of the source."""

    @abstractmethod
    def codes(self, pool: Pool, systems: tuple[str, ...], seed: int) -> Ints:
        """The band of every item, numbered from 0; neighbouring numbers are neighbouring bands."""


@dataclass(frozen=True)
class OneStratum(Strata):
    """The whole pool."""

    alias: ClassVar[str] = "none"

    def codes(self, pool: Pool, systems: tuple[str, ...], seed: int) -> Ints:
        """Zero for every item."""
        return np.zeros(len(pool), dtype=np.int64)


@dataclass(frozen=True)
class EqualSize(Strata):
    """``count`` bands of equal size along the score (or the spread, for regression)."""

    alias: ClassVar[str] = "equal-size"
    count: int = 10

    def __post_init__(self) -> None:
        if self.count < 1:
            raise InvalidInput(f"count= must be at least 1, not {self.count}")

    def codes(self, pool: Pool, systems: tuple[str, ...], seed: int) -> Ints:
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

    def codes(self, pool: Pool, systems: tuple[str, ...], seed: int) -> Ints:
        """Bands numbered by predicted class, then outwards from the boundary."""
        if not pool.labels.finite:
            return EqualSize(10).codes(pool, systems, seed)
        classes = predicted_pattern(pool, systems)
        distance = _distance(pool, systems)
        codes = np.empty(len(pool), dtype=np.int64)
        begin = 0
        for one in np.unique(classes):
            members = np.flatnonzero(classes == one)
            cuts = self._cuts(len(members)) if distance is not None else np.array([0, len(members)])
            by = distance[members] if distance is not None else np.zeros(len(members))
            codes[members] = begin + _bands(by, members, cuts, pool, seed)
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

    def codes(self, pool: Pool, systems: tuple[str, ...], seed: int) -> Ints:
        """The level of every item."""
        return pool.group(self.name).codes.astype(np.int64)


def predicted_pattern(pool: Pool, systems: tuple[str, ...]) -> Ints:
    """What the systems together predict, as one number per item."""
    pattern = np.zeros(len(pool), dtype=np.int64)
    for name in systems:
        prediction = pool.system(name).prediction
        if prediction is not None and pool.labels.finite:
            pattern = pattern * pool.labels.size + prediction
    return pattern


def _distance(pool: Pool, systems: tuple[str, ...]) -> Floats | None:
    """How far each item is from its systems' decision boundaries; only the ranking matters."""
    total = None
    for name in systems:
        system = pool.system(name)
        if system.probability is not None and system.probability.ndim == 2:
            one: Array = system.probability.max(axis=1)
        else:
            score = system.score if system.score is not None else system.probability
            if score is None:
                continue
            one = (
                score
                if system.prediction is None
                else np.where(system.prediction > 0, score, -score)
            )
        if len(systems) > 1:  # scores of different systems share no scale
            one = (one - one.mean()) / (one.std() or 1.0)
        total = one if total is None else total + one
    return None if total is None else np.asarray(total, dtype=np.float64)


def _order_by(pool: Pool, systems: tuple[str, ...]) -> Array:
    """The column along which the pool is cut when classes play no part."""
    system = pool.system(systems[0] if systems else None)
    for column in (system.std if not pool.labels.finite else None, system.score):
        if column is not None:
            return column
    if system.probability is not None:
        return (
            system.probability if system.probability.ndim == 1 else system.probability.max(axis=1)
        )
    if system.prediction is not None:
        return system.prediction
    return np.zeros(len(pool))


def _bands(by: Array, members: Ints, cuts: Ints, pool: Pool, seed: int) -> Ints:
    """Cut the sorted members; a run of equal values that straddles a cut is split in keyed order."""
    order = np.argsort(by, kind="stable")
    ranked = by[order]
    done = 0
    for cut in cuts[1:-1]:
        if cut >= done and ranked[cut - 1] == ranked[cut]:
            run = slice(
                int(np.searchsorted(ranked, ranked[cut], side="left")),
                int(np.searchsorted(ranked, ranked[cut], side="right")),
            )
            tied = order[run]
            keys = keyed_hash(seed, pool.ids[members[tied]])
            order[run] = tied[np.argsort(keys, kind="stable")]
            done = run.stop
    codes = np.empty(len(by), dtype=np.int64)
    codes[order] = np.repeat(np.arange(len(cuts) - 1), np.diff(cuts))
    return codes
