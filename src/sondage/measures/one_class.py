"""What measures about one class have in common."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from sondage.measures.base import Averages
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.types import Floats


@dataclass(frozen=True)
class OneClass(Averages):
    """A measure about the positive class: the second of two, or ``pos_label``."""

    either_way: ClassVar[bool] = False
    """Whether it is the same whichever of two classes is the positive one."""
    system: str | None = None
    pos_label: Any = None

    def bind(self, pool: Pool) -> Self:
        """Check the positive class too, before any label is bought."""
        bound = super().bind(pool)
        pool.labels.positive(self.pos_label)
        if self.pos_label is None and pool.labels.inferred and not self.either_way:
            self._warn_of_order(pool)
        return bound

    def _warn_of_order(self, pool: Pool) -> None:
        """Say which class is the positive one where nothing but the order of two names decided it.

        Scores say it too: that they are higher for the other one is noticed elsewhere.
        """
        if any(pool.system(name).score is not None for name in self.systems(pool)):
            return
        first, second = pool.labels.values or ()
        warnings.warn(
            f"{self.names[0]} is about {second!r}, the second of the predicted classes in sorted order: if "
            f"that is not the one you mean pass labels=[{second!r}, {first!r}] when making the pool, or "
            f"pos_label={first!r}; if it is, labels=[{first!r}, {second!r}] says so",
            stacklevel=4,
        )

    def indicators(self, rows: Rows, y: Floats) -> tuple[Floats, Floats]:
        """(n, S) twice: decision and truth as 0/1 for the positive class."""
        positive = rows.labels.positive(self.pos_label)
        predicted = (rows.prediction(self.system) == positive).astype(np.float64)[:, None]
        actual = (y == positive).astype(np.float64)
        shape = (len(rows), y.shape[1])
        return np.broadcast_to(predicted, shape), np.broadcast_to(actual, shape)
