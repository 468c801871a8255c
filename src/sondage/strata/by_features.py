"""Strata of items with like features: the columns that a pool carries as ``features=``."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import ClassVar, Literal, get_args

import numpy as np

from sondage.errors import InvalidInput
from sondage.pool.keyed_order import LazyOrder, cutting_seed, keyed_hash
from sondage.pool.pool import Pool
from sondage.strata.base import Strata
from sondage.strata.hierarchy import Tree
from sondage.strata.kmeans import kmeans, means, nearest
from sondage.strata.stratification import Stratification, left_out, numbered
from sondage.streams import stream
from sondage.types import Array, Floats, Ints
from sondage.wording import short

Method = Literal["ward", "average", "complete", "single", "weighted", "centroid", "median"]
_NAMED = 4
"""Coordinates of a centre that its name gives."""
_DIGITS = 10
"""Spreads are compared to so many, lest rounding decide which feature is cut."""


@dataclass(frozen=True)
class FeatureStrata(Strata):
    """What rules on features share. A rule of its own overrides ``describe``."""

    count: int = 10

    def __post_init__(self) -> None:
        self.require(count="at least 1")

    def codes(self, pool: Pool, systems: tuple[str, ...], seed: int) -> Array:
        return self.describe(pool, systems, seed).codes

    def _features(self, pool: Pool, standardise: bool) -> tuple[Array, Floats]:
        """The table, and what each feature is divided by: its standard deviation, one if all are equal."""
        if pool.features is None:
            raise InvalidInput(
                f"strata {self.alias!r} look at features, and the pool has none: pass features=[...] when "
                "making it, or use strata along the score such as 'equal-size'"
            )
        if not standardise:
            return pool.features, np.ones(pool.features.shape[1])
        spread = np.array([column.std(dtype=np.float64) for column in pool.features.T])
        return pool.features, np.where(spread > 0, spread, 1.0)

    def _stratification(
        self, codes: Array, tree: Tree, names: list[str], named_by: str, notes: tuple[str, ...] = ()
    ) -> Stratification:
        """Strata in the order of their tree."""
        codes, used, pruned = numbered(codes, len(tree.leaf), tree)
        if len(tree.leaf) < self.count:
            notes = (*notes, "no more items differ in their features: equal items stay together")
        elif len(used) < self.count:
            notes = (*notes, left_out(self.count - len(used), self.count, "clusters"))
        held = tuple(names[k] for k in used)
        return Stratification(self.alias, codes, held, named_by, self.count, None, notes, pruned)

    def _around(self, pool: Pool, codes: Array, tree: Tree, centres: Floats, found_on: int) -> Stratification:
        """Clusters named by the first coordinates of their centres."""
        features = pool.roles.features
        more = ", ..." if len(features) > _NAMED else ""
        names = [
            ", ".join(f"{name} {short(x)}" for name, x in zip(features[:_NAMED], centre, strict=False)) + more
            for centre in centres.tolist()
        ]
        sampled = f"found on {found_on:,} of {len(pool):,} items, the others put to the nearest"
        return self._stratification(codes, tree, names, "around", (sampled,) if found_on < len(pool) else ())


@dataclass(frozen=True)
class KMeansOnFeatures(FeatureStrata):
    """Clusters of features by k-means, the best of ``starts`` starts.

    Features are divided by their standard deviations unless ``standardise=False``. In a pool of more than
    ``sample`` items the centres are found on that many, and every item goes to the nearest. The tree
    joins the centres (Ward 1963), and clusters are numbered in its order.

    >>> pool = Pool.from_arrays(score=[0.1] * 4, features={"x": [0, 0, 7, 7], "y": [0, 1, 8, 9]})
    >>> KMeansOnFeatures(2).describe(pool).size.tolist()
    [2, 2]
    """

    alias: ClassVar[str] = "kmeans"
    standardise: bool = True
    starts: int = 4
    sample: int = 10_000

    def __post_init__(self) -> None:
        self.require(count="at least 1", starts="at least 1", sample="at least 1")

    def describe(self, pool: Pool, systems: tuple[str, ...] | None = None, seed: int = 0) -> Stratification:
        """The clusters, named by their centres."""
        features, scale = self._features(pool, self.standardise)
        rows = _some(pool, seed, self.sample)
        centres = kmeans(features[rows] / scale, self.count, stream(seed, "order"), self.starts)
        tree, number = _joined(centres, "ward")
        centres = centres[np.argsort(number)]
        return self._around(pool, nearest(features, centres, scale)[0], tree, centres * scale, len(rows))


@dataclass(frozen=True)
class Linkage(FeatureStrata):
    """Clusters of features by joining the two nearest again and again, with the tree that this makes.

    ``method`` is one of ``scipy.cluster.hierarchy.linkage``. The work grows with the square of the
    items: in a pool of more than ``sample`` items that many are joined, and then every item goes to the
    cluster with the nearest mean. Features are divided by their standard deviations unless
    ``standardise=False``.

    >>> pool = Pool.from_arrays(score=[0.1] * 4, features={"x": [0, 1, 7, 8], "y": [0, 0, 9, 9]})
    >>> Linkage(2).describe(pool).size.tolist()
    [2, 2]
    """

    alias: ClassVar[str] = "linkage"
    method: Method = "ward"
    standardise: bool = True
    sample: int = 2_000

    def __post_init__(self) -> None:
        self.require(count="at least 1", sample="at least 1")
        if self.method not in get_args(Method):
            raise InvalidInput(f"method= must be one of {get_args(Method)}, not {self.method!r}")

    def describe(self, pool: Pool, systems: tuple[str, ...] | None = None, seed: int = 0) -> Stratification:
        """The clusters, named by their means."""
        features, scale = self._features(pool, self.standardise)
        rows = _some(pool, seed, self.sample)
        points = features[rows] / scale
        tree, stratum = _joined(points, self.method, self.count)
        centres = means(points, stratum, len(tree.leaf))
        codes = stratum if len(rows) == len(pool) else nearest(features, centres, scale)[0]
        return self._around(pool, codes, tree, centres * scale, len(rows))


@dataclass(frozen=True)
class KdTree(FeatureStrata):
    """Boxes of features: the one with most items is halved at a median, until there are ``count``.

    It is cut along the feature in which its items differ most, in units of the standard deviation over the
    pool; items with equal features stay together. The boxes keep the tree of their cuts.

    >>> pool = Pool.from_arrays(score=[0.1] * 4, features={"x": [0, 1, 7, 8]})
    >>> print(KdTree(2).describe(pool))
    strata 'kd-tree' of 4 items: 2 asked for, 2 made
    stratum  features  items   share
    0        x < 7         2  50.0 %
    1        7 <= x        2  50.0 %
    """

    alias: ClassVar[str] = "kd-tree"
    count: int = 16

    def describe(self, pool: Pool, systems: tuple[str, ...] | None = None, seed: int = 0) -> Stratification:
        """The boxes, named by their bounds."""
        features, scale = self._features(pool, True)
        codes = np.empty(len(features), dtype=np.int64)
        parent, leaf, names = [-1], list[int](), list[str]()
        waiting = [(0, grow(features, scale, self.count))]
        while waiting:
            number, box = waiting.pop()
            if box.halves is None:
                codes[box.rows] = len(leaf)
                leaf.append(number)
                names.append(box.words(pool.roles.features))
            else:
                parent += [number, number]
                waiting += [(len(parent) - 1, box.halves[1]), (len(parent) - 2, box.halves[0])]
        return self._stratification(codes, Tree(parent, leaf), names, "features")


@dataclass
class Box:
    """A box of a k-d tree: its rows, its bounds, and its two halves once it is cut (it has no rows then)."""

    rows: Ints
    bounds: dict[int, tuple[float, float]] = field(default_factory=dict)
    """By feature that was cut: from this value on, below that one."""
    halves: tuple[Box, Box] | None = None

    def words(self, names: tuple[str, ...]) -> str:
        """The box in words, as one condition for each side that is bounded."""
        parts = []
        for feature, (low, high) in sorted(self.bounds.items()):
            left = f"{short(low)} <= " if np.isfinite(low) else ""
            right = f" < {short(high)}" if np.isfinite(high) else ""
            parts.append(f"{left}{names[feature]}{right}")
        return ", ".join(parts) or "everything"


def grow(features: Array, scale: Floats, count: int) -> Box:
    """The root of a k-d tree with at most ``count`` leaves: the leaf with most items is halved next.

    It is cut at the median of the feature that is spread most inside it, in units of ``scale``; items
    with equal values stay together, so that a leaf of equal items is never cut.
    """
    root = Box(np.arange(len(features)))
    waiting: list[tuple[int, int, Box]] = [(-len(features), 0, root)]
    leaves, made = 1, 1
    while waiting and leaves < count:
        box = heapq.heappop(waiting)[2]
        if not _halve(box, features, scale):
            continue
        for half in box.halves or ():
            heapq.heappush(waiting, (-len(half.rows), made, half))
            made += 1
        leaves += 1
    return root


def _halve(box: Box, features: Array, scale: Floats) -> bool:
    """Cut a box in two; False if all its items are equal."""
    rows = box.rows
    spread = np.array([features[rows, j].std(dtype=np.float64) for j in range(features.shape[1])]) / scale
    for feature in np.argsort(-np.round(spread, _DIGITS), kind="stable").tolist():
        column = features[rows, feature]
        value = _median_cut(column)
        if value is None:
            continue
        low, high = box.bounds.get(feature, (-np.inf, np.inf))
        below = column < value
        box.halves = (
            Box(rows[below], {**box.bounds, feature: (low, value)}),
            Box(rows[~below], {**box.bounds, feature: (value, high)}),
        )
        box.rows = rows[:0]
        return True
    return False


def _median_cut(column: Array) -> float | None:
    """The value that parts a column most evenly into below and not below; None if all are equal."""
    middle = np.partition(column, len(column) // 2)[len(column) // 2]
    below, above = np.count_nonzero(column < middle), np.count_nonzero(column > middle)
    if below == above == 0:
        return None
    return float(middle if below >= above else column[column > middle].min())


def _some(pool: Pool, seed: int, most: int) -> Ints:
    """All rows, or a random ``most`` of them; in the order of ids."""
    if len(pool) <= most:
        return np.arange(len(pool))
    rows, _ = LazyOrder(len(pool), lambda: keyed_hash(cutting_seed(seed), pool.ids)).first(most)
    return np.sort(rows)


def _joined(points: Floats, method: Method, count: int | None = None) -> tuple[Tree, Ints]:
    """The tree over clusters of points (over the points themselves, if not told how many)."""
    if len(points) == 1:
        return Tree([-1], [0]), np.zeros(1, dtype=np.int64)
    from scipy.cluster.hierarchy import linkage

    matrix = linkage(points, method)
    if count is None:
        return Tree.from_linkage(matrix, len(points))
    # Merges at distance 0 join equal items, which no cut should part.
    different = int(np.count_nonzero(matrix[:, 2] > 0)) + 1
    return Tree.from_linkage(matrix, min(count, different))
