"""An SQLite file as a journal needs it: transactions that queue fairly, and errors that say what to do."""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sondage.errors import DamagedJournal, InvalidInput, JournalUnavailable
from sondage.journal.database import PATIENCE, Database, Statements, T
from sondage.mutex import Mutex

fcntl: Any
try:
    import fcntl
except ImportError:  # not on Windows: there nobody queues, and whoever looks at the right moment is next
    fcntl = None

_PAUSE = 0.0003
"""Seconds between two tries of whoever is first in the queue for the write lock."""
_CORRUPT = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT, sqlite3.SQLITE_TOOBIG)
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_NOT_WRITABLE = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM)
_inherited: list[sqlite3.Connection] = []
"""Connections of the process that this one was forked from: to close them here would harm them there."""


class SqliteFile(Database):
    """One file, a connection to it, and one thread at a time.

    The write-ahead log is flushed to disk at every commit: by us, once the commit has let the next one go on,
    so that nobody waits for another's flush, and the system flushes for many at once. Others may see for a
    moment what is not on disk yet; where the machine fails then, they are gone, too. A file that may only be
    read is opened so.
    """

    blob, table_options = "BLOB", "WITHOUT ROWID"

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path, self.name, self.mutex = path, repr(str(path)), Mutex()
        self.db: sqlite3.Connection
        self.read_only = read_only or _write_protected(path)
        self._queue = Queue(path.with_name(path.name + "-queue"))
        self._log: int | None = None
        self._open()

    def _open(self) -> None:
        try:
            if not self.read_only:
                self._connect("rwc")
                try:
                    self._use_log()
                except sqlite3.OperationalError as error:
                    if _code(error) not in _NOT_WRITABLE or not self.path.is_file():
                        raise
                    self.db.close()
                    self.read_only = True  # nothing can be written beside it, such as the log
            if self.read_only:
                self._connect_to_read()
        except sqlite3.DatabaseError as error:
            if hasattr(self, "db"):
                self.db.close()
            kind = DamagedJournal if _code(error) == sqlite3.SQLITE_CORRUPT else InvalidInput
            why = f"{error}: is the disk full?" if _code(error) == sqlite3.SQLITE_IOERR else error
            raise kind(f"storage: {self.name} cannot be opened as a journal ({why})") from error
        except UnicodeDecodeError as error:  # SQLite quotes the damaged text, which Python cannot read
            self.db.close()
            raise DamagedJournal(
                f"storage: {self.name} cannot be opened as a journal (it is damaged)"
            ) from error
        self._pid, self._identity = os.getpid(), _identity(self.path)

    def _connect(self, mode: str) -> None:
        self.db = sqlite3.connect(
            f"{self.path.absolute().as_uri()}?mode={mode}",
            uri=True,
            timeout=PATIENCE,
            isolation_level=None,
            check_same_thread=False,  # the mutex sees to it that threads take turns
        )
        # Text that is damaged has to get as far as the chain, which knows what it was.
        self.db.text_factory = lambda data: data.decode(errors="replace")

    def _connect_to_read(self) -> None:
        """Open without writing; where the log's index cannot be made either, as a file that nobody writes."""
        try:
            self._connect("ro")
            self.db.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
        except sqlite3.OperationalError as error:
            log = self.path.with_name(self.path.name + "-wal")
            if _code(error) not in _NOT_WRITABLE or (log.exists() and log.stat().st_size):
                raise
            if hasattr(self, "db"):
                self.db.close()
            self._connect("ro&immutable=1")

    def _use_log(self) -> None:
        """Turn the write-ahead log on; here SQLite does not wait for others who open the file."""
        started = time.monotonic()
        while True:
            try:
                (mode,) = self.db.execute("PRAGMA journal_mode = WAL").fetchone()
                self._flushes = mode == "wal"  # there are file systems on which SQLite keeps none
                self.db.execute(f"PRAGMA synchronous = {'NORMAL' if self._flushes else 'FULL'}")
                return
            except sqlite3.OperationalError as error:
                if _code(error) not in _BUSY or time.monotonic() - started > PATIENCE:
                    raise
            time.sleep(0.01)

    def read(self, look: Callable[[Statements], T], *, at_once: bool = False) -> T:
        with self._reading(at_once) as db:
            return look(db)

    def change(
        self,
        change: Callable[[Statements], T],
        study: int = 0,
        written: Callable[[Statements], T | None] = lambda db: None,
    ) -> T:
        with self._writing() as db:
            return change(db)

    def erase(self, change: Callable[[Statements], T], study: int) -> T:
        with self.mutex:
            with self._naming_errors():
                self._own()
                self.db.execute("PRAGMA secure_delete = ON")
            done = self.change(change, study)
            with suppress(sqlite3.Error):  # while somebody reads the log it stays; it is emptied later
                self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            return done

    @property
    def in_turn(self) -> bool:
        return self._pid == os.getpid() and self.db.in_transaction

    def has_table(self, db: Statements, table: str) -> bool:
        found = db.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (table,))
        return found.fetchone() is not None

    @contextmanager
    def _reading(self, at_once: bool) -> Iterator[sqlite3.Connection]:
        """A connection on which all that is read is of one moment."""
        with self.mutex, self._naming_errors():
            self._own()
            if at_once or self.db.in_transaction:
                yield self.db
                return
            self.db.execute("BEGIN")
            try:
                yield self.db
            finally:
                self._roll_back()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction with the write lock, committed at the end; it ends the turn, if it was our turn."""
        with self.mutex, self._naming_errors():
            self._own()
            if not self.db.in_transaction:
                self._begin(None)
            try:
                yield self.db
                self.db.execute("COMMIT")
            finally:
                self._roll_back()
            if self._flushes:
                self._flush()

    def _flush(self) -> None:
        """Return when what was committed is on disk.

        The log is there for as long as a connection is. What somebody has moved from it into the database
        meanwhile was flushed before.
        """
        try:
            if self._log is None:
                self._log = os.open(self.path.with_name(self.path.name + "-wal"), os.O_RDWR)
            (os.fdatasync if hasattr(os, "fdatasync") else os.fsync)(self._log)
        except OSError as error:
            raise JournalUnavailable(
                f"{self.name}: what was written may not have reached the disk ({error}): look at the disk, "
                "and load the study again"
            ) from error

    def _forget_log(self) -> None:
        if self._log is not None:
            os.close(self._log)
        self._log = None

    @contextmanager
    def turn(self, study: int, meanwhile: Callable[[], object] | None) -> Iterator[None]:
        """The write lock up to the end of the first ``change``; what was not committed then is undone."""
        with self.mutex:
            with self._naming_errors():
                self._own()
                self._begin(meanwhile)
            try:
                yield
            finally:
                self._roll_back()

    def close(self) -> None:
        """Let go of the connection and of the place in the queue."""
        with self.mutex:
            self._forget_log()
            if self._pid == os.getpid():
                self.db.close()
            self._queue.close()

    def _own(self) -> None:
        """A connection must not be used by a process that was forked off: it gets one of its own."""
        if self._pid != os.getpid():
            _inherited.append(self.db)
            del self.db
            self._forget_log()
            self._open()

    def _begin(self, meanwhile: Callable[[], object] | None) -> None:
        """Wait for the write lock in a queue: SQLite's own waiting serves who comes late first."""
        if self.read_only:
            raise JournalUnavailable(
                f"{self.name} can only be read: estimates work, but ask and tell have to write to it"
            )
        if _identity(self.path) != self._identity:
            raise JournalUnavailable(
                f"{self.name} was removed or replaced since it was opened, so nothing can be kept in it: put "
                "the file back and load the study again"
            )
        with self._queue.first():
            if meanwhile is not None:
                meanwhile()
            started = time.monotonic()
            while not self._try_begin():
                if time.monotonic() - started > PATIENCE:
                    raise JournalUnavailable(f"{self.name} was busy for {PATIENCE:g} seconds: try again")
                time.sleep(_PAUSE)

    def _try_begin(self) -> bool:
        self.db.execute("PRAGMA busy_timeout = 0")
        try:
            self.db.execute("BEGIN IMMEDIATE")
            return True
        except sqlite3.OperationalError as error:
            if _code(error) not in _BUSY:
                raise
            return False
        finally:
            self.db.execute(f"PRAGMA busy_timeout = {int(1000 * PATIENCE)}")

    def _roll_back(self) -> None:
        with suppress(sqlite3.ProgrammingError):  # closed inside the block: nothing is under way
            if self.db.in_transaction:  # a full disk ends it by itself
                self.db.execute("ROLLBACK")

    @contextmanager
    def _naming_errors(self) -> Iterator[None]:
        try:
            yield
        except UnicodeDecodeError as error:
            raise DamagedJournal(
                f"{self.name} is damaged: take a copy of it from before the damage"
            ) from error
        except sqlite3.ProgrammingError as error:
            raise JournalUnavailable(f"{self.name}: {error}: load the study again") from error
        except sqlite3.Error as error:
            code = _code(error)
            if code in _CORRUPT:
                raise DamagedJournal(
                    f"{self.name} is damaged ({error}): take a copy of it from before the damage"
                ) from error
            if code == sqlite3.SQLITE_FULL:
                said = ": the disk is full, and nothing was written: make room and try again"
            elif code == sqlite3.SQLITE_IOERR:
                said = f" cannot be used now ({error}): is the disk full?"
            elif code in _BUSY:
                said = f" was busy for {PATIENCE:g} seconds: try again"
            elif code in _NOT_WRITABLE:
                said = f" cannot be written ({error}), and nothing was"
            else:
                said = f" cannot be used now ({error})"
            raise JournalUnavailable(f"{self.name}{said}") from error


class Queue:
    """A file by which processes wait in the order of their arrival: each for whoever came before it.

    Everybody locks a place of their own in it and waits for the place before to be let go, which the system
    does for those who die. (One lock for all would go to whoever looks first when it is let go: of twenty
    processes on two processors, some were overtaken forty times.) It only orders those who wait. What may
    not happen at once has a lock of its own.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None

    @contextmanager
    def first(self) -> Iterator[None]:
        """Wait until it is our turn, and be first in the queue to the end of the block."""
        try:
            if fcntl is not None:
                with suppress(OSError):  # where there can be no lock, nobody queues
                    before = self._place() - 1
                    self._lock(before)
                    self._let_go(before)
            yield
        finally:
            if self._file is not None:
                with suppress(OSError):
                    fcntl.lockf(self._file, fcntl.LOCK_UN)  # all that we hold, wherever we were interrupted

    def _place(self) -> int:
        """A place after all others, which is ours now. The last one taken is written in the file."""
        if self._file is None:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o666)
        self._lock(0)
        try:
            place = int.from_bytes(os.pread(self._file, 8, 0), "little") + 1
            os.pwrite(self._file, place.to_bytes(8, "little"), 0)
            self._lock(place)
        finally:
            self._let_go(0)
        return place

    def _lock(self, place: int) -> None:
        fcntl.lockf(self._file, fcntl.LOCK_EX, 1, place)

    def _let_go(self, place: int) -> None:
        fcntl.lockf(self._file, fcntl.LOCK_UN, 1, place)

    def close(self) -> None:
        """Close the file, so that others can move or delete it."""
        if self._file is not None:
            os.close(self._file)
        self._file = None


def _code(error: sqlite3.Error) -> int | None:
    """SQLite's primary code of an error, None if the error is Python's own."""
    code: int | None = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file a path leads to now."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _write_protected(path: Path) -> bool:
    """Whether a file may only be read; one that nobody may write is not written by the superuser either."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return stat.S_ISREG(mode) and not (mode & 0o222 and os.access(path, os.W_OK))
