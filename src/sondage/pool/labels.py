"""The label space: what an oracle may answer, and how answers become numbers."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from sondage.errors import InvalidInput
from sondage.pool.plain_values import is_gap
from sondage.types import Array, Floats, Label

TOO_LARGE = 1e100
"""Beyond this, squares and products overflow."""


@dataclass(frozen=True)
class LabelSpace:
    """A finite set of classes in order, real numbers, or several numbers at once (``components``).

    Inside the package a label is a float: the position of its class, or the number itself. A label of
    several numbers is one too: its place in the list of all such labels met so far (``vectors`` looks
    them up), so that nothing between ``tell`` and a measure needs to know how many there are.

    >>> LabelSpace(("no", "yes")).encode(["yes", "no"]).tolist()
    [1.0, 0.0]
    >>> topics = LabelSpace(None, 0, 1, ("sport", "money"), whole=True)
    >>> codes = topics.encode([{"sport": 1, "money": 0}, [1, 1], {"money"}])
    >>> topics.vectors(codes).tolist()
    [[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]
    """

    values: tuple[Label, ...] | None
    low: float = -np.inf
    high: float = np.inf
    components: tuple[str, ...] = ()
    whole: bool = False
    """Whether the numbers are whole."""
    inferred: bool = field(default=False, repr=False, compare=False)
    """Whether classes and their order come from the predictions, and nobody gave them."""
    _met: dict[tuple[float, ...], int] = field(default_factory=dict, repr=False, compare=False)
    _table: list[tuple[float, ...]] = field(default_factory=list, repr=False, compare=False)
    _arrays: list[Floats] = field(default_factory=list, repr=False, compare=False)

    @property
    def kind(self) -> Literal["classes", "real", "vector"]:
        """Whether a label is a class, a number, or several numbers."""
        if self.values is not None:
            return "classes"
        return "vector" if self.components else "real"

    @property
    def finite(self) -> bool:
        """Whether labels are classes, so that they can be listed."""
        return self.values is not None

    @property
    def size(self) -> int:
        """How many classes a label can be."""
        if self.values is None:
            raise InvalidInput("labels that are numbers have no classes to count")
        return len(self.values)

    @cached_property
    def _codes(self) -> dict[Label, int]:
        return {value: code for code, value in enumerate(self.values or ())}

    def words(self, most: int = 10) -> str:
        """The labels as a line of text."""
        if self.values is not None:
            return shown(self.values, most)
        bounds = "" if np.isinf([self.low, self.high]).all() else f" from {self.low:g} to {self.high:g}"
        if self.components:
            each = "0 or 1" if self.whole and self.high == 1 else f"a number{bounds}"
            return f"{shown(self.components, most)}, each {each}"
        return f"real numbers{bounds}"

    def code(self, label: Any) -> float:
        """The number that stands for one label."""
        if self.components:
            return self._place(tuple(self._number(value) for value in self._spread_out(label)))
        label = _scalar(label)
        if self.values is None:
            return self._number(label)
        try:
            return float(self._codes[label])
        except (KeyError, TypeError):
            raise InvalidInput(
                f"label {label!r} is not one of {shown(self.values)}{self._hint(label)}"
            ) from None

    def _hint(self, label: Any) -> str:
        if is_gap(label):
            return ": where there is none, tell CANNOT_TELL or None"
        if not isinstance(label, Hashable) or isinstance(label, (tuple, frozenset)):
            return f": tell the class itself, not a {type(label).__name__}"
        alike = [value for value in self.values or () if str(value) == str(label).strip()]
        if alike:
            kind, mine = type(alike[0]).__name__, type(label).__name__
            how = f"it is {mine}, the class is {kind}" if kind != mine else "it has blanks around it"
            return f": {how}, so tell {alike[0]!r}"
        return "; if it is a real class, make the pool with labels=[...]"

    def encode(self, labels: Sequence[Any] | Array) -> Floats:
        """The codes of many labels at once, or an error that names the first bad one."""
        table = self._as_table(labels) if self.components else None
        if table is not None:
            return np.array([self._place(tuple(row)) for row in table.tolist()], dtype=np.float64)
        return np.array([self.code(label) for label in labels], dtype=np.float64)

    def decode(self, code: float) -> Any:
        """The label that a number stands for."""
        if self.components:
            values = self._table[int(code)]
            return dict(zip(self.components, map(int, values) if self.whole else values, strict=True))
        return float(code) if self.values is None else self.values[int(code)]

    def plain(self, label: Any) -> Any:
        """A checked label as the journal keeps it."""
        code = self.code(label)
        return list(self.decode(code).values()) if self.components else _scalar(label)

    def vectors(self, codes: Array) -> Floats:
        """(..., C) the numbers of each label; nan where a code is nan."""
        table = self._arrays[0] if self._arrays else np.empty((0, len(self.components)))
        if len(table) < len(self._table):  # only labels that are new since the last time are added
            table = np.concatenate([table, np.array(self._table[len(table) :], dtype=np.float64)])
            self._arrays[:] = [table]
        codes = np.asarray(codes)
        out = np.full((*codes.shape, len(self.components)), np.nan)
        told = ~np.isnan(codes)
        out[told] = table[codes[told].astype(np.int64)]
        return out

    def component_variance(self, means: Floats) -> Floats:
        """Variance of each number of a label whose mean is believed to be this.

        Of a yes or no: ``p (1 - p)``; of a count: that of the Poisson distribution.
        """
        return means * (1.0 - means) if self.whole and self.high == 1 else np.maximum(means, 0.0)

    def positive(self, pos_label: Any = None) -> int:
        """Position of the positive class: the one named, or the second of two."""
        if self.values is None:
            raise InvalidInput(f"this measure needs classes, but the pool's labels are {self.words()}")
        if pos_label is not None:
            return int(self.code(pos_label))
        if len(self.values) != 2:
            raise InvalidInput(
                f"the pool has {len(self.values)} classes: name the positive one with pos_label="
            )
        return 1

    def _number(self, value: Any) -> float:
        value = _scalar(value)
        if not isinstance(value, (int, float)) or not np.isfinite(value):
            raise InvalidInput(f"label {value!r} is not a finite number (for none at all: CANNOT_TELL)")
        if abs(value) > TOO_LARGE:
            raise InvalidInput(f"label {value!r} is too large to reckon with: use another unit")
        if not self.low <= value <= self.high:
            raise InvalidInput(f"label {value!r} is outside [{self.low:g}, {self.high:g}]")
        if self.whole and value != int(value):
            raise InvalidInput(f"label {value!r} is not a whole number")
        return float(value)

    def _place(self, numbers: tuple[float, ...]) -> float:
        """The number that stands for several: a new one if they were never met."""
        place = self._met.setdefault(numbers, len(self._table))
        if place == len(self._table):
            self._table.append(numbers)
        return float(place)

    def _as_table(self, labels: Sequence[Any] | Array) -> Floats | None:
        """(n, C) labels as numbers; None unless each is a label: ``code`` then says which is not."""
        try:
            given = np.asarray(labels)
        except ValueError:  # lists of different lengths
            return None
        if given.dtype.kind not in "biuf" or given.ndim != 2 or given.shape[1] != len(self.components):
            return None
        table = given.astype(np.float64)
        inside = np.isfinite(table) & (table >= self.low) & (table <= self.high)
        broken = self.whole and (table != np.rint(table)).any()
        return table if inside.all() and not broken else None

    def _spread_out(self, label: Any) -> Sequence[Any]:
        """The numbers of a label in order: from a mapping, a sequence, or the set of what applies."""
        names = self.components
        listed = label.tolist() if hasattr(label, "tolist") else label
        if isinstance(listed, Mapping):
            if set(listed) == set(names):
                return [listed[name] for name in names]
            raise InvalidInput(f"label {label!r} must give a number for each of {shown(names)}")
        said = isinstance(listed, AbstractSet) or (
            isinstance(listed, (list, tuple)) and all(isinstance(one, str) for one in listed)
        )
        if said and self.high == 1:
            unknown = set(listed) - set(names)
            if unknown:
                raise InvalidInput(f"label {sorted(map(str, unknown))[0]!r} is not one of {shown(names)}")
            return [int(name in listed) for name in names]
        if isinstance(listed, (list, tuple)) and len(listed) == len(names):
            return listed
        raise InvalidInput(
            f"label {label!r} must be a mapping or a list with a number for each of {shown(names)}"
            + (", or the set of those that apply" if self.high == 1 else "")
        )


def _scalar(label: Any) -> Any:
    """A label without the array around it; more than one entry is for the caller to refuse."""
    try:
        return label.item() if hasattr(label, "item") else label
    except (ValueError, RuntimeError):  # numpy and pandas, torch
        return label.tolist() if hasattr(label, "tolist") else label


def shown(values: Sequence[Label], most: int = 10) -> str:
    """The first classes, written as a list."""
    first = ", ".join(repr(value) for value in values[:most])
    return f"[{first}{', ...' if len(values) > most else ''}]"
