"""Posterior: the range in which the measure lies for most of what the belief holds possible."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from sondage.errors import InvalidInput
from sondage.estimators.base import Totals
from sondage.intervals.base import Guarantee, Interval
from sondage.measures.base import Measure
from sondage.streams import Stream
from sondage.types import Floats

_FALL = {"honest": 0.0, "tight": float(np.log(2.0))}
_ASSUMES = {
    "honest": "beyond the outermost wrong prediction seen, the error rate does not rise again with rank",
    "tight": "beyond the outermost wrong prediction seen, the odds of an error at least halve with every "
    "doubling of the rank, and faster in the outer half of a class",
}
_SMALL = 10.0
_BEYOND, _MOST = 5.0, 20_000


@dataclass(frozen=True)
class PosteriorInterval(Interval):
    """Quantiles of the measure over ``replicates`` pools drawn from the belief, given the labels seen.

    The interval contains both the quantiles and the quantiles shifted so that the estimate is in the middle
    of the draws; both arms are widened by ``1 + 10 / n`` for n labels. What the belief cannot know it is
    made to assume: with ``tail="honest"`` that the error rate does not rise again beyond the outermost error
    seen, with ``"tight"`` that it at least halves with every doubling of the rank. Where errors hide far from
    the boundary neither holds, and the interval is too short.
    """

    alias: ClassVar[str] = "posterior"
    needs: ClassVar[frozenset[str]] = frozenset({"replicates"})
    guarantee: ClassVar[Guarantee] = "posterior"
    tail: Literal["honest", "tight"] = "honest"
    replicates: int = 1000

    def __post_init__(self) -> None:
        if self.tail not in _FALL:
            raise InvalidInput(f"tail= must be 'honest' or 'tight', not {self.tail!r}")
        if self.replicates < 99:
            raise InvalidInput(f"replicates= must be at least 99, not {self.replicates}")

    @property
    def fall(self) -> float:
        """How much log-odds fall with every doubling of the rank beyond the outermost error, at the least."""
        return _FALL[self.tail]

    def refuses(self, totals: Totals, measure: Measure | None = None) -> str | None:
        """Only where there is a belief to draw from."""
        if totals.replicates is None and not totals.exact:
            return (
                f"interval {self.alias!r} draws from a belief in error curves, which this sample has none of "
                "(or not for this measure): use design='auto', or another interval such as 'logit'"
            )
        return None

    def assumes(self) -> tuple[str, ...]:
        """What the draws rest on."""
        return (*super().assumes(), _ASSUMES[self.tail])

    def _count(self, tail: float) -> int:
        """Draws: some of them must lie beyond the quantile asked for."""
        return max(self.replicates, min(math.ceil(_BEYOND / tail), _MOST))

    def limits(
        self, totals: Totals, measure: Measure, level: float, sides: int, stream: Stream
    ) -> tuple[Floats, Floats]:
        """Quantiles, and those around the estimate."""
        assert totals.replicates is not None
        tail = (1 - level) / sides
        with np.errstate(all="ignore"):
            value = np.asarray(measure.g(totals.R), dtype=np.float64)
            drawn = np.asarray(measure.g(totals.replicates(stream, self._count(tail), self.fall)))
        low, high = np.full(measure.m, np.nan), np.full(measure.m, np.nan)
        for j in range(measure.m):
            some = drawn[np.isfinite(drawn[:, j]), j]
            if len(some):
                low[j], middle, high[j] = np.quantile(some, [tail, 0.5, 1 - tail])
                shift = value[j] - middle
                low[j], high[j] = min(low[j], low[j] + shift), max(high[j], high[j] + shift)
        widen = 1.0 + _SMALL / max(totals.df, 1.0)
        return value - widen * (value - low), value + widen * (high - value)


@dataclass(frozen=True)
class Calibrated(PosteriorInterval):
    """The posterior interval at a level so high that one may look at it often.

    Its chance of missing is ``share`` of what is asked for: at 95 % that is 99.75 %. Looked at every 50
    labels up to 2,000, it missed F1 at no look of 60 studies on each of four real pools (``python -m
    benchmarks auto --parts looks``). That is evidence, no proof: it rests on what the posterior interval
    assumes.
    """

    alias: ClassVar[str] = "calibrated"
    guarantee: ClassVar[Guarantee] = "calibrated"
    share: float = 0.05
    replicates: int = 4000

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.share <= 1:
            raise InvalidInput(f"share= must be in (0, 1], not {self.share}")

    def _count(self, tail: float) -> int:
        """The same at every level, so that a lower one never gives a wider interval."""
        return self.replicates

    def assumes(self) -> tuple[str, ...]:
        """What the draws rest on; looking is allowed."""
        return (
            _ASSUMES[self.tail],
            "looks are about as rare as in the simulations that set its level, every 50 labels",
        )

    def limits(
        self, totals: Totals, measure: Measure, level: float, sides: int, stream: Stream
    ) -> tuple[Floats, Floats]:
        """Quantiles further out."""
        return super().limits(totals, measure, 1.0 - self.share * (1.0 - level), sides, stream)
