"""Strata from what is there: clusters made elsewhere, and rules crossed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.metrics import adjusted_rand_score

import sondage as sd
from sondage.designs import Stratified
from sondage.errors import InvalidInput
from sondage.pool import Pool
from sondage.registry import from_config
from sondage.strata import (
    ByGroup,
    Clusters,
    Cross,
    EqualSize,
    EqualWidth,
    Geometric,
    KdTree,
    OneStratum,
    Strata,
)
from sondage.types import Array

POINTS = np.random.default_rng(0).normal(size=(60, 2))
IDS = np.random.default_rng(1).permutation(1000)[:60]
POOL = Pool.from_arrays(id=IDS, features=POINTS)
BARE = Pool.from_arrays(id=IDS, score=POINTS[:, 0])


def same(found: Array, labels: Any, pool: Pool = POOL) -> bool:
    """Whether strata in the order of ids are the clusters in the order of the source."""
    return bool(adjusted_rand_score(found, pool.ordered(np.asarray(labels))) == 1)


# Clusters


@pytest.mark.parametrize("labels", [list("baccab"), np.array([3, 1, 7, 7, 1, 3]), (True,) * 6])
def test_labels_are_in_the_row_order_of_the_source(labels: Any) -> None:
    pool = Pool.from_arrays(id=[5, 3, 9, 8, 1, 2])
    found = Clusters(labels).describe(pool)
    by_id = dict(zip([5, 3, 9, 8, 1, 2], labels, strict=True))
    assert [found.names[code] for code in found.codes] == [str(by_id[id]) for id in (1, 2, 3, 5, 8, 9)]


def test_a_group_by_its_name() -> None:
    pool = Pool.from_arrays(groups={"g": ["b", "a", "c", "b"]})
    found = Clusters("g").describe(pool)
    assert found.codes.tolist() == [1, 0, 2, 1]
    assert found.names == ("a", "b", "c")
    assert from_config(Clusters("g").config()).by == "g"


def test_a_clusterer_predicts_if_the_pool_has_features() -> None:
    """So it may have been fitted on anything; without features its labels are taken."""
    fitted = KMeans(4, n_init=1, random_state=0).fit(POINTS)
    other = KMeans(4, n_init=1, random_state=0).fit(POINTS[:30])
    assert same(Clusters(fitted).codes(POOL, (), 0), fitted.labels_)
    assert same(Clusters(other).codes(POOL, (), 0), other.predict(POINTS))
    assert same(Clusters(fitted).codes(BARE, (), 0), fitted.labels_)
    with pytest.raises(InvalidInput, match="30 labels"):
        Clusters(other).codes(BARE, (), 0)


def test_items_in_no_cluster_are_a_stratum_and_said() -> None:
    fitted = DBSCAN(eps=0.3, min_samples=4).fit(POINTS)
    assert -1 in fitted.labels_
    found = Clusters(fitted).describe(POOL)
    assert same(found.codes, fitted.labels_)
    assert found.notes == ("items in no cluster (label -1) are a stratum of their own",)


def test_a_linkage_keeps_its_tree() -> None:
    matrix = linkage(POINTS, "average")
    found = Clusters(matrix, count=7).describe(POOL)
    assert same(found.codes, fcluster(matrix, 7, "maxclust"))
    # Cut higher up, the clusters are those under the nodes of the same tree.
    coarse = Clusters(matrix, count=3).describe(POOL)
    under = {frozenset(np.flatnonzero(np.isin(found.codes, found.tree.leaves_under(v)))) for v in range(13)}
    assert {frozenset(np.flatnonzero(coarse.codes == k)) for k in range(3)} <= under


def test_a_clusterer_with_a_tree_keeps_it_if_it_is_whole() -> None:
    whole = AgglomerativeClustering(5, compute_full_tree=True).fit(POINTS)
    part = AgglomerativeClustering(5, compute_full_tree=False, connectivity=np.ones((60, 60))).fit(POINTS)
    for fitted in (whole, part):
        assert same(Clusters(fitted).codes(POOL, (), 0), fitted.labels_)
    assert Clusters(whole, count=9).describe(POOL).actual == 9
    assert Clusters(whole).describe(POOL).own_tree is not None
    assert len(part.children_) < 59
    assert Clusters(part).describe(POOL).own_tree is None


@pytest.mark.parametrize(
    ("by", "count", "match"),
    [
        ([1, 2, 3], None, "3 labels"),
        (np.arange(60), 4, "count="),
        (linkage(POINTS), None, "count="),
        (linkage(POINTS[:30]), 4, "30 items"),
        (object(), None, "object"),
        ("missing", None, "'missing'"),
    ],
)
def test_what_are_no_clusters_is_refused(by: Any, count: int | None, match: str) -> None:
    with pytest.raises(InvalidInput, match=match):
        Clusters(by, count).describe(POOL)


def test_bad_count() -> None:
    with pytest.raises(InvalidInput, match="count="):
        Clusters(linkage(POINTS), 0)


def test_a_journal_names_what_it_cannot_hold() -> None:
    for by in (np.arange(60), KMeans(3)):
        with pytest.raises(InvalidInput, match=type(by).__name__):
            from_config(Clusters(by).config())


# Crossings


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=30))
def test_together_if_every_rule_says_so(pairs: list[tuple[int, int]]) -> None:
    """The combinations that occur, in order, with a tree that parts by the first rule."""
    first, second = zip(*pairs, strict=True)
    pool = Pool.from_arrays(groups={"a": [f"a{k}" for k in first], "b": [f"b{k}" for k in second]})
    found = Cross((ByGroup("a"), ByGroup("b"))).describe(pool)
    combinations = sorted(set(pairs))
    assert found.codes.tolist() == [combinations.index(pair) for pair in pairs]
    assert found.names == tuple(f"a{k} x b{m}" for k, m in combinations)
    possible = len(set(first)) * len(set(second))
    assert found.requested == possible
    assert bool(found.notes) == (len(combinations) < possible)
    for child in found.tree.children(0):
        inside = {combinations[k][0] for k in found.tree.leaves_under(child)}
        assert len(inside) == 1 or len(set(first)) == 1


def test_crossing_with_nothing_changes_nothing() -> None:
    pool = Pool.from_arrays(score=np.arange(20.0))
    assert (
        Cross((OneStratum(), EqualSize(4), OneStratum())).codes(pool, ("model",), 3).tolist()
        == EqualSize(4).codes(pool, ("model",), 3).tolist()
    )


def test_notes_of_the_parts_are_kept() -> None:
    pool = Pool.from_arrays(score=[0.0, 0.0, 1.0], groups={"g": ["a", "a", "b"]})
    found = Cross([ByGroup("g"), EqualWidth(5)]).describe(pool)  # type: ignore[arg-type]
    assert found.notes == (
        "the score has 2 different values: equal scores stay together",
        "2 of 4 combinations hold no item and were left out",
    )
    assert (found.requested, found.actual) == (10, 2)


@pytest.mark.parametrize("rules", [(), ("equal-size",), (EqualSize(2), None)])
def test_only_strata_can_be_crossed(rules: Any) -> None:
    with pytest.raises(InvalidInput, match="rules="):
        Cross(rules)


# In a study


@pytest.mark.parametrize(
    "rule",
    [
        Cross((ByGroup("shop"), EqualWidth(3))),
        KdTree(4),
        Geometric(4, origin=-0.1),
        Clusters("shop"),
    ],
    ids=repr,
)
def test_a_study_goes_on_after_loading_as_if_it_had_not_stopped(rule: Strata, tmp_path: Path) -> None:
    """The rule comes back from the journal, and with it the strata and the draws."""
    rng = np.random.default_rng(2)
    pool = Pool.from_arrays(
        score=rng.uniform(size=200),
        threshold=0.5,
        features=rng.normal(size=(200, 2)),
        groups={"shop": rng.choice(list("abc"), 200)},
    )
    asked = []
    for stop in (False, True):
        url = f"sqlite:///{tmp_path}/{stop}.db"
        study = sd.create_study(pool, "accuracy", design=Stratified(strata=rule), rng=1, storage=url)
        for item in study.ask(20):
            study.tell(item.id, item.id % 2)
        if stop:
            study = sd.load_study(url, pool=pool)
        asked.append([item.id for item in study.ask(20)])
    assert asked[0] == asked[1]
