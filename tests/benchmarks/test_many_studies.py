"""Many studies at once: each as the package makes it, and every label that is drawn is there."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from benchmarks._many_studies import MEASURES, Counts, ManyStudies, Values

import sondage as sd
from sondage.beliefs.error_curve.state import CurveState
from sondage.designs import ErrorCurveDesign

POOLS: dict[str, dict[str, Any]] = {
    "good": {"n": 4000, "prevalence": 0.1, "separation": 2.5},
    "rare": {"n": 6000, "prevalence": 0.01, "separation": 3.0},
    "weak": {"n": 3000, "prevalence": 0.04, "separation": 1.8},
    "nothing predicted": {"n": 2000, "prevalence": 0.02, "separation": 0.0},
}


@cache
def labelled(name: str) -> Any:
    return sd.datasets.synthetic_pool(**POOLS[name], rng=1)


@cache
def answered(name: str, aim: str, labels: int) -> tuple[sd.Study, ManyStudies, Counts, np.ndarray]:
    """A study, and its counts and the rates of its curves as one of many."""
    pool, truth = labelled(name)
    study = sd.create_study(pool, aim, design="error-curve", rng=5)
    if labels:
        study.run(truth, budget=labels, batch=20)
    state = study.problem().state
    assert isinstance(state, CurveState)
    assert state.n is not None
    assert state.wrong is not None
    many = ManyStudies(pool, truth, aim, seed=5)
    return study, many, Counts(state.n[None], state.wrong[None]), state.by_place[None]


CASES = [(name, aim, labels) for name in POOLS for aim in ("f1", "accuracy") for labels in (0, 60, 400)]


@pytest.mark.parametrize(("name", "aim", "labels"), CASES)
def test_shares_are_those_of_the_design(name: str, aim: str, labels: int) -> None:
    study, many, counts, rate = answered(name, aim, labels)
    assert isinstance(study.design, ErrorCurveDesign)
    expected = study.design.shares(study.problem(), 25).total
    np.testing.assert_allclose(many.shares(counts, rate, labels, 25)[0], expected, rtol=2e-3, atol=1e-9)


@pytest.mark.parametrize(("name", "aim", "labels"), CASES)
def test_rates_by_place_are_those_of_the_belief(name: str, aim: str, labels: int) -> None:
    _, many, counts, rate = answered(name, aim, labels)
    start = np.repeat(many.curves.gaussian[0][None], 1, axis=0)
    np.testing.assert_allclose(many._fitted(counts, start)[1], rate, rtol=1e-5, atol=1e-12)


@pytest.mark.parametrize(("name", "aim", "labels"), [one for one in CASES if one[2]])
def test_estimates_are_those_of_the_study(name: str, aim: str, labels: int) -> None:
    study, many, counts, rate = answered(name, aim, labels)
    found = many.estimates(counts, rate)[0]
    for value, measure in zip(found, MEASURES, strict=True):
        estimate = study.estimate(measure)
        plug_in = estimate.value if estimate.plug_in is None else estimate.plug_in  # none where it is known
        assert value == pytest.approx(np.nan_to_num(plug_in), rel=1e-4, abs=1e-7)


def test_intervals_are_about_those_of_the_study() -> None:
    """Other random numbers, the same distribution."""
    study, many, counts, _ = answered("good", "f1", 400)
    value, low, high = many.intervals(counts, 0)
    for k, measure in enumerate(MEASURES):
        interval = study.estimate(measure).ci
        width = interval.high - interval.low
        assert value[k] == pytest.approx(study.estimate(measure).value, abs=0.05 * width)
        assert (low[k], high[k]) == pytest.approx((interval.low, interval.high), abs=0.2 * width)


@pytest.mark.parametrize("batch", [25, 300, None])
@pytest.mark.parametrize("name", POOLS)
def test_every_budget_is_spent_on_labels_that_are_there(name: str, batch: int | None) -> None:
    pool, truth = labelled(name)
    many = ManyStudies(pool, truth, "f1")
    for budget, counts, _ in many.run(20, [130, 700], seed=1, batch=batch):
        assert (counts.n.sum(axis=1) == budget).all()
        assert (counts.n <= many.size).all()
        assert (counts.wrong <= np.minimum(counts.n, many.wrong)).all()
        assert (counts.n - counts.wrong <= many.size - many.wrong).all()


def test_all_labels_give_the_truth() -> None:
    pool, truth = labelled("weak")
    many = ManyStudies(pool, truth, "f1")
    *_, (_, counts, rate) = many.run(3, [len(pool)], seed=1, batch=500)
    np.testing.assert_array_equal(counts.n, np.tile(many.size, (3, 1)))
    np.testing.assert_allclose(many.estimates(counts, rate), np.tile(many.truth, (3, 1)), atol=1e-12)
    study = sd.create_study(pool, "f1", rng=1)
    study.run(truth, budget=len(pool), batch=500)
    for value, measure in zip(many.truth, MEASURES, strict=True):
        assert value == pytest.approx(study.estimate(measure).value)


def test_a_uniform_sample_is_unbiased_for_accuracy_and_has_its_variance() -> None:
    many = ManyStudies(*labelled("good"), "accuracy")
    n, N, found = 400, many.values.items, many.uniform(20_000, 400, seed=1)[:, 3]
    size = np.array([many.values.predicted, N - many.values.predicted])
    rate = many.errors(many.wrong.astype(float)) / size
    # After stratification: the within variance, to first order in 1 / n.
    within = float((size / N * rate * (1 - rate)).sum()) * (1 - n / N) / n
    assert found.mean() == pytest.approx(many.truth[3], abs=5 * np.sqrt(within / 20_000))
    assert found.var() == pytest.approx(within, rel=0.06)


def test_slopes_are_those_of_the_values() -> None:
    values, errors, step = Values(200.0, 5000.0), np.array([30.0, 45.0]), 1e-4
    for k in range(4):
        numeric = [
            (values.g(errors + move)[k] - values.g(errors - move)[k]) / (2 * step)
            for move in (np.array([step, 0.0]), np.array([0.0, step]))
        ]
        np.testing.assert_allclose(np.abs(numeric), values.slopes(errors, k, 0.05), rtol=1e-5, atol=1e-12)


def test_next_to_nothing_misses_still_matter() -> None:
    values = Values(200.0, 5000.0)
    assert values.g(np.array([199.9, 10.0]))[0] < 0.05
    assert values.slopes(np.array([199.9, 10.0]), 0, 0.05)[1] > 1e-6
