"""Intervals of several coordinates that hold together: sup-t, Bonferroni and Scheffé."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy.special import fdtrc

from sondage.estimators.base import Totals
from sondage.estimators.linear import Linear
from sondage.intervals.base import Interval
from sondage.intervals.joint_region import FLAT, joint_radius, rank_of, spectrum
from sondage.intervals.wald import Beta, student
from sondage.streams import Stream
from sondage.types import Bools, Floats


@dataclass(frozen=True)
class Bonferroni(Beta):
    """The beta interval at a level that leaves each of m coordinates an m-th of the chance to miss."""

    alias: ClassVar[str] = "bonferroni"
    joint: ClassVar[bool] = True
    coordinates: int | None = None
    """How many there are, where they are estimated some at a time; None: those at hand that are not known."""

    def among(self, m: int) -> Interval:
        return replace(self, coordinates=m)

    def quantile(self, totals: Totals, linear: Linear, level: float, sides: int, stream: Stream) -> float:
        number = int(uncertain(linear).sum()) if self.coordinates is None else self.coordinates
        return student(totals, (1 - level) / sides / max(number, 1))


@dataclass(frozen=True)
class Scheffe(Beta):
    """As many standard errors as the joint region has in every direction: its shadow on each coordinate.

    The widest of the three, and the only one that also holds for combinations of coordinates that were
    chosen after a look at the values. A bound on one side is no shorter, unless there is but one
    coordinate: among all combinations there is always one in which both sides bind.
    """

    alias: ClassVar[str] = "scheffe"
    joint: ClassVar[bool] = True

    def quantile(self, totals: Totals, linear: Linear, level: float, sides: int, stream: Stream) -> float:
        mine = uncertain(linear)
        if mine.sum() <= 1:
            return student(totals, (1 - level) / sides)
        return joint_radius(rank_of(linear.cov[np.ix_(mine, mine)]), totals.df, level)


@dataclass(frozen=True)
class Simultaneous(Beta):
    """Beta intervals at the critical value of the largest deviation (sup-t).

    With Gaussian multipliers on the contributions of the draws, the deviations of all coordinates are
    jointly normal with the estimated correlation; over the root of a chi-square they are multivariate t.
    ``replicates`` random directions are drawn, and along each the chance to exceed the critical value is
    an F probability, exactly. The more alike the coordinates, the nearer to a single interval; it is
    never wider than Bonferroni's (Montiel Olea and Plagborg-Møller 2019).
    """

    alias: ClassVar[str] = "simultaneous"
    joint: ClassVar[bool] = True
    replicates: int = 2000

    def __post_init__(self) -> None:
        self.require(replicates="at least 99")

    def quantile(self, totals: Totals, linear: Linear, level: float, sides: int, stream: Stream) -> float:
        mine = uncertain(linear)
        alone = student(totals, (1 - level) / sides)
        if mine.sum() <= 1:
            return alone
        root = correlation_root(linear, mine)
        rank, m = root.shape
        step = stream.normal(self.replicates * rank).reshape(-1, rank)
        reach = step / np.linalg.norm(step, axis=1, keepdims=True) @ root
        highest = student(totals, (1 - level) / sides / m)
        return critical_value(reach, rank, totals.df, level, sides, (alone, highest))


def critical_value(
    reach: Floats, rank: int, df: float, level: float, sides: int, between: tuple[float, float]
) -> float:
    """The value that the largest of the coordinates exceeds with the chance ``1 - level``.

    ``reach`` is (B, m): the coordinates of random points of the unit sphere. A point of the multivariate t
    is such a point times a radius whose square over ``rank`` has an F distribution.
    """
    from scipy.optimize import brentq

    if sides == 2:
        largest = np.abs(reach).max(axis=1)
    else:  # a direction and its opposite are equally likely
        largest = np.maximum(np.concatenate([reach.max(axis=1), -reach.min(axis=1)]), 0.0)

    def excess(value: float) -> float:
        with np.errstate(divide="ignore"):
            beyond = fdtrc(rank, max(df, 1.0), np.square(value / largest) / rank)
        return float(beyond.mean()) - (1 - level)

    low, high = between
    if excess(low) <= 0:
        return low
    if excess(high) >= 0:
        return high
    return float(brentq(excess, low, high, xtol=1e-9))


def correlation_root(linear: Linear, mine: Bools) -> Floats:
    """(r, m) rows, orthogonal to each other, whose squares add up to the correlation of some coordinates."""
    guard = np.diag(np.sqrt(linear.widening))[linear.widening > 0]
    rows = np.concatenate([linear.parts, guard])[:, mine] / linear.std_error[mine]
    if len(rows) > mine.sum():
        _, variances, axes = spectrum(rows.T @ rows)
        rows = np.sqrt(variances)[:, None] * axes
        return np.asarray(rows[variances > 0])
    values, vectors = np.linalg.eigh(rows @ rows.T)  # fewer draws than coordinates
    return np.asarray(vectors[:, values > FLAT * values[-1]].T @ rows)


def uncertain(linear: Linear) -> Bools:
    """(m,) coordinates that have a value and are not known already."""
    return np.asarray(np.isfinite(linear.value) & (linear.std_error > 0))
