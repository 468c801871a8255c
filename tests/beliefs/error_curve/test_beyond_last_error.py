"""Tails: the share that went astray, sharpened by the labels, and rates that they exclude."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from sondage.beliefs.error_curve.beyond_last_error import HONEST, TIGHT, least_rates, not_refuted
from sondage.types import Floats


def drawn(n: Floats, wrong: Floats, rate: Floats, others: Floats, count: int = 4001) -> Floats:
    """Draws of one curve, at evenly spaced uniform numbers."""
    uniform = ((np.arange(count) + 0.5) / count)[:, None]
    return least_rates(0.03, others, (n, wrong), rate, np.zeros(len(n), dtype=int), uniform)


@pytest.mark.parametrize(("n", "wrong"), [(0, 0), (100, 0), (100, 2), (1000, 1)])
def test_draws_follow_bayes_theorem(n: int, wrong: int) -> None:
    """The mean, against the integral over the exponential prior: units whose curve says nothing."""

    def likely(share: float) -> float:
        return float(stats.binom.pmf(wrong, n, min(0.5 * share, 1.0)))

    ends = (0.0, 0.6)
    whole = integrate.quad(lambda s: likely(s) * stats.expon.pdf(s, scale=0.03), *ends)[0]
    mean = integrate.quad(lambda s: 0.5 * s * likely(s) * stats.expon.pdf(s, scale=0.03), *ends)[0] / whole
    found = drawn(np.array([float(n)]), np.array([float(wrong)]), np.zeros(1), np.array([0.5]))
    assert found.mean() == pytest.approx(mean, rel=0.12)


def test_each_curve_has_its_own_share_and_units_what_the_other_classes_make_of_it() -> None:
    uniform = np.random.default_rng(0).random((500, 2))
    n, curve, others = np.array([0.0, 0.0, 900.0]), np.array([0, 0, 1]), np.array([0.2, 0.1, 0.5])
    found = least_rates(0.03, others, (n, np.zeros(3)), np.zeros(3), curve, uniform)
    np.testing.assert_allclose(found[:, 0], 2 * found[:, 1], rtol=1e-12)
    assert np.corrcoef(found[:, 0], found[:, 2])[0, 1] < 0.2
    assert found[:, 2].mean() < 0.1 * 0.5 * 0.03 + 0.003


def test_where_the_curve_is_above_labels_say_nothing_of_what_is_astray() -> None:
    many = drawn(np.array([500.0]), np.array([250.0]), np.array([0.5]), np.ones(1))
    none = drawn(np.zeros(1), np.zeros(1), np.array([0.5]), np.ones(1))
    np.testing.assert_allclose(many, none)


def test_labels_that_find_nothing_make_it_rarer_and_finds_make_it_likelier() -> None:
    means = [
        drawn(np.array([float(n)]), np.array([float(hits)]), np.array([1e-5]), np.ones(1)).mean()
        for n, hits in ((1000, 0), (100, 0), (0, 0), (100, 5))
    ]
    assert means == sorted(means)


@pytest.mark.parametrize("wrong", [0, 1, 7])
def test_rates_are_lowered_to_the_exact_limit_of_the_errors_expected(wrong: int) -> None:
    n, found = np.array([40.0, 60.0]), np.array([float(wrong), 0.0])
    high = np.array([[0.9, 0.8]])
    limited = not_refuted(high, (n, found), np.zeros(2, dtype=int))
    assert stats.poisson.cdf(wrong, limited @ n) == pytest.approx([1e-3], rel=1e-3)
    odds = limited[0] / (1 - limited[0])
    assert odds[0] / odds[1] == pytest.approx(9 / 4)  # a curve keeps its shape
    mirrored = not_refuted(1 - high, (n, n - found), np.zeros(2, dtype=int))
    np.testing.assert_allclose(mirrored, 1 - limited, rtol=1e-9)


@given(seed=st.integers(0, 999))
def test_rates_that_the_labels_allow_stay_and_the_others_are_lowered_curve_by_curve(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, curve = rng.integers(0, 80, 5).astype(float), np.array([0, 0, 1, 1, 1])
    wrong, drawn = rng.binomial(n.astype(int), 0.1).astype(float), rng.random((6, 5))
    found = not_refuted(drawn, (n, wrong), curve)
    for c in (0, 1):
        mine = curve == c
        labels, errors = n[mine].sum(), wrong[mine].sum()

        def borne(
            rates: Floats, n: Floats = n[mine], labels: float = labels, errors: float = errors
        ) -> Floats:
            expected = rates @ n
            fewer, more = (
                stats.poisson.cdf(errors, expected),
                stats.poisson.cdf(labels - errors, labels - expected),
            )
            return np.minimum(fewer, more)

        before, after = borne(drawn[:, mine]), borne(found[:, mine])
        np.testing.assert_allclose(found[before >= 1e-3][:, mine], drawn[before >= 1e-3][:, mine], rtol=1e-12)
        assert (after >= 1e-3 * (1 - 1e-3)).all()


def test_what_the_tails_hold() -> None:
    assert (HONEST.fall, TIGHT.astray) == (0.0, 0.0)
    assert TIGHT.fall == pytest.approx(np.log(2))
    assert HONEST.astray > 0
