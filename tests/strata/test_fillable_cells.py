"""Cells no finer than labels can fill."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sondage.measures import Accuracy, PerGroup, resolve
from sondage.pool import Pool
from sondage.pool.units import CellUnits
from sondage.strata import ByGroup, Consensus, LogRank, Strata
from sondage.strata.fillable_cells import EACH, cells_to_fill, joined_bands
from sondage.types import Array

SEED = 7


def systems_pool(systems: int, n: int = 900, classes: int = 10) -> Pool:
    rng = np.random.default_rng(1)
    said = {f"s{k}": {"prediction": rng.integers(0, classes, n)} for k in range(systems)}
    return Pool.from_arrays(systems=said, labels=list(range(classes)))


def accuracies(systems: int) -> list[Accuracy]:
    return [Accuracy(system=f"s{k}") for k in range(systems)]


def cells(pool: Pool, measure: Any, labels: float, strata: Strata | None = None) -> CellUnits:
    bound = resolve(measure).bind(pool)
    rule = LogRank() if strata is None else strata
    return cells_to_fill(pool, rule, bound.systems(pool), bound.signature(pool), SEED, labels)


@pytest.mark.parametrize("systems", [2, 3, 6])
def test_many_patterns_of_predictions_become_levels_of_agreement(systems: int) -> None:
    pool = systems_pool(systems)
    units = cells(pool, accuracies(systems), labels=100)
    assert units.codes.tolist() == Consensus().codes(pool, tuple(pool.systems), SEED).tolist()


def test_patterns_that_labels_can_fill_stay_apart() -> None:
    pool = systems_pool(2, classes=3)
    units = cells(pool, accuracies(2), labels=500)
    said = [pool.system(name).prediction for name in pool.systems]
    for unit in range(units.count):
        rows = units.members(unit)
        assert all(len(set(np.asarray(one)[rows].tolist())) == 1 for one in said)


def test_groups_too_many_for_the_labels_are_left_to_the_estimator() -> None:
    rng = np.random.default_rng(2)
    n = 2000
    group = rng.integers(0, 60, n)
    pool = Pool.from_arrays(score=rng.normal(size=n), threshold=0.0, groups={"g": group})
    few = cells(pool, PerGroup("accuracy", "g"), labels=100)
    many = cells(pool, PerGroup("accuracy", "g"), labels=5_000)
    predicted = np.asarray(pool.system().prediction)
    assert few.count <= 100 / EACH
    assert all(len(set(predicted[few.members(unit)].tolist())) == 1 for unit in range(few.count))
    assert all(len(set(group[many.members(unit)].tolist())) == 1 for unit in range(many.count))


@given(st.integers(1, 40), st.integers(0, 400), st.booleans())
def test_cells_are_joined_with_neighbours_of_their_kind(bands: int, labels: int, signed: bool) -> None:
    """As many as there are labels for, or one of each kind; in order, and no kind mixed with another."""
    n = 240
    score = np.linspace(-1, 1, n)
    pool = Pool.from_arrays(score=score, threshold=0.0)
    predicted = np.asarray(pool.system().prediction)
    strata: Array = np.where(predicted == 1, bands, 0) + np.arange(n) * bands * 2 // n % bands
    found = joined_bands(pool, strata, predicted if signed else None, labels, ("model",))
    made = len(np.unique(found))
    assert made <= max(labels / EACH, 2)
    assert sorted(set(found.tolist())) == list(range(made))
    if len(np.unique(strata)) <= labels / EACH:
        assert found.tolist() == strata.tolist()
    for one in range(made):
        assert len(set(predicted[found == one].tolist())) == 1
        held = np.unique(strata[found == one])
        assert (np.diff(held) == 1).all()


def test_strata_that_somebody_chose_stay_as_they_are() -> None:
    pool = Pool.from_arrays(prediction=np.zeros(400, int), labels=[0, 1], groups={"g": np.arange(400) % 40})
    assert cells(pool, "accuracy", 20, ByGroup("g")).count == 40


def test_costs_make_no_cells_that_labels_cannot_fill() -> None:
    rng = np.random.default_rng(3)
    score, cost = rng.normal(size=1000), rng.choice([1.0, 2.0, 3.0, 4.0, 5.0], 1000)
    pool = Pool.from_arrays(score=score, threshold=0.0, cost=cost)
    assert cells(pool, "f1", 60).count <= 60 / EACH
    assert cells(pool, "f1", 10_000).count > 60
