"""Adaptive importance sampling, AIS and OASIS: draws with replacement by a belief that learns from labels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from sondage.beliefs import Belief
from sondage.beliefs.counts import DecayingCounts
from sondage.beliefs.dirichlet_tree.belief import DirichletTree, StochasticDirichletTree
from sondage.designs.base import (
    COST_RULES,
    FORMS,
    CostRule,
    Design,
    Form,
    Oracle,
    Problem,
    drawing_power,
    over_root_cost,
)
from sondage.designs.influence.sizes_to_draw_by import drawing_size
from sondage.measures.base import Measure
from sondage.pool.pool import Pool
from sondage.pool.units import CellUnits
from sondage.sampling import SamplingKind, Table, WithReplacement
from sondage.strata.base import Strata
from sondage.strata.by_score import CumulatedRootFrequency
from sondage.types import Floats


@dataclass(frozen=True)
class AIS(Design):
    """Adaptive importance sampling (Marchant and Rubinstein 2021), for any measure and oracle.

    ``strata`` strata by score (cut where the cumulated root frequency is even; or any other strata) are
    the leaves of a tree of ``depth`` levels, over which a Dirichlet belief learns from every label. It asks
    for ``batch`` labels at a time. With a deterministic oracle an item is drawn in proportion to the mean
    absolute influence that the belief expects of it, with a stochastic one to the root mean square
    (``form``). Items with a label are drawn by their known influence; that is free and counts in the estimate
    again. ``epsilon`` is the least influence, as a share of the largest, of a label that brings any loss; it
    shrinks as labels come in. ``mix`` is the share of draws made uniformly: it bounds every weight by ``1 /
    mix`` and lets any other measure be estimated from the sample.

    Departures: effective pseudo-counts (see ``DirichletTree``); influence is centred for averages such as
    accuracy too, because every measure here divides by the weight and the estimate is self-normalised.
    """

    alias: ClassVar[str] = "ais"
    kind: ClassVar[SamplingKind] = WithReplacement()
    oracles: ClassVar[frozenset[str]] = frozenset({"deterministic", "stochastic"})
    foreseen: ClassVar[bool] = False
    depth: int = 8
    strata: Strata | int = 256  # type: ignore[assignment]
    batch: int = 50
    belief: Belief | None = None  # type: ignore[assignment]
    form: Form = "auto"
    epsilon: float = 1e-3
    mix: float = 0.0
    cost: CostRule = "use"

    def __post_init__(self) -> None:
        self.require(form=FORMS, mix="[0, 1]", epsilon="[0, 1)", cost=COST_RULES, depth="at least 1")
        if isinstance(self.strata, int):
            object.__setattr__(self, "strata", CumulatedRootFrequency(self.strata))
        super().__post_init__()

    def belief_for(self, oracle: Oracle, pool: Pool, measure: Measure) -> Belief:
        if self.belief is not None:
            return self.belief
        kind = DirichletTree if oracle == "deterministic" else StochasticDirichletTree
        return kind(depth=self.depth)

    def table(self, problem: Problem, n: int) -> Table:
        deterministic = problem.oracle == "deterministic"
        labelled = len(problem.seen.y) / len(problem.pool)
        # The schedules of Prop. 2: by the share labelled, or by the number of stages.
        stage = problem.expected / self.batch
        epsilon = self.epsilon * ((1 - labelled) if deterministic else 1 / (stage + 1))
        unit, asked = drawing_size(problem, drawing_power(self.form, problem), epsilon=epsilon)
        cost = problem.units.cost
        unit = over_root_cost(unit, cost, self.cost)
        asked = over_root_cost(asked, cost[problem.asked_units], self.cost)
        return _chances(problem, unit, asked, self.mix)


@dataclass(frozen=True)
class Oasis(Design):
    """OASIS (Marchant and Rubinstein 2017): draws a stratum by its influence, and evenly one of its items.

    A stratum has a chance in proportion to its size times the root mean square influence in it. As
    published: predicted positives and negatives, labelled and unlabelled items of a stratum share one
    chance; the value to linearise at is the current estimate, or the belief's guess while there is none;
    ``epsilon`` of the draws are made uniformly; one item at a time. Written for F-measures, of one or
    several systems; other measures are taken in the same way.
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
        units = problem.units
        assert isinstance(units, CellUnits)
        squared = np.square(drawing_size(problem, 2, R=_estimate(problem))[0])
        stratum = units.stratum
        size = np.bincount(stratum, weights=units.size)
        mean = np.sqrt(np.bincount(stratum, weights=units.size * squared) / size)[stratum]
        each = over_root_cost(mean, units.cost, self.cost)
        return _chances(problem, each, each[problem.asked_units], self.epsilon)


def _chances(problem: Problem, unit: Floats, asked: Floats, mix: float) -> Table:
    """The table of draws with replacement in proportion to sizes, some of them made uniformly."""
    repeats = problem.oracle == "stochastic"
    left = problem.units.size if repeats else problem.units.size - problem.asked
    total = float(left @ unit) + (0.0 if repeats else float(asked.sum()))
    if not total > 0:  # nothing is believed to matter: then everything might
        unit, asked, total = np.ones(len(unit)), np.ones(len(asked)), float(len(problem.pool))
    even = mix / len(problem.pool)
    known = None if repeats else (1 - mix) * asked / total + even
    return Table(AIS.kind, chance=(1 - mix) * unit / total + even, asked=known)


def _estimate(problem: Problem) -> Floats | None:
    """The averages by the draws so far, if the measure has a value there; else None."""
    seen = problem.seen
    if seen.weight is None or not len(seen.y):
        return None
    R = problem.measure.total(problem.pool.rows(seen.row), seen.y[:, None], seen.weight[:, None])
    with np.errstate(all="ignore"):
        return R if np.isfinite(problem.measure.g(R)).all() else None
