"""The best importance sampling that there is: it knows the true labels. For simulations only."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

from sondage.beliefs import Belief
from sondage.beliefs.true_labels import KnownLabels
from sondage.designs.base import Design, Problem
from sondage.designs.importance import Importance
from sondage.types import Floats


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
        """The design that knows these labels."""
        return replace(self, belief=KnownLabels(truth))

    def refuses(self, problem: Problem) -> str | None:
        """Without the truth."""
        if isinstance(self.belief, KnownLabels) and self.belief.truth is None:
            return "design 'optimal' knows the true labels: it is for sondage.simulate, not for a study"
        return super().refuses(problem)
