"""Samples that have shown too little: intervals widen or are undefined, and never collapse."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

import sondage as sd
from sondage.designs import Poisson
from sondage.estimators import estimate_totals
from sondage.estimators.linear import linearise
from sondage.study.estimates.result import Estimate

N = 1000
LABELS = 60
DESIGNS = {
    "uniform": "uniform",
    "importance": "importance",
    "poisson": "poisson",
    "fixed": Poisson(fixed_size=True),
    "stratified": "stratified",
    "sequential": "sequential",
}
INTERVALS = [
    "wald",
    "t",
    "logit",
    "beta",
    "bootstrap",
    "empirical-likelihood",
    "simultaneous",
    "scheffe",
    None,
]
MEASURES = ["accuracy", "precision", "recall", "f1", "matthews_corrcoef"]
RATIOS = "empirical-likelihood"


@cache
def scores() -> tuple[np.ndarray, np.ndarray]:
    p = np.round(np.random.default_rng(0).beta(0.4, 2.0, N), 3)
    return p, (p >= 0.5).astype(int)


@cache
def study_of(design: str, measure: str, oracle: str) -> sd.Study:
    p, f = scores()
    pool = sd.Pool.from_arrays(probability=p, prediction=f)
    study = sd.create_study(pool, measure, design=DESIGNS[design], budget=LABELS, rng=1)
    answer: Callable[[sd.Item], int] = {
        "right": lambda item: int(f[item.id]),
        "negative": lambda item: 0,
        "positive": lambda item: 1,
    }[oracle]
    study.run(answer)
    return study


def given_for(interval: str | None, measure: str) -> bool:
    """Matthews' correlation is no ratio of averages."""
    return not (interval == RATIOS and measure == "matthews_corrcoef")


def width(estimate: Estimate) -> float:
    return float(estimate.ci.high - estimate.ci.low)


def assert_wide_or_undefined(estimate: Estimate) -> None:
    if np.isnan(estimate.value):
        assert estimate.why
        assert np.isnan([estimate.ci.low, estimate.ci.high]).all()
    else:
        assert width(estimate) > 1e-3
        assert estimate.std_error > 0


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("design", sorted(DESIGNS))
def test_no_errors_seen_does_not_mean_that_there_are_none(design: str, measure: str) -> None:
    """After 60 labels without an error no interval is narrower than a thousandth."""
    for interval in (one for one in INTERVALS if given_for(one, measure)):
        assert_wide_or_undefined(study_of(design, measure, "right").estimate(interval=interval))


@pytest.mark.parametrize("measure", ["accuracy", "precision", "f1"])
@pytest.mark.parametrize("design", sorted(DESIGNS))
def test_no_positives_seen_does_not_mean_that_there_are_none(design: str, measure: str) -> None:
    for interval in INTERVALS:
        assert_wide_or_undefined(study_of(design, measure, "negative").estimate(interval=interval))


@pytest.mark.parametrize("design", sorted(DESIGNS))
def test_recall_without_a_positive_is_undefined_or_says_nothing(design: str) -> None:
    """Nothing that recall divides by was seen: no value, or nearly the whole range."""
    for interval in INTERVALS:
        estimate = study_of(design, "recall", "negative").estimate(interval=interval)
        if np.isnan(estimate.value):
            assert estimate.why
            assert "recall" in estimate.why or "labels" in estimate.why
            assert not estimate.defined
        else:
            assert width(estimate) > 0.5


@pytest.mark.parametrize("design", sorted(DESIGNS))
@pytest.mark.parametrize("oracle", ["right", "negative", "positive"])
@pytest.mark.parametrize("measure", MEASURES)
def test_values_and_intervals_lie_in_the_range_and_together(design: str, oracle: str, measure: str) -> None:
    study = study_of(design, measure, oracle)
    least, most = study.measure.range
    for interval in (one for one in INTERVALS if given_for(one, measure)):
        estimate = study.estimate(interval=interval)
        if not np.isnan(estimate.value):
            assert least[0] <= estimate.ci.low <= estimate.ci.high <= most[0]
            assert estimate.ci.low <= estimate.value <= estimate.ci.high


@pytest.mark.parametrize("design", sorted(DESIGNS))
def test_more_labels_without_an_error_narrow_the_interval(design: str) -> None:
    """A guard that never gives way would be no use either."""
    p, f = scores()
    pool = sd.Pool.from_arrays(probability=p, prediction=f)
    study = sd.create_study(pool, "accuracy", design=DESIGNS[design], budget=600, rng=1)
    study.run(lambda item: int(f[item.id]), budget=100)
    early = study.estimate()
    study.run(lambda item: int(f[item.id]), budget=500)
    assert 0 < width(study.estimate()) < width(early)


@pytest.mark.parametrize("design", sorted(DESIGNS))
def test_a_regression_that_has_shown_no_error_is_not_known_to_be_perfect(design: str) -> None:
    rng = np.random.default_rng(1)
    f = rng.normal(size=300)
    pool = sd.Pool.from_arrays(prediction=f, std=rng.lognormal(0, 0.5, 300), labels="real")
    study = sd.create_study(pool, "mean_squared_error", design=DESIGNS[design], budget=40, rng=1)
    study.run(lambda item: float(f[item.id]))
    for interval in ("wald", "t", "logit", "bootstrap", "empirical-likelihood"):
        assert_wide_or_undefined(study.estimate(interval=interval))


@pytest.mark.parametrize("measure", ["accuracy", "f1", "precision", "recall"])
@pytest.mark.parametrize("how", ["plain", "weights", "chances"])
def test_arrays_without_an_error_do_not_give_a_point(measure: str, how: str) -> None:
    y = np.array([1, 0] * 20)
    options = {
        "plain": {"pool_size": 1000},
        "weights": {"weights": np.linspace(1, 3, 40)},
        "chances": {"inclusion_probability": np.linspace(0.1, 0.9, 40)},
    }[how]
    estimate = sd.estimate(y, y, measure=measure, **options)  # type: ignore[arg-type]
    assert_wide_or_undefined(estimate)


@pytest.mark.parametrize("design", ["importance", "poisson", "fixed"])
def test_rounding_is_no_information(design: str) -> None:
    """Where no draw moved the value, the variance is what the belief expects, or that of one more draw."""
    study = study_of(design, "accuracy", "right")
    totals = estimate_totals(study.case(study.measure))
    linear = linearise(totals, study.measure)
    assert np.square(linear.parts).sum() < 1e-30
    assert totals.prior_cov is not None
    assert totals.unseen is not None
    expected = (linear.J @ totals.prior_cov @ linear.J.T).item()
    unseen = totals.unseen(linear.J)
    assert unseen.below[0] > 0
    both = [max(expected, float(side[0])) for side in (unseen.below, unseen.above)]
    assert np.square(linear.std_error[0]) == pytest.approx(max(expected, np.mean(both)), rel=1e-6)


def test_uniform_with_one_label_in_a_class_still_has_its_guard() -> None:
    """Six right labels, five of one class: a signature too thin to stand alone is no proof."""
    f = np.array([1] * 3 + [0] * 97)
    pool = sd.Pool.from_arrays(prediction=f, probability=np.where(f, 0.8, 0.1))
    for seed in range(200):
        study = sd.create_study(pool, "accuracy", design="uniform", budget=6, rng=seed)
        study.run(lambda item: int(f[item.id]))
        if study.sample.y.sum() == 1:
            break
    for interval in INTERVALS:
        assert_wide_or_undefined(study.estimate(interval=interval))


@pytest.mark.parametrize("interval", ["beta", "empirical-likelihood", "scheffe", "simultaneous"])
@pytest.mark.parametrize("design", sorted(DESIGNS))
def test_a_sample_without_an_event_has_the_width_that_the_guard_gives(design: str, interval: str) -> None:
    """No error in 60 labels: the interval is not narrower than Wald's, which has the belief's variance."""
    study = study_of(design, "accuracy", "right")
    assert width(study.estimate(interval=interval)) >= 0.999 * width(study.estimate(interval="wald"))


def test_arrays_with_every_item_are_a_point() -> None:
    y = [1, 0] * 20
    estimate = sd.estimate(y, y, measure="accuracy", pool_size=40)
    assert estimate.ci.low == estimate.ci.high == 1.0
