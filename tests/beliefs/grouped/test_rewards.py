"""What a label is expected to tell: closed forms against moments of the posteriors themselves."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta

from sondage.beliefs.grouped.rates import Rates
from sondage.beliefs.grouped.rewards import RateKnown, beta_gain

PAIRS = [(1.0, 1.0), (1.94, 0.06), (12.0, 3.0)]


@pytest.mark.parametrize(("a", "b"), PAIRS)
@pytest.mark.parametrize("rate", [0.0, 0.3, 0.97])
def test_of_a_beta(a: float, b: float, rate: float) -> None:
    expected = beta(a, b).var() - rate * beta(a + 1, b).var() - (1 - rate) * beta(a, b + 1).var()
    assert beta_gain(*map(np.float64, (a, b, rate))) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("size", [4.0, 5.0, 30.0, np.inf])
@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_of_a_finite_group_it_is_the_variance_before_less_that_expected_after(
    a: float, b: float, size: float
) -> None:
    now = Rates(*(np.array([one]) for one in (a, b, 2.0, 3.0, size)))
    p = (a + 2) / (a + b + 3)
    after = (
        p * now.plus(np.ones(1), np.ones(1)).variance + (1 - p) * now.plus(np.zeros(1), np.ones(1)).variance
    )
    assert RateKnown(now, np.ones(1)).mean[0] == pytest.approx((now.variance - after)[0], rel=1e-9)


def test_a_group_labelled_to_its_end_has_nothing_to_tell() -> None:
    done = Rates(*(np.array([one]) for one in (1.0, 1.0, 2.0, 3.0, 3.0)))
    assert RateKnown(done, np.ones(1)).mean.tolist() == [0.0]
