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
    return None


def two_sides(measure: Measure) -> tuple[tuple[Ratio, Ratio], ...] | None:
    """The ratios of both systems for each coordinate of a difference of ratios in [0, 1]; otherwise None."""
    if not isinstance(measure, Difference):
        return None
    if measure.ratio is not None:  # a mean of differences, beside a side that is 0
        mean, weight = measure.ratio
        return (((mean, weight), (np.zeros(len(mean)), weight)),)
    both, (least, most) = coordinate_ratios(measure.inner), measure.inner.range
    if both is None or (least != 0).any() or (most != 1).any():
        return None
    return tuple(zip(both[: measure.m], both[measure.m :], strict=True))


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
