"""Importance sampling: draws with replacement, by how much an item's label could move the measure."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from sondage.beliefs import Belief, ScoreBelief
from sondage.beliefs.scores import following
from sondage.beliefs.true_labels import KnownLabels
from sondage.designs.base import (
    COST_RULES,
    FORMS,
    PROBABILITY_FLOOR,
    CostRule,
    Design,
    Form,
    Oracle,
    Problem,
    drawing_power,
    over_root_cost,
)
from sondage.designs.influence.of_items import item_spread, may_matter
from sondage.measures.base import Measure
from sondage.pool.pool import Pool
from sondage.sampling import SamplingKind, Table, WithReplacement
from sondage.strata.base import Strata
from sondage.types import Floats

_ROUNDING = 1e-12


@dataclass(frozen=True)
class Importance(Design):
    """Static importance sampling (Sawade 2013, Algorithm 2), for any measure, with label costs.

    An item is drawn with chance proportional to the size of its influence under the belief over the root of
    its cost (Thm 4.1 and 4.2). ``form="rms"`` is the theorem's root mean square, the best per draw;
    ``form="mean"`` is the mean absolute influence, the better one per label where re-draws of a labelled item
    are free (the default for a deterministic oracle). ``probability_floor`` is the least chance of any label
    that the design reckons with: without it a positive that the model is sure is none gets an unbounded
    weight. ``risk_floor`` keeps the believed value away from the ends of its range; ``mix`` is the share of
    draws made uniformly, which bounds every weight by ``1 / mix`` and lets any other measure be estimated
    from the sample. Chances of queries follow what has been judged (unless ``belief`` says otherwise); all
    others stay what they are. ``cost="ignore"`` leaves label costs out of the chances, and ``cost="only"``
    everything else: the two yardsticks of Sawade (2013, 4.3).
    """

    alias: ClassVar[str] = "importance"
    kind: ClassVar[SamplingKind] = WithReplacement()
    oracles: ClassVar[frozenset[str]] = frozenset({"deterministic", "stochastic"})
    static: ClassVar[bool] = True
    belief: Belief = field(default_factory=ScoreBelief)
    strata: Strata | None = None
    form: Form = "auto"
    probability_floor: float = 1e-3
    risk_floor: float = 0.02
    mix: float = 0.0
    cost: CostRule = "use"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require(
            form=FORMS,
            mix="[0, 1]",
            risk_floor="[0, 0.5)",
            probability_floor=PROBABILITY_FLOOR,
            cost=COST_RULES,
        )

    def belief_for(self, oracle: Oracle, pool: Pool, measure: Measure) -> Belief:
        return following(self.belief, pool)

    def table(self, problem: Problem, n: int) -> Table:
        return problem.once(("importance", problem.state.stage), lambda: self._make(problem))

    def _make(self, problem: Problem) -> Table:
        problem = replace(problem, belief=problem.belief.as_of(problem.state))
        power = drawing_power(self.form, problem)
        size = item_spread(problem, power, floor=self.probability_floor, risk_floor=self.risk_floor)
        if power == 2:
            size = np.sqrt(size)
        if self.probability_floor:
            size = self._doubted(problem, size)
        size = over_root_cost(size, problem.units.cost, self.cost)
        if not size.any():  # nothing is believed to matter: then everything might
            size = np.ones(len(size))
        chance = size / size.sum()
        return Table(self.kind, chance=(1 - self.mix) * chance + self.mix / len(chance))

    def _doubted(self, problem: Problem, size: Floats) -> Floats:
        """Sizes, where an item that is believed to move nothing gets the mean size of the others.

        If two systems are believed to be equally good, all items on which they agree are such: if they are
        not, the labels of these count too. So do those of a group in which no topic is predicted: they decide
        whether its F1 is 0 or nothing at all.
        """
        nothing = np.flatnonzero(size <= _ROUNDING * size.max(initial=0.0))
        if 0 < len(nothing) < len(size):
            some = nothing[may_matter(problem, nothing)]
            size[some] = size.sum() / (len(size) - len(nothing))
        return size


@dataclass(frozen=True)
class Optimal(Importance):
    """Chances in proportion to the true influence of every item: the yardstick of the others.

    ``sondage.simulate`` hands it the labels. ``mix`` keeps every item possible. For the best allocation to
    strata use ``Stratified(belief=KnownLabels(truth), floor=0)``.
    """

    alias: ClassVar[str] = "optimal"
    hidden: ClassVar[bool] = True
    belief: Belief = field(default_factory=KnownLabels)
    probability_floor: float = 0.0
    risk_floor: float = 0.0
    mix: float = 1e-6

    def with_truth(self, truth: Floats) -> Design:
        return replace(self, belief=KnownLabels(truth))

    def refuses(self, problem: Problem) -> str | None:
        if isinstance(self.belief, KnownLabels) and self.belief.truth is None:
            return "design 'optimal' knows the true labels: it is for sondage.simulate, not for a study"
        return super().refuses(problem)
