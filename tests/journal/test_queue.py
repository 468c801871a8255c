"""Those who wait for a file go in the order of their arrival, and the dead hold up nobody."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from sondage.journal.sqlite_file import Queue

pytest.importorskip("fcntl", reason="nobody queues where files cannot be locked in part")
fork = multiprocessing.get_context("fork")


def stand(path: Path, name: int) -> None:
    """Wait in the queue, and say when it was our turn."""
    with Queue(path).first(), path.with_name("went").open("a") as went:
        went.write(f"{name} ")


def went(path: Path) -> list[int]:
    """Who had their turn, in order."""
    return [int(name) for name in path.with_name("went").read_text().split()]


def line_up(path: Path, names: range) -> list[Any]:
    """Processes that arrive one after the other."""
    file = os.open(path, os.O_RDONLY | os.O_CREAT)  # to close it here would let go of what we hold

    def arrived() -> int:
        return int.from_bytes(os.pread(file, 8, 0), "little")

    found = []
    for name in names:
        before = arrived()
        found.append(fork.Process(target=stand, args=(path, name)))
        found[-1].start()
        until = time.monotonic() + 20
        while arrived() == before and time.monotonic() < until:
            time.sleep(0.001)
        assert arrived() == before + 1
    return found


def test_first_come_first_served(tmp_path: Path) -> None:
    path = tmp_path / "queue"
    with Queue(path).first():
        waiting = line_up(path, range(8))
        assert not path.with_name("went").exists()
    for process in waiting:
        process.join(20)
    assert went(path) == list(range(8))


def test_nobody_waits_for_the_dead(tmp_path: Path) -> None:
    path = tmp_path / "queue"
    with Queue(path).first():
        first, *dead, last = line_up(path, range(4))
        for process in reversed(dead):  # whoever comes after the dead goes on at once
            os.kill(process.pid, signal.SIGKILL)
            process.join(20)
    for process in (first, last):
        process.join(20)
    assert set(went(path)) == {0, 3}  # the last one waited for the dead before it, so it may be the first


def test_whoever_is_interrupted_leaves_the_queue(tmp_path: Path) -> None:
    path = tmp_path / "queue"
    with pytest.raises(KeyboardInterrupt), Queue(path).first():
        raise KeyboardInterrupt
    (next_one,) = line_up(path, range(1))
    next_one.join(20)
    assert went(path) == [0]
