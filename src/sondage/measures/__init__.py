"""What is estimated: measures by their usual names, and the ways to combine them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sondage.errors import InvalidInput
from sondage.measures.base import Averages, Input, Measure
from sondage.measures.binary import FBeta, MatthewsCorrcoef, Precision, Recall
from sondage.measures.compose import Difference, PerGroup, Stack, for_system
from sondage.measures.custom import Custom
from sondage.measures.multiclass import Accuracy
from sondage.measures.probabilistic import BrierScoreLoss
from sondage.measures.regression import MeanSquaredError
from sondage.pool.pool import Pool
from sondage.types import Array, Floats


def resolve(measure: str | Measure | Sequence[str | Measure]) -> Measure:
    """A measure from its name, itself, or a list of either."""
    if isinstance(measure, Measure):
        return measure
    if isinstance(measure, str):
        return Measure.from_alias(measure)
    if isinstance(measure, Sequence):
        return Stack(tuple(resolve(one) for one in measure))
    raise InvalidInput(f"measure= takes a name, a measure or a list of them, not {measure!r}")


def pool_value(measure: Measure, pool: Pool, y: Floats) -> Floats:
    """(m,) value of a bound measure when every item's label is known (as codes, in pool order)."""
    total = np.zeros(measure.d)
    for piece, rows in pool.chunks():
        total += measure.loss(rows, y[piece, None])[:, 0, :].sum(axis=0)
    return np.asarray(measure.g(total / len(pool)), dtype=np.float64)


def exact(
    measure: str | Measure,
    y_true: Sequence[Any] | Array,
    y_pred: Sequence[Any] | Array | None = None,
    **roles: Any,
) -> Any:
    """The measure on fully labelled data: a number, or an array for a vector measure.

    >>> round(float(exact("f1", [1, 0, 1, 1], [1, 1, 1, 0])), 4)
    0.6667
    """
    pool = Pool.from_arrays(prediction=y_pred, **_with_labels(y_true, y_pred, roles))
    bound = resolve(measure).bind(pool)
    value = pool_value(bound, pool, pool.labels.encode(np.asarray(y_true).tolist()))
    return value if bound.m > 1 else value[0]


def _with_labels(y_true: Any, y_pred: Any, roles: dict[str, Any]) -> dict[str, Any]:
    """Add the classes seen in either array, where none are given and they are not 0/1 or real."""
    true = np.asarray(y_true)
    if "labels" not in roles and true.dtype.kind in "biuU" and y_pred is not None:
        both = sorted(set(true.tolist()) | set(np.asarray(y_pred).tolist()))
        if not set(both) <= {0, 1}:
            return {**roles, "labels": both}
    return roles


__all__ = [
    "Accuracy",
    "Averages",
    "BrierScoreLoss",
    "Custom",
    "Difference",
    "FBeta",
    "Input",
    "MatthewsCorrcoef",
    "MeanSquaredError",
    "Measure",
    "PerGroup",
    "Precision",
    "Recall",
    "Stack",
    "exact",
    "for_system",
    "pool_value",
    "resolve",
]
