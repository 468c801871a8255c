"""A measure of several systems compared: the difference, the ratio, the lead of each."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from sondage.errors import InvalidInput
from sondage.measures.base import FILLED_IN, Derived, Measure
from sondage.measures.combine.stack import Several, Stack, for_system, resolve
from sondage.measures.losses.base import Losses
from sondage.measures.maps.base import Map, divide
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.types import Array, Bools, Floats


@dataclass(frozen=True)
class OfSystems(Derived):
    """A function of the same measure of several systems, the ``compared`` ones."""

    measure: Measure
    sides: tuple[Measure, ...] = field(
        default=(), kw_only=True, repr=False, compare=False, metadata=FILLED_IN
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "measure", resolve(self.measure))

    @property
    @abstractmethod
    def compared(self) -> tuple[str, ...]:
        """The names of the systems, in order."""

    @property
    def less_is_better(self) -> bool:
        return self.measure.less_is_better

    @property
    def sign(self) -> float:
        """1 where more of the measure is better, -1 where less is."""
        return -1.0 if self.measure.less_is_better else 1.0

    def bind(self, pool: Pool) -> Self:
        """Bind all sides, if they can be compared."""
        names = self.compared
        for name in names:
            if name is None:  # which elsewhere means the first system
                raise InvalidInput(f"system {name!r} is not in the pool, which has {list(pool.systems)}")
            if names.count(name) > 1:
                raise InvalidInput(f"a {self.alias} needs two systems, not {name!r} twice")
        measure = self.measure.bind(pool)
        sides = tuple(for_system(measure, name).bind(pool) for name in names)
        for name, side in zip(names[1:], sides[1:], strict=True):
            if side.names != sides[0].names:
                raise InvalidInput(
                    f"of system {names[0]!r} the coordinates are {sides[0].names[0]!r}, ... and of {name!r} "
                    f"{side.names[0]!r}, ...: give both the same ones, for instance thresholds=[...]"
                )
        return replace(self, measure=measure, sides=sides)

    @cached_property
    def inner(self) -> Measure:
        return Stack(self.sides or tuple(for_system(self.measure, name) for name in self.compared))


@dataclass(frozen=True)
class Contrast(OfSystems):
    """Sums and differences of a measure of several systems: write ``rows``, their coefficients.

    A contrast of means over the same items, such as accuracies, is the mean of the items' contrasts: an item
    on which all systems do alike, whatever its label, is known to add nothing. The losses of all sides next
    to each other would hide that.
    """

    @property
    @abstractmethod
    def rows(self) -> Floats:
        """(c, k) coefficients of the k systems in each contrast; each row adds up to 0."""

    @cached_property
    def of_means(self) -> bool:
        """Whether all sides are means over all items."""
        ratio = self.sides[0].ratio if self.sides else None
        return ratio is not None and np.array_equal(ratio[1], np.eye(self.sides[0].d)[0])

    @cached_property
    def paired(self) -> bool:
        """Whether it is a mean of the items' contrasts."""
        return self.of_means and not self.inner.wide

    def settled(self, rows: Rows) -> Bools:
        """As inside; of means over all items, also where all sides have equal losses."""
        return Measure.settled(self, rows) if self.of_means else super().settled(rows)

    def _anywhere(self) -> Floats:
        """Averages of the same weight: then equal losses cancel."""
        return np.ones(self.d)

    @property
    def range(self) -> tuple[Floats, Floats]:
        low, high = self.measure.range
        up, down = (np.maximum(sign * self.rows, 0.0).sum(axis=1)[:, None] for sign in (1, -1))
        return (up * low - down * high).ravel(), (up * high - down * low).ravel()

    @cached_property
    def losses(self) -> Losses:
        """Those of all sides, or the items' contrasts."""
        if not self.paired:
            return self.inner.losses
        sides = [one.losses for one in self.sides]
        return sides[0].contrasts(sides, self.rows) or Paired(sides, self.sides[0], self.rows)

    @property
    def ratio(self) -> tuple[Floats, Floats] | None:
        return (np.array([0.0, 1.0]), np.array([1.0, 0.0])) if self.paired and self.m == 1 else None

    def g(self, R: Array) -> Array:
        return divide(R[..., 1:], R[..., :1]) if self.paired else super().g(R)

    def jac(self, R: Floats) -> Floats:
        return Map.jac(self, R) if self.paired else super().jac(R)

    def slope(self, R: Floats, weight: Floats | None = None) -> Any:
        return Map.slope(self, R, weight) if self.paired else super().slope(R, weight)

    def outer(self, values: Array) -> Array:
        each = values.reshape(*values.shape[:-1], len(self.compared), self.measure.m)
        return np.asarray(self.rows @ each).reshape(*values.shape[:-1], -1)


class Paired(Several):
    """The weight, and contrasts of what the sides have: their means are contrasts of means."""

    def __init__(self, sides: Sequence[Losses], mean: Measure, rows: Floats) -> None:
        super().__init__(sides)
        assert mean.ratio is not None
        self.numerator, self.rows, self.d = mean.ratio[0], rows, 1 + len(rows)

    def loss(self, rows: Rows, y: Floats) -> Floats:
        sides = [one.loss(rows, y) for one in self.each]
        values = np.stack([one @ self.numerator for one in sides], axis=-1)
        values -= values[..., :1]  # changes no contrast, and makes those of equal values exactly 0
        return np.concatenate([sides[0][..., :1], values @ self.rows.T], axis=-1)


@dataclass(frozen=True)
class Difference(Contrast):
    """A measure of system ``a`` less the same measure of system ``b``.

    >>> from sondage.pool import Pool
    >>> pool = Pool.from_arrays(systems={"a": {"prediction": [0, 1, 1]}, "b": {"prediction": [0, 1, 0]}})
    >>> bound = Difference("accuracy", "a", "b").bind(pool)
    >>> bound.loss(pool.rows(slice(None)), np.array([0.0, 1.0]))[..., 1].tolist()
    [[0.0, 0.0], [0.0, 0.0], [-1.0, 1.0]]
    """

    alias: ClassVar[str] = "difference"
    a: str
    b: str

    @property
    def compared(self) -> tuple[str, ...]:
        return (self.a, self.b)

    @property
    def rows(self) -> Floats:
        return np.array([[1.0, -1.0]])

    @property
    def names(self) -> tuple[str, ...]:
        """``f1: a - b``."""
        return tuple(f"{name}: {self.a} - {self.b}" for name in self.measure.names)


@dataclass(frozen=True)
class Leads(Contrast):
    """How far a measure of each of several ``systems`` is above its mean over all of them.

    What one system has more than another is the difference of their leads.

    >>> from sondage.measures import pool_value
    >>> from sondage.pool import Pool
    >>> votes = {"a": [0, 1, 1], "b": [0, 1, 0], "c": [0, 0, 0]}
    >>> pool = Pool.from_arrays(systems={name: {"prediction": said} for name, said in votes.items()})
    >>> bound = Leads("accuracy", ("a", "b", "c")).bind(pool)
    >>> pool_value(bound, pool, np.array([0.0, 1.0, 0.0])).round(3).tolist()
    [-0.111, 0.222, -0.111]
    """

    alias: ClassVar[str] = "leads"
    systems_compared: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "systems_compared", tuple(self.systems_compared))
        if len(self.systems_compared) < 2:
            raise InvalidInput(f"leads are of several systems, not of {self.systems_compared!r}")

    @property
    def compared(self) -> tuple[str, ...]:
        return self.systems_compared

    @property
    def rows(self) -> Floats:
        k = len(self.systems_compared)
        return np.eye(k) - 1.0 / k

    @property
    def names(self) -> tuple[str, ...]:
        """``f1: a - mean``."""
        names = [f"{one}: {system} - mean" for system in self.systems_compared for one in self.measure.names]
        return tuple(names)


@dataclass(frozen=True)
class Ratio(OfSystems):
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
    a: str
    b: str

    @property
    def compared(self) -> tuple[str, ...]:
        return (self.a, self.b)

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
        return divide(*np.split(values, 2, axis=-1))
