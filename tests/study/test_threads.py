"""Eight threads that ask, tell and estimate at once lose nothing, double nothing and raise nothing."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sondage as sd
from sondage.errors import NothingLeft
from sondage.journal import Answer, Round
from sondage.study import Study

THREADS = 8


def at_once(work: Callable[[int], None]) -> None:
    """Run the work of every thread; what one of them raises is raised."""
    failures: list[BaseException] = []

    def guarded(who: int) -> None:
        try:
            work(who)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(who,)) for who in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def busy(handles: list[Study], labels: Any, seconds: float) -> list[list[Any]]:
    """Each thread asks, tells, looks, and now and then leaves an item to others; what each has told."""
    told: list[list[Any]] = [[] for _ in range(THREADS)]
    until = time.monotonic() + seconds

    def work(who: int) -> None:
        study, name, step = handles[who % len(handles)], f"annotator {who}", 0
        while time.monotonic() < until:
            step += 1
            try:
                items = study.ask(1 + who % 3, annotator=name)
            except NothingLeft:
                return
            for item in items[1:] if step % 5 == 0 else items:
                study.tell(item.id, int(labels[item.id]), annotator=name)
                told[who].append(item.id)
            if step % 5 == 0:
                study.release(annotator=name)
            if step % 7 == 0:
                for item in study.take_open(2, annotator=name):
                    study.tell(item.id, int(labels[item.id]), annotator=name)
                    told[who].append(item.id)
            if step % 4 == who % 4:
                now = study.snapshot()
                estimate = now.estimate()
                assert estimate.n_labels == now.n_labels
                assert now.asked == now.n_labels + now.n_open

    at_once(work)
    return told


def check(study: Study, told: list[list[Any]], pool: sd.Pool) -> None:
    """The journal has what the threads told, each item asked once and answered once."""
    records = [record for _, record in study.journal.events(study.name)]
    asked = Counter(id for one in records if isinstance(one, Round) for id in one.id)
    answered = Counter(one.id for one in records if isinstance(one, Answer))
    assert set(asked.values()) == {1}
    assert answered == Counter(id for mine in told for id in mine)
    assert set(answered.values()) == {1}
    assert study.n_labels == len(answered)
    assert study.n_open == len(asked) - len(answered)
    rounds = [one.number for one in records if isinstance(one, Round)]
    assert rounds == list(range(len(rounds)))
    # One thread alone, reading the same journal, comes to the same.
    again = sd.load_study(study.journal, study.name, pool)
    assert again.estimate() == study.estimate()


@pytest.mark.parametrize("seconds", [1.0, pytest.param(60.0, marks=pytest.mark.slow)])
@pytest.mark.parametrize("where", ["memory", "one connection", "a connection each"])
@pytest.mark.parametrize("design", ["auto", "poisson"])
def test_eight_threads_at_once(design: str, where: str, seconds: float, tmp_path: Path) -> None:
    pool, labels = sd.datasets.synthetic_pool(n=50_000, prevalence=0.05, rng=0)
    storage = None if where == "memory" else f"sqlite:///{tmp_path / 'threads.db'}"
    study = sd.create_study(pool, "f1", design=design, storage=storage, rng=5)
    handles = [study]
    if where == "a connection each":
        handles = [sd.load_study(str(storage), pool=pool) for _ in range(THREADS)]
    told = busy(handles, labels, seconds)
    assert all(told), "every thread had its turn"
    check(study, told, pool)


def test_a_snapshot_stays_as_it_is() -> None:
    pool, labels = sd.datasets.synthetic_pool(n=2_000, prevalence=0.1, rng=0)
    study = sd.create_study(pool, "f1", rng=1)
    study.run(labels, budget=60)
    then, before = study.snapshot(), study.estimate()
    status, sample = then.status.copy(), then.sample
    (item, *_) = study.ask(5)
    study.tell(item.id, 1)
    study.tell({pool.id_of(int(then.asked_rows[0])): 1 - int(then.asked_labels[0])}, replace=True)
    assert then.estimate() == before
    assert then.sample is sample
    np.testing.assert_array_equal(then.status, status)
    assert study.snapshot() is not then
    assert study.estimate() != before
    for array in (then.status, then.asked_labels, then.asked_rows, sample.p):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


class Counting(sd.journal.MemoryJournal):
    """A journal that counts how often it is read."""

    reads = 0

    def events(self, name: str, after: int = 0) -> Any:
        self.reads += 1
        return super().events(name, after)


def test_one_call_reads_the_journal_once() -> None:
    pool, labels = sd.datasets.synthetic_pool(n=2_000, prevalence=0.1, rng=0)
    journal = Counting()
    study = sd.create_study(pool, "f1", storage=journal, rng=1, budget=200)
    study.run(labels, budget=60)
    (item,) = study.ask(1)
    calls: dict[str, Callable[[], object]] = {
        "ask": study.ask,
        "tell": lambda: study.tell(item.id, 1),
        "estimate": study.estimate,
        "estimate of another": lambda: study.estimate("precision"),
        "labels": study.labels,
        "belief_report": study.belief_report,
        "explain": study.explain,
        "plan": lambda: study.plan(width=0.3, draws=9),
        "open_items": study.open_items,
        "should_stop": lambda: study.should_stop(sd.Width(0.01)),
        "repr": lambda: repr(study),
        "html": study._repr_html_,
    }
    reads = {}
    for name, call in calls.items():
        journal.reads = 0
        call()
        reads[name] = journal.reads
    # A stop rule looks, and writes that down; who answered when is read for the labels alone.
    assert reads == {name: 2 if name in ("should_stop", "labels") else 1 for name in calls}


def test_the_belief_is_fitted_once_per_state(monkeypatch: pytest.MonkeyPatch) -> None:
    pool, labels = sd.datasets.synthetic_pool(n=2_000, prevalence=0.1, rng=0)
    study = sd.create_study(pool, "f1", rng=1)
    study.run(labels, budget=60)
    kind, fits = type(study.belief), []
    fitted = kind._fitted  # type: ignore[attr-defined]

    def counted(self: Any, state: Any, n: Any, *rest: Any) -> Any:
        fits.append(int(n.sum()))
        return fitted(self, state, n, *rest)

    monkeypatch.setattr(kind, "_fitted", counted)
    for _ in range(3):
        (item,) = study.ask(1)
        study.tell(item.id, labels[item.id])
        study.estimate()
        study.estimate("recall")
        study.problem()
    assert fits == [61, 62, 63]
