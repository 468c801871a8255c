"""Calibration: tables worked out by hand, other implementations, and samples drawn unevenly."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, logit, ndtri
from scipy.stats import norm

from sondage.beliefs.calibration import (
    COVERAGE,
    Counted,
    Reliability,
    coverage,
    reliability,
    score_interval,
)
from sondage.errors import InvalidInput
from sondage.intervals.proportion import Wilson


def test_six_labels_by_hand() -> None:
    chance = np.array([0.1, 0.2, 0.3, 0.6, 0.8, 0.9])
    hit = np.array([0, 1, 0, 1, 1, 0]) > 0
    weight = np.array([4.0, 2.0, 2.0, 1.0, 2.0, 1.0])
    found = reliability(chance, hit, Counted(weight, weight**2), bins=[0, 0.5, 1])
    np.testing.assert_allclose(found.expected, [(0.4 + 0.4 + 0.6) / 8, (0.6 + 1.6 + 0.9) / 4])
    np.testing.assert_allclose(found.observed, [2 / 8, 3 / 4])
    np.testing.assert_allclose(found.weight, [8 / 12, 4 / 12])
    assert found.n.tolist() == [3, 3]
    assert found.error == pytest.approx((8 * (0.25 - 0.175) + 4 * abs(0.75 - 0.775)) / 12)
    # Effective labels of the first bin: Kish's 8^2 / 24, or what the residuals say if that is fewer.
    first = 16 * 0.25**2 + 4 * 0.75**2 + 4 * 0.25**2
    n_eff = min(64 / 24, 0.25 * 0.75 / (first * 6 / 5 / 64))
    low, high = Wilson().ends(0.25 * n_eff, n_eff, 0.95)
    assert found.low[0] == pytest.approx(low)
    assert found.high[0] == pytest.approx(high)


def test_table_has_the_columns_that_a_plot_reads() -> None:
    found = reliability(np.linspace(0, 1, 50), np.arange(50) % 3 > 0, Counted.alike(50), name="x")
    frame = found.to_frame()
    assert list(frame.columns) == ["expected", "observed", "low", "high", "weight", "n"]
    assert len(frame) == len(found.n) == 5
    assert found.weight.sum() == pytest.approx(1.0)
    again = json.loads(json.dumps(found.to_dict()))
    assert again["name"] == "x"
    assert again["observed"] == found.observed.tolist()


def test_against_scikit_learn() -> None:
    curve = pytest.importorskip("sklearn.calibration").calibration_curve
    rng = np.random.default_rng(0)
    chance = rng.uniform(size=300)
    hit = rng.random(300) < chance**2
    seen, believed = curve(hit, chance, n_bins=10)
    found = reliability(chance, hit, Counted.alike(300), bins=np.linspace(0, 1, 11).tolist())
    np.testing.assert_allclose(found.observed, seen, rtol=1e-12)
    np.testing.assert_allclose(found.expected, believed, rtol=1e-12)


def test_level_and_slope_against_scikit_learn() -> None:
    linear = pytest.importorskip("sklearn.linear_model")
    rng = np.random.default_rng(1)
    x = rng.normal(-1, 2, 4000)
    hit = rng.random(4000) < expit(0.4 + 0.6 * x)
    found = reliability(expit(x), hit, Counted.alike(4000))
    model = linear.LogisticRegression(C=np.inf, tol=1e-10).fit(x[:, None], hit)
    slope, intercept = model.coef_[0, 0], model.intercept_[0]
    assert found.slope == pytest.approx(slope, rel=1e-3)
    # logit p = centre + level + slope (x - centre)
    assert found.level == pytest.approx(intercept + (slope - 1) * x.mean(), abs=1e-3)
    # The usual standard errors of a logistic regression, at the centre.
    p = expit(intercept + slope * x)
    design = np.stack([np.ones(4000), x - x.mean()], axis=1)
    errors = np.sqrt(np.diag(np.linalg.inv((design * (p * (1 - p))[:, None]).T @ design)))
    assert found.level_error == pytest.approx(errors[0], rel=0.05)
    assert found.slope_error == pytest.approx(errors[1], rel=0.05)


def test_calibrated_chances_have_level_zero_and_slope_one() -> None:
    rng = np.random.default_rng(2)
    levels, slopes, errors, by_chance = [], [], [], []
    for _ in range(200):
        chance = expit(rng.normal(-1, 2, 200))
        found = reliability(chance, rng.random(200) < chance, Counted.alike(200))
        levels.append(found.level / found.level_error)
        slopes.append((found.slope - 1) / found.slope_error)
        errors.append(found.error)
        by_chance.append(found.error_by_chance)
    for z in (levels, slopes):
        assert np.mean(np.abs(z) < 1.96) > 0.91
        assert np.std(z) == pytest.approx(1.0, abs=0.2)
    # What a calibrated belief shows by chance alone is told about right.
    assert np.mean(errors) == pytest.approx(np.mean(by_chance), rel=0.15)


def test_over_confidence_has_a_slope_below_one() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(-1, 1.5, 2000)
    hit = rng.random(2000) < expit(x)
    assert reliability(expit(3 * x), hit, Counted.alike(2000)).slope == pytest.approx(1 / 3, abs=0.05)
    assert reliability(expit(x / 2), hit, Counted.alike(2000)).slope == pytest.approx(2.0, abs=0.25)


def test_chances_that_are_all_alike_have_no_slope() -> None:
    found = reliability(np.full(40, 0.2), np.arange(40) < 20, Counted.alike(40))
    assert np.isnan(found.slope)
    assert len(found.n) == 1
    assert found.level == pytest.approx(logit(0.5) - logit(0.2), rel=0.05)


def test_labels_all_of_one_kind_leave_an_interval() -> None:
    found = reliability(np.full(30, 0.1), np.zeros(30, dtype=bool), Counted.alike(30))
    assert found.observed.tolist() == [0.0]
    assert found.low.tolist() == [0.0]
    assert found.high[0] == pytest.approx(Wilson().ends(0, 30, 0.95)[1])
    assert np.isfinite([found.level, found.level_error]).all()


def test_a_pool_that_is_all_labelled_has_intervals_without_width() -> None:
    rng = np.random.default_rng(4)
    chance = rng.uniform(size=50)
    found = reliability(chance, rng.random(50) < chance, Counted(np.ones(50), np.zeros(50)))
    np.testing.assert_array_equal(found.low, found.observed)
    np.testing.assert_array_equal(found.high, found.observed)
    assert found.error_by_chance == 0


def test_interval_is_wilsons() -> None:
    for hits, n, level in ((0, 5, 0.95), (3, 10, 0.9), (10, 10, 0.99), (7, 9, 0.5)):
        low, high = score_interval(np.array([hits / n]), np.array([float(n)]), level)
        assert (low[0], high[0]) == pytest.approx(Wilson().ends(hits, n, level), rel=1e-12)


def test_labels_drawn_unevenly_give_the_calibration_of_the_pool() -> None:
    """Draws that favour surprises: weighted, the table is the pool's, and its intervals cover it."""
    rng = np.random.default_rng(5)
    N, n, edges = 3000, 300, [0, 0.2, 0.6, 1]
    chance = rng.beta(0.7, 1.5, N)
    true = expit(0.5 + 0.6 * logit(chance))
    hit = rng.random(N) < true
    size = 0.1 + np.sqrt(chance) * (1 + rng.random(N))
    q = size / size.sum()
    pool = reliability(chance, hit, Counted.alike(N), bins=edges)
    observed, alike, covered, errors = [], [], [], []
    for _ in range(300):
        rows = rng.choice(N, n, p=q)
        weight = 1 / (n * q[rows])
        found = reliability(chance[rows], hit[rows], Counted(weight, weight**2), bins=edges)
        observed.append([*found.observed, *found.expected, *found.weight])
        alike.append(reliability(chance[rows], hit[rows], Counted.alike(n), bins=edges).weight)
        covered.append((found.low <= pool.observed) & (pool.observed <= found.high))
        errors.append(found.error)
    truth = np.array([*pool.observed, *pool.expected, *pool.weight])
    spread = np.std(observed, axis=0) / np.sqrt(300)
    assert (np.abs(np.mean(observed, axis=0) - truth) < 4.5 * spread + 1e-3).all()
    assert abs(np.mean(alike, axis=0)[0] - pool.weight[0]) > 0.05
    assert (np.mean(covered, axis=0) > 0.92).all()
    assert np.mean(errors) == pytest.approx(pool.error, abs=0.03)


def test_several_yes_or_no_of_one_item_are_one_draw() -> None:
    """Five copies of one answer say no more than one: the interval is that of the items."""
    rng = np.random.default_rng(6)
    chance = rng.uniform(0.2, 0.8, (80, 1))
    hit = rng.random((80, 1)) < chance
    one = reliability(chance, hit, Counted.alike(80), bins=3)
    five = reliability(np.repeat(chance, 5, axis=1), np.repeat(hit, 5, axis=1), Counted.alike(80), bins=3)
    np.testing.assert_allclose(five.observed, one.observed)
    np.testing.assert_allclose(five.high - five.low, one.high - one.low, rtol=0.05)
    assert five.n.tolist() == one.n.tolist()
    assert five.slope_error == pytest.approx(one.slope_error, rel=0.1)


@settings(deadline=None, max_examples=80)
@given(
    st.lists(st.tuples(st.floats(0, 1), st.booleans(), st.floats(0.1, 20)), min_size=1, max_size=40),
    st.one_of(st.none(), st.integers(1, 12), st.just([0.0, 0.3, 0.31, 1.0])),
)
def test_a_table_is_a_table(labels: list[tuple[float, bool, float]], bins: int | list[float] | None) -> None:
    chance, hit, weight = (np.array(column) for column in zip(*labels, strict=True))
    found = reliability(chance, hit, Counted(weight, weight**2), bins=bins)
    assert found.n.sum() == len(labels)
    assert found.weight.sum() == pytest.approx(1.0)
    assert ((found.low >= 0) & (found.low <= found.observed + 1e-12)).all()
    assert ((found.observed <= found.high + 1e-12) & (found.high <= 1)).all()
    assert (np.diff(found.expected) > -1e-12).all()
    assert (found.weight @ found.observed) == pytest.approx(weight @ hit / weight.sum())
    assert (found.weight @ found.expected) == pytest.approx(weight @ chance / weight.sum(), abs=1e-9)
    assert 0 <= found.error <= 1
    order = np.random.default_rng(0).permutation(len(labels))
    again = reliability(
        chance[order], hit[order], Counted(3 * weight[order], 9 * weight[order] ** 2), bins=bins
    )
    for name in Reliability.COLUMNS:
        np.testing.assert_allclose(getattr(again, name), getattr(found, name), rtol=1e-7, atol=1e-9)
    assert again.slope == pytest.approx(found.slope, rel=1e-4, abs=1e-4, nan_ok=True)


@pytest.mark.parametrize("bins", [0, -1, [0.0], [0.2, 1.0], [0.0, 0.5, 0.5, 1.0], [0.0, 0.9]])
def test_bad_bins_are_named(bins: int | list[float]) -> None:
    with pytest.raises(InvalidInput, match="bins="):
        reliability(np.array([0.1, 0.9]), np.array([True, False]), Counted.alike(2), bins=bins)


# Numbers


def test_coverage_by_hand() -> None:
    below = np.array([0.5, 0.3, 0.8, 0.93, 0.01])
    weight = np.array([1.0, 1.0, 2.0, 3.0, 3.0])
    found = coverage(below, Counted(weight, weight**2))
    assert found.expected.tolist() == list(COVERAGE)
    # |2u - 1|: 0, .4, .6, .86, .98
    np.testing.assert_allclose(found.observed, [0.2, 0.4, 0.7, 0.7])
    assert found.error == pytest.approx((0.3 + 0.4 + 0.2 + 0.25) / 4)
    z = ndtri(below)
    mean = weight @ z / 10
    assert found.level == pytest.approx(mean)
    assert found.slope == pytest.approx(1 / np.sqrt(weight @ (z - mean) ** 2 / 10))


def test_coverage_of_a_normal_belief() -> None:
    rng = np.random.default_rng(7)
    y = rng.normal(0.0, 2.0, 4000)
    calibrated = coverage(norm.cdf(y, 0.0, 2.0), Counted.alike(4000))
    assert ((calibrated.low <= COVERAGE) & (calibrated.high >= COVERAGE)).all()
    assert abs(calibrated.level) < 4 * calibrated.level_error
    assert abs(calibrated.slope - 1) < 4 * calibrated.slope_error
    assert calibrated.slope_error == pytest.approx(1 / np.sqrt(2 * 4000), rel=0.15)
    sure = coverage(norm.cdf(y, 1.0, 1.0), Counted.alike(4000))
    assert (sure.high < COVERAGE).all()
    assert sure.slope == pytest.approx(0.5, abs=0.05)
    assert sure.level == pytest.approx(-1.0, abs=0.15)
    # Two standard deviations too narrow: P(|N(-1, 2)| < z).
    expected = [
        norm.cdf((z + 1) / 2) - norm.cdf((-z + 1) / 2) for z in norm.ppf(0.5 + np.array(COVERAGE) / 2)
    ]
    np.testing.assert_allclose(sure.observed, expected, atol=0.04)
