"""Models that say nothing: how likely it is after some labels, and what follows for rates and their draws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.integrate import dblquad, quad
from scipy.special import expit
from scipy.stats import beta, norm

import sondage as sd
from sondage.beliefs.error_curve.fit import Curves, Prior
from sondage.beliefs.error_curve.state import CurveState
from sondage.beliefs.error_curve.uninformative import _CHANCE, _DECIDED, _OTHER, uninformative
from sondage.datasets import synthetic_pool

Numbers = NDArray[np.float64]
EXPECTS = np.array([0, 0, 1, 1])
ALL = np.ones(4, dtype=bool)
N = np.array([30.0, 20.0, 40.0, 10.0])
WRONG = np.array([2.0, 0.0, 37.0, 9.0])


def likelihood(rate: Numbers, n: Numbers = N, wrong: Numbers = WRONG) -> float:
    return float(np.prod(rate**wrong * (1 - rate) ** (n - wrong)))


# ---- how likely it is ----------------------------------------------------------------------------------


def test_the_chance_is_bayes_rule_with_the_share_integrated_out_and_counts_by_its_squared_odds() -> None:
    """Against numerical integration over the share of positives, the same wherever they are predicted."""

    def density(share: float) -> float:
        return likelihood(np.where(EXPECTS == 1, 1 - share, share)) * float(beta.pdf(share, 0.5, 0.5))

    nothing, _ = quad(density, 0, 1)
    for smooth in (nothing / 900, nothing / 200, nothing):
        found = uninformative(N, WRONG, EXPECTS, np.log(smooth), ALL)
        odds = _CHANCE * nothing / ((1 - _CHANCE) * smooth)
        assert found.chance == pytest.approx(odds / (1 + odds), rel=1e-4)
        assert found.trust == pytest.approx(odds**_DECIDED / (1 + odds**_DECIDED), rel=1e-4)


def test_the_evidence_for_a_curve_is_near_its_integral() -> None:
    """Laplace's approximation of two knots, against the integral over both."""
    prior = Prior()
    at = np.array([0.0, 0.4, 1.0])
    curves = Curves(np.zeros(3, dtype=np.int64), at, (prior,))
    for n, wrong in (([30, 30, 30], [14, 9, 8]), ([8, 20, 60], [5, 6, 3])):
        tries, hits = np.array(n, dtype=float), np.array(wrong, dtype=float)

        def density(second: float, first: float, tries: Numbers = tries, hits: Numbers = hits) -> float:
            rate = expit(first + at * (second - first))
            known = norm.pdf(first, *prior.start) * norm.pdf(second - first, *prior.step)
            return likelihood(rate, tries, hits) * float(known)

        integral, _ = dblquad(density, -6, 6, -8, 8)
        found = curves.fit(tries, hits).log_evidence(tries, hits)
        assert found.shape == (1,)
        assert found[0] == pytest.approx(np.log(integral), abs=0.05)


def test_evidence_is_by_curve_and_labels_of_one_say_nothing_of_the_other() -> None:
    family, at = np.array([0, 0, 1, 1]), np.array([0.0, 2.0, 0.0, 3.0])
    both = Curves(family, at, (Prior(), Prior()))
    found = both.fit(N, WRONG).log_evidence(N, WRONG)
    for c in (0, 1):
        mine = family == c
        alone = Curves(np.zeros(2, dtype=np.int64), at[mine], (Prior(),)).fit(N[mine], WRONG[mine])
        assert found[c] == pytest.approx(alone.log_evidence(N[mine], WRONG[mine])[0], abs=1e-6)
    np.testing.assert_allclose(both.fit(0 * N, 0 * N).log_evidence(0 * N, 0 * N), 0.0, atol=1e-9)


def test_without_labels_or_with_one_predicted_class_nothing_is_doubted() -> None:
    nothing, smooth = np.zeros(4), np.array(-1e3)
    assert uninformative(nothing, nothing, EXPECTS, smooth, ALL).chance == 0
    assert uninformative(N, WRONG, np.zeros(4, dtype=np.int64), smooth, ALL).chance == 0
    assert uninformative(N, WRONG, EXPECTS, smooth, EXPECTS == 1).chance == 0
    certain = uninformative(N, WRONG, EXPECTS, smooth, ALL)
    assert certain.chance == certain.trust == pytest.approx(1.0)
    assert uninformative(nothing, nothing, EXPECTS, smooth, ALL).trust == 0


def test_units_that_it_is_not_said_of_count_for_nothing() -> None:
    concerned = np.array([True, False, True, True])
    found = uninformative(N, WRONG, EXPECTS, np.array(-30.0), concerned)
    without = uninformative(N * concerned, WRONG * concerned, EXPECTS, np.array(-30.0), ALL)
    assert found.chance == without.chance
    smooth = np.full(4, 0.25)
    assert found.mixed(smooth)[1] == 0.25
    np.testing.assert_allclose(found.mixed(smooth)[concerned], without.mixed(smooth)[concerned])


# ---- what follows --------------------------------------------------------------------------------------


def test_rates_are_in_between() -> None:
    """Of the rates of the curves and of one share: own labels, and the others as if they were 20."""
    found = uninformative(N, WRONG, EXPECTS, np.array(-30.0), ALL)
    assert N[:2].sum() == N[2:].sum() == 50  # with 2 positives and with 4
    low = (2 + 4 * _OTHER / 50 + 0.5) / (50 + _OTHER + 1)
    high = (4 + 2 * _OTHER / 50 + 0.5) / (50 + _OTHER + 1)
    smooth = np.array([0.3, 0.01, 0.5, 0.02])
    chance = float(found.trust)
    assert 0.01 < chance < 0.99
    expected = (1 - chance) * smooth + chance * np.array([low, low, 1 - high, 1 - high])
    np.testing.assert_allclose(found.mixed(smooth), expected)


def test_draws_are_of_both_and_lean_little_on_the_other_predicted_class() -> None:
    found = uninformative(N, WRONG, EXPECTS, np.array(-30.0), ALL)
    count = 20_000
    uniform = np.random.default_rng(1).random((count, 3))
    drawn = found.instead(np.full((count, 4), 2.0), uniform)
    flat = drawn[:, 0] < 2
    assert flat.mean() == pytest.approx(float(found.trust), abs=5 * 0.5 / np.sqrt(count))
    assert (drawn[~flat] == 2).all()
    assert (drawn[flat, 0] == drawn[flat, 1]).all()
    assert (drawn[flat, 2] == drawn[flat, 3]).all()
    for own, other, positive in ((2, 4, drawn[flat, 0]), (4, 2, 1 - drawn[flat, 2])):
        hits = own + other * _OTHER / 50
        expected = beta(hits + 0.5, 50 + _OTHER - hits + 0.5)
        assert positive.mean() == pytest.approx(expected.mean(), rel=0.05)
        assert positive.std() == pytest.approx(expected.std(), rel=0.1)
    few = uninformative(N / 10, WRONG / 10, EXPECTS, np.array(-1e3), ALL)  # fewer than 20: all of them count
    drawn = few.instead(np.full((count, 4), 2.0), uniform)
    expected = beta(0.6 + 0.5, 9.4 + 0.5)
    assert drawn[:, 0].mean() == pytest.approx(expected.mean(), rel=0.05)
    assert drawn[:, 0].std() == pytest.approx(expected.std(), rel=0.1)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50), st.booleans()), min_size=1, max_size=6),
    st.floats(-200, 0),
    st.integers(0, 99),
)
def test_any_labels(cells: list[tuple[int, int, bool]], smooth: float, seed: int) -> None:
    """A chance, and rates between those of the curves and one share; many studies at once are each alone."""
    wrong = np.array([float(a) for a, _, _ in cells])
    n = wrong + np.array([float(b) for _, b, _ in cells])
    expects = np.array([int(upper) for _, _, upper in cells])
    rng = np.random.default_rng(seed)
    everywhere, rates = np.ones(len(n), dtype=bool), rng.random(len(n))
    one = uninformative(n, wrong, expects, np.array(smooth), everywhere)
    assert 0 <= one.chance <= 1
    assert ((one.mixed(rates) >= 0) & (one.mixed(rates) <= 1)).all()
    many = uninformative(np.stack([n, n]), np.stack([0 * n, wrong]), expects, np.full(2, smooth), everywhere)
    assert many.chance[1] == pytest.approx(float(one.chance))
    np.testing.assert_allclose(many.mixed(np.stack([rates, rates]))[1], one.mixed(rates))
    drawn = one.instead(np.tile(rates, (20, 1)), rng.random((20, 3)))
    assert ((drawn >= 0) & (drawn <= 1)).all()


# ---- in a study ------------------------------------------------------------------------------------------


def state_after(pool: sd.Pool, labels: dict[sd.types.Id, int], n: int) -> CurveState:
    study = sd.create_study(pool, "f1", rng=1)
    study.run(labels, budget=n)
    state = study.problem().state
    assert isinstance(state, CurveState)
    return state


def test_a_model_that_says_nothing_is_found_out_and_a_good_one_is_not_suspected() -> None:
    pool, labels = synthetic_pool(5000, prevalence=0.05, rng=2)
    assert state_after(pool, labels, 100).uninformative.chance < 1e-3
    chances, far = [], []
    for seed in range(8):
        anyhow = np.random.default_rng(seed).permutation(list(labels.values())).tolist()
        state = state_after(pool, dict(zip(labels, anyhow, strict=True)), 300)
        outside = (state.ranks.expects == 0) & (state.ranks.first > 1000)
        chances.append(float(state.uninformative.chance))
        far.append(state.by_place[outside].mean())
    assert np.median(chances) > 0.9
    assert np.mean(far) == pytest.approx(0.05, abs=0.02)


def test_many_classes_and_systems_that_disagree_are_left_alone() -> None:
    rng = np.random.default_rng(4)
    three = sd.Pool.from_arrays(prediction=rng.integers(0, 3, 400), score=rng.random(400), labels=[0, 1, 2])
    study = sd.create_study(three, "accuracy", rng=1)
    study.run(
        {id: int(y) for id, y in zip(three.ids.tolist(), rng.integers(0, 3, 400), strict=True)}, budget=90
    )
    state = study.problem().state
    assert isinstance(state, CurveState)
    assert state.uninformative.chance == 0
    assert not state.of_two.any()
    np.testing.assert_array_equal(state.by_place, state.curve.rate)
    label = (rng.random(400) < 0.3).astype(int)
    both = {name: {"score": label + rng.normal(0, 1, 400), "threshold": 0.5} for name in ("old", "new")}
    pair = sd.create_study(
        sd.Pool.from_arrays(systems=both), sd.measures.Difference("f1", "new", "old"), rng=1
    )
    pair.run(dict(enumerate(label.tolist())), budget=150)
    state = pair.problem().state
    assert isinstance(state, CurveState)
    apart = ~np.array(state.ranks.agreed)[state.ranks.family]
    assert apart.any()
    np.testing.assert_array_equal(state.of_two, ~apart)
    np.testing.assert_array_equal(state.by_place[apart], state.curve.rate[apart])
