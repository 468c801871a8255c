"""Why an item is asked: the numbers in the words are those of the belief when it was asked."""

from __future__ import annotations

import pickle
import re
from typing import Any

import numpy as np
import pytest

import sondage as sd
from sondage.beliefs import ErrorCurve
from sondage.beliefs.error_curve.state import CurveState
from sondage.designs import ErrorCurveDesign
from sondage.designs.error_curve.reasons import percent, tells_of
from sondage.errors import NothingLeft
from sondage.pool import Pool
from sondage.study import Study


@pytest.fixture
def made() -> tuple[Pool, dict[Any, int]]:
    return sd.datasets.synthetic_pool(n=3000, prevalence=0.1, rng=0)


def words(problem: Any, unit: int) -> str:
    return ErrorCurveDesign().reason(problem, unit)


def test_the_numbers_are_those_of_the_belief(made: Any) -> None:
    pool, labels = made
    study = sd.create_study(pool, "f1", rng=1)
    study.run(labels, budget=100)
    items = study.ask(25)
    state = study.snapshot().states[-1]
    assert isinstance(state, CurveState)
    assert isinstance(study.belief, ErrorCurve)
    assert state.ranks is not None
    for item in items:
        unit = int(study.units.codes[pool.row_of(item.id)])
        found = re.match(
            r"predicted (\d), rank ([\d,]+)(?: to ([\d,]+))? from the boundary, where (?:about )?(.+) of the "
            r"predictions are probably wrong; (.+); "
            r"(?:taken at random from ([\d,]+) items like it|the last item of its kind)$",
            item.reason,
        )
        assert found, item.reason
        predicted, first, last, rate, _, left = found.groups()
        assert int(predicted) == state.ranks.expects[unit]
        assert int(first.replace(",", "")) == state.ranks.first[unit]
        assert int((last or first).replace(",", "")) == state.ranks.last[unit]
        assert rate == percent(float(state.rate(state.strength_of_curve)[unit]))
        assert left is None or int(left.replace(",", "")) <= study.units.size[unit]


def test_reasons_are_those_of_the_time_of_asking_whenever_they_are_read(made: Any) -> None:
    """Read at once, after the labels, after further rounds, or in a study taken up again."""
    pool, labels = made

    def asked(read_at_once: bool) -> tuple[Study, list[str]]:
        study = sd.create_study(pool, "f1", rng=1)
        study.run(labels, budget=50)
        items = study.ask(10)
        early = [item.reason for item in items] if read_at_once else []
        study.tell({item.id: labels[item.id] for item in items[:5]})
        study.run(labels, budget=30)
        return study, early or [item.reason for item in items]

    _, early = asked(True)
    assert asked(False)[1] == early
    assert len(set(early)) > 3


def test_open_items_of_a_study_taken_up_again_have_the_same_reasons(made: Any) -> None:
    pool, labels = made
    journal = sd.journal.MemoryJournal()
    study = sd.create_study(pool, "f1", rng=1, storage=journal, name="one")
    study.run(labels, budget=50)
    reasons = {item.id: item.reason for item in study.ask(10)}
    again = sd.load_study(journal, "one", pool)
    assert {item.id: item.reason for item in again.open_items()} == reasons


def test_a_reason_is_made_when_it_is_read_and_goes_with_a_pickled_item(
    made: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = sd.create_study(made[0], "f1", rng=1)
    calls: list[int] = []

    def counted(self: Any, problem: Any, unit: int) -> str:
        calls.append(unit)
        return "because"

    monkeypatch.setattr(ErrorCurveDesign, "reason", counted)
    items = study.ask(5)
    assert not calls
    assert items[0].reason.startswith("because; ")
    assert items[0].reason
    assert len(calls) == 1
    copy = pickle.loads(pickle.dumps(items[1]))
    assert copy == items[1]
    assert copy.reason == items[1].reason


def test_predicted_positives_tell_of_precision_and_predicted_negatives_of_recall(made: Any) -> None:
    pool, labels = made
    study = sd.create_study(pool, "f1", rng=1)
    study.run(labels, budget=200)
    problem = study.problem()
    assert isinstance(problem.state, CurveState)
    assert problem.state.ranks is not None
    about = np.array([one or "" for one in tells_of(ErrorCurveDesign(), problem)])
    assert set(about[problem.state.ranks.expects == 1]) <= {"precision", ""}
    assert set(about[problem.state.ranks.expects == 0]) <= {"recall", ""}
    assert (about != "").any()


def test_one_measure_alone_and_several_at_once(made: Any) -> None:
    for measure, said in (("accuracy", "accuracy"), (["accuracy", "recall"], "several measures")):
        study = sd.create_study(made[0], measure, rng=1)
        study.run(made[1], budget=600, batch=200)
        about = tells_of(ErrorCurveDesign(), study.problem())
        assert {one for one in about if one} == {said}


def test_a_class_that_cannot_matter_is_asked_whatever_is_thought(made: Any) -> None:
    study = sd.create_study(made[0], "precision", rng=1)
    problem = study.problem()
    assert isinstance(problem.state, CurveState)
    assert problem.state.ranks is not None
    unit = int(np.flatnonzero(problem.state.ranks.expects == 0)[-1])
    assert "some labels go everywhere, in case errors hide where none is expected" in words(problem, unit)


def test_other_kinds_of_pool() -> None:
    pool = Pool.from_arrays(prediction=[0, 1] * 9)
    plain = sd.create_study(pool, "accuracy", design="error-curve", rng=1)
    assert words(plain.problem(), 0).startswith("predicted 0, where about 50 % of")
    probability = np.random.default_rng(0).dirichlet(np.ones(3), 60)
    three = sd.create_study(Pool.from_arrays(probability=probability, labels=list("xyz")), "accuracy", rng=1)
    assert re.match(r"predicted [xyz], rank \d+.* by doubt, where", words(three.problem(), 0))
    score = np.linspace(-1, 1, 40)
    systems = {name: {"score": score, "threshold": cut} for name, cut in (("a", 0.0), ("b", 0.5))}
    two = sd.create_study(
        Pool.from_arrays(systems=systems), sd.measures.Difference("accuracy", "a", "b"), rng=1
    )
    said = [words(two.problem(), unit) for unit in range(two.units.count)]
    assert any("predicted 1 by a, predicted 0 by b" in one and "predictions of a are" in one for one in said)


def test_a_pool_that_is_asked_to_the_end_has_a_reason_for_all() -> None:
    study = sd.create_study(Pool.from_arrays(score=np.linspace(-1, 1, 30), threshold=0.0), "f1", rng=1)
    for _ in range(10):
        for item in study.ask(3):
            assert "probably wrong" in item.reason
            study.tell(item.id, 1)
    with pytest.raises(NothingLeft):
        study.ask(1)


def test_a_class_without_an_order_has_no_ranks_to_speak_of() -> None:
    random = np.random.default_rng(0)
    prediction = (random.random(2000) < 0.2).astype(int)
    score = np.where(prediction == 1, 1.0, -random.random(2000))
    study = sd.create_study(Pool.from_arrays(score=score, prediction=prediction), "f1", rng=1)
    reasons = [item.reason for item in study.ask(60)]
    assert {"rank" in one for one in reasons if one.startswith("predicted 1")} == {False}
    assert {"rank" in one for one in reasons if one.startswith("predicted 0")} == {True}
    assert "\n  1 " in str(study.explain())  # in the table of bands
