"""Paired: the mean of what draws say of contrasts between systems, one by one with recorded chances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sondage.estimators.base import Case
from sondage.estimators.by_chance import expected_at_start
from sondage.estimators.paired_draws import PairedDraws, paired_draws
from sondage.estimators.sample import Sample
from sondage.estimators.sequential import SequentialEstimator
from sondage.types import Floats, Ints

_BLOCK = 64
"""Contrasts that are worked out side by side."""


@dataclass(frozen=True)
class PairedEstimator(SequentialEstimator):
    """Mean of the increments of draws that tell systems apart: items on which all do alike are never drawn.

    What is predicted of an item is what the belief expected before any label, and stays so: that takes no
    more room for single items than for cells. Once chances have changed, because some pairs of many systems
    count no more, each draw counts by the inverse of the variance that was foreseen before it: what rare
    draws say of a pair would drown what is known of it otherwise. Where chances changed only because the
    belief was renewed, weights stay those fixed in advance: that leaves the mean exactly unbiased.
    """

    alias: ClassVar[str] = "paired"

    def predicted(self, case: Case) -> Floats:
        once = expected_at_start(case)
        return np.broadcast_to(once, (len(case.sample.rounds), *once.shape))

    def shares(self, case: Case, sample: Sample) -> Floats:
        draws = paired_draws(case) if case.measure.m == 1 else None
        if draws is None or len(sample) != len(case.sample.prefix()):
            return super().shares(case, sample)
        return self.pair_shares(case, draws.steps(np.ones((1, 1))).foreseen)[:, 0]

    def pair_shares(self, case: Case, foreseen: Floats) -> Floats:
        """(T, P) weights of the draws for contrasts with variances foreseen before each, adding up to 1."""
        sample = case.sample.prefix()
        digests = {table.digest for n in range(len(sample.rounds)) if (table := case.tables(n)) is not None}
        stages = {state.stage for state in case.states[: len(sample.rounds)]}
        if len(digests) <= max(len(stages), 1) or len(sample) == self.drawable(case):
            return np.broadcast_to(super().shares(case, sample)[:, None], foreseen.shape)
        return np.asarray(1.0 / foreseen / (1.0 / foreseen).sum(axis=0))

    def _expected(self, case: Case, predicted: Floats, squared_shares: float) -> Floats | None:
        """Not for single items, of which no two are alike: what one more draw could show is enough."""
        return None if case.units.itemwise else super()._expected(case, predicted, squared_shares)


def of_pairs(case: Case, draws: PairedDraws, contrasts: Floats) -> tuple[Floats, Floats, Ints]:
    """(P,) contrasts, (T, P) contributions to their errors, and (P,) how many labels tell of each.

    Each is what the estimator says of it alone, without what it adds for the unseen.
    """
    values, parts, told = [], [], []
    for begin in range(0, len(contrasts), _BLOCK):
        steps = draws.steps(contrasts[begin : begin + _BLOCK])
        share = PairedEstimator().pair_shares(case, steps.foreseen)
        Z = 0.5 * (steps.least + steps.most) / draws.weight
        value = (share * Z).sum(axis=0)
        slack = np.maximum(1.0 - np.square(share).sum(axis=0), 0.1)
        values.append(value)
        parts.append(share * (Z - value) / np.sqrt(slack))
        told.append(steps.told)
    return np.concatenate(values), np.concatenate(parts, axis=1), np.concatenate(told)
