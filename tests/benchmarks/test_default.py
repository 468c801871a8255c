"""The default in hundreds of seeded studies: its error beside a uniform sample's, and its coverage.

Limits leave three standard errors: of a ratio of mean squared errors of 500 studies about .07 each, of
a coverage of .95 in 150 studies .018.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from benchmarks._many_studies import MEASURES, ManyStudies
from benchmarks._random_pools import broken_pools

import sondage as sd
from sondage.datasets import synthetic_pool
from sondage.intervals import PosteriorInterval

REPEATS, INTERVALS = 500, 150
BUDGETS = (250, 500)
FLOOR = 0.005
LEAST = 0.95 - 3 * np.sqrt(0.95 * 0.05 / INTERVALS)

MADE: dict[str, dict[str, Any]] = {
    "rare": {"n": 20_000, "prevalence": 0.01, "separation": 3.0, "rng": 1},
    "common": {"n": 20_000, "prevalence": 0.3, "separation": 1.5, "rng": 2},
    "badly calibrated": {"n": 20_000, "prevalence": 0.05, "separation": 2.5, "calibration": 3, "rng": 3},
    "some lost": {"n": 20_000, "prevalence": 0.02, "separation": 3.5, "lost": 0.03, "rng": 4},
}


def hardly_any(seed: int) -> tuple[sd.Pool, dict[int, int]]:
    """Twelve positives among 12,000, twelve predicted, and two of them found."""
    truth = (np.arange(12_000) < 12).astype(int)
    score = np.random.default_rng(seed).normal(size=12_000) + 1.5 * truth
    pool = sd.Pool.from_arrays(score=score, threshold=float(np.sort(score)[-12]))
    return pool, dict(enumerate(truth.tolist()))


# The most that the mean squared error may be of that of a uniform sample.
MOST = {
    ("rare", "f1"): 0.1,
    ("common", "f1"): 1.0,
    ("badly calibrated", "f1"): 0.4,
    ("some lost", "f1"): 0.15,
    ("common", "accuracy"): 1.1,
    ("badly calibrated", "accuracy"): 1.1,
}


# The most it may be where what the default leans on is not there, if that is not 1.1: with inverted scores
# and few predicted positives, the far ranks, where all errors are, are looked at too little.
BROKEN = {("inverted", "f1"): 1.9}


@cache
def broken() -> dict[str, Any]:
    return {name.split(":")[0]: (pool, labels) for name, pool, labels in broken_pools(3)}


def errors(many: ManyStudies, k: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """At every budget, those of the default and of a uniform sample."""
    return [
        (
            many.estimates(counts, rate)[:, k] - many.truth[k],
            many.uniform(4000, budget, 1)[:, k] - many.truth[k],
        )
        for budget, counts, rate in many.run(REPEATS, BUDGETS, seed=2)
    ]


def ratio(mine: np.ndarray, other: np.ndarray) -> float:
    return float(max(np.mean(mine**2), FLOOR**2) / max(np.mean(other**2), FLOOR**2))


@pytest.mark.parametrize(("name", "aim"), MOST, ids=str)
def test_errors_are_far_below_those_of_a_uniform_sample_and_hardly_biased(name: str, aim: str) -> None:
    many = ManyStudies(*synthetic_pool(**MADE[name]), aim)
    for mine, other in errors(many, MEASURES.index(aim)):
        assert ratio(mine, other) <= MOST[name, aim]
        assert abs(mine.mean()) < 0.6 * np.sqrt(np.mean(mine**2))


@pytest.mark.parametrize("aim", ["f1", "accuracy"])
@pytest.mark.parametrize("name", ["uninformative", "inverted", "independent", "ties", "none", "all"])
def test_pools_that_break_what_it_leans_on_cost_little(name: str, aim: str) -> None:
    many = ManyStudies(*broken()[name], aim)
    for mine, other in errors(many, MEASURES.index(aim)):
        assert ratio(mine, other) <= BROKEN.get((name, aim), 1.1) + 0.2


@pytest.mark.parametrize("name", [*MADE, "hardly any"])
def test_intervals_cover(name: str) -> None:
    """Also where most studies see no missed positive, or one next to the boundary, and ten are missed."""
    many = ManyStudies(*(synthetic_pool(**MADE[name]) if name in MADE else hardly_any(3)), "f1")
    for budget, counts, rate in many.run(INTERVALS, (100, 1000), seed=3):
        found = np.array(
            [many.intervals(counts, k, interval=PosteriorInterval(replicates=400)) for k in range(INTERVALS)]
        )
        value, low, high = found.transpose(1, 0, 2)
        covers = ((low <= many.truth) & (many.truth <= high)).mean(axis=0)
        assert (covers >= LEAST).all(), (budget, covers)
        # A value that is fair to what labels leave possible costs next to nothing in squared error.
        for k in range(len(MEASURES)):
            plug_in = many.estimates(counts, rate)[:INTERVALS, k] - many.truth[k]
            assert ratio(value[:, k] - many.truth[k], plug_in) <= 1.3
