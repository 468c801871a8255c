"""An item handed to an oracle."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from sondage.types import Id


@dataclass(frozen=True)
class Item:
    """What an oracle needs: the id to answer by, what to show, what it costs, and why it is asked.

    ``_why`` is the reason, or a function that makes it: it is made when it is first read.
    """

    id: Id
    payload: dict[str, Any] = field(repr=False)
    cost: float = 1.0
    _why: str | Callable[[], str] = field(default="", repr=False, compare=False)

    @cached_property
    def reason(self) -> str:
        """Why this item is asked, in one sentence."""
        return self._why if isinstance(self._why, str) else self._why()

    def __getstate__(self) -> dict[str, Any]:
        return {"id": self.id, "payload": self.payload, "cost": self.cost, "_why": self.reason}


class _CannotTell:
    """The answer "this cannot be told"."""

    def __repr__(self) -> str:
        return "CANNOT_TELL"


CANNOT_TELL = _CannotTell()
"""Tell this (or None) where no label can be given."""
