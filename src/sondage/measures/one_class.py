"""What measures about one class have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from sondage.measures.base import Averages
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.types import Floats


@dataclass(frozen=True)
class OneClass(Averages):
    """A measure about the positive class: the second of two, or ``pos_label``."""

    system: str | None = None
    pos_label: Any = None

    def bind(self, pool: Pool) -> Self:
        """Check the positive class too, before any label is bought."""
        bound = super().bind(pool)
        pool.labels.positive(self.pos_label)
        return bound

    def indicators(self, rows: Rows, y: Floats) -> tuple[Floats, Floats]:
        """(n, S) twice: decision and truth as 0/1 for the positive class."""
        positive = rows.labels.positive(self.pos_label)
        predicted = (rows.prediction(self.system) == positive).astype(np.float64)[:, None]
        actual = (y == positive).astype(np.float64)
        shape = (len(rows), y.shape[1])
        return np.broadcast_to(predicted, shape), np.broadcast_to(actual, shape)
