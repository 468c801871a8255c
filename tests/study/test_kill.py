"""Killed at any moment, a study loses nothing and goes on as if nothing had happened.

A child process loops over ask and tell on a SQLite file, and says over a pipe what ``ask`` and ``tell``
have returned. It is killed with SIGKILL at a random moment, some 100 times in all, and started again
each time; children are forked from this process, which has imported everything, so that a life is short.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import time
import traceback
from pathlib import Path

import pytest
from tests.study.example import make_labels, make_pool, shown

import sondage as sd
from sondage.journal import Answer, Round, SqliteJournal
from sondage.pool import Pool

KILLS = 34  # for each of the three designs: 102 in all
SIZE = 200
BUDGET = 180
BATCH = 3


def say(pipe: int, *words: object) -> None:
    """One line straight into the pipe: it outlives this process."""
    os.write(pipe, (" ".join(map(str, words)) + "\n").encode())


def work(path: str, pool: Pool, labels: dict[int, int], early: bool, pipe: int) -> None:
    """A life: answer what was left open, then ask and tell to the end of the budget.

    It says that it is ready once the study is loaded or, if ``early``, before.
    """
    try:
        if early:
            say(pipe, "ready")
        study = sd.load_study(f"sqlite:///{path}", pool=pool)
        if not early:
            say(pipe, "ready")
        items = [item.id for item in study.open_items()]
        while True:
            for id in items:
                study.tell(id, labels[id])
                say(pipe, "told", id)
            if not study.remaining:
                break
            items = [item.id for item in study.ask(BATCH)]
            say(pipe, "asked", *items)
        say(pipe, "done")
    except BaseException:
        say(pipe, "failed", traceback.format_exc().replace("\n", " | "))
    finally:
        os._exit(0)


def one_life(
    path: Path, pool: Pool, labels: dict[int, int], chance: random.Random, slowness: float
) -> list[list[str]]:
    """Start a child, kill it some time after it is ready, and return what it had said."""
    seconds, early = slowness * chance.uniform(0.005, 0.060), chance.random() < 0.2
    read_end, write_end = os.pipe()
    context = multiprocessing.get_context("fork")
    child = context.Process(target=work, args=(str(path), pool, labels, early, write_end))
    child.start()
    os.close(write_end)
    with os.fdopen(read_end) as said:
        lines = [said.readline()]
        time.sleep(seconds)
        assert child.pid is not None
        os.kill(child.pid, signal.SIGKILL)
        child.join()
        lines += said.readlines()
    return [line.split() for line in lines]


def written(path: Path) -> tuple[list[Round], list[Answer]]:
    """Rounds and answers in the file now."""
    journal = SqliteJournal(path)
    records = [record for _, record in journal.events("study")]
    journal.close()
    return (
        [record for record in records if isinstance(record, Round)],
        [record for record in records if isinstance(record, Answer)],
    )


def new_items(rounds: list[Round]) -> list[int]:
    return [int(id) for one in rounds for id, new in zip(one.id, one.new, strict=True) if new]


def uninterrupted(pool: Pool, labels: dict[int, int], design: str, seed: int) -> sd.Study:
    study = sd.create_study(pool, "f1", design=design, budget=BUDGET, rng=seed, name="study")
    while study.remaining:
        for item in study.ask(BATCH):
            study.tell(item.id, labels[item.id])
    return study


def lives_of_a_study(
    path: Path, pool: Pool, labels: dict[int, int], design: str, seed: int, chance: random.Random
) -> int:
    """Kill and restart until the budget is spent; check everything; the number of kills at work."""
    made = sd.create_study(
        pool,
        "f1",
        design=design,
        budget=BUDGET,
        rng=seed,
        storage=f"sqlite:///{path}",
        name="study",
    )
    made.journal.close()  # a connection must not be taken into a fork
    kills, done, slowness = 0, False, 1.0
    asked: set[int] = set()
    told: set[int] = set()
    while not done:
        said = one_life(path, pool, labels, chance, slowness)
        assert said[0] == ["ready"]
        failures = [line for line in said if line[0] == "failed"]
        assert not failures, failures
        asked |= {int(id) for line in said if line[0] == "asked" for id in line[1:]}
        told |= {int(line[1]) for line in said if line[0] == "told"}
        # On a busy machine a life may be too short to do anything: then the next may be longer.
        slowness = 1.0 if len(said) > 1 else 2.0 * slowness
        done = said[-1] == ["done"]
        kills += not done
        rounds, answers = written(path)
        items = new_items(rounds)
        assert asked <= set(items)  # every ask that returned is there
        assert told <= {answer.id for answer in answers}  # and every tell
        assert len(set(items)) == len(items) <= BUDGET  # nothing is asked twice
        assert len({answer.id for answer in answers}) == len(answers)  # or answered twice
        assert [one.number for one in rounds] == list(range(len(rounds)))

    study = sd.load_study(f"sqlite:///{path}", pool=pool)
    whole = uninterrupted(pool, labels, design, seed)
    rounds, answers = written(path)
    expected = [r for _, r in whole.journal.events("study") if isinstance(r, Round)]
    assert rounds == expected  # ids, chances, order, and the events that each round had seen
    assert {answer.id: answer.label for answer in answers} == {id: labels[id] for id in new_items(rounds)}
    assert (study.n_labels, study.n_open, study.spent, study.remaining) == (BUDGET, 0, BUDGET, 0)
    assert shown(study.estimate()) == shown(whole.estimate())
    study.journal.close()
    return kills


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="children are forked")
@pytest.mark.parametrize("design", ["importance", "sequential", "stratified"])
def test_killed_at_random_moments_nothing_is_lost_or_counted_twice(design: str, tmp_path: Path) -> None:
    chance = random.Random(f"{design} 20260101")
    pool, labels = make_pool(SIZE), make_labels(SIZE)
    kills = number = 0
    while kills < KILLS:
        path = tmp_path / f"{number}.db"
        more = lives_of_a_study(path, pool, labels, design, 100 + number, chance)
        assert more  # a study that is never killed would prove nothing, for ever
        kills, number = kills + more, number + 1
