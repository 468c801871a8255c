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

REPORTED = (0.95, 1.05)
"""Mean of the reported variance over the true one."""

GUARDED = {
    ("stratified, proportional", "accuracy"): 1.27,
    ("stratified, proportional", "f1"): 1.36,
    ("stratified, proportional", "recall"): 1.25,
    ("stratified, proportional", "matthews_corrcoef"): 1.37,
    ("stratified, Neyman", "accuracy"): 1.27,
    ("stratified, Neyman", "f1"): 1.26,
    ("stratified, Neyman", "recall"): 1.25,
    ("stratified, Neyman", "matthews_corrcoef"): 1.26,
    ("poisson", "recall"): 1.07,
    ("poisson, fixed size", "recall"): 1.07,
}
"""The same as found where the guard against samples that have shown too little widens the variance.

Strata whose labels all agreed get the variance that the belief expects, although strata with a dissenting
label already stand for them on average; Poisson samples that few draws decide get a part of it. This
counts something twice: the price of never taking silence for proof. A smaller price has to be written
down here.
"""


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
        guarded = GUARDED.get((setting.name, row["measure"]))
        if guarded is None:
            assert REPORTED[0] < row["reported"] < REPORTED[1], row
        else:
            assert row["reported"] == pytest.approx(guarded, abs=0.05), row
