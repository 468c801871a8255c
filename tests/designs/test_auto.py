"""What ``auto`` stands for, and that it is no worse than a uniform sample where there is nothing to gain."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sondage as sd
from sondage.designs.stratified import Stratified
from sondage.measures import Accuracy, Difference, Measure

RNG = np.random.default_rng(11)
N = 1500
TRUTH = RNG.integers(0, 6, N)
LABELS = dict(enumerate(TRUTH.tolist()))
HARD = RNG.random(N)


def said(good: float) -> Any:
    """Predictions that go wrong where items are hard, as those of different models do."""
    return np.where(HARD + 0.3 * RNG.normal(size=N) < good, TRUTH, RNG.integers(0, 6, N))


def pool_of(systems: int, **columns: Any) -> sd.Pool:
    good = np.linspace(0.5, 0.8, systems)
    made = {f"s{k}": {"prediction": said(good[k]), **columns} for k in range(systems)}
    return sd.Pool.from_arrays(systems=made, labels=list(range(6)))


def accuracies(systems: int) -> list[Measure]:
    return [Accuracy(system=f"s{k}") for k in range(systems)]


@pytest.mark.parametrize("score", [None, np.ones(N), (TRUTH % 2).astype(float)])
def test_accuracy_without_an_order_is_uniform(score: Any) -> None:
    """No score, the same for all, or the same for all of a predicted class."""
    columns = {} if score is None else {"score": score}
    predicted = TRUTH % 2 if score is not None else TRUTH
    pool = sd.Pool.from_arrays(prediction=predicted, labels=list(range(6)), **columns)
    assert sd.create_study(pool, "accuracy", rng=1).design.alias == "uniform"


def test_accuracy_with_an_order_is_not() -> None:
    pool = sd.Pool.from_arrays(prediction=TRUTH, labels=list(range(6)), score=RNG.random(N))
    assert sd.create_study(pool, "accuracy", rng=1).design.alias == "error-curve"


def test_ratios_keep_the_curve_without_a_score() -> None:
    """Rare positives are worth looking for, even if all that is known is what was predicted."""
    pool = sd.Pool.from_arrays(prediction=(TRUTH == 5).astype(int), labels=[0, 1])
    assert sd.create_study(pool, "f1", rng=1).design.alias == "error-curve"


@pytest.mark.parametrize("systems", [2, 3, 6])
def test_several_systems_without_scores_share_labels_by_size(systems: int) -> None:
    design = sd.create_study(pool_of(systems), accuracies(systems), budget=100, rng=1).design
    assert design == Stratified(allocation="proportional")


def test_curves_are_not_fitted_to_more_patterns_than_labels_allow() -> None:
    score = RNG.normal(size=(6, N))
    systems = {f"s{k}": {"score": one, "threshold": 0.0} for k, one in enumerate(score)}
    pool = sd.Pool.from_arrays(systems=systems)
    assert sd.create_study(pool, accuracies(6), budget=100, rng=1).design.alias == "stratified"
    assert sd.create_study(pool, accuracies(6), budget=1000, rng=1).design.alias == "error-curve"


@pytest.mark.parametrize(
    ("systems", "measure"),
    [
        (1, accuracies(1)),
        (3, accuracies(3)),
        (6, accuracies(6)),
        (2, [Difference("accuracy", "s0", "s1")]),
    ],
    ids=["one", "three", "six", "difference"],
)
def test_no_worse_than_uniform_without_scores(systems: int, measure: list[Measure]) -> None:
    """Defined from the first budget on, no wider than a uniform sample's, and it covers."""
    pool = pool_of(systems)
    bound = sd.measures.resolve(measure).bind(pool)
    loss = bound.loss(pool.rows(slice(None)), TRUTH.astype(float)[:, None])[:, 0]
    exact = bound.g(loss.mean(axis=0))
    width, held = {}, {}
    for design in ("uniform", "auto"):
        found = []
        for seed in range(20):
            study = sd.create_study(pool, measure, design=design, budget=120, rng=seed)
            study.run(LABELS)
            found.append(study.estimate())
        low, high = (np.array([np.atleast_1d(one.ci[k]) for one in found]) for k in (0, 1))
        assert np.isfinite(low).all()
        width[design] = (high - low).mean()
        held[design] = ((low <= exact) & (exact <= high)).mean()
    assert width["auto"] <= 1.02 * width["uniform"]
    assert held["auto"] >= 0.85


def test_predictions_without_a_label_leave_recall_undefined() -> None:
    """Labels for precision are all among predicted positives: of the others nothing is known."""
    pool, labels = sd.datasets.synthetic_pool(n=20_000, prevalence=0.05, rng=0)
    study = sd.create_study(pool, "precision", budget=150, rng=1)
    study.run(labels)
    assert study.estimate().defined
    recall = study.estimate("recall")
    assert not recall.defined
    assert recall.why is not None
    assert "no item predicted 0 has a label" in recall.why
    both = study.estimate(["precision", "recall"])
    assert both.defined.tolist() == [True, False]


def test_a_small_budget_reaches_every_cell() -> None:
    """Cells are laid out for it: none is left without a chance, and intervals cover."""
    rng = np.random.default_rng(3)
    score = rng.normal(size=2000)
    truth = dict(enumerate((score + rng.normal(size=2000) > 0).astype(int).tolist()))
    pool = sd.Pool.from_arrays(score=score, threshold=0.0)
    for seed in range(5):
        study = sd.create_study(pool, "f1", design="stratified", budget=30, rng=seed)
        study.run(truth)
        asked = np.bincount(study.sample.unit, minlength=study.units.count)
        assert asked.min() >= 2
        assert not any("neighbouring cells" in warning for warning in study.estimate().warnings)
    found = sd.simulate(pool, truth, "f1", design="stratified", budgets=[30], repeats=60, rng=1, workers=1)
    low, high, exact = (np.asarray(found[name]) for name in ("low", "high", "truth"))
    assert ((low <= exact) & (exact <= high)).mean() >= 0.88


def test_cells_that_wait_for_a_label_are_said() -> None:
    pool, labels = sd.datasets.synthetic_pool(n=2_000, prevalence=0.2, rng=0)
    study = sd.create_study(pool, "f1", design="stratified", budget=500, rng=1)
    study.run(labels, budget=30)
    assert any("neighbouring cells stand in for them" in warning for warning in study.estimate().warnings)
    study.run(labels)
    assert not any("neighbouring cells" in warning for warning in study.estimate().warnings)


@pytest.mark.parametrize("amount", [6, 15, 40])
def test_a_budget_in_cost_reaches_every_predicted_class(amount: int) -> None:
    """Quotas are for what it pays, and a round that is cut short does not end with the first cells."""
    rng = np.random.default_rng(0)
    score = rng.beta(0.5, 1.5, 2000)
    truth = dict(enumerate((rng.random(2000) < score).astype(int).tolist()))
    plain = sd.Pool.from_arrays(score=score, threshold=0.5)
    dear = sd.Pool.from_arrays(score=score, threshold=0.5, cost=rng.choice([0.5, 1.0, 2.0], 2000))
    for pool in (plain, dear):
        for seed in range(4):
            study = sd.create_study(pool, "f1", budget=sd.Cost(amount), rng=seed)
            study.run(truth)
            assert study.spent <= amount
            assert len(set(np.asarray(pool.system().prediction)[study.sample.row].tolist())) == 2
