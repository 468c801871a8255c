"""The journal: an append-only record from which a study is rebuilt exactly."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from sondage.errors import InvalidInput, NotSupported
from sondage.registry import Registered
from sondage.types import Floats, Id


@dataclass(frozen=True)
class Round:
    """One ``ask``: its rule and its draws, fixed from then on.

    ``kind`` is the alias of its kind of sampling; ``table`` names the stored table of chances by its content;
    ``scale`` is a number whose meaning is the kind's own, ``expected`` the number of items asked for so far.
    The draw columns are lists of equal length, in the order drawn (see ``Draws``); nan is written as None.
    """

    number: int
    kind: str
    table: str
    scale: float | None
    expected: float
    id: list[Id]
    unit: list[int]
    times: list[int]
    p: list[float | None]
    pi: list[float | None]
    left: list[int]
    new: list[bool]


@dataclass(frozen=True)
class Answer:
    """What an annotator said of an item: a label, or "cannot tell".

    ``replace`` withdraws the annotator's earlier answer (everybody's, if no annotator is named); with
    neither a label nor ``refused`` nothing takes its place, and the item is open again.
    """

    id: Id
    label: Any
    refused: bool = False
    annotator: str | None = None
    replace: bool = False
    at: float = 0.0
    part: Id | None = None
    """The document of a query that it is about; None where items have no parts."""


@dataclass(frozen=True)
class Lease:
    """Who is to answer an open item, and until when; it is given back if that is no later than ``at``.

    Logistics: never read by a design or an estimate.
    """

    id: Id
    annotator: str
    until: float
    at: float = 0.0


@dataclass(frozen=True)
class Look:
    """A stop rule was asked: written the first time, and when one that looks at intervals says enough.

    ``stop`` is True in the second case; ``interval`` is the one it looked at where that allows for looking.
    No design reads it: it is there for what later estimates have to say.
    """

    rule: str
    stop: bool
    interval: str | None = None
    at: float = 0.0


@dataclass(frozen=True)
class Redaction:
    """Labels of an item were taken out of the journal: it counts as one that could not be labelled.

    ``events`` are the numbers of the answers that were changed, ``seals`` the hashes of what stands there
    now.
    """

    id: Id
    events: list[int]
    seals: list[str]
    at: float = 0.0


@dataclass(frozen=True)
class Grouping:
    """A grouping of the items that came after the study was made, for estimates and for no draw.

    ``table`` names the stored level of every item, in the order of ids, by its content.
    """

    name: str
    levels: list[str]
    table: str
    at: float = 0.0


@dataclass(frozen=True)
class Import:
    """Labels from elsewhere: the items, and the chance of each to be among them, None if nobody knows it.

    ``expected`` is how many there were to be. What was said of the items are the answers that follow.
    """

    id: list[Id]
    chance: list[float] | None
    expected: float
    source: str = ""
    at: float = 0.0


Record = Round | Answer | Lease | Look | Redaction | Grouping | Import
RECORDS: dict[str, type[Record]] = {
    "round": Round,
    "answer": Answer,
    "lease": Lease,
    "look": Look,
    "redaction": Redaction,
    "grouping": Grouping,
    "import": Import,
}
RETIRED = frozenset({"n", "seen", "units_version", "p_within"})
"""Fields that nothing reads any more; journals that have them stay readable."""


class Event(NamedTuple):
    """A record with its place in the one order of all events."""

    seq: int
    record: Record


def describe(seq: Any, record: Record) -> str:
    """An event in words, for messages.

    >>> describe(7, Answer("a", 1, annotator="ann"))
    "event 7 (the answer of 'ann' to id 'a')"
    """
    if isinstance(record, Round):
        what = f"round {record.number}, which asked {sum(map(bool, record.new))} items"
    elif isinstance(record, Answer):
        by = "" if record.annotator is None else f" of {record.annotator!r}"
        of = "" if record.part is None else f"document {record.part!r} of "
        what = f"the answer{by} to {of}id {record.id!r}"
    elif isinstance(record, Look):
        what = f"a look at the stop rule {record.rule!r}"
    elif isinstance(record, Redaction):
        what = f"the redaction of id {record.id!r}"
    elif isinstance(record, Import):
        what = f"the import of {len(record.id)} labels"
    elif isinstance(record, Grouping):
        what = f"the group {record.name!r}"
    else:
        what = f"the lease of id {record.id!r} to {record.annotator!r}"
    return f"event {seq} ({what})"


class Journal(Registered, family="sondage.journal"):
    """Where studies are kept. The ``alias`` of a journal is the scheme of its addresses: ``alias:rest``.

    Contract
    --------
    * ``append`` is all or nothing, and durable when it returns; events are numbered 1, 2, 3, ..., and
      every reader sees them in that order;
    * with ``after=k``, ``append`` raises ``Conflict`` and writes nothing unless k is the number of the
      study's last event: of two processes that ask or tell at once, one looks again;
    * nothing is ever changed or removed, but by ``redact`` and ``delete``;
    * ``events(name, after)`` returns exactly what was appended, equal to the last bit of every float.
      A journal that something outside the process can reach checks that: what was changed or removed
      is a ``DamagedJournal`` that names the event, never another answer;
    * where nothing can be written (the disk is full, the file gone or read-only), ``JournalUnavailable``
      says why, and nothing is;
    * one journal may be used by many threads at once.
    """

    @classmethod
    def at(cls, address: str, *, must_exist: bool = False) -> Self:
        """The journal at an address of its scheme; with ``must_exist`` an error where there is none yet."""
        raise InvalidInput(f"storage: a {cls.alias!r} journal has no address: pass the object itself")

    @property
    def read_only(self) -> bool:
        """Whether studies can be looked at, but nothing written."""
        return False

    @abstractmethod
    def create(self, name: str, config: dict[str, Any]) -> None:
        """Enter a new study; ``NameTaken`` if the name is."""

    @abstractmethod
    def names(self) -> list[str]:
        """Names of the studies, in the order they were made."""

    @abstractmethod
    def config(self, name: str) -> dict[str, Any]:
        """What the study was made with; ``InvalidInput`` if there is no such study."""

    @abstractmethod
    def append(self, name: str, records: Sequence[Record], after: int | None = None) -> list[Event]:
        """Write records in one piece, and return them with their numbers."""

    @abstractmethod
    def events(self, name: str, after: int = 0) -> list[Event]:
        """Events of a study with a number above ``after``, in order."""

    @abstractmethod
    def put_table(self, name: str, digest: str, values: Floats) -> None:
        """Keep a table of chances under its digest; a second time changes nothing."""

    @abstractmethod
    def table(self, name: str, digest: str) -> Floats | None:
        """A table kept before, or None."""

    def turn(
        self, name: str | None = None, meanwhile: Callable[[], object] | None = None
    ) -> AbstractContextManager[None]:
        """Hold off everyone else who writes to a study until our next ``append``, or the end of the block.

        Without a name, until our next ``create``. Who waits longest comes first, and calls ``meanwhile``
        just before, so that slow work is not left for the turn itself. A journal need not do this: then of
        two that write at once one looks again, and may do so often.
        """
        return nullcontext()

    def enter(
        self,
        name: str,
        config: dict[str, Any],
        records: Sequence[Record] = (),
        tables: Mapping[str, Floats] | None = None,
    ) -> None:
        """Enter a study with all that it holds, as ``copy_study`` does; a database does so in one piece."""
        self.create(name, config)
        for digest, values in (tables or {}).items():
            self.put_table(name, digest, values)
        self.append(name, records)

    def delete(self, name: str) -> None:
        """Remove a study with all that it holds; there is no way back."""
        raise NotSupported(f"a {self.alias!r} journal cannot delete studies")

    def redact(self, name: str, id: Id, at: float = 0.0) -> list[Event]:
        """Take the labels of an item out of the journal, and return the event that says so."""
        raise NotSupported(f"a {self.alias!r} journal cannot redact items")

    @abstractmethod
    def close(self) -> None:
        """Let go of files and connections."""


def none_if_nan(values: Floats) -> list[float | None]:
    """A float as JSON takes it: None in place of nan."""
    return [None if math.isnan(value) else value for value in values.tolist()]
