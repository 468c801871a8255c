"""Intervals from value and standard error: normal, Student's t, t on the logit scale, and Beta."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import betaincinv, expit, logit, ndtr, ndtri, stdtrit

from sondage.estimators.base import Totals
from sondage.estimators.linear import Linear, linearise
from sondage.intervals.base import Interval
from sondage.measures.base import Measure
from sondage.streams import Stream
from sondage.types import Bools, Floats

_TAIL = 1e-30
"""Smaller tails change no end, and their quantiles cannot be computed."""
_SPIKE = 1e13
"""Beta distributions with larger shapes are normal to all digits, and ``betaincinv`` no longer finds them."""


@dataclass(frozen=True)
class Wald(Interval):
    """Value plus and minus a normal quantile of standard errors."""

    alias: ClassVar[str] = "wald"

    def quantile(self, totals: Totals, linear: Linear, level: float, sides: int, stream: Stream) -> float:
        """How many standard errors to each side."""
        return float(ndtri(1 - (1 - level) / sides))

    def reach(self, totals: Totals, linear: Linear, level: float, sides: int, stream: Stream) -> Floats:
        """(m,) how many standard errors to each side of each coordinate."""
        return np.full(len(linear.value), self.quantile(totals, linear, level, sides, stream))

    def limits(
        self, totals: Totals, measure: Measure, level: float, sides: int, stream: Stream
    ) -> tuple[Floats, Floats]:
        linear = linearise(totals, measure)
        return self.ends(linear, measure, self.reach(totals, linear, level, sides, stream))

    def ends(self, linear: Linear, measure: Measure, reach: Floats) -> tuple[Floats, Floats]:
        """Limits so many standard errors away from the value; they may lie beyond the range."""
        return linear.value - reach * linear.std_error, linear.value + reach * linear.std_error


@dataclass(frozen=True)
class StudentT(Wald):
    """Value plus and minus a t quantile of standard errors.

    A coordinate that few labels bear on has the same tail at the degrees of freedom of these.
    """

    alias: ClassVar[str] = "t"

    def quantile(self, totals: Totals, linear: Linear, level: float, sides: int, stream: Stream) -> float:
        return student(totals, (1 - level) / sides)

    def reach(self, totals: Totals, linear: Linear, level: float, sides: int, stream: Stream) -> Floats:
        return linear.own_quantile(self.quantile(totals, linear, level, sides, stream), totals.df)


@dataclass(frozen=True)
class Logit(StudentT):
    """Student's t on the logit scale of a bounded range: unequal arms, never outside the range.

    Within about a standard error of an end of the range the logit scale says nothing any more: there it is
    the ``beta`` interval. Without bounds it is the plain t interval.
    """

    alias: ClassVar[str] = "logit"

    def ends(self, linear: Linear, measure: Measure, reach: Floats) -> tuple[Floats, Floats]:
        least, most = measure.range
        ends = []
        for sign, error, other in zip((-1.0, 1.0), linear.arms, skewed(linear, measure, reach), strict=True):
            with np.errstate(all="ignore"):
                width = most - least
                share = (linear.value - least) / width
                usable = np.isfinite(width) & (error > 0) & matched(share, np.square(error / width))
                arm = reach * error / width / (share * (1 - share))
                ends.append(np.where(usable, least + width * expit(logit(share) + sign * arm), other))
        return ends[0], ends[1]


@dataclass(frozen=True)
class Beta(StudentT):
    """Quantiles of Beta distributions with the value as their mean, one for the variance on each side.

    On a range scaled to [0, 1], ``nu = v (1 - v) / s^2 - 1`` and the distribution is ``Beta(v nu, (1 - v)
    nu)`` (Yilmaz et al., section 4), with the tail of a t quantile. Each side has the variance of the draws
    and of one more draw that moves the value that way, so that a sample without an error has about the
    exact binomial limit of its effective size (Korn and Graubard 1998). Coordinates without bounds have the
    t interval.

    >>> from sondage.measures import resolve
    >>> from sondage.streams import stream
    >>> parts = np.array([[0.0, 0.01], [0.0, -0.01]] * 5)
    >>> totals = Totals(np.array([1.0, 0.97]), parts, 10.0, 9.0, np.zeros((2, 2)))
    >>> low, high = Beta()(totals, resolve("accuracy"), 0.95, stream(1, "interval"))
    >>> round(float(low[0]), 3), round(float(high[0]), 3)
    (0.866, 1.0)
    """

    alias: ClassVar[str] = "beta"

    def ends(self, linear: Linear, measure: Measure, reach: Floats) -> tuple[Floats, Floats]:
        return skewed(linear, measure, reach)


def student(totals: Totals, tail: float) -> float:
    """The t quantile that is exceeded with chance ``tail``, at the totals' degrees of freedom."""
    return float(stdtrit(max(totals.df, 1.0), 1 - tail))


def skewed(linear: Linear, measure: Measure, quantile: Floats | float) -> tuple[Floats, Floats]:
    """(m,) ends as far off as a normal variable has its ``quantile``; symmetric without bounds.

    On a bounded range they are quantiles of Beta distributions, one for each side. An end of the range that
    no label has ruled out is not ruled out by a shape either: if the plain interval reaches it, so does this
    one. (An estimate that leans on predictions is below 1 without any error.)
    """
    below, above = linear.arms
    value, (least, most) = linear.value, measure.range
    low, high = value - quantile * below, value + quantile * above
    with np.errstate(all="ignore"):
        width = most - least
        share = np.clip((value - least) / width, 0.0, 1.0)
        tail = np.maximum(ndtr(-quantile), _TAIL)
        lower = least + width * beta_low(share, np.square(below / width), tail)
        upper = most - width * beta_low(1.0 - share, np.square(above / width), tail)
    bounded = np.isfinite(width)
    lower = np.where(linear.unseen.risen | (share > 0.5), lower, np.minimum(lower, low))
    upper = np.where(linear.unseen.fallen | (share < 0.5), upper, np.maximum(upper, high))
    low, high = np.where(bounded, lower, low), np.where(bounded, upper, high)
    return np.where(below > 0, low, value), np.where(above > 0, high, value)


def beta_low(v: Floats, s2: Floats, tail: Floats | float) -> Floats:
    """The quantile ``tail`` of values in [0, 1] with means ``v`` and variances ``s2``.

    ``Beta(v nu, (1 - v) nu)`` with ``nu = v (1 - v) / s2 - 1`` has these moments. Within about a standard
    error of an end it would pile up there, and be *narrower* the less is known. There the shape at that end
    is held at 1 and keeps the mean square distance from the end that value and variance give; a variance
    beyond that of the uniform distribution gives the uniform distribution.

    >>> beta_low(np.array([0.5, 0.97, 0.03]), np.array([0.01, 0.01, 0.01]), 0.025).round(3).tolist()
    [0.306, 0.736, 0.0]
    """
    v, s2 = np.asarray(v, dtype=np.float64), np.asarray(s2, dtype=np.float64)
    with np.errstate(all="ignore"):
        nu = v * (1.0 - v) / s2 - 1.0
        a, b = v * nu, (1.0 - v) * nu
        inside = betaincinv(np.maximum(a, 1.0), np.maximum(b, 1.0), tail)
        # Beta(1, b) has the mean square 2 / ((b + 1)(b + 2)), and its quantiles have a closed form.
        away = np.maximum(0.5 * (np.sqrt(1.0 + 8.0 / (np.square(1.0 - v) + s2)) - 3.0), 1.0)
        held = np.where(v > 0.5, np.exp(np.log(tail) / away), 0.0)
        inside = np.where(nu > _SPIKE, v + ndtri(tail) * np.sqrt(s2), inside)
    return np.where(np.minimum(a, b) >= 1.0, inside, held)


def matched(v: Floats, s2: Floats) -> Bools:
    """Whether a value is inside [0, 1], and further than about a standard error from both ends."""
    near = np.minimum(v, 1.0 - v)
    with np.errstate(all="ignore"):
        return np.asarray((near > 0.0) & (near * (v * (1.0 - v) / s2 - 1.0) >= 1.0))
