"""Measures over thresholds through a whole study: exact when all is labelled, right on average before.

Every measure by itself with every design is in tests/slow/test_curves.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.measures.over_thresholds import DESIGNS, MEASURES, estimates

import sondage as sd
from sondage.datasets import synthetic_pool
from sondage.measures import PrecisionRecallCurve, RocCurve, Stack, pool_value


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize(
    "measure",
    [*MEASURES.values(), PrecisionRecallCurve()],
    ids=[*MEASURES, "whole curve"],
)
def test_exact_when_all_is_labelled(measure: Any, design: str) -> None:
    pool, labels = synthetic_pool(n=90, prevalence=0.3, rng=2)
    study = sd.create_study(pool, measure, design=design, rng=3)
    while study.n_labels < len(pool):
        study.run(labels, budget=len(pool))
    y = np.array([labels[id] for id in pool.ids.tolist()], dtype=np.float64)
    estimate = study.estimate()
    truth = pool_value(measure.bind(pool), pool, y)
    np.testing.assert_allclose(np.atleast_1d(estimate.value), truth, rtol=1e-12)
    assert (np.atleast_1d(estimate.std_error) == 0).all()
    np.testing.assert_array_equal(estimate.ci.low, estimate.value)


@pytest.mark.parametrize("design", DESIGNS)
def test_right_on_average(design: str) -> None:
    """All of them from the same labels: bias, standard error and coverage."""
    repeats, every = 40, Stack(tuple(one for name, one in MEASURES.items() if name != "ROC"))
    got = estimates(every, design, repeats=repeats, labels=300)
    error, spread = got["value"] - got["truth"], got["value"].std(axis=0, ddof=1)
    # The best F1 is too high by half a standard deviation and more; the others by less.
    usual = np.where(np.arange(error.shape[1]) == 2, 0.8, 0.35)
    assert (np.abs(error.mean(axis=0)) < (usual + 4 / np.sqrt(repeats)) * spread).all()
    ratio = np.sqrt(np.square(got["std_error"]).mean(axis=0)) / spread
    assert ((ratio > 0.7) & (ratio < 1.8)).all(), ratio
    covered = (got["low"] <= got["truth"]) & (got["truth"] <= got["high"])
    assert covered.mean() >= 0.9


def test_importance_sampling_for_the_curve_beats_a_uniform_sample() -> None:
    errors = {}
    for design in ("uniform", "importance"):
        got = estimates(PrecisionRecallCurve(thresholds=(0.2, 0.5, 0.8)), design, repeats=25, labels=200)
        errors[design] = np.square(got["value"] - got["truth"]).mean()
    assert errors["importance"] < 0.5 * errors["uniform"]


def test_where_nothing_drawn_reaches_the_threshold_precision_is_undefined() -> None:
    """And only there: recall is still known, and so is precision elsewhere."""
    pool, labels = synthetic_pool(n=400, prevalence=0.2, rng=2)
    study = sd.create_study(pool, "precision_recall_curve", design="uniform", rng=6)
    study.run(labels, budget=30)
    estimate = study.estimate()
    assert isinstance(study.measure, PrecisionRecallCurve)
    precision, recall = np.asarray(estimate.value).reshape(2, -1)
    score = np.asarray(pool.system().score)[study.sample.row]
    unseen = study.measure.cuts > score.max()
    assert unseen.any()
    assert (np.isnan(precision) == unseen).all()
    assert np.isfinite(recall).all()
    assert (recall[unseen] == 0.0).all()


def test_stacked_with_another_measure() -> None:
    pool, labels = synthetic_pool(n=800, prevalence=0.2, rng=2)
    curve = PrecisionRecallCurve(thresholds=30)
    study = sd.create_study(pool, [curve, "f1"], design="stratified", rng=3)
    study.run(labels, budget=200)
    both, alone, f1 = study.estimate(), study.estimate(curve), study.estimate("f1")
    assert both.names == (*alone.names, *f1.names)
    np.testing.assert_allclose(both.value[:-1], alone.value, rtol=1e-9)
    assert both.value[-1] == pytest.approx(f1.value, rel=0.05)


def test_bands_over_a_curve() -> None:
    """Intervals that hold together contain those that hold one by one, and are drawn the same way."""
    pool, labels = synthetic_pool(n=800, prevalence=0.2, rng=2)
    study = sd.create_study(pool, RocCurve(thresholds=20), design="stratified", rng=3)
    study.run(labels, budget=200)
    bound = study.measure
    assert isinstance(bound, RocCurve)
    one, all_ = (bound.curve(study.estimate(interval=name)) for name in ("logit", "simultaneous"))
    assert (all_.y_low <= one.y_low).all()
    assert (all_.y_high >= one.y_high).all()
    assert (all_.y_high - all_.y_low > one.y_high - one.y_low).any()
