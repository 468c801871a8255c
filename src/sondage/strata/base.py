"""Strata: bands of the pool in which labels are expected to be alike."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sondage.errors import InvalidInput
from sondage.pool.division import crossed
from sondage.pool.pool import CHUNK, Pool
from sondage.pool.units import CellUnits
from sondage.registry import Named
from sondage.strata.score_column import score_column, score_ranges
from sondage.strata.stratification import Stratification
from sondage.types import Array, Floats, Ints, is_number


class Strata(Named, family="sondage.strata"):
    """A rule that puts every item into one band, the same for any row order of the source.

    Contract
    --------
    * every item is in one band; bands are numbered 0, 1, 2, ... and none is empty;
    * neighbouring numbers are neighbouring bands, which may be joined where labels are few;
    * pool, systems and seed determine the bands, on any machine and for any row order;
    * a pool that the rule cannot cut is refused with the reason and a way out.
    """

    @abstractmethod
    def codes(self, pool: Pool, systems: tuple[str, ...], seed: int) -> Array:
        """The band of every item, numbered from 0; neighbouring numbers are neighbouring bands."""

    def cell_units(
        self, pool: Pool, systems: tuple[str, ...], seed: int, signature: Array | None = None
    ) -> CellUnits:
        """The cells of the bands and of what else tells items apart: what a design works on."""
        return CellUnits(pool, self.codes(pool, systems, seed), signature, seed=seed)

    def describe(self, pool: Pool, systems: tuple[str, ...] | None = None, seed: int = 0) -> Stratification:
        """The strata of a pool with their sizes, and how they differ from what was asked for.

        >>> pool = Pool.from_arrays(score=[0.1, 0.2, 0.4, 0.7, 0.9])
        >>> EqualSize(2).describe(pool)
        Stratification(strata 'equal-size' of 5 items: 2 asked for, 2 made)
        """
        systems = systems or (pool.system_name(),)
        codes = self.codes(pool, systems, seed)
        size = np.bincount(codes)
        requested: int | None = getattr(self, "count", None)
        notes: tuple[str, ...] = ()
        if requested is not None and len(size) < requested:
            notes = (f"the pool has {len(pool):,} items: there cannot be more strata",)
        named_by, names = self._names(pool, systems, codes, len(size))
        return Stratification(self.alias, codes, size, names, named_by, requested, notes=notes)

    def _names(
        self, pool: Pool, systems: tuple[str, ...], codes: Array, count: int
    ) -> tuple[str, tuple[str, ...]]:
        """What the strata differ in, and what each holds of it."""
        score = score_column(pool, systems)
        if score is None:
            return "holds", ("items",) * count
        return "along the score", score_ranges(score, codes, count)


@dataclass(frozen=True)
class OneStratum(Strata):
    """The whole pool."""

    alias: ClassVar[str] = "none"

    def codes(self, pool: Pool, systems: tuple[str, ...], seed: int) -> Array:
        """Zero for every item."""
        return np.zeros(len(pool), dtype=np.int8)

    def _names(
        self, pool: Pool, systems: tuple[str, ...], codes: Array, count: int
    ) -> tuple[str, tuple[str, ...]]:
        return "holds", ("the whole pool",)


@dataclass(frozen=True)
class EqualSize(Strata):
    """``count`` bands of about equal size along the score (or the spread, for regression).

    Equal scores stay in one band: what parts them would decide as well which of them is drawn.
    """

    alias: ClassVar[str] = "equal-size"
    count: int = 10

    def __post_init__(self) -> None:
        check_count(self.count)

    def codes(self, pool: Pool, systems: tuple[str, ...], seed: int) -> Array:
        """Bands in the order of the score."""
        score = score_column(pool, systems)
        order = np.zeros(len(pool)) if score is None else score
        cuts = np.unique(np.rint(np.linspace(0, len(pool), self.count + 1)).astype(np.int64))
        return _whole_runs(order, cuts)


@dataclass(frozen=True)
class LogRank(Strata):
    """Bands that widen with the rank from the decision boundary, inside each predicted class.

    Band k+1 holds ``growth`` times the items nearer to the boundary than it, at most the share
    ``largest`` of its class. Errors crowd at the boundary and thin out with rank, so this puts the
    narrow bands where they pay, whatever the scale or calibration of the scores. Equal scores stay in one
    band, however many they are. With more than two classes, neighbouring bands are joined until there are
    about ``most`` in all: bands that get no label would have to be stood for by others. With ``across``,
    ranks are over all predicted classes together, by how sure the systems are.
    """

    alias: ClassVar[str] = "log-rank"
    growth: float = 0.3
    largest: float = 1 / 16
    most: int = 60
    across: bool = False

    def __post_init__(self) -> None:
        if not (is_number(self.growth) and 0 < self.growth < np.inf):
            raise InvalidInput(f"growth= must be a number above 0, not {self.growth!r}")
        if not (is_number(self.largest) and 0 < self.largest <= 1):
            raise InvalidInput(f"largest= must be a number in (0, 1], not {self.largest!r}")
        check_count(self.most, "most")

    def codes(self, pool: Pool, systems: tuple[str, ...], seed: int) -> Array:
        """Bands numbered by predicted class, then outwards from the boundary."""
        if not pool.labels.finite:
            return EqualSize(10).codes(pool, systems, seed)
        classes = predicted_pattern(pool, systems)
        if self.across:
            return self._across(pool, systems, classes)
        codes = np.empty(len(pool), dtype=np.int32)
        begin, found = 0, np.unique(classes)
        each = max(1, self.most // len(found))
        for one in found:
            members = np.flatnonzero(classes == one)
            distance = from_boundary(pool, systems, members)
            cuts = self._cuts(len(members))
            if pool.labels.size > 2:
                cuts = cuts[np.unique(np.rint(np.linspace(0, len(cuts) - 1, each + 1)).astype(np.int64))]
            bands = _whole_runs(np.zeros(len(members)) if distance is None else distance, cuts)
            codes[members] = begin + bands
            begin += int(bands.max()) + 1
        return codes

    def _across(self, pool: Pool, systems: tuple[str, ...], classes: Array) -> Array:
        """Bands of how sure the systems are, whatever they predict."""
        far = np.zeros(len(pool))
        for one in np.unique(classes):
            members = np.flatnonzero(classes == one)
            distance = from_boundary(pool, systems, members)
            if distance is not None:
                far[members] = distance
        return _whole_runs(far, self._cuts(len(pool)))

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

    def _names(
        self, pool: Pool, systems: tuple[str, ...], codes: Array, count: int
    ) -> tuple[str, tuple[str, ...]]:
        return f"group {self.name!r}", pool.group(self.name).levels


def check_count(count: int, name: str = "count", least: int = 1) -> None:
    """Refuse what is no number of strata, or of whatever else ``name`` counts."""
    if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < least:
        raise InvalidInput(f"{name}= must be a whole number of at least {least}, not {count!r}")


def predicted_pattern(pool: Pool, systems: tuple[str, ...]) -> Array:
    """What the systems together predict, as one number per item."""
    known = [pool.system(name).prediction for name in systems] if pool.labels.finite else []
    columns = [column for column in known if column is not None]
    return crossed(columns) if columns else np.zeros(len(pool), dtype=np.int8)


def from_boundary(pool: Pool, systems: tuple[str, ...], members: Ints) -> Floats | None:
    """How far items of one predicted pattern are from the decision boundary; only ranks matter.

    Of two classes, scores are taken to be higher for the second, unless they are clearly higher where the
    first is predicted. Of more, a score says how sure the prediction is.
    """
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
            if pool.labels.size == 2 and system.prediction is not None:
                above = bool(system.prediction[members[0]] > 0) != system.upside_down
                one = one if above else -one
        if len(systems) > 1:  # scores of different systems share no scale
            one = (one - one.mean()) / (one.std() or 1.0)
        total = one if total is None else total + one
    return total


def _whole_runs(by: Array, cuts: Ints) -> Array:
    """Bands between the cuts of the sorted values, each cut moved to the nearer end of a run of equal ones.

    Equal values are alike: cutting them apart gains nothing, and a curve through the parts takes chance for
    a slope.

    >>> _whole_runs(np.array([0.0, 0.0, 0.0, 0.0, 1.0, 2.0]), np.array([0, 1, 3, 5, 6])).tolist()
    [0, 0, 0, 0, 1, 2]
    """
    places = cuts[1:-1]
    value = _at(by, places)
    beyond = np.nextafter(value, np.inf)
    begin, end = _below(by, value), _below(by, beyond)  # of the run in which a cut lies
    to_begin = places - begin <= end - places
    edges, moved = np.where(to_begin, value, beyond), np.where(to_begin, begin, end)
    distinct, which = np.unique(moved, return_index=True)
    return _codes(by, edges[which[(distinct > 0) & (distinct < len(by))]])


def _at(by: Array, places: Ints) -> Array:
    """The values at some places of the sorted ones: they alone are sorted out, no permutation is held."""
    return np.partition(by, places)[places] if len(places) else by[:0]


def _codes(by: Array, edges: Array) -> Array:
    """The band of every value; each edge is where one begins."""
    codes = np.empty(len(by), dtype=np.int32)
    for start in range(0, len(by), CHUNK):
        codes[start : start + CHUNK] = np.searchsorted(edges, by[start : start + CHUNK], "right")
    return codes


def _below(by: Array, edges: Array) -> Ints:
    """How many values are below each edge."""
    return np.cumsum(np.bincount(_codes(by, edges), minlength=len(edges) + 1))[:-1]
