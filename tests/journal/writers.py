"""Processes that test_sqlite.py starts, races and kills: ``writers.py <task> <file> [argument]``.

Each says ``ready`` once it has imported everything, and waits for a line before it begins.
"""

from __future__ import annotations

import os
import sys

from sondage.errors import Conflict
from sondage.journal import Answer, SqliteJournal

NAME = "study"
BATCH = 3


def race(path: str, who: str, count: int) -> None:
    """Append ``count`` answers, each after the last event seen; say how often another was first."""
    journal = SqliteJournal(path)
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


def append_until_killed(path: str, life: str) -> None:
    """Append batches for ever, and acknowledge each after ``append`` has returned."""
    journal = SqliteJournal(path)
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
    elif task == "append":
        append_until_killed(arguments[0], arguments[1])
    else:
        open_new_files(arguments[0])
