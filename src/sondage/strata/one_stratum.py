"""No strata: the whole pool is one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sondage.pool.pool import Pool
from sondage.strata.base import Strata
from sondage.types import Array


@dataclass(frozen=True)
class OneStratum(Strata):
    """The whole pool."""

    alias: ClassVar[str] = "none"

    def codes(self, pool: Pool, systems: tuple[str, ...], seed: int) -> Array:
        """Zero for every item."""
        return np.zeros(len(pool), dtype=np.int8)

    def _names(
        self, pool: Pool, systems: tuple[str, ...], codes: Array, count: int
    ) -> tuple[str, tuple[str, ...]]:
        return "holds", ("the whole pool",)
