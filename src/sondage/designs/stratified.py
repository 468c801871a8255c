"""Stratified sampling: a number of labels for every cell, at random inside it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from sondage.beliefs import Belief, ScoreBelief
from sondage.designs.allocation import shares, top_up, with_floor
from sondage.designs.base import Design, Kind, Problem, Table, check_probability_floor
from sondage.designs.influence import unit_spread
from sondage.errors import InvalidInput
from sondage.pool.strata import LogRank, Strata
from sondage.types import Floats


@dataclass(frozen=True)
class Stratified(Design):
    """Labels shared out over cells: by size, or by size times the believed spread of influence.

    ``allocation="neyman"`` (Neyman 1934) takes the spread from the belief; with the default belief,
    which labels do not change, the allocation is fixed in advance and the estimate unbiased, where an
    allocation that follows the labels seen is biased towards what it happened to see first. ``floor``
    is the share of labels spread without regard to the belief, half of it evenly over the cells and
    half by their size. Costs enter by their root. ``probability_floor`` is the least chance of any
    label that the design reckons with: without it a positive that the model is sure is none gets an
    unbounded weight.
    """

    alias: ClassVar[str] = "stratified"
    kind: ClassVar[Kind] = "strata"
    allocation: Literal["neyman", "proportional"] = "neyman"
    belief: Belief = field(default_factory=ScoreBelief)
    strata: Strata = field(default_factory=LogRank)
    floor: float = 0.2
    probability_floor: float = 1e-3

    def __post_init__(self) -> None:
        check_probability_floor(self.probability_floor)
        if self.allocation not in ("neyman", "proportional"):
            raise InvalidInput(f"allocation= must be 'neyman' or 'proportional', not {self.allocation!r}")
        if not 0 <= self.floor <= 1:
            raise InvalidInput(f"floor= must be in [0, 1], not {self.floor}")

    def table(self, problem: Problem, n: int) -> Table:
        """What every cell still lacks of its share."""
        size, asked = problem.units.size, problem.asked
        total = int(asked.sum()) + n
        weight = self._weight(problem)
        goal = shares(weight, size, total)
        budget = total - n + problem.left if np.isfinite(problem.left) else 0.0
        if max(total, budget) >= 2 * len(size):
            goal = np.maximum(goal, 1.0)  # no cell stays dark where half the labels can light them all
        return Table(self.kind, quota=top_up(goal, asked, size, n, weight))

    def _weight(self, problem: Problem) -> Floats:
        size = problem.units.size
        if self.allocation == "proportional":
            return np.asarray(size / size.sum())
        spread = unit_spread(problem, self.probability_floor)
        return with_floor(np.sqrt(spread / problem.units.cost) * size, size, self.floor)
