"""Designs that do not adapt: bias and variance of their estimates, against theory from all labels.

The theory is in benchmarks/variance.py. A variance simulated by 6,400 repeats has a standard error of
1.8 %.
"""

import numpy as np
import pytest
from benchmarks.variance import Setting, evaluate, settings
from tests.slow.workers import WORKERS

pytestmark = pytest.mark.slow
REPEATS = 6400

REPORTED = (0.95, 1.10)
"""Mean of the reported variance over the true one. Never too small; a little too large is allowed."""


def name(setting: Setting) -> str:
    return f"{setting.name}-{setting.measures[0]}"


@pytest.mark.parametrize("setting", settings(), ids=name)
def test_bias_and_variance_are_those_of_the_formula(setting: Setting) -> None:
    rows = evaluate(setting, REPEATS, workers=WORKERS)
    assert [row["measure"] for row in rows] == list(setting.measures)
    for row in rows:
        assert row["undefined"] == 0, row
        assert row["simulated"] == pytest.approx(1, abs=0.05), row
        # In standard errors of the estimate; the formula is the term of order 1/n.
        assert abs(row["bias"]) < 3 / np.sqrt(REPEATS) + abs(row["bias by formula"]), row
        least, most = REPORTED
        assert least < row["reported"] < most, row
