"""The ledger: what the journal's events add up to. Live and after a reload, one and the same fold."""

from __future__ import annotations

from typing import Any

import numpy as np

from sondage.beliefs.base import Seen
from sondage.designs.base import Oracle
from sondage.errors import DamagedJournal, VersionMismatch
from sondage.estimators.sample import ANSWERED, OPEN, RoundInfo, Sample
from sondage.journal import Answer, Lease, Look, Record, Round
from sondage.journal.base import describe
from sondage.pool.pool import Pool
from sondage.pool.units import Units
from sondage.sampling import History, kind_of
from sondage.study.slot import Slot
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
        self.leases: dict[Any, Lease] = {}
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
        self._slot_row, self._slot_unit = Growing(np.int64), Growing(np.int64)
        self._slot_y, self._slot_status = Growing(np.float64), Growing(np.int64)
        self._slot_draw = Growing(np.int64)
        self._slots_of: dict[int, list[int]] = {}
        self._row_of: dict[Id, int] = {}
        self._asked_mask: Bools | None = None
        self._seen: Seen | None = None

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
                self.leases[record.id] = record
        except (KeyError, TypeError, ValueError) as error:
            raise DamagedJournal(
                f"{describe(seq, record)} does not follow from the events before it ({error}): take a copy "
                "of the journal from before the damage"
            ) from error
        self.seq, self._seen = seq, None

    @property
    def sample(self) -> Sample:
        """All draws, with what came of them."""
        column = {name: growing.view for name, growing in self._columns.items()}
        slot = column.pop("slot")
        return Sample(
            **column,
            y=self._slot_y.view[slot],
            status=self._slot_status.view[slot],
            rounds=tuple(self.rounds),
        )

    @property
    def seen(self) -> Seen:
        """Labels known now."""
        if self._seen is None:
            self._seen = self._labels_known()
        return self._seen

    def _labels_known(self) -> Seen:
        told = self._slot_status.view == ANSWERED
        seen = Seen(self._slot_unit.view[told], self._slot_row.view[told], self._slot_y.view[told])
        if not self.rounds or not self.rounds[-1].kind.comes_again:
            return seen
        slot, drawn = self.slots, self._columns["times"].view
        times = np.bincount(slot, drawn, self.asked)[told].astype(np.int64)
        weight = np.bincount(slot, drawn / self._columns["p"].view, self.asked)[told] / len(self.pool)
        return seen._replace(times=times, weight=weight)

    @property
    def history(self) -> History:
        """What was asked before, as drawing needs it."""
        nothing = np.empty(0, dtype=np.int64)
        if self.units.itemwise:
            if self._asked_mask is None:
                self._asked_mask = np.zeros(len(self.pool), dtype=bool)
                self._asked_mask[self._slot_row.view] = True
            return History(nothing, self._asked_mask, self.asked_rows, self.oracle == "stochastic")
        taken = np.bincount(self.asked_units, minlength=self.units.count)
        return History(taken, nothing.astype(bool), self.asked_rows, self.oracle == "stochastic")

    @property
    def asked(self) -> int:
        """Number of slots: items, or draws where each needs an answer of its own."""
        return len(self._slots)

    @property
    def asked_rows(self) -> Ints:
        """The row of every slot."""
        return self._slot_row.view

    @property
    def asked_units(self) -> Ints:
        """The unit of every slot."""
        return self._slot_unit.view

    @property
    def slots(self) -> Ints:
        """The slot of every draw."""
        return self._columns["slot"].view

    def drawn(self, name: str, slots: Ints) -> Array:
        """A column of the draws that made some slots."""
        return self._columns[name].view[self._slot_draw.view[slots]]

    @property
    def status(self) -> Ints:
        """The status of every slot."""
        return self._slot_status.view

    @property
    def labels(self) -> Floats:
        """The label of every slot, nan where there is none."""
        return self._slot_y.view

    @property
    def expected(self) -> float:
        """Number of items that all rounds asked for."""
        return self.rounds[-1].expected if self.rounds else 0.0

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
        self._slot_row.extend(rows[new])
        self._slot_unit.extend(np.array(record.unit, dtype=np.int64)[new])
        self._slot_y.extend(np.full(count, np.nan))
        self._slot_status.extend(np.full(count, OPEN))
        self._slot_draw.extend(len(self._columns["slot"].view) + np.flatnonzero(new))
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
        if not np.array_equal(self.units.unit_of(rows), record.unit):
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
        number = slots[0]
        if len(slots) > 1:
            # With a stochastic oracle the next unanswered draw of the item gets the answer, and a
            # correction goes to the last answered one.
            waiting = [slot for slot in slots if not self._slots[slot].answers]
            done = [slot for slot in slots if self._slots[slot].answers]
            number = done[-1] if done and (record.replace or not waiting) else waiting[0]
        slot = self._slots[number]
        who: Any = record.annotator
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
        self._settle(number)
        self.leases.pop(record.id, None)

    def _settle(self, number: int) -> None:
        self._slot_status.view[number], self._slot_y.view[number] = self._slots[number].resolve(
            self.pool.labels
        )


def _floats(values: list[float | None]) -> Floats:
    return np.array(values, dtype=np.float64)  # None becomes nan
