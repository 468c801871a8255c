"""Two groups compared: sums against quadrature at high precision, and against every outcome enumerated."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import beta, betabinom

from sondage.beliefs.grouped import comparing
from sondage.beliefs.grouped.rates import Rates
from sondage.beliefs.grouped.rewards import PairDecided
from sondage.streams import stream

BETAS = [
    ((1.0, 1.0), (3.0, 2.0)),
    ((30.0, 4.0), (25.0, 2.0)),
    ((1.94, 0.06), (1.8, 0.2)),
    ((400.0, 20.0), (350.0, 31.0)),
]


@pytest.mark.parametrize(("one", "other"), BETAS)
@pytest.mark.parametrize("width", [0.0, 0.05, 0.2])
def test_rope_of_a_population_is_the_integral(
    one: tuple[float, float], other: tuple[float, float], width: float
) -> None:
    if min(*one, *other) < 1 and not width:
        pytest.skip("both are 1 to the last digit with a chance that no number of 64 bits can tell apart")
    rates = Rates(
        np.array([one[0], other[0]]),
        np.array([one[1], other[1]]),
        np.zeros(2),
        np.zeros(2),
        np.full(2, np.inf),
    )
    found = comparing.rope(comparing.spread(rates, 0), comparing.spread(rates, 1), width)
    first, second = beta(*one), beta(*other)
    # over the quantiles of the first, where nothing is infinite
    cuts = sorted({min(max(float(first.cdf(x)), 0.0), 1.0) for x in (width, 1 - width)} - {0.0, 1.0})
    lower, _ = quad(lambda u: second.sf(first.ppf(u) + width), 0, 1, limit=400, points=cuts, epsabs=1e-10)
    higher, _ = quad(lambda u: second.cdf(first.ppf(u) - width), 0, 1, limit=400, points=cuts, epsabs=1e-10)
    tolerance = 2e-3 if min(*one, *other) < 1 else 2e-4
    assert found == pytest.approx([lower, 1 - lower - higher, higher], abs=tolerance)
    assert found.sum() == pytest.approx(1.0)


def test_rope_of_finite_groups_is_the_sum_over_all_outcomes() -> None:
    rates = Rates(
        np.array([1.0, 1.6]),
        np.array([1.0, 0.4]),
        np.array([2.0, 3.0]),
        np.array([3.0, 4.0]),
        np.array([9.0, 8.0]),
    )
    expected, below = np.zeros(3), 0.0
    for j, k in product(range(7), range(5)):
        chance = betabinom(6, 3.0, 2.0).pmf(j) * betabinom(4, 4.6, 1.4).pmf(k)
        apart = (2 + j) / 9 - (3 + k) / 8
        expected[0 if apart < -0.1 - 1e-12 else 2 if apart > 0.1 + 1e-12 else 1] += chance
        below += chance * (1.0 if apart < -1e-12 else 0.5 if abs(apart) <= 1e-12 else 0.0)
    one, other = (comparing.spread(rates, group) for group in (0, 1))
    np.testing.assert_allclose(comparing.rope(one, other, 0.1), expected, atol=1e-12)
    assert comparing.below(one, other) == pytest.approx(below, abs=1e-12)
    np.testing.assert_allclose(comparing.pairs_below(rates), [[0.5, below], [1 - below, 0.5]], atol=1e-12)


def test_a_difference_of_just_the_width_is_within_it() -> None:
    done = Rates(
        np.ones(2), np.ones(2), np.array([80.0, 17.0]), np.array([100.0, 20.0]), np.array([100.0, 20.0])
    )
    assert comparing.rope(*(comparing.spread(done, k) for k in (0, 1)), 0.05).tolist() == [0.0, 1.0, 0.0]


@pytest.mark.parametrize("rest", [5_000, 60_000])
def test_many_unseen_items_are_close_to_the_exact_distribution(rest: int) -> None:
    rates = Rates(*(np.array([one]) for one in (1.8, 0.2, 40.0, 45.0, 45.0 + rest)))
    found = comparing.spread(rates, 0)
    exact = betabinom(rest, 41.8, 5.2)
    at = np.array([0.7, 0.8, 0.85, 0.9, 0.95])
    expected = exact.cdf(np.floor(at * (45 + rest) - 40))
    assert np.abs(found.below(at) - expected).max() < 2e-3
    assert found.value @ found.chance == pytest.approx(rates.mean[0], abs=1e-6)


def test_quantiles_of_the_exact_posterior() -> None:
    rates = Rates(*(np.array([one]) for one in (1.0, 1.0, 3.0, 4.0, 34.0)))
    found = comparing.spread(rates, 0).quantile(np.array([0.025, 0.975]))
    exact = betabinom(30, 4.0, 2.0).ppf([0.025, 0.975])
    np.testing.assert_allclose(found, (3 + exact) / 34)


def test_the_next_label_goes_where_it_decides_most() -> None:
    """Expected certainty after a label of each group, written out for both answers."""
    rates = Rates(
        np.ones(3),
        np.ones(3),
        np.array([1.0, 3.0, 0.0]),
        np.array([2.0, 4.0, 0.0]),
        np.array([40.0, 50.0, 9.0]),
    )
    decided = PairDecided(rates, (0, 1), 0.2)
    expected = []
    for group in (0, 1):
        step = np.eye(3)[group]
        a, b = (one[group] for one in rates.beta)
        sure = [PairDecided(rates.plus(z * step, step), (0, 1), 0.2).certainty().max() for z in (1.0, 0.0)]
        expected.append(a / (a + b) * sure[0] + b / (a + b) * sure[1])
    assert abs(expected[0] - expected[1]) > 1e-3
    np.testing.assert_allclose(decided.mean[:2], expected)
    assert decided.mean[2] == -np.inf
    assert decided.draw(stream(1, "draw"))[2] == -np.inf


def test_where_labels_promise_the_same_the_wider_group_goes_first() -> None:
    same = Rates(
        np.ones(2), np.ones(2), np.array([50.0, 500.0]), np.array([500.0, 1000.0]), np.full(2, np.inf)
    )
    reward = PairDecided(same, (0, 1), 0.05).mean  # .1 and .5: decided
    wider = int(np.argmax(same.variance))
    assert reward.argmax() == wider


def test_a_group_without_items_left_is_not_chosen() -> None:
    rates = Rates(np.ones(2), np.ones(2), np.array([3.0, 1.0]), np.array([5.0, 2.0]), np.array([5.0, 20.0]))
    assert PairDecided(rates, (0, 1)).mean[0] == -np.inf
