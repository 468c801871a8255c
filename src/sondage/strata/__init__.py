"""How a pool is cut: rules for strata, and what they make of a pool."""

from sondage.strata.base import ByGroup, EqualSize, LogRank, OneStratum, Strata
from sondage.strata.by_features import KdTree, KMeansOnFeatures, Linkage
from sondage.strata.by_score import (
    CumulatedRootFrequency,
    EqualWidth,
    Geometric,
    KMeansOnScore,
    OptimalBands,
)
from sondage.strata.consensus import Consensus
from sondage.strata.given import Clusters, Cross
from sondage.strata.hierarchy import Tree, complete_tree
from sondage.strata.stratification import Stratification

__all__ = [
    "ByGroup",
    "Clusters",
    "Consensus",
    "Cross",
    "CumulatedRootFrequency",
    "EqualSize",
    "EqualWidth",
    "Geometric",
    "KMeansOnFeatures",
    "KMeansOnScore",
    "KdTree",
    "Linkage",
    "LogRank",
    "OneStratum",
    "OptimalBands",
    "Strata",
    "Stratification",
    "Tree",
    "complete_tree",
]
