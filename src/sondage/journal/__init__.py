"""Nothing is lost: where rounds and answers are written before anyone sees them."""

from __future__ import annotations

from pathlib import Path

from sondage.errors import InvalidInput
from sondage.journal.base import Answer, Event, Journal, Lease, Look, Record, Round
from sondage.journal.memory import MemoryJournal
from sondage.journal.sqlite import SqliteJournal

_SQLITE = "sqlite:///"
_READ_ONLY = "?mode=ro"


def open_journal(storage: str | Journal | None, *, must_exist: bool = False) -> Journal:
    """A journal from its address: None for memory, ``sqlite:///file.db`` for a file.

    With ``?mode=ro`` at its end the file is opened to read only, as one is that cannot be written.
    ``must_exist``: a file that is not there is an error, not a new journal.

    >>> type(open_journal(None)).__name__
    'MemoryJournal'
    """
    if storage is None:
        return MemoryJournal()
    if isinstance(storage, Journal):
        return storage
    if isinstance(storage, str) and storage.startswith(_SQLITE) and len(storage) > len(_SQLITE):
        path = Path(storage.removeprefix(_SQLITE).removesuffix(_READ_ONLY))
        read_only = storage.endswith(_READ_ONLY)
        if (must_exist or read_only) and not path.exists():
            raise InvalidInput(f"storage= there is no file {str(path)!r}: make a study with create_study")
        return SqliteJournal(path, read_only=read_only)
    raise InvalidInput(
        f"storage= takes None, a Journal or an address such as 'sqlite:///study.db', not {storage!r}"
    )


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
