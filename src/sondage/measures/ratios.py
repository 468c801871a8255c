"""Ratios of a measure: between two systems, between the levels of a grouping column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from sondage.errors import InvalidInput
from sondage.measures.base import divide
from sondage.measures.compose import TwoSystems
from sondage.measures.groups import Compared, taken
from sondage.measures.per_group import by_words
from sondage.pool.pool import Pool
from sondage.types import Array, Floats, Ints


@dataclass(frozen=True)
class Ratio(TwoSystems):
    """A measure of system ``a`` over the same measure of system ``b``: 0.8 is a fifth less.

    Undefined where the measure of ``b`` is 0.

    >>> from sondage.measures import resolve, pool_value
    >>> from sondage.pool import Pool
    >>> import numpy as np
    >>> pool = Pool.from_arrays(systems={"a": {"prediction": [1, 0, 0]}, "b": {"prediction": [1, 1, 0]}})
    >>> pool_value(Ratio("accuracy", "a", "b").bind(pool), pool, np.array([1.0, 1.0, 1.0])).tolist()
    [0.5]
    """

    alias: ClassVar[str] = "ratio"

    @property
    def names(self) -> tuple[str, ...]:
        """``f1: a / b``."""
        return tuple(f"{name}: {self.a} / {self.b}" for name in self.measure.names)

    @property
    def range(self) -> tuple[Floats, Floats]:
        """0 and above, or anything if the measure may be negative."""
        low, _ = self.measure.range
        return np.where(low >= 0, 0.0, -np.inf), np.full(len(low), np.inf)

    def outer(self, values: Array) -> Array:
        """One over the other."""
        a, b = np.split(values, 2, axis=-1)
        return divide(a, b)


@dataclass(frozen=True)
class GroupRatio(Compared):
    """The least over the greatest value of a measure over the levels of ``by``: 1 where all are equal.

    With ``method="to_overall"``, the least ratio of a level and the whole pool, turned so that it is at most
    1. Undefined where it is 0/0. The range is left open below, for the reason given at ``Gap``.

    >>> import numpy as np
    >>> from sondage.measures import exact
    >>> region = np.array(["north", "north", "south", "south"])
    >>> measure = GroupRatio("accuracy", "region")
    >>> float(exact(measure, [1, 0, 1, 1], [1, 0, 0, 1], groups={"region": region}))
    0.5
    """

    alias: ClassVar[str] = "group_ratio"

    def bind(self, pool: Pool) -> Self:
        """Refuse a measure that may be negative too."""
        bound = super().bind(pool)
        if (bound.measure.range[0] < 0).any():
            names = ", ".join(bound.measure.names)
            raise InvalidInput(f"a ratio of groups needs a measure of 0 and above, not {names}: use Gap")
        return bound

    @property
    def names(self) -> tuple[str, ...]:
        """``recall: ratio over region``."""
        what = "ratio to overall" if self.to_overall else "ratio"
        return tuple(f"{name}: {what} over {by_words(self.by)}" for name in self.measure.names)

    @property
    def range(self) -> tuple[Floats, Floats]:
        """At most 1."""
        return np.full(self.measure.m, -np.inf), np.ones(self.measure.m)

    def furthest(self, values: Array) -> Ints:
        """The level with the least ratio, turned to be at most 1."""
        overall, table = self.overall_and_table(values)
        share = np.real(divide(table, overall))
        with np.errstate(divide="ignore"):
            return self.least(np.where(share > 1, 1 / share, share))

    def lesser_and_greater(self, values: Array) -> tuple[Array, Array]:
        """(..., coordinates) the lesser and the greater of the two values compared."""
        if not self.to_overall:
            table, (high, low) = self.table(values), self.far_levels(values)
            return taken(table, low), taken(table, high)
        overall, table = self.overall_and_table(values)
        level, whole = taken(table, self.furthest(values)), overall[..., 0, :]
        turned = np.real(level) > np.real(whole)
        return np.where(turned, whole, level), np.where(turned, level, whole)

    def outer(self, values: Array) -> Array:
        """The lesser over the greater."""
        value = divide(*self.lesser_and_greater(values))
        if self.to_overall:
            return value
        high, low = self.far_levels(values)
        return np.where(high == low, np.nan, value)

    def outer_jac(self, values: Floats) -> Floats:
        """``1 / b`` for the lesser, ``- a / b^2`` for the greater."""
        m = self.measure.m
        out = np.zeros((m, len(values)))
        lesser, greater = self.lesser_and_greater(values)
        up, down = divide(np.ones(m), greater), -divide(lesser, greater**2)
        if not self.to_overall:
            high, low = self.far_levels(values)
            out[self.place(high)] = down
            out[self.place(low)] = up
            return out
        overall, table = self.overall_and_table(values)
        level = self.furthest(values)
        turned = taken(table, level) > overall[0]
        rows, columns = self.place(level)
        out[rows, m + columns] = np.where(turned, down, up)
        out[rows, rows] = np.where(turned, up, down)
        return out
