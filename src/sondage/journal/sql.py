"""A journal in tables: the statements that every database runs alike."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np

from sondage.errors import Conflict, DamagedJournal, InvalidInput, NameTaken, Receded
from sondage.journal import schema
from sondage.journal.base import Event, Journal, Record
from sondage.journal.chain import End, Row, body_of, events_of, rows_of, seal
from sondage.journal.database import Database, Statements
from sondage.journal.redaction import redacted
from sondage.types import Floats, Id

_AT_ONCE = 150
"""Rows that one statement writes: SQLite takes 999 values at the least."""
_EVENTS = "SELECT seq, kind, body, link FROM events WHERE study = ? AND seq {} ? ORDER BY seq"
_NEWS = (
    "SELECT seq, kind, body, events.link, last, studies.link FROM studies LEFT JOIN events "
    "ON study = number AND seq >= ? WHERE number = ? ORDER BY seq"
)


class SqlJournal(Journal):
    """A journal in the tables of an SQL database.

    A record is a row of JSON: Python writes and reads floats without loss. Each row has a hash of itself
    and of the row before, the study's row has its configuration's hash and the end of that chain, and all
    of it is checked whenever it is read.
    """

    def __init__(self, database: Database, *, must_exist: bool = False) -> None:
        self._database = database
        self._numbers: dict[str, int] = {}
        self._ends: dict[str, End] = {}
        """Where each study's chain ended when it was last read, in the session of that read."""
        self._sessions: dict[str, int] = {}
        self._waiting: dict[tuple[str, str], bytes] = {}
        """Tables of our turn: the append that ends it writes them, too."""
        self._ends_in_turn: dict[str, End] = {}
        """Where chains end in our turn, as far as they were read in it."""
        try:
            schema.prepare(database, must_exist=must_exist)
        except BaseException:
            database.close()
            raise

    @property
    def read_only(self) -> bool:
        return self._database.read_only

    def create(self, name: str, config: dict[str, Any]) -> None:
        self.enter(name, config)

    def enter(
        self,
        name: str,
        config: dict[str, Any],
        records: Sequence[Record] = (),
        tables: Mapping[str, Floats] | None = None,
    ) -> None:
        text = json.dumps(config)
        sealed = seal(name, text)
        rows = rows_of(records, End(0, sealed))
        last, link = (rows[-1].seq, rows[-1].link) if rows else (0, sealed)

        def write(db: Statements) -> bool:
            (most,) = db.execute("SELECT MAX(number) FROM studies").fetchone()
            number = 1 + max(most or 0, int(schema.kept(db, "deleted") or 0))
            done = db.execute(
                "INSERT INTO studies (number, name, config, seal, last, link) VALUES (?, ?, ?, ?, ?, ?) "
                "ON CONFLICT DO NOTHING",
                (number, name, text, sealed, last, link),
            )
            if not done.rowcount:
                raise NameTaken(
                    f"there is a study named {name!r} in {self._database.name} already: load it with "
                    "load_study, or take a new name (name=)"
                )
            for digest, values in (tables or {}).items():
                _insert_table(db, number, digest, _bytes(values))
            self._database.together(db, list(_inserts(number, rows)))
            return True

        def written(db: Statements) -> bool | None:
            row = db.execute("SELECT seal, link FROM studies WHERE name = ?", (name,)).fetchone()
            return row == (sealed, link) or None

        self._database.change(write, 0, written)

    def names(self) -> list[str]:
        query = "SELECT name FROM studies ORDER BY number"
        return [row[0] for row in self._database.read(lambda db: db.execute(query).fetchall())]

    def config(self, name: str) -> dict[str, Any]:
        query = "SELECT config, seal FROM studies WHERE name = ?"
        row = self._database.read(lambda db: db.execute(query, (name,)).fetchone())
        if row is None:
            names = self.names()
            if name in names:  # the table has it, and the index by which it is looked up does not
                raise DamagedJournal(
                    f"{self._where(name)}: its name was changed after the study was made: take a copy of the "
                    "journal from before that"
                )
            raise InvalidInput(
                f"there is no study named {name!r} in {self._database.name}; there are {names}"
            )
        if not isinstance(row[0], str) or seal(name, row[0]) != row[1]:
            raise DamagedJournal(
                f"{self._where(name)}: the configuration was changed after the study was made: take a copy "
                "of the journal from before that"
            )
        config: dict[str, Any] = json.loads(row[0])
        return config

    def append(self, name: str, records: Sequence[Record], after: int | None = None) -> list[Event]:
        study = self._number(name)
        rows: list[Row] = []
        tables = {digest: body for (one, digest), body in self._waiting.items() if one == name}

        def write(db: Statements) -> bool:
            nonlocal rows
            rows = []
            end = self._ends_in_turn.pop(name, None) or self._end(db, name, study)
            if after is not None and end.seq != after:
                raise Conflict(f"study {name!r} has moved on from event {after} to {end.seq}")
            rows = rows_of(records, end)
            for digest, body in tables.items():
                _insert_table(db, study, digest, body)
            self._write_rows(db, name, study, rows)
            return True

        def written(db: Statements) -> bool | None:
            row = db.execute(_EVENTS.format("="), (study, rows[-1].seq)).fetchone() if rows else None
            return (row is not None and row[3] == rows[-1].link) or None

        self._database.change(write, study, written)
        self._waiting.clear()
        return [Event(row.seq, record) for row, record in zip(rows, records, strict=True)]

    def events(self, name: str, after: int = 0) -> list[Event]:
        """Rows above ``after``, once the chain has been followed through them."""
        study, found = self._number(name), None
        if after > 0:
            found = self._database.read(lambda db: self._news(db, name, study, after), at_once=True)
        if found is None:
            found = self._database.read(lambda db: self._events(db, name, study))
        return [event for event in found if event.seq > after]

    def put_table(self, name: str, digest: str, values: Floats) -> None:
        study, body = self._number(name), _bytes(values)
        with self._database.mutex:
            if self._database.in_turn:
                self._waiting.setdefault((name, digest), body)
            elif self.table(name, digest) is None:
                self._database.change(lambda db: _insert_table(db, study, digest, body), study)

    def table(self, name: str, digest: str) -> Floats | None:
        study = self._number(name)
        query = "SELECT body, seal FROM tables WHERE study = ? AND digest = ?"
        with self._database.mutex:
            row = self._database.read(lambda db: db.execute(query, (study, digest)).fetchone())
            waiting = self._waiting.get((name, digest))
        if row is None and waiting is None:
            return None
        if row is not None and (not isinstance(row[0], bytes) or seal(digest, row[0]) != row[1]):
            raise DamagedJournal(
                f"{self._where(name)}: the table of chances {digest!r} was changed after it was written"
            )
        return np.frombuffer(row[0] if row else waiting or b"", dtype="<f8").astype(np.float64)

    def turn(
        self, name: str | None = None, meanwhile: Callable[[], object] | None = None
    ) -> AbstractContextManager[None]:
        return self._turn(0 if name is None else self._number(name), meanwhile)

    @contextmanager
    def _turn(self, study: int, meanwhile: Callable[[], object] | None) -> Any:
        with self._database.turn(study, meanwhile):
            try:
                yield
            finally:
                self._waiting.clear()
                self._ends_in_turn.clear()

    def delete(self, name: str) -> None:
        study = self._number(name)

        def remove(db: Statements) -> None:
            self._end(db, name, study)
            for table, column in (("events", "study"), ("tables", "study"), ("studies", "number")):
                db.execute(f"DELETE FROM {table} WHERE {column} = ?", (study,))
            # A number is never given twice: whoever still has the study open must not write to another.
            schema.keep(db, "deleted", max(study, int(schema.kept(db, "deleted") or 0)))

        with self._database.mutex:
            self._database.erase(remove, study)
            self._numbers.pop(name, None)
            self._ends.pop(name, None)

    def redact(self, name: str, id: Id, at: float = 0.0) -> list[Event]:
        study = self._number(name)

        def change(db: Statements) -> list[Event]:
            found = self._events(db, name, study)  # what is damaged must not be sealed
            end = self._end(db, name, study)
            changed, record = redacted(found, id, at, name)
            for seq, bare in changed.items():
                update = "UPDATE events SET body = ? WHERE study = ? AND seq = ?"
                db.execute(update, (body_of(bare), study, seq))
            self._write_rows(db, name, study, rows_of([record], end))
            return [Event(end.seq + 1, record)]

        return self._database.erase(change, study)

    def close(self) -> None:
        self._database.close()

    # ---- inside ----------------------------------------------------------------------------------

    def _where(self, name: str) -> str:
        return f"study {name!r} in {self._database.name}"

    def _number(self, name: str) -> int:
        if name not in self._numbers:
            query = "SELECT number FROM studies WHERE name = ?"
            row = self._database.read(lambda db: db.execute(query, (name,)).fetchone())
            if row is None:
                self.config(name)  # raises, and says what there is
            self._numbers[name] = row[0]
        return self._numbers[name]

    def _events(self, db: Statements, name: str, study: int) -> list[Event]:
        if self._sessions.get(name) != self._database.session:
            self._ends.pop(name, None)  # from the start: nothing is held against what there is
        end = self._end(db, name, study)
        (sealed,) = db.execute("SELECT seal FROM studies WHERE number = ?", (study,)).fetchone()
        return self._followed(
            name, db.execute(_EVENTS.format(">"), (study, 0)).fetchall(), End(0, sealed), end
        )

    def _news(self, db: Statements, name: str, study: int, after: int) -> list[Event] | None:
        """What came after an event; None if the chain ends before it, so that all of it has to be read."""
        rows = db.execute(_NEWS, (after, study)).fetchall()
        end = self._checked_end(name, rows[0][4:] if rows else None)
        if self._database.in_turn:
            self._ends_in_turn[name] = end
        if after > end.seq:
            return None
        start = End(after, rows[0][3] if rows[0][0] == after else "")
        known = self._ends.get(name, start)
        if rows[0][0] != after or (known.seq == after and known != start):
            raise self._gone(name, f"event {after} is gone or another now")
        return self._followed(name, [row[:4] for row in rows[1:]], start, end)

    def _followed(self, name: str, rows: list[Any], start: End, end: End) -> list[Event]:
        """Events in a chain from one end to another."""
        found = events_of(rows, start, end, self._where(name))
        self._ends[name], self._sessions[name] = end, self._database.session
        return found

    def _end(self, db: Statements, name: str, study: int) -> End:
        """Where the study's chain ends now."""
        query = "SELECT last, link FROM studies WHERE number = ?"
        return self._checked_end(name, db.execute(query, (study,)).fetchone())

    def _checked_end(self, name: str, row: Any) -> End:
        """The end of a chain as it was read: never before, nor beside, where we have seen it end."""
        known = self._ends.get(name)
        if row is None:
            raise InvalidInput(
                f"{self._where(name)} was deleted since it was opened: nothing can be kept in it"
            )
        if not isinstance(row[0], int):
            raise DamagedJournal(f"{self._where(name)}: the end of its events cannot be read any more")
        end = End(*row)
        if known is not None and (end.seq < known.seq or (end.seq == known.seq and end != known)):
            raise self._gone(name, f"of {known.seq} events that were read, some are gone or others now")
        return end

    def _gone(self, name: str, fault: str) -> Exception:
        """Why what was read is not there any more: damage, unless the server was away in between."""
        if self._sessions.get(name, self._database.session) != self._database.session:
            return Receded(f"{self._where(name)}: {fault}: the server was away, and they had not been told")
        return DamagedJournal(f"{self._where(name)}: {fault}")

    def _write_rows(self, db: Statements, name: str, study: int, rows: list[Row]) -> None:
        if not rows:
            return
        end = (rows[-1].seq, rows[-1].link, study)
        update = ("UPDATE studies SET last = ?, link = ? WHERE number = ?", end)
        *inserted, _ = self._database.together(db, [*_inserts(study, rows), update])
        if sum(one.rowcount for one in inserted) != len(rows):
            raise DamagedJournal(
                f"{self._where(name)}: there are events after the last one written, number {rows[0].seq - 1}"
            )


def _bytes(values: Floats) -> bytes:
    return np.asarray(values, dtype="<f8").tobytes()


def _inserts(study: int, rows: list[Row]) -> Iterator[tuple[str, list[Any]]]:
    """Statements with their values that write the rows, of which the database takes those not there yet."""
    for begin in range(0, len(rows), _AT_ONCE):
        some = rows[begin : begin + _AT_ONCE]
        places = ", ".join(["(?, ?, ?, ?, ?)"] * len(some))
        insert = f"INSERT INTO events (study, seq, kind, body, link) VALUES {places} ON CONFLICT DO NOTHING"
        yield insert, [value for row in some for value in (study, *row)]


def _insert_table(db: Statements, study: int, digest: str, body: bytes) -> None:
    db.execute(
        "INSERT INTO tables (study, digest, body, seal) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (study, digest, body, seal(digest, body)),
    )
