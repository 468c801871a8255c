"""Redaction: labels of an item are taken out of the record, and the record says so."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence

from sondage.errors import InvalidInput
from sondage.journal.base import Answer, Event, Record, Redaction
from sondage.journal.chain import body_of, seal
from sondage.types import Id


def without_label(record: Record, id: Id) -> Record | None:
    """An answer to the item as one that does not tell; None for what says nothing of the item's label."""
    if not isinstance(record, Answer) or _key(record.id) != _key(id) or record.label is None:
        return None
    return dataclasses.replace(record, label=None, refused=True)


def redacted(events: Sequence[Event], id: Id, at: float, name: str) -> tuple[dict[int, Record], Redaction]:
    """What takes the place of events, by number, and the record that vouches for it in the chain.

    The hash of an event as it was stays, because all later ones build on it; the record has the hash of what
    stands there now.
    """
    changed = {event.seq: bare for event in events if (bare := without_label(event.record, id)) is not None}
    if not changed:
        raise InvalidInput(f"id {id!r} has no label in study {name!r}: there is nothing to redact")
    return changed, Redaction(id, [*changed], [seal(body_of(bare)) for bare in changed.values()], at)


def _key(id: Id) -> str:
    """What tells ids apart, as they are stored."""
    return json.dumps(id)
