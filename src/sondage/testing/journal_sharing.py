"""How a journal is made for its tests; and what it must do when many use it at once, or harm it."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from sondage.errors import Conflict, DamagedJournal, JournalUnavailable, NameTaken
from sondage.journal.base import Answer, Event, Journal, Record, Round
from sondage.types import Floats, Id

NAME = "étude 1"
OTHER = "a second study"
CONFIG: dict[str, Any] = {
    "measure": {"name": "f1", "args": {"pos_label": "oui ✓", "beta": 1 / 3}},
    "seed": 2**127 + 1,
    "budget": None,
    "systems": ["a", "b"],
    "flags": [True, False, 0, 1, 1.0, -0.0],
}

Damage = Literal["removed", "changed", "swapped", "cut", "config", "table"]


def round_of(number: int, ids: Sequence[Id] = (1, 2, 3)) -> Round:
    """A round that draws the given items, with chances that no short decimal equals."""
    n = len(ids)
    return Round(
        number=number,
        kind="wr",
        table=f"digest-{number}",
        scale=None,
        expected=n / 3,
        id=list(ids),
        unit=list(range(n)),
        times=[1 + k % 2 for k in range(n)],
        p=[1 / (3 + k) for k in range(n)],
        pi=[None] * n,
        left=[n - k for k in range(n)],
        new=[k % 2 == 0 for k in range(n)],
    )


def answers(*labels: Any) -> list[Record]:
    """One answer per label, for the items 0, 1, ..."""
    return [Answer(id=k, label=label, at=k / 3) for k, label in enumerate(labels)]


def assert_same(found: object, expected: object) -> None:
    """Equal in every type and bit: ``==`` takes 1 for True and 0.0 for -0.0, ``repr`` does not."""
    assert repr(found) == repr(expected)


def table_of(journal: Journal, digest: str) -> Floats:
    """A table that must be there."""
    found = journal.table(NAME, digest)
    assert found is not None
    return found


class JournalTests:
    """What the tests of journals ask of a class that inherits them."""

    def make_journal(self, tmp_path: Path) -> Journal:
        """A new, empty journal; its files, if any, go under ``tmp_path``."""
        raise NotImplementedError("override make_journal")

    def reopen(self, journal: Journal, tmp_path: Path) -> Journal | None:
        """A second handle on the storage of ``journal`` (open or closed); None if not shared."""
        return None

    def damage(self, tmp_path: Path, how: Damage) -> bool:
        """Harm study ``NAME`` behind the journal's back; False if nothing outside can reach it.

        Event 3 is removed, changed (its label), or swapped with event 4; the last event is cut off; the
        study's configuration or its table ``"d"`` is changed.
        """
        return False

    def take_away(self, tmp_path: Path) -> bool:
        """Remove the storage of an open journal; False if there is nothing to remove."""
        return False

    @pytest.fixture
    def journal(self, tmp_path: Path) -> Iterator[Journal]:
        """An empty journal with the two studies that the tests write to."""
        made = self.make_journal(tmp_path)
        assert made.names() == [], "make_journal has to return an empty journal"
        made.create(NAME, CONFIG)
        made.create(OTHER, {})
        yield made
        made.close()

    @pytest.fixture
    def second(self, journal: Journal, tmp_path: Path) -> Iterator[Journal]:
        """A second handle on the same storage; skips if the journal has one handle only."""
        other = self._reopened(journal, tmp_path)
        yield other
        other.close()

    def _reopened(self, journal: Journal, tmp_path: Path) -> Journal:
        other = self.reopen(journal, tmp_path)
        if other is None:
            pytest.skip("the journal is not shared")
        assert other is not journal, "reopen has to return another handle"
        return other


def in_threads(*tasks: Callable[[], object]) -> None:
    """Run tasks at once, each in a thread of its own, and raise what the first to fail raised."""
    failures: list[BaseException] = []
    gate = threading.Barrier(len(tasks))

    def guarded(task: Callable[[], object]) -> None:
        try:
            gate.wait(60)
            task()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(task,)) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


class SharingTests(JournalTests):
    """Threads, turns, several handles, and damage."""

    # Threads, and turns

    def test_threads_share_a_journal(self, journal: Journal) -> None:
        """Eight threads write and read at once: nothing is lost, doubled or out of order."""

        def writer(who: int) -> Callable[[], None]:
            def write() -> None:
                for k in range(20):
                    journal.append(NAME, [Answer(id=f"{who}-{k}", label=half) for half in (0, 1)])
                    journal.put_table(NAME, f"{k}", np.array([0.5]))
                    assert len(journal.events(NAME)) >= 2 * (k + 1)

            return write

        in_threads(*(writer(who) for who in range(8)))
        events = journal.events(NAME)
        assert [event.seq for event in events] == list(range(1, 321))
        ids = [event.record.id for event in events if isinstance(event.record, Answer)]
        assert ids[::2] == ids[1::2]  # the two records of a batch stay together
        for who in range(8):
            assert [id for id in ids[::2] if str(id).startswith(f"{who}-")] == [
                f"{who}-{k}" for k in range(20)
            ]

    def test_of_threads_that_write_after_one_event_one_wins(self, journal: Journal) -> None:
        """Compare and swap, between threads."""
        won: list[int] = []

        def rival(who: int) -> Callable[[], None]:
            def write() -> None:
                with contextlib.suppress(Conflict):
                    journal.append(NAME, [Answer(id=who, label=1)], after=0)
                    won.append(who)

            return write

        in_threads(*(rival(who) for who in range(8)))
        assert len(won) == 1
        assert [event.record for event in journal.events(NAME)] == [Answer(id=won[0], label=1)]

    def test_names_given_in_turns_are_free(self, journal: Journal) -> None:
        """Who looks at the names in a turn may take one that is not there."""
        if type(journal).turn is Journal.turn:
            pytest.skip("the journal has no turns")

        def enter() -> None:
            with journal.turn():
                journal.create(f"number {len(journal.names())}", {})

        in_threads(*[enter] * 12)
        assert journal.names() == [NAME, OTHER, *(f"number {k}" for k in range(2, 14))]

    def test_a_turn_that_writes_nothing_leaves_nothing(self, journal: Journal) -> None:
        """Whether it ends in peace or by an error; and others can write afterwards."""
        with journal.turn(NAME):
            assert journal.events(NAME) == []
        with pytest.raises(ZeroDivisionError), journal.turn(NAME):
            raise ZeroDivisionError
        with pytest.raises(Conflict), journal.turn(NAME):
            journal.append(NAME, answers("x"), after=5)
        assert len(journal.append(NAME, answers("a"), after=0)) == 1

    def test_what_is_written_in_a_turn_stays(self, journal: Journal) -> None:
        """Events and tables, also if the rest of the turn fails."""
        with contextlib.suppress(ZeroDivisionError), journal.turn(NAME):
            journal.put_table(NAME, "d", np.array([0.25]))
            made = journal.append(NAME, answers("a", "b"), after=0)
            raise ZeroDivisionError
        assert_same(journal.events(NAME), made)
        assert table_of(journal, "d").tolist() == [0.25]

    def test_nobody_writes_in_anothers_turn(self, journal: Journal, second: Journal) -> None:
        """Who writes through another handle waits for the end of the turn, or for what is written in it."""
        if type(journal).turn is Journal.turn:
            pytest.skip("the journal has no turns")
        waiting = threading.Event()
        seen: list[int] = []

        def other() -> None:
            waiting.wait(60)
            with second.turn(NAME, lambda: seen.append(len(second.events(NAME)))):
                second.append(NAME, answers("b"), after=len(second.events(NAME)))

        def first() -> None:
            with journal.turn(NAME):
                waiting.set()
                threading.Event().wait(0.05)  # time enough to slip in, if that were possible
                journal.append(NAME, answers("a"), after=0)

        in_threads(other, first)
        assert [event.record for event in journal.events(NAME)] == [*answers("a"), *answers("b")]
        assert seen[0] in (0, 1)  # ``meanwhile`` may read

    # Damage

    @pytest.mark.parametrize("how", ["removed", "changed", "swapped", "cut"])
    def test_damaged_events_are_named(self, journal: Journal, tmp_path: Path, how: Damage) -> None:
        """What was removed or changed behind the journal's back is an error that names the event."""
        journal.append(NAME, [round_of(0), *answers("a", "b", "c", "d")])
        journal.close()
        if not self.damage(tmp_path, how):
            pytest.skip("nothing outside the process can reach it")
        other = self._reopened(journal, tmp_path)
        try:
            with pytest.raises(DamagedJournal, match=r"after event 4" if how == "cut" else r"event 3\b"):
                other.events(NAME)
            assert other.events(OTHER) == []
        finally:
            other.close()

    def test_damage_is_noticed_by_who_has_read_the_events_before(
        self, journal: Journal, second: Journal, tmp_path: Path
    ) -> None:
        """A handle that knew more events than there are now neither reads nor writes on."""
        made = journal.append(NAME, answers("a", "b", "c", "d", "e"))
        assert_same(second.events(NAME), made)
        if not self.damage(tmp_path, "cut"):
            pytest.skip("nothing outside the process can reach it")
        with pytest.raises(DamagedJournal):
            second.events(NAME)

    @pytest.mark.parametrize("how", ["config", "table"])
    def test_damage_beside_the_events_is_named(self, journal: Journal, tmp_path: Path, how: Damage) -> None:
        """A configuration or a table of chances that was changed is an error, not another study."""
        journal.put_table(NAME, "d", np.array([0.25, 0.75]))
        journal.close()
        if not self.damage(tmp_path, how):
            pytest.skip("nothing outside the process can reach it")
        other = self._reopened(journal, tmp_path)
        try:
            with pytest.raises(DamagedJournal, match=how):
                other.config(NAME) if how == "config" else other.table(NAME, "d")
        finally:
            other.close()

    def test_storage_taken_away_is_noticed(self, journal: Journal, tmp_path: Path) -> None:
        """Nothing is taken for written in a place that is no longer there."""
        journal.append(NAME, answers("a"))
        if not self.take_away(tmp_path):
            pytest.skip("there is nothing to remove")
        for write in (
            lambda: journal.append(NAME, answers("b")),
            lambda: journal.create("third", {}),
            lambda: journal.put_table(NAME, "d", np.array([0.5])),
        ):
            with pytest.raises(JournalUnavailable, match="removed"):
                write()

    # Several handles on one storage

    def test_two_handles_write_one_order(self, journal: Journal, second: Journal) -> None:
        """Events of two handles are numbered in one order that both see at once."""
        made: list[Event] = []
        for k in range(6):
            writer, reader = (journal, second) if k % 2 else (second, journal)
            new = writer.append(NAME, [round_of(k), Answer(id=k, label=k)])
            assert_same(reader.events(NAME, after=made[-1].seq if made else 0), new)
            made += new
            assert_same(writer.events(NAME), made)
        numbers = [event.seq for event in made]
        assert numbers == sorted(set(numbers))

    def test_of_two_handles_one_draws_again(self, journal: Journal, second: Journal) -> None:
        """The handle that has not seen the news gets a conflict; once it has, it may write."""
        last = journal.append(NAME, answers("start"))[-1].seq
        assert second.events(NAME)[-1].seq == last
        won = journal.append(NAME, [round_of(1, ids=[1])], after=last)
        with pytest.raises(Conflict):
            second.append(NAME, [round_of(1, ids=[2])], after=last)
        assert_same(second.events(NAME, after=last), won)
        again = second.append(NAME, [round_of(2, ids=[2])], after=won[-1].seq)
        assert_same(journal.events(NAME, after=last), won + again)

    def test_two_handles_share_studies_and_tables(self, journal: Journal, second: Journal) -> None:
        """Studies and tables made through one handle are there, and taken, for the other."""
        second.create("third", {"by": "second"})
        assert journal.names() == [NAME, OTHER, "third"]
        assert_same(journal.config("third"), {"by": "second"})
        with pytest.raises(NameTaken, match="third"):
            journal.create("third", {"by": "first"})
        assert_same(second.config("third"), {"by": "second"})
        second.put_table(NAME, "d", np.array([0.25]))
        journal.put_table(NAME, "d", np.array([0.5]))
        assert table_of(journal, "d").tolist() == [0.25]
