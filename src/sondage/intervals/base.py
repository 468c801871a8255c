"""What an interval is: from totals to a range for the measure, with a promise."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, Literal

import numpy as np

from sondage.estimators.base import Totals
from sondage.measures.base import Measure
from sondage.registry import Named
from sondage.streams import Stream
from sondage.types import Floats

Guarantee = Literal["fixed-n", "posterior", "calibrated", "asymptotic-uniform", "uniform"]
GUARANTEES: tuple[Guarantee, ...] = (
    "fixed-n",
    "posterior",
    "calibrated",
    "asymptotic-uniform",
    "uniform",
)
"""What an interval may promise, from the weakest to the strongest.

``fixed-n``: covers if the number of labels was fixed beforehand. ``posterior``: covers if the belief's
assumptions hold. ``calibrated``: its level was set by simulation so that looking often is allowed.
``asymptotic-uniform`` and ``uniform``: covers at all times at once, in the limit or exactly.
"""


class Interval(Named, family="sondage.intervals"):
    """From totals to ``low, high`` of every coordinate.

    Contract
    --------
    * it never knows the design: ``needs`` names the parts of ``Totals`` that it reads, and ``refuses``
      says why a sample does not have them;
    * it lies inside the measure's range, contains the value, grows with the level, and is a point only
      if the totals are exact;
    * where the value is undefined both ends are nan.
    """

    needs: ClassVar[frozenset[str]] = frozenset()
    guarantee: ClassVar[Guarantee] = "fixed-n"

    def refuses(self, totals: Totals) -> str | None:
        """Why this interval cannot be given for these totals, and what can; None if it can."""
        return None

    @abstractmethod
    def __call__(
        self, totals: Totals, measure: Measure, level: float, stream: Stream
    ) -> tuple[Floats, Floats]:
        """Ends of the interval of each coordinate at this confidence level."""


def within_range(low: Floats, high: Floats, value: Floats, measure: Measure) -> tuple[Floats, Floats]:
    """Ends cut to the measure's range, and nan where there is no value."""
    least, most = measure.range
    low = np.where(np.isnan(value), np.nan, np.clip(low, least, most))
    high = np.where(np.isnan(value), np.nan, np.clip(high, least, most))
    # Cutting must not leave the value outside: an estimate may itself lie beyond the range.
    inside = np.clip(value, least, most)
    return np.minimum(low, inside), np.maximum(high, inside)
