"""Strata along the score: equal scores are always in the same stratum."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from sondage.errors import InvalidInput, NotSupported
from sondage.pool.division import compressed
from sondage.pool.pool import Pool
from sondage.strata import boundaries
from sondage.strata.base import Strata
from sondage.strata.hierarchy import complete_tree
from sondage.strata.score_column import along_words, score_column, score_ranges
from sondage.strata.stratification import Stratification, left_out, numbered
from sondage.types import Array, Floats


@dataclass(frozen=True)
class EqualSize(Strata):
    """``count`` strata of about equal size along the score (or the spread, for regression).

    Equal scores stay in one stratum: what parts them would decide as well which of them is drawn.
    """

    alias: ClassVar[str] = "equal-size"
    count: int = 10

    def __post_init__(self) -> None:
        self.require(count="at least 1")

    def codes(self, pool: Pool, systems: tuple[str, ...], seed: int) -> Array:
        score = score_column(pool, systems)
        cuts = np.unique(np.rint(np.linspace(0, len(pool), self.count + 1)).astype(np.int64))
        return boundaries.whole_runs(np.zeros(len(pool)) if score is None else score, cuts)


@dataclass(frozen=True)
class ScoreBands(Strata):
    """What rules for boundaries share. A rule of its own overrides ``cuts``, and ``column`` at need."""

    count: int = 10

    def __post_init__(self) -> None:
        self.require(count="at least 1")

    @abstractmethod
    def cuts(self, score: Array) -> Floats:
        """Inner boundaries in rising order; the stratum above a boundary holds the scores equal to it."""

    def column(self, pool: Pool, systems: tuple[str, ...]) -> Array:
        """(N,) the column of scores that is cut into strata."""
        score = score_column(pool, systems)
        if score is None:
            raise InvalidInput(
                f"strata {self.alias!r} need a score to cut, and system {systems[0]!r} has none: pass score= "
                "or probability= when making the pool, or use strata 'group' or 'none'"
            )
        return score

    def codes(self, pool: Pool, systems: tuple[str, ...], seed: int) -> Array:
        score = self.column(pool, systems)
        return compressed(boundaries.bands(self._inner(score), score))

    def describe(self, pool: Pool, systems: tuple[str, ...] | None = None, seed: int = 0) -> Stratification:
        """The strata with their edges, and why there are fewer than asked for."""
        score = self.column(pool, systems or (pool.system_name(),))
        inner = self._inner(score)
        # A stratum without items is a node without items in the tree over all strata.
        full = complete_tree(len(inner) + 1)
        codes, used, tree = numbered(boundaries.bands(inner, score), len(inner) + 1, full)
        notes = []
        if systems is not None and len(systems) > 1:
            notes.append(f"cut along system {systems[0]!r}, the first of {len(systems)}")
        if len(used) < self.count:
            notes.append(self._why_fewer(score, len(inner) + 1 - len(used)))
        names = score_ranges(score, codes, len(used))
        along = along_words(pool, systems or (pool.system_name(),))
        edges = np.concatenate([[float(score.min())], inner[used[1:] - 1], [float(score.max())]])
        return Stratification(self.alias, codes, names, along, self.count, edges, tuple(notes), tree)

    def _inner(self, score: Array) -> Floats:
        """The boundaries between strata that hold a score on both sides."""
        inner = np.unique(self.cuts(score))
        return np.asarray(inner[(inner > score.min()) & (inner <= score.max())])

    def _why_fewer(self, score: Array, empty: int) -> str:
        different = len(np.unique(score))
        if different < self.count:
            return f"the score has {different:,} different values: equal scores stay together"
        if empty:
            return left_out(empty, self.count, "strata")
        return "some boundaries fell together: many items share a score, or bins are too wide"


@dataclass(frozen=True)
class EqualWidth(ScoreBands):
    """``count`` strata of equal width, from the least score to the greatest.

    Easy to read, and poor where scores are skewed: most items are then in a stratum or two.

    >>> pool = Pool.from_arrays(score=[0, 0.1, 0.2, 0.3, 1])
    >>> EqualWidth(2).codes(pool, ("model",), seed=0).tolist()
    [0, 0, 0, 0, 1]
    """

    alias: ClassVar[str] = "equal-width"

    def cuts(self, score: Array) -> Floats:
        return boundaries.equal_width(score, self.count)


@dataclass(frozen=True)
class CumulatedRootFrequency(ScoreBands):
    """Strata with equal shares of the cumulated root frequency (Dalenius and Hodges 1959).

    A histogram of the scores is made with ``bins`` bins (None: by the rule of Freedman and Diaconis, at
    least four for each stratum), and the running sum of the roots of its counts is cut into equal parts.
    The cuts lie between those of equal size and those of equal width.

    >>> pool = Pool.from_arrays(score=[0.05, 0.1, 0.15, 0.2, 0.3, 0.6, 0.8, 1])
    >>> CumulatedRootFrequency(3).describe(pool).size.tolist()
    [4, 2, 2]
    """

    alias: ClassVar[str] = "cum-sqrt-f"
    bins: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.bins is not None:
            self.require(bins="at least 1")

    def cuts(self, score: Array) -> Floats:
        return boundaries.cumulated_root_frequency(score, self.count, self.bins)


@dataclass(frozen=True)
class Geometric(ScoreBands):
    """Strata whose distance from ``origin`` grows by one factor (Gunning and Horgan 2004).

    For scores that crowd near the origin and thin out away from it. All scores must lie strictly on one
    side: with ``origin=1`` it is the distance of probabilities from 1 that is cut. A score at the
    origin would need endless strata, and is refused: move the origin a little away.

    >>> pool = Pool.from_arrays(score=[1, 3, 8, 20, 60, 1000])
    >>> Geometric(3).describe(pool).edges.tolist()
    [1.0, 10.0, 100.0, 1000.0]
    """

    alias: ClassVar[str] = "geometric"
    origin: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require(origin="(-inf, inf)")

    def cuts(self, score: Array) -> Floats:
        low, high = float(score.min()), float(score.max())
        if low <= self.origin <= high:
            margin = 0.01 * (high - low) or 1.0
            raise InvalidInput(
                f"strata 'geometric': scores go from {low:g} to {high:g}, and origin={self.origin:g} must be "
                f"below or above them all: pass origin={low - margin:g}, or origin={high + margin:g} for "
                "narrow strata at the top, or use strata 'cum-sqrt-f'"
            )
        return boundaries.geometric(score, self.count, self.origin)


@dataclass(frozen=True)
class KMeansOnScore(ScoreBands):
    """The strata with the least squared distance from their means: k-means in one dimension, solved exactly.

    Dynamic programming over the different scores; where there are more than ``cells`` of them (or four for
    each stratum), over that many small cells of neighbouring scores.

    >>> pool = Pool.from_arrays(score=[0, 1, 2, 50, 51, 90])
    >>> KMeansOnScore(3).codes(pool, ("model",), seed=0).tolist()
    [0, 0, 0, 1, 1, 2]
    """

    alias: ClassVar[str] = "kmeans-1d"
    cells: int = 1_000

    def __post_init__(self) -> None:
        self.require(count="at least 1", cells="at least 1")

    def cuts(self, score: Array) -> Floats:
        made = boundaries.cells(score, max(self.cells, 4 * self.count))
        return boundaries.best_cuts(made, boundaries.squared_error, self.count)


@dataclass(frozen=True)
class OptimalBands(ScoreBands):
    """The strata with the least variance of an estimated share, if scores are probabilities of success.

    ``allocation`` is how labels will be shared out: ``"neyman"`` in proportion to size times standard
    deviation, which makes the sum of sqrt(m (p - m)) over strata least, for p items and m expected
    successes in a stratum; ``"proportional"`` by size, which makes the sum of m (p - m) / p least. Solved
    exactly by dynamic programming, over cells as in ``KMeansOnScore``. The column is the probability
    (the greatest of several classes), or a score inside [0, 1].

    >>> pool = Pool.from_arrays(probability=[0.01, 0.02, 0.03, 0.5, 0.6, 0.97, 0.98])
    >>> OptimalBands(3).codes(pool, ("model",), seed=0).tolist()
    [0, 0, 0, 1, 1, 2, 2]
    """

    alias: ClassVar[str] = "optimal"
    allocation: Literal["neyman", "proportional"] = "neyman"
    cells: int = 1_000

    def __post_init__(self) -> None:
        self.require(count="at least 1", cells="at least 1", allocation=("neyman", "proportional"))

    def column(self, pool: Pool, systems: tuple[str, ...]) -> Array:
        """The chance of success of every item."""
        if not pool.labels.finite:
            raise NotSupported(
                f"strata 'optimal' reckon with classes, and the pool's labels are {pool.labels.words(3)}: "
                "use strata 'kmeans-1d' or 'cum-sqrt-f'"
            )
        system = pool.system(systems[0])
        if system.probability is not None:
            return system.probability if system.probability.ndim == 1 else system.probability.max(axis=1)
        score = system.score
        if score is None or score.min() < 0 or score.max() > 1:
            have = "none" if score is None else f"scores from {score.min():g} to {score.max():g}"
            raise InvalidInput(
                f"strata 'optimal' need probabilities in [0, 1], and the system has {have}: pass "
                "probability= when making the pool, or use strata 'cum-sqrt-f', which need no scale"
            )
        return score

    def cuts(self, score: Array) -> Floats:
        made = boundaries.cells(score, max(self.cells, 4 * self.count))
        cost = boundaries.neyman_cost if self.allocation == "neyman" else boundaries.proportional_cost
        return boundaries.best_cuts(made, cost, self.count)
