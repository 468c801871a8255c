"""The label space: what an oracle may answer, and how answers become numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sondage.errors import InvalidInput
from sondage.types import Array, Floats, Label


@dataclass(frozen=True)
class LabelSpace:
    """A finite set of classes in order, or the real numbers (``values=None``).

    Inside the package a label is a float: the position of its class, or the number itself.

    >>> LabelSpace(("no", "yes")).encode(["yes", "no"]).tolist()
    [1.0, 0.0]
    """

    values: tuple[Label, ...] | None
    low: float = -np.inf
    high: float = np.inf

    @property
    def finite(self) -> bool:
        """Whether the labels are classes."""
        return self.values is not None

    @property
    def size(self) -> int:
        """Number of classes."""
        if self.values is None:
            raise InvalidInput("real-valued labels have no classes to count")
        return len(self.values)

    @cached_property
    def _codes(self) -> dict[Label, int]:
        return {value: code for code, value in enumerate(self.values or ())}

    def code(self, label: Any) -> float:
        """The number that stands for one label."""
        if hasattr(label, "item"):
            label = label.item()
        if self.values is None:
            if not isinstance(label, (int, float)) or not np.isfinite(label):
                raise InvalidInput(f"label {label!r} is not a finite number (for none at all: CANNOT_TELL)")
            if not self.low <= label <= self.high:
                raise InvalidInput(f"label {label!r} is outside [{self.low:g}, {self.high:g}]")
            return float(label)
        try:
            return float(self._codes[label])
        except (KeyError, TypeError):
            raise InvalidInput(
                f"label {label!r} is not one of {shown(self.values)}; "
                "if it is a real class, make the pool with labels=[...]"
            ) from None

    def encode(self, labels: Sequence[Any] | Array) -> Floats:
        """Many labels at once."""
        return np.array([self.code(label) for label in labels], dtype=np.float64)

    def decode(self, code: float) -> Any:
        """The label that a number stands for."""
        return float(code) if self.values is None else self.values[int(code)]

    def positive(self, pos_label: Any = None) -> int:
        """Position of the positive class: the one named, or the second of two."""
        if self.values is None:
            raise InvalidInput("this measure needs classes, but the pool's labels are real numbers")
        if pos_label is not None:
            return int(self.code(pos_label))
        if len(self.values) != 2:
            raise InvalidInput(
                f"the pool has {len(self.values)} classes: name the positive one with pos_label="
            )
        return 1


def shown(values: Sequence[Label], most: int = 10) -> str:
    """The first classes, as a list is written."""
    first = ", ".join(repr(value) for value in values[:most])
    return f"[{first}{', ...' if len(values) > most else ''}]"
