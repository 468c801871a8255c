"""OASIS: adaptive importance sampling of strata, for F-measures (Marchant and Rubinstein 2017)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from sondage.beliefs import Belief
from sondage.beliefs.decaying_counts import DecayingCounts
from sondage.designs.ais import chances
from sondage.designs.base import COST_RULES, CostRule, Design, Problem, over_root_cost
from sondage.designs.influence.sizes_to_draw_by import drawing_size
from sondage.pool.units import CellUnits
from sondage.sampling import SamplingKind, Table, WithReplacement
from sondage.strata.base import Strata
from sondage.strata.by_score import CumulatedRootFrequency
from sondage.types import Floats


@dataclass(frozen=True)
class Oasis(Design):
    """A stratum in proportion to its size times the root mean square influence in it, an item evenly.

    As published: predicted positives and negatives, labelled and unlabelled items of a stratum share
    one chance; the value to linearise at is the current estimate, or the belief's guess while there is
    none; ``epsilon`` of the draws are made uniformly; one item at a time. Written for F-measures, of one
    or several systems; other measures are taken in the same way.
    """

    alias: ClassVar[str] = "oasis"
    kind: ClassVar[SamplingKind] = WithReplacement()
    strata: Strata | int = 256  # type: ignore[assignment]
    batch: int = 1
    belief: Belief = field(default_factory=DecayingCounts)
    epsilon: float = 1e-3
    cost: CostRule = "use"

    def __post_init__(self) -> None:
        self.require(epsilon="(0, 1]", cost=COST_RULES)
        if isinstance(self.strata, int):
            object.__setattr__(self, "strata", CumulatedRootFrequency(self.strata))
        super().__post_init__()

    def table(self, problem: Problem, n: int) -> Table:
        """One chance for all items of a stratum."""
        units = problem.units
        assert isinstance(units, CellUnits)
        squared = np.square(drawing_size(problem, 2, R=_estimate(problem))[0])
        stratum = units.stratum
        size = np.bincount(stratum, weights=units.size)
        mean = np.sqrt(np.bincount(stratum, weights=units.size * squared) / size)[stratum]
        each = over_root_cost(mean, units.cost, self.cost)
        return chances(problem, each, each[problem.asked_units], self.epsilon)


def _estimate(problem: Problem) -> Floats | None:
    """The averages by the draws so far, if the measure has a value there; else None."""
    seen = problem.seen
    if seen.weight is None or not len(seen.y):
        return None
    R = problem.measure.total(problem.pool.rows(seen.row), seen.y[:, None], seen.weight[:, None])
    with np.errstate(all="ignore"):
        return R if np.isfinite(problem.measure.g(R)).all() else None
