"""Intervals from value and standard error: normal, Student's t, and t on the logit scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit, logit, ndtri, stdtrit

from sondage.estimators.base import Totals
from sondage.estimators.linear import Linear, linearise
from sondage.intervals.base import Interval
from sondage.intervals.skewed import matched, skewed
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
        half = self.reach(totals, linear, level, sides, stream) * linear.std_error
        return linear.value - half, linear.value + half

    def reach(self, totals: Totals, linear: Linear, level: float, sides: int, stream: Stream) -> Floats:
        """(m,) how many standard errors to each side of each coordinate."""
        return np.full(len(linear.value), self.quantile(totals, linear, level, sides, stream))


@dataclass(frozen=True)
class StudentT(Wald):
    """Value plus and minus a t quantile of standard errors."""

    alias: ClassVar[str] = "t"

    def quantile(self, totals: Totals, linear: Linear, level: float, sides: int, stream: Stream) -> float:
        """The t quantile at the totals' degrees of freedom."""
        return student(totals, (1 - level) / sides)

    def reach(self, totals: Totals, linear: Linear, level: float, sides: int, stream: Stream) -> Floats:
        """The same tail at the degrees of freedom of the labels that bear on each."""
        return linear.own_quantile(self.quantile(totals, linear, level, sides, stream), totals.df)


@dataclass(frozen=True)
class Logit(StudentT):
    """Student's t on the logit scale of a bounded range: unequal arms, never outside the range.

    Nearer to an end of the range than about a standard error the logit scale says nothing any more: there it
    is the ``beta`` interval. Without bounds, the plain t interval.
    """

    alias: ClassVar[str] = "logit"

    def limits(
        self, totals: Totals, measure: Measure, level: float, sides: int, stream: Stream
    ) -> tuple[Floats, Floats]:
        """The interval mapped back from the logit scale."""
        linear = linearise(totals, measure)
        quantile = self.reach(totals, linear, level, sides, stream)
        least, most = measure.range
        ends = []
        for sign, error, other in zip(
            (-1.0, 1.0), linear.arms, skewed(linear, measure, quantile), strict=True
        ):
            with np.errstate(all="ignore"):
                width = most - least
                share = (linear.value - least) / width
                usable = np.isfinite(width) & (error > 0) & matched(share, np.square(error / width))
                arm = quantile * error / width / (share * (1 - share))
                ends.append(np.where(usable, least + width * expit(logit(share) + sign * arm), other))
        return ends[0], ends[1]


def student(totals: Totals, tail: float) -> float:
    """The t quantile that is exceeded with chance ``tail``, at the totals' degrees of freedom."""
    return float(stdtrit(max(totals.df, 1.0), 1 - tail))
