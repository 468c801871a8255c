"""Sequential sampling without replacement: one cell after another, each by a recorded chance."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from sondage.beliefs import Belief, CountBelief
from sondage.designs.base import Design, Problem, check_probability_floor
from sondage.designs.influence import unit_spread
from sondage.designs.sharing import with_floor
from sondage.errors import InvalidInput
from sondage.sampling import OneByOne, SamplingKind, Table
from sondage.strata.base import LogRank, Strata


@dataclass(frozen=True)
class Sequential(Design):
    """Draws a cell by the believed spread of influence, then one of its items left, evenly.

    Every item left has a positive chance at every draw, and the chance is recorded, so that estimates
    are unbiased however the belief adapts. ``floor`` is the share of draws made without regard to the
    belief, half of it evenly over the cells and half by their size. ``probability_floor`` is the
    least chance of any label that the design reckons with: without it a positive that the model is
    sure is none gets an unbounded weight.
    """

    alias: ClassVar[str] = "sequential"
    kind: ClassVar[SamplingKind] = OneByOne()
    belief: Belief = field(default_factory=CountBelief)
    strata: Strata = field(default_factory=LogRank)
    floor: float = 0.3
    probability_floor: float = 1e-3

    def __post_init__(self) -> None:
        check_probability_floor(self.probability_floor)
        if not 0 < self.floor <= 1:
            raise InvalidInput(f"floor= must be in (0, 1], not {self.floor}")

    def table(self, problem: Problem, n: int) -> Table:
        """Chances per item for the draws of one round."""
        left = problem.units.size - problem.asked
        spread = unit_spread(problem, self.probability_floor)
        mass = with_floor(np.sqrt(spread / problem.units.cost) * left, left, self.floor)
        return Table(self.kind, chance=np.where(left > 0, mass / np.maximum(left, 1), 0.0))
