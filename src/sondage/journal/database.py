"""A database as a journal needs it: looks, changes that are all or nothing, and turns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

from sondage.mutex import Mutex

T = TypeVar("T")
PATIENCE = 30.0
"""Seconds after which a database that others hold, or that is gone, is given up."""


class ResultRows(Protocol):
    """Rows that a statement returns, one after another."""

    @property
    def rowcount(self) -> int: ...

    def fetchone(self) -> Any: ...
    def fetchall(self) -> list[Any]: ...


class Statements(Protocol):
    """What runs statements; values stand where they have a ``?``."""

    def execute(self, statement: str, values: Any = (), /) -> ResultRows: ...


class Database(ABC):
    """One connection, used by one thread at a time (``mutex``), whose errors say what to do.

    What is passed to ``read`` and ``change`` may be called again, where a connection was lost on the way.
    """

    name: str
    """The address as messages show it."""
    read_only: bool
    blob: str
    """The type of a column of bytes."""
    table_options: str
    """What follows the columns of a table that is found by its key alone."""
    mutex: Mutex
    session: int = 0
    """Rises whenever a connection was lost: the server may have forgotten what was not on its disk."""

    @abstractmethod
    def read(self, look: Callable[[Statements], T], *, at_once: bool = False) -> T:
        """What a look returns, all of it of one moment; in our turn, of this one.

        A look of a single statement (``at_once``) is so by itself, and costs the less.
        """

    @abstractmethod
    def change(
        self,
        change: Callable[[Statements], T],
        study: int = 0,
        written: Callable[[Statements], T | None] = lambda db: None,
    ) -> T:
        """One transaction that nobody else's comes between, durable when it returns; it ends our turn.

        ``study`` is the number of the one it is about, 0 for the list of studies. ``written`` says what the
        change returned if it was committed before the news of that got lost.
        """

    @abstractmethod
    def turn(self, study: int, meanwhile: Callable[[], object] | None) -> AbstractContextManager[None]:
        """Hold off other changes until our next one, or the end of the block: first come, first served."""

    @property
    @abstractmethod
    def in_turn(self) -> bool:
        """Whether this process may write now."""

    @abstractmethod
    def has_table(self, db: Statements, table: str) -> bool:
        """Whether there is a table of this name."""

    def together(self, db: Statements, statements: Sequence[tuple[str, Sequence[Any]]]) -> list[ResultRows]:
        """What some statements with their values return, none of which needs the answer to another."""
        return [db.execute(*one) for one in statements]

    def erase(self, change: Callable[[Statements], T], study: int) -> T:
        """A change after which what was removed is not left in free space either, as far as can be."""
        return self.change(change, study)

    def prepare(self, db: Statements) -> None:
        """Make what tables need before they are made themselves."""
        return

    @abstractmethod
    def close(self) -> None:
        """Close the connection; nothing more can be read or written."""
