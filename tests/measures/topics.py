"""Texts about several topics at once: labels that go together, and a model's probabilities for each."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from sondage.pool import Pool
from sondage.types import Floats, Ints


def topics(
    n: int, labels: int, seed: int, *, together: float = 1.5, base: float = -1.2
) -> tuple[Floats, Ints]:
    """Probabilities (n, labels) and truth. ``together`` is how much the topics of a text have in common.

    Half of what topics have in common is unknown to the model, so that given its probabilities they still go
    together.
    """
    rng = np.random.default_rng(seed)
    seen, unseen = rng.normal(size=(2, n, 1)) * together / np.sqrt(2)
    margin = base + seen + 1.2 * rng.normal(size=(n, labels))
    truth = margin + unseen + rng.logistic(size=(n, labels)) > 0
    return expit(margin), truth.astype(np.int64)


def topic_pool(probability: Floats, **roles: object) -> Pool:
    """The pool of these probabilities, cut at 1/2."""
    names = [f"topic{place}" for place in range(probability.shape[1])]
    return Pool.from_arrays(probability=probability, multilabel=True, labels=names, **roles)
