"""Items that a belief holds certain are doubted as far as its scores and the labels leave room for."""

from __future__ import annotations

import numpy as np
import pytest

import sondage as sd
from sondage.beliefs import ScoreBelief
from sondage.estimators.base import Case
from sondage.estimators.held_certain import if_wrong
from sondage.measures import Accuracy
from sondage.pool.units import ItemUnits


def margins(n: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """Chances that are right, and labels drawn by them."""
    rng = np.random.default_rng(4)
    chance = 1 / (1 + np.exp(-rng.normal(-0.8, 2.2, n)))
    return chance, rng.random(n) < chance


def saturated(chance: np.ndarray) -> np.ndarray:
    """The same chances, but for the middle ones said to be certain."""
    return np.where(np.abs(chance - 0.5) < 0.12, chance, chance >= 0.5)


@pytest.mark.parametrize("design", ["oasis", "sequential", "poisson-online", "ais", "importance"])
def test_scores_that_are_certain_and_often_wrong(design: str) -> None:
    """Errors seen where the scores are in doubt say nothing of the items that they are certain about."""
    chance, truth = margins()
    pool = sd.Pool.from_arrays(probability=saturated(chance))
    answers = dict(enumerate(truth.astype(int).tolist()))
    exact = 2 * (truth & (chance >= 0.5)).sum() / (truth.sum() + (chance >= 0.5).sum())
    held = 0
    for seed in range(20):
        study = sd.create_study(pool, "f1", design=design, budget=50, rng=seed)
        study.run(answers)
        low, high = study.estimate().ci
        held += low <= exact <= high
    assert held >= 17


def doubt(probability: np.ndarray, asked: int) -> np.ndarray:
    """Least variances of the accuracy, with labels of the first items."""
    pool = sd.Pool.from_arrays(probability=probability)
    measure = Accuracy().bind(pool)
    sample = sd.create_study(pool, "accuracy", design="uniform", budget=10, rng=1).sample
    belief = ScoreBelief().bind(pool, measure.systems(pool))
    case = Case(pool, ItemUnits(pool, 0), measure, sample, belief)
    return if_wrong(case, np.arange(asked), measure.jac(np.ones(measure.d)))[:, 0]


def test_doubt_ends_where_scores_and_labels_say() -> None:
    half = np.repeat([0.0, 0.4], 50)
    below, above = doubt(half, 0)
    assert below == pytest.approx(0.4**2 / 3 * 0.5**2)  # of half the pool up to .4 may be wrong
    assert above == 0  # and no more than all right
    assert doubt(half, 20)[0] == pytest.approx(2 / (22 * 23) * 0.3**2)
    assert doubt(half, 50)[0] == 0
    assert doubt(np.repeat([0.001, 0.4], 50), 0)[0] == 0  # no item is held certain
    assert doubt(np.repeat([0.0, 0.01], 50), 0)[0] < 1e-5  # rounded scores
    some = np.r_[half[:-1], 0.001]
    assert doubt(some, 0)[0] == pytest.approx(0.4**2 / 3 * 0.5**2)  # a single one says little
