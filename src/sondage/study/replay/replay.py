"""Keeping up with a journal: its events are taken in as they come, and snapshots handed out."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from sondage.beliefs.base import State
from sondage.errors import Conflict, DamagedJournal, Receded
from sondage.journal import Event, Grouping, Journal, Record, Redaction, Round
from sondage.mutex import Mutex
from sondage.pool.in_memory import Group
from sondage.pool.pool import Pool
from sondage.sampling import Table
from sondage.study.replay.ledger import Ledger
from sondage.study.snapshot import Parts, Snapshot


class Replay:
    """The one thing of a study that changes: its events as far as they are known, live or after a reload.

    Its lock is held while events are taken in, and never while the journal is read or an estimate is made.
    ``pool`` is what estimates see: systems and groups may be added to it later. ``states`` has the belief at
    the start of every round, or shortly before (``Belief.kept_every``), ``tables`` those made or read so far.
    """

    def __init__(self, name: str, parts: Parts, journal: Journal) -> None:
        self.name, self.parts, self.journal = name, parts, journal
        self.ledger = Ledger(parts.pool, parts.units, parts.oracle)
        self.pool = parts.pool
        self.states: list[State] = []
        self._kept_at = 0
        """Labels that the last of them has seen."""
        self.tables: dict[str, Table] = {}
        self._mutex = Mutex()
        self._latest: Snapshot | None = None

    def change(self, *, name: str | None = None, pool: Pool | None = None) -> None:
        """Give the study its name, or estimates a pool with further systems."""
        with self._mutex:
            self.name, self.pool = name or self.name, pool or self.pool
            self._latest = None

    def snapshot(self) -> Snapshot:
        """The study as the journal has it now."""
        self.catch_up()
        return self.latest()

    def latest(self) -> Snapshot:
        """The study as far as events have been taken in."""
        with self._mutex:
            if self._latest is None or self._latest.seq != self.ledger.seq:
                self._latest = Snapshot(self)
            return self._latest

    def catch_up(self) -> None:
        """Take in what the journal has and we do not: after loading, or from other threads and processes."""
        try:
            news = self.journal.events(self.name, self.ledger.seq)
            changed = self.ledger.seq > 0 and any(isinstance(event.record, Redaction) for event in news)
        except Receded:
            changed = True
        if changed:
            news = self.journal.events(self.name)  # what came before is not what it was
            with self._mutex:
                self.ledger.clear()
                self.states, self._kept_at, self._latest = [], 0, None
        self._take_in(news)

    def write(self, make: Callable[[], Sequence[Record]]) -> Sequence[Record]:
        """Write the records that follow from all that is known, and return them.

        Nothing may come between the look and the write: an item would be asked or answered twice. Where
        others write too, most of what they wrote is taken in while we wait for our turn.
        """
        while True:
            with self.journal.turn(self.name, self.catch_up):
                self.catch_up()
                before = self.ledger.seq
                records = make()
                try:
                    if records:
                        self._take_in(self.journal.append(self.name, records, after=before))
                except Conflict:
                    continue  # a journal without turns, and somebody else was first: look again
                return records

    def _take_in(self, events: Sequence[Event]) -> None:
        if not events:
            return
        brought = [self._brought(one.record) for one in events if isinstance(one.record, Grouping)]
        with self._mutex:
            for name, group in brought:
                if name not in self.pool.groups:  # nor was it there before a redaction
                    self.pool = self.pool.having_group(name, group)
            for seq, record in events:
                if seq <= self.ledger.seq:
                    continue  # another thread was first
                if isinstance(record, Round):
                    self._begin_round()
                self.ledger.apply(seq, record)

    def _brought(self, record: Grouping) -> tuple[str, Group]:
        """A grouping that came later, as the journal has it."""
        codes = self.journal.table(self.name, record.table)
        if codes is None or len(codes) != self.parts.size:
            raise DamagedJournal(
                f"study {self.name!r}: the items of group {record.name!r} are missing from the journal: take "
                "a copy from before the damage"
            )
        small = np.min_scalar_type(max(len(record.levels) - 1, 1))
        return record.name, Group(codes.astype(small), tuple(record.levels))

    def _begin_round(self) -> None:
        """Keep the belief that a round starts with: a fold over rounds goes through the same states again.

        Whoever takes in the rounds of twenty others would otherwise do the work of all of them.
        """
        before, labels = self.states[-1:], self.ledger.n_labels
        if before and abs(labels - self._kept_at) < self.parts.belief.kept_every * labels:
            self.states += before
            return
        now, self._kept_at = self.latest().belief_now(), labels
        self.states.append(now)
        for state in before:
            if state is not now:
                state.forget()
