"""Caution: shares by size and evenly, for one study and for many at once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sondage.arithmetic import sums_by
from sondage.beliefs.error_curve.ranks import Ranks
from sondage.designs.error_curve.cautious_quotas import (
    MEAN,
    RATIO,
    SHARED,
    Caution,
    evenly,
    remains,
    strangeness,
)
from sondage.designs.error_curve.design import Expected, cautious
from sondage.types import Bools, Floats, Ints


def ranks_of(family: Ints, size: Ints, seed: int = 0) -> Ranks:
    reach = np.random.default_rng(seed).random(len(family))
    nothing = np.zeros(len(family), dtype=np.int64)
    place = family, family, nothing, nothing, family >= 0, False, size
    return Ranks(*place, at=reach, reach=reach, agreed=(True, True))


def expected(deviation: Floats, curve: Floats) -> Expected:
    """Of standard deviations that rest on so many labels that no doubt moves them."""
    sure = np.full(deviation.shape, 1e15)
    return Expected(curve, np.full(deviation.shape, 0.5), sure, np.square(deviation))


@pytest.mark.parametrize("caution", [RATIO, MEAN, SHARED], ids=["ratio", "mean", "shared"])
@given(seed=st.integers(0, 999), known=st.integers(0, 5000), more=st.integers(1, 2000))
@settings(max_examples=40)
def test_shares_add_up_and_keep_their_least(caution: Caution, seed: int, known: int, more: int) -> None:
    rng = np.random.default_rng(seed)
    family, size = np.sort(rng.integers(0, 2, 9)), rng.integers(1, 500, 9)
    deviation = np.exp(rng.normal(scale=3, size=9)) * (rng.random(9) < 0.8)
    found = cautious(caution, expected(deviation, rng.random(9)), ranks_of(family, size), (known, more))
    assert found.total.sum() == pytest.approx(1.0)
    assert (found.total >= 0).all()
    if not deviation.any():
        np.testing.assert_allclose(found.by_size, size / size.sum())
        return
    assert caution.least - 1e-12 <= found.by_size.sum() <= max(0.9, caution.early) + 1e-12
    assert found.evenly.sum() >= 0.1 * (1 - found.by_size.sum()) - 1e-12
    assert not found.total[deviation == 0].any()
    assert found.by_size[deviation > 0] == pytest.approx(
        found.by_size.sum() * (size / size[deviation > 0].sum())[deviation > 0]
    )


@pytest.mark.parametrize("caution", [RATIO, MEAN], ids=["ratio", "mean"])
def test_many_studies_at_once_are_each_as_if_alone(caution: Caution) -> None:
    rng = np.random.default_rng(2)
    family, size = np.repeat([0, 1], 4), rng.integers(1, 99, 8)
    curve, rate, variance = rng.random((3, 6, 8))
    variance *= rng.random((6, 8)) < 0.7
    variance[0] = 0.0
    every = Expected(curve, rate, rng.integers(1, 30, (6, 8)), variance)
    together = cautious(caution, every, ranks_of(family, size), (70, 25))
    for k in range(6):
        alone = cautious(caution, Expected(*(one[k] for one in every)), ranks_of(family, size), (70, 25))
        np.testing.assert_allclose(together.total[k], alone.total, rtol=1e-12)


NOTHING, HALF = np.array(0.0), np.array(0.5)


def test_early_labels_go_by_size_where_a_uniform_sample_is_a_rival() -> None:
    caution = Caution(least=0.1, early=0.8, until=200.0, rival=True)

    def share(outside: float, known: int, caution: Caution = caution) -> float:
        return float(caution.by_size(NOTHING, np.array(outside), NOTHING, known))

    assert share(0.3, 50) == pytest.approx(0.8)
    assert share(0.3, 400) == pytest.approx(0.4)
    assert share(0.05, 400) == pytest.approx(0.2)
    assert share(0.0, 50) == pytest.approx(0.1)
    assert share(0.0, 50, replace(caution, rival=False)) == pytest.approx(0.8)


def test_early_labels_go_by_size_where_scores_look_as_if_they_ordered_nothing() -> None:
    caution = Caution(least=0.1, early=0.4, until=200.0, rival=True, strange=0.8)
    assert caution.by_size(NOTHING, NOTHING, HALF, 0) == pytest.approx(0.1)  # nothing has shown it yet
    assert caution.by_size(NOTHING, NOTHING, HALF, 1) == pytest.approx(0.4)
    assert caution.by_size(NOTHING, NOTHING, HALF, 50) == pytest.approx(0.4)
    assert caution.by_size(NOTHING, NOTHING, HALF, 300) == pytest.approx(0.4 * 200 / 300)
    assert caution.by_size(NOTHING, HALF, np.array(1.0), 50) == pytest.approx(0.8)
    assert caution.by_size(NOTHING, HALF, np.array(0.2), 50) == pytest.approx(0.4)
    assert replace(caution, strange=0.0).by_size(NOTHING, NOTHING, np.array(1.0), 50) == pytest.approx(0.1)


def test_the_less_there_is_to_gain_the_more_goes_by_size_until_much_is_known() -> None:
    caution = Caution(least=0.1, fade=100.0)
    assert caution.by_size(HALF, HALF, NOTHING, 100) == pytest.approx(0.5)
    assert caution.by_size(HALF, HALF, NOTHING, 400) == pytest.approx(0.25)
    assert caution.by_size(np.array(1.0), HALF, NOTHING, 0) == pytest.approx(0.9)
    assert replace(caution, fade=np.inf).by_size(HALF, HALF, NOTHING, 400) == pytest.approx(0.5)


def test_many_labels_at_once_are_spread_evenly() -> None:
    assert evenly(np.array(0.2), 0, 450) == pytest.approx(0.2 * 0.8 * 450 / 500)
    assert evenly(np.array(0.2), 2000, 25) == pytest.approx(0.08)
    assert evenly(np.array(1.0), 0, 450) == 0


def sides(family: Ints, at: Floats, size: Ints, agreed: bool = True, same: bool = False) -> Ranks:
    patterns = (agreed,) * (int(family.max()) + 1)
    return replace(ranks_of(family, size), at=at, agreed=patterns, expects=0 * family if same else family)


def test_error_rates_on_both_sides_of_a_boundary_add_up_to_one_if_scores_order() -> None:
    """Worked out for logistic chances, wherever the boundary lies; turned around they do not."""
    score = np.linspace(-8, 8, 2001)
    chance = 1 / (1 + np.exp(-score))
    for cut in (-2.0, 0.0, 1.5):
        above = score > cut
        wrong, near = np.where(above, 1 - chance, chance), np.abs(score - cut) < 0.1
        far = np.where(above, score > 7.5, score < -7.5)

        def strange(near: Bools, above: Bools = above, wrong: Floats = wrong, **how: bool) -> float:
            at, size = np.where(near, 0.0, 9.0), np.ones(len(score), dtype=np.int64)
            return float(strangeness(wrong, sides(above.astype(np.int64), at, size, **how)))

        assert strange(near) == pytest.approx(0.0, abs=0.03)
        assert strange(far) > 0.95
        # Of one side alone nothing can be said, nor where one side has no order, or there are no two sides.
        assert strange(far & above) == strange(far | above) == 0
        assert strange(far, agreed=False) == strange(far, same=True) == 0


@given(seed=st.integers(0, 999))
def test_strangeness_is_a_share(seed: int) -> None:
    rng = np.random.default_rng(seed)
    family, size = rng.integers(0, rng.integers(1, 4), 7), rng.integers(1, 50, 7)
    found = strangeness(rng.random((3, 7)), sides(family, 10 * rng.random(7), size))
    assert found.shape == (3,)
    assert ((found >= 0) & (found <= 1)).all()
    if family.max() != 1:
        assert not found.any()


def test_scores_are_not_strange_where_one_side_is_never_asked() -> None:
    family, size, at = np.repeat([0, 1], 2), np.full(4, 50), np.array([0.0, 9.0, 0.0, 9.0])
    rate, ranks = np.full(4, 0.01), sides(family, at, size)
    shares = [
        cautious(RATIO, expected(deviation, rate), ranks, (100, 25)).by_size.sum()
        for deviation in (np.array([0.0, 0.0, 0.1, 0.001]), np.array([1e-9, 0.0, 0.1, 0.001]))
    ]
    assert shares[1] == pytest.approx(0.6 * 0.98)
    assert shares[0] < 0.51


def test_the_numbers_of_the_rules() -> None:
    """Changed on purpose only: the tables of the documentation were made with them."""
    assert Caution(0.05, 0.5, 200, True, 0.6, 100, 2, True) == RATIO
    assert Caution(0.5, 1.0, 300, False, 0.0, np.inf, 5, False) == MEAN
    assert Caution(0.1, 0.0, 0, False, 0.0, 100, 5, True) == SHARED


def test_what_neyman_leaves() -> None:
    size, deviation = np.array([3, 1, 6]), np.array([0.5, 2.0, 0.1])
    neyman = (size @ deviation) ** 2
    by_size = size.sum() * (size @ deviation**2)
    assert remains(size, deviation) == pytest.approx(neyman / by_size)
    assert remains(size, np.zeros(3)) == 1.0
    assert remains(size, np.full(3, 0.7)) == pytest.approx(1.0)


def test_doubted_rates_keep_the_mean_of_a_family_of_equals() -> None:
    size, family = np.array([10, 30, 5]), np.array([0, 0, 1])
    rate = np.array([0.1, 0.3, 0.9])
    found = Caution(least=0.1, doubt=7.0, scaled=False).doubted(
        rate, np.full(3, 3.0), size, family, np.ones(3)
    )
    np.testing.assert_allclose(sums_by(size * found, family), sums_by(size * rate, family))
    np.testing.assert_allclose(found[:2], [0.3 * 0.1 + 0.7 * 0.25, 0.3 * 0.3 + 0.7 * 0.25])
