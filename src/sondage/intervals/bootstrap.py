"""Bootstrap: the measure under random re-weightings of the draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import ndtri

from sondage.estimators.base import Totals
from sondage.estimators.linear import linearise
from sondage.intervals.base import Interval
from sondage.measures.base import Measure
from sondage.streams import Stream
from sondage.types import Floats

_AT_ONCE = 4_000_000


@dataclass(frozen=True)
class Bootstrap(Interval):
    """Percentiles of ``g(R + sum_t (e_t - 1) parts_t)`` with exponential weights ``e_t``.

    One form serves every kind of sample, because the contributions of the draws already carry the
    design's variance. The map ``g`` is applied whole, so the interval follows its curvature. Variance
    that no draw has shown is normal, because nothing is known of its shape.
    """

    alias: ClassVar[str] = "bootstrap"
    replicates: int = 999

    def __post_init__(self) -> None:
        self.require(replicates="at least 99")

    def limits(
        self, totals: Totals, measure: Measure, level: float, sides: int, stream: Stream
    ) -> tuple[Floats, Floats]:
        linear = linearise(totals, measure)
        if not (linear.std_error > 0).any():
            return linear.value, linear.value
        B = self.replicates
        with np.errstate(all="ignore"):
            value = np.asarray(measure.g(totals.R + self._moves(totals, stream)), dtype=np.float64)
        value = value + stream.normal(B * measure.m).reshape(B, -1) * np.sqrt(linear.widening)
        tail = (1 - level) / sides
        low, high = np.full((2, measure.m), np.nan)
        for j in range(measure.m):
            defined = value[np.isfinite(value[:, j]), j]
            if len(defined):
                low[j], high[j] = np.quantile(defined, [tail, 1 - tail])
        return low, high

    def _moves(self, totals: Totals, stream: Stream) -> Floats:
        """(B, d) by how much the re-weighted draws move the averages."""
        parts, shown = totals.parts, totals.shown
        T = len(parts)
        pieces, left = [], self.replicates
        while left:  # a large sample in pieces, so that memory does not grow with it
            b = min(left, max(1, _AT_ONCE // max(T, 1)))
            uniform = stream.uniform(b * T).reshape(b, T)
            weight = -np.log1p(-uniform) - 1.0
            weight[:, ~shown] = ndtri(uniform[:, ~shown] + 2.0**-54)
            pieces.append(weight @ parts)
            left -= b
        return np.concatenate(pieces)
