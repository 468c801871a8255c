"""Strata by features: against scikit-learn and scipy, in pools of all sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from sondage.errors import InvalidInput
from sondage.pool import Pool
from sondage.strata import KdTree, KMeansOnFeatures, Linkage, Strata
from sondage.types import Floats

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
