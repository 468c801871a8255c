"""Intervals from value and standard error: normal, Student's t, and t on the logit scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit, logit, ndtri, stdtrit

from sondage.estimators.base import Totals
from sondage.estimators.linear import Linear, linearise
from sondage.intervals.base import Interval
from sondage.measures.base import Measure
from sondage.streams import Stream
from sondage.types import Floats


@dataclass(frozen=True)
class Wald(Interval):
    """Value plus and minus a normal quantile of standard errors."""

    alias: ClassVar[str] = "wald"

    def quantile(self, totals: Totals, linear: Linear, level: float, sides: int, stream: Stream) -> float:
        """How many standard errors to each side."""
        return float(ndtri(1 - (1 - level) / sides))

    def limits(
        self, totals: Totals, measure: Measure, level: float, sides: int, stream: Stream
    ) -> tuple[Floats, Floats]:
        """The symmetric interval."""
        linear = linearise(totals, measure)
        half = self.quantile(totals, linear, level, sides, stream) * linear.std_error
        return linear.value - half, linear.value + half


@dataclass(frozen=True)
class StudentT(Wald):
    """Value plus and minus a t quantile of standard errors."""

    alias: ClassVar[str] = "t"

    def quantile(self, totals: Totals, linear: Linear, level: float, sides: int, stream: Stream) -> float:
        """The t quantile at the totals' degrees of freedom."""
        return student(totals, (1 - level) / sides)


@dataclass(frozen=True)
class Logit(StudentT):
    """Student's t on the logit scale of a bounded range: unequal arms, never outside the range.

    Where the value is at an end of the range, or the range is not bounded, the plain t interval.
    """

    alias: ClassVar[str] = "logit"

    def limits(
        self, totals: Totals, measure: Measure, level: float, sides: int, stream: Stream
    ) -> tuple[Floats, Floats]:
        """The interval mapped back from the logit scale."""
        linear = linearise(totals, measure)
        quantile = self.quantile(totals, linear, level, sides, stream)
        half = quantile * linear.std_error
        least, most = measure.range
        with np.errstate(all="ignore"):
            width = most - least
            share = (linear.value - least) / width
            # Nearer to an end than a squared standard error the logit scale says nothing any more.
            room = share * (1 - share) - np.square(linear.std_error / width)
            usable = np.isfinite(width) & (room > 0) & (linear.std_error > 0)
            arm = half / width / (share * (1 - share))
            centre = logit(share)
            low = np.where(usable, least + width * expit(centre - arm), linear.value - half)
            high = np.where(usable, least + width * expit(centre + arm), linear.value + half)
        return low, high


def student(totals: Totals, tail: float) -> float:
    """The t quantile that is exceeded with chance ``tail``, at the totals' degrees of freedom."""
    return float(stdtrit(max(totals.df, 1.0), 1 - tail))
