"""The errors Sondage raises. Each names the column, row or argument at fault, and the way out."""

from __future__ import annotations


class SondageError(Exception):
    """Base of every error raised on purpose by Sondage."""


class InvalidInput(SondageError, ValueError):
    """A column, label or argument is not what it has to be."""


class WrongRows(InvalidInput):
    """Wrong rows in a table of answers; ``rows`` has a line for each, and nothing was told."""

    def __init__(self, message: str, rows: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.rows = rows


class NameTaken(InvalidInput):
    """There is a study of that name already."""


class NotSupported(SondageError, ValueError):
    """The parts do not fit together (a design, a measure, an oracle, an interval)."""


class NothingLeft(SondageError, RuntimeError):
    """``ask`` when the budget is spent or every item has been asked."""


class UnknownItem(SondageError, KeyError):
    """An id that is not in the pool, or an answer for an item that was never asked."""

    def __str__(self) -> str:  # KeyError would print the repr of the message
        return str(self.args[0])


class AlreadyAnswered(SondageError, ValueError):
    """A second answer where the first was not meant to be replaced."""


class PoolMismatch(SondageError, ValueError):
    """The pool given is not the pool the study was made with."""


class Conflict(SondageError, RuntimeError):
    """Another process wrote this round first; the study reloads and draws again."""


class Receded(Conflict):
    """A database has lost events that were read before they had reached its disk; nobody was told them."""


class DamagedJournal(SondageError, RuntimeError):
    """What the journal holds is not what was written; the message names the event."""


class JournalUnavailable(SondageError, OSError):
    """The journal cannot be read or written now: its file is gone, busy or read-only, the disk is full."""


class VersionMismatch(SondageError, RuntimeError):
    """This version of the library would not read the study as the one that made it did."""


class MissingExtra(SondageError, ImportError):
    """An optional package is needed; the message names the extra to install."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs the package {package!r}: pip install 'sondage[{extra}]'")
