"""The index of a pandas frame or series, which names its rows unless it merely counts them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from sondage.errors import InvalidInput
from sondage.types import Id

if TYPE_CHECKING:
    from sondage.pool.pool import Pool


def index_of(table: Any) -> nw.Series[Any] | None:
    """The index as a column; None where there is none, or it says 0, 1, 2, ... as row numbers do.

    >>> index_of([3, 4]) is None
    True
    """
    native = nw.from_native(table, allow_series=True, pass_through=True)
    if not isinstance(native, (nw.DataFrame, nw.Series)):
        return None
    index = nw.maybe_get_index(native)
    if index is None or _counts(index):
        return None
    column: nw.Series[Any] = nw.from_native(index.to_series(), series_only=True)
    return column


def _counts(index: Any) -> bool:
    if hasattr(index, "start"):  # a range is not written out
        return (index.start, index.step) == (0, 1) or len(index) == 0
    values = index.to_numpy()
    return values.dtype.kind in "iu" and np.array_equal(values, np.arange(len(values)))


def shared_index(columns: Mapping[str, Any]) -> nw.Series[Any] | None:
    """The index of columns given one by one; those that have one must have the same."""
    found = [(name, index) for name, column in columns.items() if (index := index_of(column)) is not None]
    if not found:
        return None
    first, ids = found[0][0], found[0][1].to_numpy()
    others = [name for name, index in found[1:] if not np.array_equal(index.to_numpy(), ids)]
    if ids.dtype.kind in "iu" and np.array_equal(np.sort(ids), np.arange(len(ids))):
        # The same numbers in another order: a series that has them in their own order may be sorted.
        others += [name for name, column in columns.items() if _counted(column)]
    if others:
        raise InvalidInput(
            f"{first!r} and {others[0]!r} have different indexes, so it is unclear which rows belong "
            "together: pass id=, or arrays (series.to_numpy()) with their rows in one order"
        )
    return found[0][1]


def _counted(column: Any) -> bool:
    """Whether this is a pandas series or frame with the index 0, 1, 2, ..."""
    native = nw.from_native(column, allow_series=True, pass_through=True)
    index = nw.maybe_get_index(native) if isinstance(native, (nw.DataFrame, nw.Series)) else None
    return index is not None and _counts(index)


def kept_index(schema: Any) -> str | None:
    """The column of an arrow table, or of a parquet file, that was the index of a pandas frame."""
    kept = (getattr(schema, "pandas_metadata", None) or {}).get("index_columns", ())
    names = [name for name in kept if isinstance(name, str) and name in schema.names]  # no range of numbers
    return names[0] if len(names) == 1 else None


def labels_by_id(pool: Pool, labels: Any) -> Mapping[Id, Any] | None:
    """Labels as a mapping of ids: one as it is, a pandas series by its index; None for anything else."""
    if isinstance(labels, Mapping):
        return labels
    if isinstance(labels, int | str | tuple):  # an id, said at once: asking narwhals takes longer
        return None
    series = nw.from_native(labels, allow_series=True, pass_through=True)
    index = nw.maybe_get_index(series) if isinstance(series, nw.Series) else None
    if index is None:
        return None
    if _counts(index) and not pool.numbered:
        raise InvalidInput(
            "the series of labels has the index 0, 1, 2, ..., which are not the pool's ids in their order: "
            "give it the ids as its index, or pass a mapping of ids to labels (series.to_dict(), if they are)"
        )
    if not index.is_unique:
        twice = index[index.duplicated()][0]
        raise InvalidInput(
            f"the series of labels has {twice!r} in its index more than once: give one label each"
        )
    return dict(zip(index.tolist(), series.to_list(), strict=True))
