"""Sawade's closed forms (2013, section 4.2) are what the one generic formula gives."""

from __future__ import annotations

import numpy as np
import pytest
from tests.designs.problems import PLAIN, problem_of, scored

from sondage.designs.influence.of_items import item_spread
from sondage.designs.influence.of_units import unit_spread
from sondage.designs.influence.slope import item_expectation, target
from sondage.measures import Accuracy, FBeta, MeanSquaredError, Recall, resolve
from sondage.pool.pool import Pool

EXACT = {"rtol": 1e-12, "atol": 1e-15}


def intrinsic(w: np.ndarray, l: np.ndarray, chance: np.ndarray) -> tuple[float, float]:
    """``G`` and ``E[w]`` by the model's own probabilities: (n, S) weights, losses and chances."""
    mean = (chance * w).sum(axis=1).mean()
    return float((chance * w * l).sum(axis=1).mean() / mean), float(mean)


def test_zero_one_loss() -> None:
    """h = (1 - 2R) e + R^2 (4.14)."""
    pool, p1, f = scored()
    e = np.where(f == 1, 1 - p1, p1)
    R = e.mean()
    np.testing.assert_allclose(item_spread(problem_of(pool, "accuracy")), (1 - 2 * R) * e + R**2, **EXACT)


def test_zero_one_loss_of_many_classes() -> None:
    rng = np.random.default_rng(1)
    chance = rng.dirichlet(np.ones(4), 50)
    f = rng.integers(0, 4, 50)
    pool = Pool.from_arrays(probability=chance, prediction=f, labels=[0, 1, 2, 3])
    e = 1 - chance[np.arange(50), f]
    R = e.mean()
    np.testing.assert_allclose(item_spread(problem_of(pool, "accuracy")), (1 - 2 * R) * e + R**2, rtol=1e-9)


@pytest.mark.parametrize("beta", [0.5, 1.0, 2.0])
def test_f_measure(beta: float) -> None:
    """f=1: p1 (1-G)^2 + eta^2 (1-p1) G^2; f=0: (1-eta)^2 G^2 p1, over E[w]^2 (4.18)."""
    pool, p1, f = scored()
    eta = 1 / (1 + beta**2)
    mean_w = (eta * f + (1 - eta) * p1).mean()
    G = (f * p1).mean() / mean_w
    h = np.where(
        f == 1,
        p1 * (1 - G) ** 2 + eta**2 * (1 - p1) * G**2,
        ((1 - eta) * G) ** 2 * p1,
    )
    found = item_spread(problem_of(pool, FBeta(beta=beta)))
    np.testing.assert_allclose(found * mean_w**2, h, **EXACT)


def test_recall() -> None:
    """f=1: (1-G)^2 p1; f=0: G^2 p1 (4.19)."""
    pool, p1, f = scored()
    G = (f * p1).sum() / p1.sum()
    h = np.where(f == 1, (1 - G) ** 2 * p1, G**2 * p1)
    found = item_spread(problem_of(pool, "recall"))
    np.testing.assert_allclose(found * p1.mean() ** 2, h, **EXACT)


def test_precision() -> None:
    """f ((1-2G) p1 + G^2): zero where nothing is predicted (4.20)."""
    pool, p1, f = scored()
    G = (f * p1).sum() / f.sum()
    found = item_spread(problem_of(pool, "precision"))
    np.testing.assert_allclose(found * f.mean() ** 2, f * ((1 - 2 * G) * p1 + G**2), **EXACT)
    assert (found[f == 0] == 0).all()


def test_squared_loss_with_the_model_as_truth() -> None:
    """3 tau^4 - 2 R tau^2 + R^2 (4.23)."""
    rng = np.random.default_rng(3)
    tau = rng.lognormal(0, 0.7, 40)
    pool = Pool.from_arrays(prediction=rng.normal(size=40), std=tau, labels="real")
    R = (tau**2).mean()
    found = item_spread(problem_of(pool, "mean_squared_error"))
    np.testing.assert_allclose(found, 3 * tau**4 - 2 * R * tau**2 + R**2, rtol=1e-11)


def test_squared_loss_with_a_biased_gaussian() -> None:
    """d^2 (6 s^2 - 2R + d^2) + (3 s^2 - 2R) s^2 + R^2 (Cor. 4.3)."""
    rng = np.random.default_rng(4)
    d, s, R = rng.normal(size=30), rng.lognormal(0, 0.5, 30), 1.7
    f = rng.normal(size=30)
    pool = Pool.from_arrays(prediction=f, labels="real")
    measure = MeanSquaredError().bind(pool)
    points, weights = np.polynomial.hermite_e.hermegauss(9)
    y = (f - d)[:, None] + s[:, None] * points
    share = np.broadcast_to(weights / weights.sum(), y.shape)
    found = measure.influence(np.array([1.0, R])).spread(pool.rows(np.arange(30)), y, share)
    closed = d**2 * (6 * s**2 - 2 * R + d**2) + (3 * s**2 - 2 * R) * s**2 + R**2
    np.testing.assert_allclose(found, closed, rtol=1e-10)


@pytest.mark.parametrize("measure", [Accuracy(), Recall(), FBeta(beta=2.0)])
def test_any_ratio_is_the_generic_formula(measure: Accuracy | Recall | FBeta) -> None:
    """h = sum_y p(y|x) w^2 (l - G)^2 (Thm 4.1), item by item."""
    pool, p1, _ = scored()
    bound = measure.bind(pool)
    assert bound.ratio is not None
    num, den = bound.ratio
    loss = bound.loss(pool.rows(np.arange(len(pool))), np.array([0.0, 1.0]))
    chance = np.stack([1 - p1, p1], axis=1)
    w = loss @ den
    l = np.divide(loss @ num, w, out=np.zeros_like(w), where=w > 0)
    G, mean_w = intrinsic(w, l, chance)
    h = (chance * w**2 * (l - G) ** 2).sum(axis=1)
    np.testing.assert_allclose(item_spread(problem_of(pool, measure)) * mean_w**2, h, **EXACT)
    mean = (chance * w * np.abs(l - G)).sum(axis=1)
    np.testing.assert_allclose(item_spread(problem_of(pool, measure), 1) * mean_w, mean, **EXACT)


def test_item_weights_multiply_the_influence() -> None:
    weight = np.tile([1.0, 3.0], 30)
    pool, p1, f = scored(weight=weight)
    e = np.where(f == 1, 1 - p1, p1)
    R = np.average(e, weights=weight)
    found = item_spread(problem_of(pool, "accuracy"))
    h = weight**2 * ((1 - 2 * R) * e + R**2) / weight.mean() ** 2
    np.testing.assert_allclose(found, h, **EXACT)


def test_expectation_by_signature_is_that_item_by_item() -> None:
    pool, p1, f = scored()
    belief = PLAIN.bind(pool, ("system",) if "system" in pool.systems else tuple(pool.systems))
    found = item_expectation(pool, resolve("f1").bind(pool), belief)
    np.testing.assert_allclose(found, [1.0, (f * p1).mean(), p1.mean(), f.mean()], **EXACT)


def test_spread_about_the_units_mean_is_the_beliefs_variance() -> None:
    """With the estimator's centre at the unit, what is left is p (1 - p) (J (l1 - l0))^2."""
    pool, _, _ = scored()
    problem = problem_of(pool, "f1", design=_stratified())
    assert problem.centre == "unit"
    nodes = problem.state.nodes
    assert nodes is not None
    rows, unit = problem.units.representatives()
    assert (unit == np.arange(problem.units.count)).all()
    loss = problem.measure.loss(problem.pool.rows(rows), np.array([0.0, 1.0]))
    size = problem.units.size
    R = size @ np.einsum("us,usd->ud", nodes.weights, loss) / size.sum()
    jump = (loss[:, 1] - loss[:, 0]) @ target(problem, R).J[0]
    variance = nodes.weights.prod(axis=1) * jump**2
    np.testing.assert_allclose(unit_spread(problem), variance, rtol=1e-9, atol=1e-15)


def _stratified():  # type: ignore[no-untyped-def]
    from sondage.designs import Stratified

    return Stratified(belief=PLAIN, probability_floor=0.0)
