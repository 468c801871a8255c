"""The best F and the break-even point: right when all is labelled, and with a standard error that holds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn import metrics
from tests.measures.labelled import CLOSE, REAL, labelled, plain_samples, real_case, two_normals, value

from sondage.errors import InvalidInput
from sondage.measures import BreakEven, MaxFBeta
from sondage.pool import Pool
from sondage.types import Array


def best_f(y: Array, score: Array, weight: Array | None, beta: float = 1.0) -> float:
    """From scikit-learn's curve."""
    precision, recall, _ = metrics.precision_recall_curve(y, score, sample_weight=weight)
    with np.errstate(invalid="ignore"):
        each = (1 + beta**2) * precision * recall / (beta**2 * precision + recall)
    return float(np.nanmax(each))


def break_even(y: Array, score: Array, weight: Array) -> float:
    """True positives as a broken line in the number predicted, read where that is the positives' number."""
    cuts = np.unique(score)[::-1]
    predicted = [0.0, *((weight * (score >= cut)).sum() for cut in cuts)]
    found = [0.0, *((weight * y * (score >= cut)).sum() for cut in cuts)]
    positives = (weight * y).sum()
    return float(np.interp(positives, predicted, found) / positives)


@pytest.mark.parametrize("beta", [0.5, 1.0, 3.0])
@settings(max_examples=40, deadline=None)
@given(case=labelled())
def test_max_f_from_the_curve(beta: float, case: Any) -> None:
    y, score, weight = case
    found = value(MaxFBeta(beta=beta), y, score, weight)[0]
    np.testing.assert_allclose(found, best_f(y, score, weight, beta), **CLOSE)


@settings(max_examples=60, deadline=None)
@given(case=labelled())
def test_break_even_by_interpolation(case: Any) -> None:
    y, score, weight = case
    found = value(BreakEven(thresholds=None), y, score, weight)[0]
    np.testing.assert_allclose(found, break_even(y, score, weight), rtol=1e-9, atol=1e-12)


def test_break_even_is_the_precision_at_as_many_as_there_are_positives() -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        y, score = (rng.uniform(size=300) < 0.2).astype(int), rng.permutation(300).astype(float)
        score += 200 * y
        score += rng.uniform(0, 0.4, 300)  # no ties
        first = np.argsort(-score)[: y.sum()]
        found = value(BreakEven(thresholds=None), y, score)[0]
        np.testing.assert_allclose(found, y[first].mean(), **CLOSE)


@pytest.mark.parametrize("name", REAL)
def test_real_pools(name: str) -> None:
    y, score = real_case(name)
    np.testing.assert_allclose(value(MaxFBeta(), y, score)[0], best_f(y, score, None), **CLOSE)
    all_of_them = value(BreakEven(thresholds=None), y, score)[0]
    # Unlike that with few thresholds, which is an interpolation: what the docstring says of its error.
    assert abs(value(BreakEven(), y, score)[0] - all_of_them) < 0.015


def test_derivative_between_two_bins_is_the_mean_of_both_sides() -> None:
    """Where as many are predicted as there are positives at a threshold exactly, the value has a kink."""
    y, score = np.array([1, 0, 1, 0, 0, 1, 0, 0]), np.array([4, 4, 4, 3, 3, 2, 2, 1.0])
    pool = Pool.from_arrays(score=score)
    measure = BreakEven(thresholds=None).bind(pool)
    R = measure.total(pool.rows(slice(None)), y.astype(float)[:, None], np.ones((8, 1))) / 8
    at = measure.jac(R)
    for j in range(1, measure.d):
        shift = np.zeros(measure.d)
        shift[j] = 1e-7
        central = (measure.g(R + shift) - measure.g(R - shift)) / 2e-7
        np.testing.assert_allclose(at[:, j], central, atol=1e-5)
    sides = [measure.jac(R + np.eye(measure.d)[1] * step) for step in (-1e-6, 1e-6)]
    assert np.abs(sides[0] - sides[1]).max() > 0.1
    np.testing.assert_allclose(at, (sides[0] + sides[1]) / 2, atol=1e-4)


def test_beta_is_checked() -> None:
    for beta in (0, -1, np.nan, np.inf):
        with pytest.raises(InvalidInput, match="beta="):
            MaxFBeta(beta=beta)
    assert MaxFBeta(beta=0.5).names == ("max_f0.5",)


def test_break_even_standard_error_includes_that_the_line_moves() -> None:
    """With few thresholds it is right; with all distinct scores too large; with a fixed line wrong."""
    pool, y = two_normals()
    truth, values, errors = plain_samples(BreakEven(), pool, y, n=400, repeats=500)
    assert abs(values.mean() - truth) < 0.2 * values.std()
    assert np.sqrt(np.square(errors).mean()) == pytest.approx(values.std(ddof=1), rel=0.15)
    _, values, errors = plain_samples(BreakEven(thresholds=None), pool, y, n=400, repeats=300)
    assert 1.05 < np.sqrt(np.square(errors).mean()) / values.std(ddof=1) < 1.5


def test_a_line_that_does_not_move_gives_another_standard_error() -> None:
    """The part of the derivative by which the line moves is no detail: without it, 15 % and more are lost."""
    pool, y = two_normals()
    measure = BreakEven().bind(pool)
    R = measure.total(pool.rows(slice(None)), y.astype(float)[:, None], np.ones((len(y), 1))) / len(y)
    score = np.asarray(pool.system().score)
    line = np.sort(score)[::-1][y.sum() - 1]
    fixed = y * ((score >= line) - measure.g(R)[0]) / y.mean()
    moving = measure.influence(R).of(pool.rows(slice(None)), y.astype(float)[:, None])[:, 0, 0]
    assert abs(fixed.std() / moving.std() - 1) > 0.15


def test_the_best_f_is_estimated_too_high_by_what_the_docstring_says() -> None:
    """By two thirds of a standard deviation with 30 positives, less with 100 and with fewer thresholds."""
    pool, y = two_normals()
    shares = {}
    for thresholds, n in ((None, 300), (None, 1000), (32, 300)):
        truth, values, errors = plain_samples(MaxFBeta(thresholds=thresholds), pool, y, n=n, repeats=400)
        shares[thresholds, n] = (values.mean() - truth) / values.std()
        assert 0.9 < np.sqrt(np.square(errors).mean()) / values.std(ddof=1) < 1.25
    assert 0.4 < shares[None, 300] < 0.9
    assert 0.2 < shares[None, 1000] < 0.65
    assert shares[32, 300] < 0.8 * shares[None, 300]
