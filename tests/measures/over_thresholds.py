"""Measures over thresholds, and what many studies say of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from sondage.datasets import synthetic_pool
from sondage.measures import (
    AveragePrecision,
    BreakEven,
    MaxFBeta,
    Measure,
    PrecisionRecallCurve,
    RocAuc,
    RocCurve,
)
from sondage.simulation import simulate
from sondage.types import Floats

DESIGNS = ("uniform", "stratified", "importance", "poisson")
MEASURES: dict[str, Measure] = {
    "average precision": AveragePrecision(),
    "AUC": RocAuc(),
    "best F1": MaxFBeta(),
    "break-even": BreakEven(),
    "three points": PrecisionRecallCurve(thresholds=(0.2, 0.5, 0.8)),
    "ROC": RocCurve(thresholds=30),
}


def estimates(measure: Any, design: str, *, repeats: int, labels: int, workers: int = 1) -> dict[str, Floats]:
    """Columns of many studies, (repeats, m) each."""
    pool, answers = synthetic_pool(n=2000, prevalence=0.15, separation=2.0, rng=5)
    found = simulate(
        pool,
        answers,
        measure,
        design=design,
        budgets=[labels],
        repeats=repeats,
        batch=labels,
        rng=8,
        workers=workers,
    )
    columns = ("value", "std_error", "truth", "low", "high")
    return {name: np.asarray(found[name], dtype=np.float64).reshape(repeats, -1) for name in columns}
