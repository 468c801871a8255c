"""Processes that tests of journals start, race and kill: ``writers.py <task> <place> [argument]``.

Each says ``ready`` once it has imported everything, and waits for a line before it begins.
"""

from __future__ import annotations

import os
import sys
from typing import NoReturn

from sondage.errors import Conflict
from sondage.journal import Answer, Journal, SqliteJournal, open_journal

NAME = "study"
BATCH = 3


def opened(place: str) -> Journal:
    """The journal at an address, or in a file."""
    return open_journal(place) if "://" in place else SqliteJournal(place)


def race(path: str, who: str, count: int) -> None:
    """Append ``count`` answers, each after the last event seen; say how often another was first."""
    journal = opened(path)
    last = conflicts = done = 0
    while done < count:
        try:
            (event,) = journal.append(NAME, [Answer(id=f"{who}-{done}", label=done)], after=last)
        except Conflict:
            conflicts += 1
            last = journal.events(NAME, after=last)[-1].seq
            continue
        assert event.seq > last
        last = event.seq
        done += 1
    print(conflicts, flush=True)


def lives(path: str) -> None:
    """At every line, start a process to be killed; say so when it is dead, and of which signal.

    They are forks of this one, since importing takes far longer than a life.
    """
    life = 0
    while True:
        pid = os.fork()
        if pid == 0:
            append_until_killed(path, life)
        _, status = os.waitpid(pid, 0)
        os.write(1, b"dead %d\n" % os.waitstatus_to_exitcode(status))
        life += 1
        if not sys.stdin.readline():
            return


def append_until_killed(path: str, life: int) -> NoReturn:
    """Append batches for ever, and acknowledge each after ``append`` has returned."""
    os.write(1, b"%d\n" % os.getpid())
    journal = opened(path)
    batch = 0
    while True:
        journal.append(NAME, [Answer(id=f"{life}-{batch}-{k}", label=k) for k in range(BATCH)])
        os.write(1, b"%d\n" % batch)  # straight into the pipe: it outlives this process
        batch += 1


def open_new_files(folder: str) -> None:
    """At every line, open the next new file of the folder, as others do at the same moment."""
    attempt = 0
    while True:
        SqliteJournal(f"{folder}/{attempt}.db").close()
        print(attempt, flush=True)
        attempt += 1
        if not sys.stdin.readline():
            return


if __name__ == "__main__":
    print("ready", flush=True)
    sys.stdin.readline()
    task, *arguments = sys.argv[1:]
    if task == "race":
        race(arguments[0], arguments[1], int(arguments[2]))
    elif task == "lives":
        lives(arguments[0])
    else:
        open_new_files(arguments[0])
