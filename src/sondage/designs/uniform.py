"""Uniform: every item alike, without replacement. The baseline that every other design must beat."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from sondage.beliefs import Belief, ScoreBelief
from sondage.designs.base import Design, Problem
from sondage.errors import InvalidInput
from sondage.measures.base import Measure
from sondage.pool.pool import Pool
from sondage.pool.units import CellUnits, Units
from sondage.sampling import Quotas, SamplingKind, Table
from sondage.strata.base import Strata
from sondage.strata.by_group import OneStratum


@dataclass(frozen=True)
class Uniform(Design):
    """A simple random sample: one stratum, its items in keyed order."""

    alias: ClassVar[str] = "uniform"
    kind: ClassVar[SamplingKind] = Quotas()
    belief: Belief = field(default_factory=ScoreBelief)
    strata: Strata = field(default_factory=OneStratum)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.strata, OneStratum):
            raise InvalidInput(
                f"design {self.alias!r} draws from the whole pool and takes no strata: "
                "use Stratified(strata=..., allocation='proportional')"
            )

    def make_units(self, pool: Pool, measure: Measure, seed: int, labels: float = np.inf) -> Units:
        """The whole pool is one unit, whatever the measure looks at."""
        return CellUnits(pool, np.zeros(len(pool), dtype=np.int64), seed=seed, by_cost=False)

    def aims(self, measure: Measure) -> tuple[Measure, ...]:
        """None: a random sample is chosen for no measure."""
        return ()

    def table(self, problem: Problem, n: int) -> Table:
        return Table(self.kind, quota=np.minimum(n, problem.units.size - problem.asked))
