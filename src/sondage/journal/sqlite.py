"""A journal in one SQLite file, shared by the processes and threads of one machine."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from sondage.errors import InvalidInput
from sondage.journal.sql import SqlJournal
from sondage.journal.sqlite_file import SqliteFile

_ADDRESS, _READ_ONLY = "sqlite:///", "?mode=ro"


class SqliteJournal(SqlJournal):
    """SQLite with a write-ahead log, flushed to disk at every commit.

    ``read_only`` opens the file to read, as happens by itself where it cannot be written. Its address is
    ``sqlite:///file.db``, with ``?mode=ro`` at its end to read only.
    """

    alias = "sqlite"

    @classmethod
    def at(cls, address: str, *, must_exist: bool = False) -> Self:
        if not address.startswith(_ADDRESS) or len(address) == len(_ADDRESS):
            raise InvalidInput(f"storage: a file is named as in 'sqlite:///study.db', not {address!r}")
        path = Path(address.removeprefix(_ADDRESS).removesuffix(_READ_ONLY))
        read_only = address.endswith(_READ_ONLY)
        if (must_exist or read_only) and not path.exists():
            raise InvalidInput(
                f"storage: there is no file {str(path)!r}: make a study with create_study (sondage start)"
            )
        return cls(path, read_only=read_only, must_exist=must_exist)

    def __init__(self, path: str | Path, *, read_only: bool = False, must_exist: bool = False) -> None:
        path = Path(path)
        if not path.parent.exists():
            raise InvalidInput(f"storage: the folder {str(path.parent)!r} does not exist")
        if path.is_dir():
            raise InvalidInput(
                f"storage: {str(path)!r} is a folder: name a file, as {str(path / 'study.db')!r}"
            )
        super().__init__(SqliteFile(path, read_only=read_only), must_exist=must_exist)
