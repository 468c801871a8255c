"""Files of rows, in and out: CSV, JSON lines, parquet and Excel, told apart by the ends of their names."""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sondage.errors import InvalidInput, MissingExtra
from sondage.ingest.columns import ParquetColumns
from sondage.pool.plain_values import is_gap, plain

_WHOLE = re.compile(r"-?(0|[1-9]\d{0,17})").fullmatch
_NUMBER = re.compile(r"-?(0|[1-9]\d{0,17}|(?=\.\d))(\.\d*)?([eE][+-]?\d+)?").fullmatch
"""Numbers as programs write them; 007, +49 and what a float rounds are names, and stay so."""

_LOGICAL = {"false": False, "true": True}
"""What pandas and spreadsheets write for them, whatever the letters' case."""

Columns = Mapping[str, Sequence[Any]]


def suffix_of(path: str | Path, what: str = "the file") -> str:
    """The end of a file's name, if it is one that can be read and written."""
    suffix = Path(path).suffix.lower()
    if suffix not in _READ:
        raise InvalidInput(f"{what} {str(path)!r} must end in one of {', '.join(_READ)}")
    return suffix


def first_row(path: str | Path) -> int:
    """The number of the first item's row, as a spreadsheet or an editor shows it; parquet has none."""
    return {".parquet": 0, ".jsonl": 1}.get(suffix_of(path), 2)


def read_file(path: str | Path, *, typed: bool = True) -> dict[str, Any]:
    """The columns of a file by name.

    A CSV file holds text only: with ``typed`` a column of numbers becomes numbers (and empty cells gaps),
    without, every cell stays the text it is, so that no id is changed on the way, and rows stay where they
    are, be they empty. Where cells are not separated by commas, these may be decimal ones.
    """
    suffix = suffix_of(path)
    if not Path(path).is_file():
        raise InvalidInput(f"there is no file {str(path)!r}")
    try:
        columns = _READ[suffix](Path(path), not typed)
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"{str(path)!r} is not UTF-8 text (byte {error.start:,}): save it as 'CSV UTF-8', or as .xlsx"
        ) from None
    except OSError as error:
        raise InvalidInput(f"{str(path)!r} cannot be read: {error.strerror or error}") from None
    if not typed or suffix != ".csv":
        return columns
    with Path(path).open(encoding="utf-8-sig", newline="") as file:
        decimal = "." if _separator(file.readline()) == "," else ","
    return {name: _typed(cells, decimal) for name, cells in columns.items()}


def write_file(path: str | Path, columns: Columns) -> None:
    """Write columns of equal length to a file, which is there in whole or not at all."""
    path = Path(path)
    write = _WRITE[suffix_of(path)]
    plain_columns = {name: [_cell(value) for value in values] for name, values in columns.items()}
    with in_whole(path) as unfinished:
        write(unfinished, plain_columns)


@contextmanager
def in_whole(path: Path) -> Iterator[Path]:
    """Another path to write to: what is there becomes the file at the end of the block, if it gets there."""
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise InvalidInput(f"{str(path)!r} is no file in an existing folder: name one")
    unfinished = path.with_name(f".{path.stem}-{os.getpid()}{path.suffix}")
    try:
        yield unfinished
        os.replace(unfinished, path)
    except OSError as error:
        raise InvalidInput(f"{str(path)!r} cannot be written: {error.strerror or error}") from None
    finally:
        with suppress(OSError):  # it is not there, or the folder may only be read
            unfinished.unlink()


def _cell(value: Any) -> Any:
    value = plain(value)
    return None if is_gap(value) else value


# ---- CSV ----------------------------------------------------------------------------------------------


def _read_csv(path: Path, keep_empty: bool) -> dict[str, list[Any]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        # A quote that is not closed would swallow all rows below it.
        rows = csv.reader(file, delimiter=_separator(file.readline()), strict=True)
        file.seek(0)
        most = csv.field_size_limit(2**31 - 1)
        try:
            header = next(rows, [])
            cells, empty = [], 0
            for row in rows:
                if not any(row):
                    empty += 1  # spreadsheets leave them at the end
                    continue
                if keep_empty:
                    cells += [[""] * len(header)] * empty
                empty = 0
                if len(row) != len(header):
                    raise InvalidInput(
                        f"{str(path)!r}, line {rows.line_num} has {len(row)} cells where the header has "
                        f"{len(header)}: fix that line"
                    )
                cells.append(row)
        except csv.Error as error:
            raise InvalidInput(
                f"{str(path)!r}, line {rows.line_num}: {error}: is there a quote that is not closed?"
            ) from None
        finally:
            csv.field_size_limit(most)
    _check_header(path, header)
    across = zip(*cells, strict=True) if cells else ([] for _ in header)
    return {name: list(column) for name, column in zip(header, across, strict=True)}


def _separator(head: str) -> str:
    """Spreadsheets separate by what the country has: the separator of the header is the file's."""
    return max(",;\t", key=head.count)


def _typed(cells: list[str], decimal: str) -> Any:
    cells, written = [cell.replace(decimal, ".", 1) for cell in cells], cells
    filled = [cell.strip() for cell in cells if cell.strip()]
    number: Callable[[str], Any] | None = None
    if all(map(_WHOLE, filled)):
        number = int
    elif all(map(_NUMBER, filled)):
        number = float
    elif all(cell.lower() in _LOGICAL for cell in filled):
        number = _logical
    if not filled or number is None:
        return written
    return [number(cell) if cell.strip() else None for cell in cells]


def _logical(cell: str) -> bool:
    return _LOGICAL[cell.strip().lower()]


def _write_csv(path: Path, columns: Columns) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*(map(_as_text, values) for values in columns.values()), strict=True))


def _as_text(value: Any) -> Any:
    if isinstance(value, (dict, list, set)):
        return json.dumps(value, ensure_ascii=False, default=str)
    return "" if value is None else value


# ---- JSON lines ---------------------------------------------------------------------------------------


def _read_jsonl(path: Path, keep_empty: bool) -> dict[str, list[Any]]:
    rows: list[dict[str, Any]] = []
    # Only a line feed ends a line: texts may hold what Unicode calls the end of one, too.
    for number, line in enumerate(path.read_text(encoding="utf-8-sig").split("\n"), 1):
        if not line.strip():
            rows += [{}] * keep_empty
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise InvalidInput(f"{str(path)!r}, line {number} is not JSON: {error.msg}") from None
        if not isinstance(row, dict):
            raise InvalidInput(f"{str(path)!r}, line {number}: give one object per line, with named values")
        rows.append(row)
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def _write_jsonl(path: Path, columns: Columns) -> None:
    with path.open("w", encoding="utf-8") as file:
        for row in zip(*columns.values(), strict=True):
            values = dict(zip(columns, row, strict=True))
            file.write(json.dumps(values, ensure_ascii=False, default=str) + "\n")


# ---- parquet ------------------------------------------------------------------------------------------


def _read_parquet(path: Path, keep_empty: bool) -> dict[str, list[Any]]:
    columns = ParquetColumns(path)
    return {
        name: list(columns[name].to_list() if hasattr(columns[name], "to_list") else columns[name].tolist())
        for name in columns
    }


def _write_parquet(path: Path, columns: Columns) -> None:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("pyarrow", "parquet", "writing parquet") from None
    try:
        table = pyarrow.table({name: list(values) for name, values in columns.items()})
    except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError):  # a column of mixed kinds
        table = pyarrow.table({name: _of_one_kind(values) for name, values in columns.items()})
    pyarrow.parquet.write_table(table, path)


def _of_one_kind(values: Sequence[Any]) -> list[Any]:
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) < 2 or kinds == {int, float}:
        return list(values)
    return [None if value is None else str(_as_text(value)) for value in values]


# ---- Excel --------------------------------------------------------------------------------------------


def _openpyxl() -> Any:
    try:
        import openpyxl
    except ImportError:
        raise MissingExtra("openpyxl", "excel", "reading and writing Excel files") from None
    return openpyxl


def _read_xlsx(path: Path, keep_empty: bool) -> dict[str, list[Any]]:
    import zipfile

    try:
        book = _openpyxl().load_workbook(path, read_only=True, data_only=True)
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        raise InvalidInput(f"{str(path)!r} cannot be read as an Excel file: {error}") from None
    try:
        rows = list(book.worksheets[0].iter_rows(values_only=True))
        filled = [k for k, row in enumerate(rows) if any(cell is not None for cell in row)]
        rows = rows[filled[0] : filled[-1] + 1] if keep_empty and filled else [rows[k] for k in filled]
    finally:
        book.close()
    header = ["" if name is None else str(name) for name in (rows[0] if rows else ())]
    while header and not header[-1]:  # columns that were used once
        header.pop()
    _check_header(path, header)
    return {name: [row[k] if k < len(row) else None for row in rows[1:]] for k, name in enumerate(header)}


def _write_xlsx(path: Path, columns: Columns) -> None:
    openpyxl = _openpyxl()
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(list(columns))
    for k, (name, values) in enumerate(columns.items(), 1):
        for row, value in enumerate(values, 2):
            shown = _as_text(value) if isinstance(value, (dict, list, set)) else value
            try:
                cell = sheet.cell(row, k, shown)
            except (ValueError, openpyxl.utils.exceptions.IllegalCharacterError):
                raise InvalidInput(
                    f"column {name!r}, row {row}: Excel cannot hold this value: write .csv or .jsonl"
                ) from None
            if isinstance(shown, str):  # neither a formula, nor a date to be
                cell.data_type, cell.number_format = "s", "@"
    sheet.freeze_panes = "A2"
    book.save(path)


def _check_header(path: Path, header: Sequence[str]) -> None:
    if not header:
        raise InvalidInput(f"{str(path)!r} is empty: its first row must name the columns")
    twice = [name for k, name in enumerate(header) if name in header[:k]]
    if twice:
        raise InvalidInput(f"{str(path)!r} has two columns called {twice[0]!r}: rename one")


_READ: dict[str, Callable[[Path, bool], dict[str, list[Any]]]] = {
    ".csv": _read_csv,
    ".jsonl": _read_jsonl,
    ".parquet": _read_parquet,
    ".xlsx": _read_xlsx,
}
_WRITE: dict[str, Callable[[Path, Columns], None]] = {
    ".csv": _write_csv,
    ".jsonl": _write_jsonl,
    ".parquet": _write_parquet,
    ".xlsx": _write_xlsx,
}
