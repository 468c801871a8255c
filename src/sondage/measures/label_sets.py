"""Measures of each item's whole set of labels: exact match, and ratios within an item averaged over items.

What counts in an item is how many of the predicted labels apply (hits), how many others do (missed), and how
many are predicted. Under a belief in independent labels hits and missed are independent sums of yes or no
with different chances, whose distributions follow by adding one label after another (the Poisson-binomial
distribution). So the moments are exact, without a list of all labels.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from sondage.errors import InvalidInput
from sondage.measures.base import ALL, Input, divide
from sondage.measures.vector import VectorMeasure, check_yes_or_no, chosen, written_out
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.types import Array, Floats, Ints

_BLOCK = 1024
"""Rows whose distributions are held at once."""
_NEGLIGIBLE = 32.0
"""Chances below e to the minus this are left out of a sum."""


class Outcomes(NamedTuple):
    """What may come of n items with equally many predictions.

    ``hits`` (H, n) and ``missed`` (M, n) are the chances of each number, independent of each other; ``parts``
    (H, M, d - 1) are the losses of an item of weight 1.
    """

    hits: Floats
    missed: Floats
    parts: Floats

    def mean(self, values: Floats) -> Floats:
        """(n,) expectation of (H, M) values."""
        return np.asarray(np.einsum("hn,hn->n", self.hits, values @ self.missed))


class SetMeasure(VectorMeasure):
    """A measure of one coordinate whose losses depend on an item's hits, missed labels and predictions.

    Write ``parts`` and ``looks_at``, and ``outcomes`` where there is a shorter list of what may happen.
    """

    @property
    @abstractmethod
    def looks_at(self) -> tuple[str | None, tuple[int, ...] | None]:
        """The system, and where the labels that count are; None: the first system, all labels."""

    @abstractmethod
    def parts(self, hits: Floats, missed: Floats, predicted: Floats | float) -> Floats:
        """(..., d - 1) losses of an item of weight 1."""

    @property
    def range(self) -> tuple[Floats, Floats]:
        """A mean of shares."""
        return np.zeros(1), np.ones(1)

    def inputs(self, pool: Pool) -> tuple[Input, ...]:
        """The predictions."""
        return (Input("prediction", pool.system_name(self.looks_at[0])),)

    def losses(self, rows: Rows, label: Floats) -> Floats:
        """From the numbers of hits and missed labels."""
        said, label = self._said(rows), self._chosen(label)
        label = np.broadcast_to(label, (len(rows), *label.shape[1:]))
        hits = np.einsum("nc,nsc->ns", said, label)
        parts = self.parts(hits, label.sum(axis=-1) - hits, said.sum(axis=1)[:, None])
        out = np.concatenate([np.ones((*hits.shape, 1)), parts], axis=-1)
        return out * rows.weight[:, None, None]

    def outcomes(self, said: Floats, means: Floats) -> Outcomes:
        """What may come of items that have as many predictions, under what is believed of each label."""
        hits, missed = sum_of_labels(said * means), sum_of_labels((1.0 - said) * means)
        return Outcomes(hits, missed, self._grid(len(hits), len(missed), said[0].sum()))

    def _grid(self, hits: int, missed: int, predicted: float) -> Floats:
        """(hits, missed, d - 1) losses of all numbers below these."""
        h, m = np.meshgrid(np.arange(float(hits)), np.arange(float(missed)), indexing="ij")
        return self.parts(h, m, predicted)

    def believed(self, rows: Rows, means: Floats, slope: Any, which: slice = ALL) -> tuple[Floats, Floats]:
        """Over the outcomes."""
        mean, variance = np.empty((len(rows), 1)), np.empty((len(rows), 1))
        for block, outcomes in self._blocks(rows, means):
            influence = slope[0, 0] + outcomes.parts @ slope[0, 1:]
            mean[block, 0] = outcomes.mean(influence)
            middle = mean[block, 0].mean()  # squares of small numbers lose little by a difference
            square = outcomes.mean(np.square(influence - middle))
            variance[block, 0] = np.maximum(square - np.square(mean[block, 0] - middle), 0.0)
        weight = rows.weight[:, None]
        return (mean * weight)[:, which], (variance * np.square(weight))[:, which]

    def ends(self, rows: Rows, slope: Any, which: slice = ALL) -> tuple[Floats, Floats]:
        """Over everything that may happen."""
        low, high = self.extremes(rows, slope)
        return low[:, which], high[:, which]

    def expected(self, rows: Rows, y: Floats, weights: Floats) -> Floats:
        """Over the outcomes."""
        if written_out(y):
            return super().expected(rows, y, weights)
        out = np.ones((len(rows), self.d))
        for block, outcomes in self._blocks(rows, weights):
            for k in range(1, self.d):
                out[block, k] = outcomes.mean(outcomes.parts[..., k - 1])
        return out * rows.weight[:, None]

    def second_moment(self, rows: Rows, y: Floats, weights: Floats, factor: Floats) -> Floats:
        """Over the outcomes."""
        if written_out(y):
            return super().second_moment(rows, y, weights, factor)
        total, share = np.zeros((self.d, self.d)), factor * np.square(rows.weight)
        for block, outcomes in self._blocks(rows, weights):
            loss = np.concatenate([np.ones((*outcomes.parts.shape[:2], 1)), outcomes.parts], axis=-1)
            for j, k in np.ndindex(self.d, self.d):
                total[j, k] += share[block] @ outcomes.mean(loss[..., j] * loss[..., k])
        return total

    def extremes(self, rows: Rows, alpha: Floats) -> tuple[Floats, Floats]:
        """Over everything that may happen."""
        said = self._said(rows)
        count, labels = said.sum(axis=1).astype(np.int64), said.shape[1]
        low, high = np.empty((2, len(rows), len(alpha)))
        for predicted in np.unique(count):
            mine = count == predicted
            parts = self._grid(predicted + 1, labels - predicted + 1, float(predicted))
            values = alpha[:, 0] + parts.reshape(-1, parts.shape[-1]) @ alpha[:, 1:].T
            low[mine], high[mine] = values.min(axis=0), values.max(axis=0)
        weight = rows.weight[:, None]
        return low * weight, high * weight

    def _blocks(self, rows: Rows, means: Floats) -> Iterator[tuple[Ints, Outcomes]]:
        """Some rows at a time, all with as many predictions, and what may come of them."""
        said, means = self._said(rows), self._chosen(means)
        count = said.sum(axis=1).astype(np.int64)
        order = np.argsort(count, kind="stable")
        for same in np.split(order, np.flatnonzero(np.diff(count[order])) + 1):
            for start in range(0, len(same), _BLOCK):
                block = same[start : start + _BLOCK]
                yield block, self.outcomes(said[block], means[block])

    def _said(self, rows: Rows) -> Floats:
        return self._chosen(rows.prediction(self.looks_at[0]))

    def _chosen(self, table: Floats) -> Floats:
        places = self.looks_at[1]
        return table if places is None else chosen(table, places)


def sum_of_labels(chance: Floats) -> Floats:
    """(K + 1, n) distribution of how many labels apply, from (n, C) the chance of each (Poisson-binomial).

    K is as many as may apply, or a number beyond which there is no chance worth speaking of.

    >>> sum_of_labels(np.array([[0.5, 0.5, 0.0]])).T.tolist()
    [[0.25, 0.5, 0.25]]
    """
    possible = int((chance > 0).sum(axis=1).max(initial=0))
    mean, variance = chance.sum(axis=1), (chance * (1.0 - chance)).sum(axis=1)
    # P(sum >= mean + t) <= exp(-t^2 / 2 (variance + t / 3)): Bernstein's inequality, solved for t.
    beyond = _NEGLIGIBLE / 3 + np.sqrt((_NEGLIGIBLE / 3) ** 2 + 2 * _NEGLIGIBLE * variance)
    most = min(possible, int(np.ceil((mean + beyond).max(initial=0.0))))
    out = np.zeros((most + 1, len(chance)))
    out[0] = 1.0
    top = 0
    for label in chance.T[(chance > 0).any(axis=0)]:
        top = min(top + 1, most)
        up = out[:top] * label
        out[: top + 1] *= 1.0 - label
        out[1 : top + 1] += up
    return out


@dataclass(frozen=True)
class MultiLabelAccuracy(SetMeasure):
    """Share of items all of whose labels are predicted rightly (exact match, as in scikit-learn); in [0, 1].

    >>> from sondage.measures import exact
    >>> float(exact("multilabel_accuracy", [[1, 0, 1], [1, 1, 0]], [[1, 0, 1], [0, 1, 0]]))
    0.5
    """

    alias: ClassVar[str] = "multilabel_accuracy"
    aliases: ClassVar[tuple[str, ...]] = ("subset_accuracy",)
    system: str | None = None

    def bind(self, pool: Pool) -> MultiLabelAccuracy:
        """Check that labels are yes or no."""
        check_yes_or_no(super().bind(pool), pool)
        return self

    @property
    def looks_at(self) -> tuple[str | None, None]:
        """The system, and all labels."""
        return self.system, None

    @property
    def names(self) -> tuple[str, ...]:
        """Scikit-learn's name."""
        return ("accuracy",)

    @property
    def d(self) -> int:
        """The weight and whether all is right."""
        return 2

    @property
    def ratio(self) -> tuple[Floats, Floats]:
        """Right over all."""
        return np.array([0.0, 1.0]), np.array([1.0, 0.0])

    def g(self, R: Array) -> Array:
        """Right over all."""
        return divide(R[..., 1], R[..., 0])[..., None]

    def parts(self, hits: Floats, missed: Floats, predicted: Floats | float) -> Floats:
        """All predicted labels apply, and no other."""
        return np.asarray((hits == predicted) & (missed == 0), dtype=np.float64)[..., None]

    def outcomes(self, said: Floats, means: Floats) -> Outcomes:
        """All right, or not: the chance of a match is the product of the labels' chances."""
        match = np.prod(np.where(said > 0, means, 1.0 - means), axis=1)
        return Outcomes(np.stack([1.0 - match, match]), np.ones((1, len(said))), np.array([[[0.0]], [[1.0]]]))


@dataclass(frozen=True)
class OfItems(SetMeasure):
    """A ratio within each item, averaged over items: what ``average="samples"`` becomes on a pool.

    ``measure`` is the original, ``places`` where the labels that count are. The losses are the weight, the
    ratio (0 where it is 0/0 and left out), and whether the item counts.
    """

    measure: Any
    places: tuple[int, ...]

    def config(self) -> dict[str, Any]:
        """The original's: what depends on the pool is found again."""
        config: dict[str, Any] = self.measure.config()
        return config

    def bind(self, pool: Pool) -> Any:
        """Start again from the original."""
        return self.measure.bind(pool)

    def checked(self, pool: Pool) -> OfItems:
        """Refuse an item that may turn out to be 0/0, unless it was said what that is worth."""
        if self.measure.zero_division != "undefined":
            return self
        _, den = self.measure.of_one().per_class
        for piece, rows in pool.chunks():
            # If no label applies, what a ratio divides by is a multiple of the number predicted.
            empty = den[2] * self._said(rows).sum(axis=1) == 0
            if empty.any():
                id = pool.id_of(piece.start + int(np.argmax(empty)))
                raise InvalidInput(
                    f"measure {self.names[0]!r}: item {id!r} is 0/0 if no label applies to it, and the mean "
                    "over items then undefined: pass zero_division=0, 1 or 'skip' (leave such items out)"
                )
        return self

    @property
    def looks_at(self) -> tuple[str | None, tuple[int, ...]]:
        """The original's system, and the labels that count."""
        return self.measure.system, self.places

    @property
    def names(self) -> tuple[str, ...]:
        """``f1_samples``, as scikit-learn names its scorers."""
        return (f"{self.measure.of_one().names[0]}_samples",)

    @property
    def d(self) -> int:
        """The weight, the ratio, whether it counts."""
        return 3

    @property
    def ratio(self) -> tuple[Floats, Floats]:
        """The sum over the items that count over their number."""
        return np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0])

    def g(self, R: Array) -> Array:
        """The mean over the items that count."""
        return divide(R[..., 1], R[..., 2])[..., None]

    def known(self, pool: Pool) -> Floats:
        """The weight; unless items may be left out, also that of the items that count."""
        known = super().known(pool)
        known[2] = np.nan if self.measure.zero_division == "skip" else known[0]
        return known

    def parts(self, hits: Floats, missed: Floats, predicted: Floats | float) -> Floats:
        """The ratio, and whether it counts."""
        num, den = (
            one[0] * hits + one[1] * (hits + missed) + one[2] * predicted
            for one in self.measure.of_one().per_class
        )
        empty, worth = den == 0, self.measure.zero_division
        value = np.where(empty, 0.0, num / np.where(empty, 1.0, den))
        if isinstance(worth, str):
            return np.stack([value, ~empty], axis=-1)
        return np.stack([np.where(empty, worth, value), np.ones_like(value)], axis=-1)
