"""Coverage where errors are easily missed: rare positives, a perfect model, scores that are surely wrong."""

import numpy as np
import pytest
from scipy.special import expit
from tests.intervals.unseen_pools import DESIGNS, MEASURES, POOLS, coverage, intervals, truth

import sondage as sd
from sondage.measures import pool_value, resolve

pytestmark = pytest.mark.slow
REPEATS = 200
LEAST = 0.93
ERROR = np.sqrt(LEAST * (1 - LEAST) / REPEATS)


@pytest.mark.parametrize("labels", [60, 100, 200, 400])
@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("name", POOLS)
def test_default_intervals_cover(name: str, design: str, labels: int) -> None:
    """Nowhere significantly less than 93 times in 100, of those defined; few are not."""
    if name == "plain" and design not in ("uniform", "stratified"):
        pytest.skip("there is no score to draw by")
    for measure in MEASURES:
        found = intervals(name, design, labels, REPEATS, measure)
        assert coverage(found, truth(name)[measure]) >= LEAST - 2.5 * ERROR, measure
        assert np.isnan(found[:, 0]).mean() <= (0.15 if labels < 100 else 0.06), measure


def overconfident(seed: int, sharp: float, positive: float) -> tuple[sd.Pool, np.ndarray]:
    """Log odds that are ``sharp`` times too large, of a model that sees them with an error of 1."""
    rng = np.random.default_rng(seed)
    logit = rng.normal(positive, 2.0, 2000)
    y = (rng.random(2000) < expit(logit)).astype(int)
    return sd.Pool.from_arrays(probability=expit(sharp * (logit + rng.normal(0, 1.0, 2000)))), y


@pytest.mark.parametrize("labels", [100, 300])
@pytest.mark.parametrize("design", ["ais", "oasis", "importance", "poisson"])
@pytest.mark.parametrize(("sharp", "positive"), [(10.0, -1.5), (5.0, -2.5), (20.0, 0.0), (10.0, -0.7)])
def test_overconfident_scores(sharp: float, positive: float, design: str, labels: int) -> None:
    """Nine times in ten on average over pools, on pools that nothing was chosen on."""
    held = []
    for seed in range(7000, 7060):
        pool, y = overconfident(seed, sharp, positive)
        measure = resolve("f1").bind(pool)
        study = sd.create_study(pool, "f1", design=design, budget=labels, rng=seed)
        low, high = study.run(dict(enumerate(y.tolist()))).ci
        held.append(low <= pool_value(measure, pool, y.astype(np.float64))[0] <= high)
    assert np.mean(held) >= 0.9 - 2.5 * np.sqrt(0.9 * 0.1 / len(held))
