"""New items drawn directly: as if draws had gone on one by one."""

from __future__ import annotations

import numpy as np
import pytest

from sondage.pool import Pool
from sondage.pool.units import CellUnits, ItemUnits, Units
from sondage.sampling import Draws, History, Limit, Table, new_items
from sondage.streams import stream

REPEATS = 4000
CHANCE = np.array([0.55, 0.25, 0.1, 0.07, 0.03])


@pytest.fixture
def directly(monkeypatch: pytest.MonkeyPatch) -> None:
    """No draw is made one by one."""
    monkeypatch.setattr(new_items, "_PATIENCE", 0)
    monkeypatch.setattr(new_items, "_FOR_EACH", 0)


def items(asked: list[int]) -> tuple[Table, Units, History]:
    pool = Pool.from_arrays(score=np.arange(5.0), threshold=2.0)
    mask = np.isin(np.arange(5), asked)
    history = History(np.empty(0, np.int64), mask, np.array(asked, dtype=np.int64))
    return Table("wr", chance=CHANCE), ItemUnits(pool, 1), history


def cells(asked: list[int]) -> tuple[Table, Units, History]:
    """Two cells of two and three items; the chances of those left in a cell are the same."""
    pool = Pool.from_arrays(score=np.arange(5.0), threshold=2.0)
    units = CellUnits(pool, np.array([0, 0, 1, 1, 1]), seed=1)
    rows = np.array([units.nth(0, 0)] if asked else [], dtype=np.int64)
    taken = np.bincount(units.of(rows), minlength=2)
    table = Table("wr", chance=np.array([0.35, 0.05]), asked=np.array([0.5]) if asked else None)
    return table, units, History(taken, np.empty(0, bool), rows)


def many(make: object, asked: list[int], n: int) -> list[Draws]:
    table, units, history = make(asked)  # type: ignore[operator]
    return [table.draw(units, history, n, Limit(n), stream(k, "draw")) for k in range(REPEATS)]


@pytest.mark.usefixtures("directly")
@pytest.mark.parametrize("asked", [[], [0], [0, 1]])
def test_items_come_in_the_order_and_number_of_draws_one_by_one(asked: list[int]) -> None:
    found = many(items, asked, 2)
    p, left = CHANCE / CHANCE.sum(), 1.0 - CHANCE[asked].sum()
    rest = [k for k in range(5) if k not in asked]
    order = {(a, b): p[a] / left * p[b] / (left - p[a]) for a in rest for b in rest if a != b}
    came = [tuple(one.row[one.new].tolist()) for one in found]
    for pair, chance in order.items():
        off = 4.5 * np.sqrt(chance * (1 - chance) / REPEATS)
        assert came.count(pair) / REPEATS == pytest.approx(chance, abs=off), pair
    # Until two new ones have come: a geometric number of draws, twice.
    expected = 1 / left + sum(p[a] / left / (left - p[a]) for a in rest)
    number = np.array([one.times.sum() for one in found])
    error = 4.5 * number.std() / np.sqrt(REPEATS)
    assert number.mean() == pytest.approx(expected, abs=error)
    # Of a stopping time's draws every item has its share (Wald).
    times = np.array([np.bincount(one.row, weights=one.times, minlength=5) for one in found])
    away = times - number[:, None] * p
    np.testing.assert_array_less(np.abs(away.mean(axis=0)), 4.5 * away.std(axis=0) / np.sqrt(REPEATS))


@pytest.mark.usefixtures("directly")
@pytest.mark.parametrize("asked", [[], [0]])
def test_cells_too(asked: list[int]) -> None:
    found = many(cells, asked, 2)
    table, units, history = cells(asked)
    assert table.chance is not None
    left = units.size - history.taken
    mass = table.chance * left
    total = mass.sum() + (0.0 if table.asked is None else table.asked.sum())
    share = mass / mass.sum()
    first = np.array([one.unit[one.new][0] for one in found])
    for cell, chance in enumerate(share):
        off = 4.5 * np.sqrt(chance * (1 - chance) / REPEATS)
        assert (first == cell).mean() == pytest.approx(chance, abs=off)
    number = np.array([one.times.sum() for one in found])
    unseen = mass.sum() / total
    expected = 1 / unseen + sum(share[k] / (unseen - table.chance[k] / total) for k in range(2))
    assert number.mean() == pytest.approx(expected, abs=4.5 * number.std() / np.sqrt(REPEATS))
    for one in found:
        assert len(np.unique(one.row)) == len(one.row)
        assert one.new.sum() == 2
        if asked:
            assert history.rows[0] not in one.row[one.new]


def test_a_round_does_not_wait_for_items_that_hardly_ever_come() -> None:
    """Ten of a thousand items carry all but a millionth of the chance, and thirty new ones are wanted."""
    pool = Pool.from_arrays(score=np.arange(1000.0), threshold=500.0)
    chance = np.full(1000, 1e-9)
    chance[::100] = 0.1
    table, nothing = Table("wr", chance=chance), np.empty(0, np.int64)
    history = History(nothing, np.zeros(1000, dtype=bool), nothing)
    got = table.draw(ItemUnits(pool, 1), history, 30, Limit(30), stream(1, "draw"))
    assert len(got) == got.new.sum() == 30
    heavy = got.row % 100 == 0
    assert got.times[heavy].min() > 10**5
    assert got.times[~heavy].tolist() == [1] * 20
    np.testing.assert_allclose(got.times[heavy] / got.times.sum(), 0.1, rtol=0.01)


@pytest.mark.usefixtures("directly")
def test_what_is_too_dear_ends_the_round_and_repeats_before_it_stay() -> None:
    pool = Pool.from_arrays(score=np.arange(5.0), threshold=2.0, cost=[1.0, 1.0, 9.0, 9.0, 9.0])
    nothing = np.empty(0, np.int64)
    history = History(nothing, np.zeros(5, dtype=bool), nothing)
    table, units = Table("wr", chance=CHANCE), ItemUnits(pool, 1)
    number = []
    for k in range(REPEATS):
        got = table.draw(units, history, 3, Limit(3, 2.0), stream(k, "draw"))
        assert pool.cost is not None
        assert pool.cost[got.row].sum() <= 2.0
        number.append(got.times.sum())
    # All draws before the first of the three dear items, unless three came: they have a fifth of the chance.
    assert np.mean(number) == pytest.approx(4.0, abs=4.5 * np.std(number) / np.sqrt(REPEATS))


def test_the_first_new_item_needs_no_repeats() -> None:
    again, extra = new_items.repeats(np.empty(0), np.array([1.0]), 4.0, stream(1, "draw"))
    assert (again.tolist(), extra.tolist()) == ([], [0])
