"""Pools of several systems with known labels, shaped like people's."""

from __future__ import annotations

from typing import Any

import numpy as np

import sondage as sd


def voters(
    n: int, accuracy: tuple[float, ...], classes: int = 4, seed: int = 0, **more: Any
) -> tuple[sd.Pool, dict[int, str]]:
    """Systems that answer with a class, each right with its own chance, and no scores; text labels."""
    rng = np.random.default_rng(seed)
    names = np.array([f"c{c}" for c in range(classes)])
    truth = rng.integers(classes, size=n)
    hard = rng.random(n)[:, None]
    said = (truth[:, None] + rng.integers(1, classes, (n, len(accuracy)))) % classes
    right = 0.5 * (rng.random((n, len(accuracy))) + hard) < np.array(accuracy)
    said = np.where(right, truth[:, None], said)
    systems = {f"s{k}": {"prediction": names[said[:, k]]} for k in range(len(accuracy))}
    pool = sd.Pool.from_arrays(systems=systems, labels=names.tolist(), **more)
    return pool, dict(zip(range(n), names[truth].tolist(), strict=True))


def scored(n: int, noise: tuple[float, ...], seed: int = 0) -> tuple[sd.Pool, dict[int, int]]:
    """Binary systems with scores of different quality."""
    rng = np.random.default_rng(seed)
    signal = rng.standard_normal(n) - 1.0
    truth = (signal + 0.5 * rng.standard_normal(n) > 0).astype(int)
    scores = {f"s{k}": signal + sd_ * rng.standard_normal(n) for k, sd_ in enumerate(noise)}
    pool = sd.Pool.from_arrays(
        systems={name: {"score": one, "threshold": 0.0} for name, one in scores.items()}
    )
    return pool, dict(zip(range(n), truth.tolist(), strict=True))


def equals(n: int, differ: int, seed: int = 0) -> tuple[sd.Pool, dict[int, int]]:
    """Two binary systems that disagree on ``differ`` items, each right on exactly half of them."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=n)
    a, b = truth.copy(), truth.copy()
    where = rng.permutation(n)[:differ]
    a[where[: differ // 2]] ^= 1
    b[where[differ // 2 :]] ^= 1
    both = rng.permutation(n)[: n // 10]
    both = np.setdiff1d(both, where)
    a[both] ^= 1
    b[both] ^= 1
    pool = sd.Pool.from_arrays(systems={"a": {"prediction": a}, "b": {"prediction": b}}, labels=[0, 1])
    return pool, dict(zip(range(n), truth.tolist(), strict=True))


def labelled(
    pool: sd.Pool, truth: dict[Any, Any], n: int, rng: int = 0, measure: str = "accuracy", **more: Any
):
    """A study with ``n`` labels."""
    study = sd.create_study(pool, measure, rng=rng, **more)
    while study.n_labels < n:
        study.tell({item.id: truth[item.id] for item in study.ask(min(25, n - study.n_labels))})
    return study


def accuracies(pool: sd.Pool, truth: dict[int, Any]) -> np.ndarray:
    """The accuracy of every system."""
    values = list(pool.labels.values)
    y = np.array([values.index(truth[i]) for i in pool.ids_of(np.arange(len(pool)))])
    return np.array([(pool.system(name).prediction == y).mean() for name in pool.systems])


def unequal(n: int, differ: int, more: int, seed: int = 0) -> tuple[sd.Pool, dict[int, int]]:
    """As ``equals``, but ``a`` is right on ``more`` items more than half of those that differ."""
    pool, truth = equals(n, differ, seed)
    a, b = (pool.system(name).prediction.astype(int) for name in "ab")
    wrong = np.flatnonzero((a != b) & (a != np.array(list(truth.values()))))
    flip = np.random.default_rng(seed + 1).permutation(wrong)[:more]
    a[flip], b[flip] = b[flip], a[flip]
    systems = {"a": {"prediction": a}, "b": {"prediction": b}}
    return sd.Pool.from_arrays(systems=systems, labels=[0, 1]), truth
