"""Weak models: how far their error curves are moved from the mode towards the mean, and what it is worth."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from benchmarks._many_studies import ManyStudies
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.special import expit, logit
from scipy.stats import norm

import sondage as sd
from sondage.beliefs.error_curve import weak_models as weak
from sondage.beliefs.error_curve.ranks import Ranks
from sondage.beliefs.error_curve.state import CurveState
from sondage.beliefs.error_curve.weak_models import _POWER, _TIMES, _UNSEEN, towards_mean

Numbers = NDArray[np.float64]
CURVE = np.array([0, 0, 0, 1, 1])
EVERY = np.ones(5, dtype=bool)
SIZE = np.array([1, 9, 90, 4, 16])
RANKS = Ranks(
    family=CURVE,
    expects=CURVE,
    at=np.array([0.0, 3.0, 8.0, 1.0, 5.0]),
    reach=np.ones(5),
    agreed=(True, True),
    first=np.array([1, 2, 11, 1, 5]),
    last=np.array([1, 10, 100, 4, 20]),
    ordered=EVERY,
    across=False,
    size=SIZE,
)
RATE = np.array([0.4, 0.1, 0.01, 0.7, 0.6])
VARIANCE = np.array([0.3, 0.6, 5.0, 0.4, 1.0])
N = np.array([1.0, 6.0, 4.0, 3.0, 9.0])


def moved(rate: Numbers = RATE, n: Numbers = N, concerned: NDArray[np.bool_] = EVERY) -> Numbers:
    return towards_mean(rate, VARIANCE, n, RANKS, CURVE, concerned)


# ---- how far ---------------------------------------------------------------------------------------------


def test_each_curve_moves_by_how_often_the_surest_half_of_the_other_class_is_wrong() -> None:
    """One by one: 100 items are predicted negative and 20 positive, the surest 50 and 10 in the last unit."""
    expected = RATE.copy()
    for mine, wrong in (([0, 1, 2], 0.6), ([3, 4], 0.01)):
        weight = min(_TIMES * wrong**_POWER, 1.0)
        move = [(0.5 - RATE[u]) * VARIANCE[u] / (1 + (VARIANCE[u] / _UNSEEN) ** 2) for u in mine]
        told = [N[u] * RATE[u] * (1 - RATE[u]) for u in mine]
        middle = sum(t * m for t, m in zip(told, move, strict=True)) / sum(told)
        for u, m in zip(mine, move, strict=True):
            expected[u] = expit(logit(RATE[u]) + weight * (m - middle))
    np.testing.assert_allclose(moved(), expected, rtol=1e-12)
    assert moved()[2] > 1.5 * RATE[2]
    np.testing.assert_allclose(moved()[3:], RATE[3:], atol=1e-6)  # predicted negative and sure: seldom wrong


def test_units_across_the_middle_count_by_the_items_beyond_it() -> None:
    ranks = replace(RANKS, first=np.array([1, 2, 11, 1, 7]), last=np.array([1, 10, 100, 6, 20]))
    ranks = replace(ranks, size=np.array([1, 9, 90, 6, 14]))
    wide = replace(ranks, first=np.array([1, 2, 11, 1, 17]), last=np.array([1, 10, 100, 16, 20]))
    wide = replace(wide, size=np.array([1, 9, 90, 16, 4]))
    for case, wrong in ((ranks, 0.6), (wide, (6 * 0.7 + 4 * 0.6) / 10)):
        found = towards_mean(RATE, VARIANCE, N, case, CURVE, EVERY)
        alike = RATE.copy()
        alike[3:] = wrong  # the same everywhere: halves make no difference
        np.testing.assert_allclose(found[:3], moved(alike)[:3], rtol=1e-12)


@pytest.mark.parametrize(("eta", "deviation"), [(-7.0, 1.1), (-2.0, 0.5), (0.0, 0.8), (1.5, 0.5)])
def test_beside_cells_that_are_known_the_whole_move_is_to_the_mean(eta: float, deviation: float) -> None:
    """The mean of a rate whose log-odds are normal, by numerical integration: lower above one half."""
    mean, _ = quad(lambda x: expit(x) * norm.pdf(x, eta, deviation), eta - 8, eta + 8)
    rate, n = RATE.copy(), N.copy()
    rate[:3], rate[3:], n[0] = expit(eta), 0.9, 0.0
    variance = np.array([deviation**2, 1e-9, 1e-9, 0.4, 1.0])
    found = towards_mean(rate, variance, n, RANKS, CURVE, EVERY)
    assert found[0] == pytest.approx(mean, rel=0.02)


def test_what_only_the_prior_speaks_of_moves_less_again() -> None:
    rate, n = RATE.copy(), N * (np.arange(5) != 2)
    rate[3:] = 0.9
    moves = []
    for unknown in (1.0, _UNSEEN, 10 * _UNSEEN, 100 * _UNSEEN):
        variance = np.where(np.arange(5) == 2, unknown, VARIANCE)
        found = towards_mean(rate, variance, n, RANKS, CURVE, EVERY)
        moves.append(logit(found[2]) - logit(rate[2]))
    assert moves[0] < moves[1] > moves[2] > moves[3]
    assert moves[1] == pytest.approx(moves[3] + 0.49 * _UNSEEN / 2, rel=0.1)


# ---- what stays as it is -----------------------------------------------------------------------------------


def test_a_good_model_keeps_its_most_probable_curves() -> None:
    rate = np.array([0.4, 0.1, 0.01, 0.5, 0.1])
    np.testing.assert_allclose(moved(rate), rate, rtol=0.01)


def test_curves_without_labels_and_units_that_are_not_concerned_stay() -> None:
    np.testing.assert_array_equal(moved(n=0 * N), RATE)
    negatives = moved(n=np.where(CURVE == 0, N, 0.0))
    np.testing.assert_array_equal(negatives[3:], RATE[3:])
    assert negatives[2] > RATE[2]
    np.testing.assert_array_equal(moved(concerned=CURVE == 0), RATE)  # one class is predicted: no other tells
    np.testing.assert_array_equal(moved(concerned=~EVERY), RATE)
    across = replace(RANKS, across=True)  # ranks over both classes together: no class has a surest half
    np.testing.assert_array_equal(towards_mean(RATE, VARIANCE, N, across, CURVE, EVERY), RATE)


rates = st.lists(st.floats(1e-6, 1 - 1e-6), min_size=5, max_size=5).map(np.array)
labels = st.lists(st.integers(0, 50), min_size=5, max_size=5).map(lambda some: np.array(some, dtype=float))


@given(rates, labels)
@settings(max_examples=200)
def test_what_labels_say_of_a_curve_as_a_whole_stays(rate: Numbers, n: Numbers) -> None:
    """To first order: moves of the log-odds, weighted by what labels tell, are none on average."""
    found = moved(rate, n)
    assert ((found > 0) & (found < 1)).all()
    moves, told = logit(found) - logit(rate), n * rate * (1 - rate)
    for c in (0, 1):
        mine = np.flatnonzero(c == CURVE)
        assert told[mine] @ moves[mine] == pytest.approx(0.0, abs=1e-6 * max(told[mine].sum(), 1.0))
        up = (0.5 - rate[mine]) * VARIANCE[mine] / (1 + np.square(VARIANCE[mine] / _UNSEEN))
        order = np.argsort(up)  # the further the mean is above the mode, the further up
        assert (np.diff(moves[mine[order]]) >= -1e-9).all()


@given(rates, labels)
def test_many_studies_at_once_are_each_by_itself(rate: Numbers, n: Numbers) -> None:
    many = towards_mean(
        np.stack([rate, RATE]), np.stack([VARIANCE, VARIANCE]), np.stack([n, N]), RANKS, CURVE, EVERY
    )
    np.testing.assert_allclose(many, [moved(rate, n), moved()], rtol=1e-9)


@given(rates, labels)
def test_which_of_the_two_classes_is_called_positive_makes_no_difference(rate: Numbers, n: Numbers) -> None:
    swapped = towards_mean(rate, VARIANCE, n, replace(RANKS, expects=1 - CURVE), CURVE, EVERY)
    np.testing.assert_array_equal(swapped, moved(rate, n))


# ---- what it is worth --------------------------------------------------------------------------------------


def pool_of(separation: float, n: int = 30_000, positives: int = 400) -> tuple[sd.Pool, dict[Any, int]]:
    """Normal scores, and half as many again predicted positive as are."""
    random, label = np.random.default_rng(3), (np.arange(n) < positives).astype(int)
    score = random.standard_normal(n) + separation * label
    cut = float(np.quantile(score, 1 - 1.5 * positives / n))
    return sd.Pool.from_arrays(score=score, threshold=cut), dict(enumerate(label.tolist()))


def errors(many: ManyStudies, budget: int, seed: int) -> Numbers:
    """(R,) of F1."""
    [(_, counts, rate)] = many.run(600, [budget], seed)
    return np.asarray(many.estimates(counts, rate)[:, 0] - many.truth[0])


@pytest.mark.parametrize("separation", [1.4, 3.5])
def test_f1_of_a_weak_model_gains_and_that_of_a_good_one_loses_little(
    separation: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool, truth = pool_of(separation)
    many = ManyStudies(pool, truth, "f1")
    after = errors(many, 500, 1)
    monkeypatch.setattr(weak, "_TIMES", 0.0)
    before = errors(many, 500, 1)
    ratio = np.square(after).mean() / np.square(before).mean()
    if separation < 2:
        assert ratio < 0.85
        assert abs(after.mean()) < 0.7 * abs(before.mean())
    else:
        assert ratio < 1.2  # nothing, and almost three standard errors


def test_a_study_of_a_weak_model_thinks_more_of_what_lies_far_off() -> None:
    pool, truth = pool_of(1.4)
    study = sd.create_study(pool, "f1", rng=1)
    study.run(truth, budget=600)
    state = study.problem().state
    assert isinstance(state, CurveState)
    known = state.curve.variance
    far = (state.ranks.expects == 0) & (known > 1.5) & (known < _UNSEEN)
    assert state.ranks.first[far].min() > 10_000
    assert (state.by_place[far] > 1.2 * state.curve.rate[far]).all()
    assert state.first().by_place == pytest.approx(state.first().curve.rate)
