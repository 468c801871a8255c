"""Average precision and ROC AUC: equal to scikit-learn's, and honest when estimated."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn import metrics
from tests.measures.labelled import (
    CLOSE,
    REAL,
    labelled,
    plain_samples,
    random_case,
    real_case,
    two_normals,
    value,
)

import sondage as sd
from sondage.measures import AveragePrecision, Difference, PerGroup, RocAuc, pool_value
from sondage.pool import Pool

THERE: dict[Any, Any] = {
    AveragePrecision: metrics.average_precision_score,
    RocAuc: metrics.roc_auc_score,
}
BOTH = pytest.mark.parametrize("kind", [AveragePrecision, RocAuc])


@BOTH
@pytest.mark.parametrize("seed", range(4))
def test_as_scikit_learn(kind: Any, seed: int) -> None:
    y, score, weight = random_case(seed)
    np.testing.assert_allclose(value(kind(), y, score)[0], THERE[kind](y, score), **CLOSE)
    weighted = THERE[kind](y, score, sample_weight=weight)
    np.testing.assert_allclose(value(kind(), y, score, weight)[0], weighted, **CLOSE)


@BOTH
@settings(max_examples=60, deadline=None)
@given(case=labelled())
def test_as_scikit_learn_on_anything(kind: Any, case: Any) -> None:
    y, score, weight = case
    found, expected = value(kind(), y, score, weight)[0], THERE[kind](y, score, sample_weight=weight)
    np.testing.assert_allclose(found, expected, **CLOSE)


@BOTH
@pytest.mark.parametrize("name", REAL)
def test_as_scikit_learn_on_real_pools(kind: Any, name: str) -> None:
    y, score = real_case(name)
    np.testing.assert_allclose(value(kind(), y, score)[0], THERE[kind](y, score), **CLOSE)


@BOTH
@settings(max_examples=40, deadline=None)
@given(case=labelled())
def test_fewer_thresholds_are_binned_scores(kind: Any, case: Any) -> None:
    y, score, weight = case
    cuts = np.unique(np.quantile(score, [0.2, 0.5, 0.9]))
    expected = THERE[kind](y, np.searchsorted(cuts, score, side="right"), sample_weight=weight)
    np.testing.assert_allclose(value(kind(thresholds=cuts), y, score, weight)[0], expected, **CLOSE)


@settings(max_examples=40, deadline=None)
@given(case=labelled())
def test_only_the_order_of_scores_matters(case: Any) -> None:
    y, score, weight = case
    for measure in (AveragePrecision(), RocAuc()):
        same = value(measure, y, np.exp(score), weight)
        np.testing.assert_allclose(value(measure, y, score, weight), same, **CLOSE)
    turned = value(RocAuc(), y, -score, weight)
    np.testing.assert_allclose(value(RocAuc(), y, score, weight), 1 - turned, **CLOSE)


def test_per_group_and_difference_are_those_of_the_parts() -> None:
    y, score, weight = random_case(5)
    other = np.random.default_rng(1).permutation(score)
    group = np.where(np.arange(len(y)) % 3 == 0, "north", "south")
    pool = Pool.from_arrays(
        systems={"a": {"score": score}, "b": {"score": other}}, weight=weight, groups={"region": group}
    )
    found = pool_value(PerGroup("average_precision", "region").bind(pool), pool, y.astype(float))
    for level, one in zip(("north", "south"), found, strict=True):
        mine = group == level
        expected = metrics.average_precision_score(y[mine], score[mine], sample_weight=weight[mine])
        np.testing.assert_allclose(one, expected, **CLOSE)
    change = pool_value(Difference("roc_auc", "a", "b").bind(pool), pool, y.astype(float))
    a, b = (metrics.roc_auc_score(y, one, sample_weight=weight) for one in (score, other))
    np.testing.assert_allclose(change, a - b, **CLOSE)


@BOTH
def test_bias_and_standard_error(kind: Any) -> None:
    """By the influence alone: 400 labels of which 40 are positive."""
    pool, y = two_normals()
    truth, values, errors = plain_samples(kind(), pool, y, n=400, repeats=500)
    assert abs(values.mean() - truth) < 0.2 * values.std()
    assert np.sqrt(np.square(errors).mean()) == pytest.approx(values.std(ddof=1), rel=0.12)


def test_difference_and_groups_from_labels() -> None:
    """Measures made of them are estimated from the same labels, and exact when complete."""
    rng = np.random.default_rng(3)
    y = (rng.uniform(size=600) < 0.3).astype(int)
    pool = Pool.from_arrays(
        systems={"a": {"score": y + rng.normal(size=600)}, "b": {"score": y + rng.normal(0, 1.5, 600)}},
        groups={"region": rng.choice(["north", "south"], 600)},
    )
    answers = dict(enumerate(y.tolist()))
    change = Difference("roc_auc", "a", "b")
    study = sd.create_study(pool, change, design="stratified", rng=1)
    study.run(answers, budget=300)
    truth = pool_value(change.bind(pool), pool, y.astype(float))[0]
    estimate = study.estimate()
    assert estimate.value == pytest.approx(truth, abs=5 * estimate.std_error)
    assert 0 < estimate.std_error < 0.05
    groups = study.estimate("average_precision", system="b", by="region")
    assert groups.names == (
        "average_precision[region=north]",
        "average_precision[region=south]",
    )
    by_group = PerGroup(AveragePrecision(system="b"), "region").bind(pool)
    whole = pool_value(by_group, pool, y.astype(float))
    assert (np.abs(groups.value - whole) < 5 * groups.std_error).all()


def test_memory_on_the_largest_pool() -> None:
    """All 39,000 thresholds at once in the memory of some columns: no item meets every threshold."""
    y, score = real_case("abt_buy")
    pool = Pool.from_arrays(score=score)
    measure = AveragePrecision().bind(pool)
    R = measure.total(pool.rows(slice(None)), y.astype(float)[:, None], np.ones((len(pool), 1))) / len(pool)
    tracemalloc.start()
    measure.g(R)
    psi = measure.influence(R)
    psi.of(pool.rows(slice(0, 1000)), np.array([0.0, 1.0]))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 60 * 8 * len(pool)  # 1,000 items at every threshold would take 730 columns
