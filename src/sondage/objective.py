"""What the labels are for. Gives the design its target, never a sampling rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sondage.registry import Named
from sondage.types import Floats


class Objective(Named, family="sondage.objective"):
    """How much each coordinate of the measure matters now.

    Contract: ``weight`` returns non-negative numbers, one per coordinate, not all zero.
    """

    def weight(self, G: Floats, replicates: Floats | None = None) -> Floats:
        """(m,) weights, given the current value and, if there are any, (B, m) posterior draws of it."""
        raise AssertionError("an objective must say what matters")


@dataclass(frozen=True)
class EstimateAll(Objective):
    """Estimate every coordinate; all matter alike."""

    alias: ClassVar[str] = "estimate"

    def weight(self, G: Floats, replicates: Floats | None = None) -> Floats:
        """Ones."""
        return np.ones(len(G))
