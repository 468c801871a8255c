"""Estimates from plain arrays: labels that somebody has sampled already."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import metrics

import sondage as sd
from sondage.errors import InvalidInput

N = 120
I = np.arange(N)
Y_TRUE = (I * 17 % 29 < 12).astype(int)
Y_PRED = np.where(I % 5 == 0, 1 - Y_TRUE, Y_TRUE)
CHANCE = (1 + I % 7) / 8.0

SCORES = {
    "accuracy": metrics.accuracy_score,
    "precision": metrics.precision_score,
    "recall": metrics.recall_score,
    "f1": metrics.f1_score,
    "matthews_corrcoef": metrics.matthews_corrcoef,
}


@pytest.mark.parametrize("measure", SCORES)
def test_a_simple_random_sample_gives_the_value_of_scikit_learn(measure: str) -> None:
    est = sd.estimate(Y_TRUE, Y_PRED, measure=measure)
    assert est.value == pytest.approx(SCORES[measure](Y_TRUE, Y_PRED), abs=1e-9)
    assert est.ci.low < est.value < est.ci.high
    assert est.n_labels == est.n_draws == N
    assert est.defined


def test_f1_is_the_default_measure() -> None:
    assert sd.estimate(Y_TRUE, Y_PRED).names == ("f1",)


@pytest.mark.parametrize("measure", SCORES)
def test_inclusion_probabilities_give_the_inverse_weighted_value(measure: str) -> None:
    est = sd.estimate(Y_TRUE, Y_PRED, inclusion_probability=CHANCE, measure=measure)
    expected = SCORES[measure](Y_TRUE, Y_PRED, sample_weight=1 / CHANCE)
    assert est.value == pytest.approx(expected, abs=1e-12)
    assert abs(expected - SCORES[measure](Y_TRUE, Y_PRED)) > 1e-3


def test_inclusion_probabilities_give_the_poisson_variance() -> None:
    """Linearised Horvitz-Thompson: the sum of (1 - pi) / pi^2 times squared influence (eq. 27)."""
    est = sd.estimate(Y_TRUE, Y_PRED, inclusion_probability=CHANCE, measure="accuracy")
    right = (Y_TRUE == Y_PRED).astype(float)
    p = np.average(right, weights=1 / CHANCE)
    variance = ((1 - CHANCE) / CHANCE**2 * (right - p) ** 2).sum() / (1 / CHANCE).sum() ** 2
    assert est.value == pytest.approx(p, abs=1e-12)
    assert est.std_error == pytest.approx(np.sqrt(variance), rel=1e-9)


def test_items_that_were_sure_to_be_sampled_add_no_variance() -> None:
    est = sd.estimate(Y_TRUE, Y_PRED, inclusion_probability=np.ones(N))
    assert est.std_error == 0
    assert est.ci.low == pytest.approx(est.value, abs=1e-12)
    assert est.ci.high == pytest.approx(est.value, abs=1e-12)


@pytest.mark.parametrize("scale", [1.0, 1e-10, 1e-3, 40.0, 1e10])
def test_weights_count_up_to_a_constant(scale: float) -> None:
    weights = scale / CHANCE
    est = sd.estimate(Y_TRUE, Y_PRED, weights=weights)
    expected = metrics.f1_score(Y_TRUE, Y_PRED, sample_weight=1 / CHANCE)
    assert est.value == pytest.approx(expected, abs=1e-9)
    assert est.std_error == pytest.approx(sd.estimate(Y_TRUE, Y_PRED, weights=1 / CHANCE).std_error, rel=1e-5)


def test_weights_with_the_size_of_the_pool_are_inclusion_probabilities() -> None:
    total = 4000
    weights = 1 / CHANCE
    chance = weights.sum() / (weights * total)
    by_weight = sd.estimate(Y_TRUE, Y_PRED, weights=weights, pool_size=total)
    by_chance = sd.estimate(Y_TRUE, Y_PRED, inclusion_probability=chance)
    assert by_weight.value == pytest.approx(by_chance.value, abs=1e-12)
    assert by_weight.std_error == pytest.approx(by_chance.std_error, rel=1e-9)


@pytest.mark.parametrize("pool_size", [120, 200, 4000])
def test_the_size_of_the_pool_changes_no_ratio_of_weights(pool_size: int) -> None:
    weights = np.where(I % 3, 1.0, 50.0)  # those that add up to 200 would leave many less than themselves
    est = sd.estimate(Y_TRUE, Y_PRED, weights=weights, pool_size=pool_size)
    expected = metrics.f1_score(Y_TRUE, Y_PRED, sample_weight=weights)
    assert est.value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("pool_size", [None, 100_000, 240, 150])
def test_the_standard_error_has_the_finite_population_correction(pool_size: int | None) -> None:
    est = sd.estimate(Y_TRUE, Y_PRED, measure="accuracy", pool_size=pool_size)
    p = est.value
    left = 1.0 if pool_size is None else 1 - N / pool_size
    assert est.std_error == pytest.approx(np.sqrt(left * p * (1 - p) / N), rel=1e-6)


def test_a_sample_that_is_the_whole_pool_is_exact() -> None:
    est = sd.estimate(Y_TRUE, Y_PRED, pool_size=N)
    assert est.value == pytest.approx(metrics.f1_score(Y_TRUE, Y_PRED), abs=1e-12)
    assert est.std_error == 0


def test_a_uniform_sample_is_worth_its_own_number_of_labels() -> None:
    assert sd.estimate(Y_TRUE, Y_PRED, measure="accuracy").n_uniform == pytest.approx(N, rel=0.02)
    limited = sd.estimate(Y_TRUE, Y_PRED, measure="accuracy", pool_size=300)
    assert limited.n_uniform == pytest.approx(N, rel=0.02)


@pytest.mark.parametrize("measure", ["accuracy", "precision", "recall", "f1"])
def test_a_sample_without_an_error_does_not_collapse_the_interval(measure: str) -> None:
    perfect = [0, 1] * 10
    est = sd.estimate(perfect, perfect, measure=measure)
    assert est.value == 1.0
    assert est.ci.high == 1.0
    # With 10 or 20 right of 10 or 20, even a one-sided exact interval begins below 0.87.
    assert est.ci.low < 0.95


def test_classes_may_be_text() -> None:
    names = np.array(["no", "yes"])
    est = sd.estimate(names[Y_TRUE], names[Y_PRED], measure="accuracy")
    assert est.value == pytest.approx(metrics.accuracy_score(Y_TRUE, Y_PRED), abs=1e-9)
    f1 = sd.estimate(names[Y_TRUE], names[Y_PRED], measure=sd.measures.FBeta(pos_label="no"))
    assert f1.value == pytest.approx(metrics.f1_score(Y_TRUE, Y_PRED, pos_label=0), abs=1e-9)


@pytest.mark.parametrize("kind", [bool, np.int8, np.float64, list], ids=str)
def test_zeros_and_ones_may_come_in_any_type(kind: Any) -> None:
    convert = (lambda a: a.tolist()) if kind is list else (lambda a: a.astype(kind))
    est = sd.estimate(convert(Y_TRUE), convert(Y_PRED))
    assert est.value == pytest.approx(metrics.f1_score(Y_TRUE, Y_PRED), abs=1e-9)


@pytest.mark.parametrize("kind", [np.float64, np.int64], ids=["float", "int"])
def test_numbers_are_estimated_as_numbers(kind: Any) -> None:
    y_true = (I * 7 % 23).astype(kind)
    y_pred = y_true + 0.25 * (I % 9) - 1.0
    est = sd.estimate(y_true, y_pred, measure="mean_squared_error", weights=1 / CHANCE)
    expected = metrics.mean_squared_error(y_true, y_pred, sample_weight=1 / CHANCE)
    assert est.value == pytest.approx(expected, rel=1e-9)


def test_the_confidence_level_is_used() -> None:
    narrow, wide = (sd.estimate(Y_TRUE, Y_PRED, confidence_level=c) for c in (0.5, 0.99))
    assert wide.ci.low < narrow.ci.low < narrow.ci.high < wide.ci.high


def test_a_value_that_divides_by_nothing_is_undefined() -> None:
    est = sd.estimate([0, 0, 1], [0, 0, 0], measure="precision")
    assert np.isnan([est.value, est.ci.low, est.ci.high]).all()
    assert not est.defined
    assert est.why is not None
    assert "precision is 0/0" in est.why


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "lengths": ({"y_pred": [1, 0]}, r"y_true has 120 items and y_pred 2"),
    "empty": ({"y_true": [], "y_pred": []}, r"y_true is empty"),
    "both": (
        {"inclusion_probability": CHANCE, "weights": CHANCE},
        r"pass inclusion_probability= or weights=, not both",
    ),
    "small pool": ({"pool_size": 119}, r"pool_size=119 is below the 120 labelled items"),
    "pool size": ({"pool_size": "4000"}, r"pool_size= takes a number of items, not '4000'"),
    "chance text": ({"inclusion_probability": ["a"] * 120}, r"inclusion_probability takes numbers"),
    "chance 0": ({"inclusion_probability": np.where(I == 4, 0, 0.5)}, r"\[4\] = 0.0 is not in \(0"),
    "chance 2": ({"inclusion_probability": np.where(I == 5, 2, 0.5)}, r"\[5\] = 2.0 is not in \(0"),
    "chance nan": (
        {"inclusion_probability": np.where(I == 6, np.nan, 0.5)},
        r"inclusion_probability\[6\] = nan",
    ),
    "chances": ({"inclusion_probability": [0.5]}, r"inclusion_probability must have one entry"),
    "weight 0": ({"weights": np.where(I == 7, 0, 1.0)}, r"weights\[7\] = 0.0 is not above 0"),
    "weight inf": ({"weights": np.where(I == 8, np.inf, 1.0)}, r"weights\[8\] = inf"),
    "weights": ({"weights": [1.0]}, r"weights must have one entry"),
    "measure": ({"measure": "recal"}, r"did you mean 'recall'"),
    "level": ({"confidence_level": 95}, r"confidence_level= must be between 0 and 1, not 95"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_arrays_are_explained(case: str) -> None:
    change, message = BAD[case]
    arguments: dict[str, Any] = {"y_true": Y_TRUE, "y_pred": Y_PRED, **change}
    with pytest.raises(InvalidInput, match=message):
        sd.estimate(**arguments)
