"""Audit: the chances of its tables, renewed after every draw, and that estimates by them are unbiased."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import permutations
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.designs.test_enumeration import assert_frequencies

import sondage as sd
from sondage.beliefs.base import Seen, State
from sondage.designs import Audit
from sondage.designs.base import Problem
from sondage.designs.influence.of_units import unit_spread
from sondage.designs.sequential import log_lengths
from sondage.designs.shares import shares
from sondage.errors import InvalidInput, NothingLeft
from sondage.estimators import ANSWERED, Case, RoundInfo, Sample, SequentialEstimator
from sondage.estimators.increments import Increments
from sondage.pool.units import CellUnits
from sondage.sampling import Draws, History, Limit, OneByOne, Table, kind_of
from sondage.strata.by_score import EqualSize
from sondage.strata.log_rank import LogRank
from sondage.streams import stream
from sondage.testing.designs import ask_and_tell, rounds_of, small_pool

SHARES: tuple[Literal["spread", "deficit"], ...] = ("spread", "deficit")
NONE = np.zeros(0, dtype=np.int64)


def floor_mass(problem: Problem, left: np.ndarray) -> np.ndarray:
    near = log_lengths(problem) * (left > 0)
    return 0.5 * near / near.sum() + 0.5 * left / left.sum()


def test_chances_are_those_of_the_items_left_and_of_the_floor() -> None:
    pool, labels = small_pool(120)
    study = sd.create_study(pool, "f1", design=Audit(probability_floor=0.0), rng=1)
    for _ in range(4):
        ask_and_tell(study, labels, 15)
        problem = study.problem()
        left = problem.units.size - problem.asked
        believed = left * np.sqrt(unit_spread(problem) / problem.units.cost)
        expected = 0.7 * believed / believed.sum() + 0.3 * floor_mass(problem, left)
        mass = OneByOne().mass(study.design.table(problem, 5), problem.units.size, problem.asked)
        np.testing.assert_allclose(mass, expected, rtol=1e-12, atol=1e-15)


def test_deficits_are_renewed_after_every_draw() -> None:
    pool, labels = small_pool(120)
    study = sd.create_study(pool, "f1", design=Audit(share="deficit"), rng=1)
    for n in (1, 10, 30):
        problem = study.problem()
        size, asked = problem.units.size, problem.asked.copy()
        weight = size * np.sqrt(unit_spread(problem, 1e-3))
        goal = shares(weight, size, int(asked.sum()) + n)
        sure = 0.3 * floor_mass(problem, size - asked) / np.maximum(size - asked, 1)
        ask_and_tell(study, labels, n)
        record = rounds_of(study)[-1]
        moved = set()
        for unit, p in zip(record.unit, record.p, strict=True):
            left = size - asked
            short = np.maximum(goal - asked, 0)
            mass = sure * left + (1 - sure @ left) * short / short.sum()
            assert p == pytest.approx(mass[unit] / left[unit], rel=1e-9)
            moved.add(round(float(mass[0]), 12))
            asked[unit] += 1
        assert n == 1 or len(moved) > 1


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("strata", [LogRank(), EqualSize(5)])
def test_every_item_left_has_a_chance_and_no_other_has(share: str, strata: sd.strata.Strata) -> None:
    pool, labels = small_pool(60)
    study = sd.create_study(pool, "f1", design=Audit(share=share, strata=strata), rng=1)  # type: ignore[arg-type]
    while study.problem().asked.sum() < 55:
        ask_and_tell(study, labels, 5)
        problem = study.problem()
        left = problem.units.size - problem.asked
        if left.any():
            chance = study.design.table(problem, 1).next_chance(problem.units.size, problem.asked)
            np.testing.assert_array_equal(chance > 0, left > 0)
            assert chance[left > 0].min() >= 0.15 / left.sum() * (1 - 1e-9)
            assert chance @ left == pytest.approx(1.0, rel=1e-12)


def test_the_floor_is_even_along_the_logarithm_of_the_rank() -> None:
    """A predicted class that is one long row of bands: each is as long as the logarithm of its ranks."""
    pool = sd.Pool.from_arrays(score=np.linspace(-3, 2, 500), threshold=0.0)
    study = sd.create_study(pool, "f1", design=Audit(), rng=1)
    length = log_lengths(study.problem())
    prediction = pool.system().prediction
    assert prediction is not None
    for one in (0, 1):
        mine = np.array([prediction[study.units.members(u)[0]] == one for u in range(study.units.count)])  # type: ignore[attr-defined]
        total = int((prediction == one).sum())
        assert length[mine].sum() == pytest.approx(np.log((total + 0.5) / 0.5), rel=1e-12)
        end = np.cumsum(study.units.size[mine])
        np.testing.assert_allclose(np.cumsum(length[mine]), np.log((end + 0.5) / 0.5), rtol=1e-12)


def test_bands_that_mix_classes_are_all_equally_long() -> None:
    pool = sd.Pool.from_arrays(score=np.linspace(-3, 3, 100), labels="real")
    study = sd.create_study(pool, "mean", design=Audit(), rng=1)
    assert (log_lengths(study.problem()) == 1).all()


@pytest.mark.parametrize(
    ("options", "words"), [({"floor": 0.0}, "floor="), ({"floor": 1.1}, "floor="), ({"share": "x"}, "share=")]
)
def test_options_that_make_no_sense_are_refused(options: dict[str, object], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        Audit(**options)  # type: ignore[arg-type]


# ---- unbiased, by listing every sequence of draws ----------------------------------------------------


class Tiny:
    """Six items in cells of the real design, and every path of draws through them."""

    def __init__(self, share: Literal["spread", "deficit"], rounds: tuple[int, ...]) -> None:
        score = np.array([0.1, 0.3, 0.45, 0.6, 0.8, 0.9])
        self.y = np.array([0.0, 1.0, 0.0, 1.0, 0.0, 1.0])
        self.pool = sd.Pool.from_arrays(probability=score, prediction=(score >= 0.5).astype(int))
        self.design = Audit(share=share, strata=LogRank(growth=1.0, largest=1.0))
        study = sd.create_study(self.pool, "f1", design=self.design, rng=1)
        self.problem, self.units, self.measure = study.problem(), study.units, study.measure
        self.belief, self.rounds = study.belief, rounds
        self.unit = self.units.of(np.arange(6))
        self.begins = np.concatenate([[0], np.cumsum(rounds)])
        self.memo: dict[object, object] = {}

    def state(self, past: Sequence[int]) -> State:
        at = np.array(past, dtype=np.int64)
        return self.belief.step(self.belief.start(self.pool, self.units), Seen(self.unit[at], at, self.y[at]))

    def table(self, past: Sequence[int], n: int) -> Table:
        at = np.array(past, dtype=np.int64)
        seen = Seen(self.unit[at], at, self.y[at])
        problem = replace(
            self.problem,
            state=self.state(past),
            asked_units=self.unit[at],
            asked_rows=at,
            labels=self.y[at],
            seen=seen,
            memo={},
        )
        return self.design.table(problem, n)

    def paths(self) -> list[tuple[float, Case]]:
        found: list[tuple[float, tuple[int, ...], list[float], list[Table]]] = [(1.0, (), [], [])]
        for number, n in enumerate(self.rounds):
            started = [(*one[:3], [*one[3], self.table(one[1], n)]) for one in found]
            for _ in range(n):
                grown = []
                for probability, past, p, tables in started:
                    asked = np.bincount(self.unit[list(past)], minlength=self.units.count)
                    chance = tables[number].next_chance(self.units.size, asked)[self.unit]
                    for item in set(range(6)) - set(past):
                        grown.append((probability * chance[item], (*past, item), [*p, chance[item]], tables))
                started = grown
            found = started
        return [(probability, self.case(past, p, tables)) for probability, past, p, tables in found]

    def case(self, past: tuple[int, ...], p: list[float], tables: list[Table]) -> Case:
        at, T = np.array(past), len(past)
        ones = np.ones(T, dtype=np.int64)
        left = [int(self.units.size[self.unit[i]] - (self.unit[at[:k]] == self.unit[i]).sum())
                for k, i in enumerate(past)]  # fmt: skip
        sample = Sample(
            round=np.repeat(np.arange(len(self.rounds)), self.rounds),
            row=at,
            unit=self.unit[at],
            times=ones,
            p=np.array(p),
            pi=np.full(T, np.nan),
            left=np.array(left),
            new=ones.astype(bool),
            y=self.y[at],
            status=ones * ANSWERED,
            rounds=tuple(RoundInfo(kind_of("wor"), np.nan, float(end)) for end in self.begins[1:]),
        )
        states = [self.state(past[:begin]) for begin in self.begins[:-1]]
        memo = self.memo
        return Case(self.pool, self.units, self.measure, sample, self.belief, states, tables.__getitem__,
                    memo=memo)  # fmt: skip


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("rounds", [(1, 1, 1), (1, 2), (3,)])
def test_estimates_and_increments_are_unbiased_over_all_sequences_of_draws(
    share: Literal["spread", "deficit"], rounds: tuple[int, ...]
) -> None:
    tiny = Tiny(share, rounds)
    paths = tiny.paths()
    chance = np.array([probability for probability, _ in paths])
    assert chance.sum() == pytest.approx(1.0, abs=1e-12)
    assert len(np.unique(chance.round(12))) > 6  # it does adapt
    loss = tiny.measure.loss(tiny.pool.rows(np.arange(6)), tiny.y[:, None])[:, 0, :]
    for weighting in ("lure", "root"):
        estimator = SequentialEstimator(weighting=weighting)  # type: ignore[arg-type]
        R = np.array([estimator.totals(case).R for _, case in paths])
        np.testing.assert_allclose(chance @ R, loss.mean(axis=0), rtol=1e-10)
    for t in range(3):
        z = np.array([Increments(case).z[t] for _, case in paths])
        np.testing.assert_allclose(chance @ z, loss.sum(axis=0), rtol=1e-10)


@pytest.mark.parametrize("share", SHARES)
def test_a_sequence_knows_the_chances_of_every_cell_at_every_draw(
    share: Literal["spread", "deficit"],
) -> None:
    pool, labels = small_pool(80)
    study = sd.create_study(pool, "f1", design=Audit(share=share), rng=1)
    for n in (7, 1, 20):
        ask_and_tell(study, labels, n)
    found = Increments(study.case())
    np.testing.assert_allclose(found.p, found.chance[np.arange(28), found.cell], rtol=1e-9)
    np.testing.assert_allclose((found.chance * found.left).sum(axis=1), 1.0, rtol=1e-9)


# ---- drawing towards a goal, and what a budget pays for -------------------------------------------------


@cache
def six_items(cost: tuple[float, ...] | None) -> sd.Pool:
    return sd.Pool.from_arrays(id=[*"abcdef"], prediction=[0, 0, 0, 1, 1, 1], cost=cost)


def two_cells(seed: int, cost: tuple[float, ...] | None = None) -> tuple[CellUnits, History]:
    pool = six_items(cost)
    units = CellUnits(pool, np.array([0, 0, 1, 1, 1, 1]), seed=seed, by_cost=False)
    return units, History(np.zeros(2, dtype=np.int64), NONE.astype(bool), NONE)


def test_sequences_towards_a_goal_come_by_the_recorded_chances() -> None:
    table = Table("wor", chance=np.array([0.05, 0.05]), goal=np.array([0.5, 1.5]))
    unit, size = np.array([0, 0, 1, 1, 1, 1]), np.array([2, 4])

    def exactly(rows: tuple[int, ...]) -> float:
        probability, asked = 1.0, np.zeros(2, dtype=np.int64)
        for row in rows:
            short = np.maximum(np.array([0.5, 1.5]) - asked, 0)
            left = size - asked
            mass = 0.05 * left + (1 - 0.05 * left.sum()) * short / short.sum()
            probability *= mass[unit[row]] / left[unit[row]]
            asked[unit[row]] += 1
        return probability

    def sequence(seed: int) -> tuple[int, ...]:
        units, history = two_cells(seed)
        draws = table.draw(units, history, 2, Limit(6), stream(seed, "draw"))
        rows = tuple(draws.row.tolist())
        assert draws.p.prod() == pytest.approx(exactly(rows), rel=1e-9)
        return rows

    assert_frequencies({rows: exactly(rows) for rows in permutations(range(6), 2)}, sequence)


@given(
    st.lists(st.floats(0, 5), min_size=3, max_size=3),
    st.lists(st.integers(0, 4), min_size=3, max_size=3),
    st.floats(0.01, 0.99),
)
@settings(max_examples=60, deadline=None)
def test_masses_are_never_negative_and_add_up_to_one_below_the_goal(
    goal: list[float], asked: list[int], floor: float
) -> None:
    size = np.array([4, 5, 6])
    chance = np.full(3, floor / size.sum())
    table = Table("wor", chance=chance, goal=np.minimum(goal, size))
    again = OneByOne().table_from(np.asarray(table.content), 3)
    mass = OneByOne().mass(table, size, np.array(asked))
    np.testing.assert_array_equal(mass, OneByOne().mass(again, size, np.array(asked)))
    assert again.digest == table.digest
    assert (mass >= 0).all()
    below = np.minimum(goal, size) > asked
    if below.any():
        assert mass.sum() == pytest.approx(1.0)
        assert (mass[below] >= chance[below]).all()


def ask_to_the_end_of(study: sd.Study, labels: dict[int, int]) -> None:
    for _ in range(50):
        ask_and_tell(study, labels, 3)


COST = (3.0, 1.0, 2.0, 1.0, 1.0, 4.0)


def first_rows(limit: float, seed: int) -> Draws:
    units, history = two_cells(seed, COST)
    table = Table("wor", chance=np.array([0.3, 0.1]))
    return table.draw(units, history, 6, Limit(6, limit), stream(seed, "draw"))


def test_no_item_is_put_back_because_it_is_dear() -> None:
    """The first draw comes by its chances although only some of the items would leave room for others."""
    exact = {(row,): 0.3 if row < 2 else 0.1 for row in range(6)}
    assert_frequencies(exact, lambda seed: tuple(first_rows(4.0, seed).row[:1].tolist()))


def test_a_round_ends_before_a_draw_that_the_limit_might_not_pay_for() -> None:
    units, _ = two_cells(1, COST)
    assert units.dearest.tolist() == [3.0, 4.0]
    for seed in range(200):
        assert len(first_rows(3.9, seed)) == 0
        draws = first_rows(7.0, seed)
        spent = np.cumsum([0.0, *units.cost_of(draws.row)])
        assert spent[-1] <= 7.0
        taken = np.zeros(2, dtype=int)
        for before, unit in zip(spent, draws.unit, strict=False):
            reach = units.dearest[units.size > taken].max()
            assert before + reach <= 7.0
            taken[unit] += 1
        if (units.size > taken).any():
            assert spent[-1] + units.dearest[units.size > taken].max() > 7.0


def test_totals_under_a_cost_budget_are_unbiased_where_dear_items_are_the_positive_ones() -> None:
    """Each draw that is made, seen by itself: putting dear items back would lose positives."""
    y = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 1.0])  # the two dearest
    unit = np.array([0, 0, 1, 1, 1, 1])
    gain = []
    for seed in range(4000):
        draws = first_rows(5.0, seed)
        if len(draws) < 2:
            continue  # whether there is a second draw is known before it
        first, second = draws.row[:2]
        assert unit[first] == draws.unit[0]
        rest = y.sum() - y[first]
        gain.append(y[second] / draws.p[1] - rest)
    error = np.std(gain) / np.sqrt(len(gain))
    assert len(gain) > 1000
    assert abs(np.mean(gain)) <= 4 * error


def test_a_cost_budget_that_pays_for_no_sure_draw_says_so() -> None:
    pool, labels = small_pool(40, cost=True)
    study = sd.create_study(pool, "f1", design="auto-audit", budget=sd.Cost(30.0), rng=1)
    with pytest.raises(NothingLeft, match="whichever item the next draw takes"):
        ask_to_the_end_of(study, labels)
    assert study.spent <= 30.0


def test_the_smallest_goal_that_there_is_counts() -> None:
    table = Table("wor", chance=np.full(3, 0.5 / 15), goal=np.array([0.0, 0.0, 5e-324]))
    assert OneByOne().mass(table, np.array([4, 5, 6]), np.zeros(3, int)).sum() == pytest.approx(1.0)
