"""Sequence: an interval that holds at all times at once, however often one looks and whenever one stops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sondage.errors import InvalidInput, NotSupported
from sondage.estimators.base import Totals
from sondage.estimators.increments import Increments
from sondage.intervals.base import Guarantee, Interval
from sondage.intervals.betting import NotAbove, Walk
from sondage.intervals.paired import hulls
from sondage.measures.base import Measure
from sondage.measures.combine.coordinates import Ratio, coordinate_ratios, two_sides
from sondage.streams import Stream
from sondage.types import Bools, Floats

_VACUOUS = 0.8
VALUES = np.linspace(0.0, 1.0, 26)
"""Cells of the unknown value of the second system, in a comparison of two."""


class AnyTime(Interval):
    """Base of the exact sequences: they need draws made one by one, and losses with bounds."""

    needs: ClassVar[frozenset[str]] = frozenset({"increments"})
    takes_pairs: ClassVar[bool] = False
    """Whether it can do with ``Totals.paired`` in place of the increments."""

    def refuses(self, totals: Totals, measure: Measure | None = None) -> str | None:
        if totals.exact or (self.takes_pairs and totals.increments is None and totals.paired is not None):
            return None
        if totals.increments is None:
            return (
                f"interval {self.alias!r} needs items drawn one by one, each with a recorded chance for "
                "every item left, and labels that stand for the pool: use design='auto-audit', "
                "'sequential' or 'uniform' (and target='pool', without exclude=True). For a number of labels "
                "fixed beforehand 'logit' serves every design"
            )
        return None if measure is None else self.unfit(totals.increments, measure)

    def unfit(self, increments: Increments, measure: Measure) -> str | None:
        """Why it cannot be given for a measure, and what can; else None."""
        return None

    def unbounded(self, measure: Measure) -> str:
        """Why it cannot be given for a measure whose losses have no bounds, and what can."""
        return (
            f"interval {self.alias!r} needs losses with bounds, and those of {measure.alias!r} have "
            "none: say between which numbers labels lie (labels='unit' for 0 to 1), or use 't' for a "
            "number of labels fixed beforehand"
        )


@dataclass(frozen=True)
class Sequence(AnyTime):
    """Confidence sequence of ratios (precision, recall, F, means of bounded losses, ...) by betting.

    The range is cut into ``cells``. The true value lies in one of them, ``[c, c']``, and there the total of
    ``num - c den`` is at least 0 and that of ``num - c' den`` at most 0. A cell is given up for good once
    an e-process against one of these two reaches ``2 / a``, which ever happens to the true cell with chance
    at most ``a``: there is no union over the cells. What is left lies inside what the known labels force.
    Items that could not be labelled count at their worst.

    The difference of a ratio between two systems is told from 0 and from ``margins`` to both sides, so that
    its ends are among these; a difference of means has ends as fine as any ratio's.

    >>> import sondage as sd
    >>> pool, labels = sd.datasets.synthetic_pool(n=2000, prevalence=.3, rng=1)
    >>> study = sd.create_study(pool, "accuracy", design="sequential", rng=1)
    >>> for item in study.ask(300):
    ...     study.tell(item.id, labels[item.id])
    >>> study.estimate(interval="sequence").guarantee
    'uniform'
    """

    alias: ClassVar[str] = "sequence"
    takes_pairs: ClassVar[bool] = True
    guarantee: ClassVar[Guarantee] = "uniform"
    cells: int = 500
    margins: tuple[float, ...] = (0.01, 0.02, 0.05, 0.1, 0.2)

    def __post_init__(self) -> None:
        self.require(cells="at least 2")
        object.__setattr__(self, "margins", tuple(float(margin) for margin in self.margins))
        if not all(0 < margin < 1 for margin in self.margins):
            raise InvalidInput(f"margins= must be numbers between 0 and 1, not {self.margins!r}")

    def unfit(self, increments: Increments, measure: Measure) -> str | None:
        ratios = coordinate_ratios(measure)
        if ratios is None and two_sides(measure) is not None:
            return None
        if ratios is None:
            return (
                f"interval {self.alias!r} is for ratios of averages (accuracy, precision, recall, F, means "
                f"of bounded losses), and {measure.alias!r} is none. Use 'asymptotic-sequence' or "
                "'box-sequence', or 'logit' for a number of labels fixed beforehand"
            )
        ends = [_ends(increments, ratio, measure, j) for j, ratio in enumerate(ratios)]
        return None if np.isfinite(ends).all() else self.unbounded(measure)

    def limits(
        self, totals: Totals, measure: Measure, level: float, sides: int, stream: Stream | None = None
    ) -> tuple[Floats, Floats]:
        increments = totals.increments
        if increments is None:
            assert totals.paired is not None
            threshold = float(np.log(sides / (1.0 - level)))
            low, high = hulls(
                totals.paired, np.eye(measure.m), threshold, np.stack(measure.range, axis=1), self.cells
            ).T
            return low, high
        if coordinate_ratios(measure) is None:
            pairs = two_sides(measure)
            assert pairs is not None
            ends = [self._difference(increments, *pair, level, sides) for pair in pairs]
        else:
            ends = [self.hull(increments, walk, level, sides) for walk in self.walks(totals, measure)]
        low, high = np.array(ends).T
        return low, high

    def _difference(
        self, increments: Increments, a: Ratio, b: Ratio, level: float, sides: int
    ) -> tuple[float, float]:
        """Hull of the cells between margins that neither side gives up."""
        inner = np.unique(np.concatenate([[0.0], self.margins, -np.asarray(self.margins)]))
        threshold = np.log(sides / (1.0 - level))
        above = [ratio_evidence(increments, a, b, margin) >= threshold for margin in inner]
        below = [ratio_evidence(increments, b, a, -margin) >= threshold for margin in inner]
        # Nobody doubts the ends of the range: -1 <= A - B <= 1.
        too_low, too_high = np.array([*above, False]), np.array([False, *below])
        return _hull(np.array([-1.0, *inner, 1.0]), too_low, too_high, sides)

    def hull(self, increments: Increments, walk: Walk, level: float, sides: int) -> tuple[float, float]:
        """Ends of the cells left of one coordinate, inside what the labels force; nan if none is left."""
        threshold = np.log(sides / (1.0 - level))
        too_low, too_high = walk.greatest_plus[1:] >= threshold, walk.greatest_minus[:-1] >= threshold
        low, high = _hull(walk.points, too_low, too_high, sides)
        least, most = walk.forced(increments)
        low, high = max(low, least), min(high, most)
        return (low, high) if low <= high + 1e-12 else (np.nan, np.nan)

    def walks(self, totals: Totals, measure: Measure) -> list[Walk]:
        """The e-processes of each coordinate after the last draw."""
        ratios, increments = coordinate_ratios(measure), totals.increments
        assert ratios is not None
        assert increments is not None
        return [
            increments.walk(
                Walk, num, -den, np.linspace(*_ends(increments, (num, den), measure, j), self.cells + 1)
            )
            for j, (num, den) in enumerate(ratios)
        ]

    def remarks(self, totals: Totals, measure: Measure, level: float) -> tuple[str, ...]:
        return remarks_on(measure, *self.limits(totals, measure, level, 2))

    def p_value(self, totals: Totals, measure: Measure, margin: float = 0.0) -> Floats:
        """Of "A is at most B + margin" for each coordinate of a difference of ratios, good at any time.

        ``margin=0`` tests superiority, a negative one non-inferiority; several of them go through ``holm``.
        """
        pairs = two_sides(measure)
        if pairs is None or totals.increments is None:
            raise NotSupported(
                "a p-value that holds at any time is for Difference(...) of ratios, from draws one by one: "
                "use design='sequential'"
            )
        return np.exp([-ratio_evidence(totals.increments, *pair, margin) for pair in pairs])


def _hull(points: Floats, too_low: Bools, too_high: Bools, sides: int) -> tuple[float, float]:
    """Ends of the cells between points that are not given up; nan if none is left."""
    if sides == 2:
        too_low = too_high = too_low | too_high
    low_cells, high_cells = np.flatnonzero(~too_low), np.flatnonzero(~too_high)
    if not len(low_cells) or not len(high_cells):
        return np.nan, np.nan
    return float(points[low_cells[0]]), float(points[high_cells[-1] + 1])


def remarks_on(measure: Measure, lows: Floats, highs: Floats) -> tuple[str, ...]:
    """Warnings about the limits of a sequence: assumptions are broken, or it says next to nothing so far."""
    said = []
    least, most = measure.range
    for name, low, high, whole in zip(measure.names, lows, highs, most - least, strict=True):
        if np.isnan(low):
            said.append(
                f"no value of {name} agrees with the draws: assumptions are broken (labels corrected "
                "because of the result, or chances that are not those of the draws)"
            )
        elif high - low > _VACUOUS * whole:
            said.append(
                f"the interval of {name} that is safe to look at says little so far: it takes "
                "more labels than for a number of labels fixed beforehand, many more if few are positive"
            )
    return tuple(said)


def ratio_evidence(increments: Increments, a: Ratio, b: Ratio, margin: float) -> float:
    """Logarithm of the greatest evidence so far against "ratio a is at most ratio b + margin"."""
    return increments.walk(NotAbove, np.stack([*a, *b]), np.array([margin]), VALUES).greatest


def _ends(increments: Increments, ratio: Ratio, measure: Measure, j: int) -> tuple[float, float]:
    """Ends of the grid: of the measure's range, or of what is possible before any label."""
    least, most = (float(end[j]) for end in measure.range)
    if np.isfinite([least, most]).all():
        return least, most
    low, high = increments.bounds(np.stack(ratio), keep=True)
    with np.errstate(all="ignore"):
        totals = increments.size @ low, increments.size @ high
        corners = np.array([totals[a][0] / totals[b][1] for a in (0, 1) for b in (0, 1)])
    if not totals[0][1] > 0 or not np.isfinite(corners).all():
        return -np.inf, np.inf
    return max(least, float(corners.min())), min(most, float(corners.max()))
