"""Measures of a decision among any number of classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sondage.measures.base import Averages
from sondage.pool.rows import Rows
from sondage.types import Floats


@dataclass(frozen=True)
class Accuracy(Averages):
    """Share of items whose predicted class is the true one.

    >>> from sondage.measures import exact
    >>> float(exact("accuracy", ["a", "b", "c", "a"], ["a", "b", "a", "a"]))
    0.75
    """

    alias: ClassVar[str] = "accuracy"
    system: str | None = None

    @property
    def ratio(self) -> tuple[Floats, Floats]:
        """Right over all."""
        return np.array([0.0, 1.0]), np.array([1.0, 0.0])

    def parts(self, rows: Rows, y: Floats) -> Floats:
        """Right."""
        right = rows.prediction(self.system)[:, None] == y
        return np.asarray(right[..., None], dtype=np.float64)
