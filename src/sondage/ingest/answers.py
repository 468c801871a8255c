"""Tables of answers, as spreadsheets give them back: which item each row is about, and what it says.

Every row is looked at, and what is wrong with it is kept beside it, so that all of it can be said at once.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from pathlib import Path
from typing import Any

import narwhals as nw

from sondage.errors import InvalidInput, UnknownItem
from sondage.ingest.files import first_row, read_file
from sondage.pool.labels import LabelSpace, shown
from sondage.pool.parts import Grades, plain_grade
from sondage.pool.plain_values import is_gap, plain
from sondage.pool.pool import Pool
from sondage.pool.text import is_text
from sondage.types import Id

CANNOT = "cannot tell"
"""What files say of an item that could not be labelled."""
_FIELDS = ("id", "label", "annotator")
QUERY, DOCUMENT = "query", "document"
"""The columns of ids in files of documents, where the pool's own names are not used."""
_DATE = re.compile(
    r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}( \d+:\d+(:\d+)?)?|\d{1,2}[-/ ][A-Za-z]{3}([-/ ]\d{2,4})?"
)
_ROUNDED = re.compile(r"-?\d(\.\d+)?[eE]\+?\d+")
_TICKED = {"false": 0, "true": 1}
"""What boxes that are ticked, or not, are in a CSV file."""
_EXACT = 2**53
"""Whole numbers below it survive as floats."""
_NUMERIC = re.compile(r"[+-]?\d+([.,]\d+)?([eE][+-]?\d+)?%?")
_PARTS = re.compile(r"\d{1,4}([-/.: T]+\d{1,4})+\.?")
"""Texts that spreadsheets take for numbers, and for dates, times and the like."""
_ROUNDING = 1e-4
"""How far a number is off that a spreadsheet wrote with six digits, at most."""
_MOST_LETTERS = 32_000
"""Letters that a cell of a spreadsheet holds for sure; it cuts off what goes beyond."""


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
    if isinstance(value, Path | Mapping | int | str | tuple):
        return isinstance(value, Path)  # said at once: asking narwhals takes longer than telling a label
    return isinstance(nw.from_native(value, pass_through=True), (nw.DataFrame, nw.LazyFrame))


def column_names(source: Any) -> list[str]:
    """The names of the columns of a frame or a file."""
    return list(_cells(source))


def read_answers(source: Any, pool: Pool, also: str | None = None) -> tuple[list[AnswerRow], int]:
    """The rows of a frame or a file that say something, and how many are left blank.

    ``also`` names a further column to read. The id of a document of a query is the pair (query, document).
    Rows of a file are numbered as a spreadsheet shows them (the header is row 1) or by their lines, those of
    a frame from 0.
    """
    columns, first = _cells(source), first_row(source) if isinstance(source, Path) else 0
    keys = _id_columns(columns, pool)
    if "label" not in columns:
        raise InvalidInput(
            f"there is no column 'label' of answers, only {list(columns)}: answers go into the column "
            "'label' of the file that ask wrote"
        )
    told, blank = [], 0
    payload = _to_compare(columns, pool)
    for place, cell in enumerate(columns["label"]):
        if _is_blank(cell):
            blank += not all(_is_blank(values[place]) for values in columns.values())
            continue
        row = {name: values[place] for name, values in columns.items()}
        read = _read_row(first + place, row, keys, payload, pool)
        told.append(read if also is None else replace(read, also=plain(row[also])))
    return told, blank


def payload_names(pool: Pool) -> dict[str, str]:
    """The payload columns under the names that they have in files, beside ``id`` and ``label``."""
    fields: tuple[str, ...] = _FIELDS
    names, ids = pool.roles.payload, {pool.roles.id}
    if pool.parts is not None:
        fields, names = (*_FIELDS, QUERY, DOCUMENT), tuple(pool.parts.shown)
        ids |= {pool.parts.column}
    return {f"payload.{name}" if name in fields else name: name for name in names if name not in ids}


def _cells(source: Any) -> Mapping[str, Sequence[Any]]:
    if isinstance(source, Path):
        return read_file(source, typed=False)
    try:
        frame = nw.from_native(source)
    except TypeError:
        raise InvalidInput(
            f"a table is a data frame, or a pathlib.Path of a file, not {type(source).__name__}"
        ) from None
    eager = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    return {name: eager[name].to_list() for name in eager.columns}


def _id_columns(columns: Mapping[str, Any], pool: Pool) -> tuple[str, ...]:
    """The column of ids, or those of queries and of their documents."""
    if pool.parts is not None:
        own = (pool.roles.id or QUERY, pool.parts.column)
        for pair in (own, (QUERY, DOCUMENT), (own[0], DOCUMENT), (QUERY, own[1])):
            if pair[0] != pair[1] and set(pair) <= set(columns):
                return pair
        both = " and ".join(map(repr, own))
        raise InvalidInput(
            f"there are no columns {both} of queries and their documents, only {list(columns)}: a grade is "
            "about a document of a query, so the table needs the ids of both"
        )
    names = [name for name in ("id", pool.roles.id) if name is not None]
    for name in names:
        if name in columns:
            return (name,)
    raise InvalidInput(
        f"there is no column {' or '.join(map(repr, dict.fromkeys(names)))} of ids, only {list(columns)}: "
        "the answers must keep the column of ids that ask wrote, under its name"
    )


def _is_blank(cell: Any) -> bool:
    return is_gap(cell) or (isinstance(cell, str) and not cell.strip())


def _to_compare(columns: Mapping[str, Any], pool: Pool) -> dict[str, str]:
    return {there: ours for there, ours in payload_names(pool).items() if there in columns}


def _read_row(
    number: int, row: Mapping[str, Any], keys: Sequence[str], payload: Mapping[str, str], pool: Pool
) -> AnswerRow:
    annotator = row.get("annotator")
    who = None if _is_blank(annotator) else str(annotator).strip()
    try:
        id = _read_key([row[key] for key in keys], pool)
        _check_payload(id, row, payload, pool)
    except (InvalidInput, UnknownItem) as error:
        cells = tuple(plain(row[key]) for key in keys)
        return AnswerRow(number, cells if pool.parts is not None else cells[0], fault=str(error))
    said = row["label"]
    if " ".join(str(said).lower().replace("_", " ").split()) == CANNOT:  # the words, or CANNOT_TELL itself
        return AnswerRow(number, id, refused=True, annotator=who)
    try:
        return AnswerRow(number, id, read_label(said, pool.labels), annotator=who)
    except InvalidInput as error:
        return AnswerRow(number, id, annotator=who, fault=f"id {id!r}: {error}")


@dataclass(frozen=True)
class _Ids:
    """The ids that a cell may hold: whether they are text, and what raises ``UnknownItem`` for others."""

    text: bool
    find: Callable[[Any], Any]
    what: str = "id"
    where: str = ""

    def has(self, id: str) -> bool:
        try:
            self.find(id)
        except UnknownItem:
            return False
        return True


def _read_key(cells: Sequence[Any], pool: Pool) -> Any:
    """The id of the item that a row is about, or the pair of a query's and a document's."""
    items = _Ids(is_text(pool.ids), pool.row_of, where=f"in the pool of {len(pool):,} items")
    id, parts = _read_id(cells[0], items), pool.parts
    if parts is None:
        return id
    row = pool.row_of(id)
    documents = _Ids(
        is_text(parts.ids),
        lambda document: parts.place_of(row, id, document),
        "document id",
        f"in any list of query {id!r}",
    )
    return id, _read_id(cells[1], documents)


def _read_id(cell: Any, ids: _Ids) -> Id:
    """The id in a cell, as the pool has it; what spreadsheets make of ids is found and named."""
    if _is_blank(cell):
        raise InvalidInput(f"there is a label but no {ids.what}: put the id back, or clear the label")
    cell = plain(cell)
    text, what = ids.text, ids.what
    if isinstance(cell, (date, datetime)):
        raise InvalidInput(f"the {what} is a date ({cell}){_SPREADSHEET}")
    if isinstance(cell, float) and cell == int(cell) and abs(cell) < _EXACT and not text:
        cell = int(cell)  # a frame with gaps makes floats of whole numbers
    if isinstance(cell, str) and not text:
        cell = _whole(cell.strip(), what)
    elif isinstance(cell, str) or text:
        cell = _alike(cell, ids)
    ids.find(cell)
    return cell  # type: ignore[no-any-return]


_SPREADSHEET = (
    ": a spreadsheet has changed it. Take the column of ids from the file that ask wrote, formatted as text, "
    "or work with .xlsx, where ids stay text"
)
_APART = ". Put ids and texts together again (were columns sorted apart?)"


def _whole(cell: str, what: str) -> int:
    if re.fullmatch(r"[+-]?\d+(\.0+)?", cell):
        return int(cell.partition(".")[0])
    if _ROUNDED.fullmatch(cell):
        raise InvalidInput(f"the {what} {cell!r} is a rounded number{_SPREADSHEET}")
    if _DATE.fullmatch(cell):
        raise InvalidInput(f"the {what} {cell!r} is a date{_SPREADSHEET}")
    raise InvalidInput(f"the {what} {cell!r} is no whole number, as the pool's ids are: put the id back")


def _alike(cell: Any, ids: _Ids) -> str:
    """A text id, if the pool has it; otherwise what it probably was."""
    for one in (cell, cell.strip()) if isinstance(cell, str) else ():
        if ids.has(one):
            return str(one)
    said = f"{cell:g}" if isinstance(cell, float) else str(cell).strip()
    if _DATE.fullmatch(said) or _ROUNDED.fullmatch(said):
        like = "a date" if _DATE.fullmatch(said) else "a rounded number"
        raise InvalidInput(f"the {ids.what} {said!r} is {like}, and not in the pool{_SPREADSHEET}")
    digits = said.removesuffix(".0")
    if digits.isdigit():
        for width in range(len(digits), len(digits) + 20):
            if ids.has(guess := digits.zfill(width)):
                raise InvalidInput(f"the {ids.what} {said!r} was probably {guess!r}{_SPREADSHEET}")
    raise UnknownItem(f"{ids.what} {said!r} is not {ids.where}: put the id back")


def _check_payload(id: Any, row: Mapping[str, Any], payload: Mapping[str, str], pool: Pool) -> None:
    """Refuse a row whose text is another item's: ids and texts were sorted apart."""
    if not payload:
        return
    ours = payload_of(id, pool)
    for there, here in payload.items():
        mine, theirs = ours.get(here), row[there]
        if isinstance(mine, str) and isinstance(theirs, str) and not _same_text(mine, theirs):
            raise InvalidInput(
                f"id {id!r} does not belong to this row: its {there!r} is {_short(mine)} in the pool and "
                f"{_short(theirs)} here{_APART}"
            )


def payload_of(id: Any, pool: Pool) -> Mapping[str, Any]:
    """What is shown of an item, or of a document of a query by (query, document)."""
    if pool.parts is None:
        return pool.payload_of(pool.row_of(id))
    row = pool.row_of(id[0])
    return pool.parts.payload_of(row, pool.parts.place_of(row, *id))


def _same_text(mine: str, theirs: str) -> bool:
    """Whether a cell has the text of the pool, or what spreadsheets make of it on their own.

    >>> _same_text("01234", "1234"), _same_text("1981-09-21", "21.09.81"), _same_text("01234", "1235")
    (True, True, False)
    """
    mine, theirs = (" ".join(one.replace("\x00", "").split()) for one in (mine, theirs))
    if mine.casefold() == theirs.casefold():
        return True
    if len(mine) > _MOST_LETTERS <= len(theirs):
        return mine.startswith(theirs[:_MOST_LETTERS])
    if _NUMERIC.fullmatch(mine) and _NUMERIC.fullmatch(theirs):
        exact, rounded = (float(one.rstrip("%").replace(",", ".")) for one in (mine, theirs))
        return abs(exact - rounded) <= _ROUNDING * abs(exact)
    if _PARTS.fullmatch(mine):  # day, month and year in another order, a month by its name
        ours, others = (Counter(int(one) % 100 for one in re.findall(r"\d+", one)) for one in (mine, theirs))
        others[0] = 0
        return others.total() > 0 and others <= ours
    return mine[:1] in "=+-@" and theirs[:1] == "#"  # taken for a formula


def _short(text: str, most: int = 40) -> str:
    return repr(text if len(text) <= most else text[: most - 3] + "...")


def read_label(cell: Any, space: LabelSpace) -> Any:
    """The label that a cell stands for; text is matched with the classes as they are written.

    >>> read_label("1.0", LabelSpace((0, 1))), read_label(" Yes", LabelSpace(("no", "yes")))
    (1, 'yes')
    """
    cell = plain(cell)
    if not isinstance(cell, str):
        (space.grade if isinstance(space, Grades) else space.code)(cell)
        return cell
    text = cell.strip()
    if isinstance(space, Grades):
        return _read_grade(text, space)
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
    if space.values == (0, 1) and text.lower() in _TICKED:
        return _TICKED[text.lower()]
    raise InvalidInput(f"label {text!r} is not one of {shown(space.values)}, nor {CANNOT!r}")


def _read_grade(text: str, space: Grades) -> float:
    try:
        return space.grade(float(text))
    except (ValueError, InvalidInput):
        scale = shown([plain_grade(one) for one in space.scale])
        raise InvalidInput(f"grade {text!r} is not one of {scale}, nor {CANNOT!r}") from None


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
    """What is wrong, a line per row; what to do about many of them is said once."""
    advice = [_SPREADSHEET, _APART]
    for row in sorted(rows, key=lambda one: one.number):
        fault = row.fault
        for one in (_SPREADSHEET, _APART):
            if one in fault and one not in advice:
                fault = fault.replace(one, "")
            elif one in fault:
                advice.remove(one)
        if fault:
            yield f"row {row.number}: {fault}"
