"""Strata that a pool brings along: the levels of a group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sondage.pool.pool import Pool
from sondage.strata.base import Strata
from sondage.types import Array


@dataclass(frozen=True)
class ByGroup(Strata):
    """An existing grouping column."""

    alias: ClassVar[str] = "group"
    name: str = ""

    def codes(self, pool: Pool, systems: tuple[str, ...], seed: int) -> Array:
        """The level of every item."""
        return pool.group(self.name).codes

    def _names(
        self, pool: Pool, systems: tuple[str, ...], codes: Array, count: int
    ) -> tuple[str, tuple[str, ...]]:
        return f"group {self.name!r}", pool.group(self.name).levels
