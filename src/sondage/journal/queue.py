"""A queue of processes: who came first goes first, and waiting costs nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

fcntl: Any
try:
    import fcntl
except ImportError:  # not on Windows: there nobody queues, and whoever looks at the right moment is next
    fcntl = None


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
        file = self._locked()
        try:
            yield
        finally:
            if file is not None:
                fcntl.flock(file, fcntl.LOCK_UN)

    def close(self) -> None:
        """Leave the file to others."""
        if self._file is not None and self._pid == os.getpid():
            os.close(self._file)
        self._file = None

    def _locked(self) -> int | None:
        """The file, locked; None where that cannot be had, and nobody queues."""
        if self._pid != os.getpid():  # a fork would hold the lock together with its parent
            self.close()
            self._pid = os.getpid()
        if fcntl is None:
            return None
        try:
            if self._file is None:
                self._file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o666)
            fcntl.flock(self._file, fcntl.LOCK_EX)
        except OSError:
            return None
        return self._file
