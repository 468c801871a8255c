"""The chain: events as rows of text, each with a hash of itself and of the one before it."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from sondage.errors import DamagedJournal
from sondage.journal.base import RECORDS, RETIRED, Event, Record, Redaction, describe


class Row(NamedTuple):
    """An event as it is stored."""

    seq: int
    kind: str
    body: str
    link: str


class End(NamedTuple):
    """Where a chain ends: the number and the hash of its last event (0 and the seal if it has none)."""

    seq: int
    link: str


def seal(*parts: str | bytes) -> str:
    """The hash of what is stored beside the chain: a study's name and configuration, a table.

    >>> seal("f1") == seal("f1"), seal("f1") == seal("f", "1")
    (True, False)
    """
    known = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        known.update(b"%d:" % len(data) + data)
    return known.hexdigest()


def link_of(before: str, seq: Any, kind: Any, body: Any) -> str:
    """The hash of an event and, through the hash before it, of all that went before."""
    return hashlib.blake2b(f"{before} {seq} {kind} {body}".encode(), digest_size=16).hexdigest()


def rows_of(records: Sequence[Record], end: End) -> list[Row]:
    """Records as the rows that follow the end of a chain."""
    rows = []
    seq, link = end
    for record in records:
        kind = next(name for name, cls in RECORDS.items() if isinstance(record, cls))
        body = body_of(record)
        seq, link = seq + 1, link_of(link, seq + 1, kind, body)
        rows.append(Row(seq, kind, body, link))
    return rows


def body_of(record: Record) -> str:
    """A record as text, without loss."""
    fields = {field.name: getattr(record, field.name) for field in dataclasses.fields(record)}
    return json.dumps(fields, allow_nan=False)


def events_of(rows: Iterable[Any], start: End, end: End, where: str) -> list[Event]:
    """Stored rows as events, if they lead from the start of a chain to its end without a break.

    What was redacted is not what was written; a later event of the chain has to say so, and with what hash.
    """

    def damaged(fault: str) -> DamagedJournal:
        return DamagedJournal(f"{where}: {fault}: take a copy of the journal from before the damage")

    events = []
    seq, before = start
    changed: dict[int, tuple[str, str]] = {}
    for number, kind, body, link in rows:
        if number != seq + 1:
            raise damaged(f"event {seq + 1} is missing, next is {_shown(number, kind, body)}")
        if link != link_of(before, number, kind, body):
            shown = _shown(number, kind, body)
            if kind != "answer" or "not readable" in shown:
                raise damaged(f"{shown} was changed after it was written")
            changed[number] = shown, seal(body)
        try:
            events.append(Event(number, _read(kind, body)))
        except (KeyError, TypeError, ValueError) as error:
            raise DamagedJournal(
                f"{where}: {_shown(number, kind, body)} is no event that this version of sondage knows "
                f"({error}): upgrade the package"
            ) from error
        seq, before = number, link
        record = events[-1].record
        if isinstance(record, Redaction) and number not in changed:
            for one, sealed in zip(record.events, record.seals, strict=True):
                if one in changed and changed[one][1] == sealed:
                    del changed[one]
    for shown, _ in changed.values():
        raise damaged(f"{shown} was changed after it was written")
    if seq < end.seq:
        raise damaged(f"{end.seq} events were written, and those after event {seq} are missing")
    if (seq, before) != end:
        raise damaged(f"its {seq} events do not end as the last one written did, number {end.seq}")
    return events


def _shown(seq: Any, kind: Any, body: Any) -> str:
    """An event in words, as far as it can be read."""
    try:
        return describe(seq, _read(kind, body))
    except (KeyError, TypeError, ValueError):
        return f"event {seq} (of kind {kind!r}, not readable)"


def _read(kind: str, body: str) -> Record:
    fields = json.loads(body)
    return RECORDS[kind](**{name: fields[name] for name in fields if name not in RETIRED})
