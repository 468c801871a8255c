"""The ledger: what the journal's events add up to. Live and after a reload, one and the same fold."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from sondage.designs.base import Oracle
from sondage.errors import DamagedJournal, UnknownItem, VersionMismatch
from sondage.estimators.sample import ANSWERED, OPEN, REFUSED, RoundInfo
from sondage.journal import Answer, Grouping, Import, Lease, Look, Record, Redaction, Round
from sondage.journal.base import describe
from sondage.pool.labels import LabelSpace
from sondage.pool.parts import Documents, Grades
from sondage.pool.pool import Pool
from sondage.pool.units import Units
from sondage.sampling import kind_of
from sondage.study.replay.imports import Answers, Imports
from sondage.types import Array, Bools, Id
from sondage.version import __version__

ADJUDICATOR = "adjudicator"
"""The annotator whose answer overrides the majority."""


class Growing:
    """A numpy array that can be appended to."""

    def __init__(self, dtype: Any) -> None:
        self._array = np.empty(64, dtype=dtype)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def __setitem__(self, place: int, value: Any) -> None:
        self._array[place] = value

    def __getitem__(self, place: int) -> Any:
        return self._array[place].item()

    def extend(self, values: Any) -> None:
        """Adds values at the end of the column, in the order given; of real numbers, None becomes nan."""
        size = self._size + len(values)
        if size > len(self._array):
            grown = np.empty(max(size, 2 * len(self._array)), dtype=self._array.dtype)
            grown[: self._size] = self._array[: self._size]
            self._array = grown
        self._array[self._size : size] = values
        self._size = size

    @property
    def view(self) -> Array:
        """The values so far, without a copy; later ones do not show."""
        return self._array[: self._size]

    def fixed(self, changing: bool = False) -> Array:
        """The values so far, to be read only; a copy of those that go on ``changing``."""
        values = self.view.copy() if changing else self.view
        values.flags.writeable = False
        return values


class Ledger:
    """Draws, answers and leases of one study, as arrays that grow.

    A slot is a drawn item that waits for one label. With a deterministic oracle an item has one slot
    for ever; with a stochastic one every draw has a slot of its own. ``draws`` and ``slots`` have their
    columns; ``answers`` are by slot; ``leases``, by slot, are those not ended by an answer, whether or not
    their time is over; ``slots_of`` is by row of the pool.
    """

    def __init__(self, pool: Pool, units: Units, oracle: Oracle) -> None:
        self.pool, self.units, self.oracle = pool, units, oracle
        self.clear()

    def clear(self) -> None:
        """Begin anew, before the first event."""
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
        whole = dict.fromkeys(("round", "row", "unit", "times", "left", "slot"), np.int64)
        kinds = {**whole, "p": np.float64, "pi": np.float64, "new": np.bool_}
        self.draws = {name: Growing(kind) for name, kind in kinds.items()}
        whole = dict.fromkeys(("row", "unit", "draw", "status", "opinions"), np.int64)
        self.slots = {name: Growing(kind) for name, kind in {**whole, "y": np.float64}.items()}
        self.answers: list[Answers] = []
        self.told_at: dict[int, float] = {}
        """When the newest answer to a slot came, by slot."""
        self.part_answers: dict[int, dict[int, Answers]] = {}
        """Answers to the documents of a query, by slot and place."""
        self.part_told_at: dict[tuple[int, int], float] = {}
        """When the newest answer to a document came, by slot and place."""
        self.open_places: dict[int, list[int]] = {}
        """Documents that a query waits for, by slot."""
        self.imports = Imports(self.pool, self.units, lambda answers: resolved(answers, self.pool.labels))
        self.free, self.free_cost = 0, 0.0
        """Slots whose label was known when they were drawn, and what they would have cost."""
        self.leases: dict[int, Lease] = {}
        self.slots_of: dict[int, list[int]] = {}
        self.n_labels = 0
        """How many slots have a label now."""
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
            elif isinstance(record, Redaction):
                self._apply_redaction(record)
            elif isinstance(record, Import):
                self.imports.add(record, self._answers_to_row)
            elif isinstance(record, Grouping):
                pass  # the pool's: no draw and no answer changes
            else:
                self._apply_lease(record)
        except (KeyError, TypeError, ValueError) as error:
            raise DamagedJournal(
                f"{describe(seq, record)} does not follow from the events before it ({error}): take a copy "
                "of the journal from before the damage"
            ) from error
        self.seq = seq

    def asked_mask(self) -> Bools:
        """(N,) whether each item was asked; it goes on changing: for whoever has the turn to write."""
        if self._asked_mask is None:
            self._asked_mask = np.zeros(len(self.pool), dtype=bool)
            self._asked_mask[self.slots["row"].view] = True
        return self._asked_mask

    def row_of(self, id: Id) -> int:
        """The row of an id; those asked are at hand."""
        row = self._row_of.get(id) if type(id) in (int, str) else None  # 1.0 and True are no ids
        return self.pool.row_of(id) if row is None else row

    def located(self, id: Any) -> tuple[int, Any, Any, int | None]:
        """The row of an id, the item's own id, and of a document (query, document) its id and its place."""
        parts = self.pool.parts
        if parts is None:
            return self.row_of(id), id, None, None
        if not isinstance(id, tuple) or len(id) != 2:
            raise UnknownItem(
                f"id {id!r} names no document: answer by (query, document), as ask() gives them"
            )
        row = self.row_of(id[0])
        return row, id[0], id[1], parts.place_of(row, *id)

    def code_of(self, label: Any) -> float:
        """What an answer says, as a number: of an item, or of a document of it."""
        space = self.pool.labels
        return space.grade(label) if isinstance(space, Grades) else space.code(label)

    def asks_for(self, row: int, place: int | None) -> bool:
        """Whether the study needs this document of a query; True for items without parts."""
        parts = self.pool.parts
        return parts is None or place is None or bool(parts.unjudged[parts.start[row] + place])

    def answers_to(self, slot: int, place: int | None) -> Answers:
        """Answers to a slot, or to one document of it."""
        if place is None:
            return self.answers[slot]
        return self.part_answers.setdefault(slot, {}).setdefault(place, {})

    def _apply_round(self, record: Round) -> None:
        # In plain lists: most rounds of many people at once are of one draw, too few for numpy to gain by.
        number, before, drawn = len(self.rounds), len(self.answers), len(self.draws["slot"])
        rows = self._checked_rows(record)
        scale = np.nan if record.scale is None else record.scale
        self.rounds.append(RoundInfo(kind_of(record.kind), scale, record.expected))
        self.digests.append(record.table)
        fresh = [k for k, new in enumerate(record.new) if new]
        known: list[int] = []
        slots: list[int] = []
        for id, row, new in zip(record.id, rows, record.new, strict=True):
            if not new:
                slots.append(self.slots_of[row][0])
                continue
            slot = len(self.answers)
            slots.append(slot)
            self._row_of[id] = row
            self.slots_of.setdefault(row, []).append(slot)
            if self.imports.has(row):
                known.append(slot)
            self.answers.append(self.imports.answers.get(row, {}))
        count = len(fresh)
        for name, values in (
            ("row", [rows[k] for k in fresh]),
            ("unit", [record.unit[k] for k in fresh]),
            ("draw", [drawn + k for k in fresh]),
            ("status", [OPEN] * count),
            ("y", [np.nan] * count),
            ("opinions", [0] * count),
        ):
            self.slots[name].extend(values)
        if self._asked_mask is not None:
            self._asked_mask[rows] = True
        for name, column in (
            ("round", [number] * len(slots)),
            ("row", rows),
            ("unit", record.unit),
            ("times", record.times),
            ("p", record.p),
            ("pi", record.pi),
            ("left", record.left),
            ("new", record.new),
            ("slot", slots),
        ):
            self.draws[name].extend(column)
        if self.pool.parts is not None:
            for slot in range(before, len(self.answers)):
                self._settle(slot)
        for slot in known:
            row = self.slots["row"][slot]
            self.told_at[slot] = self.imports.at.get(row, 0.0)
            self.free, self.free_cost = self.free + 1, self.free_cost + self.pool.cost_of(row)
            self._settle(slot)

    def _checked_rows(self, record: Round) -> list[int]:
        """The rows that a round drew, if it can be the next one."""
        if record.number != len(self.rounds):
            raise ValueError(f"it should be round {len(self.rounds)}")
        drawn = self.pool.rows_of(record.id)
        rows: list[int] = drawn.tolist()
        here: set[int] = set()
        for id, row, new in zip(record.id, rows, record.new, strict=True):
            known = row in here or row in self.slots_of
            if not new and not known:
                raise ValueError(f"id {id!r} was never asked before")
            if new and known and self.oracle == "deterministic":
                raise ValueError(f"id {id!r} was asked before")
            here.add(row)
        if self.units.of(drawn).tolist() != record.unit:
            raise VersionMismatch(
                f"round {record.number} was drawn from other cells than sondage {__version__} cuts the pool "
                "into, so its labels cannot be counted: take the version that the study was made with"
            )
        return rows

    def _asked_slots(self, id: Id) -> tuple[int, list[int]]:
        row = self.row_of(id)
        if row not in self.slots_of:
            raise ValueError("the item was never asked")
        return row, self.slots_of[row]

    def _answers_to_row(self, row: int) -> Answers | None:
        return self.answers[self.slots_of[row][0]] if row in self.slots_of else None

    def _apply_answer(self, record: Answer) -> None:
        row = self.row_of(record.id)
        if row in self.imports.answers:
            self.imports.at[row] = record.at
            self.imports.changed()
            if row not in self.slots_of:
                self._apply_to_imported(record, self.imports.answers[row])
                return
        _, slots = self._asked_slots(record.id)
        parts = self.pool.parts
        place = None if parts is None else parts.place_of(row, record.id, record.part)
        code = None if record.refused or record.label is None else self.code_of(record.label)
        who = record.annotator
        slot = slots[0] if len(slots) == 1 else self._slot_for(slots, record)
        answers = self.answers_to(slot, place)
        if record.replace:
            if who is None:
                answers.clear()
            self.corrections += 1
            if record.label is None and not record.refused:  # taken back, nothing in its place
                self._settle(slot)
                return
        elif who in answers or (who is None and answers):
            return  # the first one stands; written before tell looked and wrote in one
        if answers and who not in answers:
            self.extra_answers += 1
            self.extra_cost += (
                self.pool.cost_of(row) if parts is None or place is None else parts.cost_of(row, place)
            )
        answers[who] = code
        self.told_at[slot] = record.at
        if place is not None:
            self.part_told_at[slot, place] = record.at
            if self._lacks_others(slot, place):
                return
        complete = place is None or all(self.answers_to(slot, one) for one in self._asked_places(slot))
        if complete and not self._is_held(slot, record.at, who):
            self.leases.pop(slot, None)
        self._settle(slot)

    def _lacks_others(self, slot: int, place: int) -> bool:
        """Whether a query just told of one document still lacks answers, and so waits as it did before.

        A query of a thousand documents must not be put together a thousand times.
        """
        if slot in self.leases or slot not in self.open_places:
            return False
        left = [one for one in self.open_places[slot] if one != place]
        told = self.part_answers[slot]
        if resolved(told[place], self.pool.labels)[0] == OPEN or all(told.get(one) for one in left):
            return False
        self.open_places[slot] = left
        return True

    def _apply_to_imported(self, record: Answer, answers: Answers) -> None:
        """What is said of an item that was imported and not asked."""
        if record.replace and record.annotator is None:
            answers.clear()
        if record.replace or record.annotator not in answers:
            told = record.label is not None and not record.refused
            answers[record.annotator] = self.pool.labels.code(record.label) if told else None

    def _apply_redaction(self, record: Redaction) -> None:
        """Whoever answered has said nothing, as the journal has it when it is read again."""
        row = self.row_of(record.id)
        slots = self.slots_of.get(row, [])
        if row in self.imports.answers:
            self.imports.answers[row].update(dict.fromkeys(self.imports.answers[row]))
            self.imports.changed()
        elif not slots:
            raise ValueError("the item was never asked")
        for slot in slots:
            self.answers[slot].update(dict.fromkeys(self.answers[slot]))
            parts = self.part_answers.get(slot, {})
            parts.update({place: dict.fromkeys(answers) for place, answers in parts.items()})
            self._settle(slot)

    def _slot_for(self, slots: list[int], record: Answer) -> int:
        """The draw of an item that an answer is to, where every draw needs one of its own.

        The next unanswered one, first of those leased to who answers, last of those leased to others; a
        correction goes to the last answered one.
        """
        waiting = [slot for slot in slots if not self.answers[slot]]
        done = [slot for slot in slots if self.answers[slot]]
        if done and (record.replace or not waiting):
            return done[-1]

        def rank(slot: int) -> int:
            lease = self.leases.get(slot)
            mine = lease is not None and lease.annotator == record.annotator
            return 0 if mine else 1 + self._is_held(slot, record.at, record.annotator)

        return min(waiting, key=rank)

    def _is_held(self, slot: int, at: float, by_other_than: str | None) -> bool:
        """Whether a lease to somebody else is in force; whoever answers without a name answers for them."""
        lease = self.leases.get(slot)
        return lease is not None and lease.until > at and by_other_than not in (None, lease.annotator)

    def _apply_lease(self, record: Lease) -> None:
        _, slots = self._asked_slots(record.id)
        if record.until <= record.at:  # given back
            for slot in slots:
                lease = self.leases.get(slot)
                if lease is not None and lease.annotator == record.annotator:
                    del self.leases[slot]
                    self._settle(slot)
            return
        status = self.slots["status"].view
        free = [one for one in slots if status[one] == OPEN and not self._is_held(one, record.at, "")]
        if not free:
            raise ValueError("somebody else holds the item, or it is answered")
        if record.annotator in self.answers[free[0]]:  # nothing to wait for
            self.leases.pop(free[0], None)
        else:
            self.leases[free[0]] = record
        self._settle(free[0])

    def _settle(self, slot: int) -> None:
        if self.pool.parts is None:
            answers = self.answers[slot]
            opinions = len(answers)
            status, y = resolved(answers, self.pool.labels, waits=slot in self.leases)
        else:
            status, y, opinions = self._put_together(slot, self.pool.parts)
        self.n_labels += (status == ANSWERED) - (self.slots["status"][slot] == ANSWERED)
        for name, value in (("status", status), ("y", y), ("opinions", opinions)):
            self.slots[name][slot] = value

    def _asked_places(self, slot: int) -> list[int]:
        """Documents of a slot that the study has to ask for."""
        assert self.pool.parts is not None
        places: list[int] = self.pool.parts.open_of(self.slots["row"][slot]).tolist()
        return places

    def _put_together(self, slot: int, parts: Documents) -> tuple[int, float, int]:
        """Status, label and opinions of a query: it has a label when all its documents are judged."""
        row, places = self.slots["row"][slot], self._asked_places(slot)
        grades = parts.grade[parts.of(row)].copy()
        told = [self.part_answers.get(slot, {}).get(place, {}) for place in places]
        each = [resolved(one, self.pool.labels, waits=slot in self.leases) for one in told]
        self.open_places[slot] = [
            place for place, (status, _) in zip(places, each, strict=True) if status == OPEN
        ]
        opinions = min((len(one) for one in told), default=0)
        if self.open_places[slot]:
            return OPEN, np.nan, opinions
        refused = [status == REFUSED for status, _ in each]
        if any(refused) and (all(refused) or not parts.gaps):
            return REFUSED, np.nan, opinions
        grades[places] = [grade for _, grade in each]
        return ANSWERED, self.pool.labels.code(grades.tolist()), opinions


def annotators_of(answers: Answers) -> str:
    """All who answered, in one text; empty if nobody is named."""
    return "; ".join(name for name in answers if name)


def resolved(answers: Answers, space: LabelSpace, *, waits: bool = False) -> tuple[int, float]:
    """Status and label of a slot: the adjudicator's answer, else the majority; a tie is open.

    Of labels that are yes or no to many, the majority on each; open where any is tied. Where it ``waits``
    for somebody who has leased the item, answers by others are opinions that settle nothing yet.
    """
    if ADJUDICATOR not in answers and (not answers or waits):
        return OPEN, np.nan
    given = [answers[ADJUDICATOR]] if ADJUDICATOR in answers else list(answers.values())
    told = [code for code in given if code is not None]
    if not told:
        return REFUSED, np.nan
    if len(set(told)) == 1:
        return ANSWERED, told[0]
    if space.components and space.whole:
        share = space.vectors(np.array(told)).mean(axis=0)
        tied = bool((share == 0.5).any())
        return (OPEN, np.nan) if tied else (ANSWERED, space.code(np.rint(share)))
    (label, votes), (_, next_votes), *_ = Counter(told).most_common()
    return (OPEN, np.nan) if next_votes == votes else (ANSWERED, label)
