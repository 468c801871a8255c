"""Intervals for a plain share of a plain random sample: Wilson and Clopper-Pearson."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import betaincinv, ndtri

from sondage.estimators.base import Totals
from sondage.intervals.base import Interval
from sondage.measures.base import Measure
from sondage.streams import Stream
from sondage.types import Floats


@dataclass(frozen=True)
class Wilson(Interval):
    """Score interval of a binomial share (Wilson 1927)."""

    alias: ClassVar[str] = "wilson"
    needs: ClassVar[frozenset[str]] = frozenset({"counts"})

    def refuses(self, totals: Totals, measure: Measure | None = None) -> str | None:
        if totals.counts is None and not totals.exact:
            return (
                f"interval {self.alias!r} needs plain counts: a random sample and a measure that is a "
                "share (accuracy, precision, recall). Use 'logit' or 't'"
            )
        return None

    def limits(
        self, totals: Totals, measure: Measure, level: float, sides: int, stream: Stream
    ) -> tuple[Floats, Floats]:
        assert totals.counts is not None
        successes, trials = totals.counts
        if trials == 0:
            return np.full(1, np.nan), np.full(1, np.nan)
        # Sampling without replacement is worth more draws than it made: (N - 1) / (N - n) times as many, and
        # of a part of the pool N is about what its labels stand for (finite-population correction).
        worth = (1.0 - totals.labelled / trials) / max(1.0 - totals.labelled, 1e-12)
        low, high = self.ends(successes * worth, trials * worth, 1 - 2 * (1 - level) / sides)
        return np.array([low]), np.array([high])

    def ends(self, successes: float, trials: float, level: float) -> tuple[float, float]:
        """Both ends of the interval for a share of ``successes`` in ``trials``.

        >>> low, high = Wilson().ends(9, 10, .95)
        >>> round(low, 4), round(high, 4)
        (0.5958, 0.9821)
        """
        z = float(ndtri(0.5 + level / 2))
        share = successes / trials
        centre = (share + z * z / (2 * trials)) / (1 + z * z / trials)
        root = np.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
        half = z * root / (1 + z * z / trials)
        low = 0.0 if successes == 0 else centre - half
        high = 1.0 if successes == trials else centre + half
        return float(low), float(high)


@dataclass(frozen=True)
class ClopperPearson(Wilson):
    """Exact interval of a binomial share: never covers less than it promises."""

    alias: ClassVar[str] = "clopper-pearson"

    def ends(self, successes: float, trials: float, level: float) -> tuple[float, float]:
        tail = (1 - level) / 2
        low = betaincinv(successes, trials - successes + 1, tail) if successes else 0.0
        high = betaincinv(successes + 1, trials - successes, 1 - tail) if successes < trials else 1.0
        return float(low), float(high)
