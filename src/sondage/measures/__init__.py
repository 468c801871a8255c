"""What is estimated: measures by their usual names, and the ways to combine them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sondage.errors import InvalidInput
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
from sondage.measures.catalogue.classes import Accuracy, BalancedAccuracy, CohenKappa, ExpectedCost
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
from sondage.measures.combine.stack import Stack, for_system, parts_of
from sondage.measures.combine.systems import Difference, Ratio
from sondage.measures.combine.where import Where
from sondage.measures.labelled import listed, several_numbers, vector_roles
from sondage.measures.losses.base import Input
from sondage.pool.plain_values import is_gap
from sondage.pool.pool import Pool
from sondage.registry import what_it_is
from sondage.types import Array, Floats


def resolve(measure: str | Measure | Sequence[str | Measure]) -> Measure:
    """A measure from its name, itself, or a list of either."""
    if isinstance(measure, Measure):
        return measure
    if isinstance(measure, str):
        return Measure.from_alias(measure)
    if isinstance(measure, Sequence):
        return Stack(tuple(resolve(one) for one in measure))
    raise InvalidInput(f"measure= takes a name, a measure or a list of them, not {what_it_is(measure)}")


def pool_value(measure: Measure, pool: Pool, y: Floats) -> Floats:
    """(m,) value of a bound measure when every item's label is known (as codes, in pool order)."""
    total = np.zeros(measure.d)
    for piece, rows in pool.chunks():
        total += measure.total(rows, y[piece, None], np.ones((len(rows), 1)))
    return np.asarray(measure.g(total / len(pool)), dtype=np.float64)


def exact(
    measure: str | Measure,
    y_true: Sequence[Any] | Array,
    y_pred: Sequence[Any] | Array | None = None,
    **roles: Any,
) -> Any:
    """The measure on fully labelled data: a number, or an array for a measure of several coordinates.

    Labels of several numbers are a table with a row per item, or a list of mappings; ``labels=[...]`` names
    the columns of a table.

    >>> round(float(exact("f1", [1, 0, 1, 1], [1, 1, 1, 0])), 4)
    0.6667
    >>> float(exact("multilabel_f1", [[1, 0], [1, 1]], [[1, 1], [1, 0]], labels=["sport", "money"]))
    0.6666666666666666
    """
    wanted = resolve(measure)
    check_lengths(y_true, y_pred)
    roles = {**label_roles(wanted, y_true, y_pred), **roles}
    roles.setdefault("id", np.arange(len(y_true)))  # rows belong together as they stand, whatever their index
    pool = Pool.from_arrays(prediction=y_pred, **roles)
    bound = wanted.bind(pool)
    y = pool.ordered(pool.labels.encode(listed(y_true)))
    value = pool_value(bound, pool, y)
    return value if bound.m > 1 else value[0]


def check_lengths(y_true: Any, y_pred: Any) -> None:
    """Refuse what has no entry per item, or not as many predictions as labels."""
    for name, given in (("y_true", y_true), ("y_pred", y_pred)):
        if given is not None and not hasattr(given, "__len__"):
            raise InvalidInput(f"{name} must have an entry per item, not be {given!r}")
    if y_pred is not None and len(y_pred) != len(y_true):
        raise InvalidInput(f"y_true has {len(y_true)} items and y_pred {len(y_pred)}")


def label_roles(measure: Measure, y_true: Any, y_pred: Any) -> dict[str, Any]:
    """The roles of a pool made of two arrays that say what its labels are."""
    entries = listed(y_true)
    if several_numbers(entries):
        return vector_roles(measure, entries)
    return {"labels": label_set(measure, y_true, y_pred)}


def label_set(measure: Measure, y_true: Any, y_pred: Any) -> Any:
    """The ``labels=`` of a pool made of two arrays: the classes seen in either, unless numbers are meant."""
    if measure.label_kind == "real":
        return "real"
    values = set()
    for name, given in (("y_true", y_true), ("y_pred", y_pred)):
        entries = [] if given is None else np.asarray(given).tolist()
        gaps = [row for row, value in enumerate(entries) if is_gap(value)]
        if gaps:
            raise InvalidInput(f"{name} is missing in row {gaps[0]} ({len(gaps)} of {len(entries)} rows)")
        values |= set(entries)
    fractional = any(isinstance(value, float) and not value.is_integer() for value in values)
    if measure.label_kind == "any" and fractional:
        return "real"
    try:
        return None if values <= {0, 1} else sorted(values)
    except TypeError:
        kinds = sorted({type(value).__name__ for value in values})
        raise InvalidInput(f"y_true and y_pred mix {' and '.join(kinds)}: use one type of label") from None


__all__ = [
    "Accuracy",
    "AveragePrecision",
    "Averages",
    "BalancedAccuracy",
    "BreakEven",
    "BrierScoreLoss",
    "ByClass",
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
    "PrecisionAtK",
    "PrecisionRecallCurve",
    "Prevalence",
    "R2Score",
    "Ratio",
    "Recall",
    "RecallAtK",
    "RocAuc",
    "RocCurve",
    "RootMeanSquaredError",
    "SelectionRate",
    "Specificity",
    "Stack",
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
