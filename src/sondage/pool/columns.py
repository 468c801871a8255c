"""From any data frame to checked arrays: one code path for pandas, polars, pyarrow and duckdb."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

from sondage.errors import InvalidInput, MissingExtra
from sondage.types import Array, Bools


class Columns:
    """Named columns of one source, read once, each checked for gaps when it is taken."""

    def __init__(self, columns: Mapping[str, Any], frame: Any = None) -> None:
        self._columns = columns
        self.frame = frame
        self.length = len(next(iter(columns.values()))) if columns else 0

    @classmethod
    def from_frame(cls, frame: Any, wanted: Iterable[str]) -> Columns:
        """Columns of a data frame or lazy relation; only those wanted are read."""
        try:
            native = nw.from_native(frame)
        except TypeError:
            raise InvalidInput(
                f"cannot read a {type(frame).__name__} as a data frame: pass pandas, polars, pyarrow "
                "or a duckdb relation, a parquet path to Pool.from_parquet, or arrays to "
                "Pool.from_arrays"
            ) from None
        names = list(dict.fromkeys(wanted))
        have = native.collect_schema().names()
        for name in names:
            if name not in have:
                raise InvalidInput(f"column {name!r} is not in the frame, which has {have}")
        chosen = native.select(names) if names else native
        eager = chosen.collect() if isinstance(chosen, nw.LazyFrame) else chosen
        if not names:  # a pool of bare rows still has a length
            names = have[:1]
        return cls({name: eager[name] for name in names}, frame=eager)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any]) -> Columns:
        """Columns given one by one; all must be equally long."""
        columns = {name: np.asarray(values) for name, values in arrays.items()}
        lengths = {name: len(column) for name, column in columns.items()}
        if len(set(lengths.values())) > 1:
            raise InvalidInput(f"the arrays have different lengths: {lengths}")
        return cls(columns)

    def raw(self, name: str) -> Array:
        """The column as numpy, any type, without gaps."""
        column = self._columns[name]
        if isinstance(column, nw.Series):
            if column.dtype in (nw.Categorical, nw.Enum):
                column = column.cast(nw.String)
            if column.null_count():
                self._refuse(name, column.is_null().to_numpy(), "is missing")
            values = column.to_numpy()
        else:
            values = column
        if values.dtype == object:
            gaps = np.array([value is None or value != value for value in values], dtype=bool)
            self._refuse(name, gaps, "is missing")
            if all(isinstance(value, str) for value in values):
                values = values.astype(np.str_)
            else:
                values = np.array(values.tolist())
                if values.dtype.kind not in "biufU":
                    raise InvalidInput(f"column {name!r} mixes types: use numbers or text")
        if values.dtype.kind == "T":  # numpy's variable-width text
            values = values.astype(np.str_)
        return values

    def numbers(self, name: str) -> Array:
        """The column as finite floats (of the width it came in)."""
        values = self.raw(name)
        if values.dtype.kind not in "biuf":
            raise InvalidInput(f"column {name!r} must be numeric, not {values.dtype}")
        if values.dtype.kind != "f":
            values = values.astype(np.float64)
        # The sum is finite unless something is not: no mask is made for a good column.
        with np.errstate(over="ignore", invalid="ignore"):
            suspicious = not np.isfinite(values.sum(dtype=np.float64))
        if suspicious:
            self._refuse(name, ~np.isfinite(values), "is missing or infinite")
        return values

    def check(self, name: str, bad: Bools, fault: str) -> None:
        """Refuse the column where ``bad``."""
        self._refuse(name, bad, fault)

    def _refuse(self, name: str, bad: Bools, fault: str) -> None:
        if bad.any():
            row = int(np.argmax(bad))
            column = self._columns[name]
            value = column[row] if not isinstance(column, nw.Series) else column.item(row)
            raise InvalidInput(
                f"column {name!r}, row {row} (value {value!r}) {fault}; "
                f"{int(bad.sum())} of {len(bad)} rows are like this. Mend or drop them first"
            )


def read_parquet(path: str | Path, columns: Sequence[str]) -> Any:
    """Some columns of a parquet file or glob, with whichever engine is installed."""
    location = str(path)
    try:
        import pyarrow.dataset
    except ImportError:
        pass
    else:
        if any(mark in location for mark in "*?["):
            import glob

            files = sorted(glob.glob(location))
            if not files:
                raise InvalidInput(f"no file matches {location!r}")
            source = pyarrow.dataset.dataset(files, format="parquet")
        else:
            if not Path(location).exists():
                raise InvalidInput(f"there is no file {location!r}")
            source = pyarrow.dataset.dataset(location, format="parquet")
        have = source.schema.names
        for name in columns:
            if name not in have:
                raise InvalidInput(f"column {name!r} is not in {location!r}, which has {have}")
        return source.to_table(columns=list(columns) or have[:1])
    try:
        import polars
    except ImportError:
        pass
    else:
        return polars.scan_parquet(location)
    try:
        import duckdb
    except ImportError:
        raise MissingExtra("pyarrow", "parquet", "reading parquet") from None
    return duckdb.read_parquet(location)
