"""A measure in every level of a grouping column."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from sondage.measures.base import ALL, Input, Measure
from sondage.measures.compose import made
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.types import Array, Floats

By = str | tuple[str, ...]
"""A grouping column, or several whose levels are crossed."""


def crossing(by: Any) -> Any:
    """Columns of a crossing, each once; one is itself."""
    if not isinstance(by, (list, tuple)):
        return by
    names = tuple(dict.fromkeys(map(str, by)))
    return names[0] if len(names) == 1 else names


def by_words(by: By) -> str:
    """The name of a grouping: ``age``, or ``age × job``, as levels of a crossing are called."""
    return by if isinstance(by, str) else " × ".join(by)


@dataclass(frozen=True)
class PerGroup(Measure):
    """A measure in every level of a grouping column; ``by=("age", "job")`` crosses two."""

    alias: ClassVar[str] = "per_group"
    label_kind = "any"
    measure: Measure
    by: By
    levels: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "measure", made(self.measure))
        object.__setattr__(self, "by", crossing(self.by))

    def bind(self, pool: Pool) -> PerGroup:
        """Bind the measure and learn the levels."""
        return replace(self, measure=self.measure.bind(pool), levels=pool.group(self.by).levels)

    @property
    def wide(self) -> bool:  # type: ignore[override]
        """As the measure inside."""
        return self.measure.wide

    @property
    def names(self) -> tuple[str, ...]:
        """``recall[region=north]``, or ``recall[region × age=north × old]`` of a crossing."""
        by = by_words(self.by)
        return tuple(f"{name}[{by}={level}]" for level in self.levels for name in self.measure.names)

    @property
    def d(self) -> int:
        """The weight, and the losses of every level."""
        return 1 + len(self.levels) * self.measure.d

    @property
    def range(self) -> tuple[Floats, Floats]:
        """The range of every level."""
        low, high = self.measure.range
        return np.tile(low, len(self.levels)), np.tile(high, len(self.levels))

    def inputs(self, pool: Pool) -> tuple[Input, ...]:
        """The measure's, and the group or those crossed."""
        groups = (self.by,) if isinstance(self.by, str) else self.by
        return (*self.measure.inputs(pool), *(Input("group", one) for one in groups))

    def signature(self, pool: Pool) -> Array | None:
        """The measure's, crossed with the level; None if it has none."""
        return None if self.measure.signature(pool) is None else super().signature(pool)

    def loss(self, rows: Rows, y: Floats) -> Floats:
        """The item's weight, then its losses in its own level and zeros in the others."""
        inner = self.measure.loss(rows, y)
        member = rows.group(self.by)[:, None] == np.arange(len(self.levels))
        blocks = inner[:, :, None, :] * member[:, None, :, None]
        return np.concatenate([inner[..., :1], blocks.reshape(*inner.shape[:2], self.d - 1)], axis=-1)

    def total(self, rows: Rows, y: Floats, weights: Floats) -> Floats:
        """The weight, and the totals of every level."""
        level = rows.group(self.by)
        return _levels(
            self.measure.total(rows, y, weights * (level == k)[:, None]) for k in range(len(self.levels))
        )

    def expected_total(self, rows: Rows, y: Floats, weights: Floats, factor: Floats) -> Floats:
        """The weight, and the expected totals of every level."""
        level = rows.group(self.by)
        return _levels(
            self.measure.expected_total(rows, y, weights, factor * (level == k))
            for k in range(len(self.levels))
        )

    def g(self, R: Array) -> Array:
        """The measure of every level: homogeneity makes the level's size cancel."""
        blocks = R[..., 1:].reshape(*R.shape[:-1], len(self.levels), self.measure.d)
        return self.measure.g(blocks).reshape(*R.shape[:-1], self.m)

    def jac(self, R: Floats) -> Floats:
        """The derivatives of every level, as blocks."""
        out = np.zeros((self.m, self.d))
        m, d = self.measure.m, self.measure.d
        for k, block in enumerate(R[1:].reshape(-1, d)):
            out[k * m : (k + 1) * m, 1 + k * d : 1 + (k + 1) * d] = self.measure.jac(block)
        return out

    def slope(self, R: Floats, weight: Floats | None = None) -> tuple[Any, ...]:
        """The slope of every level."""
        blocks = R[1:].reshape(len(self.levels), self.measure.d)
        weights = [None] * len(blocks) if weight is None else np.split(weight, len(blocks))
        return tuple(self.measure.slope(block, mine) for block, mine in zip(blocks, weights, strict=True))

    def influence(self, rows: Rows, y: Floats, slope: Any, which: slice = ALL) -> Floats:
        """The influence on the item's own level, zero on the others."""
        level = rows.group(self.by)
        each = [
            self.measure.influence(rows, y, one) * (level == k)[:, None, None] for k, one in enumerate(slope)
        ]
        return np.concatenate(each, axis=-1)[..., which]

    def moments(
        self, rows: Rows, y: Floats, weights: Floats, slope: Any, which: slice = ALL
    ) -> tuple[Floats, Floats]:
        """The moments on the item's own level, zero on the others."""
        level = rows.group(self.by)
        means, squares = [], []
        for k, one in enumerate(slope):
            member = (level == k)[:, None]
            mean, square = self.measure.moments(rows, y, weights, one)
            means.append(mean * member)
            squares.append(square * member)
        return np.concatenate(means, axis=-1)[:, which], np.concatenate(squares, axis=-1)[:, which]

    def affine(self, rows: Rows, slope: Any, which: slice = ALL) -> tuple[Floats, Floats]:
        """The form on the item's own level, zero on the others."""
        level = rows.group(self.by)
        constants, factors = [], []
        for k, one in enumerate(slope):
            constant, factor = self.measure.affine(rows, one)
            constants.append(constant * (level == k)[:, None])
            factors.append(factor * (level == k)[:, None, None])
        return np.concatenate(constants, axis=1)[:, which], np.concatenate(factors, axis=1)[:, which]


def _levels(totals: Iterable[Floats]) -> Floats:
    """Totals of every level, with their weight in front."""
    each = list(totals)
    return np.concatenate([[sum(float(one[0]) for one in each)], *each])
