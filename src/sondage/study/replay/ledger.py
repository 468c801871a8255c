"""The ledger: what the journal's events add up to. Live and after a reload, one and the same fold."""

from __future__ import annotations

from typing import Any

import numpy as np

from sondage.designs.base import Oracle
from sondage.errors import DamagedJournal, VersionMismatch
from sondage.estimators.sample import OPEN, RoundInfo
from sondage.journal import Answer, Lease, Look, Record, Round
from sondage.journal.base import describe
from sondage.pool.pool import Pool
from sondage.pool.units import Units
from sondage.sampling import kind_of
from sondage.study.replay.slot import Slot
from sondage.types import Array, Bools, Floats, Id, Ints
from sondage.version import __version__


class Growing:
    """A numpy array that can be appended to."""

    def __init__(self, dtype: Any) -> None:
        self._array = np.empty(64, dtype=dtype)
        self._size = 0

    def extend(self, values: Any) -> None:
        """Add values at the end."""
        size = self._size + len(values)
        if size > len(self._array):
            grown = np.empty(max(size, 2 * len(self._array)), dtype=self._array.dtype)
            grown[: self._size] = self._array[: self._size]
            self._array = grown
        self._array[self._size : size] = values
        self._size = size

    @property
    def view(self) -> Array:
        """The values so far."""
        return self._array[: self._size]

    @property
    def fixed(self) -> Array:
        """The values so far, to be read only; later ones do not reach it."""
        view = self._array[: self._size]
        view.flags.writeable = False
        return view

    @property
    def copy(self) -> Array:
        """The values so far, for columns whose values change."""
        copied = self._array[: self._size].copy()
        copied.flags.writeable = False
        return copied


class Ledger:
    """Draws, answers and leases of one study, as arrays that grow.

    A slot is a drawn item that waits for one label. With a deterministic oracle an item has one slot
    for ever; with a stochastic one every draw has a slot of its own.
    """

    def __init__(self, pool: Pool, units: Units, oracle: Oracle) -> None:
        self.pool, self.units, self.oracle = pool, units, oracle
        self.seq = 0
        self.rounds: list[RoundInfo] = []
        self.digests: list[str] = []
        self.extra_answers = 0
        self.extra_cost = 0.0
        self.corrections = 0
        self.corrections_before: int | None = None
        """Corrections before the first look at a stop rule; None if there was none."""
        self.stopped_by: Look | None = None
        """The first look at which a rule that looks at intervals said that it is enough."""
        self._columns = {
            name: Growing(kind)
            for name, kind in {
                "round": np.int64,
                "row": np.int64,
                "unit": np.int64,
                "times": np.int64,
                "p": np.float64,
                "pi": np.float64,
                "left": np.int64,
                "new": np.bool_,
                "slot": np.int64,
            }.items()
        }
        self._slots: list[Slot] = []
        self._slot_columns = {
            name: Growing(np.float64 if name == "y" else np.int64)
            for name in ("row", "unit", "draw", "status", "y", "opinions")
        }
        self._leases: dict[int, Lease] = {}
        self._slots_of: dict[int, list[int]] = {}
        self._row_of: dict[Id, int] = {}
        self._asked_mask: Bools | None = None

    def apply(self, seq: int, record: Record) -> None:
        """Take in one event, or nothing of it if it does not follow from those before."""
        if seq != self.seq + 1:
            raise DamagedJournal(f"event {self.seq + 1} is missing, the next one is {describe(seq, record)}")
        try:
            if isinstance(record, Round):
                self._apply_round(record)
            elif isinstance(record, Answer):
                self._apply_answer(record)
            elif isinstance(record, Look):
                if self.corrections_before is None:
                    self.corrections_before = self.corrections
                self.stopped_by = self.stopped_by or (record if record.stop else None)
            else:
                self._apply_lease(record)
        except (KeyError, TypeError, ValueError) as error:
            raise DamagedJournal(
                f"{describe(seq, record)} does not follow from the events before it ({error}): take a copy "
                "of the journal from before the damage"
            ) from error
        self.seq = seq

    @property
    def asked(self) -> int:
        """Number of slots: items, or draws where each needs an answer of its own."""
        return len(self._slots)

    def column(self, name: str) -> Array:
        """A column of the draws, to be read only."""
        return self._columns[name].fixed

    def slot_column(self, name: str) -> Array:
        """A column of the slots, to be read only: ``row unit draw``, or as of now ``status y opinions``."""
        growing = self._slot_columns[name]
        return growing.copy if name in ("status", "y", "opinions") else growing.fixed

    def asked_mask(self) -> Bools:
        """(N,) whether each item was asked; it goes on changing: for whoever has the turn to write."""
        if self._asked_mask is None:
            self._asked_mask = np.zeros(len(self.pool), dtype=bool)
            self._asked_mask[self._slot_columns["row"].view] = True
        return self._asked_mask

    @property
    def leases(self) -> dict[int, Lease]:
        """Leases by slot: not ended by an answer, whether or not their time is over."""
        return dict(self._leases)

    def row_of(self, id: Id) -> int:
        """The row of an id; those asked are at hand."""
        row = self._row_of.get(id) if type(id) in (int, str) else None  # 1.0 and True are no ids
        return self.pool.row_of(id) if row is None else row

    def is_asked(self, row: int) -> bool:
        """Whether the item was ever asked."""
        return row in self._slots_of

    def answers(self, row: int) -> list[dict[Any, float | None]]:
        """Answers to each slot of an item."""
        return [self._slots[slot].answers for slot in self._slots_of.get(row, ())]

    def answers_of(self, slot: int) -> dict[Any, float | None]:
        """Answers to one slot, by annotator."""
        return self._slots[slot].answers

    def _apply_round(self, record: Round) -> None:
        number = len(self.rounds)
        rows, before = self._checked_rows(record), len(self._slots)
        scale = np.nan if record.scale is None else record.scale
        self.rounds.append(RoundInfo(kind_of(record.kind), scale, record.expected))
        self.digests.append(record.table)
        new = np.array(record.new, dtype=bool)
        slots = np.empty(len(rows), dtype=np.int64)
        slots[new] = np.arange(before, before + int(new.sum()))
        for k, (id, row, fresh) in enumerate(zip(record.id, rows.tolist(), record.new, strict=True)):
            if fresh:
                self._row_of[id] = row
                self._slots_of.setdefault(row, []).append(len(self._slots))
                self._slots.append(Slot())
            else:
                slots[k] = self._slots_of[row][0]
        count = len(self._slots) - before
        for name, values in (
            ("row", rows[new]),
            ("unit", np.array(record.unit, dtype=np.int64)[new]),
            ("draw", len(self._columns["slot"].view) + np.flatnonzero(new)),
            ("status", np.full(count, OPEN)),
            ("y", np.full(count, np.nan)),
            ("opinions", np.zeros(count, dtype=np.int64)),
        ):
            self._slot_columns[name].extend(values)
        if self._asked_mask is not None:
            self._asked_mask[rows] = True
        for name, values in (
            ("round", [number] * len(slots)),
            ("row", rows),
            ("unit", record.unit),
            ("times", record.times),
            ("p", _floats(record.p)),
            ("pi", _floats(record.pi)),
            ("left", record.left),
            ("new", record.new),
            ("slot", slots),
        ):
            self._columns[name].extend(values)

    def _checked_rows(self, record: Round) -> Ints:
        """The rows that a round drew, if it can be the next one."""
        if record.number != len(self.rounds):
            raise ValueError(f"it should be round {len(self.rounds)}")
        rows = self.pool.rows_of(record.id)
        here: set[int] = set()
        for id, row, new in zip(record.id, rows.tolist(), record.new, strict=True):
            known = row in here or self.is_asked(row)
            if not new and not known:
                raise ValueError(f"id {id!r} was never asked before")
            if new and known and self.oracle == "deterministic":
                raise ValueError(f"id {id!r} was asked before")
            here.add(row)
        if not np.array_equal(self.units.of(rows), record.unit):
            raise VersionMismatch(
                f"round {record.number} was drawn from other cells than sondage {__version__} cuts the pool "
                "into, so its labels cannot be counted: take the version that the study was made with"
            )
        return rows

    def _apply_answer(self, record: Answer) -> None:
        row = self.row_of(record.id)
        slots = self._slots_of.get(row)
        if slots is None:
            raise ValueError("the item was never asked")
        code = None if record.refused or record.label is None else self.pool.labels.code(record.label)
        who: Any = record.annotator
        number = slots[0] if len(slots) == 1 else self._slot_for(slots, record)
        slot = self._slots[number]
        if record.replace:
            if who is None:
                slot.answers.clear()
            self.corrections += 1
            if record.label is None and not record.refused:  # taken back, nothing in its place
                self._settle(number)
                return
        elif who in slot.answers or (who is None and slot.answers):
            return  # the first one stands; written before tell looked and wrote in one
        if slot.answers and who not in slot.answers:
            self.extra_answers += 1
            self.extra_cost += self.pool.cost_of(row)
        slot.answers[who] = code
        if not self._is_held(number, record.at, who):
            self._leases.pop(number, None)
        self._settle(number)

    def _slot_for(self, slots: list[int], record: Answer) -> int:
        """The draw of an item that an answer is to, where every draw needs one of its own.

        The next unanswered one, first of those leased to who answers, last of those leased to others; a
        correction goes to the last answered one.
        """
        waiting = [slot for slot in slots if not self._slots[slot].answers]
        done = [slot for slot in slots if self._slots[slot].answers]
        if done and (record.replace or not waiting):
            return done[-1]

        def rank(slot: int) -> int:
            lease = self._leases.get(slot)
            mine = lease is not None and lease.annotator == record.annotator
            return 0 if mine else 1 + self._is_held(slot, record.at, record.annotator)

        return min(waiting, key=rank)

    def _is_held(self, slot: int, at: float, by_other_than: str | None) -> bool:
        """Whether a lease to somebody else is in force; whoever answers without a name answers for them."""
        lease = self._leases.get(slot)
        return lease is not None and lease.until > at and by_other_than not in (None, lease.annotator)

    def _apply_lease(self, record: Lease) -> None:
        slots = self._slots_of.get(self.row_of(record.id))
        if slots is None:
            raise ValueError("the item was never asked")
        if record.until <= record.at:  # given back
            for number in slots:
                lease = self._leases.get(number)
                if lease is not None and lease.annotator == record.annotator:
                    del self._leases[number]
                    self._settle(number)
            return
        status = self._slot_columns["status"].view
        free = [one for one in slots if status[one] == OPEN and not self._is_held(one, record.at, "")]
        if not free:
            raise ValueError("somebody else holds the item, or it is answered")
        self._leases[free[0]] = record
        if record.annotator in self._slots[free[0]].answers:  # nothing to wait for
            del self._leases[free[0]]
        self._settle(free[0])

    def _settle(self, number: int) -> None:
        slot = self._slots[number]
        status, y = slot.resolve(self.pool.labels, waits=number in self._leases)
        for name, value in (("status", status), ("y", y), ("opinions", len(slot.answers))):
            self._slot_columns[name].view[number] = value


def _floats(values: list[float | None]) -> Floats:
    return np.array(values, dtype=np.float64)  # None becomes nan
