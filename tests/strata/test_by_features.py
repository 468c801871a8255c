"""Strata by features: against scikit-learn and scipy, in pools of all sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from sondage.errors import InvalidInput
from sondage.pool import Pool
from sondage.strata import KdTree, KMeansOnFeatures, Linkage, Strata
from sondage.strata.by_features import Box, _median_cut, grow
from sondage.types import Array, Floats

BLOBS, TRUTH = make_blobs(400, 3, centers=6, cluster_std=0.3, random_state=5)


def a_pool(features: Any) -> Pool:
    return Pool.from_arrays(id=np.arange(len(features)) + 1000, features=features)


def same(left: Any, right: Any) -> bool:
    return bool(adjusted_rand_score(np.asarray(left), np.asarray(right)) == 1)


@pytest.mark.parametrize(
    "rule",
    [KMeansOnFeatures(6), KMeansOnFeatures(6, sample=60), Linkage(6), Linkage(6, sample=60)],
    ids=repr,
)
def test_blobs_are_strata(rule: Strata) -> None:
    found = rule.describe(a_pool(BLOBS))
    assert same(found.codes, TRUTH)
    assert found.actual == found.requested == 6


@pytest.mark.parametrize("rule", [KMeansOnFeatures(6, sample=60), Linkage(6, sample=60)], ids=repr)
def test_a_sample_is_said_and_drawn_by_seed_and_id(rule: Strata) -> None:
    features = np.random.default_rng(7).normal(size=(500, 2))
    pool = a_pool(features)
    assert rule.describe(pool).notes == ("found on 60 of 500 items, the others put to the nearest",)
    one, again, other = (rule.codes(pool, ("model",), seed).tolist() for seed in (1, 1, 2))
    assert one == again != other


@pytest.mark.parametrize("method", ["ward", "average", "single", "centroid"])
def test_linkage_is_that_of_scipy(method: Any) -> None:
    features = np.random.default_rng(8).normal(size=(150, 3))
    found = Linkage(7, method, standardise=False).describe(a_pool(features))
    if method == "centroid":  # distances may fall: scipy then cuts elsewhere
        assert found.actual == 7
    else:
        assert same(found.codes, fcluster(linkage(features, method), 7, "maxclust"))


@pytest.mark.parametrize("rule", [KMeansOnFeatures(5), Linkage(5), KdTree(5)], ids=repr)
def test_units_of_a_feature_do_not_matter(rule: Strata) -> None:
    features = np.random.default_rng(9).normal(size=(300, 3))
    codes = [rule.describe(a_pool(x)).codes.tolist() for x in (features, features * [1, 1024, 2**-8])]
    assert codes[0] == codes[1]


def test_they_matter_if_standardising_is_off() -> None:
    features = np.random.default_rng(9).normal(size=(300, 2)) * [1, 1000]
    for rule in (KMeansOnFeatures(4, standardise=False), Linkage(4, standardise=False)):
        found = rule.describe(a_pool(features))
        between = np.array([features[found.codes == k].mean(axis=0) for k in range(4)])
        assert between[:, 1].std() > 100 * between[:, 0].std()


@pytest.mark.parametrize("rule", [KMeansOnFeatures(50), Linkage(50), KdTree(50)], ids=repr)
def test_equal_items_stay_together(rule: Strata) -> None:
    features = np.random.default_rng(10).integers(0, 3, (200, 2)).astype(np.float64)
    found = rule.describe(a_pool(features))
    assert found.actual == len(np.unique(features, axis=0)) == 9
    assert found.notes == ("no more items differ in their features: equal items stay together",)
    assert len(np.unique(np.column_stack([features, found.codes]), axis=0)) == 9


@pytest.mark.parametrize("rule", [KMeansOnFeatures(12), Linkage(12)], ids=repr)
def test_neighbours_in_number_are_neighbours_in_space(rule: Strata) -> None:
    """Numbers follow the tree: siblings are much nearer to each other than strata are on average."""
    features = np.random.default_rng(11).normal(size=(600, 2))
    found = rule.describe(a_pool(features))
    centre: Floats = np.array([features[found.codes == k].mean(axis=0) for k in range(12)])
    apart = np.linalg.norm(centre[:, None] - centre, axis=2)
    pairs = [list(found.tree.leaves_under(v)) for v in range(len(found.tree)) if found.tree.n_leaves[v] == 2]
    assert len(pairs) >= 3
    assert max(apart[a, b] for a, b in pairs) < 0.8 * apart[np.triu_indices(12, 1)].mean()


def test_the_tree_of_a_kd_tree_is_that_of_its_cuts() -> None:
    """Under every node are all items of a box: a cut of one feature parts its children."""
    features = np.random.default_rng(12).normal(size=(500, 3))
    found = KdTree(13).describe(a_pool(features))
    tree = found.tree
    for node in np.flatnonzero(tree.n_children).tolist():
        left, right = (
            features[np.isin(found.codes, tree.leaves_under(child))] for child in tree.children(node)
        )
        assert (left.max(axis=0) < right.min(axis=0)).any()


def test_constant_features_part_nothing() -> None:
    features = np.stack([np.ones(50), np.arange(50.0)], axis=1)
    for rule in (KMeansOnFeatures(2), Linkage(2), KdTree(2)):
        found = rule.describe(a_pool(features))
        assert found.actual == 2
        assert (np.diff(found.codes.astype(int)) != 0).sum() == 1
    assert KdTree(4).describe(a_pool(np.ones((9, 2)))).actual == 1


def test_names() -> None:
    pool = Pool.from_arrays(features={"age": [20.0, 22, 70, 72], "height": [150.0, 150, 180, 180]})
    expected = {"age 21, height 150", "age 71, height 180"}
    assert set(KMeansOnFeatures(2).describe(pool).names) == set(Linkage(2).describe(pool).names) == expected
    assert KdTree(2).describe(pool).names == ("age < 70", "70 <= age")
    wide = KMeansOnFeatures(2).describe(a_pool(np.eye(6)))
    assert all(name.endswith(", ...") and name.count(",") == 4 for name in wide.names)


@pytest.mark.parametrize("rule", [KMeansOnFeatures(), Linkage(), KdTree()], ids=repr)
def test_a_pool_without_features(rule: Strata) -> None:
    with pytest.raises(InvalidInput, match=rf"{rule.alias}.*features="):
        rule.describe(Pool.from_arrays(score=[1, 2, 3]))


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: KMeansOnFeatures(0), "count="),
        (lambda: KMeansOnFeatures(starts=0), "starts="),
        (lambda: KMeansOnFeatures(sample=0), "sample="),
        (lambda: Linkage(sample=0), "sample="),
        (lambda: Linkage(method="median-ish"), "method="),  # type: ignore[arg-type]
        (lambda: KdTree(0), "count="),
    ],
)
def test_bad_options(make: Any, match: str) -> None:
    with pytest.raises(InvalidInput, match=match):
        make()


# Boxes of a k-d tree: cuts at medians, bounds that hold what they say


def leaves(box: Box) -> list[Box]:
    return [box] if box.halves is None else [*leaves(box.halves[0]), *leaves(box.halves[1])]


@given(st.lists(st.integers(0, 6), min_size=1, max_size=30))
def test_a_cut_is_as_even_as_equal_values_allow(values: list[int]) -> None:
    column = np.array(values, dtype=np.float64)
    value = _median_cut(column)
    ways = [abs(len(values) - 2 * sum(x < cut for x in values)) for cut in sorted(set(values))[1:]]
    if value is None:
        assert not ways
    else:
        assert abs(len(values) - 2 * np.count_nonzero(column < value)) == min(ways)


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 60), st.integers(1, 3), st.integers(1, 20), st.integers(0, 99))
def test_boxes_hold_what_they_say(n: int, features: int, count: int, seed: int) -> None:
    """Every row is in the box whose bounds it keeps, and equal rows are in the same."""
    table = np.random.default_rng(seed).integers(0, 4, (n, features)).astype(np.float64)
    boxes = leaves(grow(table, np.ones(features), count))
    assert len(boxes) == min(count, len(np.unique(table, axis=0)))
    for box in boxes:
        inside = np.ones(n, dtype=bool)
        for feature, (low, high) in box.bounds.items():
            inside &= (low <= table[:, feature]) & (table[:, feature] < high)
        assert np.flatnonzero(inside).tolist() == sorted(box.rows.tolist())


def test_a_hand_example() -> None:
    """The wide feature is halved first, then the larger half along whatever is widest there."""
    table: Array = np.array([[0, 0], [1, 0], [10, 0], [11, 5], [12, 9]], dtype=np.float64)
    root = grow(table, np.ones(2), 4)
    assert [box.words(("x", "y")) for box in leaves(root)] == [
        "x < 1",
        "1 <= x < 10",
        "10 <= x, y < 5",
        "10 <= x, 5 <= y",
    ]


def test_units_of_a_feature_do_not_matter_if_the_scale_goes_along() -> None:
    table = np.random.default_rng(1).normal(size=(200, 3))
    factor = np.array([1.0, 1024.0, 0.125])
    one, other = (
        [box.rows.tolist() for box in leaves(grow(x, x.std(axis=0), 16))] for x in (table, table * factor)
    )
    assert one == other


def test_leaves_of_different_values_are_of_like_size() -> None:
    table = np.random.default_rng(2).normal(size=(1024, 2))
    for count in (8, 12, 64):
        sizes = [len(box.rows) for box in leaves(grow(table, np.ones(2), count))]
        assert len(sizes) == count
        assert max(sizes) <= 2 * min(sizes)


def test_an_uncut_box_in_words() -> None:
    assert Box(np.arange(2)).words(("x",)) == "everything"


def test_the_leaf_with_most_items_is_halved_next() -> None:
    """Equal values make the first cut uneven: two and eight."""
    table = np.array([[0.0, k] for k in range(2)] + [[100.0, k] for k in range(8)])
    sizes = [len(box.rows) for box in leaves(grow(table, np.ones(2), 3))]
    assert sizes == [2, 4, 4]
