"""Nothing is lost: where rounds and answers are written before anyone sees them."""

from __future__ import annotations

import re

from sondage.errors import InvalidInput
from sondage.journal.base import (
    Answer,
    Event,
    Grouping,
    Import,
    Journal,
    Lease,
    Look,
    Record,
    Redaction,
    Round,
)
from sondage.journal.memory import MemoryJournal
from sondage.journal.sqlite import SqliteJournal


def open_journal(storage: str | Journal | None, *, must_exist: bool = False) -> Journal:
    """A journal from its address, found by the scheme of that: ``sqlite:///file.db``, ``postgresql://host/db``.

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
            f"{', '.join(map(repr, known))}), not {without_password(storage)!r}"
        )
    return known[scheme].at(storage, must_exist=must_exist)


def without_password(storage: object) -> object:
    """An address as messages may show it.

    >>> without_password("postgresql://ann:secret@host/db"), without_password("postgresql://host/?password=secret")
    ('postgresql://ann@host/db', 'postgresql://host/?password=...')
    """
    if not isinstance(storage, str):
        return storage
    return re.sub(r"([?&]password=)[^&]*", r"\1...", re.sub(r"(//[^/@:]*):[^/@]*@", r"\1@", storage))


__all__ = [
    "Answer",
    "Event",
    "Grouping",
    "Import",
    "Journal",
    "Lease",
    "Look",
    "MemoryJournal",
    "Record",
    "Redaction",
    "Round",
    "SqliteJournal",
    "open_journal",
    "without_password",
]
