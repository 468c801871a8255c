"""The tables of a journal in a database: one schema for all of them, and the way there from older ones."""

from __future__ import annotations

from collections.abc import Callable

from sondage.errors import DamagedJournal, InvalidInput, JournalUnavailable
from sondage.journal.chain import link_of, seal
from sondage.journal.database import Database, Statements

VERSION = 2
_TABLES = """
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
) {options};
CREATE TABLE IF NOT EXISTS tables (
    study INTEGER NOT NULL REFERENCES studies (number),
    digest TEXT NOT NULL,
    body {blob} NOT NULL,
    seal TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (study, digest)
) {options}
"""
_TO_2 = """
ALTER TABLE studies ADD COLUMN seal TEXT NOT NULL DEFAULT '';
ALTER TABLE studies ADD COLUMN last INTEGER NOT NULL DEFAULT 0;
ALTER TABLE studies ADD COLUMN link TEXT NOT NULL DEFAULT '';
ALTER TABLE events ADD COLUMN link TEXT NOT NULL DEFAULT '';
ALTER TABLE tables ADD COLUMN seal TEXT NOT NULL DEFAULT ''
"""


def prepare(database: Database, *, must_exist: bool = False) -> None:
    """Make the tables, or bring those of an older version up to date; refuse those of a newer one."""
    found = database.read(lambda db: _version(database, db))
    if found == VERSION:
        return
    if not found and must_exist:
        raise InvalidInput(f"storage: there are no studies in {database.name}: make one with create_study")
    if database.read_only and not found:
        raise InvalidInput(f"storage: {database.name} can only be read, and holds no studies")
    if database.read_only:
        raise JournalUnavailable(
            f"{database.name} was written by an older version of sondage: open it once where it can be "
            "written"
        )
    database.change(lambda db: _bring_up_to_date(database, db))


def _bring_up_to_date(database: Database, db: Statements) -> None:
    found = _version(database, db)  # another process may have been first
    if not found:
        database.prepare(db)
        _run(db, _TABLES.format(options=database.table_options, blob=database.blob))
    for version in range(found + 1, VERSION + 1) if found else ():
        _MIGRATIONS[version](db)
    keep(db, "schema", VERSION)


def _version(database: Database, db: Statements) -> int:
    """The version of the tables that are there, 0 if there are none."""
    if not database.has_table(db, "meta"):
        return 0
    value = kept(db, "schema")
    if value is None:
        return 0
    if not value.isdigit():
        raise DamagedJournal(f"{database.name}: its schema {value!r} is no number")
    if int(value) > VERSION:
        raise InvalidInput(
            f"storage: {database.name} was written by a newer version of sondage (schema {value}): "
            "upgrade the package"
        )
    return int(value)


def kept(db: Statements, key: str) -> str | None:
    """What is known of the database as a whole."""
    row = db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return None if row is None else str(row[0])


def keep(db: Statements, key: str, value: int) -> None:
    """Write down something of the database as a whole."""
    db.execute(
        "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        (key, str(value)),
    )


def _run(db: Statements, script: str) -> None:
    for statement in script.split(";"):
        db.execute(statement)


def _to_2(db: Statements) -> None:
    """Link the events of a journal from before there was a chain, as they are."""
    _run(db, _TO_2)
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


_MIGRATIONS: dict[int, Callable[[Statements], None]] = {2: _to_2}
"""By version, what makes its tables of those of the version before."""
