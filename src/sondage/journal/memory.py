"""A journal that lasts as long as the process: for notebooks, tests and simulations."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Self

import numpy as np

from sondage.errors import Conflict, InvalidInput, NameTaken
from sondage.journal.base import Event, Journal, Record
from sondage.journal.redaction import redacted
from sondage.mutex import Mutex
from sondage.types import Floats, Id


class MemoryJournal(Journal):
    """Lists, and a lock for the threads that share them; at ``memory:`` there is always a new one."""

    alias = "memory"

    def __init__(self) -> None:
        self._mutex = Mutex()
        self._configs: dict[str, dict[str, Any]] = {}
        self._events: dict[str, list[Event]] = {}
        self._tables: dict[tuple[str, str], Floats] = {}

    @classmethod
    def at(cls, address: str, *, must_exist: bool = False) -> Self:
        if address != "memory:" or must_exist:
            why = "a new one is empty" if must_exist else "they have no names"
            raise InvalidInput(f"storage: {address!r} leads to no journal in memory ({why}): pass the object")
        return cls()

    def create(self, name: str, config: dict[str, Any]) -> None:
        with self._mutex:
            if name in self._configs:
                raise NameTaken(f"there is a study named {name!r} already: load it, or take a new name")
            self._configs[name] = copy.deepcopy(config)
            self._events[name] = []

    def names(self) -> list[str]:
        return list(self._configs)

    def config(self, name: str) -> dict[str, Any]:
        self._check(name)
        return copy.deepcopy(self._configs[name])

    def append(self, name: str, records: Sequence[Record], after: int | None = None) -> list[Event]:
        self._check(name)
        events = self._events[name]
        with self._mutex:
            if after is not None and after != len(events):
                raise Conflict(f"study {name!r} has moved on from event {after} to {len(events)}")
            new = [Event(len(events) + 1 + k, record) for k, record in enumerate(records)]
            events.extend(_copied(new))
        return new

    def events(self, name: str, after: int = 0) -> list[Event]:
        self._check(name)
        return _copied(self._events[name][max(after, 0) :])

    def put_table(self, name: str, digest: str, values: Floats) -> None:
        self._check(name)
        with self._mutex:
            if (name, digest) not in self._tables:
                self._tables[name, digest] = np.array(values, dtype=np.float64)

    def table(self, name: str, digest: str) -> Floats | None:
        self._check(name)
        kept = self._tables.get((name, digest))
        return None if kept is None else kept.copy()

    def delete(self, name: str) -> None:
        self._check(name)
        with self._mutex:
            del self._configs[name], self._events[name]
            self._tables = {key: table for key, table in self._tables.items() if key[0] != name}

    def redact(self, name: str, id: Id, at: float = 0.0) -> list[Event]:
        self._check(name)
        with self._mutex:
            changed, record = redacted(self._events[name], id, at, name)
            self._events[name] = [
                Event(event.seq, changed.get(event.seq, event.record)) for event in self._events[name]
            ]
            return self.append(name, [record])

    def turn(
        self, name: str | None = None, meanwhile: Callable[[], object] | None = None
    ) -> AbstractContextManager[None]:
        return self._mutex  # held to the end of the block

    def close(self) -> None:
        """Do nothing: there is no file or connection to close."""

    def _check(self, name: str) -> None:
        if name not in self._configs:
            raise InvalidInput(f"there is no study named {name!r}; there are {self.names()}")


def _copied(events: list[Event]) -> list[Event]:
    """The same events with lists of their own, so that nobody's change reaches the journal."""
    return [Event(seq, _with_own_lists(record)) for seq, record in events]


def _with_own_lists(record: Record) -> Record:
    if list not in map(type, vars(record).values()):
        return record
    lists: dict[str, Any] = {name: [*value] for name, value in vars(record).items() if type(value) is list}
    return dataclasses.replace(record, **lists)
