"""Stratified prediction-powered inference: exact by enumeration, the slopes by hand, and what they gain."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.estimators.enumeration import case_of, moments, pool_losses, sample_of, tiny_pool

import sondage as sd
from sondage.errors import InvalidInput
from sondage.estimators import Case, Counts
from sondage.estimators.stratified_ppi import StratifiedPPIEstimator
from sondage.measures import resolve
from sondage.pool.units import CellUnits
from sondage.strata import EqualSize

EXACT = {"rtol": 1e-10, "atol": 1e-14}
MEASURES = ["f1", "accuracy", "brier_score_loss"]


def predicted(pool: sd.Pool, measure: str) -> np.ndarray:
    """(N, d) what the scores expect of the losses, label by label."""
    bound = resolve(measure).bind(pool)
    p = np.asarray(pool.system().probability)
    rows = pool.rows(np.arange(len(pool)))
    no, yes = (bound.loss(rows, np.full((len(pool), 1), y))[:, 0, :] for y in (0.0, 1.0))
    return (1 - p)[:, None] * no + p[:, None] * yes


def stratified_cases(measure: str, quota: tuple[int, int]) -> tuple[list[tuple[float, Case]], CellUnits]:
    """Every stratified sample of eight items in two strata, with its probability."""
    pool, y = tiny_pool(8)
    units = CellUnits(pool, (np.arange(8) >= 4).astype(np.int64), seed=0)
    every = list(product(*(combinations(units.members(u), n) for u, n in enumerate(quota))))
    memo: dict[Any, Any] = {}
    cases = []
    for rows in every:
        at = np.concatenate(rows)
        sample = sample_of(at, y, units.of(at), kind="strata")
        cases.append((1 / len(every), case_of(pool, measure, sample, units, memo=memo)))
    return cases, units


@pytest.mark.parametrize("power", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("measure", MEASURES)
def test_with_a_given_power_mean_variance_and_estimated_variance_are_exact(
    measure: str, power: float
) -> None:
    pool, y = tiny_pool(8)
    quota = (2, 3)
    cases, units = stratified_cases(measure, quota)
    losses = pool_losses(pool, measure, y)
    rest = losses - power * predicted(pool, measure)
    mean, cov, estimated = moments(StratifiedPPIEstimator(guard=False, power=power), cases)
    variance = sum(
        (4 / 8) ** 2 * (1 - n / 4) * np.cov(rest[units.members(u)].T) / n for u, n in enumerate(quota)
    )
    np.testing.assert_allclose(mean, losses.mean(axis=0), **EXACT)
    np.testing.assert_allclose(cov, variance, **EXACT)
    np.testing.assert_allclose(estimated, variance, **EXACT)


@pytest.mark.parametrize("guard", [True, False])
def test_power_zero_is_counts(guard: bool) -> None:
    for _, case in stratified_cases("f1", (2, 3))[0]:
        mine = StratifiedPPIEstimator(guard=guard, power=0).totals(case)
        plain = Counts(guard=guard).totals(case)
        np.testing.assert_allclose(mine.R, plain.R, **EXACT)
        np.testing.assert_allclose(mine.cov, plain.cov, **EXACT)
        np.testing.assert_allclose(mine.pool_cov, plain.pool_cov, **EXACT)


def one_stratum(n: int, labels: int, seed: int) -> Case:
    rng = np.random.default_rng(seed)
    p = rng.beta(0.8, 1.2, n)
    pool = sd.Pool.from_arrays(probability=p, labels=[0, 1], prediction=np.ones(n, int))
    y = (rng.random(n) < p).astype(float)
    units = CellUnits(pool, np.zeros(n, dtype=np.int64), seed=0)
    rows = rng.permutation(n)[:labels]
    return case_of(pool, "accuracy", sample_of(rows, y, [0] * labels, kind="strata"), units)


@given(labels=st.integers(10, 60), seed=st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_a_fitted_power_is_the_regression_estimate_cut_to_the_unit_interval(labels: int, seed: int) -> None:
    """By hand with numpy's own covariance, on the one loss of the accuracy."""
    case = one_stratum(80, labels, seed)
    pool, sample = case.pool, case.sample
    m = predicted(pool, "accuracy")[:, 1]
    loss, shown = case.losses(sample)[:, 1], m[sample.row]
    table = np.cov(loss, shown)
    power = np.clip(table[0, 1] / table[1, 1], 0, 1)
    value = power * m.mean() + np.mean(loss - power * shown)
    totals = StratifiedPPIEstimator(guard=False).totals(case)
    assert totals.R[1] == pytest.approx(value, rel=1e-10)
    rest = loss - power * shown
    variance = (1 - labels / 80) / labels * np.square(rest - rest.mean()).sum() / max(labels - 2, 1)
    assert totals.cov[1, 1] == pytest.approx(variance, rel=1e-9)


def test_few_labels_share_one_power() -> None:
    """Two strata of five labels: their common slope, each by the square of what a label stands for."""
    rng = np.random.default_rng(3)
    p = rng.random(40)
    pool = sd.Pool.from_arrays(probability=p, labels=[0, 1], prediction=np.ones(40, int))
    y = (rng.random(40) < p).astype(float)
    strata = (np.arange(40) >= 25).astype(np.int64)
    units = CellUnits(pool, strata, seed=0)
    rows = np.concatenate([rng.permutation(25)[:5], 25 + rng.permutation(15)[:5]])
    case = case_of(pool, "accuracy", sample_of(rows, y, units.of(rows), kind="strata"), units)
    m = predicted(pool, "accuracy")[:, 1]
    loss = case.losses(case.sample)[:, 1]
    both = square = 0.0
    for k, size in enumerate((25, 15)):
        mine = strata[rows] == k
        off = m[rows[mine]] - m[rows[mine]].mean()
        both += (size / 5) ** 2 * float(off @ loss[mine])
        square += (size / 5) ** 2 * float(off @ off)
    power = float(np.clip(both / square, 0, 1))
    assert 0 < power < 1
    value = 0.0
    for k, size in enumerate((25, 15)):
        mine = strata[rows] == k
        value += size / 40 * (power * m[strata == k].mean() + np.mean(loss[mine] - power * m[rows[mine]]))
    assert StratifiedPPIEstimator().totals(case).R[1] == pytest.approx(value, rel=1e-10)


def test_predictions_that_are_right_leave_nothing_to_chance_and_wrong_ones_are_not_trusted() -> None:
    n = 60
    y = (np.arange(n) % 3 == 0).astype(float)
    for chance, power in ((y, 1.0), (1 - y, 0.0)):
        pool = sd.Pool.from_arrays(
            probability=np.clip(chance, 1e-9, 1 - 1e-9), prediction=np.ones(n, int), labels=[0, 1]
        )
        units = CellUnits(pool, np.zeros(n, dtype=np.int64), seed=0)
        rows = np.arange(0, n, 4)
        case = case_of(pool, "accuracy", sample_of(rows, y, [0] * len(rows), kind="strata"), units)
        fitted = StratifiedPPIEstimator(guard=False).totals(case)
        given_ = StratifiedPPIEstimator(guard=False, power=power).totals(case)
        np.testing.assert_allclose(fitted.R, given_.R, rtol=1e-6)
        assert (fitted.cov[1, 1] < 1e-12) == (power == 1.0)


@pytest.mark.parametrize("power", [-0.1, 1.5])
def test_a_power_outside_the_unit_interval_is_refused(power: float) -> None:
    with pytest.raises(InvalidInput, match="power="):
        StratifiedPPIEstimator(power=power)


def test_a_study_by_the_design_uses_the_estimator_and_another_may_be_named() -> None:
    pool, labels = sd.datasets.synthetic_pool(3_000, prevalence=0.1, separation=2, rng=2)
    study = sd.create_study(pool, "f1", design="stratified-ppi", rng=1)
    study.run(labels, budget=200)
    own = study.estimate()
    assert own.value == study.estimate(estimator="stratified-ppi").value
    assert own.value != study.estimate(estimator="counts").value
    assert isinstance(study.design.strata, EqualSize)
