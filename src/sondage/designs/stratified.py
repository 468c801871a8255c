"""Stratified sampling: a number of labels for every cell, at random inside it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from sondage.beliefs import Belief, ScoreBelief
from sondage.designs.allocations import Allocation, Neyman, Rectifier, Rules
from sondage.designs.base import COST_RULES, PROBABILITY_FLOOR, CostRule, Design, Problem
from sondage.measures.base import Measure
from sondage.pool.pool import Pool
from sondage.pool.units import Units
from sondage.sampling import Quotas, SamplingKind, Table
from sondage.strata.base import Strata
from sondage.strata.by_score import EqualSize
from sondage.strata.fillable_cells import cells_to_fill
from sondage.strata.log_rank import LogRank


@dataclass(frozen=True)
class Stratified(Design):
    """Labels shared out over cells by an ``allocation``.

    ``"neyman"`` (the default) goes by size times the spread of influence that the belief expects; with the
    default belief, which labels do not change, it is fixed in advance and the estimate unbiased.
    ``"proportional"`` goes by size alone, ``"druck-mccallum"`` by the model's own expectations; ``"ucb"``,
    ``"etc"``, ``"bennett-carvalho"`` and ``"greedy"`` follow the labels seen (``sondage.designs.allocations``
    has them as objects with options). ``floor`` is the share of labels that ignores the belief, half of it
    evenly over the cells and half by their size. Costs enter by their root. ``probability_floor`` is the
    least chance of any label that the design reckons with: without it a positive that the model is sure is
    none gets an unbounded weight.
    """

    alias: ClassVar[str] = "stratified"
    kind: ClassVar[SamplingKind] = Quotas()
    allocation: Allocation | str = field(default_factory=Neyman)
    belief: Belief = field(default_factory=ScoreBelief)
    strata: Strata = field(default_factory=LogRank)
    floor: float = 0.2
    probability_floor: float = 1e-3
    cost: CostRule = "use"

    def __post_init__(self) -> None:
        self.require(floor="[0, 1]", probability_floor=PROBABILITY_FLOOR, cost=COST_RULES)
        super().__post_init__()
        object.__setattr__(self, "allocation", Allocation.resolved(self.allocation, optional=False))

    def make_units(self, pool: Pool, measure: Measure, seed: int, labels: float = np.inf) -> Units:
        cells = self.cells_of_queries(pool, measure, seed, labels)
        return cells or cells_to_fill(
            pool, self.strata, measure.systems(pool), measure.signature(pool), seed, labels
        )

    def refuses(self, problem: Problem) -> str | None:
        assert isinstance(self.allocation, Allocation)
        return super().refuses(problem) or self.allocation.refuses(problem)

    def table(self, problem: Problem, n: int) -> Table:
        assert isinstance(self.allocation, Allocation)
        rules = Rules(self.floor, self.probability_floor, self.cost)
        return Table(self.kind, quota=self.allocation.quota(problem, n, rules))


@dataclass(frozen=True)
class StratifiedPPI(Stratified):
    """Labels for every stratum of scores by what predictions leave open there (Fisch et al. 2024).

    The belief predicts the losses of every item of the pool; labels are needed for the difference only.
    Strata of equal size get labels in proportion to their size times the spread of that difference that the
    belief expects, and the ``stratified-ppi`` estimator finds for each how far to trust the predictions. Only
    that trust follows the labels; their numbers are fixed in advance. Options are those of ``Stratified``.

    Unlike the paper, whose autorater predicts one mean, the belief predicts every loss of the measure. The
    paper gives no rule for the spread before there are labels, and none for strata of few labels: these share
    one trust.

    >>> import sondage as sd
    >>> pool, labels = sd.datasets.synthetic_pool(2_000, prevalence=0.1, rng=1)
    >>> study = sd.create_study(pool, "f1", design="stratified-ppi", budget=200, rng=1)
    >>> study.run(labels).n_labels
    200
    """

    alias: ClassVar[str] = "stratified-ppi"
    estimator: ClassVar[str] = "stratified-ppi"
    allocation: Allocation | str = field(default_factory=Rectifier)
    strata: Strata = field(default_factory=lambda: EqualSize(10))
