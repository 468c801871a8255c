"""What the labels force: the least and the greatest value of a ratio, whatever the labels not seen are."""

from __future__ import annotations

import numpy as np

from sondage.measures.base import Measure
from sondage.types import Floats

_ROUNDS = 50


def forced_range(measure: Measure, told: Floats, left: Floats, loss: Floats) -> tuple[Floats, Floats] | None:
    """Least and greatest value, (1,) each; None for measures that are no ratio.

    ``told`` is (d,) the sum of the losses seen, ``left`` (K,) the unlabelled items of every cell, and
    ``loss`` (K, S, d) what a label adds there. A ratio is greatest where every label makes the numerator
    minus that ratio times the denominator greatest: found by Dinkelbach's method (1967), which is exact after
    a few rounds. An end at which the ratio may become 0/0 is that of its range.
    """
    if measure.ratio is None:
        return None
    numerator, denominator = measure.ratio
    up, down = loss @ numerator, loss @ denominator
    cell = np.arange(len(left))
    ends = []
    for sign, end in zip((-1.0, 1.0), measure.range, strict=True):
        value, before = float(end[0]), np.nan
        value = value if np.isfinite(value) else 0.0
        for _ in range(_ROUNDS):
            pick = (sign * (up - value * down)).argmax(axis=1)
            below = float(told @ denominator + left @ down[cell, pick])
            if below <= 0:
                value = float(end[0])
                break
            value, before = float(told @ numerator + left @ up[cell, pick]) / below, value
            if value == before:
                break
        ends.append(np.array([value]))
    return ends[0], ends[1]
