"""Rates of finite groups: posteriors equal the enumeration of every pool that the labels allow."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import beta as scipy_beta
from scipy.stats import betabinom

from sondage.beliefs.grouped.rates import Rates
from sondage.streams import stream


def rates(a: float, b: float, right: float, n: float, size: float) -> Rates:
    return Rates(*(np.array([one]) for one in (a, b, right, n, size)))


def enumerated(a: float, b: float, labels: list[int], size: int) -> np.ndarray:
    """(size + 1,) chance of every number of right items, by Bayes over every finite pool.

    A pool is a row of 0 and 1 whose items are exchangeable; its chance before any label is the integral of
    ``theta ** right * (1 - theta) ** wrong`` over the Beta. Labels are those of its first items.
    """
    out = np.zeros(size + 1)
    for pool in product((0, 1), repeat=size):
        if list(pool[: len(labels)]) == labels:
            k = sum(pool)
            chance, _ = quad(lambda t, k=k: t**k * (1 - t) ** (size - k) * scipy_beta.pdf(t, a, b), 0, 1)
            out[k] += chance
    return out / out.sum()


CASES = [(1.0, 1.0, [1, 0, 1], 5), (1.8, 1.2, [1, 1], 6), (3.0, 2.0, [], 4), (2.0, 1.0, [0, 0, 1, 0], 4)]


@pytest.mark.parametrize(("a", "b", "labels", "size"), CASES)
def test_posterior_is_that_of_every_pool_enumerated(a: float, b: float, labels: list[int], size: int) -> None:
    chance = enumerated(a, b, labels, size)
    one = rates(a, b, sum(labels), len(labels), size)
    value = np.arange(size + 1) / size
    mean = float(chance @ value)
    assert one.mean[0] == pytest.approx(mean, abs=1e-9)
    assert one.variance[0] == pytest.approx(float(chance @ np.square(value - mean)), abs=1e-9)
    drawn = one.drawn(stream(1, "interval"), 20_000)[:, 0]
    found = np.bincount(drawn.astype(int), minlength=size + 1) / len(drawn)
    assert np.abs(found - chance).max() < 4.5 * 0.5 / np.sqrt(20_000)


def test_a_group_labelled_to_its_end_does_not_vary() -> None:
    one = rates(1.0, 1.0, 3.0, 4.0, 4.0)
    assert one.mean[0] == 0.75
    assert one.variance[0] == 0.0
    assert one.one(stream(1, "draw"))[0] == 0.75
    assert (one.drawn(stream(1, "draw"), 5) == 3.0).all()


def test_a_population_has_the_beta_itself() -> None:
    one = rates(1.0, 1.0, 7.0, 9.0, np.inf)
    assert one.mean[0] == pytest.approx(8 / 11)
    assert one.variance[0] == pytest.approx(scipy_beta(8, 3).var())
    assert one.matched[0][0] == pytest.approx(8.0)
    assert one.matched[1][0] == pytest.approx(3.0)


@pytest.mark.parametrize("rest", [1, 2, 5, 40, 3000])
@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (1.9, 0.1), (30.0, 4.0), (0.3, 0.5)])
def test_the_quick_draw_has_mean_variance_and_ends_of_the_exact_posterior(
    rest: int, a: float, b: float
) -> None:
    one = rates(a, b, 2.0, 3.0, rest + 3.0)
    exact = betabinom(rest, a + 2.0, b + 1.0)
    p, q = (part[0] for part in one.matched)
    assert p / (p + q) == pytest.approx(exact.mean() / rest, abs=1e-7)
    assert p * q / ((p + q) ** 2 * (p + q + 1)) == pytest.approx(exact.var() / rest**2, rel=1e-5)
    many = Rates(*(np.full(4000, part[0]) for part in (one.a, one.b, one.right, one.n, one.size)))
    drawn = many.one(stream(3, "draw"))
    assert drawn.min() >= 2.0 / (rest + 3.0) - 1e-12
    assert drawn.max() <= (2.0 + rest) / (rest + 3.0) + 1e-12
    assert abs(drawn.mean() - one.mean[0]) < 4.5 * np.sqrt(one.variance[0] / 4000)
    # the distribution, between the steps of the exact one, is close as well
    cut = (np.arange(rest) + 0.5) / rest
    apart = np.abs(exact.cdf(np.arange(rest)) - scipy_beta(p, q).cdf(cut)).max()
    assert apart < (0.1 if rest <= 5 else 0.03 if rest < 100 else 0.001)


def test_studies_side_by_side_are_as_one_by_one() -> None:
    right, n = np.array([[1.0, 2.0], [0.0, 5.0]]), np.array([[3.0, 2.0], [1.0, 9.0]])
    size = np.array([10.0, 9.0])
    both = Rates(np.ones(2), np.ones(2), right, n, size)
    for k in range(2):
        one = Rates(np.ones(2), np.ones(2), right[k], n[k], size)
        np.testing.assert_allclose(both.mean[k], one.mean)
        np.testing.assert_allclose(both.variance[k], one.variance)
    assert both.one(stream(1, "draw")).shape == (2, 2)
    assert both.drawn(stream(1, "draw"), 7).shape == (7, 2, 2)


def test_a_group_without_items_has_no_rate() -> None:
    both = Rates(np.ones(2), np.ones(2), np.zeros(2), np.zeros(2), np.array([0.0, 3.0]))
    assert np.isnan(both.mean[0])
    assert both.mean[1] == 0.5
