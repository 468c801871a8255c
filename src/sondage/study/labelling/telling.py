"""Telling: answers checked before anything is written, and leases, by which an open item is somebody's.

An item is theirs until they answer, give it back, or their time is over. No design and no estimate reads
leases. Without annotators there are none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from sondage.errors import AlreadyAnswered, InvalidInput, UnknownItem
from sondage.estimators.sample import OPEN
from sondage.journal import Answer, Lease
from sondage.study.labelling.asking import handed_out
from sondage.study.replay.ledger import Ledger
from sondage.study.snapshot import Snapshot
from sondage.types import Id, is_number

HOUR = 3600.0
"""Seconds that an item is held for, unless somebody asks for more or less."""


class _CannotTell:
    def __repr__(self) -> str:
        return "CANNOT_TELL"


CANNOT_TELL = _CannotTell()
"""Tell this (or None) where no label can be given."""


def checked_answers(
    ledger: Ledger, told: Mapping[Id, Any], annotator: str | None, replace: bool, now: float
) -> list[Answer]:
    """Answers that can be taken, all or none."""
    if not isinstance(replace, bool | np.bool_):
        raise InvalidInput(f"replace= must be True or False, not {replace!r}")
    return [checked_answer(ledger, id, label, annotator, replace, now) for id, label in told.items()]


def checked_answer(
    ledger: Ledger, id: Id, label: Any, annotator: str | None, replace: bool, now: float
) -> Answer:
    """An answer that can be taken, or an error."""
    row, own, part, place = ledger.located(id)
    id, own, part = _without_numpy(id), _without_numpy(own), _without_numpy(part)
    imported = [ledger.imports.answers[row]] if ledger.imports.has(row) else []
    if (row not in ledger.slots_of and not imported) or not ledger.asks_for(row, place):
        raise UnknownItem(
            f"id {id!r} was never asked, so its chance is unknown and its label cannot be used: "
            "tell only items that ask() has returned"
        )
    answers = [ledger.answers_to(slot, place) for slot in ledger.slots_of.get(row, ())] or imported
    free = not all(answers)
    mine = any(annotator in one for one in answers) or (annotator is None and not free)
    if mine and not replace and not (free and ledger.oracle == "stochastic"):
        other = "annotator=" if annotator is None else "another annotator="
        raise AlreadyAnswered(
            f"id {id!r} has an answer already: pass replace=True to correct it, or {other} for "
            "a second opinion"
        )
    refused = label is None or label is CANNOT_TELL
    if not refused:
        try:
            label = ledger.pool.labels.plain(label)
        except InvalidInput as error:
            raise InvalidInput(f"id {id!r}: {error}") from None
    return Answer(own, None if refused else label, refused, annotator, bool(replace), now, part)


def withdrawal(ledger: Ledger, id: Id, now: float) -> Answer:
    """The record that takes back all answers to an item."""
    row, _, part, place = ledger.located(id)
    if not any(ledger.answers_to(slot, place) for slot in ledger.slots_of.get(row, ())):
        raise UnknownItem(f"id {_without_numpy(id)!r} has no answer that could be taken back")
    return Answer(
        ledger.pool.id_of(row), None, refused=False, replace=True, at=now, part=_without_numpy(part)
    )


def _without_numpy(id: Id) -> Any:
    return id.item() if hasattr(id, "item") else id


class Hold(NamedTuple):
    """Who is to have items, and for how many seconds."""

    annotator: str
    seconds: float

    @classmethod
    def checked(cls, annotator: str | None, seconds: float) -> Hold | None:
        """A hold that makes sense, or an error; None where nobody is named."""
        if not is_number(seconds) or not 0 < seconds < np.inf:
            raise InvalidInput(f"lease= takes a number of seconds above 0, not {seconds!r}")
        return None if annotator is None else cls(checked_annotator(annotator), float(seconds))

    def on(self, ids: Iterable[Id], now: float) -> list[Lease]:
        """Leases of some items, from now on."""
        return [Lease(id, self.annotator, now + self.seconds, now) for id in ids]


def checked_annotator(annotator: object) -> str:
    """The name of an annotator, or an error: what is no text does not come back from a journal as it was."""
    if not isinstance(annotator, str) or not annotator:
        raise InvalidInput(
            f"annotator= takes a name, not {annotator!r}: pass text that is not empty, such as 'ann' or "
            "str(number)"
        )
    return str(annotator)


def free_slots(snapshot: Snapshot, ledger: Ledger, now: float, annotator: str | None = None) -> list[int]:
    """Open slots that nobody holds, in the order handed out; without those that an annotator has answered."""
    leases = snapshot.leases
    return [
        slot
        for slot in handed_out(snapshot, np.flatnonzero(snapshot.status == OPEN)).tolist()
        if not (slot in leases and leases[slot].until > now)
        and (annotator is None or annotator not in ledger.answers[slot])
    ]


def releases(snapshot: Snapshot, id: Id | None, annotator: str, now: float) -> list[Lease]:
    """What gives back the items that an annotator holds, or one of them."""
    held = {slot for slot, lease in snapshot.leases.items() if lease.annotator == annotator}
    rows = sorted({int(snapshot.asked_rows[slot]) for slot in held})
    if id is not None:
        row = snapshot.pool.row_of(id)
        if row not in rows:
            raise UnknownItem(f"id {id!r} is not held by {annotator!r}, so it cannot be released")
        rows = [row]
    ids = snapshot.pool.ids_of(np.array(rows, dtype=np.int64))
    return [Lease(one, annotator, now, now) for one in ids]
