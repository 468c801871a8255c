"""Coverage of every interval by every kind of sampling, on pools with many, few and very few positives.

500 labels, 1,000 repeats, nominal 95 %. Where the sample is informative an interval has to cover at
least 92 times in 100. Where it does not, the number found is written down here, and the test fails if
it gets worse *or better* by more than three standard errors: a mended weak spot must be taken off the
list, which ``python -m benchmarks coverage`` prints. docs/tables.md has the whole table, docs/proof.md the
reasons.
"""

import numpy as np
import pytest
from benchmarks.coverage import DESIGNS, JOINT, LEAST, MEASURES, POOLS, evaluate, intervals_of, promised
from tests.slow.workers import WORKERS

pytestmark = pytest.mark.slow
REPEATS = 1000

# (prevalence, measure, design): coverage found of each interval that falls short
SHORT: dict[tuple[float, str, str], dict[str, float]] = {
    (0.05, JOINT, "uniform"): {"region": 0.912},
    (0.01, "accuracy", "uniform"): {"wald": 0.916, "t": 0.916, "bootstrap": 0.917},
    (0.01, "f1", "uniform"): {"wald": 0.916, "t": 0.916},
    (0.01, "f1", "online"): {"bootstrap": 0.916},
    (0.01, "accuracy", "sequential"): {
        "wald": 0.878,
        "t": 0.878,
        "bootstrap": 0.873,
        "empirical-likelihood": 0.892,
    },
    (0.01, "accuracy", "systematic"): {
        "wald": 0.9,
        "t": 0.901,
        "bootstrap": 0.892,
        "empirical-likelihood": 0.915,
    },
    (0.01, "f1", "sequential"): {
        "wald": 0.894,
        "t": 0.895,
        "bootstrap": 0.882,
        "empirical-likelihood": 0.904,
    },
    (0.01, "f1", "systematic"): {"wald": 0.919, "bootstrap": 0.914},
    (0.01, "recall", "sequential"): {"bootstrap": 0.907},
}

# (prevalence, measure, design): share of studies found without an estimate; elsewhere none
UNDEFINED: dict[tuple[float, str, str], float] = {
    (0.01, "f1", "uniform"): 0.026,
    (0.01, "recall", "uniform"): 0.028,
    (0.01, JOINT, "uniform"): 0.028,
}


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("prevalence", list(POOLS))
def test_intervals_cover(prevalence: float, measure: str, design: str) -> None:
    key = prevalence, measure, design
    rows = evaluate(prevalence, measure, design, REPEATS, workers=WORKERS)
    assert [row["interval"] for row in rows] == list(intervals_of(measure, design))
    for row in filter(promised, rows):
        undefined = UNDEFINED.get(key, 0.0)
        assert row["undefined"] == pytest.approx(undefined, abs=3 * error(undefined)), row
        expected = SHORT.get(key, {}).get(row["interval"])
        if expected is None:
            assert row["coverage"] >= LEAST, row
        else:
            assert row["coverage"] == pytest.approx(expected, abs=3 * error(expected)), row


@pytest.mark.parametrize("design", ["uniform", "poisson"])
def test_intervals_of_each_hold_all_less_often_than_those_that_promise_it(design: str) -> None:
    """And they are the narrower for it: logit, then sup-t, then Bonferroni."""
    rows = {row["interval"]: row for row in evaluate(0.3, JOINT, design, REPEATS, workers=WORKERS)}
    for what in ("coverage", "width"):
        found = [rows[name][what] for name in ("logit", "simultaneous", "bonferroni")]
        assert found == sorted(found)
        assert found[0] < found[1]


def test_every_shortfall_listed_is_one_that_is_tested() -> None:
    grid = {(p, m, d): intervals_of(m, d) for p in POOLS for m in MEASURES for d in DESIGNS}
    for key, found in SHORT.items():
        assert set(found) <= {*grid[key]}
        assert all(value < LEAST for value in found.values())
    assert {*UNDEFINED} <= {*grid}


def error(share: float) -> float:
    return float(np.sqrt(share * (1 - share) / REPEATS))
