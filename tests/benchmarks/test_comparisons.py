"""Comparisons replayed: the same tests and evidence as in studies, and what the benchmarks make of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from benchmarks import _sawade_comparison as sawade
from benchmarks._comparisons import Replay, Systems, labels_for_power, uniform_p_values
from benchmarks.compare import two_equal

import sondage as sd


@pytest.fixture(scope="module")
def systems() -> Systems:
    rng = np.random.default_rng(3)
    y = (rng.random(3000) < 0.3).astype(np.int64)
    scores = {
        name: 1.0 / (1.0 + np.exp(-(2.5 * y - 1.2 + noise * rng.normal(size=3000))))
        for name, noise in {"a": 1.0, "b": 1.4, "c": 1.8}.items()
    }
    said = {name: (score >= 0.5).astype(np.int64) for name, score in scores.items()}
    return Systems("made", np.arange(3000), said, y, scores)


@pytest.mark.parametrize("scores", [True, False])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_replay_is_what_a_study_says(systems: Systems, seed: int, scores: bool) -> None:
    systems = systems if scores else replace(systems, scores=None)
    replay = Replay(systems, "a", "b")
    study = sd.create_study(replay.pool, "accuracy", objective=sd.Compare("a", "b"), rng=seed)
    study.run(systems.labels, budget=150)
    place = {row: k for k, row in enumerate(replay.item.tolist())}
    drawn = np.array([[place[row] for row in study.snapshot().case().sample.row.tolist()]])
    steps = replay.steps(drawn)
    value, p = replay.p_values(drawn, steps, np.array([150]))
    found: Any = study.compare()
    assert value[0, 0] == pytest.approx(float(found.difference.value), rel=1e-9)
    assert p[0, 0] == pytest.approx(found.p_value, rel=1e-6)
    looked: Any = study.compare(looking=True)
    assert bool(replay.ever(steps)[0]) == (looked.p_value <= 0.05)


def test_exchanged_systems_are_equal_and_seldom_told_apart(systems: Systems) -> None:
    rng = np.random.default_rng(0)
    equal = systems.rotated(("a", "b", "c"), rng)
    right = [equal.right(name).sum() for name in equal.said]
    assert len(set(right)) == 1
    row = two_equal(systems.rotated(("a", "b"), rng), ("a", "b"), 500, rng)
    for name in ("n = 100", "n = 200", "ever"):
        assert float(row[name].split()[0]) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 500)


def test_power_is_reached_between_two_looks() -> None:
    assert labels_for_power(lambda n: n / 100, 10, 100) == pytest.approx(80, abs=0.01)
    assert labels_for_power(lambda n: 0.0 * n, 10, 100) == 100


def test_uniform_samples_of_equal_systems_are_seldom_significant() -> None:
    d = np.repeat([1.0, -1.0, 0.0], [100, 100, 1800])
    _, p = uniform_p_values(d, np.random.default_rng(1), 4000, np.array([200, 500]))
    assert np.abs((p <= 0.05).mean(axis=1) - 0.05).max() < 0.012


def test_the_repeated_test_fails_where_the_fixed_one_holds(systems: Systems) -> None:
    p = np.mean(list((systems.scores or {}).values()), axis=0)
    task = sawade.zero_one(systems, ("a", "b", "c"), np.stack([1 - p, p], axis=1), [0, 1])
    for method, by_pair in task.chances.items():
        assert all(one.sum() == pytest.approx(1.0) for one in by_pair.values()), method
    found = sawade.two_models(task, np.random.default_rng(2), 200)
    for method in ("active_!=", "passive"):
        assert found[method]["false"][2] < 0.09
        assert found[method]["repeated"][3] > 0.2
    assert found["active_!="]["selection error"][199] < found["passive"]["selection error"][199]
