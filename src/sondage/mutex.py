"""A lock for the threads of one process. What holds one can still be copied and pickled."""

from __future__ import annotations

import threading


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

    def __exit__(self, *error: object) -> None:
        self._lock.release()

    def __reduce__(self) -> tuple[type[Mutex], tuple[()]]:
        return Mutex, ()
