"""Variances by formula: against all samples of tiny pools, and closed forms; scenarios."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from tests.study.planning.problems import scored

import sondage as sd
from sondage.beliefs.true_labels import KnownLabels
from sondage.designs import Importance, Stratified
from sondage.errors import NotSupported
from sondage.strata import EqualSize
from sondage.study.planning.forecast import QUANTILES, Sampling
from sondage.study.planning.formula import Formula, scenarios
from sondage.types import Floats

SCORE = np.array([-2.0, -1.5, -1.0, -0.4, 0.3, 0.8, 1.2, 1.9])
TRUTH = np.array([0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0])
POOL = sd.Pool.from_arrays(score=SCORE, threshold=0.0)
HIT = ((SCORE >= 0) == TRUTH).astype(float)


def formula_of(study: sd.Study, truth: Floats, *, population: bool = False) -> Formula:
    """As if the labels were known for sure."""
    sampling = Sampling(len(study.pool), 0.95, population, study.measure)
    known = KnownLabels(truth=truth).bind(study.pool, ("model",))
    return Formula(study.snapshot(), sampling, [known], QUANTILES)


def variance(formula: Formula, n: int) -> float:
    return float((formula.at(n)[0][0, 0] / formula.sampling.errors) ** 2)


@pytest.mark.parametrize("n", range(3, 9))
def test_uniform_variance_is_that_over_all_samples(n: int) -> None:
    study = sd.create_study(POOL, "accuracy", design="uniform", rng=1)
    means = [HIT[list(some)].mean() for some in combinations(range(8), n)]
    assert variance(formula_of(study, TRUTH), n) == pytest.approx(np.var(means), abs=1e-8)


@pytest.mark.parametrize("n", [3, 5])
def test_uniform_variance_of_f1_is_that_of_its_linear_form_over_all_samples(n: int) -> None:
    study = sd.create_study(POOL, "f1", design="uniform", rng=1)
    predicted = (SCORE >= 0).astype(float)
    F = 2 * (predicted * TRUTH).sum() / (predicted + TRUTH).sum()
    psi = (2 * predicted * TRUTH - F * (predicted + TRUTH)) / (predicted + TRUTH).mean()
    means = [psi[list(some)].mean() for some in combinations(range(8), n)]
    assert np.var(means) < 0.06  # not cut to the range
    assert variance(formula_of(study, TRUTH), n) == pytest.approx(np.var(means), rel=1e-6)


def test_variance_of_draws_with_replacement() -> None:
    """``sum psi^2 / q / (N^2 n)`` for single items drawn by chances q, every answer counting."""
    design = Importance(form="rms")
    study = sd.create_study(POOL, "accuracy", design=design, oracle="stochastic", rng=1)
    q = design.table(study.problem(), 1).chance
    assert q is not None
    q = q / q.sum()
    psi = HIT - HIT.mean()
    expected = float((psi**2 / q).sum()) / (64 * 20)
    assert variance(formula_of(study, TRUTH), 8) == 0.0
    big = sd.Pool.from_arrays(score=np.tile(SCORE, 10), threshold=0.0)
    large = sd.create_study(big, "accuracy", design=design, oracle="stochastic", rng=1)
    found = variance(formula_of(large, np.tile(TRUTH, 10)), 20)
    assert found == pytest.approx(expected, rel=1e-5)


def test_variance_of_strata() -> None:
    """``sum N_k (N_k / n_k - 1) S_k^2 / N^2`` with the quotas of the design (Cochran 1977, 5.6)."""
    pool = sd.Pool.from_arrays(
        score=np.repeat(SCORE, 50) + np.tile(np.linspace(0, 0.1, 50), 8), threshold=0.0
    )
    truth = np.repeat(TRUTH, 50)
    truth[::7] = 1 - truth[::7]
    design = Stratified(strata=EqualSize(4), allocation="proportional")
    study = sd.create_study(pool, "accuracy", design=design, rng=1)
    quota = design.table(study.problem(), 80).quota
    assert quota is not None
    hit = ((np.asarray(pool.system().score) >= 0) == truth).astype(float)
    expected = 0.0
    for unit, (size, n) in enumerate(zip(study.units.size, quota, strict=True)):
        mine = hit[study.units.codes == unit]
        expected += size * (size / n - 1) * mine.var() / 400**2
    assert variance(formula_of(study, truth), 80) == pytest.approx(expected, rel=1e-5)


def test_all_labels_leave_nothing_but_the_chance_of_the_pool() -> None:
    for design in ("uniform", "stratified", "poisson", "importance"):
        study = sd.create_study(POOL, "accuracy", design=design, rng=1)
        assert variance(formula_of(study, TRUTH), 8) == 0.0
        left = variance(formula_of(study, TRUTH, population=True), 8)
        assert left == pytest.approx(HIT.var() / 8, rel=1e-6)


def test_cost_of_uniform_labels_is_their_mean_cost() -> None:
    pool = scored(500, cost=np.random.default_rng(0).uniform(1, 9, 500))
    study = sd.create_study(pool, "accuracy", design="uniform", rng=1)
    sampling = Sampling(500, 0.95, False, study.measure)
    formula = Formula.of_study(study.snapshot(), sampling, 9, 1)
    assert pool.cost is not None
    assert formula.at(100)[1] == pytest.approx(100 * pool.cost.mean())


def test_many_coordinates_are_refused() -> None:
    curve = sd.measures.PrecisionRecallCurve(thresholds=50)
    with pytest.raises(NotSupported, match="100 are too many: plan for one measure, such as 'f1'"):
        sd.plan(scored(500), curve, width=0.1)


# ---- scenarios -----------------------------------------------------------------------------------


def numbers(n: int = 400) -> sd.Pool:
    return sd.Pool.from_arrays(prediction=np.linspace(-1, 1, n), std=np.full(n, 0.5))


def test_scenarios_of_numbers_halve_and_double_the_spread() -> None:
    study = sd.create_study(numbers(), "mean_squared_error", rng=1)
    rows = study.pool.rows(np.array([7]))
    spreads = []
    for belief in scenarios(study.snapshot()):
        labels, weights = belief.items(rows)
        mean = (weights * labels).sum()
        spreads.append(float(np.sqrt((weights * (labels - mean) ** 2).sum())))
    np.testing.assert_allclose(spreads, [0.25, 0.5, 1.0], rtol=1e-6)


def test_labels_take_the_doubt_away() -> None:
    """Numbers spread as predicted: the scenarios close in on that, by the law of a standard deviation."""
    study = sd.create_study(numbers(), "mean_squared_error", design="uniform", rng=1)
    rng = np.random.default_rng(2)
    noise = np.asarray(study.pool.system().prediction) + 0.5 * rng.normal(size=400)
    study.run(dict(zip(study.pool.ids.tolist(), noise.tolist(), strict=True)), budget=200)
    plan = study.plan(budgets=[300])
    low, middle, high = plan.width[0, :, 0]
    # The width of a mean square goes with the square of the spread.
    assert high / middle == pytest.approx(np.exp(2 / np.sqrt(1 / np.log(2) ** 2 + 400)), rel=0.01)
    assert low < middle < high < 1.2 * middle


def test_scenarios_of_several_labels_move_the_odds() -> None:
    chance = np.full((30, 2), 0.2)
    columns: dict[str, Any] = {"probability": chance, "prediction": (chance > 0.5).astype(int)}
    pool = sd.Pool.from_arrays(multilabel=True, **columns)
    study = sd.create_study(pool, "accuracy", rng=1)
    means = [belief.items(pool.rows(np.array([0]))).weights[0, 0] for belief in scenarios(study.snapshot())]
    odds = [p / (1 - p) for p in means]
    np.testing.assert_allclose(odds, [0.125, 0.25, 0.5], rtol=1e-6)


def test_scenarios_of_classes_move_the_odds_of_a_surprise() -> None:
    pool = sd.Pool.from_arrays(probability=np.full(30, 0.2), threshold=0.5)
    study = sd.create_study(pool, "accuracy", rng=1)
    means = [belief.items(pool.rows(np.array([0]))).weights[0, 1] for belief in scenarios(study.snapshot())]
    np.testing.assert_allclose([p / (1 - p) for p in means], [0.125, 0.25, 0.5], rtol=1e-6)
