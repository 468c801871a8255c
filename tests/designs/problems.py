"""Problems as a design sees them, built without any label."""

from __future__ import annotations

from typing import Any

import numpy as np

import sondage as sd
from sondage.beliefs import ScoreBelief
from sondage.designs import Design, Importance
from sondage.designs.base import Problem
from sondage.measures import Measure
from sondage.pool.pool import Pool

PLAIN = ScoreBelief()
"""The scores as they are; designs are told not to floor them, so that closed forms hold."""


def problem_of(pool: Pool, measure: str | Measure, design: Design | None = None, **options: Any) -> Problem:
    """What the design is shown at its first round."""
    chosen = design or Importance(probability_floor=0.0, risk_floor=0.0)
    return sd.create_study(pool, measure, design=chosen, rng=1, **options).problem()


def scored(n: int = 60, seed: int = 2, **columns: Any) -> tuple[Pool, np.ndarray, np.ndarray]:
    """A binary pool, its chances of a positive and its predictions (not always the likelier)."""
    rng = np.random.default_rng(seed)
    p1 = rng.beta(0.8, 1.6, n)
    f = (p1 >= 0.35).astype(int)
    return Pool.from_arrays(probability=p1, prediction=f, **columns), p1, f.astype(float)
