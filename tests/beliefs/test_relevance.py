"""The belief of relevance: the fitted curve is the most likely one, and follows what has been judged."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

import sondage as sd
from sondage.beliefs import RelevanceBelief, Seen
from sondage.beliefs.relevance import RelevanceState, _density, fit_curve, grade_chances
from sondage.pool.units import ItemUnits, Units
from sondage.types import Floats, Ints

GRADES = (0, 1, 2)
CUTS, SLOPES = np.array([-0.6, -1.6]), np.array([1.5, 0.4])


def documents(seed: int, n: int) -> tuple[Floats, Ints]:
    rng = np.random.default_rng(seed)
    x = np.column_stack([rng.uniform(size=n), rng.normal(size=n)])
    chance = grade_chances(x @ np.array([3.0, -0.5]), np.array([-1.5, -3.0]))
    return x, (rng.uniform(size=n)[:, None] > np.cumsum(chance, axis=1)[:, :-1]).sum(axis=1)


@pytest.mark.parametrize("seed", range(4))
def test_slopes_and_curvature_of_the_likelihood_are_those_of_differences(seed: int) -> None:
    x, grade = documents(seed, 30)
    weight, at, step = np.eye(3)[grade], np.array([-0.3, -1.9, 1.1, 0.2]), 1e-5
    _, slope, curve = _density(x, weight, at, 2)
    for k in range(4):
        aside = step * np.eye(4)[k]
        high, low = (_density(x, weight, at + sign * aside, 2) for sign in (1, -1))
        assert slope[k] == pytest.approx((high[0] - low[0]) / (2 * step), rel=1e-6)
        np.testing.assert_allclose(-curve[k], (high[1] - low[1]) / (2 * step), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_the_fitted_curve_is_the_most_likely_one(seed: int) -> None:
    x, grade = documents(seed, 60)
    middle, aside = x.mean(axis=0), np.diag(x.std(axis=0))
    places = np.concatenate([middle[None], middle + aside, middle - aside])

    def loss(at: Floats) -> float:  # gaps between cuts by their logarithms, another way to the same top
        cuts, slopes = np.array([at[0], at[0] - np.exp(at[1])]), at[2:]
        told = np.log(grade_chances(x @ slopes, cuts)[np.arange(len(x)), grade]).sum()
        usual = 2.0 * grade_chances(places @ SLOPES, CUTS) * np.log(grade_chances(places @ slopes, cuts))
        return -float(told + usual.sum())

    cuts, slopes = fit_curve(x, grade, CUTS, SLOPES)
    there = np.array([cuts[0], np.log(cuts[0] - cuts[1]), *slopes])
    best = minimize(loss, np.array([-0.6, 0.0, *SLOPES]), method="Nelder-Mead", options={"maxiter": 10_000})
    assert loss(there) <= best.fun + 1e-6


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2), st.integers(1, 40), st.integers(0, 1000))
def test_judgements_that_are_all_alike_rule_no_grade_out(grade: int, n: int, seed: int) -> None:
    x = documents(seed, n)[0]
    cuts, slopes = fit_curve(x, np.full(n, grade), CUTS, SLOPES)
    assert cuts[0] > cuts[1]
    assert np.isfinite(slopes).all()
    chance = grade_chances(x @ slopes, cuts)
    assert (chance > 0).all()
    assert chance[:, grade].mean() > grade_chances(x @ SLOPES, CUTS)[:, grade].mean()


def test_many_judgements_find_the_curve_that_made_them() -> None:
    x, grade = documents(1, 40_000)
    cuts, slopes = fit_curve(x, grade, CUTS, SLOPES)
    np.testing.assert_allclose([*cuts, *slopes], [-1.5, -3.0, 3.0, -0.5], atol=0.15)


# ---- a fold over rounds


def case(seed: int = 0, shuffled: bool = False) -> tuple[sd.Pool, RelevanceBelief, Units, Floats]:
    """A pool whose scores are worth more than is usual, its belief and the labels of all queries."""
    rng = np.random.default_rng(seed)
    rows, grades = [], []
    for query in range(60):
        mine = rng.choice(3, 6, p=[0.7, 0.2, 0.1])
        grades.append(mine.tolist())
        for system in "ab":
            score = 1.2 * mine + rng.normal(size=6)
            rows += [(query, document, system, float(score[document])) for document in range(6)]
    frame = pd.DataFrame(rows, columns=["q", "d", "s", "score"])
    frame = frame.sample(frac=1, random_state=3) if shuffled else frame
    pool = sd.Pool.from_rankings(frame, query="q", document="d", system="s", score="score", grades=GRADES)
    belief = RelevanceBelief(refit=True).bind(pool, ("a", "b"))
    return pool, belief, ItemUnits(pool, 1), pool.labels.encode(grades)


def seen(y: Floats, n: int) -> Seen:
    rows = np.arange(n)
    return Seen(rows, rows, y[:n])


def test_it_is_fitted_at_8_queries_and_whenever_there_are_twice_as_many() -> None:
    pool, belief, units, y = case()
    state, stages = belief.start(pool, units), []
    for n in range(40):
        state = belief.step(state, seen(y, n))
        assert isinstance(state, RelevanceState)
        stages.append((state.stage, state.judged))
    assert [at for at, (a, b) in enumerate(pairwise(stages), 1) if a != b] == [8, 16, 32]
    assert stages[7] == (0, 0)
    assert stages[8] == (1, 8)
    rows = pool.rows(slice(None))
    first, now = belief.log_likelihood(rows, y).sum(), belief.as_of(state).log_likelihood(rows, y).sum()
    assert now > first + 20


def test_a_curve_that_hardly_moves_is_not_taken_up_and_one_that_does_not_follow_stays() -> None:
    pool, belief, units, y = case()
    fitted = belief
    for _ in range(3):
        fitted = fitted.as_of(fitted.step(fitted.start(pool, units), seen(y, 60)))
    state = fitted.step(fitted.start(pool, units), seen(y, 60))
    assert isinstance(state, RelevanceState)
    assert (state.stage, state.judged) == (0, 60)
    for still in (RelevanceBelief(), RelevanceBelief(even=True, refit=True)):
        bound = still.bind(pool, ("a",))
        start = bound.start(pool, units)
        assert not bound.renews
        assert bound.step(start, seen(y, 60)) is start


def test_the_same_labels_give_the_same_states_whatever_the_order_of_rows() -> None:
    found = []
    for shuffled in (False, True):
        pool, belief, units, y = case(shuffled=shuffled)
        state = belief.start(pool, units)
        for n in (3, 9, 20, 50):
            state = belief.step(state, seen(y, n))
        found.append((state.cuts, state.slopes, state.stage))
    assert found[0] == found[1]


def test_judgements_that_come_with_the_pool_count_once() -> None:
    pool, belief, _, y = case()
    frame = pd.DataFrame(
        [(q, d, float(d), g) for q in range(60) for d, g in enumerate(pool.labels.vectors(y)[q])],
        columns=["q", "d", "score", "rel"],
    )
    known = frame.assign(rel=frame["rel"].where(frame["q"] < 3))
    some = sd.Pool.from_rankings(
        known, query="q", document="d", score="score", relevance="rel", grades=GRADES
    )
    labels = some.labels.encode(pool.labels.vectors(y).tolist())
    belief = RelevanceBelief(refit=True).bind(some, ())
    x, grade = belief._judged(seen(labels, 10))
    assert len(x) == len(grade) == 60
    np.testing.assert_array_equal(grade, pool.labels.vectors(y)[:10].ravel())
