"""Losses of scores in bins, for measures over thresholds.

Thresholds cut the scores into bins, and an item counts in one of them. So the losses of an item are its
weight and, in its bin, its weight as a positive or as another: two numbers of very many. Everything over
thresholds is a running sum over bins, and no array is ever as large as items times thresholds.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from sondage.errors import InvalidInput
from sondage.measures.influence import ALL, Influence, Power, mean_power
from sondage.measures.losses.base import Input, Losses
from sondage.measures.losses.thresholds import Scores, Thresholds, log_ranks
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.types import Array, Bools, Floats, Ints

FEW = 16
"""Thresholds up to which the losses are written out."""
THIN = 1024
"""Thresholds that a design looks at; with more, neighbours stand for each other."""
_CELLS = 1 << 22
"""Entries of an array worked on at once."""


class BinLosses(Losses):
    """The weight, then of every bin its weight of positives, then of every bin its weight of others.

    Bin ``k`` holds the scores that reach exactly ``k`` thresholds; an item is predicted positive at a
    threshold that its score reaches, as in scikit-learn. The score is the system's ``score``, else the
    ``probability`` of the positive class. A score speaks for the second of two classes; where the first is
    the positive one, only a probability will do.
    """

    plain: ClassVar[bool] = False

    def __init__(
        self, system: str | None, pos_label: Any, thresholds: Thresholds, scores: Scores | None
    ) -> None:
        self.system, self.pos_label, self.thresholds, self.scores = system, pos_label, thresholds, scores

    @cached_property
    def cuts(self) -> Floats:
        """(L,) the thresholds in use, from the lowest to the highest."""
        assert self.scores is not None, "bind the measure to a pool first"
        return self.scores.cuts(self, self.thresholds)

    @property
    def bins(self) -> int:
        """Number of bins: one more than thresholds."""
        return len(self.cuts) + 1

    @property
    def wide(self) -> bool:  # type: ignore[override]
        return self.scores is None or len(self.cuts) > FEW

    @property
    def d(self) -> int:  # type: ignore[override]
        return 1 + 2 * self.bins

    def inputs(self, pool: Pool) -> tuple[Input, ...]:
        return (Input(self.part(pool.rows(slice(0, 1))), pool.system_name(self.system)),)

    def part(self, rows: Rows) -> str:
        """Where the score comes from: ``score`` or ``probability``."""
        name = self.system or rows.systems[0]
        of_first = rows.labels.size == 2 and rows.labels.positive(self.pos_label) == 0
        if rows.has("score", self.system) and not of_first:
            return "score"
        if rows.has("probability", self.system):
            return "probability"
        if rows.has("score", self.system):
            raise InvalidInput(
                f"the score of system {name!r} speaks for the second class: for "
                f"pos_label={self.pos_label!r} pass probability= when making the pool"
            )
        raise InvalidInput(
            f"the pool has no score and no probability for system {name!r}: pass score= or probability= "
            "when making the pool"
        )

    def score(self, rows: Rows) -> Floats:
        """(n,) score of the positive class."""
        if self.part(rows) == "score":
            return rows.score(self.system)
        return rows.probability(self.system)[:, rows.labels.positive(self.pos_label)]

    def signature(self, pool: Pool) -> None:
        """Nothing pools: a bin may hold very few items, and an estimate must not depend on each of them."""
        return None

    def bin_of(self, rows: Rows) -> Ints:
        """(n,) number of thresholds that each score reaches."""
        return np.searchsorted(self.cuts, self.score(rows), side="right")

    def settled(self, rows: Rows) -> Bools:
        """None: whether an item is positive always counts."""
        return np.full(len(rows), rows.labels.size < 2)

    def is_positive(self, rows: Rows, y: Floats) -> Bools:
        """(n, S) or (1, S) whether each label is the positive class."""
        return np.asarray(np.atleast_2d(y) == rows.labels.positive(self.pos_label))

    def chances(self, rows: Rows, y: Floats, weights: Floats) -> Floats:
        """(2, n) weight of the nodes of each row that are not positive, and that are."""
        positive = self.is_positive(rows, y)
        if len(positive) == 1:  # the same labels for all: a product of matrices
            return np.asarray(np.stack([~positive[0], positive[0]]).astype(np.float64) @ weights.T)
        return np.stack([np.einsum("ns,ns->n", weights, one) for one in (~positive, positive)])

    def loss(self, rows: Rows, y: Floats) -> Floats:
        """Indicators of the bin, of positives and of others: written out only for few items."""
        here = (self.bin_of(rows)[:, None] == np.arange(self.bins))[:, None, :]
        positive = self.is_positive(rows, y)[..., None]
        parts = np.concatenate([here & positive, here & ~positive], axis=-1)
        out = np.concatenate([np.ones((*parts.shape[:2], 1)), parts], axis=-1)
        return np.asarray(out * rows.weight[:, None, None])

    def total(self, rows: Rows, y: Floats, weights: Floats, factor: Floats | None = None) -> Floats:
        chances = self.chances(rows, y, weights) * (rows.weight if factor is None else factor * rows.weight)
        others, positives = chances
        pieces = self.by_bin(rows, chances)[::-1]
        return np.concatenate([[others.sum() + positives.sum()], *pieces])

    def by_bin(self, rows: Rows, counts: Floats) -> Floats:
        """(2, bins) sums of (2, n) numbers by bin."""
        place = self.bin_of(rows)
        each = [np.bincount(place, weights=one, minlength=self.bins) for one in counts]
        return np.asarray(each, dtype=np.float64)

    def known(self, pool: Pool) -> Floats:
        """The mean weight; and that bins without items hold nothing."""
        filled, weight = np.zeros(self.bins, dtype=bool), 0.0
        for _, rows in pool.chunks():
            filled[self.bin_of(rows)] = True
            weight += float(rows.weight.sum())
        each = np.where(filled, np.nan, 0.0)
        return np.concatenate([[weight / len(pool)], each, each])

    def extremes(self, rows: Rows, alpha: Floats) -> tuple[Floats, Floats]:
        positive, other = bins_of(alpha)
        place = self.bin_of(rows)
        ends = [(alpha[:, :1] + one[:, place]).T * rows.weight[:, None] for one in (other, positive)]
        return np.minimum(*ends), np.maximum(*ends)

    def _along(self, slope: Any) -> Influence:
        return InSteps(self, slope) if isinstance(slope, Steps) else FromTables(self, slope)


class FromTables(Influence):
    """The influence on one number, read off (2, bins) tables: of others, and of positives."""

    m = 1

    def __init__(self, losses: BinLosses, tables: Floats) -> None:
        self.losses, self.tables = losses, tables

    def of(self, rows: Rows, y: Floats, which: slice = ALL) -> Floats:
        other, positive = self.tables[:, self.losses.bin_of(rows), None] * rows.weight[:, None]
        value = np.where(self.losses.is_positive(rows, y), positive, other)
        return np.asarray(value[..., None][..., which])


class Steps(NamedTuple):
    """Influence on every coordinate: one number if the score reaches its threshold, another if not.

    ``level`` is (m,) the number of the threshold, from 1; ``inside`` and ``outside`` are (2, m), first for
    labels that are not the positive class, then for the positive class.
    """

    level: Array
    inside: Floats
    outside: Floats

    def at(self, which: slice) -> Steps:
        return Steps(self.level[which], self.inside[:, which], self.outside[:, which])

    def scaled(self, factor: Array) -> Steps:
        return Steps(self.level, self.inside * factor, self.outside * factor)

    def table(self, place: Array, label: int) -> Floats:
        """(n, m) influence of items in the bins ``place``, one label."""
        inside = place[:, None] >= self.level
        return np.asarray(np.where(inside, self.inside[label], self.outside[label]))

    def norms(self, bins: int) -> Floats:
        """(2, bins) squared influence summed over the coordinates, by prefix sums (Marchant 2021)."""
        out = np.empty((2, bins))
        for label in (0, 1):
            within, beyond = (
                np.bincount(self.level, weights=np.square(one[label]), minlength=bins)
                for one in (self.inside, self.outside)
            )
            out[label] = np.cumsum(within)
            out[label, :-1] += reached(beyond)[1:]
        return out

    def square_sum(self, mass: Floats) -> Floats:
        """(m,) squared influence summed over items, ``mass`` being (2, bins) how much each bin counts."""
        within, beyond = reached(mass), np.cumsum(mass, axis=1)
        each = (
            np.square(self.inside) * within[:, self.level]
            + np.square(self.outside) * beyond[:, self.level - 1]
        )
        return np.asarray(each.sum(axis=0))


class InSteps(Influence):
    """The influence on rates at many thresholds: inside or outside, positive or not."""

    def __init__(self, losses: BinLosses, steps: Steps) -> None:
        self.losses, self.steps, self.m = losses, steps, len(steps.level)

    def of(self, rows: Rows, y: Floats, which: slice = ALL) -> Floats:
        place, steps = self.losses.bin_of(rows), self.steps.at(which)
        other, positive = (steps.table(place, label)[:, None, :] for label in (0, 1))
        value = np.where(self.losses.is_positive(rows, y)[..., None], positive, other)
        return np.asarray(value * rows.weight[:, None, None])

    def moments(self, rows: Rows, y: Floats, weights: Floats, which: slice = ALL) -> tuple[Floats, Floats]:
        place, steps = self.losses.bin_of(rows), self.steps.at(which)
        mean: Floats = np.zeros((len(rows), len(steps.level)))
        square: Floats = np.zeros_like(mean)
        for label, chance in enumerate(self.losses.chances(rows, y, weights)):
            influence = steps.table(place, label) * rows.weight[:, None]
            mean += chance[:, None] * influence
            square += chance[:, None] * np.square(influence)
        return mean, square

    def square_sum(
        self, rows: Rows, y: Floats, weights: Floats, factor: Floats, which: slice = ALL
    ) -> Floats:
        counts = self.losses.chances(rows, y, weights) * (factor * np.square(rows.weight))
        return self.steps.at(which).square_sum(self.losses.by_bin(rows, counts))

    def spread(
        self, rows: Rows, y: Floats, weights: Floats, *, centre: Floats | None = None, power: Power = 2
    ) -> Floats:
        """By running sums over the bins; around a centre, some rows at a time."""
        place, weight = self.losses.bin_of(rows), rows.weight
        if centre is None:
            size = self.steps.norms(self.losses.bins)[:, place] * np.square(weight)
        else:
            size = np.empty((2, len(rows)))
            step = max(_CELLS // self.m, 1)
            for start in range(0, len(rows), step):
                piece = slice(start, start + step)
                for label in (0, 1):
                    away = self.steps.table(place[piece], label) * weight[piece, None] - centre[piece]
                    size[label, piece] = np.square(away).sum(axis=1)
        return mean_power(size.T, self.losses.chances(rows, y, weights).T, power)


def bins_of(R: Array) -> tuple[Array, Array]:
    """(..., bins) twice: weight of the positives and of the others in every bin."""
    positive, other = np.split(R[..., 1:], 2, axis=-1)
    return positive, other


def thinned(weight: Floats) -> tuple[Array, Floats]:
    """Coordinates to keep of (2, L) weighted rates, and what each counts for: itself and its neighbours."""
    size = weight.shape[1]
    kept = size - log_ranks(THIN, size)[::-1]
    summed = np.add.reduceat(weight, kept, axis=1)
    return np.concatenate([kept, size + kept]), summed.ravel()


def reached(counts: Array) -> Array:
    """(..., bins) running sums from the highest bin down: entry ``l`` is what reaches threshold ``l``.

    >>> reached(np.array([5.0, 2.0, 1.0])).tolist()
    [8.0, 3.0, 1.0]
    """
    return np.cumsum(counts[..., ::-1], axis=-1)[..., ::-1]
