"""The loop, on every design: ask, tell, estimate, run, labels, remaining, open items."""

from __future__ import annotations

import inspect
import pickle
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, f1_score
from tests.study.example import (
    DESIGNS,
    SIZE,
    advance,
    answers_of,
    arrays,
    ask_all,
    make_pool,
    next_draw,
    predictions,
    rounds_of,
    shown,
)

import sondage as sd
from sondage.designs import Design, Importance, Poisson, Stratified
from sondage.errors import AlreadyAnswered, InvalidInput, NothingLeft, UnknownItem
from sondage.estimators import SequentialEstimator, estimate_totals
from sondage.pool import Pool
from sondage.strata import OneStratum

EMPTY = inspect.Parameter.empty
WITH_REPLACEMENT = {name for name, kind in Design.catalogue().items() if kind().kind.comes_again}


# ---- the surface ---------------------------------------------------------------------------------


def signature(function: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Arguments that may be given by place, and those that must be named, with their defaults."""
    parameters = inspect.signature(function).parameters.values()
    placed = {p.name: p.default for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD}
    named = {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}
    return placed, named


SURFACE = [
    (
        sd.create_study,
        {"pool": EMPTY, "measure": "f1"},
        {
            "design": "auto",
            "objective": None,
            "budget": None,
            "oracle": "deterministic",
            "target": "pool",
            "storage": None,
            "name": None,
            "rng": None,
            "confidence_level": 0.95,
        },
    ),
    (sd.load_study, {"storage": EMPTY, "name": None, "pool": None}, {}),
    (
        sd.Study.estimate,
        {"self": EMPTY, "measure": None},
        {
            "by": None,
            "system": None,
            "interval": None,
            "rounds": "all",
            "confidence_level": None,
        },
    ),
    (sd.Study.run, {"self": EMPTY, "oracle": EMPTY}, {"budget": None, "stop": None}),
    (
        sd.estimate,
        {"y_true": EMPTY, "y_pred": EMPTY},
        {
            "inclusion_probability": None,
            "weights": None,
            "pool_size": None,
            "measure": "f1",
            "confidence_level": 0.95,
        },
    ),
    (
        sd.simulate,
        {"pool": EMPTY, "labels": EMPTY, "measure": "f1"},
        {
            "design": "auto",
            "budgets": (250, 500, 1000),
            "repeats": 100,
            "batch": 25,
            "rng": 0,
            "workers": None,
        },
    ),
]


@pytest.mark.parametrize(
    ("function", "placed", "named"), SURFACE, ids=[one[0].__qualname__ for one in SURFACE]
)
def test_arguments_are_those_of_the_surface(
    function: Any, placed: dict[str, Any], named: dict[str, Any]
) -> None:
    have_placed, have_named = signature(function)
    assert have_placed == placed
    assert list(have_placed) == list(placed)
    # More may be added by name, but nothing promised may be missing or have another default.
    assert {name: have_named.get(name, "missing") for name in named} == named


def test_ask_and_tell_take_the_arguments_of_the_surface() -> None:
    placed, named = signature(sd.Study.ask)
    assert list(placed) == ["self", "n"]
    assert named == {"annotator": None, "lease": 3600.0}
    placed, named = signature(sd.Study.tell)
    assert list(placed) == ["self", "id", "label"]
    assert named == {"annotator": None, "replace": False, "partial": False, "dry_run": False}


def test_an_estimate_has_every_attribute_of_the_surface(pool: Pool, labels: dict[int, int]) -> None:
    est = sd.create_study(pool, "accuracy", rng=1, budget=20).run(labels)
    promised = """
        value std_error confidence_level guarantee n_labels n_draws n_open n_refused n_eff
        n_uniform cost target assumptions warnings defined why
    """
    assert [name for name in promised.split() if not hasattr(est, name)] == []
    assert est.ci.low <= est.value <= est.ci.high
    assert est.to_dict()["value"] == est.value
    assert est.to_frame()["value"].tolist() == [est.value]
    assert est.summary().startswith("accuracy ")


# ---- ask and tell --------------------------------------------------------------------------------


@pytest.mark.parametrize("design", DESIGNS)
def test_ask_and_tell_and_estimate(design: str, pool: Pool, labels: dict[int, int]) -> None:
    study = sd.create_study(pool, "f1", design=design, budget=50, rng=4)
    assert study.remaining == 50
    assert study.open_items() == []
    undefined = study.estimate()
    assert np.isnan(undefined.value)
    assert not undefined.defined
    assert undefined.why == "no item has a label yet"
    asked: list[int] = []
    while study.remaining:
        items = study.ask(8)
        asked += [item.id for item in items]
        assert study.remaining == 50 - len(asked)
        assert [item.id for item in study.open_items()] == [item.id for item in items]
        for item in items:
            assert item.payload == {"twice": 2 * item.id}
            assert item.cost == 1.0
            study.tell(item.id, labels[item.id])
        assert study.open_items() == []
    est = study.estimate()
    assert len(set(asked)) == len(asked) == 50
    assert (est.n_labels, est.n_open, est.n_refused, est.cost) == (50, 0, 0, 50.0)
    assert est.n_draws >= 50
    truth = f1_score(*arrays(pool, labels))
    # 50 of 90 labels: an estimate that is off by more than 0.25 is not an estimate of this.
    assert abs(est.value - truth) < 0.25
    assert est.ci.low <= est.value <= est.ci.high
    assert 0 < est.std_error < 0.2


@pytest.mark.parametrize("design", DESIGNS)
def test_the_ids_handed_out_are_those_written_down(design: str, pool: Pool) -> None:
    study = sd.create_study(pool, "f1", design=design, rng=4)
    items = [[item.id for item in study.ask(5)] for _ in range(4)]
    written = [[id for id, new in zip(one.id, one.new, strict=True) if new] for one in rounds_of(study)]
    assert [sorted(one) for one in items] == [sorted(one) for one in written]
    assert all(type(id) is int for one in items for id in one)


def test_ask_returns_n_items_where_the_size_is_not_random(pool: Pool) -> None:
    for design in ("uniform", "importance", "stratified", "sequential", Poisson(fixed_size=True)):
        study = sd.create_study(pool, "f1", design=design, rng=9)
        assert [len(study.ask(n)) for n in (1, 4, 9)] == [1, 4, 9]


def test_poisson_asks_a_random_number_with_the_mean_asked_for(pool: Pool) -> None:
    counts = [len(sd.create_study(pool, "f1", design="poisson", rng=seed).ask(12)) for seed in range(150)]
    assert len(set(counts)) > 3
    # The variance of a Poisson sample is below its mean of 12, so the mean of 150 has SE < 0.29.
    assert abs(np.mean(counts) - 12) < 4 * 0.29


@pytest.mark.parametrize("design", DESIGNS)
def test_ask_up_to_what_is_left_and_then_says_so(design: str, pool: Pool, labels: dict[int, int]) -> None:
    study = sd.create_study(pool, "f1", design=design, budget=13, rng=2)
    while study.remaining:
        study.ask(10)
    assert len(study.open_items()) == 13
    with pytest.raises(NothingLeft, match="budget of 13 labels is spent; 13 asked items are still"):
        study.ask(1)


@pytest.mark.parametrize("design", DESIGNS)
def test_ask_runs_through_the_whole_pool_once(design: str, pool: Pool, labels: dict[int, int]) -> None:
    study = sd.create_study(pool, "f1", design=design, rng=2)
    asked, reason = ask_all(study, 20)
    assert f"all {SIZE} items" in reason
    assert sorted(asked) == pool.ids.tolist()


@pytest.mark.parametrize("design", DESIGNS)
def test_the_seed_decides_the_draws(design: str, pool: Pool, labels: dict[int, int]) -> None:
    def draws(rng: Any) -> list[list[int]]:
        study = sd.create_study(pool, "f1", design=design, rng=rng)
        return advance(study, labels, 4)

    assert draws(5) == draws(5)
    assert draws(5) != draws(6)
    assert draws(np.random.default_rng(5)) == draws(np.random.default_rng(5))


def test_without_a_seed_two_studies_differ(pool: Pool) -> None:
    first, second = (sd.create_study(pool, "f1", design="uniform") for _ in range(2))
    assert [item.id for item in first.ask(40)] != [item.id for item in second.ask(40)]


def test_tell_by_mapping_is_the_same_as_one_by_one(pool: Pool, labels: dict[int, int]) -> None:
    one, many = (sd.create_study(pool, "f1", design="sequential", rng=3) for _ in range(2))
    for _ in range(3):
        items = [item.id for item in one.ask(5)]
        assert [item.id for item in many.ask(5)] == items
        for id in items:
            one.tell(id, labels[id])
        many.tell({id: labels[id] for id in items})
    assert shown(one.estimate()) == shown(many.estimate())


def test_tell_by_mapping_is_written_in_one_piece(
    pool: Pool, labels: dict[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    study = sd.create_study(pool, "f1", design="uniform", rng=3)
    items = [item.id for item in study.ask(5)]
    append, written = study.journal.append, []

    def counted(name: str, records: Any, after: int | None = None) -> Any:
        written.append(len(records))
        return append(name, records, after)

    monkeypatch.setattr(study.journal, "append", counted)
    study.tell({id: labels[id] for id in items})
    assert written == [5]


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ({3: 1}, AlreadyAnswered),
        ({-5: 1}, UnknownItem),
        ({"x": 1}, UnknownItem),
        ("unasked", UnknownItem),
        ("label", InvalidInput),
    ],
    ids=["answered", "unknown", "text", "unasked", "label"],
)
def test_tell_by_mapping_is_all_or_nothing(
    fault: Any, error: type[Exception], pool: Pool, labels: dict[int, int], tmp_path: Path
) -> None:
    study = sd.create_study(pool, "f1", design="uniform", rng=3)
    good = [item.id for item in study.ask(6)]
    if fault == {3: 1}:
        study.tell(good[5], 1)
        fault = {good[5]: 1}
    elif fault == "unasked":
        fault = {next(id for id in pool.ids.tolist() if id not in good): 1}
    elif fault == "label":
        fault = {good[4]: "maybe"}
    told = {**{id: labels[id] for id in good[:4]}, **fault}
    before, answers = shown(study.estimate()), len(answers_of(study))
    following = next_draw(study, tmp_path)
    with pytest.raises(error):
        study.tell(told)
    assert len(answers_of(study)) == answers
    assert shown(study.estimate()) == before
    assert next_draw(study, tmp_path) == following
    study.tell({id: labels[id] for id in good[:4]})  # what was refused can still be told
    assert study.n_labels == answers + 4


def test_numpy_ids_and_labels_are_taken(pool: Pool, labels: dict[int, int]) -> None:
    study, twin = (sd.create_study(pool, "f1", design="uniform", rng=3) for _ in range(2))
    for item in study.ask(np.int64(6)):
        study.tell(np.int64(item.id), np.int8(labels[item.id]))
    advance(twin, labels, 1)
    assert shown(study.estimate()) == shown(twin.estimate())


# ---- run -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("design", DESIGNS)
def test_run_by_mapping_or_callable_is_the_same_as_by_hand(
    design: str, pool: Pool, labels: dict[int, int]
) -> None:
    by_mapping, by_call, by_hand = (
        sd.create_study(pool, "f1", design=design, budget=40, rng=8) for _ in range(3)
    )
    first = by_mapping.run(labels)
    seen = []

    def oracle(item: sd.Item) -> int:
        seen.append(item.payload["twice"] // 2)
        return labels[item.id]

    second = by_call.run(oracle)
    while by_hand.remaining:
        for item in by_hand.ask(by_hand.design.batch):
            by_hand.tell(item.id, labels[item.id])
    assert shown(first) == shown(second) == shown(by_hand.estimate())
    assert sorted(seen) == sorted(by_call.labels()["id"])
    assert first.n_labels == 40


@pytest.mark.parametrize("design", DESIGNS)
def test_run_answers_what_is_open_first(design: str, pool: Pool, labels: dict[int, int]) -> None:
    study, twin = (sd.create_study(pool, "f1", design=design, budget=40, rng=8) for _ in range(2))
    opened = [item.id for item in study.ask(7)]
    order: list[int] = []

    def oracle(item: sd.Item) -> int:
        order.append(item.id)
        return labels[item.id]

    est = study.run(oracle)
    assert order[: len(opened)] == opened
    assert est.n_labels == 40
    assert est.n_open == 0
    advance(twin, labels, 1, 7)
    assert shown(est) == shown(twin.run(labels))


def test_run_stops_at_its_own_budget_and_goes_on(pool: Pool, labels: dict[int, int]) -> None:
    study = sd.create_study(pool, "f1", design="uniform", budget=60, rng=8)
    assert study.run(labels, budget=10).n_labels == 10
    assert study.run(labels, budget=10).n_labels == 20
    assert study.run(labels).n_labels == 60
    assert study.run(labels).n_labels == 60


def test_run_stops_by_a_rule(pool: Pool, labels: dict[int, int]) -> None:
    study = sd.create_study(pool, "f1", design="uniform", rng=8)
    assert study.run(labels, stop=sd.LabelsSpent(30), batch=10).n_labels == 30


def test_run_asks_nothing_more_where_the_rule_is_satisfied_already(
    pool: Pool, labels: dict[int, int]
) -> None:
    study = sd.create_study(pool, "f1", design="uniform", rng=8)
    study.run(labels, budget=60)
    assert study.run(labels, stop=sd.Width(0.99), allow_unsafe=True).n_labels == 60


def test_run_ends_quietly_where_another_has_asked_the_last_item_meanwhile(
    pool: Pool, labels: dict[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"sqlite:///{tmp_path / 'one.db'}"
    study = sd.create_study(pool, "f1", budget=10, storage=address, rng=1)
    other = sd.load_study(address, pool=pool)
    ask = study.ask

    def too_late(n: int) -> Any:
        other.tell({item.id: labels[item.id] for item in other.ask(10)})
        return ask(n)

    monkeypatch.setattr(study, "ask", too_late)
    assert study.run(labels).n_labels == 10


def test_a_budget_of_cost_is_no_number_of_labels(pool: Pool, labels: dict[int, int]) -> None:
    costly = Pool.from_arrays(
        id=pool.ids, score=pool.system().score, prediction=pool.system().prediction, cost=np.full(SIZE, 0.1)
    )
    study = sd.create_study(costly, "f1", design="uniform", budget=sd.Cost(5), rng=8)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # 5 pays for 50: the rule can be satisfied
        assert study.run(labels, stop=sd.LabelsSpent(30)).n_labels == 30
    dear = sd.create_study(costly, "f1", design="uniform", budget=sd.Cost(2), rng=8)
    with pytest.warns(UserWarning, match="never stop"):
        dear.run(labels, stop=sd.LabelsSpent(30))


def test_run_ends_with_the_pool(pool: Pool, labels: dict[int, int]) -> None:
    est = sd.create_study(pool, "f1", design="stratified", rng=8).run(labels, budget=10 * SIZE)
    assert est.n_labels == SIZE
    assert est.value == pytest.approx(f1_score(*arrays(pool, labels)), abs=1e-12)


@pytest.mark.parametrize("design", [Poisson(floor=0.0), Importance()], ids=["poisson", "importance"])
def test_ask_says_when_all_that_matters_is_asked(design: Any, pool: Pool, labels: dict[int, int]) -> None:
    """Predicted negatives do not matter for precision: once the others are asked, nothing is left."""
    study = sd.create_study(pool, "precision", design=design, rng=8)
    positives = sum(predictions(pool).values())
    asked, reason = ask_all(study, 10, labels)
    assert len(asked) == positives
    assert f"all {positives} items that could move the measure" in reason


def test_run_passes_over_a_tie_that_only_a_further_opinion_can_settle(
    pool: Pool, labels: dict[int, int]
) -> None:
    study = sd.create_study(pool, "f1", design="uniform", budget=30, rng=8)
    item = study.ask(1)[0]
    study.tell(item.id, 1, annotator="ann")
    study.tell(item.id, 0, annotator="bob")
    assert [one.id for one in study.open_items()] == [item.id]
    est = study.run(labels)
    assert study.remaining == 0
    assert est.n_labels + est.n_open == 29  # of 30, one went to the second opinion


# ---- labels --------------------------------------------------------------------------------------


@pytest.mark.parametrize("design", DESIGNS)
def test_labels_lists_what_was_told(design: str, pool: Pool, labels: dict[int, int]) -> None:
    study = sd.create_study(pool, "f1", design=design, rng=8)
    assert len(study.labels()) == 0
    asked = [id for ids in advance(study, labels, 3) for id in ids]
    left_open = study.ask(4)
    frame = study.labels()
    assert list(frame.columns) == ["id", "label", "probability", "weight", "round", "annotator", "time"]
    assert frame["id"].tolist() == [
        id for id in pool.ids_of(study.sample.row[study.sample.new]) if id in asked
    ]
    assert len(frame) == len(asked)
    assert frame["label"].tolist() == [labels[id] for id in frame["id"]]
    assert (frame["weight"] > 0).all()
    assert not set(frame["id"]) & {item.id for item in left_open}


def weighted_scores(study: sd.Study) -> tuple[float, float]:
    """F1 and accuracy by scikit-learn, from ``labels()`` alone."""
    frame = study.labels()
    predicted = predictions(study.pool)
    y_pred = [predicted[id] for id in frame["id"]]
    return (
        f1_score(frame["label"], y_pred, sample_weight=frame["weight"]),
        accuracy_score(frame["label"], y_pred, sample_weight=frame["weight"]),
    )


@pytest.mark.parametrize(
    ("design", "rounds", "n"),
    [
        # Weighted draws; Poisson before any signature has the ten draws that its regression asks
        # for; means of strata, joined with a neighbour where one has too few labels or not.
        ("importance", 5, 8),
        ("uniform", 4, 8),
        ("stratified", 4, 8),
        ("poisson", 2, 5),
        (Stratified(strata=OneStratum()), 3, 8),
    ],
    ids=["importance", "uniform", "stratified", "poisson", "two strata"],
)
def test_weights_give_the_estimate_in_scikit_learn(
    design: Any, rounds: int, n: int, pool: Pool, labels: dict[int, int]
) -> None:
    study = sd.create_study(pool, "f1", design=design, rng=8)
    advance(study, labels, rounds, n)
    f1, accuracy = weighted_scores(study)
    assert study.estimate().value == pytest.approx(f1, abs=1e-12)
    assert study.estimate("accuracy").value == pytest.approx(accuracy, abs=1e-12)
    assert study.labels()["weight"].nunique() > 1  # the weights do something


def test_sequential_weights_give_the_plain_form_in_scikit_learn(pool: Pool, labels: dict[int, int]) -> None:
    study = sd.create_study(pool, "f1", design="sequential", rng=8)
    advance(study, labels, 5)
    f1, accuracy = weighted_scores(study)
    plain = SequentialEstimator(control=False)
    for name, value in (("f1", f1), ("accuracy", accuracy)):
        measure = sd.measures.resolve(name).bind(pool)
        R = estimate_totals(study.case(measure), plain).R
        assert measure.g(R)[0] == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("design", sorted({*DESIGNS} - WITH_REPLACEMENT))
def test_weights_are_one_when_all_is_labelled(design: str, pool: Pool, labels: dict[int, int]) -> None:
    study = sd.create_study(pool, "f1", design=design, rng=8)
    study.run(labels, budget=SIZE)
    np.testing.assert_allclose(study.labels()["weight"], 1.0, rtol=1e-12)
    f1, accuracy = weighted_scores(study)
    assert f1 == pytest.approx(f1_score(*arrays(pool, labels)), abs=1e-12)
    assert accuracy == pytest.approx(accuracy_score(*arrays(pool, labels)), abs=1e-12)


def test_labels_of_a_stochastic_oracle_give_the_estimate(pool: Pool) -> None:
    """Every answer is a row of its own: an item drawn twice may have been given two labels."""
    study = sd.create_study(pool, "accuracy", design="importance", oracle="stochastic", budget=60, rng=1)
    for turn, item in enumerate(study.ask(60)):
        study.tell(item.id, turn % 2)
    _, accuracy = weighted_scores(study)
    assert study.estimate().value == pytest.approx(accuracy, abs=1e-12)


# ---- what else the study shows -------------------------------------------------------------------


def test_remaining_is_infinite_without_a_budget(pool: Pool) -> None:
    study = sd.create_study(pool, "f1", design="uniform", rng=8)
    study.ask(3)
    assert study.remaining == np.inf


def test_estimate_by_group_and_of_several_measures(pool: Pool, labels: dict[int, int]) -> None:
    study = sd.create_study(pool, ["f1", "accuracy"], design="uniform", rng=8)
    study.run(labels, budget=SIZE)
    y, predicted = arrays(pool, labels)
    both = study.estimate()
    assert both.names == ("f1", "accuracy")
    np.testing.assert_allclose(both.value, [f1_score(y, predicted), accuracy_score(y, predicted)], atol=1e-12)
    split = study.estimate("accuracy", by="third")
    third = np.arange(SIZE) % 3
    assert split.names == tuple(f"accuracy[third={level}]" for level in range(3))
    np.testing.assert_allclose(
        split.value,
        [accuracy_score(y[third == level], predicted[third == level]) for level in range(3)],
        atol=1e-12,
    )


def test_a_higher_level_gives_a_wider_interval(pool: Pool, labels: dict[int, int]) -> None:
    study = sd.create_study(pool, "f1", design="uniform", rng=8, confidence_level=0.8)
    study.run(labels, budget=30)
    narrow, wide = study.estimate(), study.estimate(confidence_level=0.99)
    assert (narrow.confidence_level, wide.confidence_level) == (0.8, 0.99)
    assert wide.ci.low < narrow.ci.low < narrow.value < narrow.ci.high < wide.ci.high


def test_repr_says_where_the_study_stands(pool: Pool) -> None:
    study = sd.create_study(pool, "f1", design="uniform", budget=9, rng=8, name="mine")
    study.ask(4)
    assert repr(study) == "<Study 'mine': f1 by 'uniform', 4 of 9 asked, 4 open>"


def test_a_pool_with_text_ids_serves_as_well(labels: dict[int, int]) -> None:
    numbers = make_pool()
    names = [f"item {id}" for id in numbers.ids.tolist()]
    pool = Pool.from_arrays(id=names, score=numbers.system().score, threshold=0.5)
    study = sd.create_study(pool, "f1", rng=8)
    est = study.run({f"item {id}": label for id, label in labels.items()}, budget=SIZE)
    assert est.value == pytest.approx(f1_score(*arrays(numbers, labels)), abs=1e-12)


@pytest.mark.parametrize(
    ("design", "reason"),
    [
        ("uniform", r"taken at random from \d+ items like it"),
        ("importance", r"drawn with chance \d"),
        ("poisson", r"included with chance \d"),
        ("sequential", r"drawn with chance \d"),
    ],
)
def test_an_item_says_by_which_chance_it_was_drawn(design: str, reason: str, pool: Pool) -> None:
    study = sd.create_study(pool, "f1", design=design, rng=8)
    items = study.ask(20)
    assert items
    assert all(re.search(f"; {reason}", item.reason) for item in items)
    assert [item.reason for item in study.open_items()] == [item.reason for item in items]
    assert not hasattr(items[0], "why")  # a function that makes the sentence is nobody's business
    assert pickle.loads(pickle.dumps(items[0])).reason == items[0].reason


def test_the_joint_region_of_several_measures(pool: Pool, labels: dict[int, int]) -> None:
    study = sd.create_study(pool, ["precision", "recall"], design="uniform", budget=60, rng=2)
    study.run(labels)
    joint, each = study.region(), study.estimate(interval="scheffe")
    assert joint.contains(each.value)
    assert not joint.contains(np.asarray(each.value) - 0.5)
    assert study.region(confidence_level=0.5).volume < joint.volume
    assert study.region(sd.measures.Recall(average=None)).names == ("recall[0]", "recall[1]")


@pytest.mark.parametrize("what", ["imported", "open", "population"])
def test_the_region_is_made_of_what_the_estimate_is_made_of(what: str) -> None:
    pool, labels = sd.datasets.synthetic_pool(n=400, prevalence=0.3, rng=1)
    target = "population" if what == "population" else "pool"
    study = sd.create_study(pool, ["precision", "recall"], design="importance", target=target, rng=1)
    if what == "imported":
        first = range(100)
        study.import_labels(pd.DataFrame({"id": first, "label": [labels[k] for k in first], "chance": 0.25}))
    study.run(labels, budget=400 if what == "population" else 60)
    if what == "open":
        study.tell({item.id: labels[item.id] for item in list(study.ask(60))[:30]})
    each, joint = study.estimate(), study.region()
    np.testing.assert_allclose(joint.centre, each.value, rtol=1e-12)
    np.testing.assert_allclose(np.sqrt(np.diag(joint.covariance)), each.std_error, rtol=0.1)
    assert (joint.limits[1] - joint.limits[0] > 0.8 * (each.ci.high - each.ci.low)).all()
