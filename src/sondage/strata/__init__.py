"""How a pool is cut: rules for strata, and what they make of a pool."""

from sondage.strata.base import Strata
from sondage.strata.by_features import KdTree, KMeansOnFeatures, Linkage
from sondage.strata.by_group import ByGroup, OneStratum
from sondage.strata.by_score import (
    CumulatedRootFrequency,
    EqualSize,
    EqualWidth,
    Geometric,
    KMeansOnScore,
    OptimalBands,
)
from sondage.strata.clusters import Clusters
from sondage.strata.cross import Cross
from sondage.strata.hierarchy import Tree, complete_tree
from sondage.strata.log_rank import Consensus, LogRank
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
