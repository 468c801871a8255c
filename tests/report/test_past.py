"""The history of a study: exactly what it said at the time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sondage as sd
from sondage.errors import InvalidInput, NotSupported
from sondage.report import history
from sondage.report.past import _Past

DESIGNS = ["auto", "uniform", "importance", "poisson", "sequential", "ais", "oasis"]


@pytest.fixture(scope="module")
def source() -> Any:
    return sd.datasets.synthetic_pool(n=600, prevalence=0.25, groups=2, rng=0)


def said(estimate: sd.Estimate) -> dict[str, Any]:
    return estimate.to_dict()


@pytest.mark.parametrize("design", DESIGNS)
def test_each_estimate_is_the_one_of_that_moment(design: str, source: Any) -> None:
    pool, labels = source
    study = sd.create_study(pool, "f1", design=design, rng=3)
    live = {}
    for _ in range(10):
        items = study.ask(8)
        study.tell({item.id: labels[item.id] for item in items})
        live[study.n_labels] = said(study.estimate())
    found = history(study)
    assert len(found) == 10
    assert {one.n_labels: said(one) for one in found} == live


def test_corrections_come_when_they_came(source: Any) -> None:
    pool, labels = source
    study = sd.create_study(pool, "accuracy", design="uniform", rng=1)
    live = []
    first = None
    for k in range(9):
        items = study.ask(5)
        study.tell({item.id: labels[item.id] for item in items})
        first = first or items[0].id
        if k == 5:
            study.tell(first, 1 - labels[first], replace=True)
        live.append(said(study.estimate()))
    assert [said(one) for one in history(study)] == live


def test_open_and_refused_items_are_those_of_then(source: Any) -> None:
    pool, labels = source
    study = sd.create_study(pool, "accuracy", design="uniform", rng=1)
    items = [*study.ask(10)]
    for item in items[:6]:
        study.tell(item.id, labels[item.id])
    study.tell(items[6].id, None)
    found = history(study)
    assert [(one.n_labels, one.n_open, one.n_refused) for one in found] == [
        *((k, 10 - k, 0) for k in range(1, 7)),
        (6, 3, 1),
    ]


def test_few_rounds_are_looked_into_and_many_are_not(source: Any) -> None:
    pool, labels = source
    counts = []
    for batch in (100, 10):
        study = sd.create_study(pool, "accuracy", design="uniform", rng=1)
        study.run(labels, budget=100, batch=batch)
        counts.append([one.n_labels for one in history(study, points=10)])
    assert counts == [list(range(10, 101, 10))] * 2


@pytest.mark.parametrize("points", [1, 3, 7, 40])
def test_at_most_so_many_points_and_always_the_last(points: int, source: Any) -> None:
    pool, labels = source
    study = sd.create_study(pool, "accuracy", design="uniform", rng=1)
    study.run(labels, budget=90, batch=10)
    found = history(study, points=points)
    assert len(found) == min(points, 9)
    assert said(found[-1]) == said(study.estimate())
    assert (np.diff([one.n_labels for one in found]) > 0).all()


def test_other_questions_and_systems_that_came_later(source: Any) -> None:
    pool, labels = source
    study = sd.create_study(pool, "f1", rng=1)
    study.run(labels, budget=100, batch=10)
    study.add_system("newer", {"id": pool.ids, "score": -pool.system().score}, id="id", threshold=0.0)
    last = history(study, "recall", points=2, by="group", system="newer", confidence_level=0.8)[-1]
    wanted = study.estimate("recall", by="group", system="newer", confidence_level=0.8)
    assert said(last) == said(wanted)


def test_a_study_in_a_file_and_one_loaded_again(source: Any, tmp_path: Path) -> None:
    pool, labels = source
    storage = f"sqlite:///{tmp_path / 'study.db'}"
    sd.create_study(pool, "f1", design="ais", rng=8, storage=storage, name="other").run(labels, budget=20)
    study = sd.create_study(pool, "f1", design="ais", rng=1, storage=storage, name="mine")
    study.run(labels, budget=60, batch=6)
    found = [said(one) for one in history(study)]
    again = sd.load_study(storage, "mine", pool)
    assert [said(one) for one in history(again)] == found


def test_the_study_is_left_as_it_was(source: Any) -> None:
    pool, labels = source
    study = sd.create_study(pool, "f1", rng=1)
    study.run(labels, budget=50)
    before = (study.journal.events(study.name), said(study.estimate()))
    history(study)
    assert (study.journal.events(study.name), said(study.estimate())) == before
    assert [item.id for item in study.ask(3)]


def test_nothing_told_is_no_history(source: Any) -> None:
    study = sd.create_study(source[0], "f1", rng=1)
    assert history(study) == []
    study.ask(5)
    assert history(study) == []


def test_moments_without_a_label_are_left_out(source: Any) -> None:
    study = sd.create_study(source[0], "accuracy", design="uniform", rng=1)
    first, second, third = study.ask(3)
    study.tell(first.id, None)
    study.tell(second.id, 1)
    study.tell(third.id, 0)
    assert [(one.n_labels, one.n_refused) for one in history(study)] == [(1, 1), (2, 1)]


def test_the_past_cannot_be_written_to(source: Any) -> None:
    study = sd.create_study(source[0], "f1", rng=1)
    past = _Past(study.journal, study.name, [])
    assert past.names() == [study.name]
    assert past.config(study.name) == study.journal.config(study.name)
    for write in (
        lambda: past.create("x", {}),
        lambda: past.append("x", []),
        lambda: past.put_table("x", "y", np.zeros(1)),
    ):
        with pytest.raises(NotSupported, match="past"):
            write()
    past.close()


@pytest.mark.parametrize("points", [0, -1, 1.5, True, None])
def test_points_that_are_none_are_refused(points: Any, source: Any) -> None:
    study = sd.create_study(source[0], "f1", rng=1)
    with pytest.raises(InvalidInput, match="points="):
        history(study, points=points)


def test_what_is_no_study_is_refused() -> None:
    with pytest.raises(InvalidInput, match="study= takes a Study, not int"):
        history(3)  # type: ignore[arg-type]
