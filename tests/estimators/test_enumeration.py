"""Exact proofs: every sample of a small pool listed with its probability."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, pairwise, product
from typing import Any

import numpy as np
import pytest
from tests.estimators.enumeration import (
    case_of,
    moments,
    ordered_sequences,
    outer,
    pool_losses,
    sample_of,
    subsets,
    tiny_pool,
)

from sondage.beliefs import CountBelief, Seen
from sondage.estimators import (
    Case,
    Counts,
    PoissonEstimator,
    RoundInfo,
    SequentialEstimator,
    Weighted,
)
from sondage.estimators.by_chance import predictions
from sondage.estimators.paired import PairedEstimator
from sondage.estimators.sequential import LureEstimator, increments
from sondage.estimators.staged import Staged, StagedDifference
from sondage.measures import Where, resolve
from sondage.pool.pool import Pool
from sondage.pool.units import CellUnits
from sondage.sampling import Table, kind_of

MEASURES = ["f1", "accuracy", "brier_score_loss"]
EXACT = {"rtol": 1e-10, "atol": 1e-14}


# ---- with replacement ----------------------------------------------------------------------------


def sequences_with_replacement(measure: str, draws: int) -> list[tuple[float, Case]]:
    pool, y = tiny_pool(6)
    chance = np.array([0.05, 0.3, 0.1, 0.25, 0.2, 0.1])
    memo: dict[object, object] = {}
    cases = []
    for rows in product(range(6), repeat=draws):
        p = chance[list(rows)]
        new = [row not in rows[:k] for k, row in enumerate(rows)]
        sample = sample_of(rows, y, rows, kind="wr", p=p, new=np.array(new))
        cases.append((float(p.prod()), case_of(pool, measure, sample, memo=memo)))
    return cases


@pytest.mark.parametrize("measure", MEASURES)
def test_with_replacement_mean_variance_and_estimated_variance_are_exact(measure: str) -> None:
    pool, y = tiny_pool(6)
    losses = pool_losses(pool, measure, y)
    chance = np.array([0.05, 0.3, 0.1, 0.25, 0.2, 0.1])
    truth = losses.mean(axis=0)
    variance = (outer(losses, 1 / chance) / 36 - np.outer(truth, truth)) / 3
    mean, cov, estimated = moments(Weighted(), sequences_with_replacement(measure, 3))
    np.testing.assert_allclose(mean, truth, **EXACT)
    np.testing.assert_allclose(cov, variance, **EXACT)
    np.testing.assert_allclose(estimated, variance, **EXACT)


def test_repeats_counted_by_times_are_repeats_drawn_one_by_one() -> None:
    pool, y = tiny_pool(6)
    rows, chance = [4, 1, 1, 4, 1], np.array([0.05, 0.3, 0.1, 0.25, 0.2, 0.1])
    one_by_one = sample_of(rows, y, rows, kind="wr", p=chance[rows])
    counted = sample_of(
        [4, 1], y, [4, 1], kind="wr", p=chance[[4, 1]], times=np.array([2, 3], dtype=np.int64)
    )
    a = Weighted().totals(case_of(pool, "f1", one_by_one))
    b = Weighted().totals(case_of(pool, "f1", counted))
    np.testing.assert_allclose(a.R, b.R, **EXACT)
    np.testing.assert_allclose(a.cov, b.cov, **EXACT)


# ---- Poisson -------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", MEASURES)
def test_poisson_mean_variance_and_estimated_variance_are_exact(measure: str) -> None:
    pool, y = tiny_pool(8)
    losses = pool_losses(pool, measure, y)
    # Two items are certain, so that no sample is too small for an estimate.
    pi = np.array([0.1, 1.0, 0.6, 0.9, 0.3, 1.0, 0.5, 0.25])
    memo: dict[object, object] = {}
    cases = []
    for mask in subsets(8):
        probability = float(np.where(mask, pi, 1 - pi).prod())
        if probability > 0:
            rows = np.flatnonzero(mask)
            sample = sample_of(rows, y, rows, kind="poisson", pi=pi[rows])
            cases.append((probability, case_of(pool, measure, sample, memo=memo)))
    mean, cov, estimated = moments(PoissonEstimator(known=False), cases)
    variance = outer(losses, 1 / pi - 1) / 64
    np.testing.assert_allclose(mean, losses.mean(axis=0), **EXACT)
    np.testing.assert_allclose(cov, variance, **EXACT)
    np.testing.assert_allclose(estimated, variance, **EXACT)


def test_poisson_in_two_nested_rounds_is_one_sample_with_the_last_chances() -> None:
    pool, y = tiny_pool(6)
    losses = pool_losses(pool, "f1", y)
    size, first, last = np.array([0.2, 9.0, 1.0, 0.5, 1.5, 9.0]), 0.25, 0.6
    pi_1, pi_2 = np.minimum(1, first * size), np.minimum(1, last * size)
    rounds = (RoundInfo(kind_of("poisson"), first, 3.0), RoundInfo(kind_of("poisson"), last, 5.0))
    memo: dict[object, object] = {}
    cases = []
    for when in product((0, 1, 2), repeat=6):  # drawn in the first round, the second, never
        arrival = np.array(when)
        probability = float(np.choose(arrival, [pi_1, pi_2 - pi_1, 1 - pi_2]).prod())
        if probability <= 1e-15:
            continue
        rows = np.flatnonzero(arrival < 2)
        rows = rows[np.argsort(arrival[rows], kind="stable")]
        pi = np.where(arrival == 0, pi_1, pi_2)[rows]
        sample = sample_of(rows, y, rows, kind="poisson", pi=pi, round=arrival[rows], rounds=rounds)
        cases.append((probability, case_of(pool, "f1", sample, memo=memo)))
    mean, cov, estimated = moments(PoissonEstimator(known=False), cases)
    variance = outer(losses, 1 / pi_2 - 1) / 36
    np.testing.assert_allclose(mean, losses.mean(axis=0), **EXACT)
    np.testing.assert_allclose(cov, variance, **EXACT)
    np.testing.assert_allclose(estimated, variance, **EXACT)


@pytest.mark.parametrize("n", [2, 3])
def test_fixed_size_priority_sample_is_unbiased_and_so_is_its_variance(n: int) -> None:
    """Exact expectation by integration over the arrival of the first item left out.

    Given that item k arrives at t, the others are in the sample independently with chance
    ``min(1, t size)``; the integrand is a polynomial between the times when items become certain.
    """
    pool, y = tiny_pool(5)
    losses = pool_losses(pool, "f1", y)
    size = np.array([0.4, 2.0, 1.0, 0.7, 1.6])
    nodes, weights = np.polynomial.legendre.leggauss(8)
    memo: dict[object, object] = {}
    cases = []
    for k in range(5):
        others = [i for i in range(5) if i != k]
        cuts = np.unique([0.0, *(t for t in 1 / size if t <= 1 / size[k])])
        for low, high in pairwise(cuts):
            for node, weight in zip(nodes, weights, strict=True):
                t = 0.5 * (low + high) + 0.5 * (high - low) * node
                pi = np.minimum(1.0, t * size)
                density = 0.5 * (high - low) * weight * size[k]
                for rows in combinations(others, n):
                    inside = np.isin(np.arange(5), rows)
                    chance = np.where(inside, pi, 1 - pi)[others].prod()
                    if density * chance > 0:
                        sample = sample_of(
                            rows,
                            y,
                            rows,
                            kind="fixed",
                            pi=pi[list(rows)],
                            rounds=(RoundInfo(kind_of("fixed"), t, float(n)),),
                        )
                        case = case_of(pool, "f1", sample, memo=memo)
                        cases.append((float(density * chance), case))
    mean, cov, estimated = moments(PoissonEstimator(known=False), cases)
    np.testing.assert_allclose(mean, losses.mean(axis=0), **EXACT)
    np.testing.assert_allclose(estimated, cov, rtol=1e-9, atol=1e-12)


# ---- strata --------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 3, 5])
def test_simple_random_sample_mean_variance_and_estimated_variance_are_exact(n: int) -> None:
    pool, y = tiny_pool(8)
    losses = pool_losses(pool, "brier_score_loss", y)
    units = CellUnits(pool, np.zeros(8, dtype=np.int64), seed=0)
    memo: dict[object, object] = {}
    every = list(combinations(range(8), n))
    cases = [
        (
            1 / len(every),
            case_of(
                pool,
                "brier_score_loss",
                sample_of(rows, y, [0] * n, kind="strata", left=8 - np.arange(n)),
                units,
                memo=memo,
            ),
        )
        for rows in every
    ]
    mean, cov, estimated = moments(Counts(guard=False), cases)
    variance = (1 - n / 8) * np.cov(losses.T) / n
    np.testing.assert_allclose(mean, losses.mean(axis=0), **EXACT)
    np.testing.assert_allclose(cov, variance, **EXACT)
    np.testing.assert_allclose(estimated, variance, **EXACT)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("quota", [(2, 2), (3, 2), (2, 4), (4, 3)])
def test_stratified_mean_variance_and_estimated_variance_are_exact(
    measure: str, quota: tuple[int, int]
) -> None:
    pool, y = tiny_pool(8)
    losses = pool_losses(pool, measure, y)
    strata = (np.arange(8) >= 4).astype(np.int64)
    units = CellUnits(pool, strata, resolve(measure).bind(pool).signature(pool), seed=0)
    assert units.size.tolist() == [4, 4]
    memo: dict[object, object] = {}
    per_unit = [list(combinations(units.members(u), quota[u])) for u in (0, 1)]
    every = [(*a, *b) for a, b in product(*per_unit)]
    cases = []
    for rows in every:
        at = np.array(rows)
        sample = sample_of(at, y, units.of(at), kind="strata")
        cases.append((1 / len(every), case_of(pool, measure, sample, units, memo=memo)))
    mean, cov, estimated = moments(Counts(guard=False), cases)
    variance = sum(
        (4 / 8) ** 2 * (1 - n / 4) * np.cov(losses[units.members(u)].T) / n for u, n in enumerate(quota)
    )
    np.testing.assert_allclose(mean, losses.mean(axis=0), **EXACT)
    np.testing.assert_allclose(cov, variance, **EXACT)
    np.testing.assert_allclose(estimated, variance, **EXACT)


def test_the_guard_only_ever_adds_variance_and_never_moves_the_mean() -> None:
    pool, y = tiny_pool(8)
    units = CellUnits(
        pool,
        np.zeros(8, dtype=np.int64),
        resolve("f1").bind(pool).signature(pool),
        seed=0,
    )
    per_unit = [combinations(units.members(u), 2) for u in (0, 1)]
    wider = 0
    for a, b in product(*per_unit):
        rows = np.array([*a, *b])
        case = case_of(pool, "f1", sample_of(rows, y, units.of(rows), kind="strata"), units)
        plain, guarded = Counts(guard=False).totals(case), Counts().totals(case)
        np.testing.assert_array_equal(plain.R, guarded.R)
        added = guarded.cov - plain.cov
        assert np.linalg.eigvalsh(added).min() >= -1e-15
        silent = len(set(y[list(a)])) == 1 or len(set(y[list(b)])) == 1
        assert (np.trace(added) > 1e-6) == silent
        wider += silent
    assert wider


def test_post_strata_of_a_simple_random_sample_are_unbiased_given_their_counts() -> None:
    pool, y = tiny_pool(8)
    losses = pool_losses(pool, "f1", y)
    units = CellUnits(pool, np.zeros(8, dtype=np.int64), seed=0)
    positive = pool.system().prediction
    assert positive is not None
    memo: dict[object, object] = {}
    found: dict[int, list[np.ndarray]] = {}
    cov: dict[int, list[np.ndarray]] = {}
    for rows in combinations(range(8), 5):
        k = int(positive[list(rows)].sum())
        case = case_of(pool, "f1", sample_of(rows, y, [0] * 5, kind="strata"), units, memo=memo)
        totals = Counts(guard=False).totals(case)
        if 2 <= k <= 3:
            found.setdefault(k, []).append(totals.R)
            cov.setdefault(k, []).append(totals.cov)
            # What needs no label is exact in every single sample.
            assert totals.R[0] == pytest.approx(1.0, abs=1e-15)
            assert totals.R[3] == pytest.approx(positive.mean(), abs=1e-15)
    assert sorted(found) == [2, 3]
    for k in found:
        np.testing.assert_allclose(np.mean(found[k], axis=0), losses.mean(axis=0), **EXACT)
        true = np.cov(np.array(found[k]).T, bias=True)
        np.testing.assert_allclose(np.mean(cov[k], axis=0), true, **EXACT)


def test_cells_that_need_no_label_are_exact_without_one() -> None:
    pool, y = tiny_pool(8)
    losses = pool_losses(pool, "precision", y)
    signature = resolve("precision").bind(pool).signature(pool)
    units = CellUnits(pool, np.zeros(8, dtype=np.int64), signature, seed=0)
    every = list(combinations(range(4, 8), 2))  # predicted positives only
    memo: dict[object, object] = {}
    cases = [
        (
            1 / len(every),
            case_of(
                pool,
                "precision",
                sample_of(rows, y, units.of(np.array(rows)), kind="strata"),
                units,
                memo=memo,
            ),
        )
        for rows in every
    ]
    mean, cov, estimated = moments(Counts(guard=False), cases)
    np.testing.assert_allclose(mean, losses.mean(axis=0), **EXACT)
    np.testing.assert_allclose(cov, estimated, **EXACT)


# ---- sequential, without replacement -------------------------------------------------------------


def sequential_cases(measure: str, n: int, length: int) -> list[tuple[float, Case]]:
    """All sequences by chances that follow the labels seen, one draw to a round.

    Both the chances and the belief adapt after every draw, which is where bias would come from.
    """
    pool, y = tiny_pool(n)
    bound = resolve(measure).bind(pool)
    units = CellUnits(pool, (np.arange(n) % 2).astype(np.int64), bound.signature(pool), seed=0)
    unit = units.of(np.arange(n))
    belief = CountBelief().bind(pool, bound.systems(pool))
    start = belief.start(pool, units)

    def state(past: tuple[int, ...]):  # type: ignore[no-untyped-def]
        at = np.array(past, dtype=np.int64)
        return belief.step(start, Seen(unit[at], at, y[at])) if past else start

    def chances(past: tuple[int, ...]) -> np.ndarray:
        nodes = state(past).nodes
        assert nodes is not None
        mass = 0.1 + np.sqrt(nodes.weights.prod(axis=1))[unit]
        mass[list(past)] = 0.0
        return mass / mass.sum()

    memo: dict[object, object] = {}
    cases = []
    for probability, rows, p in ordered_sequences(n, length, chances):
        at = np.array(rows)
        left = [int(units.size[unit[row]] - (unit[at[:k]] == unit[row]).sum()) for k, row in enumerate(rows)]
        sample = sample_of(
            rows,
            y,
            unit[at],
            kind="wor",
            p=np.array(p),
            left=np.array(left),
            round=np.arange(length),
            rounds=tuple(RoundInfo(kind_of("wor"), np.nan, k + 1.0) for k in range(length)),
        )
        states = [state(rows[:k]) for k in range(length)]
        cases.append((probability, case_of(pool, measure, sample, units, states, CountBelief(), memo)))
    return cases


@pytest.mark.parametrize("measure", ["f1", "accuracy", "brier_score_loss"])
@pytest.mark.parametrize("weighting", ["lure", "root"])
@pytest.mark.parametrize("control", [True, False])
def test_sequential_is_unbiased_however_the_chances_adapt(
    measure: str, weighting: str, control: bool
) -> None:
    pool, y = tiny_pool(6)
    estimator = SequentialEstimator(weighting=weighting, control=control)  # type: ignore[arg-type]
    mean, _, _ = moments(estimator, sequential_cases(measure, 6, 3))
    np.testing.assert_allclose(mean, pool_losses(pool, measure, y).mean(axis=0), **EXACT)


@pytest.mark.parametrize("control", [True, False])
def test_sequential_increments_are_uncorrelated_and_their_variances_add_up(control: bool) -> None:
    pool, y = tiny_pool(6)
    truth = pool_losses(pool, "f1", y).sum(axis=0)
    estimator = SequentialEstimator(control=control)
    cases = sequential_cases("f1", 6, 3)
    probability = np.array([chance for chance, _ in cases])
    Z = np.array(
        [
            increments(
                case.sample,
                case.losses(case.sample),
                predictions(case) * control,
                case.units.size,
            )
            for _, case in cases
        ]
    )
    mean = np.einsum("k,ktd->td", probability, Z)
    np.testing.assert_allclose(mean, np.tile(truth, (3, 1)), rtol=1e-10, atol=1e-12)
    cov = np.einsum("k,ksd,kte->stde", probability, Z - mean, Z - mean)
    for s, t in combinations(range(3), 2):
        np.testing.assert_allclose(cov[s, t], 0.0, rtol=0, atol=1e-11)
    # LURE's share of the t-th increment: c_t = N (N - M) / (M (N - t) (N - t + 1)).
    share = np.array([6 * 3 / (3 * (6 - t) * (7 - t)) for t in (1, 2, 3)])
    assert share.sum() == pytest.approx(1.0)
    expected = sum(share[t] ** 2 * cov[t, t] for t in range(3)) / 36
    _, variance, _ = moments(estimator, cases)
    np.testing.assert_allclose(variance, expected, rtol=1e-9, atol=1e-13)


def test_sequential_without_control_is_the_published_lure() -> None:
    """``v_m = 1 + (N - M) / (N - m) (1 / ((N - m + 1) q_m) - 1)`` (Farquhar et al. 2021, eq. 7)."""
    for M in (2, 3, 4):
        for _, case in sequential_cases("f1", 5, M)[:40]:
            N, m = 5, np.arange(1, M + 1)
            q = case.sample.p
            v = 1 + (N - M) / (N - m) * (1 / ((N - m + 1) * q) - 1)
            loss = case.losses(case.sample)
            for estimator in (SequentialEstimator(control=False), LureEstimator()):
                np.testing.assert_allclose(estimator.totals(case).R, v @ loss / M, **EXACT)
                np.testing.assert_allclose(estimator.weights(case), N * v / M, **EXACT)


@pytest.mark.parametrize("control", [True, False])
def test_sequential_with_every_item_drawn_is_exact_in_every_order(control: bool) -> None:
    pool, y = tiny_pool(5)
    truth = pool_losses(pool, "f1", y).mean(axis=0)
    for _, case in sequential_cases("f1", 5, 5):
        totals = SequentialEstimator(control=control).totals(case)
        np.testing.assert_allclose(totals.R, truth, **EXACT)
        assert totals.exact
        np.testing.assert_allclose(totals.cov, 0.0, atol=1e-24)


def test_sequential_with_equal_chances_is_the_plain_mean() -> None:
    pool, y = tiny_pool(6)
    losses = pool_losses(pool, "accuracy", y)
    units = CellUnits(pool, np.zeros(6, dtype=np.int64), seed=0)
    for rows in combinations(range(6), 4):
        p = 1 / (6 - np.arange(4.0))
        sample = sample_of(rows, y, [0] * 4, kind="wor", p=p, left=6 - np.arange(4))
        totals = SequentialEstimator(control=False).totals(case_of(pool, "accuracy", sample, units))
        np.testing.assert_allclose(totals.R, losses[list(rows)].mean(axis=0), **EXACT)


def test_control_variate_makes_totals_that_need_no_label_exact() -> None:
    pool, _ = tiny_pool(6)
    positive = pool.system().prediction
    assert positive is not None
    for _, case in sequential_cases("f1", 6, 3):
        totals = SequentialEstimator().totals(case)
        assert totals.R[0] == pytest.approx(1.0, abs=1e-12)
        assert totals.R[3] == pytest.approx(positive.mean(), abs=1e-12)


@pytest.mark.parametrize("predicted", [[2, 10], [1, 11], [2, 6, 2], [2, 6, 2, 3]], ids=str)
def test_a_plain_mean_is_unbiased_although_a_predicted_class_may_have_no_label(predicted: list[int]) -> None:
    said = np.repeat(np.arange(len(predicted)), predicted)
    y = np.where(np.arange(len(said)) % 4 == 1, 0.0, said)
    y[0] = 1.0
    pool = Pool.from_arrays(prediction=said, labels=list(range(len(predicted))))
    units = CellUnits(pool, np.zeros(len(said), dtype=np.int64), seed=0)
    memo: dict[object, object] = {}
    n, found = 2 * len(predicted), []
    for rows in combinations(range(len(said)), n):
        sample = sample_of(rows, y, [0] * n, kind="strata")
        found.append(Counts().totals(case_of(pool, "accuracy", sample, units, memo=memo)).R)
    np.testing.assert_allclose(np.mean(found, axis=0), [1.0, (said == y).mean()], **EXACT)


def test_a_group_with_one_label_is_unbiased_whatever_is_outside() -> None:
    """Of all samples with one label in a group of four: items outside do not tell how good it is inside."""
    said, y = np.array([0, 0, 0, 1, 0, 1, 1, 0, 1, 0]), np.array([0, 0, 1, 1, 1, 0, 1, 0, 0, 1], dtype=float)
    pool = Pool.from_arrays(prediction=said, groups={"g": np.where(np.arange(10) < 4, "in", "out")})
    units = CellUnits(pool, np.zeros(10, dtype=np.int64), seed=0)
    measure = Where("accuracy", {"g": "in"}).bind(pool)
    memo: dict[object, object] = {}
    values = []
    for row, *others in product(range(4), *[range(4, 10)] * 3):
        if others == sorted(set(others)):
            sample = sample_of([row, *others], y, [0] * 4, kind="strata")
            totals = Counts().totals(case_of(pool, measure, sample, units, memo=memo))
            values.append(float(measure.g(totals.R)[0]))
            assert values[-1] == pytest.approx(float(said[row] == y[row]), abs=1e-12)
    assert np.mean(values) == pytest.approx((said == y)[:4].mean(), abs=1e-12)


# ---- items that are never drawn ------------------------------------------------------------------

SERVES = {
    "weighted": ("wr", Weighted()),
    "poisson": ("poisson", PoissonEstimator(known=False)),
    "lure": ("wor", LureEstimator()),
    "sequential": ("wor", SequentialEstimator()),
    "paired": ("wor", PairedEstimator()),
    "staged": ("online", Staged()),
    "staged-difference": ("online", StagedDifference()),
}


@pytest.mark.parametrize("name", SERVES)
def test_items_without_a_chance_count_with_what_is_known_of_them(name: str) -> None:
    """Precision needs no label of the predicted negatives: whoever draws none of them loses nothing."""
    pool, y = tiny_pool(8)
    losses = pool_losses(pool, "precision", y)
    kind, estimator = SERVES[name]
    chance = np.where(np.arange(8) < 4, 0.0, np.array([0, 0, 0, 0, 0.3, 0.2, 0.4, 0.1]))
    table = Table(kind_of(kind), chance=chance)
    outcomes: list[tuple[float, tuple[int, ...], dict[str, Any]]] = []
    if kind == "wr":
        for rows in product(range(4, 8), repeat=2):
            p = chance[list(rows)]
            outcomes.append((float(p.prod()), rows, {"p": p, "new": np.array([True, rows[0] != rows[1]])}))
    elif kind == "wor":

        def left(past: tuple[int, ...]) -> np.ndarray:
            mass = chance.copy()
            mass[list(past)] = 0.0
            return mass / mass.sum()

        for probability, rows, q in ordered_sequences(8, 2, left):
            outcomes.append((probability, rows, {"p": np.array(q), "left": np.ones(2, dtype=np.int64)}))
    else:
        pi = np.where(chance > 0, [0, 0, 0, 0, 1.0, 1.0, 0.4, 0.7], 0.0)
        for mask in subsets(8):
            probability = float(np.where(mask, pi, 1 - pi).prod())
            rows = tuple(np.flatnonzero(mask).tolist())
            if probability > 0:
                outcomes.append((probability, rows, {"pi": pi[list(rows)]}))
    memo: dict[object, object] = {}
    cases = []
    for probability, rows, columns in outcomes:
        case = case_of(pool, "precision", sample_of(rows, y, rows, kind=kind, **columns), memo=memo)
        cases.append((probability, replace(case, tables=lambda number: table)))
    mean, _, _ = moments(estimator, cases)
    np.testing.assert_allclose(mean, losses.mean(axis=0), **EXACT)


@pytest.mark.parametrize("name", [name for name, (kind, _) in SERVES.items() if kind != "wr"])
def test_items_without_a_chance_count_in_the_spread_over_the_pool(name: str) -> None:
    """What a random sample would need is reckoned with all items, and not with those drawn alone."""
    pool, y = tiny_pool(8)
    kind, estimator = SERVES[name]
    rows, table = [4, 5, 6, 7], Table(kind_of(kind), chance=np.array([0, 0, 0, 0, 1, 1, 1, 1]) / 4)
    sample = sample_of(rows, y, rows, kind=kind, p=1 / np.arange(4.0, 0.0, -1.0), pi=np.ones(4))
    case = replace(case_of(pool, "precision", sample), tables=lambda number: table)
    losses = pool_losses(pool, "precision", y)
    np.testing.assert_allclose(estimator.totals(case).pool_cov, np.cov(losses.T, bias=True), atol=1e-12)
