"""Measures made of measures: several at once, per group, a difference between systems."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sondage.errors import InvalidInput
from sondage.measures import (
    Accuracy,
    BrierScoreLoss,
    Difference,
    FBeta,
    MeanSquaredError,
    Measure,
    PerGroup,
    Precision,
    Recall,
    Stack,
    for_system,
    pool_value,
    resolve,
)
from sondage.pool import Pool
from sondage.testing.units import random_columns, taken
from sondage.types import Floats


def value(measure: Measure, pool: Pool, y: Floats) -> Floats:
    return pool_value(measure.bind(pool), pool, y)


def case(seed: int, n: int = 80) -> tuple[dict[str, Any], Pool, Floats]:
    """Columns in the order of ids, their pool, and random labels."""
    columns = random_columns(seed, n)
    columns = taken(columns, np.argsort(columns["id"]))
    y = np.random.default_rng(seed).integers(0, 2, n).astype(np.float64)
    return columns, Pool.from_arrays(**columns), y


def test_stack_is_its_measures_side_by_side() -> None:
    _, pool, y = case(1)
    parts = [FBeta(), Precision(system="b"), BrierScoreLoss()]
    together = value(Stack(tuple(parts)), pool, y)
    np.testing.assert_array_equal(together, np.concatenate([value(one, pool, y) for one in parts]))


def test_stack_names_and_ranges() -> None:
    stack = resolve(["f1", "recall", "matthews_corrcoef"])
    assert stack.names == ("f1", "recall", "matthews_corrcoef")
    assert [bound.tolist() for bound in stack.range] == [[0, 0, -1], [1, 1, 1]]
    assert stack.ratio is None
    assert resolve(["recall"]).ratio is not None


def test_difference_is_one_less_the_other() -> None:
    _, pool, y = case(2)
    for measure in (FBeta(), Accuracy(), BrierScoreLoss(), Stack((Precision(), Recall()))):
        a, b = (value(for_system(measure, name), pool, y) for name in ("a", "b"))
        np.testing.assert_allclose(value(Difference(measure, "a", "b"), pool, y), a - b, atol=1e-15)
        np.testing.assert_allclose(value(Difference(measure, "b", "a"), pool, y), b - a, atol=1e-15)


def test_difference_of_numbers() -> None:
    columns = random_columns(3, classes=None)
    pool = Pool.from_arrays(**columns)
    y = np.random.default_rng(3).normal(size=len(pool))
    a, b = (np.square(pool.system(name).prediction - y).mean() for name in ("a", "b"))
    found = value(Difference(MeanSquaredError(), "a", "b"), pool, y)
    np.testing.assert_allclose(found, [a - b], rtol=1e-12)


def test_difference_names_and_range() -> None:
    difference = Difference(FBeta(), "new", "old")
    assert difference.names == ("f1: new - old",)
    assert [bound.tolist() for bound in difference.range] == [[-1], [1]]


def test_difference_of_a_system_with_itself_is_refused() -> None:
    _, pool, _ = case(1)
    with pytest.raises(InvalidInput, match="'a' twice"):
        Difference(FBeta(), "a", "a").bind(pool)


def test_difference_with_an_unknown_system_is_refused() -> None:
    _, pool, _ = case(1)
    with pytest.raises(InvalidInput, match=r"'c'.*\['a', 'b'\]"):
        Difference(FBeta(), "a", "c").bind(pool)


def test_group_is_the_measure_on_the_items_of_the_group() -> None:
    columns, pool, y = case(4)
    for measure in (FBeta(), Accuracy(), BrierScoreLoss(), Stack((Precision(), Recall()))):
        expected = []
        for level in ("north", "south", "west"):
            members = columns["groups"]["group"] == level
            part = Pool.from_arrays(**taken(columns, members))
            expected.append(value(measure, part, y[members]))
        found = value(PerGroup(measure, "group"), pool, y)
        np.testing.assert_allclose(found, np.concatenate(expected), rtol=1e-12)


def test_group_of_numbers_is_the_measure_on_the_items_of_the_group() -> None:
    columns = taken(random_columns(3, classes=None), np.arange(60))
    pool = Pool.from_arrays(**columns)
    y = np.random.default_rng(3).normal(size=len(pool))
    codes = pool.group("group").codes
    error = np.square(pool.system("b").prediction - y)
    found = value(PerGroup(MeanSquaredError(system="b"), "group"), pool, y)
    np.testing.assert_allclose(found, [error[codes == g].mean() for g in range(3)], rtol=1e-12)


def test_group_names() -> None:
    _, pool, _ = case(1)
    bound = PerGroup(Stack((Precision(), Recall())), "group").bind(pool)
    assert bound.names[:3] == (
        "precision[group=north]",
        "recall[group=north]",
        "precision[group=south]",
    )


def test_group_where_the_measure_is_undefined_is_nan_there_only() -> None:
    pool = Pool.from_arrays(prediction=[0, 1, 1, 0], groups={"g": ["x", "y", "y", "x"]})
    found = value(PerGroup(Precision(), "g"), pool, np.array([1.0, 1.0, 0.0, 0.0]))
    assert np.isnan(found[0])
    assert found[1] == 0.5


def test_unknown_group_is_refused() -> None:
    _, pool, _ = case(1)
    with pytest.raises(InvalidInput, match=r"'region'.*groups="):
        PerGroup(Recall(), "region").bind(pool)


def test_groups_within_groups() -> None:
    rng = np.random.default_rng(5)
    one, two = rng.choice(["x", "y"], 60), rng.choice(["p", "q"], 60)
    prediction, y = rng.integers(0, 2, 60), rng.integers(0, 2, 60).astype(np.float64)
    pool = Pool.from_arrays(prediction=prediction, groups={"one": one, "two": two})
    found = value(PerGroup(PerGroup(Accuracy(), "one"), "two"), pool, y)
    right = prediction == y
    expected = [right[(two == b) & (one == a)].mean() for b in "pq" for a in "xy"]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_known_of_groups_of_numbers_are_the_shares_of_the_groups() -> None:
    pool = Pool.from_arrays(
        prediction=[0.1, 0.7, 2.0, 3.0], labels="real", groups={"g": ["x", "y", "y", "y"]}
    )
    measure = PerGroup(MeanSquaredError(), "g").bind(pool)
    known = measure.losses.known(pool)
    mean = measure.loss(pool.rows(slice(None)), np.zeros((4, 1)))[:, 0].mean(axis=0)
    told = np.isfinite(known)
    np.testing.assert_allclose(known[told], mean[told])


def test_signature_of_many_systems_tells_their_patterns_apart() -> None:
    """Seventy systems have more patterns of predictions than a 64-bit number."""
    rng = np.random.default_rng(0)
    prediction = rng.integers(0, 2, (70, 6))
    prediction[:, 0], prediction[:, 1] = 0, 1
    prediction[:, 3] = prediction[:, 2]
    prediction[0, 3] = 1 - prediction[0, 2]  # items 2 and 3 differ in the first system alone
    pool = Pool.from_arrays(systems={f"s{j}": {"prediction": p} for j, p in enumerate(prediction)})
    stack = Stack(tuple(Accuracy(system=name) for name in pool.systems)).bind(pool)
    signature = stack.signature(pool)
    assert signature is not None
    assert len(set(signature.tolist())) == 6


def test_for_system_reaches_inside() -> None:
    stack = Stack((FBeta(beta=2.0), PerGroup(Recall(pos_label="yes"), "group")))
    assert for_system(stack, "b") == Stack(
        (FBeta(system="b", beta=2.0), PerGroup(Recall(system="b", pos_label="yes"), "group"))
    )
    with pytest.raises(InvalidInput, match="names its systems itself"):
        for_system(Difference(FBeta(), "a", "b"), "b")


def test_an_empty_list_of_measures_is_refused() -> None:
    with pytest.raises(InvalidInput, match="at least one"):
        resolve([])


def test_unknown_measure_is_refused_with_a_hint() -> None:
    with pytest.raises(InvalidInput, match=r"'f11'.*did you mean 'f1'"):
        resolve("f11")
    with pytest.raises(InvalidInput, match="measure="):
        resolve(3)  # type: ignore[arg-type]


binary = st.lists(st.tuples(*[st.booleans()] * 3), min_size=2, max_size=30)


@settings(deadline=None, max_examples=60)
@given(binary, st.sampled_from(["accuracy", "f1", "matthews_corrcoef", "precision"]))
def test_difference_changes_sign_when_systems_are_swapped(
    items: list[tuple[bool, bool, bool]], name: str
) -> None:
    a, b, y = np.array(items).T
    pool = Pool.from_arrays(systems={"a": {"prediction": a}, "b": {"prediction": b}})
    truth = y.astype(np.float64)
    one = value(Difference(resolve(name), "a", "b"), pool, truth)
    two = value(Difference(resolve(name), "b", "a"), pool, truth)
    np.testing.assert_allclose(one, -two, atol=1e-15)


@settings(deadline=None, max_examples=60)
@given(binary)
def test_accuracy_is_the_mean_of_the_groups_by_size(items: list[tuple[bool, bool, bool]]) -> None:
    prediction, group, y = np.array(items).T
    pool = Pool.from_arrays(prediction=prediction, groups={"g": group})
    truth = y.astype(np.float64)
    each = value(PerGroup(Accuracy(), "g"), pool, truth)
    size = np.bincount(pool.group("g").codes)
    np.testing.assert_allclose(each @ size / size.sum(), value(Accuracy(), pool, truth)[0])
