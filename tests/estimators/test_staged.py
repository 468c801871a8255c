"""Rounds that learn from each other: exact by enumeration, and the published gains by simulation."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.estimators.enumeration import Outcome, case_of, moments, pool_losses, sample_of, tiny_pool

from sondage.beliefs import CountBelief, Seen
from sondage.errors import InvalidInput
from sondage.estimators import Case, RoundInfo, Sample
from sondage.estimators.staged import Staged, StagedDifference, _weights
from sondage.measures import resolve
from sondage.pool.units import CellUnits
from sondage.sampling import kind_of

FIRST = np.array([1.0, 0.3, 0.45, 1.0, 0.2])
"""Chances of the first round; two items are sure to be labelled, so that there is always an estimate."""


def second(labelled: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Chances of the second round, which depend on the labels of the first and on who is left."""
    rate = 0.25 + 0.5 * y[labelled].mean()
    chance = np.clip(rate * (1 + np.arange(5)) / 3, 0.05, 0.95)
    return np.where(labelled, 0.0, chance)


def two_rounds(y: np.ndarray, asked: tuple[float, float] = (2.0, 5.0)) -> list[Outcome]:
    """Every pair of samples, with its probability; the second may be empty."""
    rounds = tuple(RoundInfo(kind_of("online"), np.nan, so_far) for so_far in np.cumsum(asked))
    found: list[Outcome] = []
    for early in product((False, True), repeat=5):
        one = np.array(early)
        chance_one = float(np.where(one, FIRST, 1 - FIRST).prod())
        if not chance_one:
            continue
        later = second(one, y)
        for late in product((False, True), repeat=5):
            two = np.array(late)
            chance = chance_one * float(np.where(two, later, 1 - later).prod())
            if not chance:
                continue
            rows = [*np.flatnonzero(one), *np.flatnonzero(two)]
            number = np.repeat([0, 1], [one.sum(), two.sum()])
            pi = np.concatenate([FIRST[one], later[two]])
            found.append(
                (chance, sample_of(rows, y, rows, kind="online", round=number, pi=pi, rounds=rounds))
            )
    return found


@pytest.mark.parametrize("weighting", ["asked", "root", "even"])
@pytest.mark.parametrize("measure", ["f1", "accuracy", "brier_score_loss"])
def test_mean_variance_and_estimated_variance_are_exact(measure: str, weighting: Any) -> None:
    """Although the second round follows from the labels of the first: errors of rounds are uncorrelated."""
    pool, y = tiny_pool(5)
    memo: dict[Any, Any] = {}
    cases = [(chance, case_of(pool, measure, one, memo=memo)) for chance, one in two_rounds(y)]
    mean, cov, estimated = moments(Staged(weighting), cases)
    np.testing.assert_allclose(mean, pool_losses(pool, measure, y).mean(axis=0), rtol=1e-10)
    np.testing.assert_allclose(estimated, cov, rtol=1e-9, atol=1e-14)


def test_the_variance_is_that_of_the_rounds_by_their_squared_weights() -> None:
    """``sum w_r^2 sum (1 - b) / b f^2`` of the items not labelled before, by hand from the chances."""
    pool, y = tiny_pool(5)
    losses = pool_losses(pool, "f1", y)
    weight = np.array([2.0, 3.0]) / 5
    expected = np.zeros((losses.shape[1],) * 2)
    for early in product((False, True), repeat=5):
        one = np.array(early)
        chance = float(np.where(one, FIRST, 1 - FIRST).prod())
        later = second(one, y) if chance else np.ones(5)
        left = losses[~one]
        expected += chance * weight[1] ** 2 * (left * (1 / later[~one] - 1)[:, None]).T @ left
    expected += weight[0] ** 2 * (losses * (1 / FIRST - 1)[:, None]).T @ losses
    asked = (2.0, 3.0)
    cases = [(chance, case_of(pool, "f1", one)) for chance, one in two_rounds(y, asked)]
    _, cov, _ = moments(Staged(), cases)
    np.testing.assert_allclose(cov, expected / 25, rtol=1e-10)


def test_an_empty_round_keeps_its_weight() -> None:
    """It says that nothing more was found. To leave it out would favour the rounds that found something."""
    pool, y = tiny_pool(5)
    rounds = (RoundInfo(kind_of("online"), np.nan, 2.0), RoundInfo(kind_of("online"), np.nan, 5.0))
    one = sample_of([0, 3], y, [0, 3], kind="online", pi=np.array([0.5, 0.25]), rounds=rounds)
    weights = Staged().weights(case_of(pool, "f1", one))
    np.testing.assert_allclose(weights, 0.4 / np.array([0.5, 0.25]) + 0.6)


@given(
    pi=st.lists(st.floats(0.05, 1), min_size=3, max_size=8),
    later=st.integers(1, 6),
    asked=st.tuples(st.floats(0.5, 20), st.floats(0.5, 20)),
)
@settings(max_examples=60, deadline=None)
def test_known_labels_count_once_in_later_rounds(
    pi: list[float], later: int, asked: tuple[float, float]
) -> None:
    """Weights lie between one and the inverse chance, and are one where the chance was one."""
    pool, y = tiny_pool(8)
    T = len(pi)
    number = np.where(np.arange(T) < min(later, T), 0, 1)
    rounds = tuple(RoundInfo(kind_of("online"), np.nan, so_far) for so_far in np.cumsum(asked))
    rows = list(range(T))
    one = sample_of(rows, y, rows, kind="online", round=number, pi=np.array(pi), rounds=rounds)
    weights = Staged().weights(case_of(pool, "f1", one))
    share = asked[1] / sum(asked)
    mine = np.where(number == 0, 1 - share, share)
    np.testing.assert_allclose(weights, mine / np.array(pi) + np.where(number == 0, share, 0), rtol=1e-9)


def test_successive_differences_by_hand() -> None:
    """``n / (2 (n - 1)) sum (z_i - z_j)^2`` over neighbours, z the inverse-chance contributions."""
    pool, y = tiny_pool(8)
    rows, pi = [1, 3, 4, 7], np.array([0.5, 0.25, 0.6, 0.4])
    rounds = (RoundInfo(kind_of("systematic"), np.nan, 4.0),)
    one = sample_of(rows, y, rows, kind="systematic", pi=pi, rounds=rounds)
    totals = Staged().totals(case_of(pool, "accuracy", one))
    z = pool_losses(pool, "accuracy", y)[rows] * (np.sqrt(1 - pi) / pi)[:, None] / 8
    by_hand = 4 / 6 * np.diff(z, axis=0).T @ np.diff(z, axis=0)
    np.testing.assert_allclose(totals.cov, by_hand, rtol=1e-12)


# ---- with predictions ----------------------------------------------------------------------------


def predicting_cases(measure: str) -> tuple[list[tuple[float, Case]], CellUnits]:
    """The two rounds in cells, with a belief that learns from the labels of the first."""
    pool, y = tiny_pool(5)
    bound = resolve(measure).bind(pool)
    units = CellUnits(pool, (np.arange(5) % 2).astype(np.int64), bound.signature(pool), seed=0)
    belief = CountBelief().bind(pool, bound.systems(pool))
    start = belief.start(pool, units)
    memo: dict[Any, Any] = {}
    cases = []
    for chance, sample in two_rounds(y):
        unit = units.of(sample.row)
        early = sample.round == 0
        later = belief.step(start, Seen(unit[early], sample.row[early], y[sample.row[early]]))
        mine = replace(sample, unit=unit)
        cases.append((chance, case_of(pool, measure, mine, units, [start, later], CountBelief(), memo)))
    return cases, units


@pytest.mark.parametrize("weighting", ["asked", "root", "even"])
@pytest.mark.parametrize("measure", ["f1", "accuracy", "brier_score_loss"])
def test_differences_from_predictions_that_learn_are_exact_too(measure: str, weighting: Any) -> None:
    pool, y = tiny_pool(5)
    cases, _ = predicting_cases(measure)
    mean, cov, estimated = moments(StagedDifference(weighting), cases)
    np.testing.assert_allclose(mean, pool_losses(pool, measure, y).mean(axis=0), rtol=1e-10)
    np.testing.assert_allclose(estimated, cov, rtol=1e-9, atol=1e-14)


def test_the_difference_by_hand() -> None:
    """``sum of labelled + sum of m over the rest + sum (l - m) / pi``, round by round."""
    cases, units = predicting_cases("f1")
    pool, _ = tiny_pool(5)
    bound = resolve("f1").bind(pool)
    rows = units.representatives()[0]
    loss = bound.loss(pool.rows(rows), np.array([0.0, 1.0]))
    for _, case in cases[:: len(cases) // 20]:
        sample, own = case.sample, case.losses(case.sample)
        total = np.zeros(bound.d)
        for number, weight in ((0, 2 / 7), (1, 5 / 7)):
            nodes = case.states[number].nodes
            assert nodes is not None
            m = np.einsum("us,usd->ud", nodes.weights, loss)
            before, now = sample.round < number, sample.round == number
            left = units.size - np.bincount(sample.unit[before], minlength=units.count)
            inverse = ((own - m[sample.unit]) / sample.pi[:, None])[now].sum(axis=0)
            total += weight * (own[before].sum(axis=0) + left @ m + inverse)
        np.testing.assert_allclose(StagedDifference().totals(case).R, total / 5, rtol=1e-10, atol=1e-13)


def test_totals_that_need_no_label_are_exact_with_predictions() -> None:
    pool, _ = tiny_pool(5)
    for _, case in predicting_cases("f1")[0][::50]:
        totals = StagedDifference().totals(case)
        assert totals.R[0] == pytest.approx(1.0, abs=1e-12)
        assert totals.cov[0, 0] == pytest.approx(0.0, abs=1e-20)
        assert totals.R[3] == pytest.approx(pool.system().prediction.mean(), abs=1e-12)  # type: ignore[union-attr]


def test_weighting_is_checked() -> None:
    with pytest.raises(InvalidInput, match="weighting="):
        Staged(weighting="best")  # type: ignore[arg-type]


# ---- the published gains -------------------------------------------------------------------------


N, LABELS, REPEATS = 3000, 400, 4000


def population() -> tuple[np.ndarray, np.ndarray]:
    """Chances of a one whose roots are spread evenly about .49, and ones by them: 781 of 3,000."""
    p = np.square(0.4907 + 0.1397 * np.sqrt(3) * np.linspace(-1, 1, N))
    return p, np.diff(np.floor(np.concatenate([[0.0], np.cumsum(p) + 0.5])))


def standard_deviations() -> dict[str, tuple[float, float]]:
    """Simulated and by formula: one flat round; flat, then by the chances; by the chances at once."""
    p, f = population()
    rng = np.random.default_rng(0)
    root = np.sqrt(p)
    flat = np.full(N, LABELS / N)
    good = LABELS * root / root.sum()
    found: dict[str, list[float]] = {"flat": [], "two rounds": [], "good": []}
    half = LABELS / 2
    for _ in range(REPEATS):
        for name, b in (("flat", flat), ("good", good)):
            found[name].append(float((f / b)[rng.random(N) < b].sum()))
        one = rng.random(N) < flat / 2
        b = half * root / root[~one].sum()
        two = (rng.random(N) < b) & ~one
        rows = np.concatenate([np.flatnonzero(one), np.flatnonzero(two)])
        number = np.repeat([0, 1], [one.sum(), two.sum()])
        pi = np.where(number == 0, half / N, b[rows])
        rounds = (RoundInfo(kind_of("online"), np.nan, half), RoundInfo(kind_of("online"), np.nan, 2 * half))
        sample: Sample = sample_of(rows, f, rows, kind="online", round=number, pi=pi, rounds=rounds)
        weights = _weights(sample, np.array([0.5, 0.5]))[0]
        found["two rounds"].append(float(weights @ f[rows]))
    first = float((f * (N / half - 1)).sum())
    left = 1 - half / N
    later = left * float((f * (left * root.sum() / (half * root) - 1)).sum())
    formula = {
        "flat": float((f * (1 / flat - 1)).sum()),
        "two rounds": (first + later) / 4,
        "good": float((f * (1 / good - 1)).sum()),
    }
    means = {
        name: abs(np.mean(one) - f.sum()) / (np.std(one) / np.sqrt(REPEATS)) for name, one in found.items()
    }
    assert max(means.values()) < 3.5, means
    return {name: (float(np.std(one)), float(np.sqrt(formula[name]))) for name, one in found.items()}


def test_two_rounds_gain_what_the_formula_says() -> None:
    """Published: 71.7 flat, 70.6 by two rounds of equal weight, 68.1 by the good chances at once."""
    found = standard_deviations()
    for name, (simulated, formula) in found.items():
        assert simulated == pytest.approx(formula, rel=4 / np.sqrt(2 * REPEATS)), name
    flat, two, good = (found[name][1] for name in ("flat", "two rounds", "good"))
    assert (flat, two, good) == (
        pytest.approx(71.7, abs=1.0),
        pytest.approx(70.6, abs=1.0),
        pytest.approx(68.1, abs=1.0),
    )
    assert good < two < flat
