"""Bootstrap: the measure under random re-weightings of the draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import ndtri

from sondage.errors import InvalidInput
from sondage.estimators.base import Totals
from sondage.estimators.linear import linearise
from sondage.intervals.base import Interval, within_range
from sondage.measures.base import Measure
from sondage.streams import Stream
from sondage.types import Floats


@dataclass(frozen=True)
class Bootstrap(Interval):
    """Percentiles of ``g(R + sum_t (e_t - 1) parts_t)`` with exponential weights ``e_t``.

    One form serves every kind of sample, because the contributions of the draws already carry the
    design's variance. The map ``g`` is applied whole, so the interval follows its curvature.
    """

    alias: ClassVar[str] = "bootstrap"
    replicates: int = 999

    def __post_init__(self) -> None:
        if self.replicates < 99:
            raise InvalidInput(f"replicates= must be at least 99, not {self.replicates}")

    def __call__(
        self, totals: Totals, measure: Measure, level: float, stream: Stream
    ) -> tuple[Floats, Floats]:
        """Equal-tailed percentiles."""
        linear = linearise(totals, measure)
        if np.isnan(linear.value).all() or not (linear.std_error > 0).any():
            return linear.value, linear.value
        B, T = self.replicates, len(totals.parts)
        weight = -np.log1p(-stream.uniform(B * T)).reshape(B, T) - 1.0
        with np.errstate(all="ignore"):
            value = np.asarray(measure.g(totals.R + weight @ totals.parts), dtype=np.float64)
        normal = ndtri(stream.uniform(B * measure.m) + 2.0**-54).reshape(B, measure.m)
        value = value + normal * np.sqrt(linear.widening)
        tail = (1 - level) / 2
        low = np.full(measure.m, np.nan)
        high = np.full(measure.m, np.nan)
        for j in range(measure.m):
            defined = value[np.isfinite(value[:, j]), j]
            if len(defined):
                low[j], high[j] = np.quantile(defined, [tail, 1 - tail])
        return within_range(low, high, linear.value, measure)
