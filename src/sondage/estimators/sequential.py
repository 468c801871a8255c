"""Sequential: unbiased increments of draws without replacement, combined with fixed weights; and LURE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from sondage.designs.base import Centre
from sondage.estimators.base import Case, Totals, bearing, kish
from sondage.estimators.by_chance import (
    ByChance,
    expected_square,
    gathered,
    never_drawn,
    paid_for,
    predictions,
    stepwise,
)
from sondage.estimators.missing import Response
from sondage.estimators.sample import Sample
from sondage.sampling import OneByOne, SamplingKind
from sondage.types import Floats, Ints


@dataclass(frozen=True)
class SequentialEstimator(ByChance):
    """Mean of the increments ``labelled + predicted rest + (l - m) / q`` over the draws.

    Given the past each increment is unbiased for the pool's total, so that any weights fixed in advance
    are too. ``weighting="lure"`` gives the levelled estimator (Farquhar, Gal and Rainforth 2021), which is
    exact when all is labelled; ``"root"`` favours later draws by the root of their number.
    ``control=True`` subtracts what the belief predicted at the start of the round (the difference
    estimator): totals that need no label are then exact.
    """

    alias: ClassVar[str] = "sequential"
    kinds: ClassVar[tuple[type[SamplingKind], ...]] = (OneByOne,)
    weighting: Literal["lure", "root"] = "lure"
    control: bool = True

    @property
    def centre(self) -> Centre:  # type: ignore[override]
        return "belief" if self.control else "none"

    def totals_of(self, case: Case, mine: Sample, seen: Sample) -> Totals:
        N = len(case.pool)
        predicted = self.predicted(case)
        share = self.shares(case, mine)
        count = _counts(share, mine)
        response = Response(case, mine, count / N)
        z = increments(mine, response.loss, predicted, never_drawn(case).drawable)
        R = share @ z / N
        # Increments are uncorrelated: Var = sum c_t^2 Var(Z_t), with a factor for the mean taken.
        squared = float(np.square(share).sum())
        slack = 1.0 - squared
        scale = share * np.sqrt(response.factor / slack) if slack > 1e-12 else 0.0 * share
        bears = bearing(case.measure, response.loss) * response.factor / (mine.p * mine.left.mean())
        return gathered(
            case,
            response,
            R,
            np.concatenate([scale[:, None] * (z / N - R), response.parts]),
            count,
            scale / (N * mine.p),
            predicted[mine.round, mine.unit],
            n_eff=kish(bears[response.answered]),
            prior_cov=self._expected(case, predicted, squared * response.overall),
            draws=len(mine),
            exact=response.complete and len(mine) == self.drawable(case),
        )

    def counts(self, case: Case, sample: Sample) -> Floats:
        return _counts(self.shares(case, sample), sample)

    def predicted(self, case: Case) -> Floats:
        """(rounds, U, d) what is subtracted from the losses of each unit in each round."""
        if self.control:
            return predictions(case)
        return np.zeros((len(case.sample.rounds), case.units.count, case.measure.d))

    def drawable(self, case: Case) -> int:
        """How many items of the pool could be drawn at all."""
        return int(never_drawn(case).drawable.sum())

    def shares(self, case: Case, sample: Sample) -> Floats:
        """Weights of the increments, adding up to 1."""
        T, N = len(sample), self.drawable(case)
        t = np.arange(1, T + 1, dtype=np.float64)
        if self.weighting == "root":
            share = np.sqrt(t)
            return np.asarray(share / share.sum())
        if T and T == N:  # the last increment is the exact total
            return np.concatenate([np.zeros(T - 1), [1.0]])
        share = 1.0 / ((N - t) * (N - t + 1))
        if not np.isnan(case.budget):
            left = paid_for(case, case.units.cost_of(sample.row), np.ones(T))
            # Sums of the above up to t - 1, and up to the last draw that is foreseen at t.
            end = np.minimum(t - 1 + np.maximum(left, 1.5), N - 0.5)
            share = stepwise(share / (1.0 / (N - end) - 1.0 / (N - t + 1)))
        return np.asarray(share / share.sum())

    def _expected(self, case: Case, predicted: Floats, squared_shares: float) -> Floats | None:
        """Covariance of the mean if every round drew like the last and the belief were right."""
        number = len(case.sample.rounds) - 1
        table = case.tables(number)
        if table is None or table.chance is None:
            return None
        asked = np.bincount(case.sample.unit[case.sample.new], minlength=case.units.count)
        left = case.units.size - asked
        chance = table.next_chance(case.units.size, asked)
        factor = np.where(chance > 0, left / np.maximum(chance, 1e-300), 0.0)
        expected = expected_square(case, predicted[-1], factor)
        return None if expected is None else squared_shares * expected


def increments(sample: Sample, loss: Floats, predicted: Floats, size: Ints) -> Floats:
    """(T, d) ``Z_t`` with ``E[Z_t | past] = total`` (sequences of unbiased increments, eq. 1).

    ``size`` is (U,) how many items of each unit can be drawn, and the total is theirs.
    """
    rest = np.empty_like(loss)
    # Rounds that share one prediction are taken together.
    number = sample.round if predicted.strides[0] else np.zeros_like(sample.round)
    for one in np.unique(number).tolist():
        mine = np.flatnonzero(number == one)
        left = size - np.bincount(sample.unit[: mine[0]], minlength=len(size))
        drawn = predicted[one][sample.unit[mine]]
        rest[mine] = left @ predicted[one] - (np.cumsum(drawn, axis=0) - drawn)
    labelled = np.cumsum(loss, axis=0) - loss
    expected = predicted[sample.round, sample.unit]
    return np.asarray(labelled + rest + (loss - expected) / sample.p[:, None])


def _counts(share: Floats, sample: Sample) -> Floats:
    """(T,) what each draw counts in the plain form: its own increment, and all later ones' sums."""
    return np.asarray(share / sample.p + np.cumsum(share[::-1])[::-1] - share)


@dataclass(frozen=True)
class LureEstimator(SequentialEstimator):
    """Totals ``N / M sum_m v_m l_m`` of M draws without replacement (Farquhar, Gal and Rainforth 2021).

    ``v_m = 1 + (N - M) / (N - m) (1 / ((N - m + 1) q_m) - 1)``, where ``q_m`` is the chance of the m-th item
    among those left. It is the mean of the increments of the ``sequential`` estimator when nothing is
    predicted of the rest, and its variance is theirs: the papers give none. Averages are ratios of totals
    here, and the weight is one of those, so that the accuracy is ``sum v l / sum v``.

    >>> LureEstimator().control
    False
    """

    alias: ClassVar[str] = "lure"
    control: bool = False
