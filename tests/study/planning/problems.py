"""Pools to plan for, and labels as a world has them."""

from __future__ import annotations

from typing import Any

import numpy as np

import sondage as sd
from sondage.beliefs.error_curve.belief import ErrorCurve
from sondage.beliefs.error_curve.state import CurveState
from sondage.pool import Pool
from sondage.streams import stream
from sondage.study.planning.possible import Possible
from sondage.types import Floats


def scored(n: int = 2000, seed: int = 0, **columns: Any) -> Pool:
    """A pool with margins and predictions."""
    score = np.random.default_rng(seed).normal(-1.5, 2.0, n)
    return Pool.from_arrays(score=score, threshold=0.0, **columns)


def possible(study: sd.Study) -> Possible:
    """What a study with error curves holds possible now."""
    now = study.snapshot().belief_now()
    assert isinstance(now, CurveState)
    assert isinstance(study.belief, ErrorCurve)
    return Possible(study.pool, study.measure, study.units, study.belief, now)


def labels_in(study: sd.Study, weights: Floats, seed: int) -> dict[Any, int]:
    """A label for every item, drawn by the chances of a world."""
    chance = weights[np.asarray(study.units.codes, dtype=np.int64)]
    y = (stream(seed, "simulate").uniform(len(chance))[:, None] >= np.cumsum(chance, axis=1)).sum(axis=1)
    return dict(zip(study.pool.ids.tolist(), np.minimum(y, chance.shape[1] - 1).tolist(), strict=True))
