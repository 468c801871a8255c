"""Draws from the posterior of the curves: against sums over a grid, the prior, and true curves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, logit

from sondage.beliefs.error_curve.exact_draws import Anywhere, drawn_rates
from sondage.beliefs.error_curve.fit import Curves, Family, Prior
from sondage.streams import stream
from sondage.types import Floats

PRIOR = Prior(start=(-0.5, 1.2), step=(-0.4, 0.8), bend=(-0.1, 0.5))
QUANTILES = [0.025, 0.25, 0.5, 0.75, 0.975]
FREE = 99.0
"""Beyond all knots: nothing is held down."""


def one_curve(at: Any, prior: Prior = PRIOR) -> Curves:
    return Curves(np.zeros(len(at), dtype=int), np.asarray(at, dtype=float), (prior,))


def drawn(
    curves: Curves,
    n: Any,
    wrong: Any,
    count: int,
    *,
    heat: float = 1.0,
    last: float = FREE,
    fall: float = 0.0,
    anywhere: Anywhere | None = None,
    seed: int = 1,
) -> Floats:
    n, wrong = np.asarray(n, dtype=float), np.asarray(wrong, dtype=float)
    each = len(curves.priors)
    return drawn_rates(
        curves.fit(n, wrong),
        (n, wrong),
        np.full(each, last),
        np.full(each, heat),
        fall,
        anywhere,
        stream(seed, "belief"),
        count,
    )[0]


def on_a_grid(n: Any, wrong: Any, heat: float, held: bool, share: Floats, others: Floats) -> Floats:
    """(2, quantiles) of the rates at two knots, by summing the posterior over a fine grid and the shares."""
    start, step = np.linspace(-9, 6, 121), np.linspace(-6, 4, 121)
    first, move = (one.ravel() for one in np.meshgrid(start, step, indexing="ij"))
    log_prior = -0.5 * np.square((first + 0.5) / 1.2) - 0.5 * np.square((move + 0.4) / 0.8)
    eta = np.stack([first, first + (np.minimum(move, 0.0) if held else move)])
    rates, mass = [], []
    for s in share:
        rate = 1 - (1 - expit(eta)) * (1 - np.minimum(s * others, 1 - 1e-9)[:, None])
        fits = np.asarray(wrong) @ np.log(rate) + (np.asarray(n) - np.asarray(wrong)) @ np.log1p(-rate)
        rates.append(rate)
        mass.append(log_prior + fits / heat)
    rate, weight = np.concatenate(rates, axis=1), np.exp(np.concatenate(mass) - np.max(mass))
    out = []
    for one in rate:
        order = np.argsort(one)
        reached = np.cumsum(weight[order]) / weight.sum()
        out.append(one[order][np.searchsorted(reached, QUANTILES)])
    return np.array(out)


@pytest.mark.parametrize("held", [False, True], ids=["free", "held down"])
@pytest.mark.parametrize("astray", [0.0, 0.2])
@pytest.mark.parametrize(
    ("n", "wrong", "heat"), [((40, 60), (3, 0), 1.0), ((3, 300), (0, 0), 1.0), ((25, 25), (20, 1), 2.5)]
)
def test_draws_are_those_of_the_posterior(
    n: tuple[int, int], wrong: tuple[int, int], heat: float, astray: float, held: bool
) -> None:
    """Quantiles against summing over a grid; hundreds of labels without an error cut off the upper side."""
    others = np.array([0.5, 0.9])
    share = -astray * np.log1p(-(np.arange(100) + 0.5) / 100) if astray else np.zeros(1)
    expected = on_a_grid(n, wrong, heat, held, share, others)
    anywhere = Anywhere(np.array([astray]), others) if astray else None
    found = drawn(
        one_curve([0, 1]), n, wrong, 20_000, heat=heat, last=0.0 if held else FREE, anywhere=anywhere
    )
    assert logit(np.quantile(found, QUANTILES, axis=0).T) == pytest.approx(logit(expected), abs=0.15)


def test_before_any_label_draws_are_those_of_the_prior() -> None:
    curves = one_curve(np.arange(6))
    nothing = np.zeros(6)
    eta = logit(drawn(curves, nothing, nothing, 20_000))
    assert eta[:, 0].mean() == pytest.approx(-0.5, abs=0.05)
    assert eta[:, 0].std() == pytest.approx(1.2, rel=0.04)
    step, bends = eta[:, 1] - eta[:, 0], np.diff(eta, 2, axis=1)
    assert (step.mean(), step.std()) == (pytest.approx(-0.4, abs=0.03), pytest.approx(0.8, rel=0.04))
    np.testing.assert_allclose(bends.mean(axis=0), -0.1, atol=0.02)
    np.testing.assert_allclose(bends.std(axis=0), 0.5, rtol=0.04)


def test_intervals_hold_curves_drawn_from_the_prior_as_often_as_they_say() -> None:
    """Over 200 pools: 90 % of the true rates at every knot lie between the 5 % and the 95 % quantile."""
    curves, rng = one_curve(np.arange(5)), np.random.default_rng(3)
    mean, precision = curves.gaussian
    root = np.linalg.cholesky(np.linalg.inv(precision))
    n = np.array([20.0, 20.0, 40.0, 40.0, 80.0])
    held = []
    for seed in range(200):
        truth = expit(mean + root @ rng.standard_normal(5))
        found = drawn(curves, n, rng.binomial(n.astype(int), truth), 400, seed=seed)
        low, high = np.quantile(found, [0.05, 0.95], axis=0)
        held.append((low <= truth) & (truth <= high))
    assert np.mean(held) == pytest.approx(0.9, abs=3 * np.sqrt(0.09 / 200))


def test_curves_are_drawn_each_for_itself() -> None:
    """Labels of one curve say nothing of another, nor does what else is drawn."""
    at, family = np.tile(np.arange(4.0), 2), np.repeat([0, 1], 4)
    curves = Curves(family, at, (PRIOR, PRIOR))
    n, wrong = np.r_[np.full(4, 30.0), np.zeros(4)], np.r_[20.0, 9.0, 4.0, 1.0, np.zeros(4)]
    found = logit(drawn(curves, n, wrong, 4000))
    assert np.abs(np.corrcoef(found.T)[:4, 4:]).max() < 0.06
    assert found[:, 4].mean() == pytest.approx(-0.5, abs=0.15)
    assert found[:, 0].std() < 0.5 * found[:, 4].std()


@pytest.mark.parametrize("fall", [0.0, float(np.log(2))])
def test_beyond_the_outermost_error_no_drawn_curve_rises(fall: float) -> None:
    """By at least ``fall`` from knot to knot; before it, curves rise as they like."""
    curves = one_curve(np.arange(9), Prior(bend=(0.0, 1.0)))
    n, wrong = np.full(9, 2.0), np.array([0.0, 1, 0, 1, 0, 0, 0, 0, 0])
    eta = logit(drawn(curves, n, wrong, 500, last=3.0, fall=fall))
    assert (np.diff(eta[:, 3:], axis=1) <= -fall + 1e-6).all()
    assert (np.diff(eta[:, :4], axis=1) > 0).any()


def test_an_error_between_knots_frees_its_own_piece_alone() -> None:
    curves = one_curve(np.arange(6), Prior(bend=(0.0, 1.0)))
    eta = logit(drawn(curves, np.zeros(6), np.zeros(6), 400, last=2.5))
    assert (np.diff(eta, axis=1) > 1e-9).any(axis=0).tolist() == [True, True, True, False, False]


def test_labels_that_find_nothing_make_items_anywhere_rarer_and_finds_make_them_likelier() -> None:
    curves, anywhere = one_curve([0, 1, 2], Prior(start=(-9.0, 0.1))), Anywhere(np.array([0.03]), np.ones(3))
    means = [
        drawn(curves, [0, 0, n], [0, 0, hits], 2000, anywhere=anywhere)[:, 2].mean()
        for n, hits in ((1000, 0), (100, 0), (0, 0), (100, 5))
    ]
    assert means == sorted(means)
    assert means[2] == pytest.approx(0.03, rel=0.1)


@given(
    seed=st.integers(0, 1000),
    families=st.sampled_from([(Family(0), Family(1)), (Family(0, 0.4), Family(0, 0.4), Family(1))]),
    fall=st.sampled_from([0.0, 0.7]),
    most=st.sampled_from([0, 3, 300, 30_000]),
)
@settings(max_examples=30)
def test_rates_are_chances_whatever_was_seen(
    seed: int, families: tuple[Family, ...], fall: float, most: int
) -> None:
    """Also where labels leave next to no proposal: weights are evened out, and nothing is lost."""
    rng = np.random.default_rng(seed)
    family = rng.integers(0, len(families), 12)
    curves = Curves(family, rng.uniform(0, 9, 12), (PRIOR, PRIOR), families)
    n = rng.integers(0, most + 1, 12)
    wrong = rng.binomial(n, rng.random())
    anywhere = Anywhere(np.full(2, 0.02), rng.random(12))
    found = drawn(curves, n, wrong, 30, last=2.0, fall=fall, anywhere=anywhere, seed=seed)
    assert found.shape == (30, 12)
    assert ((found >= 0) & (found <= 1)).all()
    again = drawn(curves, n, wrong, 30, last=2.0, fall=fall, anywhere=anywhere, seed=seed)
    np.testing.assert_array_equal(found, again)
