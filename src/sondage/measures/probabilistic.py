"""Measures of predicted probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sondage.measures.one_class import OneClass
from sondage.pool.rows import Rows
from sondage.types import Floats


@dataclass(frozen=True)
class BrierScoreLoss(OneClass):
    """Mean squared distance of the positive class's probability from 0 or 1, as in scikit-learn.

    (Half of the two-class Brier score that sums over both classes.)
    """

    alias: ClassVar[str] = "brier_score_loss"
    reads: ClassVar[tuple[str, ...]] = ("probability",)

    @property
    def ratio(self) -> tuple[Floats, Floats]:
        """The plain mean."""
        return np.array([0.0, 1.0]), np.array([1.0, 0.0])

    def parts(self, rows: Rows, y: Floats) -> Floats:
        """Squared distance."""
        positive = rows.labels.positive(self.pos_label)
        probability = rows.probability(self.system)[:, positive]
        return np.asarray(np.square(probability[:, None] - (y == positive))[..., None])
