"""What every journal has to do, as tests that a journal's own test class inherits."""

from __future__ import annotations

import contextlib
import math
import random
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sondage.errors import Conflict, InvalidInput, NameTaken
from sondage.journal.base import Answer, Event, Journal, Lease, Look, Record, Round
from sondage.testing.journal_changes import ChangesTests
from sondage.testing.journal_sharing import (
    CONFIG,
    NAME,
    OTHER,
    SharingTests,
    answers,
    assert_same,
    round_of,
    table_of,
)
from sondage.types import Id

FLOATS = [
    *(0.0, -0.0, 0.1, 0.2, 0.1 + 0.2, 1 / 3, 2 / 3, math.pi, 1.0, 1e22, 1e23, 2.0**53 + 2),
    *(5e-324, 2.2250738585072014e-308, 2.225073858507201e-308, 1e-300, 2.0**-48, 1 - 2.0**-53),
    *(1e308, 1.7976931348623157e308, -1e308, -5e-324, 9007199254740993.0, 123456789.12345679),
]
LABELS: list[Any] = [
    *(0, 1, -1, 2**53 + 1, 2**63, -(2**63)),
    *("", "0", "1", "True", "null", "match", "naïve ☃ 😀", 'quote " and \\ and \n', "a\x00b"),
    *(0.0, -0.0, 1.0, 0.1, 1 / 3, 5e-324, 1e308),
    *(True, False, None),
]
IDS: list[Id] = [
    *(0, 1, -1, 2**53 + 1, 2**63 - 1),
    *("0", "1", "01", "", " 1", "a,b;c", "Ünï-код-漢字-😀", "é", "e\u0301", "quote'\"\\", "x" * 5000),
]


def assert_kept(journal: Journal, records: list[Record]) -> None:
    """What is appended comes back, equal in every type and bit."""
    journal.append(NAME, records)
    assert_same([event.record for event in journal.events(NAME)], records)


class Broken(Sequence[Record]):
    """Records of which the last cannot be had."""

    def __init__(self, records: Sequence[Record]) -> None:
        self._records = list(records)

    def __len__(self) -> int:
        return len(self._records) + 1

    def __getitem__(self, index: Any) -> Any:
        if index < len(self._records):
            return self._records[index]
        raise RuntimeError("the last record cannot be had")


class JournalSuite(SharingTests, ChangesTests):
    """Conformance tests of a journal: inherit, and say how one is made and opened again.

    Where something outside the process can reach the storage, say also how to harm it and to remove it.
    """

    # Studies

    def test_names_are_in_order_of_creation(self, journal: Journal) -> None:
        for name in ("zebra", "Äpfel 漢字", "aardvark"):
            journal.create(name, {})
        assert journal.names() == [NAME, OTHER, "zebra", "Äpfel 漢字", "aardvark"]

    def test_config_round_trips(self, journal: Journal) -> None:
        """A configuration comes back with every type and bit it had."""
        assert_same(journal.config(NAME), CONFIG)
        assert_same(journal.config(OTHER), {})

    def test_taken_name_is_refused(self, journal: Journal) -> None:
        """A second study of the same name is an error that names it, and changes nothing."""
        journal.append(NAME, answers(1))
        with pytest.raises(NameTaken, match=NAME):
            journal.create(NAME, {"measure": "other"})
        assert journal.names() == [NAME, OTHER]
        assert_same(journal.config(NAME), CONFIG)
        assert len(journal.events(NAME)) == 1

    @pytest.mark.parametrize("method", ["config", "append", "events", "put_table", "table"])
    def test_unknown_study_is_refused(self, journal: Journal, method: str) -> None:
        """Every method that takes a study says that there is none of that name."""
        args: dict[str, tuple[Any, ...]] = {
            "append": (answers(1),),
            "put_table": ("d", np.array([0.5])),
            "table": ("d",),
        }
        with pytest.raises(InvalidInput, match="nowhere"):
            getattr(journal, method)("nowhere", *args.get(method, ()))
        assert journal.names() == [NAME, OTHER]

    def test_a_refused_append_does_not_make_the_study(self, journal: Journal) -> None:
        """A study created after an append to its name failed starts empty."""
        with pytest.raises(InvalidInput):
            journal.append("late", answers(1))
        journal.create("late", {})
        assert journal.events("late") == []

    def test_studies_do_not_mix(self, journal: Journal) -> None:
        """Events, numbers and tables belong to one study."""
        first = journal.append(NAME, answers("a"))
        second = journal.append(OTHER, answers("b", "c"), after=0)
        first += journal.append(NAME, answers("d"), after=1)
        journal.put_table(NAME, "digest", np.array([0.25]))
        assert [event.seq for event in first] == [event.seq for event in second] == [1, 2]
        assert_same(journal.events(NAME), first)
        assert_same(journal.events(OTHER), second)
        assert journal.table(OTHER, "digest") is None
        journal.put_table(OTHER, "digest", np.array([0.75]))
        kept = [journal.table(name, "digest") for name in (NAME, OTHER)]
        assert [None if table is None else table.tolist() for table in kept] == [[0.25], [0.75]]

    # Order

    def test_new_study_has_no_events(self, journal: Journal) -> None:
        assert journal.events(NAME) == []

    def test_numbers_start_at_one_and_leave_none_out(self, journal: Journal) -> None:
        """Events are numbered 1, 2, 3, ..., so that a missing one is noticed."""
        batches = [journal.append(NAME, answers(*range(size))) for size in (1, 3, 1, 2)]
        numbers = [event.seq for batch in batches for event in batch]
        assert numbers == list(range(1, 8))
        assert [event.seq for event in journal.events(NAME)] == numbers

    def test_events_come_in_the_order_appended(self, journal: Journal) -> None:
        """Neither ids nor kinds nor times sort the events."""
        records: list[Record] = [
            Answer(id=9, label=1, at=5.0),
            round_of(2, ids=[7, "x", 3]),
            Lease(id=7, annotator="bob", until=1e9),
            Answer(id=1, label=0, at=1.0),
            round_of(1),
            Lease(id="x", annotator="ann", until=1.5),
            Look(rule="at 30 labels", stop=False, interval=None, at=0.25),
        ]
        journal.append(NAME, records[:4])
        journal.append(NAME, records[4:])
        assert_same([event.record for event in journal.events(NAME)], records)

    def test_order_holds_past_ten_and_a_hundred(self, journal: Journal) -> None:
        """Numbers are compared as numbers, not as text."""
        for start in range(0, 120, 20):
            journal.append(NAME, [Answer(id=k, label=k) for k in range(start, start + 20)])
        events = journal.events(NAME)
        assert [event.record.label for event in events if isinstance(event.record, Answer)] == list(
            range(120)
        )
        assert_same(journal.events(NAME, after=events[8].seq), events[9:])
        assert_same(journal.events(NAME, after=events[98].seq), events[99:])

    def test_append_returns_what_events_returns(self, journal: Journal) -> None:
        made = journal.append(NAME, [round_of(1), *answers(0, "one", 0.5)])
        assert all(isinstance(event, Event) for event in made)
        assert_same(journal.events(NAME), made)

    def test_events_after_a_number(self, journal: Journal) -> None:
        """``events(name, after)`` is the part above ``after``: all, some or none."""
        made = journal.append(NAME, answers(*"abcde"))
        for k, event in enumerate(made):
            assert_same(journal.events(NAME, after=event.seq), made[k + 1 :])
        assert_same(journal.events(NAME, after=0), made)
        assert_same(journal.events(NAME, after=-1), made)
        assert journal.events(NAME, after=made[-1].seq + 100) == []

    # All or nothing

    def test_broken_append_writes_nothing(self, journal: Journal) -> None:
        """If one record cannot be had, none is written, and the journal works on."""
        before = journal.append(NAME, answers("kept"))
        with pytest.raises(RuntimeError, match="cannot be had"):
            journal.append(NAME, Broken(answers("a", "b")))
        assert_same(journal.events(NAME), before)
        after = journal.append(NAME, answers("next"), after=before[-1].seq)
        assert_same(journal.events(NAME), before + after)

    @pytest.mark.parametrize("place", [0, 1, 2])
    def test_record_that_cannot_be_written(self, journal: Journal, place: int) -> None:
        """A record the journal cannot hold stops its whole batch, or the whole batch is there."""
        before = journal.append(NAME, answers("kept"))
        batch = answers("a", "b", "c")
        batch[place] = Answer(id=place, label=object())
        written = 0
        with contextlib.suppress(Exception):
            written = len(journal.append(NAME, batch))
        assert written in (0, 3)
        assert len(journal.events(NAME)) == 1 + written
        assert_same(journal.events(NAME)[:1], before)
        journal.append(NAME, answers("next"))
        assert len(journal.events(NAME)) == 2 + written

    def test_empty_append_writes_nothing(self, journal: Journal) -> None:
        """No records, no events; the numbers go on as if nothing had been asked."""
        made = journal.append(NAME, answers(1))
        assert journal.append(NAME, []) == []
        assert journal.append(NAME, [], after=made[-1].seq) == []
        assert_same(journal.events(NAME), made)
        assert len(journal.append(NAME, answers(2), after=made[-1].seq)) == 1

    # Conflict

    def test_after_the_last_event_is_written(self, journal: Journal) -> None:
        """``after=`` with the number of the last event (0 if none) is an ordinary append."""
        made = journal.append(NAME, answers("a"), after=0)
        made += journal.append(NAME, answers("b", "c"), after=made[-1].seq)
        made += journal.append(NAME, answers("d"), after=made[-1].seq)
        assert_same(journal.events(NAME), made)
        assert [event.record for event in made] == [
            *answers("a"),
            *answers("b", "c"),
            *answers("d"),
        ]

    @pytest.mark.parametrize("records", [answers("x", "y"), []], ids=["two", "none"])
    def test_after_another_event_is_a_conflict(self, journal: Journal, records: list[Record]) -> None:
        """``after=`` with any other number raises and writes nothing."""
        with pytest.raises(Conflict):
            journal.append(NAME, records, after=1)
        assert journal.events(NAME) == []
        made = journal.append(NAME, answers("a", "b", "c"))
        for after in (0, made[0].seq, made[1].seq, made[2].seq + 1, -1):
            with pytest.raises(Conflict):
                journal.append(NAME, records, after=after)
            assert_same(journal.events(NAME), made)
        made += journal.append(NAME, answers("d"), after=made[-1].seq)
        assert_same(journal.events(NAME), made)

    def test_conflict_is_about_one_study(self, journal: Journal) -> None:
        last = journal.append(NAME, answers("a"))[-1].seq
        journal.append(OTHER, answers("b", "c", "d"))
        assert len(journal.append(NAME, answers("e"), after=last)) == 1

    # Exact values

    def test_floats_keep_every_bit(self, journal: Journal) -> None:
        """Extreme, subnormal and awkward floats, and None for nan, in every field that has one."""
        column: list[float | None] = [None, *FLOATS, None]
        ids = list(range(len(column)))
        made: list[Record] = []
        for k, value in enumerate(FLOATS):
            shifted = column[k:] + column[:k]
            base = vars(round_of(k, ids=ids)) | {"scale": value, "expected": value}
            made.append(Round(**base | {"p": shifted, "pi": shifted[::-1]}))
            made.append(Answer(id=k, label=value, at=value))
            made.append(Lease(id=k, annotator="a", until=value))
        assert_kept(journal, made)

    def test_random_floats_keep_every_bit(self, journal: Journal) -> None:
        bits = random.Random(7)
        drawn = [struct.unpack("<d", bits.randbytes(8))[0] for _ in range(2000)]
        column: list[float | None] = [value if math.isfinite(value) else None for value in drawn]
        base = vars(round_of(1, ids=list(range(len(column)))))
        made = Round(**base | {"p": column, "pi": column[::-1]})
        assert_kept(journal, [made])

    @pytest.mark.parametrize("label", LABELS, ids=repr)
    def test_labels_keep_value_and_type(self, journal: Journal, label: object) -> None:
        """Int, text, float, bool and None stay what they are: 1 is not True, nor 1.0, nor "1"."""
        made = Answer(id=1, label=label)
        assert_kept(journal, [made])

    def test_ids_keep_value_and_type(self, journal: Journal) -> None:
        """Whole numbers and any text, in every field that holds an id: 1 is not "1"."""
        made: list[Record] = [round_of(1, ids=IDS)]
        for id in IDS:
            made.append(Answer(id=id, label=1))
            made.append(Lease(id=id, annotator=str(id), until=1.0))
        assert_kept(journal, made)

    def test_every_field_round_trips(self, journal: Journal) -> None:
        """Every field of every record, away from its default."""
        made: list[Record] = [
            Answer(id="q", label="no", refused=True, annotator="Zoë", replace=True, at=1.7e9),
            Answer(id="q", label=None),
            Lease(id=4, annotator="Zoë", until=1.7e9 + 0.1),
            Round(**vars(round_of(12)) | {"kind": "poisson", "scale": 1 / 7}),
            round_of(13, ids=[]),
        ]
        assert_kept(journal, made)

    # Nothing is changed

    def test_earlier_events_stay(self, journal: Journal) -> None:
        """No later answer, replacement, conflict or failure alters what was written before."""
        made: list[Event] = []
        for k in range(5):
            made += journal.append(NAME, [round_of(k), Answer(id=1, label=k, annotator="a")])
            made += journal.append(NAME, [Answer(id=1, label=-k, annotator="a", replace=True)])
            made += journal.append(NAME, [Lease(id=1, annotator="a", until=float(k))])
            with pytest.raises(Conflict):
                journal.append(NAME, answers("x"), after=0)
            with pytest.raises(RuntimeError):
                journal.append(NAME, Broken(answers("x")))
            assert_same(journal.events(NAME), made)

    def test_same_record_twice_is_two_events(self, journal: Journal) -> None:
        """An equal record is not swallowed: the journal does not judge."""
        record = Answer(id=1, label=1)
        journal.append(NAME, [record, record])
        journal.append(NAME, [record])
        assert [event.record for event in journal.events(NAME)] == [record] * 3

    def test_lists_of_the_caller_are_copied(self, journal: Journal) -> None:
        """To change a list that was appended, or one that was read, does not change the journal."""
        record, config = round_of(1), {"systems": ["a"]}
        made = journal.append(NAME, [record])
        journal.create("third", config)
        expected = [Event(1, round_of(1))]
        record.id.append(99)
        config["systems"].append("b")
        assert_same(journal.events(NAME), expected)
        assert_same(journal.config("third"), {"systems": ["a"]})
        for event in (made[0], journal.events(NAME)[0]):
            assert isinstance(event.record, Round)
            event.record.p[0] = 0.5
        made.clear()
        journal.events(NAME).clear()
        journal.config("third")["systems"].append("b")
        journal.names().clear()
        assert_same(journal.events(NAME), expected)
        assert_same(journal.config("third"), {"systems": ["a"]})
        assert journal.names() == [NAME, OTHER, "third"]

    # Tables

    def test_tables_keep_every_bit(self, journal: Journal) -> None:
        """A table of chances comes back as float64, equal in every bit, nan and infinity too."""
        values = np.array([*FLOATS, np.nan, np.inf, -np.inf])
        tables = {"a": values, "b": values[::-1], "c": values[::2], "é": np.array([])}
        for digest, table in tables.items():
            journal.put_table(NAME, digest, table)
        for digest, table in tables.items():
            found = table_of(journal, digest)
            assert found.dtype == np.float64
            assert found.shape == table.shape
            assert found.tobytes() == table.tobytes()

    def test_large_table(self, journal: Journal) -> None:
        table = 1 / np.arange(3.0, 100_003.0)
        journal.put_table(NAME, "large", table)
        assert table_of(journal, "large").tobytes() == table.tobytes()

    def test_unknown_table_is_none(self, journal: Journal) -> None:
        journal.put_table(NAME, "known", np.array([0.5]))
        assert journal.table(NAME, "unknown") is None

    def test_table_is_stored_once(self, journal: Journal) -> None:
        """A second table under the same digest changes nothing and is no error."""
        journal.put_table(NAME, "d", np.array([0.25, 0.75]))
        journal.put_table(NAME, "d", np.array([0.25, 0.75]))
        journal.put_table(NAME, "d", np.array([0.5]))
        assert table_of(journal, "d").tolist() == [0.25, 0.75]

    def test_table_is_a_copy(self, journal: Journal) -> None:
        """To change an array that was put, or one that was read, does not change the journal."""
        values = np.array([0.25, 0.75])
        journal.put_table(NAME, "d", values)
        values[0] = 9.0
        for _ in range(2):
            found = table_of(journal, "d")
            assert found.tolist() == [0.25, 0.75]
            with contextlib.suppress(ValueError):  # it may be read-only
                found[0] = 9.0

    def test_tables_are_not_events(self, journal: Journal) -> None:
        """A table takes no number, so it is no reason for a conflict."""
        journal.append(NAME, answers(1))
        journal.put_table(NAME, "d", np.array([0.5]))
        assert len(journal.append(NAME, answers(2), after=1)) == 1
        assert len(journal.events(NAME)) == 2

    # After a close

    def test_reopened_sees_everything(self, tmp_path: Path) -> None:
        """After a close, a new handle finds studies, events and tables as they were."""
        journal = self.make_journal(tmp_path)
        journal.create(NAME, CONFIG)
        journal.create(OTHER, {})
        made = journal.append(NAME, [round_of(1, ids=IDS), *answers(*LABELS, *FLOATS)])
        made += journal.append(NAME, [Lease(id="é", annotator="a", until=0.1)])
        journal.append(OTHER, answers("b"))
        journal.put_table(NAME, "d", np.array([0.1, np.nan]))
        journal.close()
        other = self._reopened(journal, tmp_path)
        try:
            assert other.names() == [NAME, OTHER]
            assert_same(other.config(NAME), CONFIG)
            assert_same(other.events(NAME), made)
            assert len(other.events(OTHER)) == 1
            table = table_of(other, "d")
            assert table.tobytes() == np.array([0.1, np.nan]).tobytes()
            more = other.append(NAME, answers("more"), after=made[-1].seq)
            assert_same(other.events(NAME), made + more)
        finally:
            other.close()
