"""Designs to compare with: what their papers promise, by simulation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.designs.test_active_inference import misled

import sondage as sd
from sondage.beliefs import ScoreBelief
from sondage.designs import ActiveInference, Stratified
from sondage.estimators.sequential import LureEstimator
from sondage.strata import EqualSize, OneStratum
from sondage.testing.designs import ask_and_tell

pytestmark = pytest.mark.slow


def test_lure_has_unbiased_totals_the_variance_it_says_and_coverage() -> None:
    pool, labels = sd.datasets.synthetic_pool(600, prevalence=0.2, separation=2, rng=4)
    y = np.array([labels[id] for id in pool.ids.tolist()], dtype=float)
    truth = float((pool.system().prediction == y).mean())
    repeats = 400
    positives, estimated, covered = [], [], []
    for seed in range(repeats):
        study = sd.create_study(pool, "accuracy", design="lure", rng=seed)
        for _ in range(3):
            ask_and_tell(study, labels, 40)
        case = study.case(sd.measures.resolve("f1").bind(pool))
        totals = LureEstimator().totals(case)
        positives.append(totals.R[-1])
        estimated.append(totals.cov[-1, -1])
        found = study.estimate()
        covered.append(found.ci.low <= truth <= found.ci.high)
    spread = np.std(positives)
    target = case.measure.loss(pool.rows(np.arange(600)), y[:, None])[:, 0, -1].mean()
    assert abs(np.mean(positives) - target) < 4 * spread / np.sqrt(repeats)
    assert np.sqrt(np.mean(estimated)) == pytest.approx(spread, rel=0.12)
    assert np.mean(covered) > 0.95 - 4 * np.sqrt(0.95 * 0.05 / repeats)


def errors_of(design: Any, pool: sd.Pool, labels: dict[int, int], repeats: int) -> dict[str, np.ndarray]:
    truth = np.mean(list(labels.values()))
    found = []
    for seed in range(repeats):
        study = sd.create_study(pool, "accuracy", design=design, rng=seed)
        for _ in range(4):
            ask_and_tell(study, labels, 50)
        one = study.estimate()
        found.append((one.value - truth, one.std_error, one.ci.low <= truth <= one.ci.high))
    return dict(zip(("error", "se", "covers"), np.array(found, dtype=float).T, strict=True))


def test_a_model_that_doubts_the_wrong_items_does_not_make_it_worse_than_uniform() -> None:
    pool, labels = misled()
    repeats = 300
    strata = EqualSize(2)
    found = {
        name: errors_of(ActiveInference(strata=strata, **options), pool, labels, repeats)
        for name, options in {"robust": {}, "not": {"robust": False}, "uniform": {"floor": 1.0}}.items()
    }
    mse = {name: float(np.square(one["error"]).mean()) for name, one in found.items()}
    assert mse["robust"] < 1.3 * mse["uniform"]
    assert mse["robust"] < mse["not"] / 1.3
    one = found["robust"]
    assert abs(one["error"].mean()) < 4 * one["error"].std() / np.sqrt(repeats)
    assert np.sqrt(np.square(one["se"]).mean()) == pytest.approx(one["error"].std(), rel=0.15)
    assert one["covers"].mean() > 0.95 - 4 * np.sqrt(0.95 * 0.05 / repeats)


def test_stratified_ppi_in_one_stratum_gains_what_the_scores_explain() -> None:
    """Calibrated scores in one band: fitting costs little, gains what the scores explain, and covers."""
    rng = np.random.default_rng(1)
    n, repeats = 3_000, 400
    p = rng.beta(0.4, 0.4, n)
    pool = sd.Pool.from_arrays(probability=p, prediction=np.ones(n, int), labels=[0, 1])
    y = (rng.random(n) < p).astype(int)
    design = Stratified(allocation="proportional", strata=OneStratum(), belief=ScoreBelief())
    found: dict[str, list[tuple[float, float, bool]]] = {"stratified-ppi": [], "counts": []}
    for seed in range(repeats):
        study = sd.create_study(pool, "accuracy", design=design, rng=seed)
        asked = study.ask(100)
        study.tell({item.id: int(y[item.id]) for item in asked})
        for name, values in found.items():
            one = study.estimate(estimator=name, interval="wald")
            values.append((one.value, one.std_error, one.ci.low <= y.mean() <= one.ci.high))
    spread = {}
    for name, values in found.items():
        value, error, covers = (np.array(column, dtype=float) for column in zip(*values, strict=True))
        spread[name] = value.std()
        assert abs(value.mean() - y.mean()) < 4 * value.std() / np.sqrt(repeats), name
        assert np.sqrt(np.square(error).mean()) == pytest.approx(value.std(), rel=0.12), name
        assert covers.mean() > 0.95 - 4 * np.sqrt(0.95 * 0.05 / repeats), name
    explained = np.corrcoef(p, y)[0, 1] ** 2
    assert (spread["stratified-ppi"] / spread["counts"]) ** 2 == pytest.approx(1 - explained, rel=0.25)
