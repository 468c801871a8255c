"""Leases: an open item is somebody's until they answer, give it back, or their time is over.

No design and no estimate reads them. Without annotators there are none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sondage.errors import InvalidInput, UnknownItem
from sondage.estimators.sample import OPEN
from sondage.journal import Lease, Record, Round
from sondage.study.labelling.hand_out import handed_out
from sondage.study.replay.ledger import Ledger
from sondage.study.snapshot import Snapshot
from sondage.types import Id, is_number

USUAL = 3600.0
"""Seconds that an item is held for."""


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


def checked_annotator(annotator: object) -> str:
    """The name of an annotator, or an error: what is no text does not come back from a journal as it was."""
    if not isinstance(annotator, str) or not annotator:
        raise InvalidInput(
            f"annotator= takes a name, not {annotator!r}: pass text that is not empty, such as 'ann' or "
            "str(number)"
        )
    return str(annotator)


def with_leases(made: Round, hold: Hold | None, now: float) -> list[Record]:
    """A round, with a lease on every item that it asks."""
    if hold is None:
        return [made]
    fresh = [id for id, new in zip(made.id, made.new, strict=True) if new]
    return [made, *(Lease(id, hold.annotator, now + hold.seconds, now) for id in fresh)]


def free_slots(snapshot: Snapshot, ledger: Ledger, now: float, annotator: str | None = None) -> list[int]:
    """Open slots that nobody holds, in the order handed out; without those that an annotator has answered."""
    open_ = np.flatnonzero(snapshot.status == OPEN)
    free = [
        slot
        for slot in handed_out(snapshot, open_).tolist()
        if not (slot in snapshot.leases and snapshot.leases[slot].until > now)
    ]
    return [slot for slot in free if annotator is None or annotator not in ledger.answers_of(slot)]


def leases_of(snapshot: Snapshot, slots: Sequence[int], hold: Hold, now: float) -> list[Lease]:
    """Leases of some slots."""
    ids = snapshot.pool.ids_of(snapshot.asked_rows[np.array(slots, dtype=np.int64)])
    return [Lease(id, hold.annotator, now + hold.seconds, now) for id in ids]


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
