"""Nothing is lost: where rounds and answers are written before anyone sees them."""

from __future__ import annotations

from sondage.errors import InvalidInput
from sondage.journal.base import Answer, Event, Journal, Lease, Look, Record, Round
from sondage.journal.memory import MemoryJournal
from sondage.journal.sqlite import SqliteJournal


def open_journal(storage: str | Journal | None, *, must_exist: bool = False) -> Journal:
    """A journal from its address, found by the scheme of that: ``sqlite:///file.db``, ``memory:``.

    None is a new one in memory. ``must_exist``: where there is none it is an error, not a new journal.

    >>> type(open_journal(None)).__name__
    'MemoryJournal'
    """
    if isinstance(storage, Journal):
        return storage
    if storage is None:
        return MemoryJournal()
    scheme, colon, _ = storage.partition(":") if isinstance(storage, str) else ("", "", "")
    known = Journal.catalogue()  # a look through the folder
    if not colon or scheme not in known:
        raise InvalidInput(
            "storage= takes None, a Journal or an address such as 'sqlite:///study.db' (its scheme is one of "
            f"{', '.join(map(repr, known))}), not {storage!r}"
        )
    return known[scheme].at(storage, must_exist=must_exist)


__all__ = [
    "Answer",
    "Event",
    "Journal",
    "Lease",
    "Look",
    "MemoryJournal",
    "Record",
    "Round",
    "SqliteJournal",
    "open_journal",
]
