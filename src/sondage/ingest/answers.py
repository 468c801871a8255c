"""Tables of answers, as spreadsheets give them back: which item each row is about, and what it says.

Every row is looked at, and what is wrong with it is kept beside it, so that all of it can be said at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from pathlib import Path
from typing import Any

import narwhals as nw

from sondage.errors import InvalidInput, NotSupported, UnknownItem
from sondage.ingest.files import read_file
from sondage.pool.labels import LabelSpace, shown
from sondage.pool.plain_values import is_gap, plain
from sondage.pool.pool import Pool
from sondage.pool.text import is_text
from sondage.types import Id

CANNOT = "cannot tell"
"""The word for an item that cannot be told, in files."""
_FIELDS = ("id", "label", "annotator")
_DATE = re.compile(
    r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}( \d+:\d+(:\d+)?)?|\d{1,2}[-/ ][A-Za-z]{3}([-/ ]\d{2,4})?"
)
_ROUNDED = re.compile(r"-?\d(\.\d+)?[eE]\+?\d+")
_EXACT = 2**53
"""Whole numbers below it survive as floats."""


@dataclass(frozen=True)
class AnswerRow:
    """One row: its number as people see it, and its item and label, or what is wrong with it."""

    number: int
    id: Any
    label: Any = None
    refused: bool = False
    annotator: str | None = None
    fault: str = ""
    also: Any = None
    """What its row has in a further column, where one is read."""


def is_table(value: Any) -> bool:
    """Whether this is a data frame, or the path of a file: what holds answers row by row."""
    if isinstance(value, Path | Mapping):  # said at once: asking narwhals takes longer than telling a label
        return isinstance(value, Path)
    return isinstance(nw.from_native(value, pass_through=True), (nw.DataFrame, nw.LazyFrame))


def columns_of(source: Any) -> list[str]:
    """The names of the columns of a frame or a file."""
    return list(_cells(source))


def read_answers(source: Any, pool: Pool, also: str | None = None) -> tuple[list[AnswerRow], int]:
    """The rows of a frame or a file that say something, and how many are left blank.

    ``also`` names a further column to read.
    Rows of a file are numbered as a spreadsheet shows them (the header is row 1), those of a frame from 0.
    """
    if pool.parts is not None:
        raise NotSupported(
            "documents of queries cannot be told by the table yet: tell({(query, document): grade, ...})"
        )
    columns, first = _cells(source), 2 if isinstance(source, Path) else 0
    key = _id_column(columns, pool)
    if "label" not in columns:
        raise InvalidInput(
            f"there is no column 'label' of answers, only {list(columns)}: answers go into the column "
            "'label' of the file that ask wrote"
        )
    told, blank = [], 0
    payload = _to_compare(columns, pool)
    for place, cell in enumerate(columns["label"]):
        if _is_blank(cell):
            blank += 1
            continue
        row = {name: values[place] for name, values in columns.items()}
        read = _read_row(first + place, row, key, payload, pool)
        told.append(read if also is None else replace(read, also=plain(row[also])))
    return told, blank


def payload_names(pool: Pool) -> dict[str, str]:
    """The payload columns under the names that they have in files, beside ``id`` and ``label``."""
    return {
        f"payload.{name}" if name in _FIELDS else name: name
        for name in pool.roles.payload
        if name != pool.roles.id
    }


def _cells(source: Any) -> Mapping[str, Sequence[Any]]:
    if isinstance(source, Path):
        return read_file(source, typed=False)
    frame = nw.from_native(source)
    eager = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    return {name: eager[name].to_list() for name in eager.columns}


def _id_column(columns: Mapping[str, Any], pool: Pool) -> str:
    names = [name for name in ("id", pool.roles.id) if name is not None]
    for name in names:
        if name in columns:
            return name
    raise InvalidInput(
        f"there is no column {' or '.join(map(repr, dict.fromkeys(names)))} of ids, only {list(columns)}: "
        "the answers must keep the column of ids that ask wrote, under its name"
    )


def _is_blank(cell: Any) -> bool:
    return is_gap(cell) or (isinstance(cell, str) and not cell.strip())


def _to_compare(columns: Mapping[str, Any], pool: Pool) -> dict[str, str]:
    return {there: ours for there, ours in payload_names(pool).items() if there in columns}


def _read_row(
    number: int, row: Mapping[str, Any], key: str, payload: Mapping[str, str], pool: Pool
) -> AnswerRow:
    cell, annotator = row[key], row.get("annotator")
    who = None if _is_blank(annotator) else str(annotator).strip()
    try:
        id = _read_id(cell, pool)
        _check_payload(id, row, payload, pool)
    except (InvalidInput, UnknownItem) as error:
        return AnswerRow(number, plain(cell), fault=str(error))
    said = row["label"]
    if isinstance(said, str) and said.strip().lower().replace("_", " ") == CANNOT:
        return AnswerRow(number, id, refused=True, annotator=who)
    try:
        return AnswerRow(number, id, read_label(said, pool.labels), annotator=who)
    except InvalidInput as error:
        return AnswerRow(number, id, annotator=who, fault=f"id {id!r}: {error}")


def _read_id(cell: Any, pool: Pool) -> Id:
    """The id in a cell, as the pool has it; what spreadsheets make of ids is found and named."""
    if _is_blank(cell):
        raise InvalidInput("there is a label but no id: put the id back, or clear the label")
    cell = plain(cell)
    text = is_text(pool.ids)
    if isinstance(cell, (date, datetime)):
        raise InvalidInput(f"the id is a date ({cell}){_SPREADSHEET}")
    if isinstance(cell, float) and cell == int(cell) and abs(cell) < _EXACT and not text:
        cell = int(cell)  # a frame with gaps makes floats of whole numbers
    if isinstance(cell, str) and not text:
        cell = _whole(cell.strip())
    elif isinstance(cell, str) or text:
        cell = _alike(cell, pool)
    pool.row_of(cell)
    return cell  # type: ignore[no-any-return]


_SPREADSHEET = (
    ": a spreadsheet has changed it. Take the column of ids from the file that ask wrote, formatted as text, "
    "or work with .xlsx, where ids stay text"
)


def _whole(cell: str) -> int:
    if re.fullmatch(r"[+-]?\d+(\.0+)?", cell):
        return int(cell.partition(".")[0])
    if _ROUNDED.fullmatch(cell):
        raise InvalidInput(f"the id {cell!r} is a rounded number{_SPREADSHEET}")
    if _DATE.fullmatch(cell):
        raise InvalidInput(f"the id {cell!r} is a date{_SPREADSHEET}")
    raise InvalidInput(f"the id {cell!r} is no whole number, as the pool's ids are: put the id back")


def _alike(cell: Any, pool: Pool) -> str:
    """A text id, if the pool has it; otherwise what it probably was."""
    for one in (cell, cell.strip()) if isinstance(cell, str) else ():
        if _has(pool, one):
            return str(one)
    said = f"{cell:g}" if isinstance(cell, float) else str(cell).strip()
    if _DATE.fullmatch(said) or _ROUNDED.fullmatch(said):
        what = "a date" if _DATE.fullmatch(said) else "a rounded number"
        raise InvalidInput(f"the id {said!r} is {what}, and not in the pool{_SPREADSHEET}")
    digits = said.removesuffix(".0")
    if digits.isdigit():
        for width in range(len(digits), len(digits) + 20):
            if _has(pool, guess := digits.zfill(width)):
                raise InvalidInput(f"the id {said!r} was probably {guess!r}{_SPREADSHEET}")
    raise UnknownItem(f"id {said!r} is not in the pool of {len(pool):,} items: put the id back")


def _has(pool: Pool, id: str) -> bool:
    try:
        pool.row_of(id)
    except UnknownItem:
        return False
    return True


def _check_payload(id: Id, row: Mapping[str, Any], payload: Mapping[str, str], pool: Pool) -> None:
    """Refuse a row whose text is another item's: ids and texts were sorted apart."""
    if not payload:
        return
    ours = pool.payload_of(pool.row_of(id))
    for there, here in payload.items():
        mine, theirs = ours.get(here), row[there]
        if isinstance(mine, str) and isinstance(theirs, str) and _words(mine) != _words(theirs):
            raise InvalidInput(
                f"id {id!r} does not belong to this row: its {there!r} is {_short(mine)} in the pool and "
                f"{_short(theirs)} here. Put ids and texts together again (were columns sorted apart?)"
            )


def _words(text: str) -> list[str]:
    return text.replace("\x00", "").split()


def _short(text: str, most: int = 40) -> str:
    return repr(text if len(text) <= most else text[: most - 3] + "...")


def read_label(cell: Any, space: LabelSpace) -> Any:
    """The label that a cell stands for; text is matched with the classes as they are written.

    >>> read_label("1.0", LabelSpace((0, 1))), read_label(" Yes", LabelSpace(("no", "yes")))
    (1, 'yes')
    """
    cell = plain(cell)
    if not isinstance(cell, str):
        space.code(cell)
        return cell
    text = cell.strip()
    if space.components:
        return _read_several(text, space)
    if space.values is None:
        try:
            value = float(text)
        except ValueError:
            raise InvalidInput(f"label {text!r} is not a number (write 0.5, not 0,5 or 50 %)") from None
        space.code(value)
        return value
    for same in (str, lambda one: str(one).lower()):
        found = [value for value in space.values if same(value) == same(text)]
        if len(found) == 1:
            return found[0]
    for one in space.values:
        if isinstance(one, (int, float)) and _equals(text, one):
            return one
    raise InvalidInput(f"label {text!r} is not one of {shown(space.values)}, nor {CANNOT!r}")


def _equals(text: str, value: float) -> bool:
    try:
        return float(text) == value
    except ValueError:
        return False


def _read_several(text: str, space: LabelSpace) -> Any:
    """A label of several: the names that apply, separated by ; or , ('none' for none of them), or JSON."""
    import json

    value: Any
    if text[:1] in "[{":
        try:
            value = json.loads(text)
        except json.JSONDecodeError:
            raise InvalidInput(f"label {text!r} is not JSON") from None
    else:
        value = {one.strip() for one in re.split(r"[;,|]", text) if one.strip()} - {"none"}
    space.code(value)
    return sorted(value) if isinstance(value, set) else value


def as_cell(label: Any) -> Any:
    """A label as a file has it, so that it can be read again."""
    if isinstance(label, dict) and set(label.values()) <= {0, 1}:
        return "; ".join(name for name, applies in label.items() if applies) or "none"
    return label


def wrong_rows(rows: Sequence[AnswerRow]) -> Iterator[str]:
    """What is wrong, a line per row."""
    for row in sorted(rows, key=lambda one: one.number):
        if row.fault:
            yield f"row {row.number}: {row.fault}"
