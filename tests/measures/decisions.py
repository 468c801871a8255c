"""Pools with calibrated probabilities and the measures of decisions that are studied on them."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

import sondage as sd
from sondage.measures import (
    BalancedAccuracy,
    BrierScoreLoss,
    CohenKappa,
    ConfusionMatrix,
    ExpectedCost,
    FBeta,
    LogLoss,
    MatthewsCorrcoef,
    Measure,
    Precision,
    PrecisionAtK,
    Prevalence,
    Recall,
    RecallAtK,
    TopKAccuracy,
    pool_value,
)
from sondage.types import Floats

DESIGNS = ["uniform", "stratified", "importance", "poisson"]
COST = (1 - np.eye(4)) * np.array([[1], [2], [3], [4]])
FOUR: dict[str, Measure] = {
    "macro F1": FBeta(average="macro"),
    "macro F1 of means": FBeta(average="macro_of_means"),
    "weighted precision": Precision(average="weighted"),
    "micro of two": Recall(average="micro", labels=[0, 2]),
    "recall of each": Recall(average=None),
    "balanced accuracy": BalancedAccuracy(adjusted=True),
    "correlation": MatthewsCorrcoef(),
    "quadratic kappa": CohenKappa(weights="quadratic"),
    "some of the confusion": ConfusionMatrix(normalize="true", entries=[(0, 1), (2, 2)]),
    "cost": ExpectedCost(COST),  # type: ignore[arg-type]
    "top two": TopKAccuracy(k=2),
    "Brier": BrierScoreLoss(),
    "log loss": LogLoss(eps=1e-3),
    "prevalence": Prevalence(pos_label=2),
    "precision at the top": PrecisionAtK(k=0.2, pos_label=0),
    "recall at the top": RecallAtK(k=0.2, pos_label=0),
}
"""On four classes."""
SIXTEEN: dict[str, Measure] = {
    "macro F1 of many": FBeta(average="macro"),
    "balanced accuracy of many": BalancedAccuracy(),
    "correlation of many": MatthewsCorrcoef(),
    "linear kappa of many": CohenKappa(weights="linear"),
    "confusion of many": ConfusionMatrix(),
}
"""On sixteen, which are too many to be written out."""
MEASURES = FOUR | SIXTEEN


class Estimates(NamedTuple):
    """The truth (m,), and values, standard errors and whether the interval holds it, (repeats, m) each."""

    truth: Floats
    value: Floats
    error: Floats
    held: Floats


def pool_for(name: str, n: int) -> tuple[sd.Pool, Floats]:
    """The pool of a measure, and its labels."""
    return labelled(4, n, 2.5) if name in FOUR else labelled(16, n, 1.0)


@cache
def labelled(size: int, n: int, signal: float) -> tuple[sd.Pool, Floats]:
    """A pool with calibrated probabilities, and labels drawn from them."""
    rng = np.random.default_rng(size)
    logit = rng.normal(size=(n, size))
    logit[np.arange(n), rng.integers(0, size, n)] += signal
    table = np.exp(logit) / np.exp(logit).sum(axis=1, keepdims=True)
    y = (table.cumsum(axis=1) < rng.uniform(size=(n, 1))).sum(axis=1)
    parts: dict[str, Any] = {"probability": table, "score": logit[:, 0]}
    return sd.Pool.from_arrays(labels=list(range(size)), **parts), y.astype(float)


def estimates(name: str, design: str, *, repeats: int, labels: int, n: int = 1500) -> Estimates:
    """Estimates of many studies that differ in their seed alone."""
    pool, y = pool_for(name, n)
    measure = MEASURES[name]
    truth = pool_value(measure.bind(pool), pool, y)
    told = dict(enumerate(y.astype(int).tolist()))
    rows = []
    for seed in range(repeats):
        study = sd.create_study(pool, measure, design=design, rng=seed)
        study.tell({item.id: told[item.id] for item in study.ask(labels)})
        found = study.estimate()
        held = (found.ci.low <= truth) & (truth <= found.ci.high)
        rows.append([np.atleast_1d(one) for one in (found.value, found.std_error, held)])
    value, error, inside = np.array(rows, dtype=np.float64).transpose(1, 0, 2)
    return Estimates(truth, value, error, inside)
