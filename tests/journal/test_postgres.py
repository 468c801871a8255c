"""The journal in PostgreSQL keeps the contract, with rival processes, kills and restarts too."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from tests.journal.test_sqlite import DAMAGES as OF_A_FILE

import sondage as sd
from sondage.errors import Conflict, DamagedJournal, InvalidInput, JournalUnavailable, MissingExtra
from sondage.journal import Answer, Journal, open_journal, postgres_server
from sondage.journal.postgres import PostgresJournal
from sondage.testing.journal import JournalSuite
from sondage.testing.journal_sharing import Damage
from sondage.testing.postgres import Server

NAME = "study"
WRITERS = Path(__file__).with_name("writers.py")


def run(address: str, script: str) -> None:
    import psycopg

    place, _, schema = address.partition("?schema=")
    with psycopg.connect(place, autocommit=True) as db:
        db.execute(f"SET search_path = {schema}")
        for statement in script.split(";"):
            db.execute(statement)


class TestPostgresJournal(JournalSuite):
    @pytest.fixture(autouse=True)
    def _schema(self, postgres: Server) -> Iterator[None]:
        self.address = f"{postgres.address}?schema=s{uuid.uuid4().hex}"
        yield
        schema = self.address.rpartition("=")[2]
        run(self.address, f"DROP SCHEMA IF EXISTS {schema} CASCADE")

    def make_journal(self, tmp_path: Path) -> PostgresJournal:
        return PostgresJournal(self.address)

    def reopen(self, journal: Journal, tmp_path: Path) -> PostgresJournal:
        return PostgresJournal(self.address)

    def damage(self, tmp_path: Path, how: Damage) -> bool:
        run(self.address, DAMAGES[how])
        return True

    def take_away(self, tmp_path: Path) -> bool:
        run(self.address, f"DROP SCHEMA {self.address.rpartition('=')[2]} CASCADE")
        return True


DAMAGES = {**OF_A_FILE, "table": "UPDATE tables SET body = decode(repeat('00', 16), 'hex')"}


@pytest.fixture
def address(postgres: Server) -> str:
    """A schema of its own with one empty study."""
    made = f"{postgres.address}?schema=s{uuid.uuid4().hex}"
    with closing(PostgresJournal(made)) as journal:
        journal.create(NAME, {})
    return made


def answer(k: object) -> list[Answer]:
    return [Answer(id=str(k), label=1)]


# Restarts


@pytest.mark.parametrize("mode", ["fast", "immediate"])
def test_work_goes_on_after_a_restart(postgres: Server, address: str, mode: str) -> None:
    with closing(PostgresJournal(address)) as journal:
        made = journal.append(NAME, answer(0), after=0)
        postgres.stop(mode)
        postgres.start()
        made += journal.append(NAME, answer(1), after=1)
        postgres.stop(mode)
        postgres.start()
        assert journal.events(NAME) == made


def test_a_restart_in_a_turn_loses_neither_tables_nor_events(postgres: Server, address: str) -> None:
    with closing(PostgresJournal(address)) as journal:
        with journal.turn(NAME):
            journal.put_table(NAME, "d", np.array([0.25]))
            postgres.stop("immediate")
            postgres.start()
            made = journal.append(NAME, answer("a"), after=0)
        assert journal.events(NAME) == made
        table = journal.table(NAME, "d")
        assert table is not None
        assert table.tolist() == [0.25]


def test_who_wrote_while_we_had_lost_our_turn_wins(postgres: Server, address: str) -> None:
    with closing(PostgresJournal(address)) as journal, closing(PostgresJournal(address)) as other:
        with journal.turn(NAME):
            postgres.stop("immediate")
            postgres.start()
            made = other.append(NAME, answer("b"), after=0)
            with pytest.raises(Conflict):
                journal.append(NAME, answer("a"), after=0)
        assert journal.events(NAME) == made


def test_a_commit_whose_news_was_lost_is_not_made_twice(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection ends just after the commit: the change is found, and not made again."""
    with closing(PostgresJournal(address)) as journal:
        server = journal._database
        run_statement = server._run

        def commit_and_lose(statement: str, values: tuple[object, ...] = ()) -> object:
            done = run_statement(statement, values)
            if statement == "COMMIT":
                monkeypatch.setattr(server, "_run", run_statement)
                server._connection.close()
                raise server._psycopg.OperationalError("the connection was lost")
            return done

        for after in (0, None):
            monkeypatch.setattr(server, "_run", commit_and_lose)
            journal.append(NAME, answer(after), after=after)
        monkeypatch.setattr(server, "_run", commit_and_lose)
        journal.create("other", {"a": 1})
        assert [event.record for event in journal.events(NAME)] == [*answer(0), *answer(None)]
        assert journal.names() == [NAME, "other"]


def test_what_a_failing_server_had_not_on_disk_is_read_again(postgres: Server, address: str) -> None:
    """Another client's event was read, and lost with the power: nobody had been told, it is drawn again."""
    pool, labels = sd.datasets.synthetic_pool(n=500, rng=0)
    first = sd.create_study(pool, "accuracy", storage=address, name="shared", rng=1)
    second = sd.load_study(address, "shared", pool)
    for item in first.ask(3):
        first.tell(item.id, int(labels[item.id]))
    import psycopg

    place, _, schema = address.partition("?schema=")
    with psycopg.connect(place, autocommit=True, options=f"-c search_path={schema}") as db:
        before = db.execute("SELECT last, link FROM studies WHERE name = 'shared'").fetchone()
        lost = [item.id for item in first.ask(2)]
        assert second.n_open == 2
        db.execute("DELETE FROM events WHERE seq > %s", before[:1])
        db.execute("UPDATE studies SET last = %s, link = %s WHERE name = 'shared'", before)
    with pytest.raises(DamagedJournal, match="gone"):  # the server was there all the time
        second.snapshot()
    postgres.stop("immediate")
    postgres.start()
    assert second.n_open == 0
    assert [item.id for item in second.ask(2)] == lost  # the same state, the same draws
    second.tell(lost[0], 1)
    assert [item.id for item in first.open_items()] == lost[1:]  # another event has the lost one's number
    first.tell(lost[1], 0)
    assert second.n_labels == first.n_labels == 5


def test_a_server_that_goes_away_just_after_the_connection_is_tried_again(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_up, times = postgres_server.PostgresServer._set_up, []

    def lose_the_first(self: postgres_server.PostgresServer) -> None:
        times.append(1)
        if len(times) == 1:
            self._connection.close()
        set_up(self)

    monkeypatch.setattr(postgres_server.PostgresServer, "_set_up", lose_the_first)
    with closing(PostgresJournal(address)) as journal:
        assert journal.names() == [NAME]
    assert len(times) == 2


def test_a_turn_ends_before_the_flush_and_a_change_after_it(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(PostgresJournal(address)) as journal, closing(PostgresJournal(address)) as other:
        server, said = journal._database, []
        run_statement, flush = server._run, server._flush

        def listen(statement: str, values: tuple[object, ...] = ()) -> object:
            said.append(statement)
            return run_statement(statement, values)

        def write_meanwhile() -> None:
            monkeypatch.setattr(server, "_flush", flush)
            other.append(NAME, answer("b"), after=1)
            flush()

        monkeypatch.setattr(server, "_run", listen)
        monkeypatch.setattr(server, "_flush", write_meanwhile)
        with journal.turn(NAME):
            journal.append(NAME, answer("a"), after=0)
        end = [one for one in said if "commit" in one.lower() or "emit" in one]
        assert end == ["BEGIN; SET LOCAL synchronous_commit = off", "COMMIT", end[2]]
        assert "pg_logical_emit_message" in end[2]
        assert [event.record for event in journal.events(NAME)] == [*answer("a"), *answer("b")]


def test_a_server_that_stays_away_is_given_up(
    postgres: Server, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(PostgresJournal(address)) as journal:
        journal.append(NAME, answer(0))
        monkeypatch.setattr(postgres_server, "PATIENCE", 0.5)
        monkeypatch.setattr(postgres_server, "FIRST_PATIENCE", 0.3)
        postgres.stop()
        try:
            for task in (lambda: journal.append(NAME, answer(1)), lambda: journal.events(NAME)):
                started = time.monotonic()
                with pytest.raises(JournalUnavailable, match="cannot be reached"):
                    task()
                assert time.monotonic() - started < 10
            with pytest.raises(JournalUnavailable, match="cannot be reached"):
                PostgresJournal(address)
        finally:
            postgres.start()
        monkeypatch.undo()
        assert [event.record for event in journal.events(NAME)] == answer(0)
        assert len(journal.append(NAME, answer(1), after=1)) == 1


def test_a_study_that_somebody_holds_is_given_up(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_server, "PATIENCE", 0.3)
    with closing(PostgresJournal(address)) as journal, closing(PostgresJournal(address)) as other:
        other.create("free", {})
        with journal.turn(NAME):
            with pytest.raises(JournalUnavailable, match="busy"):
                other.append(NAME, answer("b"))
            other.append("free", answer("c"))  # studies do not wait for one another
            journal.append(NAME, answer("a"), after=0)
        assert [event.record for event in other.events(NAME)] == answer("a")


# Processes


def test_processes_on_one_study_lose_nothing_and_make_one_order(address: str) -> None:
    from tests.journal.test_sqlite import begin, finished, writers

    count = 60
    with writers(*[("race", address, who, str(count)) for who in ("a", "b")]) as processes:
        begin(processes)
        conflicts = sum(int(finished(process)) for process in processes)
    with closing(PostgresJournal(address)) as journal:
        events = journal.events(NAME)
    assert [event.seq for event in events] == list(range(1, 2 * count + 1))
    for who in ("a", "b"):
        ids = [str(event.record.id) for event in events if isinstance(event.record, Answer)]
        assert [id for id in ids if id.startswith(who)] == [f"{who}-{k}" for k in range(count)]
    assert conflicts > 0  # else they never met, and the test shows nothing


def test_killed_processes_leave_what_they_acknowledged(postgres: Server, address: str) -> None:
    """Among them some that die while they have the turn; the server is restarted on the way."""
    from tests.journal.test_sqlite import begin, until_dead, writers

    seen = 0
    with writers(("lives", address)) as (keeper,):
        assert keeper.stdout is not None
        for life in range(12):
            begin([keeper])
            pid = int(keeper.stdout.readline())
            time.sleep(0.02 + 0.01 * life)
            if life % 4 == 3:
                postgres.stop("immediate")
                postgres.start()
                time.sleep(0.2)
            os.kill(pid, signal.SIGKILL)
            *acknowledged, _ = until_dead(keeper.stdout)
            with closing(PostgresJournal(address)) as journal:
                events = journal.events(NAME)
            new = [str(event.record.id) for event in events[seen:] if isinstance(event.record, Answer)]
            batches = len(new) // 3
            assert new == [f"{life}-{b}-{k}" for b in range(batches) for k in range(3)]
            assert len(acknowledged) <= batches <= len(acknowledged) + 1
            seen = len(events)
    assert seen > 0


def test_a_fork_gets_a_connection_of_its_own(address: str) -> None:
    code = f"""
import os
from sondage.journal import Answer, open_journal
journal = open_journal({address!r})
if os.fork() == 0:
    journal.append({NAME!r}, [Answer("child", 1)])
else:
    assert os.wait()[1] == 0
    journal.append({NAME!r}, [Answer("parent", 1)])
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
    with closing(PostgresJournal(address)) as journal:
        assert [event.record.id for event in journal.events(NAME)] == ["child", "parent"]


def test_who_came_first_is_served_first(address: str) -> None:
    order: list[int] = []

    def wait(who: int, other: PostgresJournal) -> None:
        with other.turn(NAME):
            order.append(who)

    with closing(PostgresJournal(address)) as journal:
        others = [PostgresJournal(address) for _ in range(4)]
        with journal.turn(NAME):
            threads = []
            for who, other in enumerate(others):
                threads.append(threading.Thread(target=wait, args=(who, other)))
                threads[-1].start()
                time.sleep(0.05)
        for thread in threads:
            thread.join()
        for other in others:
            other.close()
    assert order == [0, 1, 2, 3]


# Addresses


def test_a_newer_schema_is_refused_and_left_alone(address: str) -> None:
    run(address, "UPDATE meta SET value = '99' WHERE key = 'schema'")
    with pytest.raises(InvalidInput, match="newer version"):
        PostgresJournal(address)


def test_tables_of_the_first_version_are_brought_up_to_date(address: str) -> None:
    with closing(PostgresJournal(address)) as journal:
        made = journal.append(NAME, [*answer(0), *answer(1)])
    run(
        address,
        "ALTER TABLE studies DROP COLUMN seal, DROP COLUMN last, DROP COLUMN link; "
        "ALTER TABLE events DROP COLUMN link; ALTER TABLE tables DROP COLUMN seal; "
        "UPDATE meta SET value = '1' WHERE key = 'schema'",
    )
    with closing(PostgresJournal(address)) as journal:
        assert journal.events(NAME) == made
        assert len(journal.append(NAME, answer(2), after=2)) == 1


def test_what_does_not_exist_is_not_made_by_looking(postgres: Server) -> None:
    empty = f"{postgres.address}?schema=nobody"
    for look in (lambda: open_journal(empty, must_exist=True), lambda: open_journal(f"{empty}&mode=ro")):
        with pytest.raises(InvalidInput, match="no studies"):
            look()
    import psycopg

    with psycopg.connect(postgres.address) as db:
        found = db.execute("SELECT 1 FROM pg_namespace WHERE nspname = 'nobody'").fetchone()
    assert found is None


def test_a_journal_to_read_is_not_written(address: str) -> None:
    with closing(open_journal(f"{address}&mode=ro")) as journal:
        assert journal.read_only
        assert journal.names() == [NAME]
        with pytest.raises(JournalUnavailable, match="can only be read"):
            journal.append(NAME, answer(0))


def test_messages_show_no_password(postgres: Server) -> None:
    secret = postgres.address.replace("app@", "app:hunter2@").replace("/postgres", "/nowhere")
    started = time.monotonic()
    with pytest.raises(JournalUnavailable, match="nowhere") as caught:
        open_journal(secret)
    assert "hunter2" not in str(caught.value)
    assert time.monotonic() - started < postgres_server.FIRST_PATIENCE  # a refusal is not tried again


@pytest.mark.parametrize("options", ["?schema=", "?mode=w", "?port=x", "?nonsense=1", "?a"])
def test_addresses_that_make_no_sense_are_refused(postgres: Server, options: str) -> None:
    with pytest.raises((InvalidInput, JournalUnavailable), match=r"storage|port"):
        open_journal(postgres.address + options)


def test_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtra, match=r"sondage\[postgres\]"):
        open_journal("postgresql://localhost/db")
