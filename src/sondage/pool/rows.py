"""Rows: what a measure or a belief may see of some items of a pool."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sondage.errors import InvalidInput
from sondage.pool.labels import LabelSpace
from sondage.types import Array, Floats

if TYPE_CHECKING:
    from sondage.pool.parts import Documents
    from sondage.pool.pool import Pool

_NEAR_HALF = 0.1
"""Scores in [0, 1] that are cut this near to 1/2 are taken for probabilities, as beliefs do."""


class Rows:
    """Columns of the pool at some rows (``index``). Columns are cut only when they are looked at."""

    def __init__(self, pool: Pool, index: Array | slice) -> None:
        self._pool = pool
        self.index = index
        self.labels: LabelSpace = pool.labels

    def __len__(self) -> int:
        if isinstance(self.index, slice):
            return len(range(*self.index.indices(len(self._pool))))
        return int(np.count_nonzero(self.index) if self.index.dtype == bool else len(self.index))

    def take(self, places: Array) -> Rows:
        """Some of the rows, by their places."""
        if isinstance(self.index, slice):
            start, _, step = self.index.indices(len(self._pool))
            return Rows(self._pool, start + step * places)
        index = np.flatnonzero(self.index) if self.index.dtype == bool else self.index
        return Rows(self._pool, index[places])

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the pool's systems."""
        return tuple(self._pool.systems)

    def system_name(self, name: str | None = None) -> str:
        """The name of a system: the one asked for, or the first."""
        return self._pool.system_name(name)

    @property
    def cost(self) -> Floats:
        """What the label of each item costs (one where the pool has no costs)."""
        return self._pool.costs(self.index)

    @property
    def weight(self) -> Floats:
        """Population weight of each item (one where the pool has none)."""
        return self._pool.weights(self.index)

    @property
    def documents(self) -> Documents:
        """The documents of all queries; ``index`` says which queries are these."""
        if self._pool.parts is None:
            raise InvalidInput("the items are no queries with documents: make the pool with from_rankings")
        return self._pool.parts

    def prediction(self, system: str | None = None) -> Floats:
        """Predicted class position, or predicted number."""
        return self.column("prediction", system)

    def score(self, system: str | None = None) -> Floats:
        """(n,) the score of each row as it was given."""
        return self.column("score", system)

    def probability(self, system: str | None = None) -> Floats:
        """Probability of every class, one column each."""
        columns = self.column("probability", system)
        if columns.ndim == 1:
            columns = np.stack([1.0 - columns, columns], axis=1)
        return columns

    def confidence(self, system: str | None = None) -> Floats:
        """(n,) probability of the predicted class; scores in [0, 1] cut near 1/2 are taken for that."""
        name, n = self._pool.system_name(system), len(self)
        predicted = self.prediction(name).astype(np.int64)
        if self.has("probability", name):
            return np.asarray(self.probability(name)[np.arange(n), predicted])
        if self.labels.size == 2 and self.has("score", name):
            (low, high), cut = self._pool.extent("score", name), self._pool.summary(name).cut
            if low >= 0 and high <= 1 and (cut is None or abs(cut - 0.5) <= _NEAR_HALF):
                score = self.score(name)
                return np.where(predicted == 1, score, 1.0 - score)
        raise InvalidInput(
            f"confidence needs probabilities, and system {name!r} has none: pass probability= when making "
            "the pool, or calibrate= to make them of its scores"
        )

    def std(self, system: str | None = None) -> Floats:
        """(n,) the standard deviation that a system states for each prediction."""
        return self.column("std", system)

    def group(self, name: str | Sequence[str]) -> Array:
        """Level of a grouping column (or of the crossing of several), as a position."""
        return self._pool.source.read(("group", self._pool.group_name(name)), self.index)

    def has(self, part: str, system: str | None = None) -> bool:
        """Whether the pool carries this part for the system."""
        return self._pool.has(part, system)

    def column(self, part: str, system: str | None = None) -> Floats:
        """A part of what a system says, as it was given."""
        name = self._pool.system_name(system)
        if self._pool.parts is not None:
            raise InvalidInput(
                "the pool has queries with ranked documents: ask for a measure of these, such as 'nDCG@10'"
            )
        if not self._pool.has(part, name):
            raise InvalidInput(
                f"the pool has no {part} for system {name!r}: "
                f"pass {part}= when making the pool"
                + (" (or threshold= to cut the scores)" if part == "prediction" else "")
            )
        return np.asarray(self._pool.source.read((part, name), self.index), dtype=np.float64)
