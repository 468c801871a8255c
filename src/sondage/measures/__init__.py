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
    wanted = resolve(measure)
    roles = {"labels": label_set(wanted, y_true, y_pred), **roles}
    pool = Pool.from_arrays(prediction=y_pred, **roles)
    bound = wanted.bind(pool)
    y = pool.ordered(pool.labels.encode(np.asarray(y_true).tolist()))
    value = pool_value(bound, pool, y)
    return value if bound.m > 1 else value[0]


def label_set(measure: Measure, y_true: Any, y_pred: Any) -> Any:
    """The ``labels=`` of a pool made of two arrays: the classes seen in either, unless numbers are meant."""
    if measure.label_kind == "real":
        return "real"
    values = set(np.asarray(y_true).tolist())
    if y_pred is not None:
        values |= set(np.asarray(y_pred).tolist())
    fractional = any(isinstance(value, float) and not value.is_integer() for value in values)
    if measure.label_kind == "any" and fractional:
        return "real"
    return None if values <= {0, 1} else sorted(values)


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
