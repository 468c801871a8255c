"""A queue of processes: who came first goes first, and waiting costs nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # not on Windows: there nobody queues, and whoever looks at the right moment is next
    fcntl = None  # type: ignore[assignment]


class Queue:
    """A file that one process at a time holds locked; the system hands it on in the order of arrival.

    It only orders those who wait. What may not happen at once has a lock of its own.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None
        self._pid = os.getpid()

    @contextmanager
    def first(self) -> Iterator[None]:
        """Wait until it is our turn, and be first in the queue to the end of the block."""
        file = self._opened()
        if file is None:
            yield
            return
        fcntl.flock(file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)

    def close(self) -> None:
        """Leave the file to others."""
        if self._file is not None and self._pid == os.getpid():
            os.close(self._file)
        self._file = None

    def _opened(self) -> int | None:
        if self._pid != os.getpid():  # a fork would hold the lock together with its parent
            self.close()
            self._pid = os.getpid()
        if self._file is None and fcntl is not None:
            try:
                self._file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o666)
            except OSError:
                return None  # SQLite will say what is wrong with the folder
        return self._file
