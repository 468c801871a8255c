"""LURE by its name: chances by root mean square influence, and the published weights on what it drew."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sondage as sd
from sondage.designs import Lure
from sondage.estimators import SequentialEstimator
from sondage.estimators.sequential import LureEstimator
from sondage.testing.designs import ask_and_tell, small_pool


def levelled(N: int, q: np.ndarray) -> np.ndarray:
    """``v_m = 1 + (N - M) / (N - m) (1 / ((N - m + 1) q_m) - 1)`` (Farquhar et al. 2021)."""
    M = len(q)
    m = np.arange(1, M + 1)
    return np.asarray(1 + (N - M) / (N - m) * (1 / ((N - m + 1) * q) - 1))


@given(rounds=st.lists(st.integers(1, 12), min_size=1, max_size=4), seed=st.integers(0, 1000))
@settings(max_examples=25, deadline=None)
def test_weights_of_a_study_are_the_published_ones(rounds: list[int], seed: int) -> None:
    pool, labels = small_pool(60)
    study = sd.create_study(pool, "f1", design="lure", rng=seed)
    for n in rounds:
        ask_and_tell(study, labels, n)
    case = study.case()
    weight = levelled(60, case.sample.p)
    M = len(weight)
    np.testing.assert_allclose(LureEstimator().weights(case), weight * 60 / M, rtol=1e-10)
    if M > 1:
        totals = LureEstimator().totals(case)
        np.testing.assert_allclose(totals.R, weight @ case.losses(case.sample) / M, rtol=1e-10)


@pytest.mark.parametrize("measure", ["f1", "accuracy", "recall"])
def test_chances_are_the_root_mean_square_influence_and_the_floor(measure: str) -> None:
    """From the losses and the belief of the cells, written out."""
    pool, labels = small_pool(120)
    design = Lure(floor=0.2, probability_floor=0.0)
    study = sd.create_study(pool, measure, design=design, rng=1)
    ask_and_tell(study, labels, 30)
    problem = study.problem()
    assert problem.centre == "none"
    nodes = problem.state.nodes
    assert nodes is not None
    rows, unit = problem.units.representatives()
    assert (unit == np.arange(problem.units.count)).all()
    loss = problem.measure.loss(pool.rows(rows), nodes.labels)
    share = problem.units.size / len(pool)
    R = np.einsum("u,us,usd->d", share, nodes.weights, loss)
    influence = loss @ problem.measure.jac(R)[0]
    size = np.sqrt((nodes.weights * np.square(influence)).sum(axis=1))
    left = problem.units.size - problem.asked
    mass = 0.8 * size * left / (size * left).sum()
    mass = mass + 0.1 * ((left > 0) / (left > 0).sum() + left / left.sum())
    table = design.table(problem, 5)
    assert table.chance is not None
    np.testing.assert_allclose(table.chance * left, mass, rtol=1e-9, atol=1e-15)


def test_the_estimate_of_a_study_is_the_plain_form_and_not_that_of_sequential() -> None:
    pool, labels = small_pool(120)
    study = sd.create_study(pool, "f1", design="lure", rng=1)
    ask_and_tell(study, labels, 40)
    own = study.estimate()
    assert own.value == study.estimate(estimator=SequentialEstimator(control=False)).value
    assert own.value != study.estimate(estimator="sequential").value
    weight = np.asarray(study.labels()["weight"])
    np.testing.assert_allclose(weight, levelled(120, study.sample.p) * 3, rtol=1e-9)
