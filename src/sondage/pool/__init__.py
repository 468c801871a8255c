"""What is evaluated: items, systems, labels, and the strata and units that a step works on."""

from sondage.pool.consensus import Consensus
from sondage.pool.feature_strata import KdTree, KMeansOnFeatures, Linkage
from sondage.pool.given_strata import Clusters, Cross
from sondage.pool.hierarchy import Tree, complete_tree
from sondage.pool.labels import LabelSpace
from sondage.pool.pool import Pool
from sondage.pool.rows import Group, Rows, System
from sondage.pool.score_strata import (
    CumulatedRootFrequency,
    EqualWidth,
    Geometric,
    KMeansOnScore,
    OptimalBands,
)
from sondage.pool.strata import ByGroup, EqualSize, LogRank, OneStratum, Strata
from sondage.pool.stratification import Stratification
from sondage.pool.units import CellUnits, ItemUnits, Units

__all__ = [
    "ByGroup",
    "CellUnits",
    "Clusters",
    "Consensus",
    "Cross",
    "CumulatedRootFrequency",
    "EqualSize",
    "EqualWidth",
    "Geometric",
    "Group",
    "ItemUnits",
    "KMeansOnFeatures",
    "KMeansOnScore",
    "KdTree",
    "LabelSpace",
    "Linkage",
    "LogRank",
    "OneStratum",
    "OptimalBands",
    "Pool",
    "Rows",
    "Strata",
    "Stratification",
    "System",
    "Tree",
    "Units",
    "complete_tree",
]
