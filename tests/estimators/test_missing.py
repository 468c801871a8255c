"""Labels that are missing at random: what stands for them is unbiased, and its interval knows of them."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from tests.estimators.enumeration import case_of, pool_losses, sample_of, tiny_pool

import sondage as sd
from sondage.designs import Design, PoissonOnline
from sondage.estimators import ANSWERED, OPEN, REFUSED, estimate_totals
from sondage.estimators.missing import Response

CHANCE_DESIGNS = [
    "importance",
    "ais",
    "poisson",
    "sequential",
    "lure",
    "auto-audit",
    "poisson-online",
    "active-inference",
]
CELLS = ["uniform", "stratified"]
KINDS = [*CHANCE_DESIGNS, *CELLS, PoissonOnline(sampling="systematic"), PoissonOnline(sampling="pivotal")]


def some_pool(size: int, *, saturated: bool = False) -> tuple[sd.Pool, np.ndarray]:
    """Scores between 0 and 1 and labels that they foretell; saturated, the scores say far too much."""
    rng = np.random.default_rng(7)
    score = rng.beta(0.6, 1.2, size)
    label = (rng.random(size) < 0.9 * score**1.3 + 0.03).astype(np.int64)
    shown = np.clip((score - 0.5) * 6 + 0.5, 0.001, 0.999) if saturated else score
    return sd.Pool.from_arrays(id=np.arange(size), probability=shown, threshold=0.5), label


def accuracy(pool: sd.Pool, label: np.ndarray, of: Any = slice(None)) -> float:
    return float((pool.system().prediction == label)[of].mean())


def asked(pool: sd.Pool, label: np.ndarray, missing: np.ndarray, design: Any, seed: int, n: int) -> sd.Study:
    """A study whose missing labels are refused."""
    study = sd.create_study(pool, "accuracy", design=design, budget=n, rng=seed)
    study.run(lambda item: None if missing[item.id] else int(label[item.id]), batch=20)
    return study


# ---- exact by enumeration ------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["wor", "poisson", "online", "wr"])
def test_a_census_with_refusals_is_unbiased_and_knows_its_variance(kind: str) -> None:
    """All of eight items asked, five answer, each five alike: mean and covariance over the 56 are exact."""
    pool, y = tiny_pool(8)
    losses = pool_losses(pool, "brier_score_loss", y)
    R, cov = [], []
    for told in combinations(range(8), 5):
        status = np.where(np.isin(np.arange(8), told), ANSWERED, REFUSED)
        chances = {"p": np.full(8, 0.2), "pi": np.full(8, 0.7), "status": status}
        sample = sample_of(range(8), y, range(8), kind=kind, **chances)
        totals = estimate_totals(case_of(pool, "brier_score_loss", sample))
        assert not totals.exact
        R.append(totals.R)
        cov.append(totals.cov)
    centred = np.array(R) - losses.mean(axis=0)
    np.testing.assert_allclose(np.mean(R, axis=0), losses.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(np.mean(cov, axis=0), centred.T @ centred / len(R), rtol=1e-9, atol=1e-15)


def test_an_item_drawn_often_is_missing_once() -> None:
    """With replacement one refusal may take many draws: they are not many independent ones."""
    pool, y = tiny_pool(8)
    rows, times = [0, 1, 2, 3, 0, 1], np.array([1, 1, 1, 1, 3, 3])
    status = np.array([REFUSED, ANSWERED, ANSWERED, ANSWERED, REFUSED, ANSWERED])
    sample = sample_of(rows, y, rows, kind="wr", times=times, status=status)
    case = case_of(pool, "brier_score_loss", sample)
    often = Response(case, sample, times.astype(float))
    once = sample_of(rows[:4], y, rows[:4], kind="wr", status=status[:4])
    whole = Response(case, once, np.array([4.0, 4.0, 1.0, 1.0]))
    np.testing.assert_allclose(often.parts, whole.parts, rtol=1e-12)
    np.testing.assert_allclose(often.factor[[1, 2, 3]], whole.factor[1:])


# ---- every item asked ----------------------------------------------------------------------------


@pytest.mark.parametrize("design", KINDS, ids=str)
@pytest.mark.parametrize("left_open", [False, True])
def test_all_asked_and_some_missing_is_neither_exact_nor_of_no_width(design: Any, left_open: bool) -> None:
    pool, label = some_pool(100)
    missing = np.random.default_rng(5).random(100) < 0.25
    study = asked(pool, label, missing, design, 1, 100)
    if left_open:
        for row in np.flatnonzero(missing).tolist():
            study.reopen(row)
    while len(study.sample.items()) < 100:  # a Poisson round may bring nothing
        for item in study.ask(20):
            study.tell(item.id, None if missing[item.id] else int(label[item.id]))
    est = study.estimate(rounds="all")
    assert est.ci.low < accuracy(pool, label) < est.ci.high
    assert 0.02 < est.std_error < 0.1  # of a plain sample of the 76 labels: 0.025


@pytest.mark.parametrize("measure", ["accuracy", "f1", "brier_score_loss"])
@pytest.mark.parametrize("design", KINDS, ids=str)
def test_all_labelled_but_refusals_is_exact_for_the_items_that_can_be_told(design: Any, measure: str) -> None:
    pool, label = some_pool(100)
    missing = np.random.default_rng(5).random(100) < 0.25
    study = asked(pool, label, missing, design, 1, 100)
    while len(study.sample.items()) < 100:
        for item in study.ask(20):
            study.tell(item.id, None if missing[item.id] else int(label[item.id]))
    est = study.estimate(measure, exclude=True)
    losses = pool_losses(pool, measure, label.astype(float))[~missing].mean(axis=0)
    truth = sd.measures.resolve(measure).bind(pool).g(losses)[0]
    assert est.value == pytest.approx(truth, abs=1e-12)
    assert est.ci.low == est.ci.high == est.value


# ---- coverage ------------------------------------------------------------------------------------


def covered(design: Any, share: float, repeats: int, n: int = 100) -> tuple[float, float]:
    """How often the interval held the truth, and estimated over true variance."""
    pool, label = some_pool(500)
    truth, values, variances, held = accuracy(pool, label), [], [], []
    for seed in range(repeats):
        missing = np.random.default_rng(10_000 + seed).random(500) < share
        est = asked(pool, label, missing, design, seed, n).estimate()
        values.append(est.value)
        variances.append(est.std_error**2)
        held.append(est.ci.low <= truth <= est.ci.high)
    error = np.std(values) / np.sqrt(repeats)
    assert abs(np.mean(values) - truth) < 4 * error
    return float(np.mean(held)), float(np.mean(variances) / np.var(values))


@pytest.mark.parametrize("design", CHANCE_DESIGNS)
def test_standard_errors_count_what_is_missing(design: str) -> None:
    """With 60 % missing a standard error of all draws has 40 % of the variance."""
    held, ratio = covered(design, 0.6, 40)
    assert held >= 0.88
    assert ratio > 0.75


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.25, 0.5])
@pytest.mark.parametrize("design", KINDS, ids=str)
def test_intervals_cover_with_labels_missing_at_random(design: Any, share: float) -> None:
    held, _ = covered(design, share, 500, 150)
    assert held >= 0.93


# ---- open items ----------------------------------------------------------------------------------


@pytest.mark.parametrize("design", sorted(set(Design.catalogue()) - {"optimal"}))
def test_half_of_the_first_batch_gives_a_number_and_a_warning(design: str) -> None:
    pool, label = some_pool(300)
    study = sd.create_study(pool, "accuracy", design=design, rng=3)
    items = list(study.ask(60))
    for item in items[::2]:
        study.tell(item.id, int(label[item.id]))
    est = study.estimate()
    assert est.ci.low < est.value < est.ci.high
    assert any("still open" in warning for warning in est.warnings)
    assert any("has nothing to do with its label" in one for one in est.assumptions)
    closed = study.estimate(rounds="closed")
    assert not closed.defined
    told = len(items[::2])
    assert (
        closed.why
        == f"none of the {told} labels counts, because items of their round, or of one before, are still open"
    )


@pytest.mark.parametrize("design", ["auto-audit", "sequential", "ais"])
def test_open_items_do_not_move_the_estimate_towards_the_belief(design: str) -> None:
    """Scores that are far too sure, and a third of every round open: what stands for them are labels."""
    pool, label = some_pool(500, saturated=True)
    truth, values = accuracy(pool, label), []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        study = sd.create_study(pool, "accuracy", design=design, rng=seed)
        for _ in range(5):
            for item in study.ask(20):
                if rng.random() < 2 / 3:
                    study.tell(item.id, int(label[item.id]))
        values.append(study.estimate().value)
    assert abs(np.mean(values) - truth) < 3.5 * np.std(values) / np.sqrt(len(values))


# ---- nothing to stand for them -------------------------------------------------------------------


@pytest.mark.parametrize("status", [OPEN, REFUSED])
@pytest.mark.parametrize("design", CHANCE_DESIGNS)
def test_a_predicted_class_without_any_label_is_not_supported(design: str, status: int) -> None:
    pool, label = some_pool(300)
    predicted = pool.system().prediction
    assert predicted is not None
    study = sd.create_study(pool, "f1", design=design, rng=3)
    for item in study.ask(60):
        if not predicted[item.id]:
            study.tell(item.id, int(label[item.id]))
        elif status == REFUSED:
            study.tell(item.id, None)
    est = study.estimate()
    assert not est.defined
    assert est.why is not None
    assert "nothing stands for them" in est.why


@pytest.mark.parametrize("design", CHANCE_DESIGNS)
def test_few_labels_of_a_predicted_class_that_lacks_others_widen(design: str) -> None:
    """One answer stands for all, with the variance that the belief expects of what is missing."""
    pool, label = some_pool(300)
    predicted = pool.system().prediction
    assert predicted is not None
    study = sd.create_study(pool, "precision", design=design, rng=3)
    whole = sd.create_study(pool, "precision", design=design, rng=3)
    told = 0
    for item, same in zip(study.ask(60), whole.ask(60), strict=True):
        whole.tell(same.id, int(label[same.id]))
        if not predicted[item.id] or told < 2:
            study.tell(item.id, int(label[item.id]))
            told += int(predicted[item.id])
        else:
            study.tell(item.id, None)
    assert study.estimate().std_error > 1.5 * whole.estimate().std_error


def test_what_needs_no_label_is_known_of_items_without_one() -> None:
    """Refused predicted negatives leave precision as it is."""
    pool, label = some_pool(300)
    predicted = pool.system().prediction
    assert predicted is not None
    studies = [sd.create_study(pool, "precision", design="importance", rng=3) for _ in range(2)]
    for k, study in enumerate(studies):
        for item in study.ask(60):
            study.tell(item.id, None if k and not predicted[item.id] else int(label[item.id]))
    first, second = (study.estimate() for study in studies)
    assert first.value == pytest.approx(second.value, abs=1e-12)
    assert first.std_error == pytest.approx(second.std_error, rel=0.05)
