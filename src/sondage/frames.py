"""Data frames for results: of pandas if installed, else of another library that is, else plain arrays."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import narwhals as nw
import numpy as np

_PREFERRED: tuple[Literal["pandas", "polars", "pyarrow"], ...] = ("pandas", "polars", "pyarrow")


def frame_of(columns: Mapping[str, Any]) -> Any:
    """A data frame of the library at hand, or a mapping of arrays where there is none."""
    for library in _PREFERRED:
        if importlib.util.find_spec(library):
            return nw.from_dict(dict(columns), backend=library).to_native()
    return {name: np.asarray(values) for name, values in columns.items()}


def frame_of_rows(rows: Sequence[Mapping[str, Any]]) -> Any:
    """The same from rows, all with the columns of the first."""
    return frame_of({name: [row[name] for row in rows] for name in rows[0]})
