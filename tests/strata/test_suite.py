"""Every rule for strata keeps the contract."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

from sondage.pool import Pool
from sondage.strata import (
    ByGroup,
    Clusters,
    Consensus,
    Cross,
    CumulatedRootFrequency,
    EqualSize,
    EqualWidth,
    Geometric,
    KdTree,
    KMeansOnFeatures,
    KMeansOnScore,
    Linkage,
    LogRank,
    OneStratum,
    OptimalBands,
    Strata,
)
from sondage.streams import stream
from sondage.testing import StrataSuite

CLASSES = ("two classes", "three classes")
RULES: dict[str, Strata] = {
    "OneStratum": OneStratum(),
    "EqualSize": EqualSize(7),
    "EqualSizeOfOne": EqualSize(1),
    "EqualSizeOfTooMany": EqualSize(500),
    "LogRank": LogRank(),
    "Consensus": Consensus(),
    "ByGroup": ByGroup("group"),
    "EqualWidth": EqualWidth(5),
    "EqualWidthOfTooMany": EqualWidth(500),
    "CumulatedRootFrequency": CumulatedRootFrequency(6),
    "CumulatedRootFrequencyBins": CumulatedRootFrequency(30, bins=20),
    "Geometric": Geometric(5, origin=-20),
    "GeometricFromAbove": Geometric(5, origin=20),
    "KMeansOnScore": KMeansOnScore(4),
    "KMeansOnScoreOfCells": KMeansOnScore(2, cells=1),
    "OptimalBands": OptimalBands(4),
    "OptimalBandsProportional": OptimalBands(60, "proportional", cells=10),
    "KMeansOnFeatures": KMeansOnFeatures(5),
    "KMeansOnFeaturesOfSome": KMeansOnFeatures(5, standardise=False, starts=1, sample=20),
    "KMeansOnFeaturesOfTooMany": KMeansOnFeatures(200),
    "KdTree": KdTree(8),
    "KdTreeOfTooMany": KdTree(200),
    "Linkage": Linkage(5),
    "LinkageOfSome": Linkage(5, "single", standardise=False, sample=20),
    "LinkageOfTooMany": Linkage(200, "average"),
    "Clusters": Clusters("group"),
    "Cross": Cross((ByGroup("group"), CumulatedRootFrequency(3), KdTree(4))),
}

# A rule that is added later is tested as it is made without arguments.
RULES |= {
    kind.__name__: kind()
    for kind in Strata.catalogue().values()
    if kind not in {type(rule) for rule in RULES.values()} and kind.__module__.startswith("sondage.")
}


def suite(rule: Strata) -> type:
    def make(self: Any) -> Strata:
        return rule

    spaces = {"spaces": CLASSES} if isinstance(rule, OptimalBands) else {}
    return type("TestRule", (StrataSuite,), {"make_strata": make, **spaces})


globals().update({f"Test{name}": suite(rule) for name, rule in RULES.items()})


MANY: list[Strata] = [
    EqualSize(256),
    EqualWidth(256),
    CumulatedRootFrequency(256),
    Geometric(256, origin=-0.1),
    KMeansOnScore(256),
    OptimalBands(256),
    KMeansOnFeatures(256, starts=1, sample=600),
    KdTree(256),
    Linkage(256, sample=600),
    Cross((ByGroup("group"), CumulatedRootFrequency(64))),
]


@pytest.mark.parametrize("rule", MANY, ids=repr)
def test_no_table_of_items_by_strata_is_held(rule: Strata) -> None:
    """Which would take 100 MB here; the columns take 1.6, of features 0.8 each."""
    n = 50_000
    rng = np.random.default_rng(0)
    pool = Pool.from_arrays(
        probability=rng.uniform(size=n),
        groups={"group": rng.integers(0, 4, n)},
        features=rng.normal(size=(n, 2)),
    )
    tracemalloc.start()
    try:
        assert rule.codes(pool, ("model",), 0).max() == 255
        assert tracemalloc.get_traced_memory()[1] < 40e6
    finally:
        tracemalloc.stop()


def test_strata_are_the_same_in_every_version() -> None:
    """A change of these numbers changes the draws of running studies."""
    words = stream(7, "order").uniform(4 * 500).reshape(500, 4)
    pool = Pool.from_arrays(score=words[:, 0] * words[:, 0], features=words[:, 1:])
    sizes = {rule.alias: rule.describe(pool, seed=9).size.tolist() for rule in KEPT}
    assert sizes == {
        "equal-width": [238, 81, 61, 67, 53],
        "cum-sqrt-f": [160, 122, 69, 81, 68],
        "geometric": [125, 85, 81, 85, 124],
        "kmeans-1d": [187, 104, 75, 74, 60],
        "optimal": [91, 149, 112, 97, 51],
        "kmeans": [105, 106, 103, 101, 85],
        "kd-tree": [62, 63, 125, 125, 125],
        "linkage": [81, 128, 126, 82, 83],
    }


KEPT: list[Strata] = [
    EqualWidth(5),
    CumulatedRootFrequency(5),
    Geometric(5, origin=-0.1),
    KMeansOnScore(5),
    OptimalBands(5),
    KMeansOnFeatures(5, sample=300),
    KdTree(5),
    Linkage(5, sample=300),
]


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES.keys())
def test_rules_with_equal_options_are_equal(rule: Strata) -> None:
    if not isinstance(rule, Clusters):
        assert type(rule)(**vars(rule)) == rule
