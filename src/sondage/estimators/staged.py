"""Staged: every round gives unbiased totals of its own, and they are averaged with fixed weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from sondage.designs.base import Centre
from sondage.estimators.base import Case, Totals
from sondage.estimators.by_chance import (
    ByChance,
    expected_square,
    gathered,
    never_drawn,
    paid_for,
    predictions,
    stepwise,
)
from sondage.estimators.expected_variance import expected_second_moment
from sondage.estimators.missing import Response
from sondage.estimators.sample import Sample
from sondage.sampling import EachRound, SamplingKind
from sondage.types import Bools, Floats, Ints


@dataclass(frozen=True)
class Staged(ByChance):
    """Round r: losses labelled before it, plus inverse chances for the rest (Yilmaz et al., eq. 128).

    Errors of different rounds are uncorrelated, so that ``Var = sum w_r^2 Var_r``. ``weighting`` of the
    rounds is by the labels they asked for (``"asked"``), by that times the root of their number
    (``"root"``: later rounds know more), or even; never by estimated variances, which would favour the
    rounds that happened to see nothing. Rounds of a fixed number have the variance of successive
    differences along the order in which they were taken (Wolter 2007, 8.2), the others Poisson's.

    ``control=True`` gives each round the difference estimator: what the belief predicted of the rest at the
    start of the round, plus inverse chances for what was not predicted (Zrnic and Candes 2024).
    """

    alias: ClassVar[str] = "staged"
    kinds: ClassVar[tuple[type[SamplingKind], ...]] = (EachRound,)
    weighting: Literal["asked", "root", "even"] = "asked"
    control: bool = False

    def __post_init__(self) -> None:
        self.require(weighting=("asked", "root", "even"))

    @property
    def centre(self) -> Centre:  # type: ignore[override]
        return "belief" if self.control else "none"

    def totals_of(self, case: Case, mine: Sample, seen: Sample) -> Totals:
        N = len(case.pool)
        share = self._shares(case, mine)
        weight, noise = _weights(mine, share)
        response = Response(case, mine, weight / N)
        loss = surprise = response.loss
        R, predicted = weight @ loss / N, None
        if self.control:
            predicted = predictions(case)
            expected = predicted[mine.round, mine.unit]
            surprise = loss - expected
            own_round = share[mine.round] / mine.pi
            R = R + (_predicted_rest(case, mine, share, predicted) - own_round @ expected) / N
        told, factor = response.answered, response.factor
        fixed = np.array([mine.rounds[k].kind.fixed_size for k in seen.round.tolist()])
        parts = (noise[told] / N)[:, None] * surprise[told]
        parts = _first_phase(parts, seen.round, fixed, factor[told])
        prior_cov = self._expected(case, mine, predicted)
        return gathered(
            case,
            response,
            R,
            np.concatenate([parts, response.parts]),
            weight,
            noise * np.sqrt(factor) / N,
            loss - surprise,
            prior_cov=None if prior_cov is None else response.overall * prior_cov,
            draws=len(parts),
        )

    def counts(self, case: Case, sample: Sample) -> Floats:
        return _weights(sample, self._shares(case, sample))[0]

    def _shares(self, case: Case, sample: Sample) -> Floats:
        """(rounds,) weight of each round, fixed by what was asked for, or by what the budget had left."""
        so_far = np.array([0.0, *(one.expected for one in sample.rounds)])
        mine = np.array([isinstance(one.kind, self.kinds) for one in sample.rounds])
        asked = np.diff(so_far) * mine
        if not np.isnan(case.budget):
            asked = _foreseen(case, sample) * mine
        if self.weighting == "even":
            asked = (asked > 0).astype(np.float64)
        elif self.weighting == "root":
            asked = asked * np.sqrt(np.arange(1, len(asked) + 1))
        return np.asarray(asked / asked.sum())

    def _expected(self, case: Case, mine: Sample, predicted: Floats | None) -> Floats | None:
        """The variance that the belief expects of the last round, as if all labels were asked in it."""
        number = int(mine.round.max())
        table = case.tables(number)
        if table is None or table.chance is None:
            return None
        asked = float(case.sample.rounds[number].expected)
        made = float(np.maximum((mine.round == number).sum(), 1))
        chance = np.minimum(1.0, table.chance * (asked / made))
        factor = np.where(chance > 0, 1.0 / np.maximum(chance, 1e-300) - 1.0, 0.0)
        if predicted is None:
            return expected_second_moment(case, factor)
        so_far = np.bincount(mine.unit[mine.new], minlength=case.units.count)
        return expected_square(case, predicted[number], factor * np.maximum(case.units.size - so_far, 0))


@dataclass(frozen=True)
class StagedDifference(Staged):
    """``Staged`` with ``control=True``: the difference estimator in every round.

    >>> StagedDifference().centre
    'belief'
    """

    alias: ClassVar[str] = "staged-difference"
    control: bool = True


def _foreseen(case: Case, sample: Sample) -> Floats:
    """(rounds,) part of all labels that each round was to be, when it was drawn."""
    new, rounds = sample.new, len(sample.rounds)
    made = np.bincount(sample.round[new], minlength=rounds).astype(np.float64)
    cost = np.zeros(rounds)
    np.add.at(cost, sample.round[new], case.units.cost_of(sample.row[new]))
    varies = np.array([one.scale for one in sample.rounds])  # the number expected; nan if it was fixed
    planned = np.where(np.isnan(varies), made, varies)
    return stepwise(planned / np.maximum(paid_for(case, cost, made), planned + 0.5))


def _weights(mine: Sample, share: Floats) -> tuple[Floats, Floats]:
    """Weight of each draw over all rounds, and the root of its part in the variance.

    In its own round a draw counts by its inverse chance, in later rounds it is known and counts once.
    """
    later = np.concatenate([np.cumsum(share[::-1])[::-1][1:], [0.0]])[mine.round]
    own = share[mine.round] / mine.pi
    return own + later, own * np.sqrt(np.maximum(1.0 - mine.pi, 0.0))


def _predicted_rest(case: Case, mine: Sample, share: Floats, predicted: Floats) -> Floats:
    """(d,) what was predicted of the items not asked before each round, over all rounds."""
    asked = np.zeros((len(mine.rounds), case.units.count))
    np.add.at(asked, (mine.round[mine.new], mine.unit[mine.new]), 1.0)
    left = never_drawn(case).drawable - (np.cumsum(asked, axis=0) - asked)
    return np.asarray(np.einsum("r,ru,rud->d", share, left, predicted))


def _first_phase(parts: Floats, number: Ints, fixed: Bools, factor: Floats) -> Floats:
    """Contributions by draws; in rounds of a fixed size by neighbours: n/(2(n-1)) sum (z_i - z_j)^2."""
    pieces = [parts[~fixed] * np.sqrt(factor[~fixed])[:, None]]
    for one in np.unique(number[fixed]):
        mine = fixed & (number == one)
        z, times = parts[mine], factor[mine]
        if len(z) > 1:
            z, times = np.diff(z, axis=0), 0.5 * (times[1:] + times[:-1]) * len(z) / (2.0 * (len(z) - 1.0))
        pieces.append(z * np.sqrt(times)[:, None])
    return np.concatenate(pieces)
