"""Measures of predicted numbers: equal to their counterparts elsewhere, stable, undefined where need be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr
from sklearn import metrics
from tests.measures.labelled import assert_right_on_average

import sondage as sd
from sondage.beliefs import ScoreBelief
from sondage.errors import InvalidInput
from sondage.measures import MeanAbsoluteError, MeanPinballLoss, MeanSquaredError, Measure, exact
from sondage.measures.losses.base import Input
from sondage.pool import Pool
from sondage.testing.measures import MeasureSuite
from sondage.types import Array, Floats

CLOSE: dict[str, Any] = {"rel": 1e-12, "abs": 1e-12}


def correlation(y: Array, f: Array, sample_weight: Array | None = None) -> float:
    table = np.cov(y, f, aweights=sample_weight, ddof=0)
    return float(table[0, 1] / np.sqrt(table[0, 0] * table[1, 1]))


def printed_r2(y: Array, f: Array, sample_weight: Array | None = None) -> float:
    mean = np.average(y, weights=sample_weight)
    explained = np.average(np.square(f - mean), weights=sample_weight)
    return float(explained / np.average(np.square(y - mean), weights=sample_weight))


COUNTERPARTS: dict[str, Callable[..., Any]] = {
    "mean_absolute_error": metrics.mean_absolute_error,
    "mean_squared_error": metrics.mean_squared_error,
    "root_mean_squared_error": metrics.root_mean_squared_error,
    "r2_score": metrics.r2_score,
    "explained_variance_score": metrics.explained_variance_score,
    "mean_pinball_loss": metrics.mean_pinball_loss,
    "mean_error": lambda y, f, sample_weight=None: np.average(f - y, weights=sample_weight),
    "pearson_correlation": correlation,
    "explained_ss_ratio": printed_r2,
}
CENTRED = ("r2_score", "explained_variance_score", "pearson_correlation", "explained_ss_ratio")


def numbers(seed: int, n: int = 400) -> tuple[Array, Array, Array]:
    """Truth, prediction and weight."""
    rng = np.random.default_rng(seed)
    y = rng.normal(3.0, 5.0, n)
    return y, 0.7 * y + rng.normal(1.0, 3.0, n), rng.uniform(0.1, 10.0, n)


@pytest.mark.parametrize("name", COUNTERPARTS)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("weighted", [False, True])
def test_equal_to_its_counterpart(name: str, seed: int, weighted: bool) -> None:
    y, f, weight = numbers(seed)
    given_weight = weight if weighted else None
    expected = COUNTERPARTS[name](y, f, sample_weight=given_weight)
    assert exact(name, y, f, weight=given_weight) == pytest.approx(expected, **CLOSE)


@pytest.mark.parametrize("alpha", [0.0, 0.1, 0.5, 0.9, 1.0])
def test_pinball_loss(alpha: float) -> None:
    y, f, weight = numbers(5)
    expected = metrics.mean_pinball_loss(y, f, alpha=alpha, sample_weight=weight)
    assert exact(MeanPinballLoss(alpha=alpha), y, f, weight=weight) == pytest.approx(expected, **CLOSE)


def test_correlation_equals_scipy_and_numpy() -> None:
    from scipy.stats import pearsonr

    y, f, _ = numbers(6)
    assert exact("pearson", y, f) == pytest.approx(pearsonr(y, f).statistic, **CLOSE)
    assert exact("pearson", y, f) == pytest.approx(np.corrcoef(y, f)[0, 1], **CLOSE)


ALIASES = {
    "mae": "mean_absolute_error",
    "mse": "mean_squared_error",
    "rmse": "root_mean_squared_error",
    "r2": "r2_score",
    "bias": "mean_error",
    "explained_variance": "explained_variance_score",
    "pearson": "pearson_correlation",
}


@pytest.mark.parametrize("short", ALIASES)
def test_short_names(short: str) -> None:
    assert Measure.from_alias(short) == Measure.from_alias(ALIASES[short])


pairs = st.lists(
    st.tuples(st.integers(-50, 50), st.integers(-50, 50), st.integers(1, 9)), min_size=2, max_size=30
)


@settings(deadline=None, max_examples=150)
@given(pairs, st.sampled_from(sorted(COUNTERPARTS)))
def test_any_small_table(rows: list[tuple[int, int, int]], name: str) -> None:
    y, f, weight = np.array(rows, dtype=np.float64).T
    found = exact(name, y / 4, f / 4, weight=weight, labels="real")
    constant = len(set(y)) == 1 or (name == "pearson_correlation" and len(set(f)) == 1)
    if name in CENTRED and constant:
        assert np.isnan(found)
    else:
        expected = COUNTERPARTS[name](y / 4, f / 4, sample_weight=weight)
        assert found == pytest.approx(expected, rel=1e-10, abs=1e-10)


@settings(deadline=None, max_examples=60)
@given(pairs, st.floats(-1e3, 1e3), st.floats(0.01, 100.0))
def test_shares_of_variance_do_not_depend_on_unit_and_origin(
    rows: list[tuple[int, int, int]], origin: float, unit: float
) -> None:
    y, f, _ = np.array(rows, dtype=np.float64).T
    for name in CENTRED:
        one = exact(name, y, f, labels="real")
        two = exact(name, origin + unit * y, origin + unit * f, labels="real")
        np.testing.assert_allclose(one, two, rtol=1e-6, atol=1e-6)


# Numbers that are large beside their spread


@pytest.mark.parametrize("name", CENTRED)
def test_a_large_mean_costs_no_digits(name: str) -> None:
    """At a mean a billion times the spread the plain ``mean(y^2) - mean(y)^2`` has no digit right."""
    y, f, weight = numbers(7, 2000)
    y, f = y / 5.0, f / 5.0
    far = 1e9
    expected = COUNTERPARTS[name]((far + y) - far, (far + f) - far, sample_weight=weight)
    assert exact(name, far + y, far + f, weight=weight) == pytest.approx(expected, rel=1e-9)
    plain = np.mean(np.square(far + y)) - np.mean(far + y) ** 2
    assert abs(plain / np.var(y) - 1) > 0.5


def test_the_centre_is_fixed_when_bound_and_changes_nothing() -> None:
    y, f, _ = numbers(8)
    pool = Pool.from_arrays(prediction=f, labels="real")
    bound = Measure.from_alias("r2_score").bind(pool)
    assert bound.centre == pytest.approx(f.mean())  # type: ignore[attr-defined]
    R = bound.loss(pool.rows(slice(None)), y[:, None])[:, 0].mean(axis=0)
    plain = Measure.from_alias("r2_score")
    S = plain.loss(pool.rows(slice(None)), y[:, None])[:, 0].mean(axis=0)
    np.testing.assert_allclose(bound.g(R), plain.g(S), rtol=1e-10)
    influence = bound.influence(R).of(pool.rows(slice(None)), y[:, None])
    np.testing.assert_allclose(
        influence, plain.influence(S).of(pool.rows(slice(None)), y[:, None]), atol=1e-8
    )


@pytest.mark.parametrize("value", [0.0, 0.1, -7.3, 1e9])
@pytest.mark.parametrize("n", [2, 77, 100_000])
@pytest.mark.parametrize("name", CENTRED)
def test_a_constant_truth_is_undefined(name: str, value: float, n: int) -> None:
    """Rounding in the sums must not make a variance out of nothing."""
    f = np.random.default_rng(n).normal(value, 1.0 + abs(value) / 1000, n)
    assert np.isnan(exact(name, np.full(n, value), f, labels="real"))


def test_a_constant_truth_in_a_study_is_undefined_with_a_reason() -> None:
    pool = Pool.from_arrays(prediction=np.linspace(0, 1, 60), labels="real")
    study = sd.create_study(pool, "r2_score", design="uniform", rng=1)
    study.run(lambda item: 0.3, budget=20)
    estimate = study.estimate()
    assert not estimate.defined
    assert estimate.why is not None
    assert "r2_score" in estimate.why


# R squared, the printed one, and their difference


def test_the_printed_r2_is_r2_only_for_a_least_squares_fit() -> None:
    rng = np.random.default_rng(9)
    x = rng.normal(size=300)
    y = 2.0 * x + rng.normal(0, 0.7, 300)
    slope, intercept = np.polyfit(x, y, 1)
    fit = slope * x + intercept
    assert exact("explained_ss_ratio", y, fit) == pytest.approx(exact("r2_score", y, fit), rel=1e-10)
    other = 3.0 * x
    assert exact("explained_ss_ratio", y, other) > 1.5
    assert exact("r2_score", y, other) == pytest.approx(metrics.r2_score(y, other), rel=1e-12)


def test_jacobian_of_r2_in_closed_form() -> None:
    """D = R2 - R1^2: [-2 R1 R3 / D^2, R3 / D^2, -1 / D], and nothing in all for the weight."""
    y, f, _ = numbers(10)
    pool = Pool.from_arrays(prediction=f, labels="real")
    bound = Measure.from_alias("r2_score").bind(pool)
    R = bound.loss(pool.rows(slice(None)), y[:, None])[:, 0].mean(axis=0)
    D = R[2] - R[1] ** 2
    by_means = np.array([-2 * R[1] * R[3] / D**2, R[3] / D**2, -1 / D])
    np.testing.assert_allclose(bound.jac(R)[0], [-by_means @ R[1:], *by_means], rtol=1e-10)


# What a design expects: closed forms under a normal belief (Sawade 2013, Cor. 4.3; absolute loss likewise)


def normal_pool(n: int = 400) -> tuple[Pool, Floats]:
    rng = np.random.default_rng(11)
    std = np.exp(rng.normal(0, 0.8, n))
    return Pool.from_arrays(prediction=rng.normal(0, 3, n), std=std, labels="real"), std


def expected_risk_and_spread(measure: Measure, pool: Pool) -> tuple[float, Floats]:
    bound = measure.bind(pool)
    rows = pool.rows(slice(None))
    nodes = ScoreBelief().bind(pool, ("model",)).items(rows)
    R = bound.total(rows, *nodes, np.ones(len(pool))) / len(pool)
    return float(R[1]), bound.influence(R).spread(rows, *nodes)


def test_quadrature_of_the_squared_error_is_exact() -> None:
    pool, std = normal_pool()
    risk, spread = expected_risk_and_spread(MeanSquaredError(), pool)
    R = np.square(std).mean()
    assert risk == pytest.approx(R, rel=1e-12)
    np.testing.assert_allclose(spread, 3 * std**4 - 2 * R * std**2 + R**2, rtol=1e-10)


def test_quadrature_of_the_absolute_error_costs_little() -> None:
    """A node on the kink takes 9% from the risk, of all items alike: the design loses half a percent."""
    pool, std = normal_pool()
    risk, spread = expected_risk_and_spread(MeanAbsoluteError(), pool)
    mean = np.sqrt(2 / np.pi) * std
    R = mean.mean()
    assert risk == pytest.approx(R, rel=0.1)
    truth = std**2 - 2 * R * mean + R**2
    best = np.square(np.sqrt(truth).sum())
    lost = (truth / np.sqrt(spread)).sum() * np.sqrt(spread).sum() / best
    assert 1 <= lost < 1.01
    assert truth.sum() * len(pool) / best > 1.5  # there was something to lose


def test_closed_form_of_the_absolute_error_away_from_the_prediction() -> None:
    """The formula that the tests above rest on, by brute force: E|y - f| for y normal about f - d."""
    d, s = 0.8, 1.7
    y = np.linspace(-12 * s, 12 * s, 400_001)
    density = np.exp(-0.5 * np.square(y / s)) / (s * np.sqrt(2 * np.pi))
    brute = float(np.sum(np.abs(y - d) * density) * (y[1] - y[0]))
    closed = s * np.sqrt(2 / np.pi) * np.exp(-(d**2) / (2 * s**2)) + d * (1 - 2 * ndtr(-d / s))
    assert brute == pytest.approx(closed, rel=1e-8)


# Bounded labels


@pytest.mark.parametrize("name", COUNTERPARTS)
def test_extremes_over_bounded_labels(name: str) -> None:
    """Least and greatest combination of the losses over labels in [0, 1], against a fine grid."""
    rng = np.random.default_rng(12)
    pool = Pool.from_arrays(prediction=rng.uniform(size=30), labels="unit", weight=rng.uniform(1, 3, 30))
    measure = Measure.from_alias(name).bind(pool)
    alpha = np.vstack([np.eye(measure.d), rng.normal(size=(6, measure.d))])
    rows = pool.rows(slice(None))
    low, high = measure.extremes(rows, alpha)
    grid = np.linspace(0, 1, 2001)
    values = measure.loss(rows, grid) @ alpha.T
    np.testing.assert_allclose(low, values.min(axis=1), atol=4e-3)
    np.testing.assert_allclose(high, values.max(axis=1), atol=4e-3)
    assert (low <= values.min(axis=1) + 1e-12).all()
    assert (high >= values.max(axis=1) - 1e-12).all()


class TestR2OfUnitLabels(MeasureSuite):
    classes = None

    def make_measure(self) -> Measure:
        return Measure.from_alias("r2_score")

    def columns(self, seed: int, n: int = 60) -> dict[str, Any]:
        columns = super().columns(seed, n)
        columns["labels"] = "unit"
        return columns

    def labels(self, pool: Pool, seed: int) -> Floats:
        return np.random.default_rng(seed).uniform(size=len(pool))

    def choices(self, pool: Pool) -> Floats:
        return np.array([0.0, 0.2, 0.7, 1.0])


class TestPinballOfTheUpperDecile(MeasureSuite):
    classes = None

    def make_measure(self) -> Measure:
        return MeanPinballLoss(alpha=0.9, system="b")

    test_other_system = None


# Mistakes


def test_mistakes_are_refused() -> None:
    with pytest.raises(InvalidInput, match="alpha="):
        MeanPinballLoss(alpha=1.5)
    classes = Pool.from_arrays(prediction=[0, 1, 1])
    with pytest.raises(InvalidInput, match="labels='real'"):
        Measure.from_alias("r2_score").bind(classes)
    empty = Pool.from_arrays(score=[0.1, 0.2], labels="real")
    with pytest.raises(InvalidInput, match="prediction="):
        Measure.from_alias("r2_score").bind(empty)


def test_inputs() -> None:
    pool = Pool.from_arrays(prediction=[0.5, 0.7], labels="real")
    for name in COUNTERPARTS:
        assert Measure.from_alias(name).bind(pool).losses.inputs(pool) == (Input("prediction", "model"),)


# Through a study


def study_pool(n: int = 500) -> tuple[Pool, dict[int, float]]:
    """Predictions whose errors have a known, uneven standard deviation."""
    rng = np.random.default_rng(13)
    f = rng.normal(50, 4, n)
    std = np.exp(rng.normal(0, 0.7, n))
    y = f + std * rng.normal(size=n) + 0.3
    return Pool.from_arrays(prediction=f, std=std, labels="real"), dict(enumerate(y.tolist()))


NAMES = ["mean_absolute_error", "root_mean_squared_error", "mean_error", "r2_score", "pearson_correlation"]


@pytest.mark.parametrize("design", ["uniform", "stratified", "importance", "poisson"])
def test_fully_labelled_is_exact(design: str) -> None:
    pool, labels = study_pool(120)
    study = sd.create_study(pool, NAMES, design=design, rng=1)
    study.run(labels, budget=120)
    while study.n_labels < 120:  # a Poisson round may leave some out
        study.run(labels, budget=120)
    y = np.array(list(labels.values()))
    expected = [exact(name, y, pool.system().prediction) for name in NAMES]
    np.testing.assert_allclose(study.estimate().value, expected, rtol=1e-9)
    np.testing.assert_allclose(study.estimate().std_error, 0, atol=1e-12)


@pytest.mark.parametrize("design", ["uniform", "stratified", "importance", "poisson"])
def test_estimates_and_their_standard_errors(design: str) -> None:
    pool, labels = study_pool()
    frame = sd.simulate(
        pool, labels, NAMES, design=design, budgets=[150], repeats=60, batch=150, rng=3, workers=1
    )
    for name in NAMES:
        assert_right_on_average(frame[frame["measure"] == name], curved=0.25)
