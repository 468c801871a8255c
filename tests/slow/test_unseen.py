"""Coverage where errors are easily missed: rare positives, a perfect model, scores that are surely wrong."""

import numpy as np
import pytest
from tests.intervals.unseen_pools import DESIGNS, MEASURES, POOLS, coverage, intervals, truth

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
