"""The default design and its interval: coverage, and mean squared error against a uniform sample.

200 repeats: a coverage of .95 has a standard error of .015, a ratio of mean squared errors about a seventh of
itself. Repeats in which a uniform sample has no estimate are left out of its mean, which favours it.
"""

from typing import Any

import narwhals as nw
import numpy as np
import pytest
from tests.slow.workers import WORKERS

from sondage.datasets import synthetic_pool
from sondage.simulation import simulate, summarise

pytestmark = pytest.mark.slow
REPEATS = 200
BUDGETS = (100, 400)
LEAST = 0.95 - 3 * np.sqrt(0.95 * 0.05 / REPEATS)
POOLS: dict[str, dict[str, Any]] = {
    "rare": {"n": 20_000, "prevalence": 0.01, "separation": 3.0, "rng": 1},
    "common": {"n": 20_000, "prevalence": 0.3, "separation": 1.5, "rng": 2},
    "badly calibrated": {"n": 20_000, "prevalence": 0.05, "separation": 2.5, "calibration": 3, "rng": 3},
}
# (pool, measure): the most that the mean squared error may be of that of a uniform sample
MOST = {
    ("rare", "f1"): 0.15,
    ("rare", "recall"): 0.25,
    ("common", "f1"): 1.0,
    ("common", "recall"): 1.2,
    ("badly calibrated", "f1"): 0.5,
    ("badly calibrated", "recall"): 0.6,
}


def rows_of(pool: str, measure: str, design: str) -> dict[int, dict[str, Any]]:
    made, labels = synthetic_pool(**POOLS[pool])
    frame = simulate(
        made, labels, measure, design=design, budgets=BUDGETS, repeats=REPEATS, rng=5, workers=WORKERS
    )
    table = nw.from_native(summarise(frame), eager_only=True)
    return {row["budget"]: row for row in table.iter_rows(named=True)}


@pytest.mark.parametrize(("pool", "measure"), MOST, ids=str)
def test_the_default_covers_and_beats_a_uniform_sample(pool: str, measure: str) -> None:
    auto, uniform = rows_of(pool, measure, "auto"), rows_of(pool, measure, "uniform")
    for budget in BUDGETS:
        assert auto[budget]["undefined"] == 0
        assert auto[budget]["coverage"] >= LEAST, auto[budget]
        ratio = auto[budget]["mse"] / uniform[budget]["mse"]
        assert ratio <= MOST[pool, measure], (budget, ratio)
