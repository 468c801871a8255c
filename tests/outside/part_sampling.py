"""A kind of sampling in one file: equal steps along the units in random order."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sondage.designs import PoissonOnline
from sondage.estimators import Estimator
from sondage.sampling import EachRound, SystematicRound
from sondage.testing import DesignSuite, EstimatorSuite


class ShuffledSteps(EachRound):
    """A fixed number of items by steps, without the order of the units having a say."""

    alias = "shuffled-steps"
    rule = "Items are taken at equal steps along a shuffled pool."
    fixed_size = True

    def fixed_number(self, chance, left, stream):
        order = np.argsort(stream.uniform(len(chance)), kind="stable")
        count = np.zeros(len(chance), dtype=np.int64)
        count[order] = SystematicRound().fixed_number(chance[order], left[order], stream)
        return count


@dataclass(frozen=True)
class ShuffledRounds(PoissonOnline):
    """Rounds of that kind, by the chances of ``poisson-online``."""

    alias: ClassVar[str] = "shuffled-rounds"
    kind: ClassVar[str] = "shuffled-steps"


class TestShuffledRounds(DesignSuite):
    def make_design(self):
        return ShuffledRounds()


class TestEstimatesOfShuffledRounds(EstimatorSuite):
    samples: ClassVar[dict] = {"shuffled-steps": ShuffledRounds()}

    def make_estimator(self):
        return Estimator.from_alias(ShuffledSteps.estimator)
