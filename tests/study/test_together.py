"""Many at once on one study: processes, threads and rivals in between lose nothing and double nothing."""

from __future__ import annotations

import multiprocessing
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.study.example import Storage, answers_of, make_labels, make_pool, rounds_of, shown

import sondage as sd
from sondage.errors import AlreadyAnswered, NameTaken, NothingLeft
from sondage.journal import Answer, Event, Journal, MemoryJournal, Record
from sondage.pool import Pool
from sondage.testing.journal_sharing import in_threads

forks = pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="children are forked"
)


def in_processes(*tasks: Callable[[], Any]) -> list[Any]:
    """What tasks return that are run at once, each in a fork of this process."""
    context = multiprocessing.get_context("fork")
    gate = context.Barrier(len(tasks))

    def work(task: Callable[[], Any], out: Any) -> None:
        try:
            gate.wait(60)
            out.send(task())
        except BaseException:
            out.send(traceback.format_exc())

    ends, processes = [], []
    for task in tasks:
        here, there = context.Pipe(duplex=False)
        process = context.Process(target=work, args=(task, there))
        process.start()
        there.close()
        ends.append(here)
        processes.append(process)
    results = [end.recv() for end in ends]
    for process in processes:
        process.join(60)
    failures = [one for one in results if isinstance(one, str)]
    assert not failures, failures[0]
    return results


class Interrupted(MemoryJournal):
    """Lets a rival act between the look and the write: once, before the next ``append``."""

    rival: Callable[[], None] | None = None

    def append(self, name: str, records: Sequence[Record], after: int | None = None) -> list[Event]:
        rival, self.rival = self.rival, None
        if rival is not None:
            rival()
        return super().append(name, records, after)


def two_handles(pool: Pool) -> tuple[sd.Study, sd.Study, Interrupted]:
    journal = Interrupted()
    first = sd.create_study(pool, "accuracy", design="uniform", storage=journal, rng=3, budget=40)
    return first, sd.load_study(journal, pool=pool), journal


# ---- tell: the first answer wins -----------------------------------------------------------------


@pytest.mark.parametrize(("mine", "theirs"), [(None, None), ("ann", "ann"), (None, "ann")])
def test_the_second_of_two_simultaneous_answers_is_refused(
    pool: Pool, mine: str | None, theirs: str | None
) -> None:
    study, other, journal = two_handles(pool)
    id = study.ask(1)[0].id
    journal.rival = lambda: other.tell(id, 1, annotator=theirs)
    with pytest.raises(AlreadyAnswered, match=f"id {id} has an answer already"):
        study.tell(id, 0, annotator=mine)
    assert [(one.id, one.label) for one in answers_of(study)] == [(id, 1)]
    assert (study.n_labels, study.n_open, study.remaining) == (1, 0, 39)


def test_of_a_batch_that_another_was_faster_in_nothing_is_written(pool: Pool) -> None:
    study, other, journal = two_handles(pool)
    ids = [item.id for item in study.ask(3)]
    journal.rival = lambda: other.tell(ids[1], 1)
    with pytest.raises(AlreadyAnswered, match=f"id {ids[1]} "):
        study.tell(dict.fromkeys(ids, 0))
    assert [(one.id, one.label) for one in answers_of(study)] == [(ids[1], 1)]
    assert study.n_open == 2


def test_a_further_opinion_by_name_is_taken_also_if_it_comes_at_once(pool: Pool) -> None:
    study, other, journal = two_handles(pool)
    id = study.ask(1)[0].id
    journal.rival = lambda: other.tell(id, 1, annotator="ann")
    study.tell(id, 1, annotator="ben")
    assert [one.annotator for one in answers_of(study)] == ["ann", "ben"]
    assert (study.n_labels, study.remaining) == (1, 38)


def test_an_answer_to_another_item_in_between_does_no_harm(pool: Pool) -> None:
    study, other, journal = two_handles(pool)
    a, b = (item.id for item in study.ask(2))
    journal.rival = lambda: other.tell(a, 1)
    study.tell(b, 0)
    assert {one.id: one.label for one in answers_of(study)} == {a: 1, b: 0}


def test_an_item_is_reopened_once(pool: Pool) -> None:
    study, other, journal = two_handles(pool)
    id = study.ask(1)[0].id
    study.tell(id, None)
    journal.rival = lambda: other.reopen(id)
    with pytest.raises(KeyError, match="no answer"):
        study.reopen(id)
    assert study.n_open == 1


def test_a_second_nameless_answer_in_an_old_journal_does_not_count(pool: Pool) -> None:
    journal = MemoryJournal()
    study = sd.create_study(pool, "accuracy", design="uniform", storage=journal, rng=3, budget=40)
    id = study.ask(1)[0].id
    journal.append(study.name, [Answer(id, 1), Answer(id, 0)])
    assert (study.n_labels, study.n_open, study.remaining) == (1, 0, 39)
    assert study.labels()["label"].tolist() == [1]


def answer_all(path: Path, label: int) -> list[int]:
    """Ids that were answered by us, in a process of its own."""
    study = sd.load_study(f"sqlite:///{path}", pool=make_pool(200))
    mine = []
    for item in study.open_items():
        try:
            study.tell(item.id, label)
        except AlreadyAnswered:
            continue
        mine.append(item.id)
    return mine


@forks
def test_processes_that_answer_the_same_items(tmp_path: Path) -> None:
    path, pool = tmp_path / "study.db", make_pool(200)
    study = sd.create_study(pool, "f1", design="uniform", storage=f"sqlite:///{path}", rng=1, budget=150)
    ids = [item.id for item in study.ask(120)]
    zeros, ones = in_processes(lambda: answer_all(path, 0), lambda: answer_all(path, 1))
    assert Counter(zeros + ones) == Counter(ids)  # each was answered by exactly one
    assert {one.id: one.label for one in answers_of(study)} == dict.fromkeys(zeros, 0) | dict.fromkeys(
        ones, 1
    )
    assert (study.n_labels, study.n_open, study.spent, study.remaining) == (120, 0, 120, 30)
    assert zeros
    assert ones  # else they never met


# ---- one study, many threads ---------------------------------------------------------------------


def test_threads_share_a_study(storage: Storage) -> None:
    pool, labels = make_pool(200), make_labels(200)
    study = sd.create_study(pool, "f1", design="sequential", storage=storage(), rng=5, budget=160)
    asked: list[int] = []

    def work() -> None:
        try:
            while True:
                items = [item.id for item in study.ask(2)]
                asked.extend(items)
                study.tell(items[0], labels[items[0]])
                study.tell({id: labels[id] for id in items[1:]})
        except NothingLeft:
            return

    def look() -> None:
        for _ in range(6):
            estimate = study.estimate()
            assert estimate.n_labels <= 160
            assert study.n_labels + study.n_open <= 160
            repr(study)

    in_threads(*[work] * 8, look)
    assert len(asked) == len(set(asked)) == 160
    assert {one.id: one.label for one in answers_of(study)} == {id: labels[id] for id in asked}
    assert [one.number for one in rounds_of(study)] == list(range(len(rounds_of(study))))
    assert (study.n_labels, study.n_open, study.remaining) == (160, 0, 0)
    again = sd.load_study(storage(), study.name, pool)
    assert shown(again.estimate()) == shown(study.estimate())


def test_studies_of_threads_share_a_journal(storage: Storage, pool: Pool, labels: dict[int, int]) -> None:
    journal = storage()
    sd.create_study(pool, "f1", design="stratified", storage=journal, rng=5, budget=60, name="one")
    asked: list[int] = []

    def work() -> None:
        study = sd.load_study(journal, "one", pool)
        for _ in range(5):
            for item in study.ask(2):
                asked.append(item.id)
                study.tell(item.id, labels[item.id])

    in_threads(*[work] * 6)
    assert len(asked) == len(set(asked)) == 60
    assert sd.load_study(journal, "one", pool).n_labels == 60


def test_runs_at_once_do_not_trip_over_each_other(
    storage: Storage, pool: Pool, labels: dict[int, int]
) -> None:
    study = sd.create_study(pool, "f1", design="uniform", storage=storage(), rng=5, budget=60)
    in_threads(*[lambda: study.run(labels, batch=3)] * 4)
    assert (study.n_labels, study.n_open) == (60, 0)


def test_a_reason_can_be_read_while_others_ask(storage: Storage, pool: Pool) -> None:
    study = sd.create_study(pool, "f1", design="stratified", storage=storage(), rng=5)
    items = study.ask(5)
    reasons: list[str] = []
    in_threads(
        lambda: reasons.extend(str(item.reason) for item in items),
        *[lambda: [study.ask(1) for _ in range(5)]] * 3,
    )
    assert all(reasons)
    assert len(reasons) == 5


# ---- forks, and many processes -------------------------------------------------------------------


@forks
def test_a_study_may_be_taken_into_a_fork(tmp_path: Path, pool: Pool) -> None:
    path = tmp_path / "study.db"
    study = sd.create_study(pool, "f1", design="uniform", storage=f"sqlite:///{path}", rng=1)
    before = [item.id for item in study.ask(2)]
    results = in_processes(*[lambda: [study.ask(1)[0].id for _ in range(5)]] * 4)
    after = [item.id for item in study.ask(2)]
    assert len({*before, *after, *(id for one in results for id in one)}) == 24
    assert study.n_open == 24


@forks
@pytest.mark.parametrize("design", ["sequential", "importance", "uniform"])
def test_two_processes_that_ask_at_once_never_draw_the_same_item(design: str, tmp_path: Path) -> None:
    storage, pool = f"sqlite:///{tmp_path / 'study.db'}", make_pool(200)
    sd.create_study(pool, "f1", design=design, storage=storage, rng=31).journal.close()

    def work() -> list[int]:
        study = sd.load_study(storage, pool=make_pool(200))
        return [item.id for _ in range(40) for item in study.ask(1)]

    results = in_processes(work, work)
    assert [len(one) for one in results] == [40, 40]
    assert len({*results[0], *results[1]}) == 80
    after = sd.load_study(storage, pool=pool)
    assert [one.number for one in rounds_of(after)] == list(range(80))
    assert {item.id for item in after.open_items()} == {*results[0], *results[1]}
    # Draws follow from the order of events alone: one process would have drawn the same.
    alone = sd.create_study(pool, "f1", design=design, rng=31)
    assert [item.id for _ in range(80) for item in alone.ask(1)] == [item.id for item in after.open_items()]
    after.journal.close()


@forks
@pytest.mark.parametrize("design", ["auto", "ais"])
def test_processes_that_ask_and_tell_at_once_make_one_study(design: str, tmp_path: Path) -> None:
    path, pool, labels = tmp_path / "study.db", make_pool(200), make_labels(200)
    made = sd.create_study(pool, "f1", design=design, storage=f"sqlite:///{path}", rng=1, budget=80)
    made.journal.close()

    def work() -> list[int]:
        study = sd.load_study(f"sqlite:///{path}", pool=pool)
        asked = []
        while study.remaining:
            try:
                items = study.ask(2)
            except NothingLeft:
                break
            for item in items:
                study.tell(item.id, labels[item.id])
                asked.append(item.id)
        return asked

    results = in_processes(*[work] * 8)
    asked = [id for one in results for id in one]
    assert len(asked) == len(set(asked)) == 80
    study = sd.load_study(f"sqlite:///{path}", pool=pool)
    assert (study.n_labels, study.n_open, study.remaining) == (80, 0, 0)


# ---- names ---------------------------------------------------------------------------------------


def test_studies_without_a_name_may_be_made_at_once(tmp_path: Path, pool: Pool) -> None:
    names: list[str] = []
    shared = sd.journal.open_journal(f"sqlite:///{tmp_path / 'studies.db'}")

    def make(storage: str | Journal) -> Callable[[], None]:
        return lambda: names.append(sd.create_study(pool, "f1", design="uniform", storage=storage).name)

    url = f"sqlite:///{tmp_path / 'studies.db'}"
    in_threads(*(make(shared if k % 2 else url) for k in range(40)))
    assert sorted(names) == sorted(f"study-{k}" for k in range(1, 41))
    assert shared.names() == [f"study-{k}" for k in range(1, 41)]


def test_a_name_that_is_taken_in_between_is_passed_over(pool: Pool) -> None:
    class Late(MemoryJournal):
        """Does not show the newest study, as one does that another process is making."""

        def names(self) -> list[str]:
            return super().names()[: self.shown]

        shown = 0

        def create(self, name: str, config: dict[str, Any]) -> None:
            try:
                super().create(name, config)
            except NameTaken:
                self.shown += 1
                raise

    journal = Late()
    made = [sd.create_study(pool, "f1", design="uniform", storage=journal).name for _ in range(3)]
    assert made == ["study-1", "study-2", "study-3"]


def test_a_name_that_was_asked_for_and_is_taken_is_refused(storage: Storage, pool: Pool) -> None:
    journal, failures = storage(), []

    def make() -> None:
        try:
            sd.create_study(pool, "f1", design="uniform", storage=journal, name="mine")
        except NameTaken as error:
            failures.append(error)

    in_threads(*[make] * 6)
    assert len(failures) == 5
    assert journal.names() == ["mine"]
