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
Cut = tuple[str, int | None, int | None]

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

_BOUNDARIES: dict[str, Cut] = {
    "abt_buy, 60 predicted": ("abt_buy", 60, None),
    "dblp_acm, 40 predicted": ("dblp_acm", 40, None),
    "restaurants, 60 predicted": ("restaurants", 60, None),
    "svhn 7, 80 of them": ("svhn_resnet 7", 90, 80),
    "cifar10 3, 40 of them": ("cifar10 3", 50, 40),
    "bank, 60 of them": ("bank_marketing", 40, 60),
}
"""Rare pools made from real ones: how many are predicted positive, and how many positives are kept."""
_CLASSES = ("svhn_resnet 7", "cifar10 3", "news20 0")
"""One class against the rest."""
RARE = ("abt_buy", "dblp_acm", "restaurants", *_BOUNDARIES)
COMMON = ("tweets100k", "bank_marketing", *_CLASSES)


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
    if name in _BOUNDARIES:
        return _cut(*_BOUNDARIES[name])
    if name in _CLASSES:
        return _against_rest(*name.split())
    columns = _columns(name, ["id", "label"])
    roles = _ROLES[name]
    if probability != "no":
        margins = {} if probability == "alone" else {"score": roles["score"]}
        roles = {"id": "id", "prediction": "pred", "probability": _PROBABILITY[name], **margins}
    pool = Pool.from_parquet(folder() / f"{name}.parquet", **roles)
    return pool, dict(zip(columns["id"].tolist(), columns["label"].tolist(), strict=True))


def _against_rest(name: str, label: str) -> Labelled:
    """One class of a classifier of many: the score is the log-odds of its chance, cut at even odds."""
    columns = _columns(name, ["label", f"p{label}"])
    chance = np.clip(columns[f"p{label}"].astype(np.float64), 1e-9, 1 - 1e-9)
    hit = columns["label"] == int(label)
    pool = Pool.from_arrays(id=np.arange(len(hit)), score=np.log(chance / (1 - chance)), threshold=0.0)
    return pool, dict(enumerate(hit.astype(int).tolist()))


def _cut(name: str, predicted: int | None, kept: int | None) -> Labelled:
    """A pool with another boundary, and with only some of its positives, always the same ones."""
    whole, labels = load(name)
    score = np.asarray(whole.system().score, dtype=np.float64)
    hit = np.array([labels[id] for id in whole.ids.tolist()], dtype=np.int64)
    if kept is not None:
        drop = np.random.default_rng(0).permutation(np.flatnonzero(hit))[kept:]
        stays = np.setdiff1d(np.arange(len(hit)), drop)
        score, hit = score[stays], hit[stays]
    if predicted is not None:
        score = score - np.mean(np.sort(score)[[-predicted - 1, -predicted]])
    pool = Pool.from_arrays(id=np.arange(len(hit)), score=score, threshold=0.0)
    return pool, dict(enumerate(hit.tolist()))


def _columns(name: str, wanted: list[str]) -> dict[str, Any]:
    path = folder() / f"{name}.parquet"
    if not path.exists():
        raise Skipped(f"needs {name}.parquet in ../shared/data or in the folder that SONDAGE_DATA names")
    import pyarrow.parquet as pq

    table = pq.read_table(path, columns=wanted)
    return {one: np.asarray(table[one]) for one in wanted}
