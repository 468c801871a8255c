"""Strata from clusters that were made elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sondage.errors import InvalidInput
from sondage.pool.division import compressed
from sondage.pool.pool import Pool, pieces
from sondage.strata.base import Strata
from sondage.strata.hierarchy import Tree
from sondage.strata.stratification import Stratification
from sondage.types import Array


@dataclass(frozen=True, eq=False)
class Clusters(Strata):
    """Clusters made elsewhere, by any clusterer.

    ``by`` is one of

    * the name of a group of the pool, which a journal can hold;
    * the label of every item, in the row order of the pool's source;
    * a fitted clusterer of the kind of scikit-learn: its ``predict`` on the pool's features if it has both,
      otherwise its ``labels_``, in the row order of the source;
    * a linkage matrix of scipy over the items in the row order of the source, cut into ``count`` clusters,
      which keep its tree; so does a clusterer that has ``children_``.

    Items that a clusterer left alone (label -1) are a stratum of their own. A study with anything but a
    name cannot be loaded from its journal: put the labels into a group where that matters.

    >>> pool = Pool.from_arrays(score=[0.1, 0.2, 0.3, 0.4])
    >>> Clusters(["b", "a", "b", "b"]).describe(pool).size.tolist()
    [1, 3]
    """

    alias: ClassVar[str] = "clusters"
    by: Any
    count: int | None = None

    def __post_init__(self) -> None:
        if self.count is not None:
            self.require(count="at least 1")

    def config(self) -> dict[str, Any]:
        """The options of the rule; an array or a clusterer is only named, since a journal cannot hold it."""
        if isinstance(self.by, str):
            return super().config()
        said = f"strata 'clusters' by {type(self.by).__name__}; the name of a group would be kept"
        options = {"by": {"code": said}, "count": self.count}
        return {"family": self._family, "alias": self.alias, "options": options}

    def codes(self, pool: Pool, systems: tuple[str, ...], seed: int) -> Array:
        return self.describe(pool, systems, seed).codes

    def describe(self, pool: Pool, systems: tuple[str, ...] | None = None, seed: int = 0) -> Stratification:
        """The clusters, named by their labels, in the order of these or of their tree."""
        if isinstance(self.by, str):
            group = pool.group(self.by)
            return self._stratification(group.codes, group.levels, None)
        merges = self._merges()
        if merges is not None:
            return self._cut(pool, *merges)
        if self.count is not None:
            raise InvalidInput("strata 'clusters': count= cuts a linkage, and by= is none: leave count= out")
        levels, codes = np.unique(self._labels(pool), return_inverse=True)
        return self._stratification(compressed(codes.ravel()), tuple(map(str, levels.tolist())), None)

    def _merges(self) -> tuple[Any, int] | None:
        """A linkage and the number of clusters to cut it into; None if ``by`` is no linkage."""
        merges = getattr(self.by, "children_", self.by)
        given = not hasattr(self.by, "labels_") and np.ndim(merges) == 2
        # A clusterer may stop as soon as it has its clusters: its merges are then no tree.
        whole = hasattr(self.by, "children_") and len(merges) + 1 == len(self.by.labels_)
        if not (given or whole):
            return None
        count = self.count if self.count is not None else getattr(self.by, "n_clusters_", None)
        if count is None:
            raise InvalidInput("strata 'clusters' of a linkage need count=: how many clusters to cut it into")
        return merges, int(count)

    def _cut(self, pool: Pool, merges: Any, count: int) -> Stratification:
        if len(merges) + 1 != len(pool):
            raise InvalidInput(
                f"strata 'clusters': the linkage is over {len(merges) + 1:,} items and the pool has "
                f"{len(pool):,}: fit it on the rows of the pool"
            )
        tree, stratum = Tree.from_linkage(merges, min(count, len(pool)))
        names = tuple(str(number) for number in range(len(tree.leaf)))
        return self._stratification(compressed(pool.ordered(stratum)), names, tree)

    def _labels(self, pool: Pool) -> Array:
        by = self.by
        if hasattr(by, "predict") and pool.features is not None:
            return np.concatenate([by.predict(pool.features[piece]) for piece in pieces(len(pool))])
        labels = np.asarray(getattr(by, "labels_", by))
        if labels.ndim != 1 or len(labels) != len(pool):
            have = f"{len(labels):,} labels" if labels.ndim == 1 else type(by).__name__
            raise InvalidInput(
                f"strata 'clusters': by= must be a label for each of the pool's {len(pool):,} items, the "
                "name of a group, a linkage, or a fitted clusterer (which may predict if the pool has "
                f"features), not {have}"
            )
        return np.asarray(pool.ordered(labels))

    def _stratification(self, codes: Array, names: tuple[str, ...], tree: Tree | None) -> Stratification:
        alone = "-1" in names
        notes = ("items in no cluster (label -1) are a stratum of their own",) if alone else ()
        return Stratification(self.alias, codes, names, "cluster", self.count, None, notes, tree)
