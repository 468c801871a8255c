"""Options of the estimator for draws with replacement: weights of stages, variances, known totals."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.estimators.enumeration import Outcome, case_of, moments, pool_losses, sample_of, tiny_pool

import sondage as sd
from sondage.designs import AIS, Importance
from sondage.errors import InvalidInput, NotSupported
from sondage.estimators import RoundInfo, Weighted
from sondage.estimators.base import Case
from sondage.estimators.linear import linearise
from sondage.measures import pool_value
from sondage.sampling import kind_of

FIRST = np.array([0.1, 0.35, 0.15, 0.4])


def second(rows: tuple[int, ...], y: np.ndarray) -> np.ndarray:
    """Chances of the second stage, which depend on the labels of the first."""
    size = np.ones(4)
    for row in rows:
        size[row] += 1.5 + 2 * y[row]
    return size / size.sum()


def two_stages(y: np.ndarray, draws: tuple[int, int] = (2, 2)) -> list[Outcome]:
    """Every sequence of draws, with its probability."""
    rounds = (
        RoundInfo(kind_of("wr"), 1.0, float(draws[0])),
        RoundInfo(kind_of("wr"), 1.0, float(sum(draws))),
    )
    number = np.repeat([0, 1], draws)
    found: list[Outcome] = []
    for early in product(range(4), repeat=draws[0]):
        q = second(early, y)
        for late in product(range(4), repeat=draws[1]):
            p = np.concatenate([FIRST[list(early)], q[list(late)]])
            rows = [*early, *late]
            one = sample_of(rows, y, rows, kind="wr", p=p, round=number, rounds=rounds)
            found.append((float(p.prod()), one))
    return found


def stage_moments(measure: str, draws: int) -> tuple[np.ndarray, np.ndarray]:
    """Variance of the mean of each stage, by hand from the chances."""
    pool, y = tiny_pool(4)
    losses = pool_losses(pool, measure, y)
    truth = losses.mean(axis=0)

    def of(q: np.ndarray) -> np.ndarray:
        return ((losses / q[:, None]).T @ losses / 16 - np.outer(truth, truth)) / draws

    later = sum(FIRST[list(rows)].prod() * of(second(rows, y)) for rows in product(range(4), repeat=draws))
    return of(FIRST), np.asarray(later)


@pytest.mark.parametrize("measure", ["f1", "accuracy", "brier_score_loss"])
def test_root_stages_are_unbiased_with_the_variance_of_their_weights(measure: str) -> None:
    """Weights 1 and sqrt 2 over their sum, fixed in advance; the errors of stages are uncorrelated."""
    pool, y = tiny_pool(4)
    memo: dict[Any, Any] = {}
    cases = [(chance, case_of(pool, measure, one, memo=memo)) for chance, one in two_stages(y)]
    mean, cov, _ = moments(Weighted(stages="root"), cases)
    np.testing.assert_allclose(mean, pool_losses(pool, measure, y).mean(axis=0), rtol=1e-10)
    weight = np.array([1, np.sqrt(2)]) / (1 + np.sqrt(2))
    first, later = stage_moments(measure, 2)
    expected = weight[0] ** 2 * first + weight[1] ** 2 * later
    np.testing.assert_allclose(cov, expected, rtol=1e-9, atol=1e-14)


def test_all_draws_alike_are_unbiased_over_stages_too() -> None:
    pool, y = tiny_pool(4)
    cases = [(chance, case_of(pool, "f1", one)) for chance, one in two_stages(y)]
    mean, _, _ = moments(Weighted(), cases)
    np.testing.assert_allclose(mean, pool_losses(pool, "f1", y).mean(axis=0), rtol=1e-10)


@given(times=st.lists(st.integers(1, 5), min_size=4, max_size=4), seed=st.integers(0, 99))
@settings(max_examples=30, deadline=None)
def test_one_stage_is_the_same_either_way(times: list[int], seed: int) -> None:
    pool, y = tiny_pool(8)
    rows = np.random.default_rng(seed).choice(8, 4, replace=False).tolist()
    p = np.random.default_rng(seed).dirichlet(np.ones(8))[rows]
    one = sample_of(rows, y, rows, kind="wr", p=p, times=np.array(times))
    a, b = (Weighted(stages=how).totals(case_of(pool, "f1", one)) for how in ("draws", "root"))
    np.testing.assert_allclose(a.R, b.R, rtol=1e-12)
    np.testing.assert_allclose(a.cov, b.cov, rtol=1e-12)


# ---- the printed variance ------------------------------------------------------------------------


def test_the_printed_variance_by_hand() -> None:
    """``J [mean l l' / (q_last q_then N^2) - R R'] J' / T`` (Marchant and Rubinstein 2021, sec. 3.3)."""
    study, _ = running(AIS(strata=8, depth=3, mix=0.05), 60, 13)
    case, drawn = study.case(), study.sample
    found = Weighted(variance="latest").totals(case)
    table = case.tables(int(drawn.round.max()))
    assert table is not None
    assert table.chance is not None
    assert table.asked is not None
    before = drawn.row[drawn.new & (drawn.round < drawn.round.max())].tolist()
    latest = np.array(
        [
            table.asked[before.index(row)] if row in before else table.chance[unit]
            for row, unit in zip(drawn.row.tolist(), drawn.unit.tolist(), strict=True)
        ]
    )
    N, T = len(study.pool), int(drawn.times.sum())
    loss = case.losses(drawn)
    R = (drawn.times / drawn.p) @ loss / N / T
    second_moment = (loss * (drawn.times / (drawn.p * latest))[:, None]).T @ loss / N**2 / T
    slope = case.measure.jac(R)
    printed = slope @ (second_moment - np.outer(R, R)) @ slope.T / T
    np.testing.assert_allclose(found.R, R, rtol=1e-12)
    assert float(np.square(linearise(found, case.measure).parts).sum()) == pytest.approx(
        printed.item(), rel=1e-6
    )


def test_the_printed_variance_needs_the_chances() -> None:
    pool, y = tiny_pool(8)
    one = sample_of([1, 3, 5], y, [1, 3, 5], kind="wr", p=np.array([0.2, 0.3, 0.1]))
    with pytest.raises(NotSupported, match="chances of the last round"):
        Weighted(variance="latest").totals(case_of(pool, "f1", one))


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"stages": "best"}, "stages="),
        ({"variance": "least"}, "variance="),
        ({"known": True, "variance": "latest"}, "known=True"),
    ],
)
def test_bad_options(options: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidInput, match=named):
        Weighted(**options)


# ---- known totals --------------------------------------------------------------------------------


def running(design: Any, labels: int, batch: int, seed: int = 1) -> tuple[sd.Study, np.ndarray]:
    """A study on 1,500 items, a fifth of them positive, with some labels."""
    rng = np.random.default_rng(4)
    truth = (rng.random(1500) < 0.2).astype(int)
    score = np.where(truth == 1, 0.9, -0.9) + rng.normal(0, 1, 1500)
    pool = sd.Pool.from_arrays(score=score, threshold=0.0)
    study = sd.create_study(pool, "f1", design=design, rng=seed)
    while study.n_labels < labels:
        study.tell({item.id: int(truth[item.id]) for item in study.ask(batch)})
    return study, truth


def test_what_the_pool_knows_comes_out_exactly() -> None:
    """Sizes of signatures, and with them the weight and the number predicted positive, have no error left."""
    study, _ = running(Importance(mix=0.2), 150, 50)
    case = study.case()
    plain, known = Weighted().totals(case), Weighted(known=True).totals(case)
    predicted = np.asarray(study.pool.system().prediction, dtype=float).mean()
    slope = np.zeros(case.measure.d)
    slope[0] = 1.0
    assert plain.R[0] != pytest.approx(1.0, abs=1e-6)
    assert known.R[0] == pytest.approx(1.0, abs=1e-9)
    assert np.abs(known.parts @ slope).max() < 1e-9
    precision = study.estimate("precision", estimator=Weighted(known=True))
    below = precision.value * predicted
    direct = study.case(sd.measures.resolve("precision").bind(study.pool))
    positives = Weighted(known=True).totals(direct).R @ direct.measure.ratio[0]  # type: ignore[index]
    assert below == pytest.approx(positives, rel=1e-9)


def test_known_totals_are_a_regression() -> None:
    """Against least squares written out: residuals of the contributions, and the shift of the averages."""
    study, _ = running(Importance(mix=0.2), 150, 50)
    drawn = replace(study.sample, rounds=tuple(one._replace(scale=1.0) for one in study.sample.rounds))
    case = replace(study.case(), sample=drawn)  # of a fixed number: all draws count alike
    plain, known = Weighted().totals(case), Weighted(known=True).totals(case)
    member = np.asarray(study.pool.system().prediction)[drawn.row] == 1
    N, T = len(study.pool), float(drawn.times.sum())
    z = np.stack([member, ~member], axis=1) / (N * drawn.p)[:, None]
    share = drawn.times / T
    estimated = share @ z
    x = (np.sqrt(drawn.times) / T * np.sqrt(T / (T - 1)))[:, None] * (z - estimated)
    slope = np.linalg.solve(x.T @ x, x.T @ plain.parts).T
    truth = np.array([case.pool.system().prediction.mean(), 1 - case.pool.system().prediction.mean()])  # type: ignore[union-attr]
    np.testing.assert_allclose(known.R, plain.R + slope @ (truth - estimated), rtol=1e-8)
    np.testing.assert_allclose(
        known.cov, (plain.parts - x @ slope.T).T @ (plain.parts - x @ slope.T), atol=1e-12
    )


def test_few_draws_leave_the_totals_unused() -> None:
    study, _ = running(Importance(), 8, 8)
    case: Case = study.case()
    a, b = Weighted().totals(case), Weighted(known=True).totals(case)
    assert int(study.sample.times.sum()) < 20
    np.testing.assert_array_equal(a.R[1:] / a.R[0], b.R[1:] / b.R[0])


@pytest.mark.parametrize("design", [Importance(mix=0.2), AIS(strata=16, depth=4, mix=0.2)])
def test_values_are_right_on_average_and_so_are_their_variances(design: Any) -> None:
    options = (Weighted(known=True), Weighted(stages="root"))
    found, reported = [], []
    for seed in range(150):
        study, truth = running(design, 150, 50, seed)
        each = [linearise(one.totals(study.case()), study.measure) for one in options]
        found.append([one.value.item() for one in each])
        reported.append([float(np.square(one.parts).sum()) for one in each])
    error = np.array(found) - pool_value(study.measure, study.pool, truth.astype(float)).item()
    assert (np.abs(error.mean(axis=0)) < 0.25 * error.std(axis=0)).all()  # three standard errors of the mean
    # The standard error of a variance from 150 repeats is a ninth of it.
    np.testing.assert_allclose(np.mean(reported, axis=0) / error.var(axis=0), 1, atol=0.35)
