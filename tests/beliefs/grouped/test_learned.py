"""Groups that teach each other a prior: draws against the exact posterior, written out."""

from __future__ import annotations

import numpy as np
from scipy.special import betaln, comb, expit, gammaln, logit

from sondage.beliefs.grouped.learned import (
    SHIFTS,
    SLOPE_WEIGHT,
    SLOPES,
    STRENGTHS,
    USUAL_SHIFT,
    learned,
    learned_split,
)
from sondage.beliefs.grouped.rates import Rates
from sondage.streams import stream

EXPECTED, RIGHT, N, SIZE = (
    np.array(one, dtype=float) for one in ([0.8, 0.6, 0.9], [3, 1, 4], [4, 3, 4], [7, 5, 4])
)


def exact() -> np.ndarray:
    """(3, 8) chance of every number of right predictions in each group, over the grid of priors."""
    weight, chance = [], []
    at = logit(EXPECTED)
    for slope, before in zip(SLOPES, SLOPE_WEIGHT, strict=True):
        for shift in SHIFTS:
            for strength in STRENGTHS:
                mean = expit(at.mean() + slope * (at - at.mean()) + shift).clip(1e-3, 1 - 1e-3)
                a, b = strength * mean, strength * (1 - mean)
                seen = betaln(a + RIGHT, b + N - RIGHT) - betaln(a, b)
                weight.append(before * np.exp(seen.sum() - 0.5 * (shift / USUAL_SHIFT) ** 2))
                a, b = a + RIGHT, b + N - RIGHT
                table = np.zeros((3, 8))
                for cell, left in enumerate((SIZE - N).astype(int)):
                    for k in range(left + 1):
                        more = np.exp(betaln(a[cell] + k, b[cell] + left - k) - betaln(a[cell], b[cell]))
                        table[cell, int(RIGHT[cell]) + k] = comb(left, k) * more
                chance.append(table)
    return np.average(chance, axis=0, weights=weight)


def test_draws_and_means_are_those_of_the_exact_finite_population_posterior() -> None:
    prior = learned(EXPECTED, RIGHT, N)
    rates = Rates(*prior.typical(), RIGHT, N, SIZE)
    draws = prior.drawn(rates, stream(1, "interval"), 40_000)
    found = np.stack([np.bincount(one.astype(int), minlength=8) for one in draws.T]) / 40_000
    truth = exact()
    assert np.abs(found - truth).max() < 4.5 * 0.5 / np.sqrt(40_000)
    np.testing.assert_allclose(prior.mean(rates), truth @ np.arange(8) / SIZE, rtol=1e-4)
    assert (draws[:, 2] == 4.0).all()  # labelled to the end


def test_studies_side_by_side_learn_as_one_by_one() -> None:
    right, n = np.array([RIGHT, [0, 0, 0], [0, 1, 2]]), np.array([N, [0, 0, 0], [2, 1, 2]], dtype=float)
    both = learned(EXPECTED, right, n)
    assert both.weight.shape == (3, len(SLOPES) * len(SHIFTS) * len(STRENGTHS))
    for k in range(3):
        np.testing.assert_allclose(both.weight[k], learned(EXPECTED, right[k], n[k]).weight, rtol=1e-9)
    assert both.typical()[0].shape == (3, 3)
    assert both.pick(stream(1, "belief"), 5).shape == (5, 3)


def test_without_labels_the_shift_is_none_and_pairs_are_picked_by_their_weight() -> None:
    prior = learned(EXPECTED, np.zeros(3), np.zeros(3))
    assert abs(float(prior.shift)) < 1e-9
    place = prior.pick(stream(1, "belief"), 20_000)
    found = np.bincount(place, minlength=prior.weight.size) / 20_000
    assert np.abs(found - prior.weight).max() < 4.5 * np.sqrt(prior.weight.max() / 20_000)


def test_groups_that_agree_are_worth_more_labels_than_groups_that_do_not() -> None:
    n = np.full(20, 30.0)
    alike = learned(np.full(20, 0.8), np.full(20, 21.0), n)
    apart = learned(np.full(20, 0.8), np.where(np.arange(20) % 2, 30.0, 12.0), n)
    assert float(alike.strength) > 5 * float(apart.strength)


def test_the_split_of_errors_has_the_strength_of_its_evidence() -> None:
    shares = np.array([[0.0, 0.3, 0.1], [0.2, 0.0, 0.2]])
    wrong = np.array([[0.0, 6.0, 2.0], [4.0, 0.0, 3.0]])
    even = 0.95 * shares / shares.sum(1, keepdims=True) + 0.05 * (shares > 0) / 2
    grid = np.geomspace(0.5, 200.0, 10)
    score = []
    for strength in grid:
        log = 0.0
        for share, seen in zip(strength * even, wrong, strict=True):
            some = share > 0
            log += (gammaln(share[some] + seen[some]) - gammaln(share[some])).sum()
            log += gammaln(strength) - gammaln(strength + seen.sum())
        score.append(log)
    weight = np.exp(np.array(score) - max(score))
    expected = np.exp(np.average(np.log(grid), weights=weight)) * even
    np.testing.assert_allclose(learned_split(shares, wrong), expected, rtol=1e-9)


def test_an_error_where_scores_allow_none_still_has_a_share() -> None:
    split = learned_split(np.array([[0.0, 1.0, 0.0]]), np.array([[0.0, 0.0, 2.0]]))
    assert split[0, 2] > 0
    assert split[0, 0] == 0
    assert (learned_split(np.zeros((1, 3)), np.zeros((1, 3))) == 0).all()


def test_scores_that_do_not_tell_groups_apart_lose_their_slope() -> None:
    expected, n = np.linspace(0.55, 0.99, 12), np.full(12, 60.0)
    rate = expit(0.5 + 1.0 * (logit(expected) - logit(expected).mean()))
    as_said = learned(expected, np.rint(60 * rate), n)
    reversed_ = learned(expected, np.rint(60 * rate)[::-1], n)
    assert float(as_said.slope) > 0.9
    assert float(reversed_.slope) < 0.1
