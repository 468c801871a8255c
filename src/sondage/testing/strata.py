"""What every rule for strata has to do, as tests that its own test class inherits."""

from __future__ import annotations

import json
from html import unescape
from typing import Any

import numpy as np
import pytest

from sondage.errors import SondageError
from sondage.pool.pool import Pool
from sondage.pool.units import CellUnits
from sondage.registry import from_config
from sondage.strata.base import Strata
from sondage.testing.units import SEED, random_columns, taken
from sondage.types import Ints

SPACES = ("two classes", "three classes", "real", "several numbers")
"""Kinds of labels that a pool may have."""
SYSTEMS = ("a", "b")
_ORDERS = 100
"""Seeds from which it is seen whether an order is random."""


def strata_columns(space: str, n: int = 90, seed: int = 5) -> dict[str, Any]:
    """Arguments of ``Pool.from_arrays``: two systems, the group ``group`` and the features ``x, y, z``."""
    classes = {"two classes": ("no", "yes"), "three classes": ("x", "y", "z")}.get(space)
    columns = random_columns(seed, n, classes=classes)
    rng = np.random.default_rng(seed)
    if space == "several numbers":
        columns |= {"labels": ["p", "q", "r"], "multilabel": True}
        columns["systems"] = {name: {"probability": rng.uniform(size=(n, 3))} for name in SYSTEMS}
    table = rng.normal(size=(n, 3)) + rng.integers(0, 3, n)[:, None]
    table[: n // 5] = table[0]  # equal items
    columns["features"] = dict(zip(("x", "y", "z"), table.T, strict=True))
    return columns


class StrataSuite:
    """Conformance tests of strata: inherit, and say how the rule is made.

    Its pools have two systems, a group ``group`` and features. ``spaces`` are the kinds of labels that
    the rule serves: it must refuse the others, with a way out.
    """

    spaces: tuple[str, ...] = SPACES
    serialisable = True

    def make_strata(self) -> Strata:
        """The rule for strata under test."""
        raise NotImplementedError("override make_strata")

    @pytest.fixture(params=SPACES)
    def columns(self, request: pytest.FixtureRequest) -> dict[str, Any]:
        """A pool of each kind of labels that the rule serves."""
        if request.param not in self.spaces:
            pytest.skip("refused, which has its own test")
        return strata_columns(request.param)

    def codes(self, pool: Pool, systems: tuple[str, ...] = SYSTEMS[:1]) -> list[int]:
        """The stratum of every item, checked: numbers without gaps, one per item."""
        found = self.make_strata().codes(pool, systems, SEED)
        assert found.shape == (len(pool),)
        assert np.issubdtype(found.dtype, np.integer)
        codes: list[int] = found.tolist()
        assert sorted(set(codes)) == list(range(max(codes) + 1))
        return codes

    @pytest.mark.parametrize("systems", [SYSTEMS[:1], SYSTEMS[1:], SYSTEMS])
    def test_every_item_is_in_one_stratum(self, columns: dict[str, Any], systems: tuple[str, ...]) -> None:
        """Strata are numbered 0, 1, 2, ... and none is empty, for one system and for two."""
        self.codes(Pool.from_arrays(**columns), systems)

    def test_row_order_of_the_source_is_nothing(self, columns: dict[str, Any]) -> None:
        """A shuffled source has the same strata with the same numbers."""
        found = self.codes(Pool.from_arrays(**columns))
        for seed in range(3):
            order: Ints = np.random.default_rng(seed).permutation(len(columns["id"]))
            assert self.codes(Pool.from_arrays(**taken(columns, order))) == found

    def test_made_again_is_the_same_and_the_pool_too(self, columns: dict[str, Any]) -> None:
        """Rule, pool and seed determine the strata; the pool is not changed."""
        pool = Pool.from_arrays(**columns)
        found = self.codes(pool)
        assert self.codes(pool) == found
        assert pool.fingerprint == Pool.from_arrays(**columns).fingerprint

    def test_a_pool_of_one_item_is_one_stratum(self, columns: dict[str, Any]) -> None:
        """However many were asked for."""
        one = Pool.from_arrays(**taken(columns, np.array([40])))
        assert self.codes(one) == [0]
        assert self.make_strata().describe(one, SYSTEMS[:1], SEED).actual == 1

    def test_the_description_is_of_these_strata(self, columns: dict[str, Any]) -> None:
        """``describe`` has the codes, sizes and names of the strata, and no more than were asked for."""
        pool = Pool.from_arrays(**columns)
        found = self.make_strata().describe(pool, SYSTEMS[:1], SEED)
        assert found.codes.tolist() == self.codes(pool)
        assert found.size.tolist() == np.bincount(found.codes).tolist()
        assert len(found.names) == found.actual == len(found.size)
        if found.requested is not None:
            assert found.actual <= found.requested
            assert found.actual == found.requested or found.notes
        if found.edges is not None:
            assert len(found.edges) == found.actual + 1
            assert (np.diff(found.edges) >= 0).all()

    def test_the_description_can_be_read(self, columns: dict[str, Any]) -> None:
        """As text and as HTML, with the rule, the first and the last stratum, and every note."""
        found = self.make_strata().describe(Pool.from_arrays(**columns), SYSTEMS[:1], SEED)
        for shown in (str(found), unescape(found._repr_html_())):
            for part in (repr(found.alias), found.names[0], found.names[-1], *found.notes):
                assert part in shown

    def test_the_tree_has_the_strata_as_leaves(self, columns: dict[str, Any]) -> None:
        """One leaf per stratum, in their order, and no node with a single child."""
        found = self.make_strata().describe(Pool.from_arrays(**columns), SYSTEMS[:1], SEED)
        assert len(found.tree.leaf) == found.actual
        assert found.tree.leaves_under(0) == range(found.actual)
        assert 1 not in found.tree.n_children.tolist()

    def test_cells_are_made_of_them(self, columns: dict[str, Any]) -> None:
        """Units made of the strata are the strata."""
        pool = Pool.from_arrays(**columns)
        found = self.make_strata().codes(pool, SYSTEMS[:1], SEED)
        units = CellUnits(pool, found, seed=SEED, by_cost=False)
        assert units.codes.tolist() == found.tolist()

    def test_who_is_drawn_first_does_not_depend_on_how_the_pool_was_cut(self) -> None:
        """Over seeds, an item's place in the order of its cell is uniform, ties or not."""
        space = "real" if "real" in self.spaces else self.spaces[0]
        columns = strata_columns(space, n=60)
        for system in columns["systems"].values():
            for part in {"score", "std"} & set(system):  # two long runs of equal values
                system[part] = np.clip(system[part], *np.quantile(system[part], [0.31, 0.77]))
        pool = Pool.from_arrays(**columns)
        total = np.zeros(len(pool))
        for seed in range(_ORDERS):
            codes = self.make_strata().codes(pool, SYSTEMS[:1], seed)
            units = CellUnits(pool, codes, seed=seed, by_cost=False)
            for cell, size in enumerate(units.size.tolist()):
                rows = units.rows_at(np.full(size, cell), np.arange(size))
                total[rows] += (np.arange(size) + 0.5) / size - 0.5
        assert np.abs(total / np.sqrt(_ORDERS / 12)).max() < 4.5

    def test_config_round_trip(self, columns: dict[str, Any]) -> None:
        """The configuration is plain JSON from which a rule for the same strata is made."""
        if not self.serialisable:
            pytest.skip("made with data that a journal cannot hold")
        rule = self.make_strata()
        again = from_config(json.loads(json.dumps(rule.config())))
        assert type(again) is type(rule)
        assert again.config() == rule.config()
        pool = Pool.from_arrays(**columns)
        assert again.codes(pool, SYSTEMS[:1], SEED).tolist() == self.codes(pool)

    def test_what_it_does_not_serve_it_refuses(self) -> None:
        """An error of this package that names the rule and something to use instead."""
        others = [space for space in SPACES if space not in self.spaces]
        if not others:
            pytest.skip("serves every kind of labels")
        rule = self.make_strata()
        for space in others:
            with pytest.raises(SondageError, match=rf"{rule.alias}.*(use|pass)"):
                rule.codes(Pool.from_arrays(**strata_columns(space)), SYSTEMS[:1], SEED)
