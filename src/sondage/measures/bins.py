"""Scores in bins: what measures over thresholds have in common.

Thresholds cut the scores into bins, and an item counts in one of them. So the losses of an item are its
weight and, in its bin, its weight as a positive or as another: two numbers of very many. Everything over
thresholds is a running sum over bins, and no array is ever as large as items times thresholds.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from sondage.errors import InvalidInput
from sondage.measures.base import ALL, Input, Measure
from sondage.measures.one_class import OneClass
from sondage.measures.thresholds import Scores, Thresholds, checked
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.types import Array, Bools, Floats, Ints

FEW = 16
"""Thresholds up to which the losses are written out."""


@dataclass(frozen=True)
class Binned(OneClass):
    """A measure over thresholds of the score of the positive class.

    Losses: the weight, then of every bin its weight of positives, then of every bin its weight of others.
    Bin ``k`` holds the scores that reach exactly ``k`` thresholds; an item is predicted positive at a
    threshold that its score reaches, as in scikit-learn.

    The score is the system's ``score``, else the ``probability`` of the positive class. A score speaks for
    the second of two classes; where the first is the positive one, only a probability will do.
    """

    thresholds: Thresholds = None
    scores: Scores | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "thresholds", checked(self.thresholds))

    def bind(self, pool: Pool) -> Self:
        """Sort the scores and choose the thresholds."""
        super().bind(pool)
        known = self.scores is not None and self.scores.pool is pool
        bound = self if known else replace(self, scores=Scores(pool))
        bound.cuts  # noqa: B018 - thresholds that do not fit the scores are refused here
        return bound

    def config(self) -> dict[str, Any]:
        """What the user gave."""
        config = super().config()
        del config["options"]["scores"]
        return config

    def inputs(self, pool: Pool) -> tuple[Input, ...]:
        """The score, or the probability."""
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
        """Whether there are more than a few thresholds, or several coordinates.

        Each coordinate rests on labels of its own, which only the tangent looks at one by one.
        """
        return self.scores is None or len(self.cuts) > FEW or self.m > 1

    @property
    def d(self) -> int:
        """The weight, and two entries for every bin."""
        return 1 + 2 * self.bins

    def counts(self, R: Array) -> tuple[Array, Array]:
        """(..., bins) twice: weight of the positives and of the others in every bin."""
        return R[..., 1 : 1 + self.bins], R[..., 1 + self.bins :]

    def signature(self, pool: Pool) -> None:
        """Nothing pools: a bin may hold very few items, and an estimate must not depend on each of them."""
        return None

    # ---- items -------------------------------------------------------------------------------------

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

    def parts(self, rows: Rows, y: Floats) -> Floats:
        """Indicators of the bin, of positives and of others: written out only for few items."""
        here = (self.bin_of(rows)[:, None] == np.arange(self.bins))[:, None, :]
        positive = self.is_positive(rows, y)[..., None]
        return np.concatenate([here & positive, here & ~positive], axis=-1).astype(np.float64)

    def total(self, rows: Rows, y: Floats, weights: Floats) -> Floats:
        """A count per bin."""
        return self._total(rows, self.chances(rows, y, weights))

    def expected_total(self, rows: Rows, y: Floats, weights: Floats, factor: Floats) -> Floats:
        """A count per bin."""
        return self._total(rows, self.chances(rows, y, weights) * factor)

    def _total(self, rows: Rows, chances: Floats) -> Floats:
        others, positives = chances * rows.weight
        place = self.bin_of(rows)
        pieces = [np.bincount(place, weights=one, minlength=self.bins) for one in (positives, others)]
        return np.concatenate([[others.sum() + positives.sum()], *pieces])

    def known(self, pool: Pool) -> Floats:
        """The mean weight; and that bins without items hold nothing."""
        filled, weight = np.zeros(self.bins, dtype=bool), 0.0
        for _, rows in pool.chunks():
            filled[self.bin_of(rows)] = True
            weight += float(rows.weight.sum())
        each = np.where(filled, np.nan, 0.0)
        return np.concatenate([[weight / len(pool)], each, each])

    def extremes(self, rows: Rows, alpha: Floats) -> tuple[Floats, Floats]:
        """An item is positive or not."""
        positive, other = self.counts(alpha)
        place = self.bin_of(rows)
        ends = [(alpha[:, :1] + one[:, place]).T * rows.weight[:, None] for one in (other, positive)]
        return np.minimum(*ends), np.maximum(*ends)


@dataclass(frozen=True)
class BinnedNumber(Binned):
    """A single number over all thresholds: write ``value_of`` and ``tables``."""

    @abstractmethod
    def value_of(self, positive: Array, other: Array) -> Array:
        """(..., bins) twice, the weight of positives and of others in every bin -> (...)."""

    @abstractmethod
    def tables(self, positive: Floats, other: Floats) -> Floats:
        """(2, bins) derivative by the weight of others and by the weight of positives in every bin."""

    def narrowed(self, rows: Rows) -> Measure:
        """With the distinct scores of these rows as thresholds, where all distinct scores are meant."""
        if self.thresholds is not None or self.scores is None:
            return self
        return replace(self, scores=Scores(self.scores.pool, rows))

    def g(self, R: Array) -> Array:
        """The value from the bins."""
        with np.errstate(all="ignore"):
            return self.value_of(*self.counts(R))[..., None]

    def jac(self, R: Floats) -> Floats:
        """The tables side by side."""
        with np.errstate(all="ignore"):
            other, positive = self.tables(*self.counts(R))
        return np.concatenate([[0.0], positive, other])[None, :]

    def slope(self, R: Floats, weight: Floats | None = None) -> Floats:
        """(2, bins) the tables."""
        with np.errstate(all="ignore"):
            tables = self.tables(*self.counts(R))
        return np.nan_to_num(tables if weight is None else tables * np.sqrt(weight), posinf=0.0, neginf=0.0)

    def influence(self, rows: Rows, y: Floats, slope: Floats, which: slice = ALL) -> Floats:
        """Read off the tables."""
        other, positive = slope[:, self.bin_of(rows), None] * rows.weight[:, None]
        value = np.where(self.is_positive(rows, y), positive, other)
        return np.asarray(value[..., None][..., which])

    def uniform_variance(self, R: Floats) -> Floats:
        """Over the bins; item weights are taken to be equal."""
        positive, other = self.counts(R)
        with np.errstate(all="ignore"):
            squares = np.square(self.tables(positive, other))
        mean = other @ np.nan_to_num(squares[0]) + positive @ np.nan_to_num(squares[1])
        return np.array([mean * (positive.sum() + other.sum())])


def reached(counts: Array) -> Array:
    """(..., bins) running sums from the highest bin down: entry ``l`` is what reaches threshold ``l``.

    >>> reached(np.array([5.0, 2.0, 1.0])).tolist()
    [8.0, 3.0, 1.0]
    """
    return np.cumsum(counts[..., ::-1], axis=-1)[..., ::-1]
