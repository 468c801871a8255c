"""By chance: what estimators that count draws by their recorded chances have in common.

In the order in which they apply: whether the draws can carry the measure at all, what is known of items that
were never drawn, weights where a cost budget decides how many draws there are, what the belief predicted
before each round, and the pool's own totals.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from sondage.beliefs import Recalibration, at_least
from sondage.beliefs.base import label_counts
from sondage.estimators.base import Case, Estimator, Totals, bearing, kish
from sondage.estimators.missing import Response
from sondage.estimators.post_strata import loss_without_label, signatures
from sondage.estimators.sample import Sample
from sondage.estimators.unseen import unseen_draw
from sondage.limits import check_entries
from sondage.pool.pool import CHUNK
from sondage.types import Bools, Floats, Ints

_LEAST = 2
_ENOUGH = 10
"""Draws left to chance that a signature needs before its slope is trusted."""
_AT_ONCE = 1 << 17
"""Expected losses that are worked out at once."""
NO_CHANCE = "had no chance of being asked"
"""Of items that matter to a measure: no further label of the study changes that."""


class ByChance(Estimator):
    """Base of the estimators by chances: write ``totals_of`` and ``counts``."""

    def totals(self, case: Case) -> Totals:
        """Estimated averages of the losses; undefined where the draws cannot carry the measure."""
        mine = case.sample.of_kinds(self.kinds)
        seen = mine.where(mine.answered)
        enough = int(seen.times.sum()) >= _LEAST
        why = _dark_share(case) if enough else "fewer than two draws have a label"
        return Totals.undefined(case.measure.d, why) if why else self.totals_of(case, mine, seen)

    def weights(self, case: Case) -> Floats:
        """(T,) what each label counts, for itself and those that are missing."""
        count = self.counts(case, case.sample)
        return count * Response(case, case.sample, count).factor

    @abstractmethod
    def totals_of(self, case: Case, mine: Sample, seen: Sample) -> Totals:
        """Estimated averages from its own draws, of which ``seen`` have a label."""

    @abstractmethod
    def counts(self, case: Case, sample: Sample) -> Floats:
        """(T,) how many items of the pool each draw stands for if all have a label."""


def gathered(
    case: Case,
    response: Response,
    R: Floats,
    parts: Floats,
    count: Floats,
    noise: Floats,
    centre: Floats | None = None,
    *,
    n_eff: float | None = None,
    **others: Any,
) -> Totals:
    """Totals from averages and their contributions, with what follows from the labels that there are.

    ``R`` are the averages by the draws alone; what items add that are never drawn is added here. ``count`` is
    (T,) how many items each draw stands for, ``noise`` (T,) what a draw like it adds to the standard error,
    and ``centre`` (T, d) what was subtracted from the losses.
    """
    told = response.answered
    seen, loss, weight = response.sample.where(told), response.loss[told], (count * response.factor)[told]
    R = R + never_drawn(case).mean
    return Totals(
        np.where(response.dark, np.nan, R),
        parts,
        kish(weight * bearing(case.measure, loss)) if n_eff is None else n_eff,
        max(float(seen.times.sum()) - 1.0, 1.0),
        _pool_cov(case, weight / weight.sum(), loss, R),
        unseen=unseen_draw(case, seen, loss, noise[told], None if centre is None else centre[told]),
        why=response.why,
        **others,
    )


def _pool_cov(case: Case, share: Floats, loss: Floats, R: Floats) -> Floats:
    """(d, d) covariance of the losses over the pool: of items like those drawn, and of those never drawn."""
    rest = never_drawn(case)
    mean = (1.0 - rest.share) * (share @ loss) + rest.mean
    scale = R[0] / mean[0]  # to that of R
    centred = (loss - mean) * scale
    cov = (share[:, None] * centred).T @ centred
    if rest.share:
        both = np.outer(rest.mean, mean)
        known = rest.square - both - both.T + rest.share * np.outer(mean, mean)
        cov = (1.0 - rest.share) * cov + known * scale**2
    return np.asarray(cov)


def _dark_share(case: Case) -> str | None:
    """Why the chances of the rounds cannot carry the measure; None if they can.

    Every item whose label could matter must have had a chance above zero in some round.
    """

    def make() -> str | None:
        N, unreached = len(case.pool), _unreached(case)
        if not len(unreached):
            return None
        low, high = case.measure.extremes(case.pool.rows(unreached), np.eye(case.measure.d))
        dark = int((low != high).any(axis=1).sum())
        if not dark:
            return None
        return (
            f"{dark:,} of {N:,} items matter to this measure but {NO_CHANCE}: the labels were drawn for "
            "another measure. Make a study of this measure, or use a design that asks everywhere, such as "
            "Importance(mix=0.1)"
        )

    return case.once(f"dark:{len(case.sample.rounds)}", make)


class NeverDrawn(NamedTuple):
    """Items without a chance: no label can change their losses, or there is no estimate."""

    mean: Floats
    """(d,) what they add to the averages of the pool."""
    square: Floats
    """(d, d) what they add to the averages of products of losses."""
    share: float
    """How much of the pool they are."""
    drawable: Ints
    """(U,) items of each unit that could be drawn."""


def never_drawn(case: Case) -> NeverDrawn:
    """What is known of the items that had no chance in any round."""

    def make() -> NeverDrawn:
        N, d, rows = len(case.pool), case.measure.d, _unreached(case)
        total, square, size = np.zeros(d), np.zeros((d, d)), case.units.size
        if len(rows):
            size = size - np.bincount(case.units.of(rows), minlength=case.units.count)
        for start in range(0, len(rows), CHUNK):
            loss = loss_without_label(case.measure, case.pool.rows(rows[start : start + CHUNK]))
            total, square = total + loss.sum(axis=0), square + loss.T @ loss
        return NeverDrawn(total / N, square / N, len(rows) / N, size)

    return case.once(f"never drawn:{len(case.sample.rounds)}", make)


def _unreached(case: Case) -> Ints:
    """Rows that had no chance in any round; none where rounds keep no table of chances."""
    reached = np.zeros(case.units.count, dtype=bool)
    for number in range(len(case.sample.rounds)):
        table = case.tables(number)
        if table is None or table.chance is None:
            return np.empty(0, dtype=np.int64)
        if number and table is case.tables(number - 1):
            continue
        reached |= table.chance > 0
        if reached.all():
            return np.empty(0, dtype=np.int64)
    unreached = case.units.rows_in(~reached)
    if case.units.itemwise:
        return unreached
    # A cell all of whose items were asked has chance 0 because it is finished.
    asked = np.bincount(case.sample.unit[case.sample.new], minlength=case.units.count)
    return unreached[~(asked >= case.units.size)[case.units.of(unreached)]]


def paid_for(case: Case, cost: Floats, items: Floats) -> Floats:
    """(k,) items that the budget left before each step pays for, at the mean cost until then.

    ``cost`` and ``items`` are what each step took; one item at the pool's mean cost counts as taken before.

    Every draw, or every round, is unbiased given the past, and so is their mean with weights fixed in
    advance. Weights over a number of draws that dear items make small are not: dear items and their labels
    would decide how much the others count. So the weight of each step is settled before it is drawn, from
    what is left then. What is not given out in the end, a few draws' worth, is shared by all.
    """
    usual = float(np.average(case.units.cost, weights=case.units.size))
    spent, taken = np.cumsum(cost) - cost, np.cumsum(items) - items
    return np.asarray((case.budget - spent) * (taken + 1.0) / (spent + usual))


def stepwise(part: Floats) -> Floats:
    """(k,) weight of each step that takes such a part of what is left.

    >>> stepwise(np.array([1 / 4, 1 / 3, 1 / 2, 1])).round(9).tolist()
    [0.25, 0.25, 0.25, 0.25]
    """
    return np.asarray(part * np.cumprod(np.concatenate([[1.0], 1.0 - part[:-1]])))


def predictions(case: Case) -> Floats:
    """(rounds, U, d) losses that the belief predicted of an item of each unit at the start of each round.

    An estimator may subtract them from what it sees and add their known sum: as they depend on the past
    alone, that leaves it unbiased however wrong they are.
    """
    rounds, units = len(case.sample.rounds), case.units
    check_entries(
        float(rounds) * units.count * case.measure.d,
        f"what was predicted of {units.count:,} cells in {rounds:,} rounds",
        "use a design that predicts nothing, such as 'stratified', 'importance' or 'uniform'",
    )
    if units.itemwise or not case.pool.labels.finite:  # the belief stays what it was
        return np.broadcast_to(expected_at_start(case), (rounds, units.count, case.measure.d))
    weights = np.stack([state.nodes.weights for state in case.states[:rounds] if state.nodes is not None])
    return np.asarray(np.einsum("rus,usd->rud", weights, _unit_losses(case)))


def expected_at_start(case: Case) -> Floats:
    """(U, d) losses that the belief expected of an item of each unit before any label."""

    def make() -> Floats:
        rows, unit = case.units.representatives()
        total, each = (
            np.zeros((case.units.count, case.measure.d)),
            np.bincount(unit, minlength=case.units.count),
        )
        step = max(_AT_ONCE // case.measure.d, 1)
        for begin in range(0, len(rows), step):
            shown = case.pool.rows(rows[begin : begin + step])
            np.add.at(
                total, unit[begin : begin + step], case.measure.expected(shown, *case.belief.items(shown))
            )
        return total / each[:, None]

    return case.once("expected at the start", make)


def expected_square(case: Case, predicted: Floats, factor: Floats) -> Floats | None:
    """(d, d) ``sum_u factor_u E[(l - m)(l - m)'] / N^2`` about the predictions of a round, by the belief.

    The belief here is the first one, recalibrated by all labels: one that has learned cell by cell
    takes a cell that showed nothing for pure, which is the very thing to guard against. None for labels
    that are numbers.
    """
    start = case.states[0].start if case.states else None
    if start is None or start.labels.ndim > 1:
        return None
    seen = case.sample.distinct()
    seen = seen.where(np.isfinite(seen.y))
    counts, expects = label_counts(seen.unit, seen.y, start.weights.shape), start.weights.argmax(axis=1)
    share = Recalibration.fit(start.weights, counts, expects).apply(start.weights, expects)
    loss = (_unit_losses(case) - predicted[:, None, :]).reshape(-1, case.measure.d)
    weight = (at_least(share, 1.0 / len(case.pool)) * factor[:, None]).reshape(-1, 1)
    return np.asarray((loss * weight).T @ loss / len(case.pool) ** 2)


def _unit_losses(case: Case) -> Floats:
    """(U, S, d) mean loss of each unit's representatives under each class."""

    def make() -> Floats:
        rows, unit = case.units.representatives()
        some = case.pool.rows(rows)
        loss = case.measure.loss(some, np.arange(case.pool.labels.size, dtype=np.float64))
        total = np.zeros((case.units.count, *loss.shape[1:]))
        np.add.at(total, unit, loss)
        return total / np.bincount(unit, minlength=case.units.count)[:, None, None]

    return case.once("unit loss", make)


def use_known(
    case: Case,
    seen: Sample,
    R: Floats,
    parts: Floats,
    by_chance: Bools,
    estimate: Callable[[Floats], tuple[Floats, Floats]],
) -> tuple[Floats, Floats]:
    """Regression on the signatures' known sizes: ``R + B (known - estimated)``, B of least variance.

    ``estimate`` gives the averages of any (T, k) losses of the draws ``seen``, and their contributions, in
    the way that gave ``R`` and ``parts``; ``by_chance`` are the draws that might not have been made.
    """
    found = signatures(case)
    if found is None:
        return R, parts
    kind = found.kinds.of(seen.row)
    usable = np.flatnonzero(np.bincount(kind[by_chance], minlength=found.kinds.count) >= _ENOUGH)
    if not len(usable):
        return R, parts
    estimated, own = estimate((kind[:, None] == usable).astype(np.float64))
    # The sizes need no label: a second phase, of labels that are missing, adds nothing to their variance.
    known_parts = np.concatenate([own, np.zeros((len(parts) - len(own), len(usable)))])
    slope = np.linalg.lstsq(known_parts, parts, rcond=1e-10)[0].T
    known = found.kinds.size[usable] / len(case.pool)
    return R + slope @ (known - estimated), parts - known_parts @ slope.T
