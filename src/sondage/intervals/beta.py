"""Beta: the value of a bounded measure as a Beta variable with the same mean and variance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import betaincinv

from sondage.estimators.base import Totals
from sondage.estimators.linear import linearise
from sondage.intervals.base import Interval
from sondage.measures.base import Measure
from sondage.streams import Stream
from sondage.types import Floats


@dataclass(frozen=True)
class Beta(Interval):
    """Quantiles of the Beta distribution with the value as its mean and the squared standard error.

    On a range scaled to [0, 1], ``nu = v (1 - v) / s^2 - 1`` and the distribution is
    ``Beta(v nu, (1 - v) nu)`` (Yilmaz et al., section 4). It is defined only if ``s^2 < v (1 - v)``, and
    nearer to an end than about a standard error it piles up at that end, which would make the interval
    *shorter* the less is known. There the shape at that end is held at 1, the mean square distance from
    the end stays that of value and variance, and the end itself belongs to the interval; a variance
    beyond that of the uniform distribution makes it this one.

    >>> from sondage.measures import resolve
    >>> from sondage.streams import stream
    >>> parts = np.array([[0.0, 0.01], [0.0, -0.01]] * 5)
    >>> totals = Totals(np.array([1.0, 0.97]), parts, 10.0, 9.0, np.zeros((2, 2)))
    >>> low, high = Beta()(totals, resolve("accuracy"), 0.95, stream(1, "interval"))
    >>> round(float(low[0]), 3), round(float(high[0]), 3)
    (0.888, 1.0)
    """

    alias: ClassVar[str] = "beta"

    def refuses(self, totals: Totals, measure: Measure | None = None) -> str | None:
        """Only a bounded range will do."""
        if measure is not None and not np.isfinite(measure.range).all():
            return (
                f"interval {self.alias!r} needs a measure between two finite ends, and "
                f"{', '.join(measure.names)} has none. Use 't' or 'bootstrap'"
            )
        return None

    def limits(
        self, totals: Totals, measure: Measure, level: float, sides: int, stream: Stream
    ) -> tuple[Floats, Floats]:
        """Quantiles of each coordinate's distribution."""
        linear = linearise(totals, measure)
        least, most = measure.range
        share = np.clip((linear.value - least) / (most - least), 0.0, 1.0)
        square = np.square(linear.std_error / (most - least))
        tail = (1 - level) / sides
        low, high = least.copy(), most.copy()
        for j, (v, s2) in enumerate(zip(share.tolist(), square.tolist(), strict=True)):
            if np.isnan(v) or not s2 > 0:
                low[j] = high[j] = linear.value[j]
                continue
            a, b = beta_quantiles(v, s2, tail)
            low[j], high[j] = least[j] + (most[j] - least[j]) * np.array([a, b])
        return low, high


def beta_quantiles(v: float, s2: float, tail: float) -> tuple[float, float]:
    """The quantiles ``tail`` and ``1 - tail`` for a value in [0, 1] with variance ``s2``."""
    if v > 0.5:
        low, high = beta_quantiles(1.0 - v, s2, tail)
        return 1.0 - high, 1.0 - low
    nu = v * (1.0 - v) / s2 - 1.0
    if v * nu >= 1.0:
        a, b = v * nu, (1.0 - v) * nu
        return float(betaincinv(a, b, tail)), float(betaincinv(a, b, 1.0 - tail))
    # Beta(1, b) has the mean square 2 / ((b + 1)(b + 2)), and its quantiles have a closed form.
    b = max(0.5 * (np.sqrt(1.0 + 8.0 / (v * v + s2)) - 3.0), 1.0)
    return 0.0, float(-np.expm1(np.log(tail) / b))
