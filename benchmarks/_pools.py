"""Pools with known labels: those of the data folder where it is there, and those of the package.

The data folder is ``$SONDAGE_DATA``, or ``../shared/data`` seen from the root of the repository.
Its files are never copied into the repository.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np

from benchmarks._results import Skipped
from sondage import Pool
from sondage.datasets import restaurants, synthetic_pool

Labelled = tuple[Pool, dict[Any, int]]

_ROLES: dict[str, dict[str, Any]] = {
    "abt_buy": {"id": "id", "score": "score", "prediction": "pred"},
    "dblp_acm": {"id": "id", "score": "score", "prediction": "pred"},
    "tweets100k": {"id": "id", "score": "score", "prediction": "pred"},
    "bank_marketing": {"id": "id", "score": "score_LR", "threshold": 0.5},
}

_PROBABILITY = {"abt_buy": "prob"}
"""Columns of calibrated probabilities."""

_MADE: dict[str, Callable[[], Labelled]] = {
    "restaurants": restaurants,
    "synthetic_rare": lambda: synthetic_pool(50_000, prevalence=0.002, separation=3.5, rng=1),
    "synthetic_overconfident": lambda: synthetic_pool(
        20_000, prevalence=0.1, separation=2.5, calibration=3, rng=2
    ),
    "synthetic_lost": lambda: synthetic_pool(20_000, prevalence=0.02, lost=0.2, ties=20, rng=3),
}


def folder() -> Path:
    named = os.environ.get("SONDAGE_DATA")
    return Path(named) if named else Path(__file__).parents[2] / "shared" / "data"


def available() -> list[str]:
    """Names of the pools that can be had here."""
    return [name for name in _ROLES if (folder() / f"{name}.parquet").exists()] + list(_MADE)


def known() -> list[str]:
    return [*_ROLES, *_MADE]


def has_calibrated(name: str) -> bool:
    """Whether a pool can be had with calibrated probabilities too."""
    return name in _PROBABILITY


def load(name: str, probability: Literal["no", "beside", "alone"] = "no") -> Labelled:
    """A pool and its labels by id; with calibrated probabilities beside the margins, or in their place."""
    if name in _MADE:
        return _MADE[name]()
    path = folder() / f"{name}.parquet"
    if not path.exists():
        raise Skipped(f"needs {name}.parquet in ../shared/data or in the folder that SONDAGE_DATA names")
    import pyarrow.parquet as pq

    roles = _ROLES[name]
    if probability != "no":
        margins = {} if probability == "alone" else {"score": roles["score"]}
        roles = {"id": "id", "prediction": "pred", "probability": _PROBABILITY[name], **margins}
    pool = Pool.from_parquet(path, **roles)
    columns = pq.read_table(path, columns=["id", "label"])
    ids, labels = (np.asarray(columns[part]).tolist() for part in ("id", "label"))
    return pool, dict(zip(ids, labels, strict=True))
