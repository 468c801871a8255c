"""Areas under curves, the best F and the break-even point."""

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
from sondage.errors import InvalidInput
from sondage.measures import AveragePrecision, BreakEven, Difference, MaxFBeta, PerGroup, RocAuc, pool_value
from sondage.pool import Pool
from sondage.types import Array

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


def best_f(y: Array, score: Array, weight: Array | None, beta: float = 1.0) -> float:
    """From scikit-learn's curve."""
    precision, recall, _ = metrics.precision_recall_curve(y, score, sample_weight=weight)
    with np.errstate(invalid="ignore"):
        each = (1 + beta**2) * precision * recall / (beta**2 * precision + recall)
    return float(np.nanmax(each))


def break_even(y: Array, score: Array, weight: Array) -> float:
    """True positives as a broken line in the number predicted, read where that is the positives' number."""
    cuts = np.unique(score)[::-1]
    predicted = [0.0, *((weight * (score >= cut)).sum() for cut in cuts)]
    found = [0.0, *((weight * y * (score >= cut)).sum() for cut in cuts)]
    positives = (weight * y).sum()
    return float(np.interp(positives, predicted, found) / positives)


@pytest.mark.parametrize("beta", [0.5, 1.0, 3.0])
@settings(max_examples=40, deadline=None)
@given(case=labelled())
def test_max_f_from_the_curve(beta: float, case: Any) -> None:
    y, score, weight = case
    found = value(MaxFBeta(beta=beta), y, score, weight)[0]
    np.testing.assert_allclose(found, best_f(y, score, weight, beta), **CLOSE)


@settings(max_examples=60, deadline=None)
@given(case=labelled())
def test_break_even_by_interpolation(case: Any) -> None:
    y, score, weight = case
    found = value(BreakEven(thresholds=None), y, score, weight)[0]
    np.testing.assert_allclose(found, break_even(y, score, weight), rtol=1e-9, atol=1e-12)


def test_break_even_is_the_precision_at_as_many_as_there_are_positives() -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        y, score = (rng.uniform(size=300) < 0.2).astype(int), rng.permutation(300).astype(float)
        score += 200 * y
        score += rng.uniform(0, 0.4, 300)  # no ties
        first = np.argsort(-score)[: y.sum()]
        found = value(BreakEven(thresholds=None), y, score)[0]
        np.testing.assert_allclose(found, y[first].mean(), **CLOSE)


@pytest.mark.parametrize("name", REAL)
def test_real_pools(name: str) -> None:
    y, score = real_case(name)
    np.testing.assert_allclose(value(MaxFBeta(), y, score)[0], best_f(y, score, None), **CLOSE)
    all_of_them = value(BreakEven(thresholds=None), y, score)[0]
    # Unlike that with few thresholds, which is an interpolation: what the docstring says of its error.
    assert abs(value(BreakEven(), y, score)[0] - all_of_them) < 0.015


def test_derivative_between_two_bins_is_the_mean_of_both_sides() -> None:
    """Where as many are predicted as there are positives at a threshold exactly, the value has a kink."""
    y, score = np.array([1, 0, 1, 0, 0, 1, 0, 0]), np.array([4, 4, 4, 3, 3, 2, 2, 1.0])
    pool = Pool.from_arrays(score=score)
    measure = BreakEven(thresholds=None).bind(pool)
    R = measure.total(pool.rows(slice(None)), y.astype(float)[:, None], np.ones((8, 1))) / 8
    at = measure.jac(R)
    for j in range(1, measure.d):
        shift = np.zeros(measure.d)
        shift[j] = 1e-7
        central = (measure.g(R + shift) - measure.g(R - shift)) / 2e-7
        np.testing.assert_allclose(at[:, j], central, atol=1e-5)
    sides = [measure.jac(R + np.eye(measure.d)[1] * step) for step in (-1e-6, 1e-6)]
    assert np.abs(sides[0] - sides[1]).max() > 0.1
    np.testing.assert_allclose(at, (sides[0] + sides[1]) / 2, atol=1e-4)


def test_beta_is_checked() -> None:
    for beta in (0, -1, np.nan, np.inf):
        with pytest.raises(InvalidInput, match="beta="):
            MaxFBeta(beta=beta)
    assert MaxFBeta(beta=0.5).names == ("max_f0.5",)


def test_break_even_standard_error_includes_that_the_line_moves() -> None:
    """With few thresholds it is right; with all distinct scores too large; with a fixed line wrong."""
    pool, y = two_normals()
    truth, values, errors = plain_samples(BreakEven(), pool, y, n=400, repeats=500)
    assert abs(values.mean() - truth) < 0.2 * values.std()
    assert np.sqrt(np.square(errors).mean()) == pytest.approx(values.std(ddof=1), rel=0.15)
    _, values, errors = plain_samples(BreakEven(thresholds=None), pool, y, n=400, repeats=300)
    assert 1.05 < np.sqrt(np.square(errors).mean()) / values.std(ddof=1) < 1.5


def test_a_line_that_does_not_move_gives_another_standard_error() -> None:
    """The part of the derivative by which the line moves is no detail: without it, 15 % and more are lost."""
    pool, y = two_normals()
    measure = BreakEven().bind(pool)
    R = measure.total(pool.rows(slice(None)), y.astype(float)[:, None], np.ones((len(y), 1))) / len(y)
    score = np.asarray(pool.system().score)
    line = np.sort(score)[::-1][y.sum() - 1]
    fixed = y * ((score >= line) - measure.g(R)[0]) / y.mean()
    moving = measure.influence(R).of(pool.rows(slice(None)), y.astype(float)[:, None])[:, 0, 0]
    assert abs(fixed.std() / moving.std() - 1) > 0.15


def test_the_best_f_is_estimated_too_high_by_what_the_docstring_says() -> None:
    """By two thirds of a standard deviation with 30 positives, less with 100 and with fewer thresholds."""
    pool, y = two_normals()
    shares = {}
    for thresholds, n in ((None, 300), (None, 1000), (32, 300)):
        truth, values, errors = plain_samples(MaxFBeta(thresholds=thresholds), pool, y, n=n, repeats=400)
        shares[thresholds, n] = (values.mean() - truth) / values.std()
        assert 0.9 < np.sqrt(np.square(errors).mean()) / values.std(ddof=1) < 1.25
    assert 0.4 < shares[None, 300] < 0.9
    assert 0.2 < shares[None, 1000] < 0.65
    assert shares[32, 300] < 0.8 * shares[None, 300]
