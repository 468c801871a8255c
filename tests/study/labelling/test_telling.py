"""Items leased to one annotator: nobody else is given them until they answer, release them or time is up."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sondage as sd
from sondage.errors import AlreadyAnswered, InvalidInput, UnknownItem
from sondage.study import Study


class Clock:
    """A clock that stands still until it is set."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def pool() -> sd.Pool:
    return sd.datasets.synthetic_pool(n=300, prevalence=0.2, rng=0)[0]


@pytest.fixture
def study(pool: sd.Pool, clock: Clock) -> Study:
    study = sd.create_study(pool, "f1", rng=3)
    study.clock = clock
    return study


def ids(items: Any) -> list[Any]:
    return [item.id for item in items]


def test_nobody_is_given_what_somebody_holds(study: Study) -> None:
    held = ids(study.ask(4, annotator="ann"))
    assert not set(held) & set(ids(study.ask(4, annotator="ben")))
    assert ids(study.take_open(9, annotator="cyd")) == []
    assert set(held) <= set(ids(study.open_items()))


def test_what_is_not_answered_in_time_can_be_taken_by_another_and_is_theirs_then(
    study: Study, clock: Clock
) -> None:
    held = ids(study.ask(4, annotator="ann", lease=60.0))
    study.tell(held[0], 1, annotator="ann")
    clock.now += 59.9
    assert ids(study.take_open(9, annotator="ben")) == []
    clock.now += 0.1
    taken = ids(study.take_open(2, annotator="ben"))
    assert taken == [id for id in held if id != held[0]][:2]
    assert len(study.take_open(9, annotator="cyd")) == 1
    assert ids(study.take_open(9, annotator="ann")) == []


def test_the_answer_of_somebody_else_is_an_opinion_that_waits_for_the_holder(study: Study) -> None:
    (item,) = study.ask(1, annotator="ann")
    study.tell(item.id, 1, annotator="ben")
    assert (study.n_labels, study.n_open, study.remaining) == (0, 1, study.remaining)
    with pytest.raises(AlreadyAnswered):
        study.tell(item.id, 0, annotator="ben")
    study.tell(item.id, 1, annotator="ann")
    assert (study.n_labels, study.n_open) == (1, 0)
    assert study.spent == 2  # the further opinion counts


def test_a_holder_who_disagrees_with_an_opinion_makes_a_tie(study: Study) -> None:
    (item,) = study.ask(1, annotator="ann")
    study.tell(item.id, 1, annotator="ben")
    study.tell(item.id, 0, annotator="ann")
    assert study.n_open == 1
    assert ids(study.take_open(5, annotator="ann")) == ids(study.take_open(5, annotator="ben")) == []
    (again,) = study.take_open(5, annotator="cyd")
    study.tell(again.id, 1, annotator="cyd")
    assert (study.n_open, study.labels()["label"][0]) == (0, 1)


def test_opinions_count_once_the_time_of_the_holder_is_over(study: Study, clock: Clock) -> None:
    (item,) = study.ask(1, annotator="ann", lease=10.0)
    study.tell(item.id, 1, annotator="ben")
    clock.now += 10
    assert study.n_open == 1  # time alone changes no record
    study.tell(item.id, 1, annotator="cyd")
    assert (study.n_labels, study.n_open) == (1, 0)


def test_what_is_released_is_free_and_opinions_on_it_count(study: Study) -> None:
    held = ids(study.ask(3, annotator="ann"))
    study.tell(held[1], 0, annotator="ben")
    study.release(held[1], annotator="ann")
    assert (study.n_labels, study.n_open) == (1, 2)
    with pytest.raises(UnknownItem, match=f"id {held[1]} is not held by 'ann'"):
        study.release(held[1], annotator="ann")
    study.release(annotator="ann")
    study.release(annotator="ann")  # nothing is held any more, and nothing happens
    assert ids(study.take_open(9, annotator="ben")) == [held[0], held[2]]


def test_the_adjudicator_settles_what_anybody_holds(study: Study) -> None:
    (item,) = study.ask(1, annotator="ann")
    study.tell(item.id, 1, annotator="adjudicator")
    assert (study.n_labels, study.n_open) == (1, 0)


def test_whoever_has_no_name_answers_for_the_holder(study: Study) -> None:
    (item,) = study.ask(1, annotator="ann")
    study.tell(item.id, 1)
    assert (study.n_labels, study.n_open) == (1, 0)


def test_without_annotators_nothing_is_held(study: Study) -> None:
    asked = ids(study.ask(3))
    assert study.snapshot().leases == {}
    assert sorted(ids(study.take_open(9, annotator="ann"))) == sorted(asked)


def test_a_run_leaves_alone_what_somebody_holds(study: Study, pool: sd.Pool, clock: Clock) -> None:
    labels = dict.fromkeys(pool.ids_of(range(len(pool))), 0)
    held = ids(study.ask(3, annotator="ann", lease=60.0))
    study.run(labels, budget=5)
    assert sorted(ids(study.open_items())) == sorted(held)
    clock.now += 60
    study.run(labels, budget=5)
    assert study.n_open == 0


def test_leases_change_no_draw_and_survive_a_reload(pool: sd.Pool, clock: Clock, tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path / 'leases.db'}"
    study, plain = (sd.create_study(pool, "f1", rng=3, storage=one) for one in (storage, None))
    study.clock = clock
    held, same = ids(study.ask(4, annotator="ann", lease=60.0)), ids(plain.ask(4))
    assert held == same
    study.tell(held[0], 1, annotator="ben")
    again = sd.load_study(storage, pool=pool)
    again.clock = clock
    assert again.snapshot().leases == study.snapshot().leases
    assert (again.n_labels, again.n_open) == (0, 4)
    assert ids(again.take_open(9, annotator="cyd")) == []
    clock.now += 60
    assert ids(again.take_open(9, annotator="cyd")) == held
    assert ids(study.take_open(9, annotator="dan")) == []


def test_every_draw_of_a_stochastic_oracle_has_a_holder_of_its_own(clock: Clock) -> None:
    pool = sd.Pool.from_arrays(score=[0.2, 0.8], threshold=0.5)
    study = sd.create_study(pool, "accuracy", design="importance", oracle="stochastic", rng=0)
    study.clock = clock
    first, second = study.ask(4, annotator="ann"), study.ask(4, annotator="ben")
    both = next(id for id in ids(second) if id in ids(first))
    before = study.n_labels
    study.tell(both, 1, annotator="ben")
    assert study.n_labels == before + 1
    assert {lease.annotator for lease in study.snapshot().leases.values()} == {"ann", "ben"}
    assert len(study.snapshot().leases) == 7


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda study: study.ask(1, annotator=""), "annotator= takes a name, not ''"),
        (lambda study: study.ask(1, annotator=5), "annotator= takes a name, not 5"),
        (lambda study: study.ask(1, annotator="ann", lease=0), "lease= takes a number of seconds above 0"),
        (lambda study: study.take_open(0, annotator="ann"), "take_open(n) takes a whole number above 0"),
        (lambda study: study.take_open(1, annotator=None), "take_open(annotator=) needs a name"),
    ],
)
def test_bad_arguments_are_named_and_nothing_is_asked(study: Study, call: Any, message: str) -> None:
    with pytest.raises(InvalidInput) as error:
        call(study)
    assert message in str(error.value)
    assert study.n_open == 0


@pytest.mark.parametrize(
    "name", [("a", 1), 3, True, "", ["a"], np.int64(3), np.nan, date(2026, 1, 1), b"ann"]
)
def test_an_annotator_that_is_no_name_is_refused_before_anything_is_written(
    pool: sd.Pool, tmp_path: Path, name: Any
) -> None:
    where = f"sqlite:///{tmp_path / 'study.db'}"
    study = sd.create_study(pool, "f1", storage=where, rng=3)
    id = study.ask(1)[0].id
    for call in (
        lambda: study.ask(1, annotator=name),
        lambda: study.tell(id, 1, annotator=name),
        lambda: study.tell({}, annotator=name),
        lambda: study.release(annotator=name),
        lambda: study.release(id, annotator=name),
        lambda: study.take_open(1, annotator=name),
    ):
        with pytest.raises(InvalidInput, match=r"annotator= takes a name, not .*: pass text"):
            call()
    again = sd.load_study(where, pool=pool)
    assert (again.n_labels, ids(again.open_items())) == (0, [id])


def test_to_release_the_items_of_nobody_is_refused(study: Study) -> None:
    study.ask(1, annotator="ann")
    with pytest.raises(InvalidInput, match="annotator= takes a name, not None"):
        study.release(annotator=None)  # type: ignore[arg-type]


def test_who_has_answered_is_told_to_name_another_annotator(study: Study) -> None:
    (item,) = study.ask(1)
    study.tell(item.id, 1, annotator="ann")
    with pytest.raises(AlreadyAnswered, match="or another annotator= for a second opinion"):
        study.tell(item.id, 1, annotator="ann")
