"""Poisson sampling: every item is included or not by a chance of its own; one growing sample, or rounds."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

import numpy as np

from sondage.beliefs import Belief, CountBelief, ScoreBelief
from sondage.designs.base import COST_RULES, PROBABILITY_FLOOR, CostRule, Design, Problem, over_root_cost
from sondage.designs.influence.of_items import item_spread
from sondage.designs.influence.sizes_to_draw_by import drawing_size
from sondage.designs.shares import chance_to_include
from sondage.sampling import (
    FixedSize,
    PivotalRound,
    PoissonRound,
    PoissonSample,
    SamplingKind,
    SystematicRound,
    Table,
)
from sondage.sampling.poisson import WaterLevel
from sondage.strata.base import Strata
from sondage.strata.log_rank import LogRank

_KINDS: dict[str, SamplingKind] = {
    "poisson": PoissonRound(),
    "systematic": SystematicRound(),
    "pivotal": PivotalRound(),
}


@dataclass(frozen=True)
class Poisson(Design):
    """Water-filled Poisson sampling (Yilmaz et al., Algorithm 3, corrected).

    Inclusion is ``min(1, scale * size)`` with size proportional to the root mean square influence over the
    root of the cost. Every item has one permanent random number, so that asking for more gives a superset.
    The number of items is random: ``ask(n)`` raises the *expected* size by n and returns what arrives, never
    more than the budget allows. ``fixed_size=True`` returns exactly n, with chances that are still exactly
    unbiased (priority sampling). ``floor`` is the share of every item's size that is the same for all:
    without it a design for precision never looks at predicted negatives. ``probability_floor`` is the least
    chance of any label that the design reckons with: without it a positive that the model is sure is none
    gets an unbounded weight. ``cost="ignore"`` leaves label costs out of the sizes, and ``cost="only"``
    everything else.
    """

    alias: ClassVar[str] = "poisson"
    static: ClassVar[bool] = True
    belief: Belief = field(default_factory=lambda: ScoreBelief(shrink=0.1))
    strata: Strata | None = None
    floor: float = 0.05
    probability_floor: float = 1e-3
    fixed_size: bool = False
    cost: CostRule = "use"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require(floor="[0, 1]", probability_floor=PROBABILITY_FLOOR, cost=COST_RULES)

    @property
    def kind(self) -> SamplingKind:  # type: ignore[override]
        return FixedSize() if self.fixed_size else PoissonSample()

    def table(self, problem: Problem, n: int) -> Table:
        """The same sizes in every round, at the scale that makes the expected sample n larger."""
        base = problem.once("poisson", lambda: self._make(problem))
        if self.fixed_size:
            return base
        assert base.chance is not None
        level = base.cached("level", lambda: WaterLevel(base.chance))  # type: ignore[arg-type]
        return replace(base, scale=level.scale(problem.expected + n))

    def _make(self, problem: Problem) -> Table:
        size = np.sqrt(item_spread(problem, floor=self.probability_floor))
        size = over_root_cost(size, problem.units.cost, self.cost)
        mean = size.mean()
        size = size / mean if mean > 0 else np.ones(len(size))
        return Table(self.kind, chance=(1 - self.floor) * size + self.floor)


@dataclass(frozen=True)
class PoissonOnline(Design):
    """Rounds of water-filled Poisson samples of the items not asked before (Yilmaz et al., App. E).

    The chances of a round may follow from all earlier labels, because every round by itself gives unbiased
    totals: what is labelled already, and inverse chances for the rest. Rounds are combined with weights fixed
    in advance. ``sampling="poisson"`` includes items independently, so that their number varies about n;
    ``"systematic"`` takes exactly n by equal steps along the strata (by score), ``"pivotal"`` exactly n with
    fractions settled by chance between neighbouring cells. ``floor`` is the share of every chance that is the
    same for all: the chance of an item is never 0. Unlike those of ``poisson``, these samples are not nested.
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
        return _KINDS[self.sampling]

    def table(self, problem: Problem, n: int) -> Table:
        left = problem.units.size - problem.asked
        size, _ = drawing_size(problem, 2, floor=self.probability_floor)
        size = over_root_cost(size, problem.units.cost, self.cost)
        mean = float(left @ size) / max(int(left.sum()), 1)
        size = (1 - self.floor) * (size / mean if mean > 0 else np.ones(len(size))) + self.floor
        return Table(self.kind, chance=chance_to_include(size, left, n))
