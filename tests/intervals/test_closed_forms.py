"""Wald, t, logit and bootstrap: closed forms, and each other's limits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm, t

import sondage as sd
from sondage.errors import InvalidInput
from sondage.estimators import Totals
from sondage.estimators.linear import linearise
from sondage.intervals import Beta, Bootstrap, Interval, Logit, StudentT, Wald
from sondage.measures import Measure, resolve
from sondage.streams import stream

NOTHING = np.zeros((2, 2))


def accuracy() -> Measure:
    return resolve("accuracy")


def mean_totals(value: float, error: float, n: int = 30) -> Totals:
    """An accuracy with a standard error made of n equal contributions."""
    parts = np.zeros((n, 2))
    parts[:, 1] = error / np.sqrt(n) * np.where(np.arange(n) % 2, 1.0, -1.0)
    return Totals(np.array([1.0, value]), parts, float(n), n - 1.0, NOTHING)


def ends(interval: Interval, totals: Totals, level: float, seed: int = 1) -> tuple[float, float]:
    low, high = interval(totals, accuracy(), level, stream(seed, "interval"))
    return float(low[0]), float(high[0])


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
def test_wald_is_value_and_normal_quantile(level: float) -> None:
    z = norm.ppf(0.5 + level / 2)
    assert ends(Wald(), mean_totals(0.6, 0.05), level) == pytest.approx(
        (0.6 - z * 0.05, 0.6 + z * 0.05), rel=1e-12
    )


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize("n", [3, 12, 101])
def test_t_is_value_and_t_quantile_at_the_degrees_of_freedom(level: float, n: int) -> None:
    q = t.ppf(0.5 + level / 2, n - 1)
    found = ends(StudentT(), mean_totals(0.6, 0.005, n), level)
    assert found == pytest.approx((0.6 - q * 0.005, 0.6 + q * 0.005), rel=1e-9)


def test_t_over_wald_is_the_ratio_in_the_thesis() -> None:
    totals = mean_totals(0.5, 0.01, 101)
    (a, b), (c, d) = ends(StudentT(), totals, 0.95), ends(Wald(), totals, 0.95)
    assert (b - a) / (d - c) == pytest.approx(1.01225, abs=5e-6)


def test_one_draw_leaves_the_t_interval_defined() -> None:
    totals = replace(mean_totals(0.5, 0.001), df=0.0)
    q = t.ppf(0.975, 1)
    assert ends(StudentT(), totals, 0.95) == pytest.approx((0.5 - q * 0.001, 0.5 + q * 0.001))


@pytest.mark.parametrize("value", [0.03, 0.5, 0.9])
def test_logit_is_t_on_the_logit_scale(value: float) -> None:
    q = t.ppf(0.975, 29)
    centre, half = np.log(value / (1 - value)), q * 0.02 / (value * (1 - value))
    expected = [1 / (1 + np.exp(-(centre + sign * half))) for sign in (-1, 1)]
    assert ends(Logit(), mean_totals(value, 0.02), 0.95) == pytest.approx(expected, rel=1e-12)


def test_logit_on_another_range_is_scaled_to_it() -> None:
    """Matthews' correlation lies in [-1, 1]: the share of the range is (1 + phi) / 2."""
    measure = resolve("matthews_corrcoef")
    R = np.array([1.0, 0.3, 0.4, 0.45])
    rng = np.random.default_rng(1)
    totals = Totals(R, rng.normal(scale=0.004, size=(50, 4)), 50.0, 49.0, np.zeros((4, 4)))
    linear = linearise(totals, measure)
    share = (1 + linear.value[0]) / 2
    half = t.ppf(0.975, 49) * linear.std_error[0] / 2 / (share * (1 - share))
    expected = [2 / (1 + np.exp(-(np.log(share / (1 - share)) + sign * half))) - 1 for sign in (-1, 1)]
    low, high = Logit()(totals, measure, 0.95, stream(1, "interval"))
    assert (low[0], high[0]) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_logit_at_an_end_of_the_range_is_the_beta_interval(value: float) -> None:
    """And within a standard error of it: on the logit scale it would be all of the range."""
    for off in (0.0, 0.005):
        totals = mean_totals(abs(value - off), 0.02)
        low, high = ends(Logit(), totals, 0.95)
        assert (low, high) == ends(Beta(), totals, 0.95)
        assert 0.02 < high - low < 0.1


def test_logit_without_bounds_is_the_t_interval() -> None:
    measure = resolve("mean_squared_error")
    totals = mean_totals(0.6, 0.05)
    found = [np.ravel(one(totals, measure, 0.9, stream(1, "interval"))) for one in (Logit(), StudentT())]
    np.testing.assert_array_equal(found[0], found[1])


@pytest.mark.parametrize("interval", [Wald(), StudentT()])
def test_ends_beyond_the_range_are_cut_to_it(interval: Interval) -> None:
    assert ends(interval, mean_totals(0.98, 0.05), 0.95)[1] == 1.0
    assert ends(interval, mean_totals(0.02, 0.05), 0.95)[0] == 0.0


def test_bootstrap_is_close_to_wald_in_a_large_sample() -> None:
    rng = np.random.default_rng(2)
    n = 4000
    predicted, actual = rng.random(n) < 0.4, rng.random(n) < 0.5
    actual |= predicted & (rng.random(n) < 0.7)
    loss = np.stack([np.ones(n), predicted & actual, actual, predicted], axis=1).astype(float)
    R = loss.mean(axis=0)
    totals = Totals(R, (loss - R) / n, float(n), n - 1.0, np.zeros((4, 4)))
    measure = resolve("f1")
    wald = np.ravel(Wald()(totals, measure, 0.95, stream(1, "interval")))
    width = wald[1] - wald[0]
    for seed in range(3):
        boot = np.ravel(Bootstrap(2000)(totals, measure, 0.95, stream(seed, "interval")))
        assert np.abs(boot - wald).max() < 0.06 * width


def test_bootstrap_follows_its_stream() -> None:
    totals = mean_totals(0.6, 0.05)
    assert ends(Bootstrap(), totals, 0.95, 3) == ends(Bootstrap(), totals, 0.95, 3)
    assert ends(Bootstrap(), totals, 0.95, 3) != ends(Bootstrap(), totals, 0.95, 4)


def test_bootstrap_of_a_study_is_the_same_for_the_same_seed() -> None:
    rng = np.random.default_rng(3)
    p = rng.random(300)
    y = (rng.random(300) < p).astype(int)
    pool = sd.Pool.from_arrays(probability=p, prediction=(p > 0.5).astype(int))
    found = set()
    for _ in range(2):
        study = sd.create_study(pool, "f1", design="stratified", budget=80, rng=9)
        study.run(lambda item: int(y[item.id]))
        found.add(repr(study.estimate(interval="bootstrap").ci))
    assert len(found) == 1


def test_bootstrap_with_few_replicates_is_refused() -> None:
    for few in (50, 999.5, "many"):
        with pytest.raises(InvalidInput, match="replicates= must be a whole number of at least 99"):
            Bootstrap(replicates=few)  # type: ignore[arg-type]
