"""A PostgreSQL database as a journal needs it: fair turns, new tries where it was away, clear errors."""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

from sondage.errors import InvalidInput, JournalUnavailable, MissingExtra
from sondage.journal.database import PATIENCE, Database, ResultRows, Statements, T
from sondage.mutex import Mutex

FIRST_PATIENCE = 5.0
"""Seconds after which a server that does not answer when it is first called is given up."""
_PAUSE = 0.1
"""Seconds between two tries to reach a server."""
_IDLE = "10min"
"""How long the server waits for a client that holds the turn and says nothing."""
_AWAY = ("57P01", "57P02", "57P03", "25P03", "25P04", "57P05", "40001", "40P01")
"""States after which a new try makes sense: shut down, starting up, timed out, in another's way."""
_REFUSED = ("password", "role", "no pg_hba.conf entry", "does not exist", "does not support SSL", "invalid")
"""Words of a refusal that another try does not change."""
_SAID = {
    "53100": "the disk of the server is full, and nothing was written: make room and try again",
    "25006": "it can only be read: estimates work, but ask and tell have to write to it",
    "42501": "this user may not do that, and nothing was written: have the rights granted",
    "42P01": "its tables were removed since it was opened, so nothing can be kept in it",
    "3F000": "its schema was removed since it was opened, so nothing can be kept in it",
    "55P03": f"it was busy for {PATIENCE:g} seconds: try again",
}
_UNLOCK = "pg_advisory_unlock(?::int, ?::int)"
_inherited: list[Any] = []
"""Connections of the process that this one was forked from: to close them here would harm them there."""


class PostgresServer(Database):
    """One connection to a database, made again where it was lost.

    Who waits to write waits in the server's own queue, study by study. A change that was on its way when
    the connection was lost is looked up, and made again only if it was not committed.

    A commit ends the turn before it is on disk, and a change returns when it is: so the server flushes for
    many clients at once. Where it fails in between, those who had read what is lost then read it all again
    (``Receded``).
    """

    blob, table_options = "BYTEA", ""

    def __init__(self, address: str) -> None:
        try:
            import psycopg
        except ImportError as error:
            raise MissingExtra("psycopg", "postgres", "a study in PostgreSQL") from error
        self._psycopg = psycopg
        self.mutex = Mutex()
        self._address, self.schema, self._to_read = _parsed(address)
        self.name = _shown(psycopg, self._address)
        self._class = zlib.crc32(self.schema.encode()) & 0x3FFFFFFF
        self._connection: Any = None
        with self._naming_errors():
            self._reach(FIRST_PATIENCE)

    # ---- looks and changes -----------------------------------------------------------------------

    def read(self, look: Callable[[Statements], T], *, at_once: bool = False) -> T:
        def once() -> T:
            if at_once or self.in_turn:
                return look(self._statements)
            self._run("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            try:
                return look(self._statements)
            finally:
                self._roll_back()

        with self.mutex, self._naming_errors():
            return self._persistently(once)

    def change(
        self,
        change: Callable[[Statements], T],
        study: int = 0,
        written: Callable[[Statements], T | None] = lambda db: None,
    ) -> T:
        tried = False

        def once() -> T:
            nonlocal tried
            if tried and (done := written(self._statements)) is not None:
                self._flush()
                return done
            if not self.in_turn:
                self._begin(study, None)
            try:
                done = change(self._statements)
                tried = True
                self._run("COMMIT")
                self._flush()
                return done
            finally:
                self._roll_back()

        with self.mutex, self._naming_errors():
            return self._persistently(once)

    @contextmanager
    def turn(self, study: int, meanwhile: Callable[[], object] | None) -> Iterator[None]:
        with self.mutex:
            with self._naming_errors():
                self._persistently(lambda: self._begin(study, meanwhile))
            try:
                yield
            finally:
                self._roll_back()

    @property
    def in_turn(self) -> bool:
        status = self._connection.info.transaction_status
        return self._pid == os.getpid() and status.name in ("INTRANS", "INERROR")

    def together(self, db: Statements, statements: Sequence[tuple[str, Sequence[Any]]]) -> list[ResultRows]:
        """In one message: whoever holds the turn keeps all others waiting for each answer of the server."""
        with self._connection.pipeline() if self._psycopg.Pipeline.is_supported() else nullcontext():
            return super().together(db, statements)

    def erase(self, change: Callable[[Statements], T], study: int) -> T:
        with self.mutex:
            done = self.change(change, study)
            with suppress(self._psycopg.Error):  # for whom may not, the server does it later by itself
                self._run("VACUUM events, tables, studies")
            return done

    def has_table(self, db: Statements, table: str) -> bool:
        found = db.execute(
            "SELECT 1 FROM pg_tables WHERE schemaname = ? AND tablename = ?", (self.schema, table)
        )
        return found.fetchone() is not None

    def prepare(self, db: Statements) -> None:
        if not db.execute("SELECT 1 FROM pg_namespace WHERE nspname = ?", (self.schema,)).fetchone():
            db.execute(f"CREATE SCHEMA {_quoted(self.schema)}")

    def close(self) -> None:
        with self.mutex:
            if self._connection is not None and self._pid == os.getpid():
                self._connection.close()
            self._closed = True

    # ---- inside ----------------------------------------------------------------------------------

    def _run(self, statement: str, values: Sequence[Any] = ()) -> Any:
        return self._statements.execute(statement, values)

    def _flush(self) -> None:
        """Return when all that was committed is on disk: a commit that waits for that takes it along."""
        if self._flushes:
            self._run("SELECT pg_logical_emit_message(true, 'sondage', '')")

    def _begin(self, study: int, meanwhile: Callable[[], object] | None) -> None:
        """Wait in the queue of a study, and then, first in it, for whoever is writing now.

        The server keeps both in the order of arrival. The first is ours until we have the second.
        """
        if self.read_only:
            raise JournalUnavailable(f"{self.name}: {_SAID['25006']}")
        queue, lock = (self._class, study), (self._class + 0x40000000, study)
        self._run("SELECT pg_advisory_lock(?::int, ?::int)", queue)
        try:
            if meanwhile is not None:
                meanwhile()
            self._run("BEGIN; SET LOCAL synchronous_commit = off" if self._flushes else "BEGIN")
            # In one statement: while we hold the lock, every word with the server costs all others time.
            self._run(f"SELECT pg_advisory_xact_lock(?::int, ?::int), {_UNLOCK}", (*lock, *queue))
        except BaseException:
            self._roll_back()
            with suppress(self._psycopg.Error):  # lost with the connection
                self._run(f"SELECT {_UNLOCK}", queue)
            raise

    def _roll_back(self) -> None:
        with suppress(self._psycopg.Error):
            if self.in_turn:
                self._run("ROLLBACK")

    def _persistently(self, task: Callable[[], T]) -> T:
        """What a task returns; it is begun again where the server was away, for as long as patience lasts."""
        started = time.monotonic()
        while True:
            try:
                if getattr(self, "_closed", False):
                    raise JournalUnavailable(f"{self.name}: it was closed: load the study again")
                if self._pid != os.getpid():
                    _inherited.append(self._connection)
                    self._reach(PATIENCE)
                return task()
            except self._psycopg.Error as error:
                if not self._is_away(error) or time.monotonic() - started > PATIENCE:
                    raise
            time.sleep(_PAUSE / 10)
            if self._connection.closed:
                self._reach(PATIENCE - (time.monotonic() - started))

    def _is_away(self, error: Any) -> bool:
        state = error.sqlstate or ""
        return bool(self._connection.closed) or state in _AWAY or state.startswith("08")

    def _reach(self, patience: float) -> None:
        """Connect; try again where nobody answers or the server is starting, not where it says no."""
        started = time.monotonic()
        while True:
            try:
                self._connection = self._psycopg.connect(
                    self._address, autocommit=True, connect_timeout=10, application_name="sondage"
                )
                self._set_up()
                return
            except self._psycopg.OperationalError as error:
                final = any(word in str(error) for word in _REFUSED)
                if "starting up" in str(error):  # it is there, and will answer
                    patience = max(patience, PATIENCE)
                if final or time.monotonic() - started > patience:
                    raise
            time.sleep(_PAUSE)

    def _set_up(self) -> None:
        """Settings of a new connection, and what it may do; the server may go away here, too."""
        self._pid, self._closed, self.session = os.getpid(), False, self.session + 1
        self._statements = _Statements(self._connection)
        for setting, value in (
            ("search_path", _quoted(self.schema)),
            ("lock_timeout", f"{PATIENCE:g}s"),
            ("idle_in_transaction_session_timeout", _IDLE),
            ("tcp_keepalives_idle", "60"),  # so that a client whose machine is gone loses its turn
        ):
            self._run("SELECT set_config(?, ?, false)", (setting, value))
        read_only, commits, self._flushes = self._run(
            "SELECT current_setting('transaction_read_only'), current_setting('synchronous_commit'), "
            "COALESCE(bool_and(has_function_privilege(oid, 'execute')), false) "
            "FROM pg_proc WHERE proname = 'pg_logical_emit_message'"
        ).fetchone()
        if commits == "off":
            self._run("SET synchronous_commit = on")
        self.read_only = self._to_read or read_only == "on"

    @contextmanager
    def _naming_errors(self) -> Iterator[None]:
        try:
            yield
        except self._psycopg.Error as error:
            if error.sqlstate in _SAID:
                said = _SAID[error.sqlstate]
            elif self._connection is None or self._connection.closed:
                said = (
                    f"it cannot be reached ({_first_line(error)}), and nothing more was written: start it or "
                    "look at the address, and try again"
                )
            else:
                said = f"it cannot be used now ({_first_line(error)})"
            kind = InvalidInput if isinstance(error, self._psycopg.DataError) else JournalUnavailable
            raise kind(f"{self.name}: {said}") from error


class _Statements:
    """A connection that takes ``?`` for a value, as all journals write it."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def execute(self, statement: str, values: Sequence[Any] = ()) -> Any:
        return self._connection.execute(statement.replace("?", "%s"), values or None)


def _parsed(address: str) -> tuple[str, str, bool]:
    """The address as libpq takes it, the schema, and whether it is only to be read."""
    place, _, query = address.partition("?")
    try:
        options = dict(parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query)))
    except ValueError as error:
        raise InvalidInput(f"storage: the options of an address are written ?name=value ({error})") from None
    schema, mode = options.pop("schema", "sondage"), options.pop("mode", "rw")
    if not schema or mode not in ("ro", "rw"):
        raise InvalidInput("storage: of an address, schema= takes a name and mode= takes ro or rw")
    return f"{place}?{urlencode(options, quote_via=quote)}" if options else place, schema, mode == "ro"


def _shown(psycopg: Any, address: str) -> str:
    """An address to show to people, without its password."""
    try:
        known = psycopg.conninfo.conninfo_to_dict(address)
    except psycopg.ProgrammingError as error:
        raise InvalidInput(
            "storage: a database is named as in 'postgresql://user@host/database', not so "
            f"({_first_line(error)})"
        ) from None
    user = f"{known['user']}@" if known.get("user") else ""
    port = f":{known['port']}" if known.get("port") else ""
    return f"'postgresql://{user}{known.get('host', '')}{port}/{known.get('dbname', '')}'"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
