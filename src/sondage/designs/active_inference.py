"""Active inference: Poisson rounds by predicted error, no further from uniform than the labels support."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from sondage.beliefs import Belief, CountBelief
from sondage.designs.base import COST_RULES, PROBABILITY_FLOOR, CostRule, Design, Problem, over_root_cost
from sondage.designs.influence.of_units import seen_error, unit_spread
from sondage.designs.shares import chance_to_include
from sondage.sampling import PoissonRound, SamplingKind, Table
from sondage.strata.base import Strata
from sondage.strata.log_rank import LogRank
from sondage.types import Floats, Ints

_STEPS = 41
_NEARLY_NOTHING = 1e-9


@dataclass(frozen=True)
class ActiveInference(Design):
    """Rounds of Poisson samples by the error that the belief expects of its own predictions.

    Active statistical inference (Zrnic and Candes 2024) includes an item in proportion to the predicted error
    of its linearised contribution. It counts predictions for all items, and what they missed by inverse
    chances: ``1/N sum m_i + xi_i / pi_i (t_i - m_i)``. Wrong predicted errors can make this worse than a
    random sample, so a round takes the chances

        ``pi = (1 - rho) uniform + rho active``

    which include n items on average whatever ``rho`` is (Li, Zrnic and Candes 2025). ``rho`` minimises the
    variance that the errors seen so far give, which is then never above that of uniform chances. Every cell
    counts as if it had one more label with the pool's mean squared error, so that an unseen cell is not taken
    to be free of errors. The first round has no errors to go by and uses ``start``: at one half no chance is
    below half of the uniform or of the active one, and the variance is at most about twice the lesser of
    both. ``floor`` is the share that always stays uniform; ``robust=False`` uses it in all rounds.

    Unlike the papers, which use single items and a model trained on the labels, cells of like items share one
    chance and one prediction, which learns from the labels of earlier rounds. The papers' robust choice looks
    for the worst error function near the fitted one; here the additional label of every cell does that.
    Rounds are averaged with weights fixed by what was asked for.

    >>> import sondage as sd
    >>> pool, labels = sd.datasets.synthetic_pool(2_000, prevalence=0.1, rng=1)
    >>> study = sd.create_study(pool, "f1", design="active-inference", budget=200, rng=1)
    >>> study.run(labels).n_labels
    200
    """

    alias: ClassVar[str] = "active-inference"
    kind: ClassVar[SamplingKind] = PoissonRound()
    estimator: ClassVar[str] = "staged-difference"
    belief: Belief = field(default_factory=CountBelief)
    strata: Strata = field(default_factory=LogRank)
    robust: bool = True
    start: float = 0.5
    floor: float = 0.1
    probability_floor: float = 1e-5
    batch: int = 100
    cost: CostRule = "use"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require(floor="(0, 1]", start="[0, 1]", probability_floor=PROBABILITY_FLOOR, cost=COST_RULES)

    def table(self, problem: Problem, n: int) -> Table:
        left = problem.units.size - problem.asked
        uniform = chance_to_include(np.ones(len(left)), left, n)
        active = chance_to_include(self._predicted_error(problem), left, n)
        rho = self.rho(problem, left, uniform, active)
        return Table(self.kind, chance=(1 - rho) * uniform + rho * active)

    def rho(self, problem: Problem, left: Ints, uniform: Floats, active: Floats) -> float:
        """How far to go from the uniform chances to the active ones."""
        most = 1.0 - self.floor
        if not self.robust:
            return most
        error, n = seen_error(problem)
        if not n.any():
            return min(self.start, most)
        return least_variance(left * _shrunk(error, n, problem.units.size), uniform, active, most)

    def _predicted_error(self, problem: Problem) -> Floats:
        """(U,) size of the active chances: the belief's standard deviation over the root of the cost."""
        size = np.sqrt(unit_spread(problem, self.probability_floor))
        size = over_root_cost(size, problem.units.cost, self.cost)
        largest = float(size.max(initial=0.0))
        return np.maximum(size, _NEARLY_NOTHING * largest) if largest > 0 else np.ones(len(size))


def least_variance(error: Floats, uniform: Floats, active: Floats, most: float = 1.0) -> float:
    """The point on the path at which ``sum error / pi`` is least; 0 is uniform, ``most`` the furthest.

    >>> even = np.array([0.2, 0.2])
    >>> least_variance(np.array([4.0, 4.0]), even, np.array([0.3, 0.1]))
    0.0
    >>> least_variance(np.array([9.0, 1.0]), even, np.array([0.3, 0.1]))
    1.0
    """
    rho = np.linspace(0.0, most, _STEPS)
    chance = (1 - rho[:, None]) * uniform + rho[:, None] * active
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = np.where(error > 0, error / chance, 0.0).sum(axis=1)
    return float(rho[np.argmin(variance)])


def _shrunk(error: Floats, n: Ints, size: Ints) -> Floats:
    """(U,) mean squared error of each unit, as if it had one more label with that of the pool."""
    seen = n > 0
    mean = np.where(seen, error / np.maximum(n, 1), 0.0)
    of_pool = float(size[seen] @ mean[seen]) / float(size[seen].sum())
    return np.asarray((error + of_pool) / (n + 1.0))
