"""Frames that we hand out: pandas if installed, otherwise another library that is, otherwise arrays."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import narwhals as nw
import numpy as np

_PREFERRED: tuple[Literal["pandas", "polars", "pyarrow"], ...] = ("pandas", "polars", "pyarrow")


def frame_of(columns: Mapping[str, Any]) -> Any:
    """Columns as a data frame of the library at hand, or as a mapping of arrays."""
    for library in _PREFERRED:
        if importlib.util.find_spec(library):
            return nw.from_dict(dict(columns), backend=library).to_native()
    return {name: np.asarray(values) for name, values in columns.items()}


def frame_of_rows(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Rows that all have the columns of the first, in the same form."""
    return frame_of({name: [row[name] for row in rows] for name in rows[0]})
