"""What an interval is: from totals to a range for the measure, with a promise."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from sondage.errors import InvalidInput, NotSupported
from sondage.estimators.base import Totals
from sondage.measures.base import Measure
from sondage.registry import Named
from sondage.streams import Stream
from sondage.types import Floats

Guarantee = Literal["fixed-n", "posterior", "calibrated", "asymptotic-uniform", "uniform"]
GUARANTEES: tuple[Guarantee, ...] = get_args(Guarantee)
"""What an interval may promise, from the weakest to the strongest.

``fixed-n``: covers if the number of labels was fixed beforehand. ``posterior``: covers if the belief's
assumptions hold. ``calibrated``: its level was set by simulation so that looking often is allowed.
``asymptotic-uniform`` and ``uniform``: covers at all times at once, in the limit or exactly.
"""

Alternative = Literal["two-sided", "greater", "less"]
ALTERNATIVES: tuple[Alternative, ...] = get_args(Alternative)
"""Which ends an interval has, in scipy's words.

``greater`` is a lower bound (the value is greater than it) and ``less`` an upper bound; the other end is
then the end of the measure's range, and the whole chance of missing is spent on the one that is left.
"""
NOT_BY_LOOKING = "the number of labels was not chosen by looking at the estimate"


class Interval(Named, family="sondage.intervals"):
    """From totals to ``low, high`` of every coordinate.

    Contract
    --------
    * it never knows the design: ``needs`` names the parts of ``Totals`` that it reads, and ``refuses``
      says why a sample does not have them, or why it is not for a measure;
    * it lies inside the measure's range, contains the value, grows with the level, and is a point only
      if the totals are exact;
    * a bound (``alternative``) lies inside the interval of the same level;
    * where the value is undefined both ends are nan.

    Write ``limits``; calling the interval adds what all have in common.

    >>> from sondage.estimators import Totals
    >>> from sondage.measures import resolve
    >>> from sondage.streams import stream
    >>> parts = np.array([[0.0, 0.03], [0.0, -0.03]] * 5)  # contributions of ten draws
    >>> totals = Totals(np.array([1.0, 0.8]), parts, 10.0, 9.0, np.zeros((2, 2)))
    >>> t = Interval.from_alias("t")
    >>> [round(float(end[0]), 3) for end in t(totals, resolve("accuracy"), 0.95, stream(1, "interval"))]
    [0.585, 1.0]
    >>> low, high = t(totals, resolve("accuracy"), 0.95, stream(1, "interval"), "greater")
    >>> round(float(low[0]), 3)
    0.626
    """

    needs: ClassVar[frozenset[str]] = frozenset()
    guarantee: ClassVar[Guarantee] = "fixed-n"
    joint: ClassVar[bool] = False
    """Whether it holds for all coordinates together; otherwise each measure is estimated for itself."""

    def among(self, m: int) -> Interval:
        """The interval for some of m coordinates, which are too many to be looked at together."""
        if not self.joint:
            return self
        raise NotSupported(
            f"interval {self.alias!r} needs the covariances of all {m:,} coordinates at once, which are too "
            "many: use interval='bonferroni', which holds for all of them too, or name fewer coordinates"
        )

    def refuses(self, totals: Totals, measure: Measure | None = None) -> str | None:
        """Why this interval cannot be given for these totals (of this measure), and what can; else None."""
        return None

    @abstractmethod
    def limits(
        self, totals: Totals, measure: Measure, level: float, sides: int, stream: Stream
    ) -> tuple[Floats, Floats]:
        """Lower and upper limit of each coordinate.

        With ``sides=2`` both together hold with the chance ``level``, with ``sides=1`` each by itself
        does. They may lie beyond the range, and are not asked for where the totals are exact.
        """

    def assumes(self, totals: Totals) -> tuple[str, ...]:
        """What has to hold beside the totals for it to keep its promise."""
        if self.guarantee in ("fixed-n", "posterior"):
            return (NOT_BY_LOOKING,)
        return ()

    def drawing(self, least: int) -> Interval:
        """The same with about ``least`` random draws, if it makes any: for those who average many."""
        return self

    def remarks(self, totals: Totals, measure: Measure, level: float) -> tuple[str, ...]:
        """What has to be said beside the limits."""
        return ()

    def __call__(
        self,
        totals: Totals,
        measure: Measure,
        level: float,
        stream: Stream,
        alternative: Alternative = "two-sided",
    ) -> tuple[Floats, Floats]:
        """Ends of the interval of each coordinate at this confidence level."""
        sides = checked_sides(alternative, level)
        refusal = self.refuses(totals, measure)
        if refusal:
            raise NotSupported(refusal)
        value = totals.value(measure)
        if totals.exact or np.isnan(value).all():
            return value, value
        low, high = self.limits(totals, measure, level, sides, stream)
        # An end that cannot be computed rules nothing out; where both are missing no value agrees.
        low, high = (
            np.where(np.isnan(one) & ~np.isnan(other), end, one)
            for one, other, end in ((low, high, measure.range[0]), (high, low, measure.range[1]))
        )
        if totals.moves and "replicates" not in self.needs:  # which looks at draws itself
            low, high = holding_draws(low, high, totals.drawn(measure), (1 - level) / sides)
        if totals.alone is not None:
            low, high = (
                np.where(totals.alone, end, one) for one, end in zip((low, high), measure.range, strict=True)
            )
        if totals.forced is not None:
            low, high = np.clip(low, *totals.forced), np.clip(high, *totals.forced)
        low, high = within_range(low, high, value, measure)
        least, most = measure.range
        if alternative == "greater":
            high = np.where(np.isnan(value), np.nan, most)
        elif alternative == "less":
            low = np.where(np.isnan(value), np.nan, least)
        return low, high


def checked_sides(alternative: Any, level: float) -> int:
    """Number of sides on which an interval may miss."""
    if alternative not in ALTERNATIVES:
        raise InvalidInput(f"alternative= must be one of {', '.join(ALTERNATIVES)}, not {alternative!r}")
    if alternative == "two-sided":
        return 2
    if level <= 0.5:
        raise InvalidInput(
            f"confidence_level= must be above 0.5 for alternative={alternative!r}, not {level}: "
            "a bound of one half is the estimate itself"
        )
    return 1


def holding_draws(low: Floats, high: Floats, drawn: Floats, tail: float) -> tuple[Floats, Floats]:
    """Ends that leave at most ``tail`` of the draws from a belief beyond each.

    A standard error does not tell how skewed they are, or that there is nothing between 0 and 1: of a group
    of one item without a label, right with the chance .8, one such error below the value is not 0.
    """
    drawn = np.sort(drawn, axis=0)  # what is undefined comes last
    last = np.isfinite(drawn).sum(axis=0) - 1
    beyond = np.floor(tail * np.maximum(last, 0)).astype(np.int64)
    ends = [np.take_along_axis(drawn, place[None], 0)[0] for place in (beyond, np.maximum(last, 0) - beyond)]
    return np.fmin(low, ends[0]), np.fmax(high, ends[1])


def within_range(low: Floats, high: Floats, value: Floats, measure: Measure) -> tuple[Floats, Floats]:
    """Ends cut to the measure's range, and nan where there is no value."""
    least, most = measure.range
    low = np.where(np.isnan(value), np.nan, np.clip(low, least, most))
    high = np.where(np.isnan(value), np.nan, np.clip(high, least, most))
    # Cutting must not leave the value outside: an estimate may itself lie beyond the range.
    inside = np.clip(value, least, most)
    return np.minimum(low, inside), np.maximum(high, inside)
