"""Pools whose errors are easily missed, and how often intervals hold the truth there."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import sondage as sd
from sondage.types import Floats

MEASURES = ("accuracy", "precision", "recall", "f1")
DESIGNS = ("uniform", "stratified", "importance", "poisson", "sequential", "auto-audit")
POOLS = ("rare", "plain", "perfect", "wrong", "balanced")
SIZE = 5000


@cache
def labelled(name: str) -> tuple[sd.Pool, Any]:
    """The pool and its labels.

    ``rare``: 5 % positives and a good model; ``plain``: the same with no scores and F1 about .77;
    ``perfect``: no error at all; ``wrong``: 15 % of the positives have scores below .02, some negatives
    above .98; ``balanced``: half positives.
    """
    r = np.random.default_rng(7)
    share = {"wrong": 0.1, "balanced": 0.5}.get(name, 0.05)
    y = (r.random(SIZE) < share).astype(int)
    if name == "plain":
        said = np.where(y == 1, r.random(SIZE) < 0.76, r.random(SIZE) < 0.011).astype(int)
        return sd.Pool.from_arrays(prediction=said, labels=[0, 1]), y
    if name == "perfect":
        score = np.where(y == 1, 0.6, 0.0) + 0.4 * r.random(SIZE)
    elif name == "wrong":
        sure = np.where(y == 1, 0.5 + 0.5 * r.beta(5, 1, SIZE), 0.5 * r.beta(1, 5, SIZE))
        false = np.where(r.random(SIZE) < 0.2, 0.98 + 0.02 * r.random(SIZE), 0.05 * r.random(SIZE))
        false = np.where(y == 1, 0.02 * r.random(SIZE), false)
        score = np.where(r.random(SIZE) < 0.85, sure, false)
    else:
        gap, level = (1.0, 0.0) if name == "balanced" else (2.2, np.log(0.05 / 0.95))
        x = np.where(y == 1, gap, -gap) + r.normal(size=SIZE)
        score = 1 / (1 + np.exp(-(2.0 * gap * x + level)))
    return sd.Pool.from_arrays(probability=score, prediction=(score > 0.5).astype(int)), y


def truth(name: str) -> dict[str, float]:
    """The values of the four measures."""
    pool, y = labelled(name)
    said = np.asarray(pool.system().prediction)
    hits = float((y * said).sum())
    return {
        "accuracy": float((y == said).mean()),
        "precision": hits / said.sum(),
        "recall": hits / y.sum(),
        "f1": 2 * hits / (said.sum() + y.sum()),
    }


def intervals(name: str, design: str, labels: int, repeats: int, measure: str = "f1") -> Floats:
    """(repeats, 3) value and interval of studies made for F1; nan where it is undefined."""
    pool, y = labelled(name)
    answers = dict(zip(pool.ids.tolist(), y.tolist(), strict=True))
    out = []
    for seed in range(repeats):
        study = sd.create_study(pool, "f1", design=design, budget=labels, rng=seed)
        study.run(answers)
        found = study.estimate(measure)
        out.append((found.value, found.ci.low, found.ci.high))
    return np.array(out, dtype=np.float64)


def coverage(found: Floats, value: float) -> float:
    """Share of the defined intervals that hold a value."""
    held = (found[:, 1] <= value + 1e-9) & (value - 1e-9 <= found[:, 2])
    return float(held[np.isfinite(found[:, 0])].mean())
