"""What is estimated: measures by their usual names, and the ways to combine them."""

from sondage.measures.base import Averages, Measure
from sondage.measures.catalogue.areas import AveragePrecision, BreakEven, MaxFBeta, RocAuc
from sondage.measures.catalogue.binary import (
    FalseNegativeRate,
    FalsePositiveRate,
    FBeta,
    FowlkesMallows,
    Jaccard,
    MatthewsCorrcoef,
    Precision,
    Prevalence,
    Recall,
    SelectionRate,
    Specificity,
    TruePositiveRate,
)
from sondage.measures.catalogue.calibration import CalibrationError
from sondage.measures.catalogue.classes import Accuracy, BalancedAccuracy, CohenKappa, ErrorRate, ExpectedCost
from sondage.measures.catalogue.confusion import ConfusionMatrix
from sondage.measures.catalogue.curves import Curve, PrecisionRecallCurve, RocCurve
from sondage.measures.catalogue.custom import Custom
from sondage.measures.catalogue.fairness import (
    DemographicParityDifference,
    DemographicParityRatio,
    EqualizedOddsDifference,
    EqualizedOddsRatio,
    EqualOpportunityDifference,
    EqualOpportunityRatio,
)
from sondage.measures.catalogue.item_counts import CountRatio, ItemFBeta, ItemPrecision, ItemRecall
from sondage.measures.catalogue.means import Mean, WinRate
from sondage.measures.catalogue.multilabel import (
    HammingLoss,
    MultiLabelAccuracy,
    MultiLabelFBeta,
    MultiLabelJaccard,
    MultiLabelPrecision,
    MultiLabelRecall,
)
from sondage.measures.catalogue.one_class import ByClass
from sondage.measures.catalogue.probabilistic import BrierScoreLoss, LogLoss, TopKAccuracy
from sondage.measures.catalogue.rankings import (
    AP,
    DCG,
    ERR,
    NDCG,
    RBP,
    RR,
    PrecisionAt,
    RecallAt,
    Success,
)
from sondage.measures.catalogue.regression import (
    ExplainedSumOfSquaresRatio,
    ExplainedVarianceScore,
    MeanAbsoluteError,
    MeanError,
    MeanPinballLoss,
    MeanSquaredError,
    PearsonCorrelation,
    R2Score,
    RootMeanSquaredError,
)
from sondage.measures.catalogue.top import PrecisionAtK, RecallAtK
from sondage.measures.combine.over_groups import Gap, GroupRatio, WorstGroup
from sondage.measures.combine.per_group import PerGroup
from sondage.measures.combine.stack import Stack, for_system, parts_of, resolve
from sondage.measures.combine.systems import Difference, Ratio
from sondage.measures.combine.where import Where
from sondage.measures.labelled import exact, pool_value
from sondage.measures.losses.base import Input

__all__ = [
    "AP",
    "DCG",
    "ERR",
    "NDCG",
    "RBP",
    "RR",
    "Accuracy",
    "AveragePrecision",
    "Averages",
    "BalancedAccuracy",
    "BreakEven",
    "BrierScoreLoss",
    "ByClass",
    "CalibrationError",
    "CohenKappa",
    "ConfusionMatrix",
    "CountRatio",
    "Curve",
    "Custom",
    "DemographicParityDifference",
    "DemographicParityRatio",
    "Difference",
    "EqualOpportunityDifference",
    "EqualOpportunityRatio",
    "EqualizedOddsDifference",
    "EqualizedOddsRatio",
    "ErrorRate",
    "ExpectedCost",
    "ExplainedSumOfSquaresRatio",
    "ExplainedVarianceScore",
    "FBeta",
    "FalseNegativeRate",
    "FalsePositiveRate",
    "FowlkesMallows",
    "Gap",
    "GroupRatio",
    "HammingLoss",
    "Input",
    "ItemFBeta",
    "ItemPrecision",
    "ItemRecall",
    "Jaccard",
    "LogLoss",
    "MatthewsCorrcoef",
    "MaxFBeta",
    "Mean",
    "MeanAbsoluteError",
    "MeanError",
    "MeanPinballLoss",
    "MeanSquaredError",
    "Measure",
    "MultiLabelAccuracy",
    "MultiLabelFBeta",
    "MultiLabelJaccard",
    "MultiLabelPrecision",
    "MultiLabelRecall",
    "PearsonCorrelation",
    "PerGroup",
    "Precision",
    "PrecisionAt",
    "PrecisionAtK",
    "PrecisionRecallCurve",
    "Prevalence",
    "R2Score",
    "Ratio",
    "Recall",
    "RecallAt",
    "RecallAtK",
    "RocAuc",
    "RocCurve",
    "RootMeanSquaredError",
    "SelectionRate",
    "Specificity",
    "Stack",
    "Success",
    "TopKAccuracy",
    "TruePositiveRate",
    "Where",
    "WinRate",
    "WorstGroup",
    "exact",
    "for_system",
    "parts_of",
    "pool_value",
    "resolve",
]
