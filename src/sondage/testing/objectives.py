"""What every objective has to do, as tests that its own test class inherits."""

from __future__ import annotations

import json

import numpy as np
import pytest

from sondage.objective import Objective
from sondage.registry import from_config
from sondage.types import Floats


class ObjectiveSuite:
    """Conformance tests of an objective: inherit, and say how one is made for ``m`` coordinates."""

    sizes: tuple[int, ...] = (1, 2, 5)
    serialisable = True

    def make_objective(self, m: int) -> Objective:
        """An objective for a measure of ``m`` coordinates."""
        raise NotImplementedError("override make_objective")

    def values(self, m: int, seed: int) -> Floats:
        """A current value of ``m`` coordinates."""
        return np.random.default_rng(seed).uniform(0.05, 0.95, m)

    def assert_weights(self, weight: Floats, m: int) -> None:
        """The contract: one finite number per coordinate, none negative, not all zero."""
        assert weight.shape == (m,)
        assert np.isfinite(weight).all()
        assert (weight >= 0).all()
        assert weight.sum() > 0

    def test_weights(self) -> None:
        """Whatever the value, the weights keep the contract."""
        for m in self.sizes:
            for seed in range(5):
                self.assert_weights(self.make_objective(m).weight(self.values(m, seed)), m)

    def test_weights_where_the_value_is_undefined(self) -> None:
        """A coordinate that is still nan, or all of them, does not spoil the weights."""
        for m in self.sizes:
            value = self.values(m, 0)
            value[0] = np.nan
            self.assert_weights(self.make_objective(m).weight(value), m)
            self.assert_weights(self.make_objective(m).weight(np.full(m, np.nan)), m)

    def test_weights_where_coordinates_are_equal(self) -> None:
        """Ties, and values at the ends of the range, leave something that matters."""
        for m in self.sizes:
            for level in (0.0, 0.5, 1.0):
                value = np.full(m, level)
                self.assert_weights(self.make_objective(m).weight(value), m)

    def test_weight_is_a_pure_function(self) -> None:
        """The same arguments give the same weights, and are left as they were."""
        for m in self.sizes:
            value = self.values(m, 1)
            before, objective = value.copy(), self.make_objective(m)
            first = objective.weight(value).copy()
            objective.weight(self.values(m, 2))
            np.testing.assert_array_equal(objective.weight(value), first)
            np.testing.assert_array_equal(value, before)

    def test_config_round_trip(self) -> None:
        """The configuration is plain JSON from which the same objective is made."""
        if not self.serialisable:
            pytest.skip("made with code")
        for m in self.sizes:
            objective = self.make_objective(m)
            config = json.loads(json.dumps(objective.config()))
            again = from_config(config)
            assert type(again) is type(objective)
            assert again.config() == objective.config()
            value = self.values(m, 3)
            np.testing.assert_array_equal(again.weight(value), objective.weight(value))
