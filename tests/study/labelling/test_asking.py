"""Items of a round are handed out in an order that says nothing of their score."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import rankdata
from tests.every_design import WITH_OPTIONS

import sondage as sd
from sondage.journal import Journal

SEEDS = 30


@pytest.fixture(scope="module")
def source() -> Any:
    return sd.datasets.synthetic_pool(n=600, prevalence=0.2, rng=0)


@pytest.mark.parametrize("name", sorted(WITH_OPTIONS))
def test_the_order_says_nothing_of_the_score(name: str, source: Any) -> None:
    """Over many studies the rank correlation is nought, in the first round and in a later one."""
    pool, labels = source
    score = np.asarray(pool.system().score)
    found: list[list[float]] = [[], []]
    for seed in range(SEEDS):
        study = sd.create_study(pool, "f1", design=WITH_OPTIONS[name], rng=seed)
        for k in (0, 1):
            ids = [item.id for item in study.ask(40)]
            ranks = rankdata([score[pool.row_of(id)] for id in ids])
            found[k].append(float(np.corrcoef(np.arange(len(ids)), ranks)[0, 1]))
            study.tell({id: labels[id] for id in ids})
    for each in found:
        # One round of 40 has a standard deviation of 0.16.
        assert abs(np.mean(each)) < 4 * 0.16 / np.sqrt(SEEDS)


@pytest.mark.parametrize("name", ["poisson-online", "active-inference", "error-curve", "stratified", "ais"])
def test_the_first_half_of_a_round_stands_for_all_of_it(name: str, source: Any) -> None:
    pool, labels = source
    half, whole = [], []
    for seed in range(SEEDS):
        study = sd.create_study(pool, "f1", design=name, rng=seed)
        ids = [item.id for item in study.ask(100)]
        first = len(ids) // 2
        study.tell({id: labels[id] for id in ids[:first]})
        half.append(study.estimate().value)
        study.tell({id: labels[id] for id in ids[first:]})
        whole.append(study.estimate().value)
    assert abs(np.mean(half) - np.mean(whole)) < 0.05


@pytest.mark.parametrize("name", ["error-curve", "poisson-online", "sequential", "importance"])
def test_open_items_come_in_the_same_order_again(name: str, source: Any, storage: Any) -> None:
    journal: Journal = storage()
    pool, labels = source
    study = sd.create_study(pool, "f1", design=name, rng=1, storage=journal, name="s")
    asked = [item.id for n in (20, 30) for item in study.ask(n)]
    answered = set(asked[5:12])
    study.tell({id: labels[id] for id in answered})
    left = [id for id in asked if id not in answered]
    again = sd.load_study(storage(), "s", pool=pool)
    assert [item.id for item in again.open_items()] == left


def test_units_take_turns(source: Any) -> None:
    """At half time half of every unit's items are out, give or take one."""
    pool, _ = source
    study = sd.create_study(pool, "f1", design="stratified", rng=1)
    ids = [item.id for item in study.ask(100)]
    unit = study.units.of(pool.rows_of(ids))
    every = np.bincount(unit, minlength=study.units.count)
    out = np.bincount(unit[:50], minlength=study.units.count)
    assert (np.abs(out - every / 2) <= 1).all()


def test_draws_made_one_after_another_are_handed_out_as_drawn(source: Any) -> None:
    """The longest prefix with labels is a sample by itself, which sequences read."""
    pool, _ = source
    study = sd.create_study(pool, "f1", design="auto-audit", rng=1)
    ids = [item.id for item in study.ask(20)]
    assert ids == pool.ids_of(study.sample.row)
