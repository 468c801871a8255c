"""Intervals from value and standard error: normal, Student's t, and t on the logit scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit, logit, ndtri, stdtrit

from sondage.estimators.base import Totals
from sondage.estimators.linear import linearise
from sondage.intervals.base import Interval, within_range
from sondage.measures.base import Measure
from sondage.streams import Stream
from sondage.types import Floats


@dataclass(frozen=True)
class Wald(Interval):
    """Value plus and minus a normal quantile of standard errors."""

    alias: ClassVar[str] = "wald"

    def quantile(self, totals: Totals, level: float) -> float:
        """How many standard errors to each side."""
        return float(ndtri(0.5 + level / 2))

    def __call__(
        self, totals: Totals, measure: Measure, level: float, stream: Stream
    ) -> tuple[Floats, Floats]:
        """The symmetric interval, cut to the range."""
        linear = linearise(totals, measure)
        half = self.quantile(totals, level) * linear.std_error
        return within_range(linear.value - half, linear.value + half, linear.value, measure)


@dataclass(frozen=True)
class StudentT(Wald):
    """Value plus and minus a t quantile of standard errors."""

    alias: ClassVar[str] = "t"

    def quantile(self, totals: Totals, level: float) -> float:
        """The t quantile at the totals' degrees of freedom."""
        return float(stdtrit(max(totals.df, 1.0), 0.5 + level / 2))


@dataclass(frozen=True)
class Logit(StudentT):
    """Student's t on the logit scale of a bounded range: unequal arms, never outside the range.

    Where the value is at an end of the range, or the range is not bounded, the plain t interval.
    """

    alias: ClassVar[str] = "logit"

    def __call__(
        self, totals: Totals, measure: Measure, level: float, stream: Stream
    ) -> tuple[Floats, Floats]:
        """The interval mapped back from the logit scale."""
        low, high = super().__call__(totals, measure, level, stream)
        linear = linearise(totals, measure)
        least, most = measure.range
        with np.errstate(all="ignore"):
            width = most - least
            share = (linear.value - least) / width
            # Nearer to an end than a squared standard error the logit scale says nothing any more.
            room = share * (1 - share) - np.square(linear.std_error / width)
            usable = np.isfinite(width) & (room > 0) & (linear.std_error > 0)
            half = self.quantile(totals, level) * linear.std_error / width / (share * (1 - share))
            centre = logit(share)
            low = np.where(usable, least + width * expit(centre - half), low)
            high = np.where(usable, least + width * expit(centre + half), high)
        return within_range(low, high, linear.value, measure)
