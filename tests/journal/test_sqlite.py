"""The journal in SQLite keeps the contract, with rival processes, kills and full disks too."""

from __future__ import annotations

import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO

import numpy as np
import pytest

from sondage.errors import DamagedJournal, InvalidInput, JournalUnavailable
from sondage.journal import Answer, Journal, SqliteJournal, open_journal
from sondage.study import load_study
from sondage.testing.journal import JournalSuite
from sondage.testing.journal_sharing import Damage

WRITERS = Path(__file__).with_name("writers.py")
NAME = "study"
BATCH = 3


class TestSqliteJournal(JournalSuite):
    def make_journal(self, tmp_path: Path) -> SqliteJournal:
        return SqliteJournal(tmp_path / "journal.db")

    def reopen(self, journal: Journal, tmp_path: Path) -> SqliteJournal:
        return SqliteJournal(tmp_path / "journal.db")

    def damage(self, tmp_path: Path, how: Damage) -> bool:
        with closing(sqlite3.connect(tmp_path / "journal.db")) as db:
            for statement in DAMAGES[how].split(";"):
                db.execute(statement)
            db.commit()
        return True

    def take_away(self, tmp_path: Path) -> bool:
        (tmp_path / "journal.db").unlink()
        return True


DAMAGES: dict[Damage, str] = {
    "removed": "DELETE FROM events WHERE study = 1 AND seq = 3",
    "changed": "UPDATE events SET body = replace(body, '\"b\"', '\"c\"') WHERE study = 1 AND seq = 3",
    "swapped": "UPDATE events SET seq = 7 - seq + 100 WHERE study = 1 AND seq IN (3, 4);"
    "UPDATE events SET seq = seq - 100 WHERE seq > 100",
    "cut": "DELETE FROM events WHERE study = 1 AND seq = 5",
    "config": "UPDATE studies SET config = replace(config, '\"a\"', '\"c\"') WHERE number = 1",
    "table": "UPDATE tables SET body = zeroblob(16)",
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with one empty study."""
    made = tmp_path / "study.db"
    with closing(SqliteJournal(made)) as journal:
        journal.create(NAME, {})
    return made


@contextmanager
def writers(*tasks: tuple[str, ...]) -> Iterator[list[subprocess.Popen[str]]]:
    """Processes that have imported everything and wait for ``begin``."""
    started = [
        subprocess.Popen(
            [sys.executable, str(WRITERS), *task],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for task in tasks
    ]
    try:
        for process in started:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n", process.communicate()[1]
        yield started
    finally:
        for process in started:
            process.kill()
            process.communicate()


def begin(processes: list[subprocess.Popen[str]]) -> None:
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()


def finished(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    return out


def read(path: Path) -> list[tuple[int, str]]:
    """Number and id of every event, through a handle of its own."""
    with closing(SqliteJournal(path)) as journal:
        return [(event.seq, str(event.record.id)) for event in journal.events(NAME)]


# Several processes


def test_two_processes_lose_nothing_and_make_one_order(path: Path) -> None:
    count = 200
    tasks = [("race", str(path), who, str(count)) for who in ("a", "b")]
    views = []
    with writers(*tasks) as processes:
        begin(processes)
        while any(process.poll() is None for process in processes):
            views.append(read(path))
            time.sleep(0.02)
        conflicts = sum(int(finished(process)) for process in processes)
    events = read(path)
    assert [seq for seq, _ in events] == list(range(1, 2 * count + 1))
    for who in ("a", "b"):
        own = [id for _, id in events if id.startswith(who)]
        assert own == [f"{who}-{k}" for k in range(count)]
    assert all(view == events[: len(view)] for view in views)  # no reader saw another order
    assert conflicts > 0  # else they never met, and the test shows nothing


def test_processes_may_open_a_new_file_at_once(tmp_path: Path) -> None:
    with writers(*[("open", str(tmp_path))] * 4) as processes:
        for attempt in range(40):
            begin(processes)
            for process in processes:
                assert process.stdout is not None
                assert process.stdout.readline() == f"{attempt}\n", process.communicate()[1]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_killed_process_leaves_what_it_acknowledged(path: Path) -> None:
    kills = 30
    moment = random.Random(3)
    at_work = 0
    before: list[tuple[int, str]] = []
    with writers(("lives", str(path))) as (keeper,):
        assert keeper.stdout is not None
        for life in range(kills):
            begin([keeper])
            pid = int(keeper.stdout.readline())
            time.sleep(moment.uniform(0.0, 0.05))
            os.kill(pid, signal.SIGKILL)
            *acknowledged, death = until_dead(keeper.stdout)
            assert death == f"dead {-signal.SIGKILL}\n"
            assert acknowledged == [f"{batch}\n" for batch in range(len(acknowledged))]
            at_work += len(acknowledged) > 0

            events = read(path)
            assert events[: len(before)] == before
            new = [id for _, id in events[len(before) :]]
            batches = len(new) // BATCH
            assert new == [f"{life}-{b}-{k}" for b in range(batches) for k in range(BATCH)]
            assert len(acknowledged) <= batches <= len(acknowledged) + 1
            before = events
    assert [seq for seq, _ in before] == list(range(1, len(before) + 1))
    assert at_work > 0  # some died in the middle of their work, not before it


def until_dead(lines: IO[str]) -> Iterator[str]:
    """What the process said, and last the news of its death."""
    for line in lines:
        yield line
        if line.startswith("dead"):
            return


# Durability


def test_every_commit_is_flushed_to_a_write_ahead_log(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed: list[tuple[int, bool]] = []
    really = os.fdatasync

    def flush(number: int) -> None:
        with closing(sqlite3.connect(path, timeout=0)) as other:
            other.execute("BEGIN IMMEDIATE")  # whoever is next need not wait for the disk
            (events,) = other.execute("SELECT COUNT(*) FROM events").fetchone()
        log = path.with_name(path.name + "-wal").stat().st_ino
        flushed.append((events, os.fstat(number).st_ino == log))
        really(number)

    monkeypatch.setattr(os, "fdatasync", flush)
    for k in range(2):  # a new handle and a second one on the same file
        with closing(SqliteJournal(path)) as journal:
            assert journal._database.db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
            assert journal._database.db.execute("PRAGMA synchronous").fetchone() == (1,)  # we flush
            flushed.clear()
            journal.append(NAME, [Answer(id=2 * k, label=1)])
            journal.append(NAME, [Answer(id=2 * k + 1, label=1)])
            assert flushed == [(2 * k + 1, True), (2 * k + 2, True)]


def test_a_flush_that_fails_is_an_error(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(number: int) -> None:
        raise OSError("input/output error")

    with closing(SqliteJournal(path)) as journal:
        monkeypatch.setattr(os, "fdatasync", fail)
        with pytest.raises(JournalUnavailable, match="may not have reached the disk"):
            journal.append(NAME, [Answer(id=1, label=1)])


def test_append_is_committed_when_it_returns(path: Path) -> None:
    with closing(SqliteJournal(path)) as journal, closing(sqlite3.connect(path)) as reader:
        for k in range(3):
            journal.append(NAME, [Answer(id=k, label=k)])
            assert reader.execute("SELECT COUNT(*) FROM events").fetchone() == (k + 1,)


def test_full_disk_writes_nothing_and_says_so(path: Path) -> None:
    with closing(SqliteJournal(path)) as journal:
        before = journal.append(NAME, [Answer(id=1, label="kept")])
        (pages,) = journal._database.db.execute("PRAGMA page_count").fetchone()
        journal._database.db.execute(f"PRAGMA max_page_count = {pages + 2}").fetchone()
        with pytest.raises(JournalUnavailable, match="full"):
            journal.append(NAME, [Answer(id=k, label="x" * 5000) for k in range(20)])
        assert journal.events(NAME) == before
        journal._database.db.execute("PRAGMA max_page_count = 1000000").fetchone()
        after = journal.append(NAME, [Answer(id=2, label="next")], after=before[-1].seq)
        assert journal.events(NAME) == before + after


# Files that will not do


def test_file_that_is_no_database_is_named_and_left_alone(tmp_path: Path) -> None:
    wrong = tmp_path / "pairs.csv"
    content = b"id,score\n" + b"1,0.5\n" * 500
    wrong.write_bytes(content)
    with pytest.raises(InvalidInput, match=re.escape(repr(str(wrong)))):
        SqliteJournal(wrong)
    assert wrong.read_bytes() == content
    assert os.listdir(tmp_path) == ["pairs.csv"]


@pytest.mark.parametrize(
    ("place", "garbage"),
    [
        (b"TABLE events", b"\xab\x91\xff\xfe\xab"),  # SQLite quotes this, and Python cannot read it
        (b"my-own-study{", b"my-\xff\xfe"),  # where the study is; the index has its name as it was
        (b"my-own-study\n", b"my-0wn"),  # in the index
    ],
    ids=["table", "study", "index"],
)
def test_damage_to_a_name_is_damage(place: bytes, garbage: bytes, tmp_path: Path) -> None:
    SqliteJournal(tmp_path / "whole.db").create("my-own-study", {"a": 1})
    copy = tmp_path / "copy.db"
    with closing(sqlite3.connect(tmp_path / "whole.db")) as db:
        db.execute(f"VACUUM INTO '{copy}'")
    content = copy.read_bytes()
    at = content.index(place)
    copy.write_bytes(content[:at] + garbage + content[at + len(garbage) :])
    with pytest.raises(DamagedJournal, match=re.escape(repr(str(copy)))):
        load_study(f"sqlite:///{copy}")


def test_missing_folder_is_named_and_not_made(tmp_path: Path) -> None:
    folder = tmp_path / "nowhere"
    with pytest.raises(InvalidInput, match=re.escape(repr(str(folder)))):
        SqliteJournal(folder / "study.db")
    assert not folder.exists()


def test_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=re.escape(repr(str(tmp_path)))):
        SqliteJournal(tmp_path)


def test_newer_schema_is_refused_and_left_alone(tmp_path: Path) -> None:
    newer = tmp_path / "newer.db"
    with closing(sqlite3.connect(newer)) as db:
        db.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)")
        db.execute("INSERT INTO meta VALUES ('schema', '3')")
        db.commit()
    with pytest.raises(InvalidInput, match="newer version") as caught:
        SqliteJournal(newer)
    assert repr(str(newer)) in str(caught.value)
    with closing(sqlite3.connect(newer)) as db:
        assert db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall() == [("meta",)]
        assert db.execute("SELECT * FROM meta").fetchall() == [("schema", "3")]


def test_own_schema_is_not_refused(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT * FROM meta").fetchall() == [("schema", "2")]
    with closing(SqliteJournal(path)) as journal:
        assert journal.names() == [NAME]


OLD_SCHEMA = """
CREATE TABLE old.meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO old.meta VALUES ('schema', '1');
CREATE TABLE old.studies (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, config TEXT NOT NULL);
INSERT INTO old.studies SELECT number, name, config FROM studies;
CREATE TABLE old.events (
    study INTEGER NOT NULL, seq INTEGER NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (study, seq)
) WITHOUT ROWID;
INSERT INTO old.events SELECT study, seq, kind, body FROM events;
CREATE TABLE old.tables (
    study INTEGER NOT NULL, digest TEXT NOT NULL, body BLOB NOT NULL, PRIMARY KEY (study, digest)
) WITHOUT ROWID;
INSERT INTO old.tables SELECT study, digest, body FROM tables
"""


@pytest.fixture
def old(path: Path, tmp_path: Path) -> Path:
    """A file as the first version wrote them, without a chain."""
    with closing(SqliteJournal(path)) as journal:
        journal.append(NAME, [Answer(id=k, label=k) for k in range(5)])
        journal.put_table(NAME, "d", np.array([0.25, 0.75]))
    made = tmp_path / "old.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"ATTACH '{made}' AS old")
        for statement in OLD_SCHEMA.split(";"):
            db.execute(statement)
        db.commit()
    return made


def test_a_file_from_before_the_chain_gets_one(old: Path, path: Path) -> None:
    with closing(SqliteJournal(old)) as journal, closing(SqliteJournal(path)) as new:
        assert journal.names() == new.names()
        assert journal.config(NAME) == new.config(NAME)
        assert journal.events(NAME) == new.events(NAME)
        assert journal.table(NAME, "d").tolist() == [0.25, 0.75]
        journal.append(NAME, [Answer(id=5, label=5)], after=5)
    with closing(sqlite3.connect(old)) as db:
        db.execute("DELETE FROM events WHERE seq = 2")
        db.commit()
    with closing(SqliteJournal(old)) as journal, pytest.raises(DamagedJournal, match="event 2 is missing"):
        journal.events(NAME)


def test_a_gap_in_a_file_from_before_the_chain_is_not_sealed(old: Path) -> None:
    with closing(sqlite3.connect(old)) as db:
        db.execute("DELETE FROM events WHERE seq = 2")
        db.commit()
    for _ in range(2):
        with pytest.raises(DamagedJournal, match="event 2 is missing"):
            SqliteJournal(old)


def test_a_file_from_before_the_chain_that_can_only_be_read(old: Path) -> None:
    with pytest.raises(JournalUnavailable, match="older version"):
        SqliteJournal(old, read_only=True)


def test_an_empty_file_that_can_only_be_read(tmp_path: Path) -> None:
    empty = tmp_path / "empty.db"
    empty.touch()
    with pytest.raises(InvalidInput, match="holds no studies"):
        SqliteJournal(empty, read_only=True)


# Addresses


def test_address_opens_the_file(path: Path) -> None:
    with closing(open_journal(f"sqlite:///{path}")) as journal:
        assert journal.names() == [NAME]
        assert open_journal(journal) is journal


def test_address_of_a_file_to_read(path: Path, tmp_path: Path) -> None:
    with closing(open_journal(f"sqlite:///{path}?mode=ro")) as journal:
        assert journal.names() == [NAME]
        with pytest.raises(JournalUnavailable, match="can only be read"):
            journal.create("other", {})
    with pytest.raises(InvalidInput, match="no file"):
        open_journal(f"sqlite:///{tmp_path / 'none.db'}?mode=ro")


@pytest.mark.parametrize("address", ["", "study.db", "sqlite:///", "postgres://host/db"])
def test_other_addresses_are_refused(address: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(repr(address))):
        open_journal(address)
