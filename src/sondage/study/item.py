"""An item handed to an oracle."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sondage.types import Id


@dataclass(frozen=True)
class Item:
    """What an oracle needs: the id to answer by, what to show, what it costs, and how it was drawn."""

    id: Id
    payload: dict[str, Any] = field(repr=False)
    cost: float = 1.0
    reason: str = ""


class _CannotTell:
    """The answer "this cannot be told"."""

    def __repr__(self) -> str:
        return "CANNOT_TELL"


CANNOT_TELL = _CannotTell()
"""Tell this (or None) where no label can be given."""
