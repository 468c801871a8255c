"""Strata of items with like features: the columns that a pool carries as ``features=``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np

from sondage.errors import InvalidInput
from sondage.pool.keyed_order import LazyOrder, cutting_seed, keyed_hash
from sondage.pool.pool import Pool
from sondage.strata.base import Strata, check_count
from sondage.strata.hierarchy import Tree
from sondage.strata.kdtree import Node, grow
from sondage.strata.kmeans import kmeans, means, nearest
from sondage.strata.stratification import Stratification, left_out, numbered, short
from sondage.streams import stream
from sondage.types import Array, Floats, Ints

Method = Literal["ward", "average", "complete", "single", "weighted", "centroid", "median"]


@dataclass(frozen=True)
class FeatureStrata(Strata):
    """What rules on features share. A rule of its own overrides ``describe``."""

    count: int = 10

    def __post_init__(self) -> None:
        check_count(self.count)

    def codes(self, pool: Pool, systems: tuple[str, ...], seed: int) -> Array:
        """Strata in the order of their tree."""
        return self.describe(pool, systems, seed).codes

    def _features(self, pool: Pool) -> Array:
        if pool.features is None:
            raise InvalidInput(
                f"strata {self.alias!r} look at features, and the pool has none: pass features=[...] when "
                "making it, or use strata along the score such as 'equal-size'"
            )
        return pool.features

    def _stratification(
        self,
        codes: Array,
        tree: Tree,
        names: tuple[str, ...],
        named_by: str,
        notes: list[str],
    ) -> Stratification:
        codes, used, pruned = numbered(codes, len(tree.leaf), tree)
        if len(tree.leaf) < self.count:
            notes = [*notes, "no more items differ in their features: equal items stay together"]
        elif len(used) < self.count:
            notes = [*notes, left_out(self.count - len(used), self.count, "clusters")]
        return Stratification(
            self.alias,
            codes,
            np.bincount(codes),
            tuple(names[k] for k in used),
            named_by,
            self.count,
            None,
            tuple(notes),
            pruned,
        )


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
        super().__post_init__()
        check_count(self.starts, "starts")
        check_count(self.sample, "sample")

    def describe(self, pool: Pool, systems: tuple[str, ...] | None = None, seed: int = 0) -> Stratification:
        """The clusters; named by their centres."""
        features = self._features(pool)
        scale = _scale(features, self.standardise)
        rows = _some(pool, seed, self.sample)
        centres = kmeans(features[rows] / scale, self.count, stream(seed, "order"), self.starts)
        tree, number = _joined(centres, "ward")
        centres = centres[np.argsort(number)]
        codes, _ = nearest(features, centres, scale)
        return self._stratification(
            codes, tree, _in_words(centres * scale, pool), "around", _sampled(len(rows), len(pool))
        )


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
        super().__post_init__()
        check_count(self.sample, "sample")
        if self.method not in get_args(Method):
            raise InvalidInput(f"method= must be one of {get_args(Method)}, not {self.method!r}")

    def describe(self, pool: Pool, systems: tuple[str, ...] | None = None, seed: int = 0) -> Stratification:
        """The clusters; named by their means."""
        features = self._features(pool)
        scale = _scale(features, self.standardise)
        rows = _some(pool, seed, self.sample)
        points = features[rows] / scale
        tree, stratum = _joined(points, self.method, self.count)
        centres = means(points, stratum, len(tree.leaf))
        codes = stratum if len(rows) == len(pool) else nearest(features, centres, scale)[0]
        return self._stratification(
            codes, tree, _in_words(centres * scale, pool), "around", _sampled(len(rows), len(pool))
        )


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
        """The boxes; named by their bounds."""
        features = self._features(pool)
        root = grow(features, _scale(features, True), self.count)
        codes = np.empty(len(features), dtype=np.int64)
        parent, leaf, names = [-1], list[int](), list[str]()
        waiting: list[tuple[int, Node]] = [(0, root)]
        while waiting:
            number, node = waiting.pop()
            if node.halves is None:
                codes[node.rows] = len(leaf)
                leaf.append(number)
                names.append(node.words(pool.roles.features))
            else:
                parent += [number, number]
                waiting += [(len(parent) - 1, node.halves[1]), (len(parent) - 2, node.halves[0])]
        return self._stratification(codes, Tree(parent, leaf), tuple(names), "features", [])


def _scale(features: Array, standardise: bool) -> Floats:
    """What each feature is divided by: its standard deviation, one if all values are equal."""
    if not standardise:
        return np.ones(features.shape[1])
    spread = np.array([column.std(dtype=np.float64) for column in features.T])
    return np.where(spread > 0, spread, 1.0)


def _some(pool: Pool, seed: int, most: int) -> Ints:
    """All rows, or as many as wanted in an order of their own; in the order of ids."""
    if len(pool) <= most:
        return np.arange(len(pool))
    rows, _ = LazyOrder(len(pool), lambda: keyed_hash(cutting_seed(seed), pool.ids)).first(most)
    return np.sort(rows)


def _sampled(sample: int, items: int) -> list[str]:
    return (
        [f"found on {sample:,} of {items:,} items, the others put to the nearest"] if sample < items else []
    )


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


def _in_words(centres: Floats, pool: Pool, most: int = 4) -> tuple[str, ...]:
    """Centres in words: the first few coordinates."""
    names = pool.roles.features
    more = ", ..." if len(names) > most else ""
    return tuple(
        ", ".join(f"{name} {short(x)}" for name, x in zip(names[:most], centre, strict=False)) + more
        for centre in centres.tolist()
    )
