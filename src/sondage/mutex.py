"""A lock for the threads of one process that does not stand in the way of copies."""

from __future__ import annotations

import threading
from types import TracebackType


class Mutex:
    """A lock that its holder may take again. The copy of what it guards gets one of its own.

    >>> import copy
    >>> mutex = Mutex()
    >>> with mutex, mutex:
    ...     copy.deepcopy(mutex) is mutex
    False
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()

    def __reduce__(self) -> tuple[type[Mutex], tuple[()]]:
        return Mutex, ()
