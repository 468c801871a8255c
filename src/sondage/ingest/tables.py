"""Tables in any form: a data frame, a parquet file, or a mapping of names to arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

from sondage.errors import InvalidInput
from sondage.ingest.columns import Columns, ParquetColumns
from sondage.pool.plain_values import plain
from sondage.pool.text import is_text
from sondage.types import Array, Ints

NO_COLUMNS = ("threshold", "calibrate", "calibration")
"""Parts of a system that are no columns."""


def names_of(source: Any) -> list[str]:
    """The names of a table's columns.

    >>> names_of({"a": [1, 2], "b": [3, 4]})
    ['a', 'b']
    """
    if isinstance(source, Mapping):
        return list(source)
    if isinstance(source, (str, Path)):
        return list(ParquetColumns(source))
    try:
        return list(nw.from_native(source).collect_schema().names())
    except TypeError:
        raise InvalidInput(
            f"cannot read a {type(source).__name__} as a table: pass a data frame, a parquet path, or a "
            "mapping of names to arrays"
        ) from None


def columns_of(source: Any, wanted: Sequence[str]) -> Columns:
    """The wanted columns of a table, or an error that names one that is not there."""
    have = names_of(source)
    for name in wanted:
        if name not in have:
            raise InvalidInput(f"column {name!r} is not there, only {have}{_several(name, have)}")
    if isinstance(source, Mapping):
        return Columns.from_arrays({name: source[name] for name in wanted})
    if isinstance(source, (str, Path)):
        return Columns.from_parquet(source, wanted)
    return Columns.from_frame(source, wanted)


def _several(name: str, have: Sequence[str]) -> str:
    """What to do where columns that are there were named in one text, with commas between them."""
    parts = [part.strip() for part in str(name).split(",")]
    if len(parts) == 1 or not set(parts) <= set(have):
        return ""
    listed = ", ".join(map(repr, parts))
    return f": name several one by one, [{listed}], on the command line {' '.join(parts)} with blanks between"


def flattened(parts: Mapping[str, Any], prefix: str, flat: dict[str, Any]) -> dict[str, Any]:
    """Names for arrays given in place of columns; the arrays go into ``flat``, a table's columns singly.

    >>> columns = {}
    >>> flattened({"score": [1, 2], "threshold": 0.5}, "new.", columns), columns
    ({'score': 'new.score', 'threshold': 0.5}, {'new.score': [1, 2]})
    """
    named: dict[str, Any] = {}
    for part, values in parts.items():
        if values is None or part in NO_COLUMNS:
            named[part] = values
        elif part in ("probability", "prediction") and np.ndim(values) == 2:
            named[part] = [f"{prefix}{part}[{j}]" for j in range(np.shape(values)[1])]
            flat.update(zip(named[part], mapping_of(part, values).values(), strict=True))
        else:
            named[part] = prefix + part
            flat[prefix + part] = values
    return named


def mapping_of(role: str, values: Any) -> Mapping[str, Any]:
    """Named arrays: a mapping as it is, the columns of a frame, or those of a table, numbered."""
    if values is None or isinstance(values, Mapping):
        return values or {}
    frame = nw.from_native(values, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return {name: frame[name].to_native() for name in frame.columns}
    if np.ndim(values) != 2 or hasattr(values, "tocsr"):
        raise InvalidInput(f"{role}= takes a mapping of names to arrays, or a table with a column for each")
    return {f"{role}[{j}]": column for j, column in enumerate(np.asarray(values).T)}


def sorted_ids(columns: Columns, name: str | None) -> tuple[Array, Ints | None]:
    """Ids in order, and where each row was in the source (None: where it is now).

    Without a column of ids, the index of a pandas frame tells the rows, and row numbers where it has none.
    """
    if name is not None:
        return _sorted_column(columns, name)
    index = columns.index()
    if index is None:
        return np.arange(columns.length), None
    try:
        return _sorted_column(columns, index)
    except InvalidInput as error:
        said = str(error).replace(f"column {index!r}", "the index")
        raise InvalidInput(
            f"{said}. Without id= the index tells rows apart: pass id=, or number the rows by "
            "frame.reset_index(drop=True)"
        ) from None


def _sorted_column(columns: Columns, name: str) -> tuple[Array, Ints | None]:
    ids = columns.raw(name)
    if ids.dtype.kind == "u" and int(ids.max()) >= 2**63:
        raise InvalidInput(f"column {name!r} has ids of 2**63 and above: turn them into text")
    if ids.dtype.kind in "iub":
        ids = ids.astype(np.int64, copy=False)
    elif not is_text(ids):
        raise InvalidInput(f"column {name!r} cannot hold ids: use whole numbers or text")
    order = None
    if not bool((ids[:-1] < ids[1:]).all()):
        order = np.argsort(ids, kind="stable")
        ids = ids[order]
        twice = np.flatnonzero(ids[:-1] == ids[1:])
        if len(twice):
            value, (first, second) = ids[twice[0]], columns.first_row + order[twice[0] : twice[0] + 2]
            raise InvalidInput(
                f"column {name!r} has the id {plain(value)!r} in rows {first} and {second}: ids must "
                f"be different ({len(twice)} repeated in all)"
            )
    return ids, order
