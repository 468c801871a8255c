"""Measures of the items with the highest scores."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np

from sondage.errors import InvalidInput
from sondage.measures.base import RatioOfTwo
from sondage.measures.catalogue.one_class import OneClass
from sondage.measures.losses.base import Input, Losses, Parts, column, with_weights
from sondage.pool.division import compressed
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.types import Array, Floats


@dataclass(frozen=True)
class _Top(RatioOfTwo, OneClass):
    """What counts among the ``k`` highest scores, a set that the pool fixes before any label.

    ``bind`` fills in ``cut`` and ``share``: the score at the cut, and what an item there counts.
    """

    k: float = 10  # type: ignore[misc,assignment]  # here an option, not the number of parts
    by: Literal["score", "probability"] = "score"
    cut: float | None = None
    share: float = 1.0

    def __post_init__(self) -> None:
        k = self.k
        whole = isinstance(k, (int, float, np.number)) and not isinstance(k, bool) and k >= 1 and k == int(k)
        share = isinstance(k, (float, np.floating)) and 0 < k < 1
        if not (whole or share):
            raise InvalidInput(f"k= must be a number of items, or a share of the pool in (0, 1), not {k!r}")
        self.require(by=("score", "probability"))

    @property
    def names(self) -> tuple[str, ...]:
        """``precision@10``, ``precision@5%``."""
        what = self.alias.split("_")[0]
        return (f"{what}@{100 * self.k:g}%" if self.k < 1 else f"{what}@{int(self.k)}",)

    @cached_property
    def losses(self) -> Losses:
        return _TopParts(self)

    def bind(self, pool: Pool) -> Any:
        """Find the score at which the places run out, and what an item there counts."""
        bound = super().bind(pool)
        score, weight = column(pool, self._score), column(pool, lambda rows: rows.weight)
        places = self.k * weight.sum() if self.k < 1 else float(self.k)
        if places > weight.sum():
            raise InvalidInput(f"k={self.k} is more than the {weight.sum():g} items of the pool")
        order = np.argsort(-score, kind="stable")
        filled = np.cumsum(weight[order])
        last = min(int(np.searchsorted(filled, places * (1.0 - 1e-12))), len(score) - 1)
        cut = float(score[order[last]])
        above, tied = float(weight[score > cut].sum()), float(weight[score == cut].sum())
        return replace(bound, cut=cut, share=min((places - above) / tied, 1.0))

    def _score(self, rows: Rows) -> Floats:
        if self.by == "score":
            return rows.score(self.system)
        return rows.probability(self.system)[:, rows.labels.positive(self.pos_label)]

    def chosen(self, rows: Rows) -> Floats:
        """(n,) how much of each item is among the highest."""
        assert self.cut is not None
        score = self._score(rows)
        return np.where(score > self.cut, 1.0, np.where(score == self.cut, self.share, 0.0))


class _TopParts(Parts):
    """Losses that look at a score only to say whether it is among the highest."""

    of: _Top

    def inputs(self, pool: Pool) -> tuple[Input, ...]:
        return (Input(self.of.by, pool.system_name(self.of.system)),)

    def pattern(self, pool: Pool) -> Array:
        """Among the highest, tied for the last places, or neither."""
        chosen = column(pool, self.of.chosen)
        return compressed((chosen > 0).astype(np.int8) + (chosen == 1))

    def signature(self, pool: Pool) -> Array | None:
        """The pattern and the weight, unless there are many weights."""
        return with_weights(self.pattern(pool), pool)


@dataclass(frozen=True)
class PrecisionAtK(_Top):
    """Share of the ``k`` items with the highest scores that are positive; in [0, 1], always defined.

    ``k`` is a number of items, or below 1 a share of the pool; an item of weight w counts as w items.
    Items that tie for the last places share them: with r places left for t items, each counts r/t, the
    mean over all orders of the tied items. So neither ids nor row order matter, and exactly k items count.
    ``by="probability"`` ranks by the probability of the positive class instead of the score.

    >>> from sondage.measures import exact
    >>> y, score = [1, 0, 1, 0, 1], [0.9, 0.8, 0.7, 0.7, 0.1]
    >>> float(exact(PrecisionAtK(k=2), y, score=score)), float(exact(PrecisionAtK(k=3), y, score=score))
    (0.5, 0.5)
    """

    alias: ClassVar[str] = "precision_at_k"

    def parts(self, rows: Rows, y: Floats) -> Floats:
        chosen = self.chosen(rows)[:, None]
        return np.stack(np.broadcast_arrays(chosen * self.positives(rows, y), chosen), axis=-1)


@dataclass(frozen=True)
class RecallAtK(_Top):
    """Share of the positives that are among the ``k`` highest scores; in [0, 1], undefined without positives.

    ``k``, ``by`` and ties are as in ``PrecisionAtK``.

    >>> from sondage.measures import exact
    >>> round(float(exact(RecallAtK(k=0.4), [1, 0, 1, 0, 1], score=[0.9, 0.8, 0.7, 0.7, 0.1])), 4)
    0.3333
    """

    alias: ClassVar[str] = "recall_at_k"

    def parts(self, rows: Rows, y: Floats) -> Floats:
        positive = self.positives(rows, y)
        return np.stack([self.chosen(rows)[:, None] * positive, positive], axis=-1)
