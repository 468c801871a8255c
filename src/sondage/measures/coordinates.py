"""The coordinates of a measure one by one, where each is a ratio of two averages."""

from __future__ import annotations

import numpy as np

from sondage.measures.base import Measure
from sondage.measures.compose import Difference, Stack
from sondage.measures.per_group import PerGroup
from sondage.types import Floats

Ratio = tuple[Floats, Floats]


def coordinate_ratios(measure: Measure) -> tuple[Ratio, ...] | None:
    """``(num, den)`` of each coordinate, with ``den @ l >= 0``; None if one of them is no ratio.

    >>> from sondage.measures import resolve
    >>> [den.tolist() for num, den in coordinate_ratios(resolve(["accuracy", "precision"]))]
    [[1.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 1.0]]
    """
    if measure.ratio is not None:
        return (measure.ratio,)
    if isinstance(measure, Stack):
        return _placed([coordinate_ratios(one) for one in measure.measures], [m.d for m in measure.measures])
    if isinstance(measure, PerGroup):
        each, levels = coordinate_ratios(measure.measure), len(measure.levels)
        return _placed([(), *(each for _ in range(levels))], [1, *(measure.measure.d for _ in range(levels))])
    if isinstance(measure, Difference):
        return _differences(measure)
    return None


def two_sides(measure: Measure) -> tuple[tuple[Ratio, Ratio], ...] | None:
    """The ratios of both systems for each coordinate of a difference of ratios in [0, 1]; otherwise None."""
    sides = _sides(measure) if isinstance(measure, Difference) else None
    if sides is None or not isinstance(measure, Difference):
        return None
    least, most = measure.inner.range
    return None if (least != 0).any() or (most != 1).any() else sides


def _sides(measure: Difference) -> tuple[tuple[Ratio, Ratio], ...] | None:
    both = coordinate_ratios(measure.inner)
    if both is None:
        return None
    half = len(both) // 2
    return tuple(zip(both[:half], both[half:], strict=True))


def _differences(measure: Difference) -> tuple[Ratio, ...] | None:
    """A difference of two means over the same items is a mean of differences."""
    sides = _sides(measure)
    if sides is None:
        return None
    width = measure.inner.measures[0].d
    weight = np.zeros(measure.d)
    weight[0] = 1.0
    same = all(
        np.array_equal(a[1], weight) and np.array_equal(b[1], np.roll(weight, width)) for a, b in sides
    )
    return tuple((a[0] - b[0], weight) for a, b in sides) if same else None


def _placed(pieces: list[tuple[Ratio, ...] | None], widths: list[int]) -> tuple[Ratio, ...] | None:
    """Ratios of losses that stand side by side."""
    out: list[Ratio] = []
    begin = 0
    for ratios, width in zip(pieces, widths, strict=True):
        if ratios is None:
            return None
        around = begin, sum(widths) - begin - width
        out += [(np.pad(num, around), np.pad(den, around)) for num, den in ratios]
        begin += width
    return tuple(out)
