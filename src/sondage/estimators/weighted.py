"""Weighted: draws with replacement, each counted by the inverse of its chance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from sondage.designs.base import Centre
from sondage.errors import InvalidInput, NotSupported
from sondage.estimators.base import Case, Totals, root
from sondage.estimators.by_chance import ByChance, gathered, use_known
from sondage.estimators.expected_variance import expected_second_moment
from sondage.estimators.missing import Response
from sondage.estimators.sample import Sample
from sondage.sampling import SamplingKind, WithReplacement
from sondage.types import Bools, Floats, Ints


@dataclass(frozen=True)
class Weighted(ByChance):
    """Importance-weighted mean over all draws, repeats included (Sawade 2013, eq. 3.31).

    Weights are those recorded at the draw and are never recomputed. Because measures are homogeneous
    of degree 0, the plain and the self-normalised forms give the same estimate. The covariance is that
    of the draws really made, ``sum w^2 (l - R)(l - R)'``.

    ``stages="root"`` averages the rounds with weights in proportion to the root of their number, fixed in
    advance, in place of all draws alike: later rounds of an adaptive design are the better ones (Owen and
    Zhou 2020). ``variance="latest"`` is the covariance of Marchant and Rubinstein (2021, sec. 3.3), which
    weighs past draws by the latest chances. It is there to reproduce their regions and is far too small:
    nominal 95 % regions covered 38 to 59 % of the time.

    ``known=True`` uses the pool's own counts of every signature, as Poisson samples do by default. It is off
    because it rarely helps here: a design that draws by influence hardly draws the items it would help with.
    """

    alias: ClassVar[str] = "weighted"
    kinds: ClassVar[tuple[type[SamplingKind], ...]] = (WithReplacement,)
    centre: Centre = "none"
    stages: Literal["draws", "root"] = "draws"
    variance: Literal["drawn", "latest"] = "drawn"
    known: bool = False

    def __post_init__(self) -> None:
        self.require(stages=("draws", "root"), variance=("drawn", "latest"))
        if self.known and self.variance == "latest":
            raise InvalidInput("known=True has no variance='latest': leave one of them out")

    def totals_of(self, case: Case, mine: Sample, seen: Sample) -> Totals:
        N = len(case.pool)
        plain = self.variance == "latest"
        draws = mine.times.astype(np.float64) if plain else _without_the_last(case, mine)
        T = float(draws.sum())
        share, stage = draws / T, _stage_of_rounds(case, mine)
        if self.stages == "root":
            share = _by_rounds(mine.round, draws)
        elif stage is not None:
            share = _by_stages(mine, stage, draws)
        inverse = 1.0 / (N * mine.p)
        response = Response(case, mine, share * inverse)
        # Of one draw among draws made alike, share^2 / times; the mean taken costs one draw in T.
        made = float(mine.times.sum())
        noise = share * np.sqrt(response.factor * made / (mine.times * (made - 1)))

        def averages(own: Floats) -> tuple[Floats, Floats]:
            each = own * inverse[:, None]
            mean = share @ each
            return mean, noise[:, None] * (each - mean)

        R, parts = averages(response.loss)
        parts = np.concatenate([parts, response.parts])
        if plain:
            parts = _by_latest(case, mine, response.loss * inverse[:, None], share, draws)
        if self.known:
            R, parts = use_known(case, mine, R, parts, response.answered, averages)
        return gathered(
            case,
            response,
            R,
            parts,
            draws / mine.p,
            noise * inverse,
            prior_cov=None if plain else self._expected(case, seen, T / response.overall),
            draws=None if plain else len(mine),
        )

    def counts(self, case: Case, sample: Sample) -> Floats:
        draws = _without_the_last(case, sample)
        return draws / sample.p / max(float(draws.sum()), 1.0)

    def _expected(self, case: Case, seen: Sample, T: float) -> Floats | None:
        table = case.tables(int(seen.round.max()))
        if table is None or table.chance is None:
            return None
        if case.units.itemwise:
            inverse = np.where(table.chance > 0, 1.0 / np.maximum(table.chance, 1e-300), 0.0)
            return expected_second_moment(case, inverse) / T
        return _expected_of_cells(case, seen, table.chance) / T


def _without_the_last(case: Case, sample: Sample) -> Floats:
    """(T,) draws of each row, less the one at which the last round stopped, as far as chance decides which.

    A round stops at its last new item, which tends to be one of small chance and large weight: to count it
    would make weights too large. Of the draws before it any order is as likely, so that their mean is
    unbiased; and so is its mean over the items that may have been the last, all that were drawn once and
    were new. (Compare m - 1 over n - 1 in inverse sampling: Haldane 1945.) That is exact as long as chances
    stay what they are; where they change from round to round, the last round alone is considered, and where
    they are renewed now and then, each stage. A round that ended before an item too dear for the budget has
    no such draw.
    """
    draws = sample.times.astype(np.float64)
    if case.oracle != "deterministic" or not len(sample):
        return draws
    last = int(sample.round.max())
    stage = _stage_of_rounds(case, sample)
    if stage is None:
        alike = np.array([case.tables(number) is case.tables(last) for number in range(last + 1)])
        return draws - _may_be_last(sample, alike, last)
    for one in np.unique(stage):
        draws = draws - _may_be_last(sample, stage == one, int(np.flatnonzero(stage == one)[-1]))
    return draws


def _may_be_last(sample: Sample, alike: Bools, last: int) -> Floats:
    """(T,) how likely each draw is the one at which the last of rounds with the same chances stopped."""
    none = np.zeros(len(sample))
    if not np.isnan(sample.rounds[last].scale):
        return none
    recent = alike[sample.round]
    _, item = np.unique(sample.row, return_inverse=True)
    often = np.bincount(item, weights=sample.times * recent)
    single = recent & sample.new & (often[item] == 1)
    number = int(single.sum())
    return none if number < (1 if alike.all() and len(sample) > 1 else 2) else single / number


def _stage_of_rounds(case: Case, sample: Sample) -> Ints | None:
    """(rounds,) how often the belief of each was renewed by labels; None where it never was."""
    states = case.states[: len(sample.rounds)]
    stage = np.array([state.stage for state in states], dtype=np.int64)
    return stage if len(stage) == len(sample.rounds) and stage.any() else None


def _by_stages(sample: Sample, stage: Ints, draws: Floats) -> Floats:
    """(T,) share of each draw, when stages count by the items that they asked for, and draws alike in each.

    How many draws a stage took to find its items may depend on their labels, once chances do.
    """
    asked = np.bincount(stage, weights=np.diff([0.0, *(one.expected for one in sample.rounds)]))
    made = np.bincount(stage[sample.round], weights=draws, minlength=len(asked))
    asked = np.where(made > 0, asked, 0.0)
    return np.asarray((asked / asked.sum() / np.maximum(made, 1e-300))[stage[sample.round]] * draws)


def _by_rounds(number: Ints, draws: Floats) -> Floats:
    """(T,) share of each draw, when rounds count by the root of their number and draws alike in each."""
    made = np.bincount(number, weights=draws)
    root = np.where(made > 0, np.sqrt(np.arange(1, len(made) + 1)), 0.0)
    return np.asarray((root / root.sum() / np.maximum(made, 1e-300))[number] * draws)


def _by_latest(case: Case, seen: Sample, z: Floats, share: Floats, draws: Floats) -> Floats:
    """Contributions with one of the two chances of each draw replaced by that of the last round."""
    table = case.tables(int(seen.round.max()))
    if table is None or table.chance is None:
        raise NotSupported("variance='latest' needs the chances of the last round, which are not kept here")
    chance = table.chance[seen.unit]
    if table.asked is not None:
        asked = case.sample.row[case.sample.new][: len(table.asked)]
        order = np.argsort(asked, kind="stable")
        place = np.searchsorted(asked[order], seen.row)
        known = (place < len(asked)) & (asked[order][np.minimum(place, len(asked) - 1)] == seen.row)
        chance = np.where(known, table.asked[order][np.minimum(place, len(asked) - 1)], chance)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(chance > 0, np.sqrt(seen.p / chance), 0.0)
    scaled = (share / np.sqrt(draws) * ratio)[:, None] * z
    # sum share^2/draws ratio^2 z z' - R R' / T, as contributions: the mean is taken off in quadrature.
    cov = scaled.T @ scaled - np.outer(share @ z, share @ z) / draws.sum()
    return root(cov)


def _expected_of_cells(case: Case, seen: Sample, chance: Floats) -> Floats:
    """(d, d) mean of ``l l' / q^2`` of a draw, under the belief that the last round's chances were made from.

    The belief says where labels not seen yet lie; how many there are of each class, the draws themselves
    estimate better. An earlier belief, or the least doubt in every item, would meet chances that are tiny
    because labels have shown them to be: what it expects of such a draw has no bound.
    """
    nodes = case.states[int(seen.round.max())].nodes
    assert nodes is not None
    units, classes = case.units, nodes.weights.shape[1]
    told = case.sample.distinct()
    # Of an oracle whose answers vary no item is known, however often it was asked.
    told = told.where(np.isfinite(told.y) & (case.oracle == "deterministic"))
    left = np.maximum(units.size - np.bincount(told.unit, minlength=units.count), 0)
    mine = seen.where(np.isfinite(seen.y))
    counted = np.bincount(mine.y.astype(np.int64), weights=mine.times / mine.p, minlength=classes)
    unseen = counted / max(float(mine.times.sum()), 1.0) - np.bincount(
        told.y.astype(np.int64), minlength=classes
    )
    believed = np.maximum(left @ nodes.weights, 1e-300)
    weights = nodes.weights * np.minimum(np.maximum(unseen, 1.0) / believed, 1.0)
    rows, unit = units.representatives()
    inverse = np.where(chance > 0, 1.0 / np.maximum(chance, 1e-300), 0.0)
    factor = (left * inverse / np.bincount(unit, minlength=units.count))[unit] / len(case.pool) ** 2
    return case.measure.second_moment(case.pool.rows(rows), nodes.labels, weights[unit], factor)
