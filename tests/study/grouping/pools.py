"""Pools whose groups differ in accuracy, for the tests of groups."""

from __future__ import annotations

from typing import Any

import numpy as np

import sondage as sd

ACCURACY = (0.95, 0.9, 0.85, 0.6)


def grouped_pool(
    n: int = 1_200, seed: int = 0, accuracy: tuple[float, ...] = ACCURACY, classes: int = 2
) -> tuple[sd.Pool, dict[int, Any], np.ndarray]:
    """A pool with groups g0, g1, ... of these accuracies, the labels, and whether predictions are right."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, len(accuracy), n)
    sure = np.clip(rng.beta(6, 2, n), 1.0 / classes + 0.01, 0.999)
    predicted = rng.integers(0, classes, n)
    table = np.repeat(((1.0 - sure) / (classes - 1))[:, None], classes, axis=1)
    table[np.arange(n), predicted] = sure
    right = rng.random(n) < np.array(accuracy)[group]
    other = (predicted + rng.integers(1, classes, n)) % classes
    truth = np.where(right, predicted, other)
    pool = sd.Pool.from_arrays(
        probability=table, labels=list(range(classes)), groups={"group": [f"g{k}" for k in group]}
    )
    return pool, dict(enumerate(truth.tolist())), right


def truth_by_group(pool: sd.Pool, right: np.ndarray) -> np.ndarray:
    codes = pool.group("group").codes
    return np.array([right[codes == k].mean() for k in range(len(pool.levels("group")))])
