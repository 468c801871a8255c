"""What measures over thresholds of a score have in common."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from sondage.measures.base import FILLED_IN, Measure
from sondage.measures.catalogue.one_class import AboutOneClass
from sondage.measures.losses.bins import Bins, bins_of
from sondage.measures.losses.thresholds import Scores, Thresholds, checked
from sondage.measures.maps.base import Map
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.types import Array, Floats


@dataclass(frozen=True)
class Binned(Map, AboutOneClass):
    """A measure over thresholds of the score of the positive class; between 0 and 1.

    ``thresholds``: None for all distinct scores, a number to choose so many, more closely among the highest
    scores, or the thresholds themselves.
    """

    thresholds: Thresholds = None
    scores: Scores | None = field(default=None, kw_only=True, repr=False, compare=False, metadata=FILLED_IN)

    def __post_init__(self) -> None:
        object.__setattr__(self, "thresholds", checked(self.thresholds))

    def bind(self, pool: Pool) -> Any:
        """Sort the scores and choose the thresholds."""
        super().bind(pool)
        known = self.scores is not None and self.scores.pool is pool
        bound = self if known else replace(self, scores=Scores(pool))
        bound.cuts  # noqa: B018 - thresholds that do not fit the scores are refused here
        return bound

    @cached_property
    def losses(self) -> Bins:
        return Bins(self.system, self.pos_label, self.thresholds, self.scores)

    @property
    def map(self) -> Map:
        return self

    @property
    def cuts(self) -> Floats:
        """(L,) the thresholds in use, from the lowest to the highest."""
        return self.losses.cuts

    @property
    def names(self) -> tuple[str, ...]:
        return (self.alias,)

    @property
    def range(self) -> tuple[Floats, Floats]:
        return np.zeros(self.m), np.ones(self.m)

    @property
    def apart(self) -> bool:
        return self.m > 1


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
        with np.errstate(all="ignore"):
            return self.value_of(*bins_of(R))[..., None]

    def jac(self, R: Floats) -> Floats:
        other, positive = self._tables(R)
        return np.concatenate([[0.0], positive, other])[None, :]

    def slope(self, R: Floats, weight: Floats | None = None) -> Floats:
        tables = self._tables(R)
        return np.nan_to_num(tables if weight is None else tables * np.sqrt(weight), posinf=0.0, neginf=0.0)

    def uniform_variance(self, R: Floats) -> Floats:
        """Over the bins; item weights are taken to be equal."""
        positive, other = bins_of(R)
        squares = np.nan_to_num(np.square(self._tables(R)))
        mean = other @ squares[0] + positive @ squares[1]
        return np.array([mean * (positive.sum() + other.sum())])

    def _tables(self, R: Floats) -> Floats:
        with np.errstate(all="ignore"):
            return self.tables(*bins_of(R))
