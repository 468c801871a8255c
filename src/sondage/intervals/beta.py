"""Beta: the value of a bounded measure as a Beta variable with the same mean and variance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sondage.estimators.base import Totals
from sondage.estimators.linear import linearise
from sondage.intervals.skewed import skewed
from sondage.intervals.wald import StudentT
from sondage.measures.base import Measure
from sondage.streams import Stream
from sondage.types import Floats


@dataclass(frozen=True)
class Beta(StudentT):
    """Quantiles of Beta distributions with the value as their mean, one for the variance on each side.

    On a range scaled to [0, 1], ``nu = v (1 - v) / s^2 - 1`` and the distribution is ``Beta(v nu, (1 - v)
    nu)`` (Yilmaz et al., section 4), with the tail of a t quantile. Each side has the variance of the draws
    and of one more draw that moves the value that way, so that a sample without an error has about the
    exact binomial limit of its effective size (Korn and Graubard 1998). Coordinates without bounds have the
    t interval.

    >>> import numpy as np
    >>> from sondage.measures import resolve
    >>> from sondage.streams import stream
    >>> parts = np.array([[0.0, 0.01], [0.0, -0.01]] * 5)
    >>> totals = Totals(np.array([1.0, 0.97]), parts, 10.0, 9.0, np.zeros((2, 2)))
    >>> low, high = Beta()(totals, resolve("accuracy"), 0.95, stream(1, "interval"))
    >>> round(float(low[0]), 3), round(float(high[0]), 3)
    (0.866, 1.0)
    """

    alias: ClassVar[str] = "beta"

    def limits(
        self, totals: Totals, measure: Measure, level: float, sides: int, stream: Stream
    ) -> tuple[Floats, Floats]:
        """Quantiles of each coordinate's distributions."""
        linear = linearise(totals, measure)
        return skewed(linear, measure, self.reach(totals, linear, level, sides, stream))
