"""What measures about one class have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from sondage.measures.base import Averages
from sondage.pool.pool import Pool


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
