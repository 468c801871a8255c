"""What the labels are for: which coordinates of a measure matter. Never a sampling rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sondage.errors import InvalidInput
from sondage.measures.base import Measure
from sondage.measures.combine.stack import resolve
from sondage.pool.pool import Pool
from sondage.registry import Named
from sondage.types import Floats


class Unsaid(str):
    """The default of an argument, told apart from the same word when a user writes it."""


F1_UNSAID = Unsaid("f1")


class Objective(Named, family="sondage.objective"):
    """How much each coordinate of the measure matters now.

    Contract: ``weight`` returns non-negative numbers, one per coordinate, not all zero.
    """

    scaled: bool = False
    """Whether a coordinate is first put on the scale of its own uncertainty, so that none dominates the
    others merely by being hard to measure or in a small unit."""

    def wanted(self, measure: Any) -> Measure:
        """What is measured, given what the user named: F1 where that is nothing (None)."""
        return resolve("f1" if measure is None else measure)

    def target(self, measure: Measure, pool: Pool) -> Measure:
        """What a study of ``measure`` with this objective estimates."""
        return measure

    def weight(self, G: Floats) -> Floats:
        """(m,) weights, given the current value; unless an objective says otherwise, all matter alike."""
        return np.ones(len(G))


@dataclass(frozen=True)
class EstimateAll(Objective):
    """Estimate every coordinate; all matter alike, or by ``weights``.

    Unless ``scaled=False``, each is measured against its variance under a random sample.

    >>> EstimateAll(weights=(3, 1)).weight(np.array([0.5, 0.5])).tolist()
    [3.0, 1.0]
    """

    alias: ClassVar[str] = "estimate"
    weights: tuple[float, ...] | None = None
    scaled: bool = True

    def __post_init__(self) -> None:
        if self.weights is None:
            return
        weights = tuple(float(weight) for weight in self.weights)
        if not all(np.isfinite(weight) and weight >= 0 for weight in weights) or not sum(weights):
            raise InvalidInput(f"weights= must be numbers of 0 and above, not all 0: {self.weights!r}")
        object.__setattr__(self, "weights", weights)

    def weight(self, G: Floats) -> Floats:
        """How much each coordinate counts: all alike, unless weights were given."""
        if self.weights is None:
            return super().weight(G)
        if len(self.weights) != len(G):
            raise InvalidInput(f"weights= has {len(self.weights)} entries, but the measure has {len(G)}")
        return np.array(self.weights)
