"""Priors of cells in families: the posterior written out, and families that agree or do not."""

from __future__ import annotations

import numpy as np
from scipy.special import betaln, expit, logit
from scipy.stats import betabinom, norm

from sondage.beliefs.grouped.families import _APART, by_family
from sondage.beliefs.grouped.learned import SHIFTS, STRENGTHS, USUAL_SHIFT, learned
from sondage.beliefs.grouped.rates import Rates
from sondage.streams import stream

FAMILY = np.array([0, 1, 0, 1, 0])
EXPECTED = np.array([0.8, 0.7, 0.9, 0.6, 0.75])
RIGHT, N = np.array([3.0, 4.0, 1.0, 5.0, 2.0]), np.array([6.0, 4.0, 3.0, 5.0, 5.0])
SIZE = np.array([9.0, 4.0, 5.0, 9.0, 8.0])
RATES = Rates(np.ones(5), np.ones(5), RIGHT, N, SIZE)


def exact() -> np.ndarray:
    """(5,) expected right predictions of every cell, over all strengths, shifts and distances of families."""
    at = logit(EXPECTED)
    at = at.mean() + float(learned(EXPECTED, RIGHT, N).slope) * (at - at.mean())
    weight, mean = [], []
    for strength in STRENGTHS:
        seen, value = np.zeros((2, len(SHIFTS))), np.zeros((len(SHIFTS), 5))
        for k, shift in enumerate(SHIFTS):
            p = expit(at + shift).clip(1e-3, 1 - 1e-3)
            a, b = strength * p, strength * (1 - p)
            log = betaln(a + RIGHT, b + N - RIGHT) - betaln(a, b)
            seen[:, k] = [np.exp(log[one == FAMILY].sum()) for one in (0, 1)]
            value[k] = RIGHT + betabinom(SIZE - N, a + RIGHT, b + N - RIGHT).mean()
        for apart in _APART:
            for middle in SHIFTS:
                chance = norm.pdf((SHIFTS - middle) / apart)
                each = seen * chance / chance.sum()
                total = each.sum(axis=1)
                weight.append(total.prod() * norm.pdf(middle / USUAL_SHIFT))
                mean.append(((each / total[:, None]) @ value)[FAMILY, np.arange(5)])
    return np.average(mean, axis=0, weights=weight)


def test_draws_have_the_means_of_the_exact_posterior() -> None:
    drawn = by_family(EXPECTED, RIGHT, N, FAMILY).drawn(RATES, stream(1, "interval"), 20_000)
    assert drawn.shape == (20_000, 5)
    assert ((drawn >= RIGHT) & (drawn <= RIGHT + SIZE - N)).all()
    assert (drawn[:, 1] == 4.0).all()  # labelled to the end
    assert (np.abs(drawn.mean(axis=0) - exact()) <= 4.5 * drawn.std(axis=0) / np.sqrt(20_000) + 1e-9).all()


def test_families_that_agree_are_as_one_and_others_are_told_apart() -> None:
    family, n = np.repeat(np.arange(6), 8), np.full(48, 6.0)
    alike = np.tile([5.0, 4.0, 5.0, 4.0, 5.0, 4.0, 5.0, 4.0], 6)
    apart = np.where(family == 0, 1.0, alike)
    same, other = (by_family(np.full(48, 0.75), right, n, family) for right in (alike, apart))
    assert float(same.common[:2].sum()) > 0.5  # nearly no distance between families
    assert float(other.common[:2].sum()) < 0.05
    a, b = other.typical()
    rate = a / (a + b)
    assert rate[0] < 0.4
    assert rate[-1] > 0.65


def test_the_mean_over_all_priors_is_that_of_the_draws() -> None:
    rng = np.random.default_rng(0)
    n = rng.integers(0, 8, 12).astype(np.float64)
    right, size = np.floor(n * rng.random(12)), n + rng.integers(1, 40, 12)
    fit = by_family(rng.uniform(0.5, 0.99, 12), right, n, np.repeat(np.arange(4), 3))
    rates = Rates(*fit.typical(), right, n, size)
    drawn = fit.drawn(rates, stream(1, "interval"), 6_000) / size
    error = drawn.std(axis=0) / np.sqrt(6_000)
    assert (np.abs(drawn.mean(axis=0) - fit.mean(rates)) < 4.5 * error + 1e-9).all()
