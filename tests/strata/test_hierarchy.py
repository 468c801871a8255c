"""Trees over strata: against walks from node to node, and against scipy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster import hierarchy
from sklearn.cluster import AgglomerativeClustering

from sondage.errors import InvalidInput
from sondage.strata import Tree, complete_tree


def nested(tree: Tree, node: int = 0) -> Any:
    """The tree as tuples in tuples, strata as numbers."""
    if not tree.n_children[node]:
        return tree.leaf.tolist().index(node)
    return tuple(nested(tree, child) for child in tree.children(node))


def pruned_by_hand(branch: Any, keep: set[int]) -> Any:
    if isinstance(branch, int):
        return branch if branch in keep else None
    left = [one for one in (pruned_by_hand(child, keep) for child in branch) if one is not None]
    return None if not left else left[0] if len(left) == 1 else tuple(left)


def renumbered(branch: Any, number: dict[int, int]) -> Any:
    return number[branch] if isinstance(branch, int) else tuple(renumbered(one, number) for one in branch)


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    tree = complete_tree(draw(st.integers(1, 40)), draw(st.integers(2, 5)))
    keep = np.array(draw(st.lists(st.booleans(), min_size=len(tree.leaf), max_size=len(tree.leaf))))
    return tree.pruned(keep) if keep.any() else tree


def test_complete_trees() -> None:
    assert nested(complete_tree(1)) == 0
    assert nested(complete_tree(2)) == (0, 1)
    assert nested(complete_tree(3)) == ((0, 1), 2)
    assert nested(complete_tree(6)) == (((0, 1), (2, 3)), (4, 5))
    assert nested(complete_tree(5, 3)) == ((0, 1, 2), (3, 4))
    assert nested(complete_tree(4, depth=1)) == (0, 1, 2, 3)
    assert nested(complete_tree(4, depth=2)) == ((0, 1), (2, 3))


@given(st.integers(1, 5), st.integers(1, 3))
def test_a_full_complete_tree_has_all_strata_at_one_depth(depth: int, branching: int) -> None:
    branching += 1
    tree = complete_tree(branching**depth, branching)
    assert set(tree.depth[tree.leaf].tolist()) == {depth}
    assert set(tree.n_children.tolist()) == {0, branching}


@given(st.integers(2, 300), st.integers(1, 9))
def test_depth_asks_for_the_least_branching(leaves: int, depth: int) -> None:
    tree = complete_tree(leaves, depth=depth)
    widest = int(tree.n_children.max())
    assert int(tree.depth.max()) <= depth
    assert widest == 2 or (widest - 1) ** depth < leaves


@settings(deadline=None)
@given(trees())
def test_the_arrays_against_walks(tree: Tree) -> None:
    paths = [tree.path(k).tolist() for k in range(len(tree.leaf))]
    for k, path in enumerate(paths):
        assert path[0] == 0
        assert path[-1] == tree.leaf[k]
        assert [int(tree.parent[node]) for node in path] == [-1, *path[:-1]]
        assert tree.depth[path].tolist() == list(range(len(path)))
    for node in range(len(tree)):
        under = [k for k, path in enumerate(paths) if node in path]
        assert list(tree.leaves_under(node)) == under
        assert tree.n_leaves[node] == len(under)
        assert list(tree.children(node)) == np.flatnonzero(tree.parent == node).tolist()
        assert len(tree.children(node)) == tree.n_children[node] != 1


@settings(deadline=None)
@given(trees(), st.integers(0, 10))
def test_sums_go_up(tree: Tree, seed: int) -> None:
    leaf = np.random.default_rng(seed).uniform(size=(len(tree.leaf), 2))
    up = tree.sum_up(leaf)
    for v in range(len(tree)):
        np.testing.assert_allclose(up[v], leaf[list(tree.leaves_under(v))].sum(axis=0))


@settings(deadline=None)
@given(st.integers(1, 30), st.integers(2, 4), st.data())
def test_pruning_takes_out_empty_and_single_nodes(leaves: int, branching: int, data: st.DataObject) -> None:
    tree = complete_tree(leaves, branching)
    keep = data.draw(st.sets(st.integers(0, leaves - 1), min_size=1))
    mask = np.isin(np.arange(leaves), list(keep))
    number = {old: new for new, old in enumerate(sorted(keep))}
    assert nested(tree.pruned(mask)) == renumbered(pruned_by_hand(nested(tree), keep), number)


def test_any_numbering_of_nodes_is_the_same_tree() -> None:
    tree = complete_tree(11, 3)
    for seed in range(5):
        at = np.random.default_rng(seed).permutation(len(tree))
        parent = np.empty(len(tree), dtype=np.int64)
        parent[at] = np.where(tree.parent < 0, -1, at[tree.parent])
        again = Tree(parent, at[tree.leaf])
        assert again.parent.tolist() == tree.parent.tolist()
        assert again.leaf.tolist() == tree.leaf.tolist()


# From a clustering


@pytest.mark.parametrize("method", ["ward", "single", "average", "complete"])
@pytest.mark.parametrize("count", [1, 2, 7, 40])
def test_a_linkage_is_cut_as_scipy_cuts_it(method: Any, count: int) -> None:
    matrix = hierarchy.linkage(np.random.default_rng(0).normal(size=(40, 3)), method)
    tree, stratum = Tree.from_linkage(matrix, count)
    theirs = hierarchy.fcluster(matrix, count, "maxclust")
    assert len(set(zip(stratum.tolist(), theirs.tolist(), strict=True))) == count
    assert sorted(set(stratum.tolist())) == list(range(count)) == list(tree.leaves_under(0))


def test_the_tree_of_a_linkage_is_that_of_scipy() -> None:
    """Every node holds exactly the observations of a cluster of the last merges."""
    matrix = hierarchy.linkage(np.random.default_rng(1).normal(size=(30, 2)), "average")
    tree, stratum = Tree.from_linkage(matrix, 9)
    mine = {
        frozenset(np.flatnonzero(np.isin(stratum, tree.leaves_under(v))).tolist()) for v in range(len(tree))
    }
    _, nodes = hierarchy.to_tree(matrix, rd=True)
    made_late = [frozenset(node.pre_order()) for node in nodes if node.id >= 60 - 9]
    assert mine >= set(made_late)
    assert len(mine) == 2 * 9 - 1


def test_a_linkage_of_scikit_learn() -> None:
    points = np.random.default_rng(2).normal(size=(50, 2))
    fitted = AgglomerativeClustering(6).fit(points)
    _, stratum = Tree.from_linkage(fitted.children_, 6)
    assert len(set(zip(stratum.tolist(), fitted.labels_.tolist(), strict=True))) == 6


def test_codes_part_at_the_root_first() -> None:
    tree = Tree.from_codes([0, 0, 1, 1, 2], [0, 3, 0, 1, 0], [5, 5, 1, 1, 1])
    assert nested(tree) == ((0, 1), (2, 3), 4)
    assert nested(Tree.from_codes([4])) == 0


# What is refused


@pytest.mark.parametrize(
    ("parent", "leaf", "match"),
    [
        ([0, 0], [1], "root"),
        ([-1, -1], [0, 1], "root"),
        ([-1, 0, 5], [1, 2], "node 5"),
        ([-1, 0, 0], [1], "leaf="),
        ([-1, 0, 0], [0, 1, 2], "leaf="),
        ([-1, 0, 3, 2, 3], [1, 4], "circle"),
        ([-1, 0, 0, 1, 1, 2, 2], [3, 5, 4, 6], "neighbours"),
    ],
)
def test_what_is_no_tree_is_refused(parent: list[int], leaf: list[int], match: str) -> None:
    with pytest.raises(InvalidInput, match=match):
        Tree(parent, leaf)


@pytest.mark.parametrize(
    ("matrix", "count", "match"),
    [
        ([[0, 1]], 3, "count="),
        ([[0, 1]], 0, "count="),
        ([0, 1], 1, "row per merge"),
        ([[0, 1], [0, 2]], 1, "every cluster once"),
        ([[3, 1], [0, 2]], 1, "before it is made"),
    ],
)
def test_what_is_no_linkage_is_refused(matrix: Any, count: int, match: str) -> None:
    with pytest.raises(InvalidInput, match=match):
        Tree.from_linkage(matrix, count)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"leaves": 0}, "leaves="),
        ({"leaves": 3, "branching": 1}, "branching="),
        ({"leaves": 3, "depth": 0}, "depth="),
    ],
)
def test_bad_options(options: dict[str, int], match: str) -> None:
    with pytest.raises(InvalidInput, match=match):
        complete_tree(**options)


def test_pruning_everything_is_refused() -> None:
    with pytest.raises(InvalidInput, match="keep="):
        complete_tree(2).pruned(np.array([False, False]))


def test_the_arrays_cannot_be_written_to() -> None:
    with pytest.raises(ValueError, match="read-only"):
        complete_tree(2).parent[0] = 1


# Drawn with letters: trees fit, and what is left out is said


def test_a_small_tree_is_drawn_whole() -> None:
    drawn = complete_tree(3).text(["low", "middle", "high"], np.array([10, 2000, 3]))
    assert drawn.splitlines() == [
        "strata 0 to 2, 2,013 items",
        "├─ strata 0 to 1, 2,010 items",
        "│  ├─ stratum 0 (low), 10 items",
        "│  └─ stratum 1 (middle), 2,000 items",
        "└─ stratum 2 (high), 3 items",
    ]


def test_one_stratum_is_drawn() -> None:
    assert complete_tree(1).text() == "stratum 0"


@pytest.mark.parametrize("tree", [complete_tree(256), complete_tree(256, 16), complete_tree(300, depth=1)])
@pytest.mark.parametrize(("lines", "width"), [(40, 80), (10, 30), (1000, 80)])
def test_a_large_tree_fits_and_shows_every_stratum_in_some_line(tree: Tree, lines: int, width: int) -> None:
    drawn = tree.text(lines=lines, width=width).splitlines()
    assert len(drawn) <= lines
    assert max(map(len, drawn)) <= width
    ends = [line for line in drawn if line.endswith(" ...") or "stratum" in line]
    shown = [int(word) for line in ends for word in line.replace("...", "").split() if word.isdigit()]
    first, last = shown[0], shown[-1]
    assert (first, last) == (0, len(tree.leaf) - 1)


def test_a_chain_is_not_drawn_beyond_half_the_width() -> None:
    """Merges one after the other: every node has a stratum and the rest."""
    merges = [[0, 1], *([60 + k, k + 2] for k in range(58))]
    tree, _ = Tree.from_linkage(merges, 60)
    drawn = tree.text(lines=200).splitlines()
    assert max(len(line) - len(line.lstrip("│├└─ ")) for line in drawn) <= 40
    assert any(line.endswith("...") for line in drawn)


def test_long_names_are_cut_in_a_drawing() -> None:
    drawn = complete_tree(2).text(["x" * 200, "y"], width=50).splitlines()
    assert len(drawn[1]) == 50
    assert drawn[1].endswith("...")
