"""Samples whose size hangs on what was drawn: weights that are right all the same, on pools of few items."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product
from math import factorial
from typing import Any

import numpy as np
import pytest
from tests.estimators.enumeration import case_of, pool_losses, sample_of, tiny_pool

import sondage as sd
from sondage.estimators import Counts, RoundInfo, Weighted, estimate_totals
from sondage.pool.pool import Pool
from sondage.pool.units import CellUnits, ItemUnits
from sondage.sampling import History, Limit, Table, kind_of
from sondage.streams import stream

NONE = np.zeros(0, dtype=np.int64)
COST = np.array([1, 4, 2, 1, 3, 2, 5, 1, 2, 1, 4, 2.0])


def twelve(cost: bool = False) -> tuple[Pool, np.ndarray]:
    rng = np.random.default_rng(2)
    score = np.sort(rng.random(12))
    y = (rng.random(12) < score).astype(np.float64)
    extra = {"cost": COST} if cost else {}
    return Pool.from_arrays(id=np.arange(12), probability=score, threshold=0.5, **extra), y


# ---- with replacement ----------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 3])
def test_draws_until_the_last_new_item_are_exactly_unbiased(n: int) -> None:
    """Every multiset of draws of five items that ends with the n-th new one, with its probability."""
    pool, y = tiny_pool(5)
    p = np.array([0.08, 0.3, 0.17, 0.25, 0.2])
    losses = pool_losses(pool, "f1", y)
    most = 60 if n == 2 else 40
    rounds = (RoundInfo(kind_of("wr"), np.nan, float(n)),)
    memo: dict[Any, Any] = {}
    mean, plain, total = np.zeros(losses.shape[1]), 0.0, 0.0
    for before in combinations(range(5), n - 1):
        for times in product(range(1, most + 1), repeat=n - 1):
            length = sum(times)
            if length > most:
                continue
            orders = factorial(length) / np.prod([float(factorial(k)) for k in times])
            chance = orders * np.prod(p[list(before)] ** np.array(times))
            if chance < 1e-13:
                continue
            for last in set(range(5)) - set(before):
                rows = [*before, last]
                drawn = sample_of(
                    rows, y, rows, kind="wr", times=np.array([*times, 1]), p=p[rows], rounds=rounds
                )
                probability = chance * p[last]
                mean += probability * Weighted().totals(case_of(pool, "f1", drawn, memo=memo)).R
                weight = drawn.times / drawn.p
                plain += probability * weight.sum() / drawn.times.sum() / 5
                total += probability
    assert total == pytest.approx(1.0, abs=1e-6)
    np.testing.assert_allclose(mean, losses.mean(axis=0), rtol=2e-5)
    assert plain > 1.01  # what counting the last draw would give for a weight of 1


def test_what_costs_too_much_ends_a_study_with_replacement() -> None:
    """To go on would be to draw again until something cheap comes."""
    pool, y = twelve(cost=True)
    for seed in range(20):
        study = sd.create_study(pool, "f1", design="importance", budget=sd.Cost(9), rng=seed)
        study.run(dict(enumerate(y.tolist())), batch=20)
        if study.sample.rounds[-1].scale == 0:
            with pytest.raises(sd.errors.NothingLeft, match="the item drawn next"):
                study.ask(1)


# ---- Poisson -------------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", [6.0, 11.0])
def test_poisson_run_to_a_budget_in_cost_is_unbiased_for_every_item(budget: float) -> None:
    pool, _ = twelve(cost=True)
    size = np.linspace(0.4, 2.0, 12)[::-1]
    counts = np.zeros((4000, 12))
    for seed in range(len(counts)):
        units, rows, spent, scale = ItemUnits(pool, 10**6 + seed), NONE, 0.0, np.nan
        for grown in (0.1, 0.2, 0.3, 0.5, 1.0, 3.0, 99.0):
            table = Table("poisson", chance=size, scale=grown)
            history = History(NONE, np.isin(np.arange(12), rows), rows)
            drawn = table.draw(units, history, 12, Limit(12 - len(rows), budget - spent), stream(0, "draw"))
            if not len(drawn) and drawn.scale != grown:
                break  # a study ends here, and the round leaves no trace
            rows, spent, scale = np.concatenate([rows, drawn.row]), spent + COST[drawn.row].sum(), drawn.scale
        counts[seed, rows] = 1.0 / np.minimum(1.0, scale * size[rows])
    error = counts.std(axis=0) / np.sqrt(len(counts))
    assert (np.abs(counts.mean(axis=0) - 1.0) <= 4.5 * error).all()
    assert abs(counts.mean() - 1.0) < 0.02


# ---- without replacement and in rounds -----------------------------------------------------------


@pytest.mark.parametrize(("design", "studies"), [("sequential", 250), ("lure", 250), ("poisson-online", 500)])
def test_a_budget_in_cost_does_not_tilt_the_averages(design: str, studies: int) -> None:
    """Weights over the number of draws made were off by 3 to 6 %."""
    pool, y = twelve(cost=True)
    labels = dict(enumerate(y.tolist()))
    losses = pool_losses(pool, "f1", y).mean(axis=0)
    found, counted = [], []
    for seed in range(studies):
        study = sd.create_study(pool, "f1", design=design, budget=sd.Cost(12), rng=seed)
        study.run(labels, batch=3)
        case = study.case(study.measure)
        for totals, budget in ((found, case.budget), (counted, np.nan)):
            totals.append(estimate_totals(replace(case, budget=budget)).R / losses - 1.0)
    mean, error = np.mean(found, axis=0), np.std(found, axis=0) / np.sqrt(len(found))
    assert (np.abs(mean) < 2.5 * error + 0.01).all()
    # Beside each other on the same draws: by the number of draws made, true positives come out low.
    gained = np.subtract(found, counted)[:, 1]
    assert gained.mean() > 3 * gained.std() / np.sqrt(len(gained))
    assert gained.mean() > 0.02


# ---- a plain random sample -----------------------------------------------------------------------


@pytest.mark.parametrize("n", [4, 6, 9])
def test_every_uniform_sample_knows_the_number_of_predicted_positives(n: int) -> None:
    """All samples of n of twelve items: what is known is exact in each, the rest unbiased over all."""
    pool, y = twelve()
    losses = pool_losses(pool, "f1", y).mean(axis=0)
    units = CellUnits(pool, np.zeros(12, dtype=np.int64), seed=0, by_cost=False)
    predicted = pool.system().prediction
    assert predicted is not None
    memo: dict[Any, Any] = {}
    R = []
    for rows in combinations(range(12), n):
        drawn = sample_of(rows, y, np.zeros(n), kind="strata")
        totals = Counts().totals(case_of(pool, "f1", drawn, units, memo=memo))
        both = 0 < predicted[list(rows)].sum() < n
        assert np.isnan(totals.R).any() == (not predicted[list(rows)].any())
        assert (totals.why is None) == (not np.isnan(totals.R).any())
        if both:
            R.append(totals.R)
    fixed = np.isclose(np.ptp(R, axis=0), 0.0)
    assert fixed.sum() == 2  # the weight, and the predicted positives
    np.testing.assert_allclose(np.mean(R, axis=0), losses, rtol=1e-12)
