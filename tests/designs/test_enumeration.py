"""Drawing by chance: how often each sample comes, against its exact probability."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from itertools import combinations, pairwise, permutations, product

import numpy as np
import pytest
from scipy.stats import chisquare

import sondage as sd
from sondage.designs import Poisson
from sondage.pool.pool import Pool
from sondage.pool.units import CellUnits, ItemUnits
from sondage.sampling import Draws, History, Limit, Table
from sondage.streams import stream

REPEATS = 4000
IMPROBABLE = 1e-5
NONE = np.zeros(0, dtype=np.int64)
NOBODY = History(NONE, np.zeros(6, dtype=bool), NONE)
SIZE = np.array([0.3, 2.0, 1.0, 0.7, 1.6, 0.4])


@pytest.fixture
def pool() -> Pool:
    return Pool.from_arrays(id=[*"abcdef"], prediction=[0, 0, 0, 1, 1, 1])


def cells(pool: Pool, seed: int) -> CellUnits:
    """Two units of two and four items."""
    return CellUnits(pool, np.array([0, 0, 1, 1, 1, 1]), seed=seed, by_cost=False)


def untouched(units: CellUnits) -> History:
    return History(np.zeros(units.count, dtype=np.int64), NONE.astype(bool), NONE)


def assert_frequencies(
    exact: Mapping[tuple[int, ...], float], sample: Callable[[int], tuple[int, ...]]
) -> None:
    """Outcomes of ``REPEATS`` seeds come as often as they should, and no others come."""
    assert sum(exact.values()) == pytest.approx(1.0, abs=1e-12)
    seen = Counter(sample(seed) for seed in range(REPEATS))
    assert set(seen) <= {outcome for outcome, chance in exact.items() if chance > 0}
    likely = [outcome for outcome, chance in exact.items() if chance * REPEATS >= 5]
    rare = 1.0 - sum(exact[outcome] for outcome in likely)
    observed = [seen[outcome] for outcome in likely]
    expected = [exact[outcome] * REPEATS for outcome in likely]
    if rare * REPEATS >= 5:
        observed.append(REPEATS - sum(observed))
        expected.append(rare * REPEATS)
    else:
        assert REPEATS - sum(observed) <= 30
        expected = [value * sum(observed) / sum(expected) for value in expected]
    assert chisquare(observed, expected).pvalue > IMPROBABLE


def test_strata_take_every_subset_of_a_unit_equally_often(pool: Pool) -> None:
    table = Table("strata", quota=np.array([1, 2]))

    def rows(seed: int) -> tuple[int, ...]:
        units = cells(pool, seed)
        draws = table.draw(units, untouched(units), 3, Limit(3), stream(seed, "draw"))
        assert draws.unit.tolist() == [1, 0, 1]
        assert draws.left.tolist() == [4, 2, 3]
        assert np.isnan(draws.p).all()
        assert np.isnan(draws.pi).all()
        return tuple(sorted(draws.row.tolist()))

    exact = {tuple(sorted((one, *two))): 1 / 12 for one in (0, 1) for two in combinations(range(2, 6), 2)}
    assert_frequencies(exact, rows)


def test_strata_read_on_where_the_last_round_stopped(pool: Pool) -> None:
    for seed in range(20):
        units = cells(pool, seed)
        table = Table("strata", quota=np.array([1, 2]))
        first = table.draw(units, untouched(units), 3, Limit(3), stream(seed, "draw"))
        later = History(np.array([1, 2]), NONE.astype(bool), first.row)
        second = table.draw(units, later, 3, Limit(3), stream(seed, "draw", 1))
        assert sorted([*first.row, *second.row]) == list(range(6))
        assert second.left.tolist() == [2, 1, 1]


def test_with_replacement_draws_come_by_their_chances(pool: Pool) -> None:
    chance = SIZE / SIZE.sum()
    table = Table("wr", chance=chance)
    units = ItemUnits(pool, 1)

    def first_two(seed: int) -> tuple[int, ...]:
        draws = table.draw(units, NOBODY, 2, Limit(6), stream(seed, "draw"))
        np.testing.assert_allclose(draws.p, chance[draws.row], rtol=1e-12)
        assert draws.new.all()
        assert len(draws) == 2
        return tuple(draws.row.tolist())

    # The second new item comes by its chance among those not drawn before.
    exact = {(a, b): chance[a] * chance[b] / (1 - chance[a]) for a, b in permutations(range(6), 2)}
    assert_frequencies(exact, first_two)


def test_with_replacement_counts_free_draws_before_the_last_new_item(pool: Pool) -> None:
    chance = SIZE / SIZE.sum()
    table = Table("wr", chance=chance)
    units = ItemUnits(pool, 1)
    times = Counter[int]()
    for seed in range(REPEATS):
        draws = table.draw(units, NOBODY, 2, Limit(6), stream(seed, "draw"))
        assert draws.times[1] == 1  # the round ends with the second new item
        if draws.row[0] == 1:
            times[int(draws.times[0])] += 1
    total, q = sum(times.values()), chance[1]
    # Given that item 1 came first, it comes again k times before another, with chance q^k (1 - q).
    observed = [times[k] for k in (1, 2, 3)]
    observed.append(total - sum(observed))
    expected = [total * (1 - q) * q**k for k in (0, 1, 2)]
    expected.append(total - sum(expected))
    assert chisquare(observed, expected).pvalue > IMPROBABLE


def test_with_replacement_marks_items_asked_before_as_free(pool: Pool) -> None:
    asked = np.array([False, True, False, False, True, False])
    history = History(NONE, asked, np.flatnonzero(asked))
    table = Table("wr", chance=SIZE / SIZE.sum())
    free = 0
    for seed in range(100):
        draws = table.draw(ItemUnits(pool, 1), history, 2, Limit(4), stream(seed, "draw"))
        np.testing.assert_array_equal(draws.new, ~asked[draws.row])
        assert draws.new.sum() == 2
        free += int((~draws.new).sum())
    assert free > 50


def test_with_replacement_of_a_stochastic_oracle_counts_every_draw(pool: Pool) -> None:
    history = History(NONE, np.zeros(6, dtype=bool), NONE, repeats_count=True)
    chance = SIZE / SIZE.sum()
    table = Table("wr", chance=chance)

    def pair(seed: int) -> tuple[int, ...]:
        draws = table.draw(ItemUnits(pool, 1), history, 2, Limit(100), stream(seed, "draw"))
        assert draws.new.all()
        assert (draws.times == 1).all()
        return tuple(draws.row.tolist())

    exact = {(a, b): chance[a] * chance[b] for a, b in product(range(6), repeat=2)}
    assert_frequencies(exact, pair)


def test_without_replacement_sequences_come_by_the_recorded_chances(pool: Pool) -> None:
    chance = np.array([0.3, 0.1])
    table = Table("wor", chance=chance)
    unit = np.array([0, 0, 1, 1, 1, 1])

    def exactly(rows: tuple[int, ...]) -> float:
        probability, left = 1.0, np.array([2, 4])
        for row in rows:
            probability *= chance[unit[row]] / (chance @ left)
            left[unit[row]] -= 1
        return probability

    def sequence(seed: int) -> tuple[int, ...]:
        units = cells(pool, seed)
        draws = table.draw(units, untouched(units), 2, Limit(6), stream(seed, "draw"))
        rows = tuple(draws.row.tolist())
        assert draws.p.prod() == pytest.approx(exactly(rows), rel=1e-9)
        return rows

    assert_frequencies({rows: exactly(rows) for rows in permutations(range(6), 2)}, sequence)


def test_without_replacement_chances_sum_to_one_over_the_items_left(pool: Pool) -> None:
    table = Table("wor", chance=np.array([0.3, 0.1]))
    for seed in range(50):
        units = cells(pool, seed)
        draws = table.draw(units, untouched(units), 6, Limit(6), stream(seed, "draw"))
        assert sorted(draws.row) == list(range(6))
        left = units.size.copy()
        for p, unit, then in zip(draws.p, draws.unit, draws.left, strict=True):
            assert then == left[unit]
            # What an item of the drawn unit has, scaled to the others by the table, adds up to 1.
            each = p * table.chance / table.chance[unit]
            assert each @ left == pytest.approx(1.0, rel=1e-12)
            left[unit] -= 1


def poisson_draw(units: ItemUnits, scale: float, cap: int = 6) -> Draws:
    table = Table("poisson", chance=SIZE, scale=scale)
    return table.draw(units, NOBODY, 3, Limit(cap), stream(0, "draw"))


def test_poisson_takes_every_subset_by_its_chance(pool: Pool) -> None:
    pi = np.minimum(1.0, 0.55 * SIZE)
    assert (pi == 1).sum() == 1

    def rows(seed: int) -> tuple[int, ...]:
        # A cap that cannot bind: at the cap itself the scale is that of the first item left out.
        draws = poisson_draw(ItemUnits(pool, seed), 0.55, 100)
        np.testing.assert_allclose(draws.pi, pi[draws.row], rtol=1e-12)
        assert draws.scale == 0.55
        return tuple(sorted(draws.row.tolist()))

    exact = {}
    for mask in product((False, True), repeat=6):
        inside = np.array(mask)
        exact[tuple(np.flatnonzero(inside).tolist())] = float(np.where(inside, pi, 1 - pi).prod())
    assert_frequencies(exact, rows)


def test_poisson_samples_are_nested(pool: Pool) -> None:
    for seed in range(200):
        units = ItemUnits(pool, seed)
        taken = [set(poisson_draw(units, scale, 100).row) for scale in (0.1, 0.3, 0.5, 0.9, 4.0)]
        assert all(small <= large for small, large in pairwise(taken))
        assert taken[-1] == set(range(6))


def assert_unbiased(counts: np.ndarray) -> None:
    """Inverse-chance sums of every single item are 1 on average: 5 standard errors."""
    error = counts.std(axis=0) / np.sqrt(len(counts))
    assert (np.abs(counts.mean(axis=0) - 1.0) <= 5 * error + 1e-12).all()
    assert (error < 0.2).all()


@pytest.mark.parametrize("n", [1, 2, 4])
def test_fixed_size_takes_exactly_n_and_every_item_is_unbiased(pool: Pool, n: int) -> None:
    table = Table("fixed", chance=SIZE)
    counts = np.zeros((REPEATS, 6))
    for seed in range(REPEATS):
        fresh = Table("fixed", chance=table.chance)
        draws = fresh.draw(ItemUnits(pool, seed), NOBODY, n, Limit(6), stream(0, "draw"))
        assert len(draws) == n
        np.testing.assert_allclose(draws.pi, np.minimum(1, draws.scale * SIZE[draws.row]))
        counts[seed, draws.row] = 1 / draws.pi
    assert_unbiased(counts)


def test_poisson_run_to_its_budget_never_exceeds_it_and_is_unbiased() -> None:
    pool = Pool.from_arrays(probability=[0.1, 0.2, 0.4, 0.6, 0.7, 0.9], threshold=0.5)
    counts = np.zeros((1000, 6))
    for seed in range(len(counts)):
        study = sd.create_study(pool, "accuracy", design=Poisson(), budget=3, rng=seed)
        study.run(lambda item: 1, batch=2)
        sample = study.sample
        assert len(sample) == 3
        weight = sd.estimators.PoissonEstimator().weights(study.case(study.measure))
        counts[seed, sample.row] = weight
    assert_unbiased(counts)


@pytest.mark.parametrize("kind", ["strata", "wor", "wr", "poisson", "fixed"])
def test_no_kind_draws_beyond_labels_or_cost(kind: str) -> None:
    pool = Pool.from_arrays(
        id=[*"abcdef"], prediction=[0, 0, 0, 1, 1, 1], cost=[3.0, 0.5, 2.0, 1.0, 0.5, 4.0]
    )
    for seed in range(50):
        units = cells(pool, seed) if kind in ("strata", "wor") else ItemUnits(pool, seed)
        history = untouched(units) if isinstance(units, CellUnits) else NOBODY
        table = {
            "strata": Table("strata", quota=np.array([2, 3])),
            "wor": Table("wor", chance=np.array([0.3, 0.1])),
            "wr": Table("wr", chance=SIZE / SIZE.sum()),
            "poisson": Table("poisson", chance=SIZE, scale=2.0),
            "fixed": Table("fixed", chance=SIZE),
        }[kind]
        for limit in (Limit(2), Limit(5, 3.0), Limit(5, 0.4)):
            draws = table.draw(units, history, 5, limit, stream(seed, "draw"))
            rows = draws.row[draws.new]
            assert len(rows) <= limit.labels
            assert units.cost_of(rows).sum() <= limit.cost
            assert len(rows) == len(set(rows))
