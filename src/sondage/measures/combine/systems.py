"""A measure of two systems compared: the difference, the ratio."""

from __future__ import annotations

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
class TwoSystems(Derived):
    """A function of a measure of system ``a`` and the same measure of system ``b``."""

    sign: ClassVar[str]
    measure: Measure
    a: str
    b: str
    sides: tuple[Measure, ...] = field(
        default=(), kw_only=True, repr=False, compare=False, metadata=FILLED_IN
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "measure", resolve(self.measure))

    def bind(self, pool: Pool) -> Self:
        """Bind both sides, if they can be compared."""
        if self.a == self.b:
            raise InvalidInput(f"a {self.alias} needs two systems, not {self.a!r} twice")
        measure = self.measure.bind(pool)
        first, second = (for_system(measure, name).bind(pool) for name in (self.a, self.b))
        if first.names != second.names:
            raise InvalidInput(
                f"of system {self.a!r} the coordinates are {first.names[0]!r}, ... and of {self.b!r} "
                f"{second.names[0]!r}, ...: give both the same ones, for instance thresholds=[...]"
            )
        return replace(self, measure=measure, sides=(first, second))

    @cached_property
    def inner(self) -> Measure:
        return Stack(self.sides or (for_system(self.measure, self.a), for_system(self.measure, self.b)))

    @property
    def names(self) -> tuple[str, ...]:
        """``f1: a - b``, ``f1: a / b``."""
        return tuple(f"{name}: {self.a} {self.sign} {self.b}" for name in self.measure.names)


@dataclass(frozen=True)
class Difference(TwoSystems):
    """A measure of system ``a`` less the same measure of system ``b``.

    A difference of two means over the same items, such as accuracies, is the mean of the items' differences:
    an item on which both systems do alike, whatever its label, is known to add nothing. The losses of both
    sides next to each other would hide that.

    >>> from sondage.pool import Pool
    >>> pool = Pool.from_arrays(systems={"a": {"prediction": [0, 1, 1]}, "b": {"prediction": [0, 1, 0]}})
    >>> bound = Difference("accuracy", "a", "b").bind(pool)
    >>> bound.loss(pool.rows(slice(None)), np.array([0.0, 1.0]))[..., 1].tolist()
    [[0.0, 0.0], [0.0, 0.0], [-1.0, 1.0]]
    """

    alias: ClassVar[str] = "difference"
    sign: ClassVar[str] = "-"

    @cached_property
    def _of_means(self) -> bool:
        """Whether both sides are means over all items."""
        ratio = self.sides[0].ratio if self.sides else None
        return ratio is not None and np.array_equal(ratio[1], np.eye(self.sides[0].d)[0])

    @cached_property
    def paired(self) -> bool:
        """Whether it is a mean of the items' differences."""
        return self._of_means and not self.inner.wide

    def settled(self, rows: Rows) -> Bools:
        """As inside; of means over all items, also where both sides have equal losses."""
        return Measure.settled(self, rows) if self._of_means else super().settled(rows)

    def _anywhere(self) -> Floats:
        """Averages of the same weight: then equal losses cancel."""
        return np.ones(self.d)

    @property
    def range(self) -> tuple[Floats, Floats]:
        low, high = self.measure.range
        return low - high, high - low

    @cached_property
    def losses(self) -> Losses:
        return Paired([one.losses for one in self.sides], self.sides[0]) if self.paired else self.inner.losses

    @property
    def ratio(self) -> tuple[Floats, Floats] | None:
        return (np.array([0.0, 1.0]), np.array([1.0, 0.0])) if self.paired else None

    def g(self, R: Array) -> Array:
        return divide(R[..., 1:], R[..., :1]) if self.paired else super().g(R)

    def jac(self, R: Floats) -> Floats:
        return Map.jac(self, R) if self.paired else super().jac(R)

    def slope(self, R: Floats, weight: Floats | None = None) -> Any:
        return Map.slope(self, R, weight) if self.paired else super().slope(R, weight)

    def outer(self, values: Array) -> Array:
        a, b = np.split(values, 2, axis=-1)
        return np.asarray(a - b)


class Paired(Several):
    """The weight, and what one side of a difference of means has more than the other."""

    d = 2

    def __init__(self, sides: Sequence[Losses], mean: Measure) -> None:
        super().__init__(sides)
        assert mean.ratio is not None
        self.numerator, _ = mean.ratio

    def loss(self, rows: Rows, y: Floats) -> Floats:
        a, b = (one.loss(rows, y) for one in self.each)
        return np.stack([a[..., 0], a @ self.numerator - b @ self.numerator], axis=-1)


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
    sign: ClassVar[str] = "/"

    @property
    def range(self) -> tuple[Floats, Floats]:
        """0 and above, or anything if the measure may be negative."""
        low, _ = self.measure.range
        return np.where(low >= 0, 0.0, -np.inf), np.full(len(low), np.inf)

    def outer(self, values: Array) -> Array:
        return divide(*np.split(values, 2, axis=-1))
