"""The optimal design: the least variance, and what other designs lose to it."""

from __future__ import annotations

import numpy as np
import pytest

import sondage as sd
from sondage.beliefs.true_labels import KnownLabels
from sondage.designs import Importance, Stratified
from sondage.designs.ais import AIS
from sondage.designs.importance import Optimal
from sondage.errors import InvalidInput, NotSupported
from sondage.simulation import diagnose
from sondage.simulation.diagnostics import divergence, true_influence
from sondage.strata.by_score import EqualSize


def known(seed: int = 0, size: int = 400) -> tuple[sd.Pool, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = rng.random(size) < 0.2
    score = np.where(truth, 0.8, -0.8) + rng.normal(0, 1, size)
    return sd.Pool.from_arrays(score=score, threshold=0.0), truth.astype(float)


def test_chances_are_in_proportion_to_the_true_influence() -> None:
    pool, truth = known()
    study = sd.create_study(pool, "f1", design=Optimal(belief=KnownLabels(truth)), rng=1)
    chance = study.design.table(study.problem(), 1).chance
    assert chance is not None
    best = np.abs(true_influence(study, truth))
    np.testing.assert_allclose(chance, best / best.sum(), atol=1e-6)


def test_least_variance_of_a_ratio_is_4_g2_times_1_less_g_squared() -> None:
    """Of one draw: 4 G^2 (1 - G)^2 for every F-measure (Marchant and Rubinstein 2021, for recall)."""
    pool, truth = known()
    for measure in ("f1", "recall", "precision"):
        study = sd.create_study(pool, measure, rng=1)
        G = float(sd.measures.pool_value(study.measure, pool, truth)[0])
        floor = np.abs(true_influence(study, truth)).mean() ** 2
        assert floor == pytest.approx(4 * G**2 * (1 - G) ** 2, rel=1e-9)


def test_simulation_knows_the_labels_and_beats_importance() -> None:
    pool, truth = known(1, 1500)
    errors = {}
    for name in ("optimal", "importance"):
        out = sd.simulate(
            pool, truth.astype(int).tolist(), "f1", design=name, budgets=[60], repeats=60, workers=1, rng=1
        )
        errors[name] = float(np.mean((np.asarray(out["value"]) - np.asarray(out["truth"])) ** 2))
    assert errors["optimal"] < errors["importance"]


def test_a_study_cannot_use_it() -> None:
    pool, _ = known()
    with pytest.raises((NotSupported, InvalidInput), match=r"truth|true labels"):
        sd.create_study(pool, "f1", design="optimal")
    assert "optimal" not in sd.designs.Design.catalogue()


def test_divergence_is_zero_for_the_optimal_chances_alone() -> None:
    best = np.array([1.0, 2.0, 0.0, 5.0])
    assert divergence(best, best / best.sum()) == pytest.approx(0.0, abs=1e-12)
    assert divergence(best, np.full(4, 0.25)) > 0
    assert divergence(best, np.array([0.5, 0.5, 0.0, 0.0])) == np.inf
    assert np.isnan(divergence(best, None))


def test_adaptive_chances_come_nearer_to_the_optimal_ones() -> None:
    pool, truth = known(2, 3000)
    answers = dict(enumerate(truth.astype(int).tolist()))
    study = sd.create_study(pool, "f1", design=AIS(strata=32, depth=5), rng=1)
    before = diagnose(study, answers).kl
    for _ in range(8):
        study.tell({item.id: answers[item.id] for item in study.ask(50)})
    assert diagnose(study, answers).kl < before
    static = sd.create_study(pool, "f1", design=Importance(), rng=1)
    first = diagnose(static, answers).kl
    static.run(answers, budget=50)
    assert diagnose(static, answers).kl == pytest.approx(first)


def test_regret_of_an_allocation() -> None:
    pool, truth = known(3, 2000)
    answers = dict(enumerate(truth.astype(int).tolist()))
    found = {}
    for name, design in {
        "best": Stratified(belief=KnownLabels(truth), floor=0.0, strata=EqualSize(6), probability_floor=0.0),
        "even": Stratified(allocation="proportional", strata=EqualSize(6)),
    }.items():
        study = sd.create_study(pool, "accuracy", design=design, budget=300, rng=1)
        study.run(answers)
        found[name] = diagnose(study, answers).regret
    assert 0.99 < found["best"] < 1.1
    assert found["even"] > found["best"]
