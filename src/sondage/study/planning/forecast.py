"""Forecast: widths of the interval against labels, in every world or scenario, and what can be read off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from sondage.measures.base import Measure
from sondage.types import Floats, Ints

QUANTILES = (0.1, 0.5, 0.9)
"""Shares of the worlds in which it goes better than the optimistic, expected and pessimistic number says."""


class Three(NamedTuple):
    """A number if things go well, as they may be expected to go, and badly."""

    optimistic: float
    expected: float
    pessimistic: float


class Labels(NamedTuple):
    """Numbers of labels if things go well, as they may be expected to go, and badly; None: out of reach."""

    optimistic: int | None
    expected: int | None
    pessimistic: int | None


@dataclass(frozen=True)
class Forecast:
    """What was worked out: D worlds or scenarios, B numbers of labels, m coordinates.

    ``quantiles`` of the worlds stand for going well, as expected, and badly.
    """

    labels: Ints
    """(B,) items asked, those there already included."""
    cost: Floats
    """(B,) what they cost."""
    width: Floats
    """(B, D, m) width of the design's interval."""
    spread: Floats
    """(D, m) variance of a single uniform draw."""
    quantiles: tuple[float, float, float]
    interval: str = "normal"
    """Name of the interval that is so wide."""
    most: int | None = None
    """Items that can matter at all, where they are fewer than all."""
    far: tuple[float, ...] = ()
    """(B,) share of the width that is doubt beyond the last error seen, where worlds have told."""

    def by_design(self) -> Floats:
        """(B, 3, m) width, never wider with more labels."""
        return never_wider(three(self.width, self.quantiles, axis=1))

    def first_below(self, target: float, times: Floats, whole: Floats, size: int) -> Floats:
        """(D,) labels at which an interval (B,) ``times`` as wide is first as narrow as ``target``.

        In every world by itself, whatever happens there later: a stop rule has ended it by then. ``whole`` is
        (m,) the width of the range, which no interval exceeds.
        """
        seen = np.minimum(self.width * times[:, None, None], whole).max(axis=2)
        return np.array([labels_for(self.labels, one, target, size) for one in seen.T])


@dataclass(frozen=True)
class Sampling:
    """Plain random sampling without replacement, and the normal interval, as formulas.

    >>> from sondage.measures import resolve
    >>> plain = Sampling(1000, 0.95, False, resolve("accuracy"))
    >>> width = plain.width(np.array([[0.25]]), np.array([100]))
    >>> width.round(3).tolist()
    [[[0.186]]]
    >>> plain.needed(np.array([0.25]), float(width[0, 0, 0])).round(6).tolist()
    [100.0]
    """

    size: int
    level: float
    population: bool
    measure: Measure

    @property
    def errors(self) -> float:
        """Standard errors between the ends of an interval."""
        return 2.0 * float(ndtri(0.5 + 0.5 * self.level))

    @property
    def whole(self) -> Floats:
        """(m,) width of the measure's whole range."""
        return np.asarray(self.measure.range[1] - self.measure.range[0], dtype=np.float64)

    def variance(self, spread: Floats, n: Floats | Ints) -> Floats:
        """``(1 / n - 1 / N) S^2`` with ``S^2 = N / (N - 1)`` times the mean square (Cochran 1977, 2.15)."""
        N = self.size
        found = spread * (N / max(N - 1.0, 1.0)) * np.maximum(1.0 / n - 1.0 / N, 0.0)
        return np.asarray(found + spread / N if self.population else found)

    def width(self, spread: Floats, n: Ints) -> Floats:
        """(B, D, m) width with n labels, (D, m) being the variance of one draw."""
        return self.of_variance(self.variance(spread[None], n[:, None, None]))

    def of_variance(self, variance: Floats) -> Floats:
        """(..., m) width of the normal interval, cut to the range of the measure."""
        return np.minimum(self.errors * np.sqrt(variance), self.whole)

    def needed(self, spread: Floats, width: Floats | float) -> Floats:
        """Labels at which the interval has a width; infinite where even all of them leave it wider."""
        N = self.size
        with np.errstate(all="ignore"):
            left = np.square(np.asarray(width) / self.errors)
            if self.population:
                left = left - spread / N
            n = 1.0 / (left * (max(N - 1.0, 1.0) / N) / spread + 1.0 / N)
            return np.where(left < 0, np.inf, np.where(spread > 0, n, 1.0))


def never_wider(width: Floats) -> Floats:
    """Widths along the first axis, each as wide as any later one: more labels are never worse."""
    return np.asarray(np.maximum.accumulate(width[::-1], axis=0)[::-1])


def labels_for(labels: Ints, width: Floats, target: float, size: int, end: float = 0.0) -> float:
    """Where a falling width reaches ``target``; infinite if the whole pool leaves it wider.

    Squared widths are read off on a line in ``1 / n``, as those of a plain sample lie; the last line ends at
    ``end``, the width with the whole pool labelled. What is reached before the first number is that number.

    >>> labels_for(np.array([100, 400]), np.array([0.2, 0.1]), 0.15, 10_000)
    178.0
    """
    if width[0] <= target:
        return float(labels[0])
    if end > target:
        return np.inf
    n = np.append(labels, size).astype(np.float64)
    square = np.square(np.append(width, end))
    k = int(np.argmax(square <= target**2))
    part = (square[k - 1] - target**2) / (square[k - 1] - square[k])
    inverse = 1.0 / n[k - 1] + part * (1.0 / n[k] - 1.0 / n[k - 1])
    return float(np.ceil(min(1.0 / inverse, size) - 1e-6))


def three(values: Floats, quantiles: Sequence[float], axis: int) -> Floats:
    """Quantiles along an axis, each of them one of the values: so those of widths and of labels agree."""
    return np.moveaxis(np.quantile(values, quantiles, axis=axis, method="nearest"), 0, axis)
