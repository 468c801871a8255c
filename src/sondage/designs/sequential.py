"""Draws one by one without replacement, each by a recorded chance: sequential, LURE, and the audit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from sondage.beliefs import Belief, CountBelief, ErrorCurve
from sondage.designs.base import PROBABILITY_FLOOR, Design, Oracle, Problem
from sondage.designs.influence.of_units import unit_spread
from sondage.designs.shares import per_item, shares, with_floor
from sondage.measures.base import Measure
from sondage.pool.pool import Pool
from sondage.pool.units import CellUnits
from sondage.sampling import OneByOne, SamplingKind, Table
from sondage.strata.base import Strata
from sondage.strata.log_rank import LogRank
from sondage.types import Floats


@dataclass(frozen=True)
class Sequential(Design):
    """Draws a cell by the believed spread of influence, then evenly one of its items left.

    Every item left has a positive chance at every draw, and the chance is recorded, so that estimates are
    unbiased however the belief adapts. ``floor`` is the share of draws that ignores the belief, half of it
    evenly over the cells and half by their size. ``probability_floor`` is the least chance of any label that
    the design reckons with: without it a positive that the model is sure is none gets an unbounded weight.
    """

    alias: ClassVar[str] = "sequential"
    kind: ClassVar[SamplingKind] = OneByOne()
    belief: Belief = field(default_factory=CountBelief)
    strata: Strata = field(default_factory=LogRank)
    floor: float = 0.3
    probability_floor: float = 1e-3

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require(floor="(0, 1]", probability_floor=PROBABILITY_FLOOR)

    def table(self, problem: Problem, n: int) -> Table:
        left = problem.units.size - problem.asked
        spread = unit_spread(problem, self.probability_floor)
        mass = with_floor(np.sqrt(spread / problem.units.cost) * left, left, self.floor)
        return Table(self.kind, chance=per_item(mass, left))


@dataclass(frozen=True)
class Lure(Sequential):
    """Draws one after another by the root mean square influence, and levels the weights.

    This is active testing by Farquhar, Gal and Rainforth (2021) and Kossen et al. (2021): items are drawn
    without replacement, in proportion to the root mean square influence under the belief, and counted by the
    ``lure`` estimator. Like ``sequential`` it draws cells, and items in them evenly, and learns from labels
    by cell; the papers draw single items by a surrogate model, which a pool here need not have. Unlike
    ``sequential`` it predicts nothing of items without a label: there the spread *about* the prediction
    decides, and the estimate is LURE with a control variate. ``floor`` bounds every weight, so that
    ``probability_floor`` can be small.

    >>> import sondage as sd
    >>> pool, labels = sd.datasets.synthetic_pool(2_000, prevalence=0.1, rng=1)
    >>> study = sd.create_study(pool, "f1", design="lure", budget=100, rng=1)
    >>> study.run(labels).n_labels
    100
    """

    alias: ClassVar[str] = "lure"
    estimator: ClassVar[str] = "lure"
    probability_floor: float = 1e-5


@dataclass(frozen=True)
class Audit(Design):
    """Draws a cell by a recorded chance, then evenly one of its items left.

    ``share="spread"`` goes by the number of items left in a cell times the spread of influence around what
    the belief predicts, which gives the next increment its least variance. ``share="deficit"`` goes by what a
    cell lacks of its goal, renewed after every draw; the goal is its share of all labels at the end of the
    round, in proportion to size times spread and at most its size. That spreads labels more evenly, but
    chances that fall whenever a cell has had its turn make increments vary more (see docs/tables.md).

    ``floor`` is the share of draws that ignores the belief: half of it evenly along the logarithm of the rank
    from the decision boundary, half by size. Every item left therefore has a chance at every draw: estimates
    are unbiased and sequences hold whatever the ``belief`` (by default that of ``auto``: curves of the error
    rate). ``probability_floor`` is the least chance of any label that the design reckons with.

    >>> import sondage as sd
    >>> pool, labels = sd.datasets.synthetic_pool(n=2000, prevalence=.2, rng=1)
    >>> study = sd.create_study(pool, "f1", design="auto-audit", budget=600, rng=1)
    >>> study.run(labels, stop=sd.Width(0.3)).guarantee
    'uniform'
    """

    alias: ClassVar[str] = "auto-audit"
    kind: ClassVar[SamplingKind] = OneByOne()
    belief: Belief | None = None  # type: ignore[assignment]
    strata: Strata = field(default_factory=LogRank)
    share: Literal["spread", "deficit"] = "spread"
    floor: float = 0.3
    probability_floor: float = 1e-3

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require(floor="(0, 1]", share=("spread", "deficit"), probability_floor=PROBABILITY_FLOOR)

    def belief_for(self, oracle: Oracle, pool: Pool, measure: Measure) -> Belief:
        if self.belief is not None:
            return super().belief_for(oracle, pool, measure)
        predicted = all(pool.has("prediction", name) for name in measure.systems(pool))
        curves = pool.labels.finite and predicted and isinstance(self.strata, LogRank)
        return ErrorCurve() if curves else CountBelief(strength=10.0)

    def table(self, problem: Problem, n: int) -> Table:
        size, asked = problem.units.size, problem.asked
        left = size - asked
        spread = np.sqrt(unit_spread(problem, self.probability_floor) / problem.units.cost)
        goal = None
        believed = spread * left
        if self.share == "deficit":
            goal = shares(spread * size, size, int(asked.sum()) + n)
            believed = np.maximum(goal - asked, 0.0)
        total = float(believed.sum())
        floor = self.floor if total > 0 else 1.0
        near = np.where(left > 0, problem.once("log lengths", lambda: log_lengths(problem)), 0.0)
        mass = floor * 0.5 * (near / max(float(near.sum()), 1e-300) + left / max(int(left.sum()), 1))
        if goal is None and total > 0:
            mass = mass + (1.0 - floor) * believed / total
        return Table(self.kind, chance=per_item(mass, left), goal=goal)


def log_lengths(problem: Problem) -> Floats:
    """(U,) length of each cell along the logarithm of the rank inside its predicted class.

    Ranks count from where the bands of the class begin: ``log((end + 0.5) / (begin + 0.5))``, shared by size
    among the cells of a band. Every cell has length 1 where bands mix classes or labels are not classes.
    """
    units, pool = problem.units, problem.pool
    if not isinstance(units, CellUnits) or not pool.labels.finite:
        return np.ones(units.count)
    said = pool.predicted(problem.measure.systems(pool)).shared_in(units)
    if said is None:
        return np.ones(units.count)
    length = np.empty(units.count)
    for one in range(int(said.max()) + 1):
        mine = np.flatnonzero(said == one)
        _, band = np.unique(units.stratum[mine], return_inverse=True)
        held = np.bincount(band, weights=units.size[mine])
        end = np.cumsum(held)
        span = np.log((end + 0.5) / (end - held + 0.5))
        length[mine] = span[band] * units.size[mine] / held[band]
    return length
