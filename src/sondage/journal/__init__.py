"""Nothing is lost: where rounds and answers are written before anyone sees them."""

from __future__ import annotations

from sondage.errors import InvalidInput
from sondage.journal.base import Answer, Event, Journal, Lease, Record, Round
from sondage.journal.memory import MemoryJournal
from sondage.journal.sqlite import SqliteJournal


def open_journal(storage: str | Journal | None) -> Journal:
    """A journal from its address: None for memory, ``sqlite:///file.db`` for a file.

    >>> type(open_journal(None)).__name__
    'MemoryJournal'
    """
    if storage is None:
        return MemoryJournal()
    if isinstance(storage, Journal):
        return storage
    if storage.startswith("sqlite:///") and len(storage) > len("sqlite:///"):
        return SqliteJournal(storage.removeprefix("sqlite:///"))
    raise InvalidInput(
        f"storage= takes None, a Journal or an address such as 'sqlite:///study.db', not {storage!r}"
    )


__all__ = [
    "Answer",
    "Event",
    "Journal",
    "Lease",
    "MemoryJournal",
    "Record",
    "Round",
    "SqliteJournal",
    "open_journal",
]
