"""A journal in one SQLite file, shared by the processes and threads of one machine."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Self

import numpy as np

from sondage.errors import Conflict, DamagedJournal, InvalidInput, JournalUnavailable, NameTaken
from sondage.journal.base import Event, Journal, Record
from sondage.journal.chain import End, events_of, link_of, rows_of, seal
from sondage.journal.sqlite_file import SqliteFile
from sondage.types import Floats

_ADDRESS, _READ_ONLY = "sqlite:///", "?mode=ro"
_SCHEMA_VERSION = 2
_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS studies (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, config TEXT NOT NULL,
    seal TEXT NOT NULL DEFAULT '', last INTEGER NOT NULL DEFAULT 0, link TEXT NOT NULL DEFAULT ''
);
CREATE TABLE IF NOT EXISTS events (
    study INTEGER NOT NULL REFERENCES studies (number),
    seq INTEGER NOT NULL,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    link TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (study, seq)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS tables (
    study INTEGER NOT NULL REFERENCES studies (number),
    digest TEXT NOT NULL,
    body BLOB NOT NULL,
    seal TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (study, digest)
) WITHOUT ROWID;
"""
_TO_SCHEMA_2 = """
ALTER TABLE studies ADD COLUMN seal TEXT NOT NULL DEFAULT '';
ALTER TABLE studies ADD COLUMN last INTEGER NOT NULL DEFAULT 0;
ALTER TABLE studies ADD COLUMN link TEXT NOT NULL DEFAULT '';
ALTER TABLE events ADD COLUMN link TEXT NOT NULL DEFAULT '';
ALTER TABLE tables ADD COLUMN seal TEXT NOT NULL DEFAULT '';
"""


class SqliteJournal(Journal):
    """SQLite with a write-ahead log, flushed to disk at every commit.

    A record is a row of JSON: Python writes and reads floats without loss. Each row has a hash of itself
    and of the row before, the study's row has its configuration's hash and the end of that chain, and all
    of it is checked whenever it is read. ``read_only`` opens the file to read, as happens by itself where
    it cannot be written. Its address is ``sqlite:///file.db``, with ``?mode=ro`` at its end to read only.
    """

    alias = "sqlite"

    @classmethod
    def at(cls, address: str, *, must_exist: bool = False) -> Self:
        if not address.startswith(_ADDRESS) or len(address) == len(_ADDRESS):
            raise InvalidInput(f"storage: a file is named as in 'sqlite:///study.db', not {address!r}")
        path = Path(address.removeprefix(_ADDRESS).removesuffix(_READ_ONLY))
        read_only = address.endswith(_READ_ONLY)
        if (must_exist or read_only) and not path.exists():
            raise InvalidInput(f"storage: there is no file {str(path)!r}: make a study with create_study")
        return cls(path, read_only=read_only)

    def __init__(self, path: str | Path, *, read_only: bool = False) -> None:
        path = Path(path)
        if not path.parent.exists():
            raise InvalidInput(f"storage: the folder {str(path.parent)!r} does not exist")
        self._numbers: dict[str, int] = {}
        self._ends: dict[str, End] = {}
        self._file = SqliteFile(path, read_only=read_only)
        try:
            self._prepare()
        except BaseException:
            self._file.close()
            raise

    @property
    def read_only(self) -> bool:
        return self._file.read_only

    def create(self, name: str, config: dict[str, Any]) -> None:
        text = json.dumps(config)
        sealed = seal(name, text)
        with self._file.writing() as db:
            try:
                db.execute(
                    "INSERT INTO studies (name, config, seal, last, link) VALUES (?, ?, ?, 0, ?)",
                    (name, text, sealed, sealed),
                )
            except sqlite3.IntegrityError:
                raise NameTaken(
                    f"there is a study named {name!r} in {self._file.name} already: load it with load_study, "
                    "or take a new name"
                ) from None

    def names(self) -> list[str]:
        with self._file.reading() as db:
            return [row[0] for row in db.execute("SELECT name FROM studies ORDER BY number")]

    def config(self, name: str) -> dict[str, Any]:
        with self._file.reading() as db:
            row = db.execute("SELECT config, seal FROM studies WHERE name = ?", (name,)).fetchone()
            if row is None:
                raise InvalidInput(
                    f"there is no study named {name!r} in {self._file.name}; there are {self.names()}"
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
        with self._file.writing() as db:
            end = self._end(db, name, study)
            if after is not None and end.seq != after:
                raise Conflict(f"study {name!r} has moved on from event {after} to {end.seq}")
            rows = rows_of(records, end)
            try:
                db.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?)", [(study, *row) for row in rows])
            except sqlite3.IntegrityError as error:
                raise DamagedJournal(
                    f"{self._where(name)}: there are events after the last one written, number {end.seq}"
                ) from error
            if rows:
                end = End(rows[-1].seq, rows[-1].link)
                db.execute("UPDATE studies SET last = ?, link = ? WHERE number = ?", (*end, study))
        return [Event(row.seq, record) for row, record in zip(rows, records, strict=True)]

    def events(self, name: str, after: int = 0) -> list[Event]:
        """Rows above ``after``, once the chain has been followed through them."""
        study, after = self._number(name), max(after, 0)
        with self._file.reading() as db:
            end = self._end(db, name, study)
            if after >= end.seq and self._ends.get(name) == end:
                return []
            query = "SELECT seq, kind, body, link FROM events WHERE study = ? AND seq {} ? ORDER BY seq"
            (sealed,) = db.execute("SELECT seal FROM studies WHERE number = ?", (study,)).fetchone()
            start = End(0, sealed)
            if 0 < after <= end.seq:
                row = db.execute(query.format("="), (study, after)).fetchone()
                start = End(after, "" if row is None else row[3])
                known = self._ends.get(name, start)
                if row is None or (known.seq == after and known != start):
                    raise DamagedJournal(f"{self._where(name)}: event {after} is gone or another now")
            found = events_of(
                db.execute(query.format(">"), (study, start.seq)), start, end, self._where(name)
            )
            self._ends[name] = end
        return [event for event in found if event.seq > after]

    def put_table(self, name: str, digest: str, values: Floats) -> None:
        study, body = self._number(name), np.asarray(values, dtype="<f8").tobytes()
        insert = "INSERT OR IGNORE INTO tables VALUES (?, ?, ?, ?)"
        row = (study, digest, body, seal(digest, body))
        with self._file.mutex:
            if self._file.db.in_transaction:  # our turn: the append that ends it commits this, too
                with self._file.reading() as db:
                    db.execute(insert, row)
            elif self.table(name, digest) is None:
                with self._file.writing() as db:
                    db.execute(insert, row)

    def table(self, name: str, digest: str) -> Floats | None:
        study = self._number(name)
        with self._file.reading() as db:
            query = "SELECT body, seal FROM tables WHERE study = ? AND digest = ?"
            row = db.execute(query, (study, digest)).fetchone()
        if row is None:
            return None
        if not isinstance(row[0], bytes) or seal(digest, row[0]) != row[1]:
            raise DamagedJournal(
                f"{self._where(name)}: the table of chances {digest!r} was changed after it was written"
            )
        return np.frombuffer(row[0], dtype="<f8").astype(np.float64)

    def turn(
        self, name: str | None = None, meanwhile: Callable[[], object] | None = None
    ) -> AbstractContextManager[None]:
        return self._file.turn(meanwhile)

    def close(self) -> None:
        self._file.close()

    # ---- inside ----------------------------------------------------------------------------------

    def _where(self, name: str) -> str:
        return f"study {name!r} in {self._file.name}"

    def _number(self, name: str) -> int:
        if name not in self._numbers:
            with self._file.reading() as db:
                row = db.execute("SELECT number FROM studies WHERE name = ?", (name,)).fetchone()
            if row is None:
                self.config(name)  # raises, and says what there is
            self._numbers[name] = row[0]
        return self._numbers[name]

    def _end(self, db: sqlite3.Connection, name: str, study: int) -> End:
        """Where the study's chain ends now: never before, nor beside, where we have seen it end."""
        row = db.execute("SELECT last, link FROM studies WHERE number = ?", (study,)).fetchone()
        known = self._ends.get(name)
        if row is None or not isinstance(row[0], int):
            raise DamagedJournal(f"{self._where(name)}: the end of its events cannot be read any more")
        end = End(*row)
        if known is not None and (end.seq < known.seq or (end.seq == known.seq and end != known)):
            raise DamagedJournal(
                f"{self._where(name)}: of {known.seq} events that were read, some are gone or others now"
            )
        return end

    def _prepare(self) -> None:
        """Make the tables, or bring those of an older version up to date; refuse those of a newer one."""
        found, file = self._schema(), self._file.name
        if found == _SCHEMA_VERSION:
            return
        if self._file.read_only and not found:
            raise InvalidInput(f"storage: {file} can only be read, and holds no studies")
        if self._file.read_only:
            raise JournalUnavailable(
                f"{file} was written by an older version of sondage: open it once where it can be written"
            )
        with self._file.writing() as db:
            found = self._schema()  # another process may have been first
            script = _SCHEMA if not found else _TO_SCHEMA_2 if found == 1 else ""
            for statement in script.split(";"):
                db.execute(statement)
            if found == 1:
                _forge(db)
            db.execute("INSERT OR REPLACE INTO meta VALUES ('schema', ?)", (str(_SCHEMA_VERSION),))

    def _schema(self) -> int:
        """The version of the tables in the file, 0 if there are none."""
        with self._file.reading() as db:
            if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
                return 0
            row = db.execute("SELECT value FROM meta WHERE key = 'schema'").fetchone()
        if row is None:
            return 0
        if not str(row[0]).isdigit():
            raise DamagedJournal(f"{self._file.name}: its schema {row[0]!r} is no number")
        if int(row[0]) > _SCHEMA_VERSION:
            raise InvalidInput(
                f"storage: {self._file.name} was written by a newer version of sondage (schema {row[0]}): "
                "upgrade the package"
            )
        return int(row[0])


def _forge(db: sqlite3.Connection) -> None:
    """Link the events of a file from before there was a chain, as they are."""
    for digest, study, body in db.execute("SELECT digest, study, body FROM tables").fetchall():
        sealed = seal(digest, body)
        db.execute("UPDATE tables SET seal = ? WHERE study = ? AND digest = ?", (sealed, study, digest))
    for study, name, text in db.execute("SELECT number, name, config FROM studies").fetchall():
        sealed = seal(name, text)
        last, link = 0, sealed
        query = "SELECT seq, kind, body FROM events WHERE study = ? ORDER BY seq"
        for seq, kind, body in db.execute(query, (study,)).fetchall():
            if seq != last + 1:
                raise DamagedJournal(f"study {name!r}: event {last + 1} is missing")
            last, link = seq, link_of(link, seq, kind, body)
            db.execute("UPDATE events SET link = ? WHERE study = ? AND seq = ?", (link, study, seq))
        db.execute(
            "UPDATE studies SET seal = ?, last = ?, link = ? WHERE number = ?", (sealed, last, link, study)
        )
