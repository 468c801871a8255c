"""From any data frame to checked arrays: one code path for pandas, polars, pyarrow and duckdb."""

from __future__ import annotations

import glob
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from numbers import Real
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
from narwhals.exceptions import DuplicateError

from sondage.errors import InvalidInput, MissingExtra
from sondage.ingest.pandas_index import index_of, kept_index, shared_index
from sondage.pool.labels import shown
from sondage.pool.plain_values import is_gap, plain
from sondage.pool.text import as_text, lengths_of, one_by_one
from sondage.types import Array, Bools, Ints

_BATCH, _BUFFER = 1 << 16, 1 << 20
"""Rows, and bytes of a file, that are held at once while a column is read."""
INDEX = "(index)"
"""The name under which the index of a frame is read."""
_OTHER_THAN_NUMBERS = {"U": "text", "T": "text", "O": "text", "M": "dates", "m": "durations"}
"""What a column holds, by the kind of its array; text of very uneven length is an array of objects."""


class Columns:
    """Named columns of one source, read once, each checked for gaps when it is taken."""

    def __init__(self, columns: Mapping[str, Any], length: int) -> None:
        self._columns = columns
        self.length = length
        self.order: Ints | None = None
        """Where each row of what is handed out is in the source; None: in the same place."""
        self.first_row = 0
        """The number that errors give the first row."""
        self._index: Callable[[], nw.Series[Any] | None] = lambda: None
        self._schema: Any = None

    @classmethod
    def from_frame(cls, frame: Any, wanted: Iterable[str]) -> Columns:
        """Columns of a data frame or lazy relation; only those wanted are read."""
        try:
            native = nw.from_native(frame)
            have = native.collect_schema().names()
        except DuplicateError:
            twice = [str(name) for name, count in Counter(frame.columns).items() if count > 1]
            raise InvalidInput(f"the frame has columns of one name, {shown(twice, 3)}: rename them") from None
        except TypeError:
            raise InvalidInput(
                f"cannot read a {type(frame).__name__} as a data frame: pass pandas, polars, pyarrow "
                "or a duckdb relation, a parquet path to Pool.from_parquet, or arrays to "
                "Pool.from_arrays"
            ) from None
        names = list(dict.fromkeys(wanted))
        for name in names:
            if name not in have:
                raise InvalidInput(f"column {name!r} is not in the frame, which has {have}")
        chosen = native.select(names) if names else native
        eager = chosen.collect() if isinstance(chosen, nw.LazyFrame) else chosen
        if not names:  # a pool of bare rows still has a length
            names = have[:1]
        columns = cls({name: eager[name] for name in names}, len(eager))
        columns.told_by_index_of(eager)
        if isinstance(native, nw.DataFrame):
            columns._schema = getattr(native.to_native(), "schema", None)
        return columns

    @classmethod
    def from_parquet(cls, path: str | Path, wanted: Iterable[str]) -> Columns:
        """Columns of a parquet file or a glob of files."""
        columns = ParquetColumns(path)
        for name in wanted:
            if name not in columns:
                raise InvalidInput(f"column {name!r} is not in {str(path)!r}, which has {list(columns)}")
        made = cls(columns, columns.length)
        made._schema = columns.schema
        return made

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any]) -> Columns:
        """Columns given one by one; all must be equally long."""
        columns = {name: _as_column(name, values) for name, values in arrays.items()}
        lengths = {name: len(column) for name, column in columns.items()}
        if len(set(lengths.values())) > 1:
            raise InvalidInput(f"the arrays have different lengths: {lengths}")
        made = cls(columns, next(iter(lengths.values()), 0))
        made._index = lambda: shared_index(arrays)
        return made

    def told_by_index_of(self, table: Any) -> None:
        """Use the index of another table with the same rows to identify them."""
        self._index = lambda: index_of(table)

    def index(self) -> str | None:
        """The column that identifies rows where no id is named: the index, unless it only counts them."""
        index = self._index()
        if index is not None:
            self._columns = {**self._columns, INDEX: index}
        elif kept := kept_index(self._schema):
            warnings.warn(
                f"column {kept!r} was the index of a pandas frame, and without id= ids are row numbers: pass "
                f"id={kept!r} if labels are told by it",
                stacklevel=6,
            )
        return None if index is None else INDEX

    def keep(self, names: Iterable[str]) -> Mapping[str, Any]:
        """The columns still needed once the rest has become arrays."""
        return {name: self._columns[name] for name in names}

    def raw(self, name: str, without: Bools | None = None) -> Array:
        """The column as numpy, any type, without gaps, in ``order``; ``without`` some rows of that order."""
        if without is None or not without.any():
            values = self._read(name, self._columns[name])
            return values if self.order is None else values[self.order]
        order = np.arange(self.length) if self.order is None else self.order
        kept = np.zeros(self.length, dtype=bool)
        kept[order[~without]] = True
        column = self._columns[name]
        there = column.filter(kept.tolist()) if isinstance(column, nw.Series) else column[kept]
        place = np.cumsum(kept) - 1
        values = self._read(name, there)
        return np.asarray(values[place[order[~without]]])

    def gaps(self, name: str) -> Bools:
        """(N,) where the column has no value, in ``order``."""
        column = self._columns[name]
        if isinstance(column, nw.Series):
            gaps = np.array(column.is_null().to_numpy(), dtype=bool)
            there = column.filter((~gaps).tolist()) if gaps.any() else column
            gaps[~gaps] = _no_values(_values(there))
        else:
            gaps = _no_values(column)
        return gaps if self.order is None else gaps[self.order]

    def _read(self, name: str, column: Any) -> Array:
        if isinstance(column, nw.Series) and column.null_count():
            self._refuse_gaps(name, column.is_null().to_numpy())
        values: Array = _values(column) if isinstance(column, nw.Series) else column
        if isinstance(column, nw.Series) and column.dtype == nw.String:
            return as_text(values)  # text throughout, by its type: no entry need be looked at
        if values.ndim != 1:
            raise InvalidInput(
                f"column {name!r} is an array of shape {values.shape}: give one value per item"
            )
        if values.dtype == object:
            self._refuse_gaps(name, np.array([is_gap(value) for value in values], dtype=bool))
            return _of_one_type(name, values)
        # nan and NaT spread to the least value: no mask is made for a good column.
        if values.dtype.kind in "fmM" and len(values) and np.isnan(values.min()):
            self._refuse_gaps(name, np.isnan(values))
        return as_text(values) if values.dtype.kind in "UT" else values

    def numbers(self, name: str) -> Array:
        """The column as finite floats (of the width it came in)."""
        values = self.raw(name)
        if values.dtype.kind not in "biuf":
            what = _OTHER_THAN_NUMBERS.get(values.dtype.kind, str(values.dtype))
            raise InvalidInput(f"column {name!r} must be numeric, not {what}")
        if values.dtype.kind != "f":
            values = values.astype(np.float64)
        # The sum is finite unless something is not: no mask is made for a good column.
        with np.errstate(over="ignore", invalid="ignore"):
            suspicious = not np.isfinite(values.sum(dtype=np.float64))
        if suspicious:
            self.check(name, ~np.isfinite(values), "is infinite")
        return values

    def _refuse_gaps(self, name: str, gaps: Bools) -> None:
        """Refuse a column with gaps, in the order of the source."""
        if gaps.any():
            row = self.first_row + int(np.argmax(gaps))
            raise InvalidInput(
                f"column {name!r} has no value in row {row} {_share(gaps)}: fill or remove such rows"
            )

    def check(self, name: str, bad: Bools, fault: str) -> None:
        """Refuse the column where ``bad``, by the first row at fault, as the source numbers it."""
        if bad.any():
            if self.order is not None:
                back = np.empty_like(bad)
                back[self.order] = bad
                bad = back
            row = int(np.argmax(bad))
            column = self._columns[name]
            value = column[row] if not isinstance(column, nw.Series) else column.item(row)
            row += self.first_row
            raise InvalidInput(
                f"column {name!r}, row {row} (value {plain(value)!r}) {fault} {_share(bad)}: "
                "fix or remove such rows"
            )


def _no_values(values: Array) -> Bools:
    """Where an array has no value: None, nan, NaT."""
    if values.ndim == 1 and values.dtype == object:
        return np.array([is_gap(value) for value in values], dtype=bool)
    if values.ndim == 1 and values.dtype.kind in "fmM":
        return np.isnan(values)
    return np.zeros(len(values), dtype=bool)


def _share(bad: Bools) -> str:
    return f"({int(bad.sum()):,} of {len(bad):,} rows)"


def _values(column: nw.Series[Any]) -> Array:
    """A column as numpy: categories by their values, text of very uneven length entry by entry."""
    if column.dtype in (nw.Int128, nw.UInt128):  # numpy has none
        column = column.cast(nw.Int64)
    if column.dtype == nw.String:
        # Arrow would load pandas to make an array of text, which takes longer than the entries one by one.
        arrow = column.implementation.is_pyarrow()
        if arrow or one_by_one(column.str.len_chars().to_numpy()):
            return np.array(column.to_list(), dtype=object)
    if column.dtype not in (nw.Categorical, nw.Enum):
        return column.to_numpy()
    native = column.to_native()
    values = np.empty(0, dtype=object)
    if hasattr(native, "cat") and hasattr(native, "array"):  # pandas: categories may be numbers
        values = np.asarray(native)
    elif hasattr(native, "combine_chunks"):  # arrow: so may be a dictionary's entries
        values = np.asarray(native.cast(native.type.value_type))
    # Text, and what only text can stand for (the intervals of pandas.cut).
    return column.cast(nw.String).to_numpy() if values.dtype.kind not in "biuf" else values


def _as_column(name: str, values: Any) -> Any:
    """A series of any library as it is; anything else as an array with an entry per item.

    Unlike numpy, this never makes numbers or gaps into text.
    """
    column = nw.from_native(values, allow_series=True, pass_through=True)
    if isinstance(column, nw.Series):
        return column
    if np.ma.is_masked(values):  # numpy would take what is under the mask
        masked = int(np.sum(values.mask))
        raise InvalidInput(
            f"column {name!r} has {masked:,} masked values: fill them, or leave these rows out"
        )
    if isinstance(values, (list, tuple)) and values and all(isinstance(value, str) for value in values):
        return np.array(values, dtype=object if one_by_one(lengths_of(values)) else np.str_)
    try:
        array = np.asarray(values)
    except ValueError:  # lists of different lengths
        array = np.empty(())
    if array.ndim == 0:
        raise InvalidInput(f"column {name!r} must be an array with one value per item")
    made_text = array.dtype.kind == "U" and array.ndim == 1 and not hasattr(values, "dtype")
    if made_text and not all(isinstance(value, str) for value in values):
        return np.asarray(values, dtype=object)
    return array


def _of_one_type(name: str, values: Array) -> Array:
    """An object array as text or as numbers; refused where it is neither throughout."""
    if all(isinstance(value, str) for value in values):
        return as_text(values)
    if all(isinstance(value, (Real, Decimal, np.bool_)) for value in values):
        numbers = np.array(values.tolist())
        # Decimals (and whole numbers beyond 64 bits) are objects to numpy.
        return numbers.astype(np.float64) if numbers.dtype == object else numbers
    kinds = list(dict.fromkeys(type(value).__name__ for value in values))
    if len(kinds) > 1:
        raise InvalidInput(
            f"column {name!r} mixes types ({', '.join(kinds[:3])}): use numbers throughout, or text"
        )
    raise InvalidInput(
        f"column {name!r} holds values of type {kinds[0]} ({values[0]!r}): turn them into numbers or text, "
        "for instance with str()"
    )


class ParquetColumns(Mapping[str, Any]):
    """Columns of a parquet file or glob, each read when it is used and then released.

    Reading one column at a time keeps the peak near the size of the columns used.
    """

    def __init__(self, path: str | Path) -> None:
        self._load, self.schema, self.length = _parquet_engine(str(path))
        self._names = list(self.schema.names if hasattr(self.schema, "pandas_metadata") else self.schema)

    def __getitem__(self, name: str) -> Any:
        return self._load(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names  # the inherited test reads the column

    def __len__(self) -> int:
        return len(self._names)


def _streamed(source: Any, name: str, length: int) -> Array | None:
    """A column of plain numbers, read batch by batch into its array; None if it is something else.

    A whole column read at once is held three times over: compressed, decoded and as numpy.
    """
    import pyarrow.parquet

    kind = source.schema.field(name).type
    if not (pyarrow.types.is_integer(kind) or pyarrow.types.is_floating(kind)):
        return None
    values = np.empty(length, dtype=kind.to_pandas_dtype())
    filled = 0
    for path in source.files:
        with pyarrow.parquet.ParquetFile(path, buffer_size=_BUFFER) as file:
            for batch in file.iter_batches(_BATCH, columns=[name], use_threads=False):
                column = batch.column(0)
                if column.null_count or column.type != kind:
                    return None
                if not len(column):
                    continue
                # By its buffer: pyarrow's own way to numpy loads pandas first, a quarter of a second.
                numbers = np.frombuffer(column.buffers()[1], dtype=values.dtype)
                values[filled : filled + len(column)] = numbers[column.offset : column.offset + len(column)]
                filled += len(column)
    return values if filled == length else None


def _parquet_engine(location: str) -> tuple[Callable[[str], Any], Any, int]:
    """A function that reads one column, a schema with the names of all, and the number of rows."""
    # A file that is there is meant, whatever a pattern would make of the brackets in its name.
    files = [location] if Path(location).exists() else sorted(glob.glob(location))
    if not files:
        raise InvalidInput(f"there is no file {location!r}")
    try:
        import pyarrow
    except ImportError:
        pass
    else:
        try:
            source = _dataset(files)
            length = source.count_rows()
        except (pyarrow.ArrowInvalid, OSError) as error:
            raise _unreadable(location, error) from None

        def load(name: str) -> Any:
            numbers = _streamed(source, name, length)
            return nw.from_native(source.to_table(columns=[name]))[name] if numbers is None else numbers

        return load, source.schema, length
    try:
        import polars
    except ImportError:
        raise MissingExtra("pyarrow", "parquet", "reading parquet") from None
    try:
        frame = polars.scan_parquet(files, glob=False)
        schema, length = frame.collect_schema(), frame.select(polars.len()).collect().item()
    except (polars.exceptions.PolarsError, OSError) as error:
        raise _unreadable(location, error) from None

    def load_polars(name: str) -> Any:
        return nw.from_native(frame.select(name).collect())[name]

    return load_polars, schema, length


def _dataset(files: list[str]) -> Any:
    """Parquet files as one table: pyarrow's own for several or a folder, a short cut for one file."""
    if len(files) == 1 and Path(files[0]).is_file():
        return _OneFile(files[0])
    import pyarrow.dataset  # loads pandas, where it is installed

    return pyarrow.dataset.dataset(files if len(files) > 1 else files[0], format="parquet")


class _OneFile:
    """One parquet file, with what is used of a dataset."""

    def __init__(self, path: str) -> None:
        import pyarrow.parquet

        self.files, self._open = [path], pyarrow.parquet.ParquetFile
        with self._open(path) as file:
            self.schema, self._length = file.schema_arrow, file.metadata.num_rows

    def count_rows(self) -> int:
        return int(self._length)

    def to_table(self, columns: list[str]) -> Any:
        with self._open(self.files[0]) as file:
            return file.read(columns=columns)


def _unreadable(location: str, error: Exception) -> InvalidInput:
    said = str(error).splitlines()[0]
    return InvalidInput(
        f"{location!r} cannot be read as parquet ({said}): read it with pandas or polars first"
    )
