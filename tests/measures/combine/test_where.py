"""A measure restricted to an event is the measure on the items of the event."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.measures.labelled import assert_right_on_average

import sondage as sd
from sondage.errors import InvalidInput
from sondage.measures import (
    Accuracy,
    BrierScoreLoss,
    ConfusionMatrix,
    Custom,
    Difference,
    FBeta,
    Mean,
    MeanSquaredError,
    Measure,
    PerGroup,
    Precision,
    R2Score,
    Recall,
    RocAuc,
    RocCurve,
    Stack,
    Where,
    for_system,
    pool_value,
)
from sondage.pool import Pool
from sondage.pool.rows import Rows
from sondage.registry import from_config
from sondage.testing.measures import MeasureSuite
from sondage.testing.units import random_columns, taken
from sondage.types import Bools, Floats


def value(measure: Measure, pool: Pool, y: Floats) -> Floats:
    return pool_value(measure.bind(pool), pool, y)


def case(
    seed: int, n: int = 90, classes: tuple[Any, ...] | None = ("no", "yes")
) -> tuple[dict[str, Any], Floats]:
    """Columns in the order of ids, and random labels as numbers."""
    columns = random_columns(seed, n, classes=classes)
    columns = taken(columns, np.argsort(columns["id"]))
    rng = np.random.default_rng(seed)
    y = rng.normal(size=n) if classes is None else rng.integers(0, len(classes), n).astype(np.float64)
    return columns, y


def on_part(measure: Measure, columns: dict[str, Any], y: Floats, member: Bools) -> Floats:
    """The measure of a pool that has these items only."""
    return value(measure, Pool.from_arrays(**taken(columns, member)), y[member])


MEASURES = (
    Accuracy(),
    FBeta(),
    BrierScoreLoss(),
    Stack((Precision(), Recall())),
    RocAuc(),
    ConfusionMatrix(),
)


# The value


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.alias)
@pytest.mark.parametrize("weighted", [False, True])
def test_groups(measure: Measure, weighted: bool) -> None:
    columns, y = case(1)
    if weighted:
        columns["weight"] = np.random.default_rng(1).uniform(0.5, 4, len(y))
    pool = Pool.from_arrays(**columns)
    group = columns["groups"]["group"]
    for event, member in (
        ({"group": "north"}, group == "north"),
        ({"group": ["north", "west"]}, group != "south"),
        ({"group": {"west"}}, group == "west"),
    ):
        found = value(Where(measure, event), pool, y)
        np.testing.assert_allclose(found, on_part(measure, columns, y, member), rtol=1e-11, atol=1e-13)


def test_scores_probabilities_and_predictions() -> None:
    columns, y = case(2)
    pool = Pool.from_arrays(**columns)
    parts = columns["systems"]["a"]
    for event, member in (
        ({"score": [0, 1.5]}, (parts["score"] >= 0) & (parts["score"] <= 1.5)),
        ({"score": [None, 0]}, parts["score"] <= 0),
        ({"probability": [0.4, None]}, parts["probability"] >= 0.4),
        ({"prediction": "yes", "score": [None, 1]}, (parts["prediction"] == "yes") & (parts["score"] <= 1)),
    ):
        assert 5 < member.sum() < len(y) - 5
        found = value(Where(Accuracy(), event), pool, y)
        np.testing.assert_allclose(found, on_part(Accuracy(), columns, y, member), rtol=1e-12)


def test_the_true_label() -> None:
    columns, y = case(3, classes=("x", "y", "z"))
    pool = Pool.from_arrays(**columns)
    found = value(Where(Accuracy(), {"label": ["x", "z"]}), pool, y)
    np.testing.assert_allclose(found, on_part(Accuracy(), columns, y, y != 1), rtol=1e-12)
    both = value(Where(Accuracy(), {"label": "y", "group": "north"}), pool, y)
    member = (y == 1) & (columns["groups"]["group"] == "north")
    np.testing.assert_allclose(both, on_part(Accuracy(), columns, y, member), rtol=1e-12)


def test_accuracy_of_the_true_is_recall_and_of_the_predicted_precision() -> None:
    columns, y = case(4)
    pool = Pool.from_arrays(**columns)
    np.testing.assert_allclose(
        value(Where("accuracy", {"label": "yes"}), pool, y), value(Recall(), pool, y), rtol=1e-12
    )
    np.testing.assert_allclose(
        value(Where("accuracy", {"prediction": "yes"}), pool, y), value(Precision(), pool, y), rtol=1e-12
    )


def test_numbers_between_two_ends() -> None:
    columns, y = case(5, classes=None)
    pool = Pool.from_arrays(**columns)
    prediction = columns["systems"]["a"]["prediction"]
    for measure in (MeanSquaredError(), R2Score(), Mean()):
        for event, member in (
            ({"label": [0, 1]}, (y >= 0) & (y <= 1)),
            ({"label": [None, 0.5], "group": "west"}, (y <= 0.5) & (columns["groups"]["group"] == "west")),
            ({"prediction": [0, None]}, prediction >= 0),
        ):
            found = value(Where(measure, event), pool, y)
            np.testing.assert_allclose(found, on_part(measure, columns, y, member), rtol=1e-9)


def test_a_function_of_rows_and_labels() -> None:
    columns, y = case(6)
    pool = Pool.from_arrays(**columns)
    score = columns["systems"]["a"]["score"]

    def high(rows: Rows, y: Floats) -> Bools:
        return np.asarray(rows.score() > 1)

    def high_or_positive(rows: Rows, y: Floats) -> Bools:
        return np.asarray((rows.score()[:, None] > 1) | (y == 1))

    found = value(Where(FBeta(), high), pool, y)
    np.testing.assert_allclose(found, on_part(FBeta(), columns, y, score > 1), rtol=1e-12)
    found = value(Where(FBeta(), high_or_positive), pool, y)
    np.testing.assert_allclose(found, on_part(FBeta(), columns, y, (score > 1) | (y == 1)), rtol=1e-12)
    assert Where(FBeta(), high).names == ("f1 where high",)


def test_conditions_are_about_the_measures_own_system() -> None:
    columns, y = case(7)
    pool = Pool.from_arrays(**columns)
    event = {"prediction": "yes"}
    of_b = value(Where(Accuracy(system="b"), event), pool, y)
    member = columns["systems"]["b"]["prediction"] == "yes"
    np.testing.assert_allclose(of_b, on_part(Accuracy(system="b"), columns, y, member), rtol=1e-12)
    np.testing.assert_allclose(value(for_system(Where(Accuracy(), event), "b"), pool, y), of_b)
    of_a = value(Where(Accuracy(), event), pool, y)
    difference = value(Difference(Where(Accuracy(), event), "a", "b"), pool, y)
    np.testing.assert_allclose(difference, of_a - of_b, atol=1e-14)


def test_within_and_around_other_compositions() -> None:
    columns, y = case(8)
    pool = Pool.from_arrays(**columns)
    group = columns["groups"]["group"]
    member = columns["systems"]["a"]["score"] > 0
    event = {"score": [0.05, None]}
    each = value(PerGroup(Where(Recall(), event), "group"), pool, y)
    other = value(Where(PerGroup(Recall(), "group"), event), pool, y)
    expected = [
        on_part(Recall(), columns, y, member & (group == one))[0] for one in ("north", "south", "west")
    ]
    np.testing.assert_allclose(each, expected, rtol=1e-12)
    np.testing.assert_allclose(other, expected, rtol=1e-12)
    twice = value(Where(Where(Recall(), event), {"group": "south"}), pool, y)
    np.testing.assert_allclose(twice, expected[1:2], rtol=1e-12)


binary = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 1), st.sampled_from("pqr"), st.integers(1, 5)),
    min_size=1,
    max_size=30,
)


@settings(deadline=None, max_examples=80)
@given(binary, st.sampled_from(["accuracy", "f1", "recall", "matthews_corrcoef"]), st.booleans())
def test_any_group_of_any_table(rows: list[tuple[int, int, str, int]], name: str, label: bool) -> None:
    y, f, group, weight = (np.array(column) for column in zip(*rows, strict=True))
    assume("p" in group)
    columns: dict[str, Any] = {
        "prediction": f,
        "groups": {"g": group},
        "weight": weight.astype(float),
        "labels": [0, 1],
    }
    member = (group == "p") & ((y == 1) | (not label))
    event: dict[str, Any] = {"g": "p", "label": 1} if label else {"g": "p"}
    found = value(Where(name, event), Pool.from_arrays(**columns), y.astype(float))
    if not member.any():
        assert np.isnan(found).all()
    else:
        expected = on_part(Measure.from_alias(name), columns, y.astype(float), member)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


# The contract


class TestWhereGroup(MeasureSuite):
    def make_measure(self) -> Measure:
        return Where(FBeta(), {"group": ["north", "west"]})


class TestWhereScore(MeasureSuite):
    def make_measure(self) -> Measure:
        return Where(Stack((Precision(), Recall())), {"score": [-1, None]})


class TestWhereLabel(MeasureSuite):
    classes = ("x", "y", "z")

    def make_measure(self) -> Measure:
        return Where(Accuracy(), {"label": ["x", "y"], "group": ["north", "south"]})


class TestWherePrediction(MeasureSuite):
    def make_measure(self) -> Measure:
        return Where(FBeta(), {"prediction": ["no", "yes"], "group": "west"})


class TestWhereOfNumbers(MeasureSuite):
    classes = None

    def make_measure(self) -> Measure:
        return Where(R2Score(), {"group": "south"})


class TestWhereOfNumbersByLabel(MeasureSuite):
    classes = None

    def make_measure(self) -> Measure:
        return Where(MeanSquaredError(), {"label": [-1, 2]})


class TestWhereOfACurve(MeasureSuite):
    def make_measure(self) -> Measure:
        return Where(RocCurve(), {"group": ["north", "south"]})

    def columns(self, seed: int, n: int = 60) -> dict[str, Any]:
        columns = super().columns(seed, n)
        for parts in columns["systems"].values():
            del parts["probability"]  # a curve would take it where there is no score
        return columns


class TestWhereOfAMatrix(MeasureSuite):
    classes = ("x", "y", "z")

    def make_measure(self) -> Measure:
        return Where(ConfusionMatrix(), {"group": "west", "label": ["x", "z"]})


def late(rows: Rows, y: Floats) -> Bools:
    return np.asarray((rows.prediction()[:, None] == 1) | (y == 0))


class TestWhereFunction(MeasureSuite):
    serialisable = False
    test_other_system = None  # the function looks at the first system

    def make_measure(self) -> Measure:
        return Where(Accuracy(), late)


# What pools


def test_items_pool_by_whether_they_are_in_the_event() -> None:
    """Not by the level of the group, nor by the score: that would split the pool for nothing."""
    columns, _ = case(9)
    pool = Pool.from_arrays(**columns)
    for event in ({"group": ["north", "west"]}, {"score": [0, 1]}):
        signature = Where(Accuracy(), event).bind(pool).signature(pool)
        assert signature is not None
        assert len(set(signature.tolist())) == 4  # two predictions, in and out
    by_label = Where(Accuracy(), {"label": "yes"}).bind(pool).signature(pool)
    assert by_label is not None
    assert len(set(by_label.tolist())) == 2
    assert Where(Accuracy(), late).bind(pool).signature(pool) is None


# JSON


def test_an_event_survives_json() -> None:
    columns, y = case(10)
    pool = Pool.from_arrays(**columns)
    measure = Where(Recall(), {"group": {"west", "north"}, "score": (np.float64(-1.5), None), "label": "yes"})
    again = from_config(json.loads(json.dumps(measure.config())))
    assert again == measure
    assert hash(again) == hash(measure)
    np.testing.assert_array_equal(value(again, pool, y), value(measure, pool, y))


def test_a_function_does_not() -> None:
    config = json.loads(json.dumps(Where(Accuracy(), late).config()))
    with pytest.raises(InvalidInput, match="pass the object itself"):
        from_config(config)


def test_names() -> None:
    assert Where(Recall(), {"group": "west"}).names == ("recall where group=west",)
    measure = Where(Recall(), {"group": ["north", "west"], "score": [0.5, None]})
    assert measure.names == ("recall where group in [north, west], score in [0.5, ...]",)


# Mistakes


@pytest.mark.parametrize(
    ("event", "message"),
    [
        ({"grup": "west"}, r"'grup'.*did you mean 'group'"),
        ({"group": "east"}, r"group='east' is not one of \['north', 'south', 'west'\]"),
        ({"score": 0.5}, r"'score' takes \[least, greatest\]"),
        ({"score": [1, 0]}, "in this order"),
        ({"score": ["low", "high"]}, r"'score' takes \[least, greatest\]"),
        ({"score": [100, 200]}, "no item of the pool is in the event"),
        ({"label": "maybe"}, "'maybe' is not one of"),
        ({"prediction": 7}, "7 is not one of"),
        ({"std": [0, 1]}, "'std' is not a group"),
    ],
)
def test_an_event_that_does_not_fit_is_refused(event: dict[str, Any], message: str) -> None:
    pool = Pool.from_arrays(**case(1)[0])
    with pytest.raises(InvalidInput, match=message):
        Where(Accuracy(), event).bind(pool)


@pytest.mark.parametrize("event", [{}, (), "group", 3, None])
def test_no_event_is_refused(event: Any) -> None:
    with pytest.raises(InvalidInput, match="an event is a mapping"):
        Where(Accuracy(), event)


def test_ambiguous_conditions_are_refused() -> None:
    pool = Pool.from_arrays(prediction=[0, 1], groups={"label": ["x", "y"]})
    with pytest.raises(InvalidInput, match="also a group"):
        Where(Accuracy(), {"label": "x"}).bind(pool)
    two = Pool.from_arrays(**case(1)[0])
    with pytest.raises(InvalidInput, match="of which system"):
        Where(Difference(Accuracy(), "a", "b"), {"prediction": "yes"}).bind(two)


def test_a_function_of_the_wrong_shape_is_refused() -> None:
    pool = Pool.from_arrays(prediction=[0, 1, 1])
    with pytest.raises(InvalidInput, match="array of bool"):
        Where(Accuracy(), lambda rows, y: rows.prediction()).bind(pool)
    with pytest.raises(InvalidInput, match="array of bool"):
        Where(Accuracy(), lambda rows, y: np.array(True)).bind(pool)


def test_labels_of_several_numbers_cannot_be_compared() -> None:
    table = np.random.default_rng(0).uniform(size=(20, 3))
    pool = Pool.from_arrays(
        probability=table, labels=["x", "y", "z"], multilabel=True, groups={"g": np.resize(["p", "q"], 20)}
    )
    with pytest.raises(InvalidInput, match="several numbers"):
        Where("multilabel_f1", {"label": "x"}).bind(pool)
    bound = Where("multilabel_f1", {"g": "p"}).bind(pool)
    assert bound.wide


def test_labels_of_several_numbers_on_some_items() -> None:
    rng = np.random.default_rng(1)
    table, group = rng.uniform(size=(40, 3)), np.resize(["p", "q"], 40)
    roles: dict[str, Any] = {"labels": ["x", "y", "z"], "multilabel": True}
    truth = [list(map(int, row)) for row in rng.uniform(size=(40, 3)) < table]
    pool = Pool.from_arrays(probability=table, groups={"g": group}, **roles)
    part = Pool.from_arrays(probability=table[group == "p"], **roles)
    found = value(Where("multilabel_f1", {"g": "p"}), pool, pool.labels.encode(truth))
    mine = [one for one, level in zip(truth, group, strict=True) if level == "p"]
    expected = value(Measure.from_alias("multilabel_f1"), part, part.labels.encode(mine))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


# Through a study


def study_pool(n: int = 600) -> tuple[Pool, dict[int, int]]:
    rng = np.random.default_rng(11)
    truth = (rng.random(n) < 0.35).astype(int)
    margin = np.where(truth == 1, 1.0, -1.0) + rng.normal(0, 1.2, n)
    region = np.where(rng.random(n) < 0.35, "north", "south")
    return Pool.from_arrays(score=margin, threshold=0.0, groups={"region": region}), dict(
        enumerate(truth.tolist())
    )


EVENTS: dict[str, Any] = {
    "north": {"region": "north"},
    "score": {"score": [-1, 1]},
    "label": {"label": 1},
}


@pytest.mark.parametrize("design", ["uniform", "stratified", "importance", "poisson"])
def test_estimates_and_their_standard_errors(design: str) -> None:
    pool, labels = study_pool()
    measure = Stack(tuple(Where(FBeta(), event) for event in EVENTS.values()))
    frame = sd.simulate(
        pool, labels, measure, design=design, budgets=[150], repeats=50, batch=150, rng=5, workers=1
    )
    for name in measure.names:
        assert_right_on_average(frame[frame["measure"] == name], curved=0.2)


@pytest.mark.parametrize("design", ["uniform", "stratified", "importance"])
def test_fully_labelled_is_exact(design: str) -> None:
    pool, labels = study_pool(120)
    y = pool.labels.encode(list(labels.values()))
    for event in EVENTS.values():
        study = sd.create_study(pool, Where(Accuracy(), event), design=design, rng=1)
        study.run(labels, budget=120)
        assert study.estimate().value == pytest.approx(value(Where(Accuracy(), event), pool, y)[0], rel=1e-12)
        assert study.estimate().std_error == pytest.approx(0, abs=1e-12)


def test_labels_outside_the_event_are_not_needed() -> None:
    """Once all of the north is labelled the accuracy there is exact, whatever else is unknown."""
    pool, labels = study_pool(200)
    north = Where(Accuracy(), {"region": "north"})
    study = sd.create_study(pool, north, design="importance", rng=1)
    codes = pool.group("region").codes
    asked = study.ask(60)
    inside = [codes[pool.row_of(item.id)] == 0 for item in asked]
    assert np.mean(inside) > 0.7  # the design goes where the measure looks
    for item in asked:
        study.tell(item.id, labels[int(item.id)])
    study.run(labels, budget=140)
    y = pool.labels.encode(list(labels.values()))
    assert study.estimate().value == pytest.approx(value(north, pool, y)[0])


def test_a_custom_measure_can_be_restricted() -> None:
    columns, y = case(12)
    pool = Pool.from_arrays(**columns)

    def cost(rows: Rows, y: Floats) -> Floats:
        return 5.0 * (y > rows.prediction()[:, None])

    member = columns["groups"]["group"] == "west"
    found = value(Where(Custom(cost), {"group": "west"}), pool, y)
    np.testing.assert_allclose(found, on_part(Custom(cost), columns, y, member))
