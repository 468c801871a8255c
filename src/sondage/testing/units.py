"""What every kind of units has to do, as tests that its own test class inherits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from sondage.pool.keyed_order import keyed_hash
from sondage.pool.pool import Pool
from sondage.pool.units import Units
from sondage.types import Array, Ints

SEED = 2**127 + 12345


def random_columns(
    seed: int, n: int = 60, *, classes: tuple[Any, ...] | None = ("no", "yes"), text: bool = False
) -> dict[str, Any]:
    """Arguments of ``Pool.from_arrays``: two systems, a group, costs; no classes: real labels."""
    rng = np.random.default_rng(seed)
    ids = rng.permutation(10 * n)[:n]
    columns: dict[str, Any] = {
        "id": np.array([f"item-{i}" for i in ids]) if text else ids,
        "cost": rng.choice([0.5, 1.0, 4.0], n),
        "groups": {"group": np.resize(np.array(["north", "south", "west"]), n)[rng.permutation(n)]},
        "labels": "real" if classes is None else list(classes),
        "systems": {name: _random_system(rng, n, classes) for name in ("a", "b")},
    }
    return columns


def _random_system(rng: np.random.Generator, n: int, classes: tuple[Any, ...] | None) -> dict[str, Array]:
    if classes is None:
        score = np.round(rng.normal(size=n), 1)
        return {"score": score, "prediction": score + 0.25, "std": rng.uniform(0.1, 2.0, n)}
    probability = rng.dirichlet(np.full(len(classes), 0.7), n)
    probability[: n // 4] = probability[0]  # ties
    chosen = np.array([rng.choice(len(classes), p=one) for one in probability])
    chosen[: len(classes)] = np.arange(len(classes))  # every class is predicted
    return {
        "score": np.round(rng.normal(scale=2.0, size=n), 1),
        "probability": probability[:, 1] if len(classes) == 2 else probability,
        "prediction": np.array(classes)[chosen],
    }


def taken(columns: Mapping[str, Any], index: Array) -> dict[str, Any]:
    """The same columns at other rows."""
    return {
        name: taken(value, index)
        if isinstance(value, dict)
        else (value[index] if isinstance(value, np.ndarray) else value)
        for name, value in columns.items()
    }


class UnitsSuite:
    """Conformance tests of units: inherit, and say how they are made from a pool and a seed."""

    def make_units(self, pool: Pool, seed: int) -> Units:
        """The units of a pool."""
        raise NotImplementedError("override make_units")

    @pytest.fixture(params=["numbers", "text", "one item", "real"])
    def columns(self, request: pytest.FixtureRequest) -> dict[str, Any]:
        """Pools with ids of both kinds, of one item, and with real labels."""
        kinds: dict[str, dict[str, Any]] = {
            "numbers": {},
            "text": {"text": True},
            "one item": {"n": 3},
            "real": {"classes": None},
        }
        made = random_columns(5, **kinds[request.param])
        return taken(made, np.array([1])) if request.param == "one item" else made

    @pytest.fixture
    def pool(self, columns: dict[str, Any]) -> Pool:
        """The pool of these columns."""
        return Pool.from_arrays(**columns)

    def listed(self, units: Units) -> list[list[int]]:
        """The rows of every unit, as ``nth`` gives them."""
        return [[units.nth(u, k) for k in range(int(units.size[u]))] for u in range(units.count)]

    def test_every_item_is_in_one_unit(self, pool: Pool) -> None:
        """``of`` gives each row a unit in 0 .. count - 1, and leaves no unit empty."""
        units = self.make_units(pool, SEED)
        unit = units.of(np.arange(len(pool)))
        assert unit.shape == (len(pool),)
        assert np.issubdtype(unit.dtype, np.integer)
        assert sorted(set(unit.tolist())) == list(range(units.count))

    def test_unit_of_some_rows(self, pool: Pool) -> None:
        """``of`` of some rows, in any order and repeated, agrees with ``of`` of all."""
        units = self.make_units(pool, SEED)
        rows = np.random.default_rng(0).integers(0, len(pool), 40)
        everything = units.of(np.arange(len(pool)))
        assert units.of(rows).tolist() == everything[rows].tolist()
        assert units.of(np.array([], dtype=np.int64)).tolist() == []

    def test_sizes(self, pool: Pool) -> None:
        """``size`` counts the items of each unit, and so sums to the pool's size."""
        units = self.make_units(pool, SEED)
        unit = units.of(np.arange(len(pool)))
        assert units.size.tolist() == np.bincount(unit, minlength=units.count).tolist()
        assert int(units.size.sum()) == len(pool)

    def test_nth_lists_each_item_once(self, pool: Pool) -> None:
        units = self.make_units(pool, SEED)
        for number, rows in enumerate(self.listed(units)):
            assert len(set(rows)) == len(rows) == units.size[number]
            assert units.of(np.array(rows)).tolist() == [number] * len(rows)

    def test_nth_is_in_keyed_order(self, pool: Pool) -> None:
        for seed in (SEED, 0, 7):
            keys = keyed_hash(seed, pool.ids)
            for rows in self.listed(self.make_units(pool, seed)):
                assert (np.diff(keys[rows].astype(object)) > 0).all()

    def test_nth_in_any_order_of_reading(self, pool: Pool) -> None:
        """Asking for a late item first does not change which it is."""
        forwards = self.listed(self.make_units(pool, SEED))
        units = self.make_units(pool, SEED)
        for number in reversed(range(units.count)):
            for k in reversed(range(int(units.size[number]))):
                assert units.nth(number, k) == forwards[number][k]

    def test_nth_beyond_the_unit(self, pool: Pool) -> None:
        units = self.make_units(pool, SEED)
        for number in range(units.count):
            with pytest.raises(IndexError):
                units.nth(number, int(units.size[number]))

    def test_rows_at_is_nth_of_many(self, pool: Pool) -> None:
        """In any order, repeated, and also of units of which ``nth`` was asked before."""
        expected = self.listed(self.make_units(pool, SEED))
        units = self.make_units(pool, SEED)
        pairs = [(u, k) for u in range(units.count) for k in range(int(units.size[u]))]
        units.nth(*pairs[-1])
        random = np.random.default_rng(0)
        for some in (random.permutation(len(pairs)), random.integers(0, len(pairs), 20), np.arange(0)):
            unit, k = np.array(pairs, dtype=np.int64)[some].T
            found = units.rows_at(unit, k)
            assert found.tolist() == [expected[u][i] for u, i in zip(unit.tolist(), k.tolist(), strict=True)]
            assert np.issubdtype(found.dtype, np.integer)
        with pytest.raises(IndexError):
            units.rows_at(np.array([0]), units.size[:1])

    def test_nth_is_a_plain_int(self, pool: Pool) -> None:
        """Rows are Python ints, fit for a journal."""
        units = self.make_units(pool, SEED)
        assert type(units.nth(0, 0)) is int

    def test_costs(self, pool: Pool) -> None:
        """``cost`` and ``dearest`` are mean and greatest cost of a unit's labels; ``cost_of`` is per row."""
        units = self.make_units(pool, SEED)
        assert pool.cost is not None
        each = [pool.cost[rows].mean() for rows in self.listed(units)]
        np.testing.assert_allclose(units.cost, each, rtol=1e-12)
        assert units.dearest.tolist() == [pool.cost[rows].max() for rows in self.listed(units)]
        rows = np.arange(len(pool))[::-1]
        assert units.cost_of(rows).tolist() == pool.cost[rows].tolist()

    def test_a_label_costs_one_if_nothing_is_said(self, columns: dict[str, Any]) -> None:
        """Without costs in the pool every unit and every row costs 1."""
        pool = Pool.from_arrays(**{**columns, "cost": None})
        units = self.make_units(pool, SEED)
        assert units.cost.tolist() == units.dearest.tolist() == [1.0] * units.count
        assert units.cost_of(np.arange(len(pool))).tolist() == [1.0] * len(pool)

    def test_representatives(self, pool: Pool) -> None:
        """Every unit is stood for, by rows of its own, none of them twice."""
        units = self.make_units(pool, SEED)
        rows, of = units.representatives()
        assert rows.shape == of.shape
        assert len(set(rows.tolist())) == len(rows)
        assert units.of(rows).tolist() == of.tolist()
        assert sorted(set(of.tolist())) == list(range(units.count))

    def test_row_order_of_the_source_is_nothing(self, columns: dict[str, Any]) -> None:
        """Units are numbered by content: a shuffled source has the same units in the same order."""
        n = len(columns["id"])
        first: list[list[int]] | None = None
        for seed in range(4):
            order: Ints = np.random.default_rng(seed).permutation(n)
            units = self.make_units(Pool.from_arrays(**taken(columns, order)), SEED)
            found = self.listed(units)
            first = first or found
            assert found == first

    def test_made_again_is_the_same(self, pool: Pool) -> None:
        """Pool and seed determine the units; nothing else enters."""
        one, two = self.make_units(pool, SEED), self.make_units(pool, SEED)
        assert self.listed(one) == self.listed(two)
        for left, right in zip(one.representatives(), two.representatives(), strict=True):
            assert left.tolist() == right.tolist()

    def test_itemwise_says_whether_units_are_items(self, pool: Pool) -> None:
        """``itemwise`` units are the rows themselves."""
        units = self.make_units(pool, SEED)
        if units.itemwise:
            rows = np.arange(len(pool))
            assert units.of(rows).tolist() == rows.tolist()
            assert units.size.tolist() == [1] * len(pool)
