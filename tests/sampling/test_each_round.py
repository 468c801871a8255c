"""Drawing each item at most once: inclusion chances are what is recorded, numbers are fixed or not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sondage as sd
from sondage.designs.poisson import PoissonOnline
from sondage.pool.units import CellUnits
from sondage.sampling import History, Limit, Table
from sondage.sampling.each_round import _binomial
from sondage.streams import stream

KINDS: list[str] = ["online", "systematic", "pivotal"]


def cells(sizes: list[int]) -> CellUnits:
    codes = np.repeat(np.arange(len(sizes)), sizes)
    return CellUnits(sd.Pool.from_arrays(id=np.arange(len(codes))), codes, seed=1)


def drawn(kind: str, chance: list[float], units: CellUnits, seed: int, most: int = 99) -> Any:
    taken = np.zeros(units.count, dtype=np.int64)
    history = History(taken, np.empty(0, bool), np.empty(0, np.int64))
    return Table(kind, chance=np.array(chance)).draw(units, history, most, Limit(most), stream(seed, "draw"))


@pytest.mark.parametrize("kind", KINDS)
def test_cells_are_met_as_often_as_their_chance_says(kind: str) -> None:
    units, chance = cells([4, 10, 3, 1]), [0.5, 0.13, 1.0, 0.7]
    count = np.zeros(4)
    rounds = 3000
    for seed in range(rounds):
        one = drawn(kind, chance, units, seed)
        assert len(set(one.row.tolist())) == len(one.row)
        np.testing.assert_allclose(one.pi, np.array(chance)[one.unit])
        count += np.bincount(one.unit, minlength=4)
    expected = units.size * chance
    noise = np.sqrt(units.size * np.array(chance) * (1 - np.array(chance)) / rounds)
    assert (np.abs(count / rounds - expected) <= 4.5 * noise + 1e-12).all()


@pytest.mark.parametrize("kind", ["systematic", "pivotal"])
def test_the_number_is_fixed(kind: str) -> None:
    units = cells([5, 5, 6])
    chance = [0.3, 0.5, 1 / 6]  # 1.5 + 2.5 + 1
    assert {len(drawn(kind, chance, units, seed).row) for seed in range(200)} == {5}


def test_numbers_of_independent_draws_are_binomial() -> None:
    units = cells([30])
    counts = [len(drawn("online", [0.2], units, seed).row) for seed in range(2000)]
    assert np.mean(counts) == pytest.approx(6, abs=0.25)
    assert np.var(counts) == pytest.approx(30 * 0.2 * 0.8, rel=0.15)


def test_binomial_by_bisection_is_the_inverse_of_the_distribution() -> None:
    from scipy.stats import binom

    rng = np.random.default_rng(0)
    n, p, u = rng.integers(2, 400, 500), rng.random(500) ** 3, rng.random(500)
    np.testing.assert_array_equal(_binomial(u, n, p), binom.ppf(u, n, p).astype(int))


@pytest.mark.parametrize("kind", KINDS)
def test_never_more_than_the_budget_and_chances_stay_exact(kind: str) -> None:
    """With six labels left of nine wanted the chances shrink, and each cell is met as they say."""
    units, chance = cells([10, 10, 10]), [0.2, 0.3, 0.4]
    count, recorded = np.zeros(3), np.zeros(3)
    for seed in range(2000):
        one = drawn(kind, chance, units, seed, 6)
        assert len(one.row) <= 6
        count += np.bincount(one.unit, minlength=3)
        recorded[one.unit] = one.pi
    np.testing.assert_allclose(recorded, np.array(chance) * 6 / 9, rtol=1e-9)
    np.testing.assert_allclose(count / 2000, 10 * recorded, rtol=0.08)


@pytest.mark.parametrize("sampling", ["poisson", "systematic", "pivotal"])
def test_online_totals_are_unbiased(sampling: Any) -> None:
    """Two rounds, the second learning from the first: the number of positives is right on average."""
    rng = np.random.default_rng(2)
    truth = rng.random(120) < 0.3
    pool = sd.Pool.from_arrays(score=np.where(truth, 0.6, -0.6) + rng.normal(0, 1, 120), threshold=0.0)
    answers = dict(enumerate(truth.astype(int).tolist()))
    found = []
    for seed in range(250):
        study = sd.create_study(pool, "recall", design=PoissonOnline(sampling=sampling), rng=seed)
        for _ in range(2):
            study.tell({item.id: answers[item.id] for item in study.ask(15)})
        drawn_so_far = study.sample
        share = np.array([0.5, 0.5])
        first, second = (drawn_so_far.where(drawn_so_far.round == r) for r in (0, 1))
        found.append(
            share[0] * float((first.y == 1) @ (1 / first.pi))
            + share[1] * (float((first.y == 1).sum()) + float((second.y == 1) @ (1 / second.pi)))
        )
    assert abs(np.mean(found) - truth.sum()) < 3.5 * np.std(found) / np.sqrt(len(found))


def test_several_labels_at_once() -> None:
    rng = np.random.default_rng(0)
    chance = rng.beta(1, 3, (300, 4))
    pool = sd.Pool.from_arrays(probability=chance, multilabel=True)
    study = sd.create_study(pool, "multilabel_f1", design="poisson-online", budget=60, rng=1)
    found = study.run(lambda item: (chance[item.id] > 0.4).astype(int).tolist())
    assert found.defined
