"""Pools and labels of several numbers for the conformance tests: yes or no to three questions, or counts."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from sondage.pool.labels import LabelSpace
from sondage.types import Array, Floats

TOPICS = ("sport", "money", "arts")


def vector_columns(seed: int, n: int = 60, *, counts: tuple[str, ...] = ()) -> dict[str, Any]:
    """Arguments of ``Pool.from_arrays``: two systems, a group, costs; labels are counts if named."""
    rng = np.random.default_rng(seed)
    return {
        "id": rng.permutation(10 * n)[:n],
        "cost": rng.choice([0.5, 1.0, 4.0], n),
        "groups": {"group": np.resize(np.array(["north", "south", "west"]), n)[rng.permutation(n)]},
        "labels": dict.fromkeys(counts, (0, None)) if counts else list(TOPICS),
        "multilabel": not counts,
        "systems": {name: _random_system(rng, n, counts) for name in ("a", "b")},
    }


def _random_system(rng: np.random.Generator, n: int, counts: tuple[str, ...]) -> dict[str, Array]:
    score = np.round(rng.normal(scale=2.0, size=n), 1)
    if counts:
        return {"score": score, "prediction": rng.gamma(1.0, 2.0, (n, len(counts)))}
    probability = rng.beta(0.5, 1.0, (n, len(TOPICS)))
    prediction = (rng.uniform(size=probability.shape) < probability).astype(np.int8)
    prediction[0] = 1  # every label is predicted, and every item has a prediction
    prediction[prediction.sum(axis=1) == 0, 0] = 1
    return {"score": score, "probability": probability, "prediction": prediction}


def some_labels(space: LabelSpace) -> Floats:
    """(S, C) every label of yes or no; of counts, all up to 2, and some larger ones."""
    size = len(space.components)
    if space.whole:
        return np.array(list(product((0.0, 1.0), repeat=size)))
    small = np.array(list(product((0.0, 1.0, 2.0), repeat=size)))
    return np.concatenate([small, 7.0 * np.eye(size), np.full((1, size), 4.0)])


def codes_of(space: LabelSpace, vectors: Array) -> Floats:
    """The numbers that stand for labels of several numbers."""
    return space.encode(list(vectors))


def chances_of(vectors: Floats, means: Floats) -> Floats:
    """(n, S) chance of each label of yes or no, where (n, C) gives the chance of each yes."""
    each = np.where(vectors == 1, means[:, None, :], 1.0 - means[:, None, :])
    return np.asarray(each.prod(axis=-1))
