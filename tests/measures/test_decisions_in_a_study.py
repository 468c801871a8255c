"""Measures of decisions through a whole study: exact when all is labelled, right on average before.

Every measure with every design is in tests/slow/test_decisions.py.
"""

from __future__ import annotations

import numpy as np
import pytest
from tests.measures.decisions import DESIGNS, MEASURES, SIXTEEN, estimates, pool_for

import sondage as sd
from sondage.measures import pool_value


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("name", MEASURES)
def test_exact_when_all_is_labelled(name: str, design: str) -> None:
    pool, y = pool_for(name, 150 if name in SIXTEEN else 70)
    measure = MEASURES[name]
    study = sd.create_study(pool, measure, design=design, rng=3)
    assert study.measure.wide is (name in SIXTEEN or study.measure.m > 1)
    told = dict(enumerate(y.astype(int).tolist()))
    before = -1
    while before < study.n_labels < len(pool):  # or until no label is left that could matter
        before = study.n_labels
        study.run(told, budget=len(pool))
    found = study.estimate()
    truth = pool_value(measure.bind(pool), pool, y)
    np.testing.assert_allclose(np.atleast_1d(found.value), truth, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(np.atleast_1d(found.std_error), 0.0, atol=1e-9)


SOME = [
    ("macro F1", "uniform"),
    ("macro F1", "importance"),
    ("recall of each", "stratified"),
    ("correlation", "poisson"),
    ("quadratic kappa", "importance"),
    ("some of the confusion", "uniform"),
    ("cost", "importance"),
    ("log loss", "poisson"),
    ("precision at the top", "stratified"),
    ("balanced accuracy of many", "uniform"),
    ("linear kappa of many", "importance"),
    ("correlation of many", "poisson"),
]


@pytest.mark.parametrize(("name", "design"), SOME)
def test_right_on_average(name: str, design: str) -> None:
    """The mean of many estimates is the value, and the standard errors are the spread of the estimates."""
    repeats = 30
    truth, value, error, _ = estimates(name, design, repeats=repeats, labels=240)
    spread = value.std(axis=0, ddof=1)
    # Ratios are biased by a share of their standard error, besides the chance of thirty repeats.
    assert (np.abs(value.mean(axis=0) - truth) < (4.0 / np.sqrt(repeats) + 0.35) * spread).all()
    scale = error.mean(axis=0) / spread
    assert ((scale > 0.7) & (scale < 1.6)).all(), scale
