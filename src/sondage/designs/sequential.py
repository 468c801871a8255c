"""Sequential sampling without replacement, one cell after another by a recorded chance; and LURE."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from sondage.beliefs import Belief, CountBelief
from sondage.designs.base import PROBABILITY_FLOOR, Design, Problem
from sondage.designs.influence.of_units import unit_spread
from sondage.designs.shares import per_item, with_floor
from sondage.sampling import OneByOne, SamplingKind, Table
from sondage.strata.base import Strata
from sondage.strata.log_rank import LogRank


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
