"""Strata that a pool brings along: the levels of a group, or the whole pool as one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sondage.pool.pool import Pool
from sondage.strata.base import Strata
from sondage.types import Array


@dataclass(frozen=True)
class ByGroup(Strata):
    """A stratum for every level of a grouping column, or of several that are crossed."""

    alias: ClassVar[str] = "group"
    name: str | tuple[str, ...] = ""

    def codes(self, pool: Pool, systems: tuple[str, ...], seed: int) -> Array:
        return pool.group(self.name).codes

    def _names(self, pool: Pool, systems: tuple[str, ...], codes: Array) -> tuple[str, tuple[str, ...]]:
        return f"group {self.name!r}", pool.group(self.name).levels


@dataclass(frozen=True)
class OneStratum(Strata):
    """The whole pool as one stratum."""

    alias: ClassVar[str] = "none"

    def codes(self, pool: Pool, systems: tuple[str, ...], seed: int) -> Array:
        return np.zeros(len(pool), dtype=np.int8)

    def _names(self, pool: Pool, systems: tuple[str, ...], codes: Array) -> tuple[str, tuple[str, ...]]:
        return "holds", ("the whole pool",)
