"""Units of both kinds keep the contract."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sondage.pool import CellUnits, ItemUnits, Pool, Units
from sondage.pool.division import REPRESENTATIVES, compressed, cost_band
from sondage.pool.keyed_order import keyed_hash
from sondage.strata import EqualSize, LogRank, OneStratum, Strata
from sondage.testing.units import SEED, UnitsSuite, random_columns
from sondage.types import Floats, Ints


def cells(pool: Pool, seed: int, rule: Strata, *, by_cost: bool, signed: bool) -> CellUnits:
    strata = rule.codes(pool, tuple(pool.systems), seed)
    signature = pool.group("group").codes if signed else None
    return CellUnits(pool, strata, signature, seed=seed, by_cost=by_cost)


class TestItemUnits(UnitsSuite):
    def make_units(self, pool: Pool, seed: int) -> Units:
        return ItemUnits(pool, seed)


class TestOneCell(UnitsSuite):
    def make_units(self, pool: Pool, seed: int) -> Units:
        return cells(pool, seed, OneStratum(), by_cost=False, signed=False)


class TestCellsOfStrataSignatureAndCost(UnitsSuite):
    def make_units(self, pool: Pool, seed: int) -> Units:
        return cells(pool, seed, LogRank(), by_cost=True, signed=True)


class TestCellsReadBeyondWhatIsReady(UnitsSuite):
    @pytest.fixture(autouse=True)
    def _few_are_ready(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("sondage.pool.units._READY", 2)

    def make_units(self, pool: Pool, seed: int) -> Units:
        return cells(pool, seed, EqualSize(3), by_cost=False, signed=False)


class TestCellsOfManyStrata(UnitsSuite):
    def make_units(self, pool: Pool, seed: int) -> Units:
        return cells(pool, seed, EqualSize(1000), by_cost=False, signed=True)


def test_cells_are_the_items_of_equal_stratum_signature_and_cost() -> None:
    rng = np.random.default_rng(0)
    strata, signature = rng.integers(0, 4, 300), rng.integers(0, 3, 300)
    cost = rng.choice([1.0, 2.5], 300)
    pool = Pool.from_arrays(cost=cost)
    units = CellUnits(pool, strata, signature, seed=1)
    key = list(zip(strata.tolist(), signature.tolist(), cost.tolist(), strict=True))
    unit = units.of(np.arange(300)).tolist()
    assert units.count == len(set(key)) == len(set(zip(key, unit, strict=True)))
    # Numbered by content: in the order of stratum, then signature, then cost.
    assert [one for _, one in sorted(zip(key, unit, strict=True))] == sorted(unit)
    without = CellUnits(pool, strata, signature, seed=1, by_cost=False)
    assert without.count == len({(a, b) for a, b, _ in key})


def test_members_are_in_the_order_of_ids() -> None:
    pool = Pool.from_arrays(id=[9, 3, 7, 1], score=[0.0, 1.0, 0.0, 1.0])
    units = CellUnits(pool, np.array([1, 1, 0, 0]), seed=1)
    assert pool.ids[units.members(0)].tolist() == [7, 9]
    assert pool.ids[units.members(1)].tolist() == [1, 3]


def test_a_cell_of_equal_losses_is_stood_for_by_one_row() -> None:
    pool = Pool.from_arrays(score=np.arange(100.0))
    strata = np.repeat([0, 1], 50)
    rows, of = CellUnits(pool, strata, np.zeros(100, dtype=int), seed=1).representatives()
    assert of.tolist() == [0, 1]
    assert (rows < 50).tolist() == [True, False]


def test_a_cell_of_different_losses_is_stood_for_by_rows_spread_over_it() -> None:
    pool = Pool.from_arrays(score=np.arange(167.0))
    strata = np.repeat([0, 1], [160, 7])
    rows, of = CellUnits(pool, strata, seed=1).representatives()
    assert np.bincount(of).tolist() == [REPRESENTATIVES, 7]
    assert np.diff(rows[:REPRESENTATIVES]).tolist() == [10] * (REPRESENTATIVES - 1)


def test_seed_changes_the_order_inside_a_cell_and_not_the_cells() -> None:
    pool = Pool.from_arrays(score=np.arange(60.0))
    strata = np.repeat([0, 1], 30)
    one, two = (CellUnits(pool, strata, seed=seed) for seed in (1, 2))
    assert one.codes.tolist() == two.codes.tolist()
    orders = [[units.nth(0, k) for k in range(30)] for units in (one, two)]
    assert orders[0] != orders[1]
    assert sorted(orders[0]) == sorted(orders[1]) == list(range(30))


@pytest.mark.parametrize("text", [False, True])
def test_large_cells_are_read_in_keyed_order_to_the_end(text: bool) -> None:
    """About as many as are read as a rule are put into order at first, the others when they are wanted."""
    ids = np.array([f"item {i}" for i in range(2500)]) if text else np.arange(2500)
    pool = Pool.from_arrays(id=ids)
    strata = np.random.default_rng(1).choice([0, 0, 0, 0, 1, 2], 2500)
    strata[:3] = 3
    units = CellUnits(pool, strata, seed=SEED)
    _, ready, _ = units._first
    assert (ready[:3] > 190).all()
    assert (ready[:3] < 330).all()
    assert ready[3] == units.size[3] == 3
    key = keyed_hash(SEED, pool.ids)
    for unit in range(4):
        rows = np.flatnonzero(units.codes == unit)
        expected = rows[np.argsort(key[rows])]
        found = units.rows_at(np.full(len(rows), unit), np.arange(len(rows)))
        assert found.tolist() == expected.tolist()


def test_permanent_numbers_are_fixed_by_seed_and_id() -> None:
    """In (0, 1], uniform, and the same item has the same number in any pool."""
    ids = np.arange(50_000)
    found = ItemUnits(Pool.from_arrays(id=ids), SEED).permanent()
    assert found.min() > 0
    assert found.max() <= 1
    observed = np.bincount(np.minimum((found * 100).astype(int), 99), minlength=100)
    statistic = np.square(observed - 500).sum() / 500
    assert abs(statistic - 99) < 5 * np.sqrt(2 * 99)
    some = ItemUnits(Pool.from_arrays(id=ids[::7][::-1]), SEED).permanent()
    np.testing.assert_array_equal(some, found[::7])
    assert (ItemUnits(Pool.from_arrays(id=ids), SEED + 1).permanent() != found).all()


@settings(deadline=None, max_examples=80)
@given(
    st.one_of(
        st.lists(st.integers(0, 20), min_size=1, max_size=40),
        st.lists(st.integers(0, 2**60), min_size=1, max_size=40),
    )
)
def test_compressed_codes_keep_order_and_equality(codes: list[int]) -> None:
    found = compressed(np.array(codes))
    expected = np.unique(codes, return_inverse=True)[1]
    assert found.tolist() == expected.tolist()


def test_few_costs_are_told_apart() -> None:
    assert cost_band(None) is None
    found = cost_band(np.array([5.0, 0.5, 5.0, 2.0]))
    assert found is not None
    assert found.tolist() == [2, 0, 2, 1]


def test_many_costs_are_banded_by_doubling() -> None:
    values = np.linspace(0.3, 50.0, 400)
    found = cost_band(values)
    assert found is not None
    assert found.min() == 0
    assert (np.diff(found) >= 0).all()
    for band in np.unique(found):
        mine = values[found == band]
        assert mine.max() < 2 * mine.min()
    assert len(np.unique(found)) == 8  # 1/4, 1/2, 1, ..., 32


def test_size_of_an_item_unit_has_no_second_item() -> None:
    units = ItemUnits(Pool.from_arrays(score=[1.0, 2.0]), 1)
    assert units.nth(1, 0) == 1
    with pytest.raises(IndexError):
        units.nth(1, 1)


@pytest.mark.parametrize("levels", [1, 2, 127, 128, 129, 255, 256, 257])
@pytest.mark.parametrize("strata", [1, 2, 129])
def test_any_number_of_levels(levels: int, strata: int) -> None:
    """Around the sizes where small integer types end."""
    n = 2 * levels * strata
    pool = Pool.from_arrays(id=np.arange(n))
    of_stratum, of_level = np.divmod(np.arange(n) % (levels * strata), levels)
    units = CellUnits(pool, of_stratum, of_level, seed=1)
    assert units.count == levels * strata
    assert units.size.tolist() == [2] * units.count
    assert units.of(np.arange(n)).tolist() == (np.arange(n) % units.count).tolist()


def test_the_suite_notices_wrong_units() -> None:
    """The conformance tests can fail: each of these breaks one promise."""

    class Shifted(ItemUnits):
        def of(self, rows: Ints | slice) -> Ints:
            return (super().of(rows) + 1) % self.count

    class ByRow(CellUnits):
        def nth(self, unit: int, k: int) -> int:
            return int(self.members(unit)[k])

    class Repeating(CellUnits):
        def nth(self, unit: int, k: int) -> int:
            return super().nth(unit, 0)

    class Greedy(CellUnits):
        @property
        def cost(self) -> Floats:
            return np.ones(self.count)

    broken: list[tuple[type[CellUnits] | type[ItemUnits], str]] = [
        (Shifted, "test_nth_lists_each_item_once"),
        (Shifted, "test_itemwise_says_whether_units_are_items"),
        (ByRow, "test_nth_is_in_keyed_order"),
        (Repeating, "test_nth_lists_each_item_once"),
        (Repeating, "test_nth_is_in_keyed_order"),
        (Greedy, "test_costs"),
    ]
    for kind, test in broken:

        class Suite(UnitsSuite):
            made = kind

            def make_units(self, pool: Pool, seed: int) -> Units:
                if issubclass(self.made, ItemUnits):
                    return self.made(pool, seed)
                return self.made(pool, np.zeros(len(pool), dtype=np.int64), seed=seed)

        with pytest.raises(AssertionError):
            getattr(Suite(), test)(Pool.from_arrays(**random_columns(5)))
