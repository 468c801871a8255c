"""The objective of plain estimation keeps the contract."""

from __future__ import annotations

import numpy as np
import pytest

from sondage.errors import InvalidInput
from sondage.objective import EstimateAll, Objective
from sondage.testing.objectives import ObjectiveSuite


class TestEstimateAll(ObjectiveSuite):
    def make_objective(self, m: int) -> Objective:
        return EstimateAll()


def test_every_coordinate_matters_alike() -> None:
    assert EstimateAll().weight(np.array([0.1, 0.9, np.nan])).tolist() == [1.0, 1.0, 1.0]


def test_unknown_name() -> None:
    assert Objective.from_alias("estimate") == EstimateAll()
    with pytest.raises(InvalidInput, match=r"unknown objective 'estimat'.*did you mean 'estimate'"):
        Objective.from_alias("estimat")
