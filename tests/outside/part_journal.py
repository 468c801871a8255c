"""A journal in one file: a folder in which every append is a file that only one writer can make."""

import json
import os
import tempfile
from pathlib import Path

import numpy as np

from sondage.errors import Conflict, InvalidInput, NameTaken
from sondage.journal import Event, Journal
from sondage.journal.chain import End, events_of, rows_of
from sondage.testing import JournalSuite


class FolderJournal(Journal):
    """At ``folder:path``. It has no turns: of two that write at once, one looks again."""

    alias = "folder"

    def __init__(self, path):
        self._path = Path(path)
        self._path.mkdir(parents=True, exist_ok=True)

    @classmethod
    def at(cls, address, *, must_exist=False):
        path = Path(address.removeprefix("folder:"))
        if must_exist and not path.exists():
            raise InvalidInput(f"storage: there is no folder {str(path)!r}")
        return cls(path)

    def create(self, name, config):
        while name not in self.names():
            new = Path(tempfile.mkdtemp(dir=self._path, prefix="new-"))
            (new / "study.json").write_text(json.dumps([name, config]))
            try:
                new.rename(self._path / f"{len(self._studies()):06d}")  # one that is there is never replaced
                return
            except OSError:
                (new / "study.json").unlink()
                new.rmdir()
        raise NameTaken(f"there is a study named {name!r} already")

    def names(self):
        return [json.loads((study / "study.json").read_text())[0] for study in self._studies()]

    def config(self, name):
        return json.loads((self._folder(name) / "study.json").read_text())[1]

    def append(self, name, records, after=None):
        folder = self._folder(name)
        while True:
            written = self._rows(folder)
            end = End(written[-1][0], written[-1][3]) if written else End(0, "")
            if after is not None and end.seq != after:
                raise Conflict(f"study {name!r} has moved on from event {after} to {end.seq}")
            rows = rows_of(records, end)
            if not rows or self._write(folder / f"events-{end.seq:09d}", json.dumps(rows).encode()):
                return [Event(row.seq, record) for row, record in zip(rows, records, strict=True)]
            if after is not None:
                raise Conflict(f"study {name!r} has moved on from event {after}")

    def events(self, name, after=0):
        rows = self._rows(self._folder(name))
        end = End(rows[-1][0], rows[-1][3]) if rows else End(0, "")
        return [one for one in events_of(rows, End(0, ""), end, f"study {name!r}") if one.seq > after]

    def put_table(self, name, digest, values):
        self._write(self._folder(name) / f"table-{digest}", np.asarray(values, dtype="<f8").tobytes())

    def table(self, name, digest):
        path = self._folder(name) / f"table-{digest}"
        return np.frombuffer(path.read_bytes(), dtype="<f8").astype(float) if path.exists() else None

    def close(self):
        pass

    def _studies(self):
        return sorted(path for path in self._path.iterdir() if path.name.isdigit())

    def _folder(self, name):
        for study in self._studies():
            if json.loads((study / "study.json").read_text())[0] == name:
                return study
        raise InvalidInput(f"there is no study named {name!r}; there are {self.names()}")

    def _rows(self, folder):
        return [row for path in sorted(folder.glob("events-*")) for row in json.loads(path.read_bytes())]

    def _write(self, path, content):
        """Whether we were the one to make a file."""
        handle, made = tempfile.mkstemp(dir=path.parent, prefix="new-")
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(made, path)
        except FileExistsError:
            return False
        finally:
            os.unlink(made)
        return True


class TestFolderJournal(JournalSuite):
    def make_journal(self, tmp_path):
        return FolderJournal(tmp_path / "journal")

    def reopen(self, journal, tmp_path):
        return FolderJournal(tmp_path / "journal")
