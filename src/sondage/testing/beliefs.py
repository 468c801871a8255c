"""What every belief has to do, as tests that its own test class inherits."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from sondage.beliefs.base import Belief, Nodes, Seen, State
from sondage.errors import InvalidInput
from sondage.pool.division import Division
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.pool.units import CellUnits, ItemUnits, Units
from sondage.registry import from_config
from sondage.streams import stream
from sondage.testing.units import SEED, random_columns, taken
from sondage.types import Array, Floats

SYSTEMS = (("a",), ("a", "b"))
FEW = 5
SEVERAL = ("several", "yes or no")
"""Stands for labels of several yes or no at once."""


class BeliefSuite:
    """Conformance tests of a belief: inherit, and say how one is made.

    ``spaces`` are the label spaces that the belief serves: classes, None for real labels, ``SEVERAL`` for
    labels of several yes or no. Real labels lie between ``bounds``. ``of_items`` is False for a belief that
    is about cells: it starts elsewhere than at the mean of their items, and refuses single items.
    """

    spaces: ClassVar[tuple[tuple[Any, ...] | None, ...]] = (
        ("no", "yes"),
        ("x", "y", "z"),
        None,
        SEVERAL,
    )
    bounds: ClassVar[tuple[float, float]] = (-20.0, 20.0)
    of_items: ClassVar[bool] = True

    def make_belief(self) -> Belief:
        """A belief that is not bound to a pool."""
        raise NotImplementedError("override make_belief")

    def columns(self, seed: int, classes: tuple[Any, ...] | None) -> dict[str, Any]:
        """Arguments of ``Pool.from_arrays``."""
        if classes is not SEVERAL:
            return random_columns(seed, 80, classes=classes)
        names = ("x", "y", "z")
        columns = random_columns(seed, 80, classes=names)
        rng = np.random.default_rng(seed)
        systems = {name: {"probability": rng.uniform(size=(80, len(names)))} for name in columns["systems"]}
        return {**columns, "systems": systems, "multilabel": True}

    def units(self, pool: Pool) -> Units:
        """Cells of the group and the predictions."""
        prediction = pool.system().prediction if pool.labels.finite else None
        strata = pool.group("group").codes.astype(np.int64)
        return CellUnits(pool, strata, prediction, seed=SEED, by_cost=False)

    def cases(self) -> Iterator[tuple[Pool, Units, Belief]]:
        """Pools of every label space, with the belief about one system and about two."""
        for classes in self.spaces:
            for seed, systems in enumerate(SYSTEMS):
                pool = Pool.from_arrays(**self.columns(seed, classes))
                yield pool, self.units(pool), self.make_belief().bind(pool, systems)

    def rounds(self, pool: Pool, units: Units, seed: int = 0, count: int = 5) -> list[Seen]:
        """The labels known at each of some asks: each has those of the last, and more."""
        rng = np.random.default_rng(seed)
        rows = rng.permutation(len(pool))
        y = self.answers(pool, rng)
        ends = np.linspace(0, len(pool) // 2, count).astype(int)
        return [Seen(units.of(rows[:end]), rows[:end], y[rows[:end]]) for end in ends]

    def answers(self, pool: Pool, rng: np.random.Generator) -> Floats:
        """A possible label for every row of the pool."""
        space, n = pool.labels, len(pool)
        if space.kind == "classes":
            return rng.integers(0, space.size, n).astype(np.float64)
        if space.kind == "vector":
            return space.encode(rng.integers(0, 2, (n, len(space.components))).tolist())
        return np.clip(rng.normal(size=n), *self.bounds)

    def states(self, belief: Belief, pool: Pool, units: Units, seed: int = 0) -> list[State]:
        """The start, and the state after each ask."""
        states = [belief.start(pool, units)]
        for seen in self.rounds(pool, units, seed):
            states.append(belief.step(states[-1], seen))
        return states

    def grid(self, pool: Pool) -> tuple[Floats, Rows]:
        """Numbers between the bounds, and the first rows of a pool once for each of them."""
        numbers = np.linspace(*self.bounds, 4001)
        return numbers, pool.rows(np.tile(np.arange(FEW), len(numbers)))

    def assert_nodes(self, nodes: Nodes | None, pool: Pool, n: int) -> None:
        """The contract: a distribution in every row; with classes, none of them ruled out."""
        assert nodes is not None
        labels, weights = nodes
        assert len(weights) == n
        if pool.labels.kind == "vector":
            assert labels.shape == (n, 0)
            assert weights.shape == (n, len(pool.labels.components))
            assert ((weights > 0) & (weights < 1)).all()
            return
        assert labels.shape in (weights.shape, weights.shape[1:])
        assert np.isfinite(labels).all()
        assert (weights >= 0).all()
        np.testing.assert_allclose(weights.sum(axis=1), 1.0, rtol=1e-12)
        if pool.labels.finite:
            assert labels.tolist() == list(range(pool.labels.size))
            assert (weights > 0).all()

    def assert_same(self, one: Any, two: Any) -> None:
        """States equal in every bit, whatever a belief keeps in them."""
        assert type(one) is type(two)
        if is_dataclass(one):
            for part in fields(one):
                self.assert_same(getattr(one, part.name), getattr(two, part.name))
        elif isinstance(one, tuple):
            assert len(one) == len(two)
            for left, right in zip(one, two, strict=True):
                self.assert_same(left, right)
        else:
            np.testing.assert_array_equal(one, two)

    # Before any label

    def test_items(self) -> None:
        """The belief about single items is a distribution that rules no class out."""
        for pool, _, belief in self.cases():
            self.assert_nodes(belief.items(pool.rows(slice(None))), pool, len(pool))

    def test_sure_items(self) -> None:
        """Where a system is certain, the other classes still have a chance."""
        for classes in self.spaces:
            if classes in (None, SEVERAL):
                continue
            columns = self.columns(0, classes)
            for parts in columns["systems"].values():
                sure = (parts["probability"] > 0.5).astype(np.float64)
                if sure.ndim == 2:
                    sure = np.eye(len(classes))[parts["probability"].argmax(axis=1)]
                parts["probability"] = sure
            pool = Pool.from_arrays(**columns)
            belief, units = self.make_belief().bind(pool, ("a", "b")), self.units(pool)
            self.assert_nodes(belief.items(pool.rows(slice(None))), pool, len(pool))
            for state in self.states(belief, pool, units):
                self.assert_nodes(state.nodes, pool, units.count)

    def test_probabilities_that_are_a_little_off(self) -> None:
        """Class probabilities that a pool accepts as summing to 1 give weights that do."""
        for classes in self.spaces:
            if classes in (None, SEVERAL) or len(classes) == 2:
                continue
            columns = self.columns(0, classes)
            for parts in columns["systems"].values():
                parts["probability"] = np.round(parts["probability"], 4)
            pool = Pool.from_arrays(**columns)
            belief = self.make_belief().bind(pool, ("a", "b"))
            self.assert_nodes(belief.items(pool.rows(slice(None))), pool, len(pool))

    def test_item_is_its_own(self) -> None:
        """The belief about an item does not depend on which items it is asked together with."""
        for pool, _, belief in self.cases():
            index = np.random.default_rng(0).integers(0, len(pool), 20)
            whole = belief.items(pool.rows(slice(None)))
            some = belief.items(pool.rows(index))
            np.testing.assert_allclose(some.weights, whole.weights[index], rtol=1e-14)
            labels = whole.labels if whole.labels.ndim == 1 else whole.labels[index]
            np.testing.assert_array_equal(some.labels, labels)

    def test_start_is_the_mean_of_the_items(self) -> None:
        for pool, units, belief in self.cases():
            state = belief.start(pool, units)
            assert state.nodes is not None
            if not self.of_items:
                self.assert_nodes(state.nodes, pool, units.count)
            elif pool.labels.finite:
                self.assert_nodes(state.nodes, pool, units.count)
                items = belief.items(pool.rows(slice(None))).weights
                unit = units.of(np.arange(len(pool)))
                means = [items[unit == u].mean(axis=0) for u in range(units.count)]
                np.testing.assert_allclose(state.nodes.weights, means, rtol=1e-12)
            else:
                rows, _ = units.representatives()
                self.assert_nodes(state.nodes, pool, len(rows))

    def test_start_of_single_items(self) -> None:
        """Where units are items the state holds nothing: the belief is asked row by row."""
        for pool, _, belief in self.cases():
            if not self.of_items:
                with pytest.raises(InvalidInput, match="strata"):
                    belief.start(pool, ItemUnits(pool, SEED))
                continue
            state = belief.start(pool, ItemUnits(pool, SEED))
            assert state.nodes is None
            rows = np.array([3, 1])
            y = self.answers(pool, np.random.default_rng(0))
            stepped = belief.step(state, Seen(rows, rows, y[rows]))
            assert stepped.nodes is None

    def test_mass(self) -> None:
        """``mass`` sums the belief of the items in each cell, of all or of some."""
        for pool, _, belief in self.cases():
            if not pool.labels.finite:
                continue
            rng = np.random.default_rng(1)
            code: Array = np.concatenate([np.arange(4), rng.integers(0, 4, len(pool) - 4)])
            items = belief.items(pool.rows(slice(None))).weights
            some = np.flatnonzero(rng.uniform(size=len(pool)) < 0.5)
            for rows in (None, some):
                each, mine = (items, code) if rows is None else (items[rows], code[rows])
                expected = np.array([each[mine == k].sum(axis=0) for k in range(4)])
                found = belief.mass(pool, Division(code), None if rows is None else pool.rows(rows))
                np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)

    def test_likelihood(self) -> None:
        """``log_likelihood`` is the log of a label's weight; for numbers, of a density."""
        for pool, _, belief in self.cases():
            rows = pool.rows(slice(None))
            weights = belief.items(rows).weights
            if pool.labels.kind == "vector":
                y = self.answers(pool, np.random.default_rng(0))
                told = pool.labels.vectors(y)
                product = np.where(told > 0, weights, 1 - weights).prod(axis=1)
                np.testing.assert_allclose(np.exp(belief.log_likelihood(rows, y)), product, rtol=1e-9)
                continue
            if pool.labels.finite:
                for label in range(pool.labels.size):
                    found = belief.log_likelihood(rows, np.full(len(pool), float(label)))
                    np.testing.assert_allclose(np.exp(found), weights[:, label], rtol=1e-9)
                continue
            grid, rows = self.grid(pool)
            chance = np.exp(belief.log_likelihood(rows, np.repeat(grid, FEW))).reshape(-1, FEW)
            below = belief.below(rows, np.repeat(grid, FEW)).reshape(-1, FEW)
            assert (chance >= 0).all()
            # The density adds up to what lies below.
            found = np.cumsum(0.5 * (chance[1:] + chance[:-1]), axis=0) * (grid[1] - grid[0])
            np.testing.assert_allclose(found, below[1:] - below[0], atol=2e-3)
            np.testing.assert_allclose(below[[0, -1]], [[0.0] * FEW, [1.0] * FEW], atol=1e-6)

    def test_mean_of_numbers(self) -> None:
        """Nodes of numbers have the mean of the distribution that ``below`` describes."""
        for pool, _, belief in self.cases():
            if pool.labels.kind != "real":
                continue
            labels, weights = belief.items(pool.rows(np.arange(FEW)))
            grid, rows = self.grid(pool)
            above = 1.0 - belief.below(rows, np.repeat(grid, FEW)).reshape(-1, FEW)
            mean = grid[0] + 0.5 * (above[1:] + above[:-1]).sum(axis=0) * (grid[1] - grid[0])
            np.testing.assert_allclose((weights * labels).sum(axis=1), mean, atol=1e-3)

    # A fold over rounds

    def test_weights_after_every_step(self) -> None:
        """After any labels the weights are distributions, and no class is ruled out."""
        for pool, units, belief in self.cases():
            n = units.count if pool.labels.finite else len(units.representatives()[0])
            for state in self.states(belief, pool, units):
                self.assert_nodes(state.nodes, pool, n)

    def test_one_sided_labels_rule_nothing_out(self) -> None:
        for pool, units, belief in self.cases():
            if not pool.labels.finite:
                continue
            rows = np.arange(len(pool))
            for label in range(pool.labels.size):
                seen = Seen(units.of(rows), rows, np.full(len(rows), float(label)))
                state = belief.step(belief.start(pool, units), seen)
                self.assert_nodes(state.nodes, pool, units.count)

    def test_replay_gives_the_same_states(self) -> None:
        for (pool, units, belief), (twin, cells, again) in zip(self.cases(), self.cases(), strict=True):
            first = self.states(belief, pool, units)
            self.states(again, twin, cells, seed=9)  # other labels in between leave no trace
            for one, two in zip(first, self.states(again, twin, cells), strict=True):
                self.assert_same(one, two)

    def test_step_changes_nothing_it_was_given(self) -> None:
        for pool, units, belief in self.cases():
            state = belief.step(belief.start(pool, units), self.rounds(pool, units)[1])
            assert state.nodes is not None
            before = state.nodes.weights.copy()
            seen = self.rounds(pool, units)[-1]
            copies = [None if part is None else part.copy() for part in seen]
            belief.step(state, seen)
            np.testing.assert_array_equal(state.nodes.weights, before)
            for part, copy in zip(seen, copies, strict=True):
                np.testing.assert_array_equal(part, copy)

    def test_row_order_of_the_source_is_nothing(self) -> None:
        for classes in self.spaces:
            columns = self.columns(0, classes)
            order = np.random.default_rng(3).permutation(len(columns["id"]))
            found = []
            for one in (columns, taken(columns, order)):
                pool = Pool.from_arrays(**one)
                belief = self.make_belief().bind(pool, ("a", "b"))
                found.append(self.states(belief, pool, self.units(pool)))
            for left, right in zip(*found, strict=True):
                self.assert_same(left, right)

    # Draws

    def test_replicates(self) -> None:
        """``replicate`` gives ``count`` distributions of the shape of the state's weights."""
        for pool, units, belief in self.cases():
            for state in self.states(belief, pool, units)[::2]:
                assert state.nodes is not None
                draws = list(belief.replicate(state, stream(1, "belief"), 7))
                assert len(draws) == 7
                for weights in draws:
                    assert weights.shape == state.nodes.weights.shape
                    assert (weights >= 0).all()
                    if pool.labels.kind != "vector":
                        np.testing.assert_allclose(weights.sum(axis=1), 1.0, rtol=1e-12)

    def test_replicates_come_from_the_stream_alone(self) -> None:
        """The same stream gives the same draws, and drawing leaves the state as it was."""
        for pool, units, belief in self.cases():
            state = self.states(belief, pool, units)[-1]
            assert state.nodes is not None
            before = state.nodes.weights.copy()
            one, two = (np.array(list(belief.replicate(state, stream(5, "belief", 2), 3))) for _ in range(2))
            np.testing.assert_array_equal(one, two)
            np.testing.assert_array_equal(state.nodes.weights, before)

    def test_replicates_are_centred_on_the_weights(self) -> None:
        """The mean of many draws is the state's weights.

        Five standard errors of any variable on [0, 1] with that mean, and one rare draw more.
        """
        count = 1000
        for pool, units, belief in self.cases():
            state = self.states(belief, pool, units)[-1]
            assert state.nodes is not None
            draws = np.array(list(belief.replicate(state, stream(6, "belief"), count)))
            error = np.sqrt(state.nodes.weights * (1 - state.nodes.weights) / count)
            away = np.abs(draws.mean(axis=0) - state.nodes.weights)
            assert (away <= 5 * error + 1 / count).all()

    # Configuration

    def test_bind_leaves_the_belief_as_it_is(self) -> None:
        """One belief can be bound to one pool after another."""
        belief = self.make_belief()
        before = belief.config()
        for classes in self.spaces:
            belief.bind(Pool.from_arrays(**self.columns(1, classes)), ("b",))
        assert belief.config() == before

    def test_config_round_trip(self) -> None:
        """The configuration is plain JSON from which the same belief is made."""
        belief = self.make_belief()
        again = from_config(json.loads(json.dumps(belief.config())))
        assert type(again) is type(belief)
        assert again.config() == belief.config()
        for classes in self.spaces:
            pool = Pool.from_arrays(**self.columns(1, classes))
            units = self.units(pool)
            one, two = belief.bind(pool, ("a", "b")), again.bind(pool, ("a", "b"))
            for left, right in zip(self.states(one, pool, units), self.states(two, pool, units), strict=True):
                self.assert_same(left, right)
