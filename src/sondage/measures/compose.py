"""Measures made of measures: several at once, a function of others such as a difference.

A measure of measures hands everything down: it has the losses of what it is made of, and its influence
is a sum of theirs. So it works for every measure, with few losses or very many.
"""

from __future__ import annotations

from abc import abstractmethod
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from sondage.errors import InvalidInput, NotSupported
from sondage.measures.base import ALL, Input, Measure, affine_moments, complex_step, divide
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.types import Array, Bools, Floats


@dataclass(frozen=True)
class Stack(Measure):
    """Several measures at once, estimated from the same labels."""

    alias: ClassVar[str] = "stack"
    label_kind = "any"
    measures: tuple[Measure, ...]

    def __post_init__(self) -> None:
        if not self.measures:
            raise InvalidInput("a list of measures must name at least one")
        object.__setattr__(self, "measures", tuple(made(one) for one in self.measures))

    def bind(self, pool: Pool) -> Stack:
        """Bind each."""
        return Stack(tuple(one.bind(pool) for one in self.measures))

    @property
    def wide(self) -> bool:  # type: ignore[override]
        """Whether any is."""
        return any(one.wide for one in self.measures)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all; those that are the same for several systems have their system's name."""
        plain = [name for one in self.measures for name in one.names]
        systems = [getattr(one, "system", None) for one in self.measures for _ in one.names]
        return tuple(
            name if system is None or plain.count(name) == 1 else f"{name} of {system}"
            for name, system in zip(plain, systems, strict=True)
        )

    @property
    def d(self) -> int:
        """The losses of all."""
        return sum(one.d for one in self.measures)

    @property
    def range(self) -> tuple[Floats, Floats]:
        """The ranges of all."""
        low, high = zip(*(one.range for one in self.measures), strict=True)
        return np.concatenate(low), np.concatenate(high)

    @property
    def ratio(self) -> tuple[Floats, Floats] | None:
        """Of a stack of one."""
        return self.measures[0].ratio if len(self.measures) == 1 else None

    def inputs(self, pool: Pool) -> tuple[Input, ...]:
        """The inputs of all, each once."""
        return tuple(dict.fromkeys(part for one in self.measures for part in one.inputs(pool)))

    def signature(self, pool: Pool) -> Array | None:
        """That of the inputs of all; None if any of them has none."""
        if any(one.signature(pool) is None for one in self.measures):
            return None
        return super().signature(pool)

    def narrowed(self, rows: Rows) -> Measure:
        """Each for itself."""
        each = tuple(one.narrowed(rows) for one in self.measures)
        same = all(one is other for one, other in zip(each, self.measures, strict=True))
        return self if same else Stack(each)

    def loss(self, rows: Rows, y: Floats) -> Floats:
        """The losses of all, side by side."""
        return np.concatenate([one.loss(rows, y) for one in self.measures], axis=-1)

    def total(self, rows: Rows, y: Floats, weights: Floats) -> Floats:
        """The totals of all."""
        return np.concatenate([one.total(rows, y, weights) for one in self.measures])

    def expected_total(self, rows: Rows, y: Floats, weights: Floats, factor: Floats) -> Floats:
        """The expected totals of all."""
        return np.concatenate([one.expected_total(rows, y, weights, factor) for one in self.measures])

    def known(self, pool: Pool) -> Floats:
        """What is known of any."""
        return np.concatenate([one.known(pool) for one in self.measures])

    def g(self, R: Array) -> Array:
        """Each measure of its own losses."""
        pieces = self._split(R)
        return np.concatenate(
            [one.g(piece) for one, piece in zip(self.measures, pieces, strict=True)], axis=-1
        )

    def jac(self, R: Floats) -> Floats:
        """The derivatives of all, as blocks."""
        out = np.zeros((self.m, self.d))
        row = column = 0
        for one, piece in zip(self.measures, self._split(R), strict=True):
            out[row : row + one.m, column : column + one.d] = one.jac(piece)
            row, column = row + one.m, column + one.d
        return out

    def slope(self, R: Floats, weight: Floats | None = None) -> tuple[Any, ...]:
        """The slope of each."""
        weights = [None] * len(self.measures) if weight is None else np.split(weight, self._ends("m"))
        return tuple(
            one.slope(piece, mine)
            for one, piece, mine in zip(self.measures, self._split(R), weights, strict=True)
        )

    def settled(self, rows: Rows) -> Bools:
        """Where all are."""
        return np.asarray(np.all([one.settled(rows) for one in self.measures], axis=0))

    def influence(self, rows: Rows, y: Floats, slope: Any, which: slice = ALL) -> Floats:
        """The influences of all, side by side."""
        return np.concatenate(
            [self.measures[k].influence(rows, y, slope[k], mine) for k, mine in self._pieces(which)], axis=-1
        )

    def moments(
        self, rows: Rows, y: Floats, weights: Floats, slope: Any, which: slice = ALL
    ) -> tuple[Floats, Floats]:
        """The moments of all, side by side."""
        each = [self.measures[k].moments(rows, y, weights, slope[k], mine) for k, mine in self._pieces(which)]
        mean, square = zip(*each, strict=True)
        return np.concatenate(mean, axis=-1), np.concatenate(square, axis=-1)

    def square_sum(
        self, rows: Rows, y: Floats, weights: Floats, slope: Any, factor: Floats, which: slice = ALL
    ) -> Floats:
        """The sums of all, side by side."""
        return np.concatenate(
            [
                self.measures[k].square_sum(rows, y, weights, slope[k], factor, mine)
                for k, mine in self._pieces(which)
            ]
        )

    def affine(self, rows: Rows, slope: Any, which: slice = ALL) -> tuple[Floats, Floats]:
        """The forms of all, side by side."""
        each = [self.measures[k].affine(rows, slope[k], mine) for k, mine in self._pieces(which)]
        constant, factor = zip(*each, strict=True)
        return np.concatenate(constant, axis=1), np.concatenate(factor, axis=1)

    def uniform_variance(self, R: Floats) -> Floats | None:
        """Of all, if each knows its own."""
        each = [one.uniform_variance(piece) for one, piece in zip(self.measures, self._split(R), strict=True)]
        known = [one for one in each if one is not None]
        return np.concatenate(known) if len(known) == len(each) else None

    def _ends(self, size: str) -> Array:
        return np.cumsum([getattr(one, size) for one in self.measures])[:-1]

    def _split(self, R: Array) -> list[Array]:
        return np.split(R, self._ends("d"), axis=-1)

    def _pieces(self, which: slice) -> list[tuple[int, slice]]:
        """The measures that have a part in the coordinates ``which``, and that part."""
        start, stop, _ = which.indices(self.m)
        pieces, begin = [], 0
        for k, one in enumerate(self.measures):
            low, high = max(start - begin, 0), min(stop - begin, one.m)
            if low < high:
                pieces.append((k, slice(low, high)))
            begin += one.m
        return pieces


class Derived(Measure):
    """A function of another measure's coordinates: a difference, a ratio, the least, the gap, ...

    Write ``inner``, ``names``, ``range`` and ``outer``; and ``outer_jac`` where ``outer`` is not analytic.
    """

    label_kind = "any"

    @property
    @abstractmethod
    def inner(self) -> Measure:
        """What it is a function of."""

    @abstractmethod
    def outer(self, values: Array) -> Array:
        """(..., m of inner) -> (..., m)."""

    def outer_jac(self, values: Floats) -> Floats:
        """(m, m of inner) derivative of ``outer``."""
        return complex_step(self.outer, values)

    @property
    def wide(self) -> bool:  # type: ignore[override]
        """As the measure inside."""
        return self.inner.wide

    @property
    def d(self) -> int:
        """The losses inside."""
        return self.inner.d

    def inputs(self, pool: Pool) -> tuple[Input, ...]:
        """The inputs inside."""
        return self.inner.inputs(pool)

    def signature(self, pool: Pool) -> Array | None:
        """The signature inside."""
        return self.inner.signature(pool)

    def settled(self, rows: Rows) -> Bools:
        """Where the measure inside is."""
        return self.inner.settled(rows)

    def loss(self, rows: Rows, y: Floats) -> Floats:
        """The losses inside."""
        return self.inner.loss(rows, y)

    def total(self, rows: Rows, y: Floats, weights: Floats) -> Floats:
        """The totals inside."""
        return self.inner.total(rows, y, weights)

    def expected_total(self, rows: Rows, y: Floats, weights: Floats, factor: Floats) -> Floats:
        """The expected totals inside."""
        return self.inner.expected_total(rows, y, weights, factor)

    def known(self, pool: Pool) -> Floats:
        """What is known inside."""
        return self.inner.known(pool)

    def g(self, R: Array) -> Array:
        """The function of the values inside."""
        return np.asarray(self.outer(self.inner.g(R)))

    def jac(self, R: Floats) -> Floats:
        """The chain rule."""
        return self.outer_jac(np.asarray(self.inner.g(R))) @ self.inner.jac(R)

    def slope(self, R: Floats, weight: Floats | None = None) -> tuple[Any, Floats]:
        """The slope inside, and the derivative of the function."""
        outer = self.outer_jac(np.asarray(self.inner.g(R)))
        if weight is not None:
            outer = outer * np.sqrt(weight)[:, None]
        return self.inner.slope(R), np.nan_to_num(outer, nan=0.0, posinf=0.0, neginf=0.0)

    def influence(self, rows: Rows, y: Floats, slope: Any, which: slice = ALL) -> Floats:
        """The influences inside, by the chain rule."""
        return np.asarray(self.inner.influence(rows, y, slope[0]) @ slope[1][which].T)

    def moments(
        self, rows: Rows, y: Floats, weights: Floats, slope: Any, which: slice = ALL
    ) -> tuple[Floats, Floats]:
        """From the influences; where labels are several numbers, from the affine form."""
        if rows.labels.kind == "vector" and not np.shape(y)[-1]:
            try:
                return affine_moments(self, rows, weights, slope, which)
            except NotSupported:  # not linear in the label: no more than if all went together
                mean, square = self.inner.moments(rows, y, weights, slope[0])
                outer, deviation = slope[1][which], np.sqrt(np.maximum(square - np.square(mean), 0.0))
                mean = mean @ outer.T
                return mean, np.square(mean) + np.square(deviation @ np.abs(outer).T)
        return super().moments(rows, y, weights, slope, which)

    def affine(self, rows: Rows, slope: Any, which: slice = ALL) -> tuple[Floats, Floats]:
        """The form inside, by the chain rule."""
        constant, factor = self.inner.affine(rows, slope[0])
        outer = slope[1][which]
        return constant @ outer.T, np.einsum("nmc,km->nkc", factor, outer)


@dataclass(frozen=True)
class TwoSystems(Derived):
    """A function of a measure of system ``a`` and the same measure of system ``b``."""

    measure: Measure
    a: str
    b: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "measure", made(self.measure))

    def bind(self, pool: Pool) -> Self:
        """Bind both sides, if they can be compared."""
        if self.a == self.b:
            raise InvalidInput(f"a {self.alias} needs two systems, not {self.a!r} twice")
        first, second = (one.bind(pool) for one in self.inner.measures)
        if first.names != second.names:
            raise InvalidInput(
                f"of system {self.a!r} the coordinates are {first.names[0]!r}, ... and of {self.b!r} "
                f"{second.names[0]!r}, ...: give both the same ones, for instance thresholds=[...]"
            )
        return replace(self, measure=self.measure.bind(pool))

    @property
    def inner(self) -> Stack:
        """The measure of both systems."""
        return Stack((for_system(self.measure, self.a), for_system(self.measure, self.b)))


@dataclass(frozen=True)
class Difference(TwoSystems):
    """A measure of system ``a`` less the same measure of system ``b``."""

    alias: ClassVar[str] = "difference"

    def bind(self, pool: Pool) -> Difference:
        """Bind both sides; of means over all items, as the mean of the differences."""
        bound = super().bind(pool)
        ratio = None if bound.wide else bound.measure.ratio
        if ratio is None or not np.array_equal(ratio[1], np.eye(bound.measure.d)[0]):
            return bound
        return MeanDifference(bound.measure, bound.a, bound.b)

    @property
    def names(self) -> tuple[str, ...]:
        """``f1: a - b``."""
        return tuple(f"{name}: {self.a} - {self.b}" for name in self.measure.names)

    @property
    def range(self) -> tuple[Floats, Floats]:
        """From all of one to all of the other."""
        low, high = self.measure.range
        return low - high, high - low

    def outer(self, values: Array) -> Array:
        """One less the other."""
        a, b = np.split(values, 2, axis=-1)
        return np.asarray(a - b)

    def settled(self, rows: Rows) -> Bools:
        """Where both sides are; of means over all items, also where both have the same loss."""
        ratio = self.measure.ratio
        plain = ratio is not None and np.array_equal(ratio[1], np.eye(self.measure.d)[0])
        if not (plain and rows.labels.kind == "vector"):
            return super().settled(rows)
        with suppress(NotSupported):  # not linear in the label
            factor = self.affine(rows, self.slope(np.ones(self.d)))[1]
            return np.asarray((factor == 0).all(axis=(1, 2)))
        return super().settled(rows)


@dataclass(frozen=True)
class MeanDifference(Difference):
    """A difference of two means over the same items, such as accuracies: the mean of the items' differences.

    An item on which both systems do alike, whatever its label, is known to add nothing. The losses of both
    sides next to each other would hide that.

    >>> from sondage.pool import Pool
    >>> pool = Pool.from_arrays(systems={"a": {"prediction": [0, 1, 1]}, "b": {"prediction": [0, 1, 0]}})
    >>> bound = Difference("accuracy", "a", "b").bind(pool)
    >>> bound.loss(pool.rows(slice(None)), np.array([0.0, 1.0]))[..., 1].tolist()
    [[0.0, 0.0], [0.0, 0.0], [-1.0, 1.0]]
    """

    def config(self) -> dict[str, Any]:
        """As the difference that it was made from."""
        return Difference(self.measure, self.a, self.b).config()

    @property
    def d(self) -> int:
        """The weight and the difference."""
        return 2

    @property
    def ratio(self) -> tuple[Floats, Floats]:
        """The mean difference."""
        return np.array([0.0, 1.0]), np.array([1.0, 0.0])

    def loss(self, rows: Rows, y: Floats) -> Floats:
        """The weight, and what one side has more than the other."""
        a, b = (one.loss(rows, y) for one in self.inner.measures)
        assert self.measure.ratio is not None
        above, _ = self.measure.ratio
        return np.stack([a[..., 0], a @ above - b @ above], axis=-1)

    def g(self, R: Array) -> Array:
        """The mean difference."""
        return divide(R[..., 1:], R[..., :1])

    total = Measure.total
    expected_total = Measure.expected_total
    known = Measure.known
    settled = Measure.settled
    jac = Measure.jac
    slope = Measure.slope
    influence = Measure.influence
    moments = Measure.moments
    affine = Measure.affine


def made(measure: Measure | str) -> Measure:
    """A measure from its name or itself; several from a list."""
    if isinstance(measure, (list, tuple)):
        return Stack(tuple(measure))
    return Measure.from_alias(measure) if isinstance(measure, str) else measure


def parts_of(measure: Measure) -> tuple[Measure, ...]:
    """The measures of a list; one that is no list, by itself."""
    return measure.measures if isinstance(measure, Stack) else (measure,)


def for_system(measure: Measure, system: str | None) -> Measure:
    """The same measure, looking at another system."""
    if isinstance(measure, Stack):
        return Stack(tuple(for_system(one, system) for one in measure.measures))
    changed: Any = measure
    if hasattr(measure, "system"):
        other: Measure = replace(changed, system=system)
        return other
    if hasattr(measure, "measure") and not hasattr(measure, "a"):
        inside: Measure = replace(changed, measure=for_system(changed.measure, system))
        return inside
    raise InvalidInput(f"a measure {measure.alias!r} names its systems itself: system= cannot change them")
