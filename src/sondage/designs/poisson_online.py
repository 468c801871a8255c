"""Poisson sampling in rounds, each by chances that learn from the labels before it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from sondage.beliefs import Belief, CountBelief
from sondage.designs.allocations.shares import shares
from sondage.designs.base import COST_RULES, PROBABILITY_FLOOR, CostRule, Design, Problem, over_root_cost
from sondage.designs.influence.sizes_to_draw_by import drawing_size
from sondage.sampling import PivotalRound, PoissonRound, SamplingKind, SystematicRound, Table
from sondage.strata.base import Strata
from sondage.strata.log_rank import LogRank

_KINDS: dict[str, SamplingKind] = {
    "poisson": PoissonRound(),
    "systematic": SystematicRound(),
    "pivotal": PivotalRound(),
}


@dataclass(frozen=True)
class PoissonOnline(Design):
    """Rounds of water-filled Poisson samples of the items not asked before (Yilmaz et al., App. E).

    A round's chances may follow from all earlier labels, because every round by itself gives unbiased
    totals: what is labelled already, and inverse chances for the rest. Rounds are combined with weights
    fixed in advance. ``sampling="poisson"`` includes items independently, so that their number varies about
    n; ``"systematic"`` takes exactly n by equal steps along the strata (by score), ``"pivotal"`` exactly n
    with fractions settled by chance between neighbouring cells. ``floor`` is the share of every chance
    that is the same for all: the chance of an item is never 0. Only samples of the design ``poisson`` are
    nested; these are not.
    """

    alias: ClassVar[str] = "poisson-online"
    belief: Belief = field(default_factory=CountBelief)
    strata: Strata = field(default_factory=LogRank)
    sampling: Literal["poisson", "systematic", "pivotal"] = "poisson"
    floor: float = 0.1
    probability_floor: float = 1e-3
    batch: int = 100
    cost: CostRule = "use"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require(
            floor="(0, 1]", sampling=tuple(_KINDS), probability_floor=PROBABILITY_FLOOR, cost=COST_RULES
        )

    @property
    def kind(self) -> SamplingKind:  # type: ignore[override]
        """How each round is drawn."""
        return _KINDS[self.sampling]

    def table(self, problem: Problem, n: int) -> Table:
        """Inclusion chances of the items left, n of them on average."""
        left = problem.units.size - problem.asked
        size, _ = drawing_size(problem, 2, floor=self.probability_floor)
        size = over_root_cost(size, problem.units.cost, self.cost)
        mean = float(left @ size) / max(int(left.sum()), 1)
        size = (1 - self.floor) * (size / mean if mean > 0 else np.ones(len(size))) + self.floor
        expected = shares(size * left, left, n)
        return Table(self.kind, chance=np.where(left > 0, expected / np.maximum(left, 1), 0.0))
