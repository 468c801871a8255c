"""Measures of a predicted number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sondage.measures.base import Averages
from sondage.pool.rows import Rows
from sondage.types import Floats


@dataclass(frozen=True)
class MeanSquaredError(Averages):
    """Mean squared distance of prediction and truth."""

    alias: ClassVar[str] = "mean_squared_error"
    label_kind = "real"
    limits: ClassVar[tuple[float, float]] = (0.0, np.inf)
    system: str | None = None

    @property
    def ratio(self) -> tuple[Floats, Floats]:
        """The plain mean."""
        return np.array([0.0, 1.0]), np.array([1.0, 0.0])

    def parts(self, rows: Rows, y: Floats) -> Floats:
        """Squared distance."""
        return np.square(rows.prediction(self.system)[:, None] - y)[..., None]
