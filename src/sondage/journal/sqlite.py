"""A journal in one SQLite file, shared by processes on one machine."""

from __future__ import annotations

import dataclasses
import json
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from sondage.errors import Conflict, InvalidInput
from sondage.journal.base import RECORDS, Event, Journal, Record
from sondage.types import Floats

_SCHEMA_VERSION = 1
_BUSY_SECONDS = 30.0
_META = "CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS studies (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, config TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS events (
    study INTEGER NOT NULL REFERENCES studies (number),
    seq INTEGER NOT NULL,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (study, seq)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS tables (
    study INTEGER NOT NULL REFERENCES studies (number),
    digest TEXT NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (study, digest)
) WITHOUT ROWID;
"""


class SqliteJournal(Journal):
    """SQLite with a write-ahead log, flushed to disk at every commit.

    A record is a row of JSON: Python writes and reads floats without loss.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        if not self._path.parent.exists():
            raise InvalidInput(f"storage: the folder {str(self._path.parent)!r} does not exist")
        self._numbers: dict[str, int] = {}
        try:
            self._db = sqlite3.connect(self._path, timeout=_BUSY_SECONDS, isolation_level=None)
        except sqlite3.DatabaseError as error:
            raise InvalidInput(f"storage: {str(path)!r} cannot be opened ({error})") from error
        try:
            self._prepare()
        except sqlite3.DatabaseError as error:
            self._db.close()
            raise InvalidInput(f"storage: {str(path)!r} cannot be used as a journal ({error})") from error
        except InvalidInput:
            self._db.close()
            raise

    def create(self, name: str, config: dict[str, Any]) -> None:
        """Enter a new study."""
        with self._writing():
            try:
                self._db.execute(
                    "INSERT INTO studies (name, config) VALUES (?, ?)", (name, json.dumps(config))
                )
            except sqlite3.IntegrityError:
                raise InvalidInput(
                    f"there is a study named {name!r} in {str(self._path)!r} already: load it with "
                    "load_study, or take a new name"
                ) from None

    def names(self) -> list[str]:
        """Names of the studies."""
        return [row[0] for row in self._db.execute("SELECT name FROM studies ORDER BY number")]

    def config(self, name: str) -> dict[str, Any]:
        """What the study was made with."""
        row = self._db.execute("SELECT config FROM studies WHERE name = ?", (name,)).fetchone()
        if row is None:
            raise InvalidInput(
                f"there is no study named {name!r} in {str(self._path)!r}; there are {self.names()}"
            )
        config: dict[str, Any] = json.loads(row[0])
        return config

    def append(self, name: str, records: Sequence[Record], after: int | None = None) -> list[Event]:
        """Insert rows in one transaction."""
        study = self._number(name)
        with self._writing():
            last = self._db.execute(
                "SELECT COALESCE(MAX(seq), 0) FROM events WHERE study = ?", (study,)
            ).fetchone()[0]
            if after is not None and last != after:
                raise Conflict(f"study {name!r} has moved on from event {after} to {last}")
            events = [Event(last + 1 + k, record) for k, record in enumerate(records)]
            self._db.executemany(
                "INSERT INTO events VALUES (?, ?, ?, ?)",
                [(study, seq, *_dumped(record)) for seq, record in events],
            )
        return events

    def events(self, name: str, after: int = 0) -> list[Event]:
        """Rows above ``after``."""
        rows = self._db.execute(
            "SELECT seq, kind, body FROM events WHERE study = ? AND seq > ? ORDER BY seq",
            (self._number(name), after),
        )
        return [Event(seq, RECORDS[kind](**json.loads(body))) for seq, kind, body in rows]

    def put_table(self, name: str, digest: str, values: Floats) -> None:
        """Insert once."""
        study = self._number(name)
        if not self._has_table(study, digest):
            with self._writing():
                self._db.execute(
                    "INSERT OR IGNORE INTO tables VALUES (?, ?, ?)",
                    (study, digest, np.asarray(values, dtype="<f8").tobytes()),
                )

    def table(self, name: str, digest: str) -> Floats | None:
        """Read back."""
        row = self._db.execute(
            "SELECT body FROM tables WHERE study = ? AND digest = ?", (self._number(name), digest)
        ).fetchone()
        return None if row is None else np.frombuffer(row[0], dtype="<f8").astype(np.float64)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def _prepare(self) -> None:
        """Set the log up and make the tables, unless a newer version made them."""
        self._use_log()
        self._db.execute("PRAGMA synchronous = FULL")
        with self._writing():
            self._db.execute(_META)
            row = self._db.execute("SELECT value FROM meta WHERE key = 'schema'").fetchone()
            if row is not None and int(row[0]) > _SCHEMA_VERSION:
                raise InvalidInput(
                    f"storage: {str(self._path)!r} was written by a newer version of sondage "
                    f"(schema {row[0]}): upgrade the package"
                )
            for statement in _SCHEMA.split(";"):
                self._db.execute(statement)
            self._db.execute("INSERT OR IGNORE INTO meta VALUES ('schema', ?)", (str(_SCHEMA_VERSION),))

    def _use_log(self) -> None:
        """Turn the write-ahead log on; here SQLite does not wait for others who open the file."""
        deadline = time.monotonic() + _BUSY_SECONDS
        while True:
            try:
                self._db.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                    raise
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
            else:
                return

    def _has_table(self, study: int, digest: str) -> bool:
        query = "SELECT 1 FROM tables WHERE study = ? AND digest = ?"
        return self._db.execute(query, (study, digest)).fetchone() is not None

    def _number(self, name: str) -> int:
        if name not in self._numbers:
            row = self._db.execute("SELECT number FROM studies WHERE name = ?", (name,)).fetchone()
            if row is None:
                self.config(name)  # raises, and says what there is
            self._numbers[name] = row[0]
        return self._numbers[name]

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """One transaction that holds the write lock from its start."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:  # a full disk has ended it already
                self._db.execute("ROLLBACK")
            raise


def _dumped(record: Record) -> tuple[str, str]:
    kind = next(name for name, cls in RECORDS.items() if isinstance(record, cls))
    fields = {field.name: getattr(record, field.name) for field in dataclasses.fields(record)}
    return kind, json.dumps(fields, allow_nan=False)
