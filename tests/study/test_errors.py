"""Bad calls: the message names the fault and the way out, and the study is as it was before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from tests.study.example import DESIGNS, SIZE, advance, make_pool, next_draw, shown

import sondage as sd
from sondage.designs.base import Design, Problem
from sondage.errors import (
    AlreadyAnswered,
    InvalidInput,
    NothingLeft,
    NotSupported,
    PoolMismatch,
    SondageError,
    UnknownItem,
)
from sondage.journal import MemoryJournal
from sondage.pool import Pool
from sondage.sampling import Table

FIRST = 40
"""Items asked before the bad call; the last three are left open."""


def begun(pool: Pool, labels: dict[int, int], design: str = "stratified") -> sd.Study:
    study = sd.create_study(pool, "f1", design=design, budget=70, rng=6)
    items = [item.id for item in study.ask(FIRST)]
    study.tell({id: labels[id] for id in items[:-3]})
    return study


def told(study: sd.Study) -> int:
    """An id that has an answer."""
    return int(study.labels()["id"].iloc[0])


def opened(study: sd.Study) -> int:
    """An id that has been asked and not answered."""
    return study.open_items()[0].id


def unasked(study: sd.Study) -> int:
    """An id that has not been asked."""
    known = {*study.labels()["id"], *(item.id for item in study.open_items())}
    return next(id for id in study.pool.ids.tolist() if id not in known)


BAD_CALLS: dict[str, tuple[Callable[[sd.Study], Any], type[SondageError], str]] = {
    "unknown id": (lambda s: s.tell(-1, 1), UnknownItem, r"id -1 is not in the pool of 90 items"),
    "text id": (lambda s: s.tell("3", 1), UnknownItem, r"id '3' is not in the pool"),
    "true as id": (lambda s: s.tell(True, 1), UnknownItem, r"id True is not in the pool"),
    "tell before ask": (
        lambda s: s.tell(unasked(s), 1),
        UnknownItem,
        r"id \d+ was never asked.*tell only items that ask\(\) has returned",
    ),
    "label outside the set": (
        lambda s: s.tell(opened(s), 2),
        InvalidInput,
        r"id \d+: label 2 is not one of \[0, 1\].*labels=\[\.\.\.\]",
    ),
    "label of another type": (
        lambda s: s.tell(opened(s), "yes"),
        InvalidInput,
        r"id \d+: label 'yes' is not one of \[0, 1\]",
    ),
    "label that cannot be looked up": (
        lambda s: s.tell(opened(s), [1]),
        InvalidInput,
        r"id \d+: label \[1\] is not one of",
    ),
    "second answer": (
        lambda s: s.tell(told(s), 1),
        AlreadyAnswered,
        r"id \d+ has an answer already: pass replace=True .* or annotator=",
    ),
    "no label": (lambda s: s.tell(opened(s)), InvalidInput, r"label"),
    "ask 0": (lambda s: s.ask(0), InvalidInput, r"ask\(n\) takes a whole number above 0, not 0"),
    "ask -1": (lambda s: s.ask(-1), InvalidInput, r"ask\(n\) takes .* not -1"),
    "ask true": (lambda s: s.ask(True), InvalidInput, r"ask\(n\) takes .* not True"),
    "ask 2.5": (lambda s: s.ask(2.5), InvalidInput, r"ask\(n\) takes .* not 2.5"),
    "ask text": (lambda s: s.ask("5"), InvalidInput, r"ask\(n\) takes .* not '5'"),
    "level 0": (lambda s: s.estimate(confidence_level=0), InvalidInput, r"confidence_level=.*not 0"),
    "level 1": (lambda s: s.estimate(confidence_level=1), InvalidInput, r"confidence_level=.*not 1"),
    "level 95": (lambda s: s.estimate(confidence_level=95), InvalidInput, r"confidence_level="),
    "level text": (lambda s: s.estimate(confidence_level=".9"), InvalidInput, "confidence_level="),
    "interval near": (
        lambda s: s.estimate(interval="wilsn"),
        InvalidInput,
        r"unknown interval 'wilsn': did you mean 'wilson'\? known are",
    ),
    "interval far": (
        lambda s: s.estimate(interval="zzzz"),
        InvalidInput,
        r"unknown interval 'zzzz': known are .*'logit'",
    ),
    "interval of another type": (lambda s: s.estimate(interval=5), InvalidInput, r"interval="),
    "interval that does not fit": (
        lambda s: s.estimate("accuracy", interval="wilson"),
        NotSupported,
        r"interval 'wilson' needs plain counts.*Use 'logit' or 't'",
    ),
    "measure near": (
        lambda s: s.estimate("precison"),
        InvalidInput,
        r"unknown measure 'precison': did you mean 'precision'\?",
    ),
    "measure of another type": (lambda s: s.estimate(5), InvalidInput, r"measure= takes"),
    "measure for other labels": (
        lambda s: s.estimate("mean_squared_error"),
        InvalidInput,
        r"'mean_squared_error' needs labels that are real",
    ),
    "measure without its column": (
        lambda s: s.estimate("brier_score_loss"),
        InvalidInput,
        r"no probability for system 'model': pass probability=",
    ),
    "no measure": (lambda s: s.estimate([]), InvalidInput, r"at least one"),
    "group": (
        lambda s: s.estimate(by="region"),
        InvalidInput,
        r"group 'region' is not in the pool, which has \['third'\]: pass groups=",
    ),
    "system": (
        lambda s: s.estimate(system="b"),
        InvalidInput,
        r"system 'b' is not in the pool, which has \['model'\]",
    ),
    "rounds": (lambda s: s.estimate(rounds="some"), InvalidInput, r"rounds= must be 'all' or"),
    "run without an end": (None, InvalidInput, r"run\(\) needs budget= or stop="),  # type: ignore[dict-item]
    "unsafe rule": (lambda s: s.should_stop(sd.Width(0.1)), NotSupported, r"allow_unsafe=True"),
}


@pytest.mark.parametrize("case", BAD_CALLS)
def test_a_bad_call_is_explained_and_changes_nothing(
    case: str, pool: Pool, labels: dict[int, int], tmp_path: Path
) -> None:
    call, error, message = BAD_CALLS[case]
    study = begun(pool, labels)
    if case == "run without an end":
        study = sd.create_study(pool, "f1", rng=6)
        advance(study, labels, 2)
        call = lambda s: s.run(labels)  # noqa: E731
    before, following = shown(study.estimate()), next_draw(study, tmp_path)
    events = study.journal.events(study.name)
    with pytest.raises(error, match=f"(?s){message}") as caught:
        call(study)
    assert isinstance(caught.value, SondageError)
    assert study.journal.events(study.name) == events
    assert shown(study.estimate()) == before
    assert [item.id for item in study.ask(6)] == following  # the same handle, not a fresh one


@pytest.mark.parametrize("design", DESIGNS)
def test_failed_calls_leave_no_trace_in_any_design(design: str, pool: Pool, labels: dict[int, int]) -> None:
    """One study is given every kind of bad call between rounds, its twin none."""
    study, twin = (begun(pool, labels, design) for _ in range(2))
    left_out = {"no label", "interval of another type", "run without an end"}  # looked at above
    bad = [
        call
        for name, (call, error, _) in BAD_CALLS.items()
        if name not in left_out and error is not NotSupported
    ]
    for _ in range(3):
        assert study.open_items()
        for call in bad:
            with pytest.raises(SondageError):
                call(study)
        for one in (study, twin):
            one.tell({item.id: labels[item.id] for item in one.open_items()})
            items = [item.id for item in one.ask(10)]
        assert {item.id for item in study.open_items()} == {item.id for item in twin.open_items()}
        for one in (study, twin):
            one.tell({id: labels[id] for id in items[:-1]})
    assert shown(study.estimate()) == shown(twin.estimate())


@pytest.mark.parametrize("design", DESIGNS)
def test_ask_beyond_the_budget(design: str, pool: Pool, labels: dict[int, int]) -> None:
    study = sd.create_study(pool, "f1", design=design, budget=20, rng=6)
    est = study.run(labels)
    with pytest.raises(NothingLeft, match=r"the budget of 20 labels is spent$"):
        study.ask(1)
    assert shown(study.estimate()) == shown(est)
    assert study.open_items() == []


@pytest.mark.parametrize("design", DESIGNS)
def test_ask_beyond_the_pool(design: str, pool: Pool, labels: dict[int, int]) -> None:
    study = sd.create_study(pool, "f1", design=design, rng=6)
    est = study.run(labels, budget=SIZE)
    with pytest.raises(NothingLeft, match=f"all {SIZE} items of the pool have been asked"):
        study.ask(1)
    assert shown(study.estimate()) == shown(est)


def test_run_with_a_mapping_that_lacks_an_id(pool: Pool, labels: dict[int, int]) -> None:
    study = sd.create_study(pool, "f1", design="uniform", budget=20, rng=6)
    first = study.ask(1)[0].id
    lacking = {id: label for id, label in labels.items() if id != first}
    with pytest.raises(SondageError, match=f"id {first}"):
        study.run(lacking)
    assert [item.id for item in study.open_items()] == [first]
    assert study.run(labels).n_labels == 20  # nothing is lost: it goes on


# ---- creating ------------------------------------------------------------------------------------

BAD_STUDIES: dict[str, tuple[dict[str, Any], type[SondageError], str]] = {
    "budget 0": ({"budget": 0}, InvalidInput, r"budget= takes a whole number .* not 0"),
    "budget -3": ({"budget": -3}, InvalidInput, r"budget= takes .* not -3"),
    "budget 2.5": ({"budget": 2.5}, InvalidInput, r"budget= takes .* or Cost\(amount\), not 2.5"),
    "budget true": ({"budget": True}, InvalidInput, r"budget= takes .* not True"),
    "budget text": ({"budget": "100"}, InvalidInput, r"budget= takes .* not '100'"),
    "oracle": ({"oracle": "human"}, InvalidInput, r"oracle= .*'deterministic', 'stochastic'"),
    "target": ({"target": "world"}, InvalidInput, r"target= .*'pool', 'population'.*not 'world'"),
    "level": ({"confidence_level": 1.5}, InvalidInput, r"confidence_level= .* 0 and 1, not 1.5"),
    "level true": ({"confidence_level": True}, InvalidInput, r"confidence_level="),
    "level nan": ({"confidence_level": np.nan}, InvalidInput, r"confidence_level="),
    "measure": ({"measure": "acuracy"}, InvalidInput, r"measure 'acuracy': did you mean 'accuracy'"),
    "design": ({"design": "stratifed"}, InvalidInput, r"design 'stratifed': did you mean 'strat"),
    "design type": ({"design": 5}, InvalidInput, r"design= takes a name or a design, not 5"),
    "objective": ({"objective": "estimate"}, InvalidInput, r"objective="),
    "seed": ({"rng": -1}, InvalidInput, r"rng must be a whole number >= 0"),
    "seed type": ({"rng": "7"}, InvalidInput, r"rng must be .* not '7'"),
    "storage": ({"storage": "study.db"}, InvalidInput, r"storage= takes .*'sqlite:///study.db'"),
    "storage type": ({"storage": Path("study.db")}, InvalidInput, r"storage= takes"),
    "no folder": (
        {"storage": "sqlite:////no/such/folder/x.db"},
        InvalidInput,
        r"storage: the folder '/no/such/folder' does not exist",
    ),
    "a folder": ({"storage": "sqlite:////tmp"}, InvalidInput, r"'/tmp' is a folder: name a file"),
    "this folder": ({"storage": "sqlite:///."}, InvalidInput, r"'.' is a folder: name a file"),
    "name of another type": ({"name": 3}, InvalidInput, r"name= takes text that is not empty .*, not 3"),
    "name of two parts": ({"name": ("a", 1)}, InvalidInput, r"name= takes text .*, not \('a', 1\)"),
    "empty name": ({"name": ""}, InvalidInput, r"name= takes text that is not empty .*, not ''"),
    "pool": ({"pool": [1, 2]}, InvalidInput, r"pool= takes a Pool \(see Pool.from_frame\), not list"),
    "measure for other labels": (
        {"measure": "mean_squared_error"},
        InvalidInput,
        r"needs labels that are real",
    ),
    "oracle that does not fit": (
        {"design": "uniform", "oracle": "stochastic"},
        NotSupported,
        r"use design='importance'",
    ),
}


@pytest.mark.parametrize("case", BAD_STUDIES)
def test_a_bad_study_is_explained_and_not_made(case: str, pool: Pool) -> None:
    options, error, message = BAD_STUDIES[case]
    journal = MemoryJournal()
    arguments: dict[str, Any] = {"pool": pool, "storage": journal, "rng": 6, **options}
    with pytest.raises(error, match=f"(?s){message}"):
        sd.create_study(**arguments)
    assert journal.names() == []


@pytest.mark.parametrize("amount", [0, -1.0, np.nan, np.inf, "5", True])
def test_a_cost_must_be_a_number_above_zero(amount: Any) -> None:
    with pytest.raises(InvalidInput, match=r"Cost\(amount\) takes a number above 0"):
        sd.Cost(amount)


def test_a_name_may_be_used_once(storage: Any, pool: Pool, labels: dict[int, int]) -> None:
    study = sd.create_study(pool, "f1", design="uniform", storage=storage(), name="mine", rng=6)
    advance(study, labels, 2)
    with pytest.raises(InvalidInput, match=r"there is a study named 'mine'.*already: load it"):
        sd.create_study(pool, "accuracy", storage=storage(), name="mine")
    again = sd.load_study(storage(), "mine", pool)
    assert shown(again.estimate()) == shown(study.estimate())


def test_studies_without_a_name_get_different_ones(storage: Any, pool: Pool) -> None:
    names = [sd.create_study(pool, "f1", storage=storage()).name for _ in range(3)]
    assert names == ["study-1", "study-2", "study-3"]


# ---- loading -------------------------------------------------------------------------------------


def test_loading_where_there_is_no_study(storage: Any, pool: Pool) -> None:
    with pytest.raises(InvalidInput, match=r"no stud(y|ies).*create_study"):
        sd.load_study(storage(), pool=pool)


def test_loading_a_file_that_is_not_there_does_not_make_it(tmp_path: Path, pool: Pool) -> None:
    path = tmp_path / "typo.db"
    with pytest.raises(InvalidInput, match=r"storage: there is no file .*typo\.db"):
        sd.load_study(f"sqlite:///{path}", pool=pool)
    assert not path.exists()


def test_loading_a_name_that_is_not_there(storage: Any, pool: Pool) -> None:
    sd.create_study(pool, "f1", storage=storage(), name="mine")
    with pytest.raises(InvalidInput, match=r"there is no study named 'yours'.*\['mine'\]"):
        sd.load_study(storage(), "yours", pool)


def test_loading_a_name_that_is_no_text(storage: Any, pool: Pool) -> None:
    sd.create_study(pool, "f1", storage=storage())
    with pytest.raises(InvalidInput, match=r"name= takes text .*, not \('a', 1\)"):
        sd.load_study(storage(), ("a", 1), pool)  # type: ignore[arg-type]


def test_loading_one_of_several_needs_a_name(storage: Any, pool: Pool) -> None:
    for name in ("mine", "yours"):
        sd.create_study(pool, "f1", storage=storage(), name=name)
    with pytest.raises(InvalidInput, match=r"name= is needed.*2 studies: \['mine', 'yours'\]"):
        sd.load_study(storage(), pool=pool)
    assert sd.load_study(storage(), "yours", pool).name == "yours"


def test_loading_needs_the_pool_unless_it_can_be_read_again(storage: Any, pool: Pool) -> None:
    sd.create_study(pool, "f1", storage=storage())
    with pytest.raises(InvalidInput, match=r"pool= is needed"):
        sd.load_study(storage())


@pytest.mark.parametrize("other", ["size", "score", "threshold", "cost", "id"])
def test_loading_with_another_pool(other: str, storage: Any, pool: Pool, labels: dict[int, int]) -> None:
    score = np.asarray(pool.system().score).copy()
    if other == "size":
        wrong = make_pool(SIZE - 1)
    elif other == "threshold":
        wrong = make_pool(threshold=0.55)
    elif other == "cost":
        wrong = make_pool(cost=True)
    else:
        ids = pool.ids.copy()
        if other == "score":
            score[40] = np.nextafter(score[40], 1.0)
        else:
            ids[40] += 1
        third = {"third": np.arange(SIZE) % 3}
        wrong = Pool.from_arrays(id=ids, score=score, threshold=0.5, groups=third)
    study = sd.create_study(pool, "f1", design="uniform", storage=storage(), rng=6)
    advance(study, labels, 2)
    with pytest.raises(PoolMismatch, match=r"not the pool that study 'study-1'.*pass the original"):
        sd.load_study(storage(), pool=wrong)
    assert shown(sd.load_study(storage(), pool=pool).estimate()) == shown(study.estimate())


def test_a_design_that_is_no_dataclass_is_named(pool: Pool) -> None:
    class Plain(Design):
        kind = "wor"

        def table(self, problem: Problem, n: int) -> Table:
            return Table(self.kind, chance=np.ones(problem.units.count))

    with pytest.raises(InvalidInput, match=r"Plain must be a dataclass.*@dataclass\(frozen=True\)"):
        sd.create_study(pool, "f1", design=Plain())


def test_a_design_by_strata_without_strata_is_refused(pool: Pool) -> None:
    @dataclass(frozen=True)
    class ByStrata(Design):
        kind: ClassVar[Any] = "strata"

        def table(self, problem: Problem, n: int) -> Table:
            return Table(self.kind, quota=np.full(problem.units.count, 1))

    with pytest.raises(InvalidInput, match=r"give it strata=LogRank\(\)"):
        sd.create_study(pool, "f1", design=ByStrata()).ask(1)


def test_a_grouping_that_is_new_at_reload_is_what_the_error_says(storage: Any, pool: Pool) -> None:
    sd.create_study(pool, "f1", design="uniform", storage=storage(), rng=6)
    columns = {"id": pool.ids, "score": np.asarray(pool.system().score), "threshold": 0.5}
    third = pool.group("third").codes
    more = Pool.from_arrays(**columns, groups={"third": third, "half": third > 0})
    with pytest.raises(PoolMismatch, match=r"its groups are \['third', 'half'\] now, \['third'\] then"):
        sd.load_study(storage(), pool=more)
    columns["score"] = columns["score"] + 0.001
    other = Pool.from_arrays(**columns, groups={"third": third})
    with pytest.raises(PoolMismatch, match="the same roles, but other ids, scores or values"):
        sd.load_study(storage(), pool=other)
    with pytest.raises(PoolMismatch, match=f"{SIZE - 1} items now, {SIZE} then"):
        sd.load_study(storage(), pool=make_pool(SIZE - 1))


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"label": 1}, "tell the class itself, not a dict"),
        ([1], "not a list"),
        (np.array([1, 0]), "not a list"),
        ("1", "it is str, the class is int, so tell 1"),
        (float("nan"), "CANNOT_TELL or None"),
    ],
)
def test_an_oracle_that_does_not_answer_with_a_class(told: Any, message: str, pool: Pool) -> None:
    study = sd.create_study(pool, "f1", design="uniform", budget=20, rng=6)
    with pytest.raises(InvalidInput, match=rf"id \d+: label .*{message}"):
        study.run(lambda item: told)
    assert study.n_labels == 0


@pytest.mark.parametrize(
    ("id", "kind"), [("3", "str"), (3.0, "float"), ((1, 2), "tuple"), (None, "NoneType")]
)
def test_an_id_of_another_type_is_called_so(id: Any, kind: str, pool: Pool) -> None:
    study = sd.create_study(pool, "f1", design="uniform", rng=6)
    with pytest.raises(UnknownItem, match=rf"is not in the pool.*whose ids are numbers, .*, not {kind}$"):
        study.tell(id, 1)


def test_a_class_in_place_of_an_object_is_named(pool: Pool) -> None:
    with pytest.raises(InvalidInput, match=r"not the class Accuracy: make one, Accuracy\(\.\.\.\)"):
        sd.create_study(pool, sd.measures.Accuracy)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match=r"not the class Uniform: make one, Uniform\(\.\.\.\)"):
        sd.create_study(pool, design=sd.designs.Uniform)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("measure", "labels", "words"),
    [
        ("f1", "real", r"make the pool with labels=\[\.\.\.\], .*or ask for .*'mean_absolute_error'"),
        ("mean_squared_error", None, "make the pool with labels='real', or ask for .*'accuracy'"),
    ],
)
def test_a_measure_for_other_labels_says_what_to_do(measure: str, labels: Any, words: str) -> None:
    pool = Pool.from_arrays(prediction=[0, 1, 1], labels=labels)
    with pytest.raises(InvalidInput, match=words):
        sd.create_study(pool, measure)


@pytest.mark.parametrize(
    ("y_true", "y_pred", "words"),
    [
        ([1, None], [1, 0], r"y_true is missing in row 1 \(1 of 2 rows\)"),
        ([1, 0], [1, np.nan], "y_pred is missing in row 1"),
        ([1, 0, 1], [1, 0], "y_true has 3 items and y_pred 2"),
        (1, 1, "y_true must have an entry per item"),
        (np.array([1, "a"], dtype=object), np.array([1, "a"], dtype=object), "mix int and str"),
    ],
)
def test_arrays_that_are_no_labels(y_true: Any, y_pred: Any, words: str) -> None:
    for call in (lambda: sd.estimate(y_true, y_pred), lambda: sd.measures.exact("f1", y_true, y_pred)):
        with pytest.raises(InvalidInput, match=words):
            call()
