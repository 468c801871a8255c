"""A belief in one file: predictions of classes are right nine times in ten."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sondage.beliefs import Nodes, StaticBelief
from sondage.errors import InvalidInput
from sondage.testing import BeliefSuite


@dataclass(frozen=True)
class NineInTen(StaticBelief):
    """Nine tenths on the predicted class, the rest shared by the others."""

    alias: ClassVar[str] = "nine-in-ten"
    system: str = ""

    def bind(self, pool, systems):
        if not pool.labels.finite:
            raise InvalidInput("belief 'nine-in-ten' needs labels that are classes: use belief='scores'")
        return NineInTen(systems[0])

    def items(self, rows):
        size = rows.labels.size
        weights = np.full((len(rows), size), 0.1 / (size - 1))
        weights[np.arange(len(rows)), rows.prediction(self.system).astype(int)] = 0.9
        return Nodes(np.arange(size, dtype=float), weights)


class TestNineInTen(BeliefSuite):
    spaces = (("no", "yes"), ("x", "y", "z"))

    def make_belief(self):
        return NineInTen()
