"""Measures of fully labelled data: their values, and the pool that arrays of labels and predictions make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np

from sondage.errors import InvalidInput
from sondage.measures.base import Measure
from sondage.measures.catalogue.item_counts import CountMeasure
from sondage.measures.combine.stack import for_system, resolve
from sondage.pool.plain_values import is_gap
from sondage.pool.pool import Pool
from sondage.types import Array, Floats


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
    the columns of a table. A pool of rankings has its own (``relevance=``, ``qrels=``): pass it as
    ``y_true``, with ``system=`` to choose one.

    >>> round(float(exact("f1", [1, 0, 1, 1], [1, 1, 1, 0])), 4)
    0.6667
    >>> float(exact("multilabel_f1", [[1, 0], [1, 1]], [[1, 1], [1, 0]], labels=["sport", "money"]))
    0.6666666666666666
    """
    wanted = resolve(measure)
    if isinstance(y_true, Pool):
        if y_pred is not None or set(roles) - {"system"}:
            raise InvalidInput(
                f"exact(measure, pool) takes system= alone beside a pool, not {', '.join(roles) or 'y_pred'}"
            )
        return _of_judged(for_system(wanted, roles.get("system")), y_true)
    check_lengths(y_true, y_pred)
    roles = {**label_roles(wanted, y_true, y_pred), **roles}
    roles.setdefault("id", np.arange(len(y_true)))  # rows belong together as they stand, whatever their index
    pool = Pool.from_arrays(prediction=y_pred, **roles)
    bound = wanted.bind(pool)
    value = pool_value(bound, pool, pool.ordered(pool.labels.encode(listed(y_true))))
    return value if bound.m > 1 else value[0]


def _of_judged(measure: Measure, pool: Pool) -> Any:
    """The measure by the grades that a pool of rankings comes with."""
    if pool.parts is None:
        raise InvalidInput("exact() takes labels, or a pool of rankings with its relevance")
    bound = measure.bind(pool)
    table = pool.parts.table(pool.parts.grade, slice(None), np.nan)
    value = pool_value(bound, pool, pool.labels.encode(table.tolist()))
    return value if bound.m > 1 else value[0]


def check_lengths(y_true: Any, y_pred: Any) -> None:
    """Refuse what has no entry per item, or not as many predictions as labels."""
    for name, given in (("y_true", y_true), ("y_pred", y_pred)):
        if given is not None and not hasattr(given, "__len__"):
            raise InvalidInput(f"{name} must have an entry per item, not be {given!r}")
    if y_pred is not None and len(y_pred) != len(y_true):
        raise InvalidInput(f"y_true has {len(y_true)} items and y_pred {len(y_pred)}")


def listed(labels: Sequence[Any] | Array) -> list[Any]:
    """One entry per item, plain values throughout.

    >>> listed(np.array([[1, 0], [0, 1]])), listed([{"sport"}, {"money"}])
    ([[1, 0], [0, 1]], [{'sport'}, {'money'}])
    """
    if isinstance(labels, (list, tuple)) and _several_numbers(labels):
        return list(labels)
    entries: list[Any] = np.asarray(labels).tolist()
    return entries


def label_roles(measure: Measure, y_true: Any, y_pred: Any) -> dict[str, Any]:
    """The roles of a pool made of two arrays that say what its labels are.

    Several numbers by their names, and whether they are counts; otherwise the classes seen in either array,
    unless numbers are meant.
    """
    entries = listed(y_true)
    if _several_numbers(entries):
        counts = _counts(measure)
        names = tuple(entries[0]) if isinstance(entries[0], Mapping) else counts
        if counts:
            return {"labels": dict.fromkeys(names, (0, None))}
        return {"labels": list(names) or [str(place) for place in range(len(entries[0]))], "multilabel": True}
    if measure.label_kind == "real":
        return {"labels": "real"}
    values = set()
    for name, given in (("y_true", y_true), ("y_pred", y_pred)):
        entries = [] if given is None else np.asarray(given).tolist()
        gaps = [row for row, value in enumerate(entries) if is_gap(value)]
        if gaps:
            raise InvalidInput(f"{name} is missing in row {gaps[0]} ({len(gaps)} of {len(entries)} rows)")
        values |= set(entries)
    fractional = any(isinstance(value, float) and not value.is_integer() for value in values)
    if measure.label_kind == "any" and fractional:
        return {"labels": "real"}
    try:
        return {"labels": None if values <= {0, 1} else sorted(values)}
    except TypeError:
        kinds = sorted({type(value).__name__ for value in values})
        raise InvalidInput(f"y_true and y_pred mix {' and '.join(kinds)}: use one type of label") from None


def _several_numbers(entries: Sequence[Any]) -> bool:
    """Whether an entry is several numbers: a list, a mapping of names to them, or the set of what applies."""
    return len(entries) > 0 and isinstance(entries[0], (list, tuple, np.ndarray, Mapping, AbstractSet))


def _counts(measure: Measure) -> tuple[str, ...]:
    """The counts that a measure looks at, in the order in which it names them; none if it has none."""
    if isinstance(measure, CountMeasure):
        return measure.counted
    inside = getattr(measure, "measures", None) or [getattr(measure, "measure", None)]
    return tuple(dict.fromkeys(name for one in inside if one is not None for name in _counts(one)))
