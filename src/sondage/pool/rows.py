"""Rows: what a measure or a belief may see of some items of a pool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sondage.errors import InvalidInput
from sondage.pool.labels import LabelSpace
from sondage.types import Array, Floats

if TYPE_CHECKING:
    from sondage.pool.pool import Pool


PARTS = ("score", "probability", "prediction", "std")
"""What a system may say of an item."""


@dataclass(frozen=True)
class System:
    """What one model says of every item; a part that was not given is None."""

    score: Array | None = None
    probability: Array | None = None
    prediction: Array | None = None
    std: Array | None = None

    @cached_property
    def upside_down(self) -> bool:
        """Whether scores are clearly higher where the first of two classes is predicted.

        Three quarters of them are above three quarters of those where the second is.
        """
        if self.score is None or self.prediction is None:
            return False
        second = self.prediction > 0
        if second.all() or not second.any():
            return False
        return bool(np.quantile(self.score[~second], 0.25) > np.quantile(self.score[second], 0.75))


@dataclass(frozen=True)
class Group:
    """A column that splits the pool: the level of each item, and the levels' names."""

    codes: Array
    levels: tuple[str, ...]


def crossed_group(groups: Sequence[Group]) -> Group:
    """The levels that occur together.

    >>> age, job = Group(np.array([0, 1, 1]), ("old", "young")), Group(np.array([1, 0, 0]), ("cook", "smith"))
    >>> crossed_group([age, job])
    Group(codes=array([0, 1, 1]), levels=('old × smith', 'young × cook'))
    """
    if not groups:
        raise InvalidInput("by= names no group: give one, or several to cross")
    codes = np.zeros(len(groups[0].codes), dtype=np.int64)
    for one in groups:
        codes = codes * len(one.levels) + one.codes
    present, codes = np.unique(codes, return_inverse=True)
    positions = np.unravel_index(present, [len(one.levels) for one in groups])
    names = [[one.levels[k] for k in at] for one, at in zip(groups, positions, strict=True)]
    return Group(codes, tuple(" × ".join(each) for each in zip(*names, strict=True)))


class Rows:
    """Columns of the pool at some rows. Columns are cut only when they are looked at."""

    def __init__(self, pool: Pool, index: Array | slice) -> None:
        self._pool = pool
        self._index = index

    def __len__(self) -> int:
        if isinstance(self._index, slice):
            return len(range(*self._index.indices(len(self._pool))))
        return int(np.count_nonzero(self._index) if self._index.dtype == bool else len(self._index))

    @property
    def index(self) -> Array | slice:
        """Which rows of the pool these are."""
        return self._index

    def take(self, places: Array) -> Rows:
        """Some of the rows, by their places."""
        if isinstance(self._index, slice):
            start, _, step = self._index.indices(len(self._pool))
            return Rows(self._pool, start + step * places)
        index = np.flatnonzero(self._index) if self._index.dtype == bool else self._index
        return Rows(self._pool, index[places])

    @property
    def labels(self) -> LabelSpace:
        """The pool's label space."""
        return self._pool.labels

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the pool's systems."""
        return tuple(self._pool.systems)

    @property
    def weight(self) -> Floats:
        """Population weight of each item (one where the pool has none)."""
        if self._pool.weight is None:
            return np.ones(len(self))
        return np.asarray(self._pool.weight[self._index], dtype=np.float64)

    def prediction(self, system: str | None = None) -> Floats:
        """Predicted class position, or predicted number."""
        return self._column("prediction", system)

    def score(self, system: str | None = None) -> Floats:
        """Raw score."""
        return self._column("score", system)

    def probability(self, system: str | None = None) -> Floats:
        """Probability of every class, one column each."""
        columns = self._column("probability", system)
        if columns.ndim == 1:
            columns = np.stack([1.0 - columns, columns], axis=1)
        return columns

    def std(self, system: str | None = None) -> Floats:
        """Predictive standard deviation."""
        return self._column("std", system)

    def group(self, name: str | Sequence[str]) -> Array:
        """Level of a grouping column (or of the crossing of several), as a position."""
        return np.asarray(self._pool.group(name).codes[self._index])

    def has(self, part: str, system: str | None = None) -> bool:
        """Whether the pool carries this part for the system."""
        return getattr(self._pool.system(system), part) is not None

    def _column(self, part: str, system: str | None) -> Floats:
        column = getattr(self._pool.system(system), part)
        if column is None:
            raise InvalidInput(
                f"the pool has no {part} for system {self._pool.system_name(system)!r}: "
                f"pass {part}= when making the pool"
                + (" (or threshold= to cut the scores)" if part == "prediction" else "")
            )
        return np.asarray(column[self._index], dtype=np.float64)
