"""Hierarchies: trees whose leaves are strata, for beliefs that let neighbours learn from each other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from sondage.errors import InvalidInput
from sondage.types import Array, Bools, Floats, Ints

_INDENT = 3
"""Characters that one level takes in a drawing."""


class Tree:
    """A rooted tree over strata 0, 1, 2, ...: which node is above which, and which nodes are strata.

    Nodes may come numbered in any way; they are renumbered level by level from the root, which becomes
    node 0, and inside a level from the first stratum to the last. The strata under a node must be
    neighbours. Draw it with ``text`` or ``sondage.plot.tree``.

    Parameters
    ----------
    parent
        (V,) the node above each node, -1 above the root.
    leaf
        (K,) the node of each stratum.

    >>> tree = complete_tree(4)
    >>> tree.parent.tolist(), tree.leaf.tolist()
    ([-1, 0, 0, 1, 1, 2, 2], [3, 4, 5, 6])
    >>> tree.depth.tolist(), tree.leaves_under(2), tree.path(3).tolist()
    ([0, 1, 1, 2, 2, 2, 2], range(2, 4), [0, 2, 6])
    """

    def __init__(self, parent: Any, leaf: Any) -> None:
        above, place = np.asarray(parent, dtype=np.int64), np.asarray(leaf, dtype=np.int64)
        depth = _depth(above, place)
        first = np.full(len(above), len(place))
        first[place] = np.arange(len(place))
        for level in range(int(depth.max()), 0, -1):
            nodes = np.flatnonzero(depth == level)
            np.minimum.at(first, above[nodes], first[nodes])
        order = np.lexsort((first, depth))
        rank = np.argsort(order)
        self.parent: Ints = np.where(above < 0, -1, rank[above])[order]
        self.leaf: Ints = rank[place]
        self.depth: Ints = depth[order]
        self.n_children: Ints = np.bincount(self.parent[1:], minlength=len(order))
        # Of each depth below the root: its nodes, where the children of each parent begin, and the parents.
        self._levels: list[tuple[slice, Ints, Ints]] = []
        for begin, end in pairwise(np.cumsum(np.bincount(self.depth)).tolist()):
            siblings = self.parent[begin:end]
            starts = np.flatnonzero(np.concatenate([[True], siblings[1:] != siblings[:-1]]))
            self._levels.append((slice(begin, end), starts, siblings[starts]))
        self.n_leaves: Ints = self.sum_up(np.ones(len(place))).astype(np.int64)
        self._first: Ints = first[order]
        apart = self._first + self.n_leaves != self._up(np.arange(1, len(place) + 1), np.maximum)
        if apart.any():
            raise InvalidInput(
                f"leaf=: the strata under node {order[np.argmax(apart)]} are no neighbours: number the "
                "strata in the order in which the tree meets them"
            )
        for array in (self.parent, self.leaf, self.depth, self.n_children, self.n_leaves):
            array.flags.writeable = False

    @classmethod
    def from_linkage(cls, matrix: Any, count: int) -> tuple[Tree, Ints]:
        """The last ``count - 1`` merges of a clustering as a tree, and the stratum of every observation.

        ``matrix`` is what ``scipy.cluster.hierarchy.linkage`` returns, or the ``children_`` of a
        scikit-learn clusterer: row i names the two clusters that become cluster n + i.

        >>> tree, stratum = Tree.from_linkage([[0, 1], [2, 3], [4, 5]], count=2)
        >>> tree.parent.tolist(), stratum.tolist()
        ([-1, 0, 0], [0, 0, 1, 1])
        """
        merges = _merges(matrix)
        n = len(merges) + 1
        if not 1 <= count <= n:
            raise InvalidInput(f"count= must be from 1 to the {n} observations of the linkage, not {count}")
        above = np.full(2 * n - 1, -1)
        above[merges] = np.arange(n, 2 * n - 1)[:, None]
        cut = 2 * n - count  # clusters from here on are made by the merges that are kept
        node = np.full(2 * n - 1, -1)
        node[_met_in_order(merges, n, cut)] = np.arange(count)
        node[cut:] = np.arange(count, 2 * count - 1)
        kept = np.flatnonzero(node >= 0)
        parent = np.full(2 * count - 1, -1)
        parent[node[kept]] = np.where(above[kept] < 0, -1, node[above[kept]])
        top = _tops(np.where(above < cut, above, -1))
        return cls(parent, np.arange(count)), node[top[:n]]

    @classmethod
    def from_codes(cls, *codes: Any) -> Tree:
        """A level per code: strata with different first codes part at the root, the others below it.

        >>> Tree.from_codes([0, 0, 1], [0, 1, 0]).parent.tolist()
        [-1, 0, 0, 1, 1]
        """
        levels = np.stack([np.asarray(one, dtype=np.int64) for one in codes], axis=1)
        parent = [np.array([-1])]
        place, begin = np.zeros(len(levels), dtype=np.int64), 1
        for level in range(1, len(codes) + 1):
            prefixes, inverse = np.unique(levels[:, :level], axis=0, return_inverse=True)
            above = np.empty(len(prefixes), dtype=np.int64)
            above[inverse.ravel()] = place
            parent.append(above)
            place = begin + inverse.ravel()
            begin += len(prefixes)
        return cls(*_contracted(np.concatenate(parent), place))

    def __len__(self) -> int:
        return len(self.parent)

    def __repr__(self) -> str:
        return f"Tree({len(self.leaf)} strata, {len(self)} nodes, depth {int(self.depth.max())})"

    def children(self, node: int) -> range:
        """The nodes right under a node; their numbers are neighbours."""
        begin = int(np.searchsorted(self.parent, node))
        return range(begin, begin + int(self.n_children[node]))

    def leaves_under(self, node: int) -> range:
        """The strata under a node; their numbers are neighbours."""
        return range(int(self._first[node]), int(self._first[node] + self.n_leaves[node]))

    def path(self, stratum: int) -> Ints:
        """The nodes from the root down to a stratum."""
        nodes = [int(self.leaf[stratum])]
        while nodes[-1]:
            nodes.append(int(self.parent[nodes[-1]]))
        return np.array(nodes[::-1])

    def sum_up(self, values: Array) -> Floats:
        """(V, ...) sums over the strata under each node, from (K, ...) values of the strata.

        >>> complete_tree(4).sum_up(np.array([1, 2, 3, 4])).tolist()
        [10.0, 3.0, 7.0, 1.0, 2.0, 3.0, 4.0]
        """
        return self._up(values, np.add)

    def pruned(self, keep: Bools) -> Tree:
        """The tree over some of the strata, numbered anew; nodes left with one child are taken out.

        >>> complete_tree(4).pruned(np.array([True, False, True, True])).parent.tolist()
        [-1, 0, 0, 2, 2]
        """
        keep = np.asarray(keep, dtype=bool)
        if keep.shape != self.leaf.shape or not keep.any():
            raise InvalidInput(f"keep= needs True or False for each of {len(self.leaf)} strata, one True")
        used = self.sum_up(keep) > 0
        number = np.cumsum(used) - 1
        above = self.parent[used]
        return Tree(*_contracted(np.where(above < 0, -1, number[above]), number[self.leaf[keep]]))

    def text(
        self,
        names: Sequence[str] | None = None,
        size: Ints | None = None,
        *,
        lines: int = 40,
        width: int = 80,
    ) -> str:
        """A drawing that fits a terminal: nodes for which there is no room stay closed and end in dots.

        ``names`` and ``size`` are those of the strata, as a ``Stratification`` has them.

        >>> print(complete_tree(3).text(size=np.array([500, 20, 4])))
        strata 0 to 2, 524 items
        ├─ strata 0 to 1, 520 items
        │  ├─ stratum 0, 500 items
        │  └─ stratum 1, 20 items
        └─ stratum 2, 4 items
        """
        opened = self._opened(lines, width)
        items = None if size is None else self.sum_up(size)
        drawn: list[str] = []

        def draw(node: int, before: str, below: str) -> None:
            under = self.leaves_under(node)
            if len(under) > 1:
                line = f"{before}strata {under[0]} to {under[-1]}"
            else:
                line = f"{before}stratum {under[0]}{'' if names is None else f' ({names[under[0]]})'}"
            line += "" if items is None else f", {int(items[node]):,} items"
            line += " ..." if self.n_children[node] and node not in opened else ""
            drawn.append(line if len(line) <= width else line[: width - 3] + "...")
            if node in opened:
                *others, last = self.children(node)
                for child in others:
                    draw(child, below + "├─ ", below + "│  ")
                draw(last, below + "└─ ", below + "   ")

        draw(0, "", "")
        return "\n".join(drawn)

    def _opened(self, lines: int, width: int) -> set[int]:
        """The nodes whose children are drawn: level by level, as far as there is room."""
        room, deepest = lines - 1, width // (2 * _INDENT)
        opened: set[int] = set()
        for node in range(len(self)):
            children = int(self.n_children[node])
            in_sight = node == 0 or int(self.parent[node]) in opened
            if in_sight and 0 < children <= room and self.depth[node] < deepest:
                opened.add(node)
                room -= children
        return opened

    def _up(self, values: Array, combine: np.ufunc) -> Floats:
        """Values of the strata combined on the way to the root, all nodes of a level at once."""
        total = np.zeros((len(self), *np.shape(values)[1:]))
        total[self.leaf] = values
        for nodes, begin, parents in reversed(self._levels):
            total[parents] = combine.reduceat(total[nodes], begin, axis=0)
        return total


def complete_tree(leaves: int, branching: int = 2, *, depth: int | None = None) -> Tree:
    """The tree in which every node has ``branching`` children, filled with strata from the left.

    Where the strata do not fill the last level, nodes with one child are taken out. ``depth`` asks for
    the least branching that holds the strata in so many levels; ``depth=1`` is the flat tree.

    >>> complete_tree(5).parent.tolist()
    [-1, 0, 0, 1, 1, 3, 3, 4, 4]
    >>> complete_tree(256, depth=8), complete_tree(256, depth=1)
    (Tree(256 strata, 511 nodes, depth 8), Tree(256 strata, 257 nodes, depth 1))
    """
    if leaves < 1:
        raise InvalidInput(f"leaves= must be at least 1, not {leaves}")
    if depth is not None:
        if depth < 1:
            raise InvalidInput(f"depth= must be at least 1, not {depth}")
        branching = 2
        while branching**depth < leaves:
            branching += 1
    if branching < 2:
        raise InvalidInput(f"branching= must be at least 2, not {branching}")
    counts = [leaves]
    while counts[-1] > 1:
        counts.append(-(-counts[-1] // branching))
    begins = np.concatenate([[0], np.cumsum(counts[::-1])])
    parent = [np.array([-1])]
    for begin, count in zip(begins, counts[-2::-1], strict=False):
        parent.append(begin + np.arange(count) // branching)
    return Tree(*_contracted(np.concatenate(parent), begins[-2] + np.arange(leaves)))


def _depth(parent: Ints, leaf: Ints) -> Ints:
    """Levels between each node and the root; refuses what is no tree with these leaves."""
    nodes = len(parent)
    if parent.ndim != 1 or np.count_nonzero(parent == -1) != 1 or (parent < -1).any():
        raise InvalidInput("parent= must be -1 at one node, the root, and name a node everywhere else")
    if (parent >= nodes).any():
        raise InvalidInput(f"parent= names node {parent.max()}, but there are {nodes}")
    childless = np.flatnonzero(np.bincount(parent[parent >= 0], minlength=nodes) == 0)
    if sorted(leaf.tolist()) != childless.tolist():
        raise InvalidInput("leaf= must name every node without children once, and no other")
    depth, above = np.zeros(nodes, dtype=np.int64), parent
    while (above >= 0).any():
        depth += above >= 0
        above = np.where(above < 0, -1, parent[above])
        if depth.max() > nodes:
            raise InvalidInput("parent= goes in a circle: every node must lead to the root")
    return depth


def _contracted(parent: Ints, leaf: Ints) -> tuple[Ints, Ints]:
    """The tree without nodes that have a single child, the root included."""
    single = np.bincount(parent[parent >= 0], minlength=len(parent)) == 1
    parent = parent.copy()
    while (skip := (parent >= 0) & single[parent]).any():
        parent[skip] = parent[parent[skip]]
    number = np.cumsum(~single) - 1
    above = parent[~single]
    return np.where(above < 0, -1, number[above]), number[leaf]


def _merges(matrix: Any) -> Ints:
    """The two clusters of every merge, checked."""
    table = np.asarray(matrix)
    if table.ndim != 2 or table.shape[1] < 2:
        raise InvalidInput("a linkage has a row per merge, with the two clusters merged in its first columns")
    merges = table[:, :2].astype(np.int64)
    ids = np.sort(merges.ravel())
    late = (merges >= len(merges) + 1 + np.arange(len(merges))[:, None]).any()
    if late or (ids != np.arange(2 * len(merges))).any():
        raise InvalidInput(
            "the linkage must merge every cluster once, and name no cluster before it is made: "
            "pass what scipy.cluster.hierarchy.linkage returns, or children_ of a full scikit-learn tree"
        )
    return merges


def _met_in_order(merges: Ints, n: int, cut: int) -> list[int]:
    """The clusters at the cut, in the order in which a walk from the root meets them."""
    met, waiting = [], [2 * n - 2]
    while waiting:
        cluster = waiting.pop()
        if cluster < cut:
            met.append(cluster)
        else:
            waiting.extend(merges[cluster - n, ::-1].tolist())
    return met


def _tops(above: Ints) -> Ints:
    """The topmost node above each node (itself where there is none)."""
    top = np.where(above < 0, np.arange(len(above)), above)
    while (further := top[top]).tolist() != top.tolist():
        top = further
    return top
