"""A region for several coordinates at once: the ellipsoid of Hotelling's F, stretched into the range."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import fdtri, gammaln

from sondage.errors import InvalidInput, NotSupported
from sondage.estimators.base import Totals, root
from sondage.estimators.linear import Linear, linearise
from sondage.intervals.base import Guarantee, within_range
from sondage.intervals.wald import skewed
from sondage.measures.base import Measure
from sondage.results import Result
from sondage.streams import stream
from sondage.types import Bools, Floats

if TYPE_CHECKING:
    from sondage.report.page import Page

FLAT = 1e-12
"""Directions with less than this share of the largest variance, on a common scale, have none."""
_DIRECTIONS = 4000


@dataclass(frozen=True, repr=False)
class Region(Result):
    """All points ``x`` with ``(x - centre)' covariance^-1 (x - centre) <= radius^2``, stretched to ``ends``.

    With the chance ``confidence_level`` it holds the true values of all coordinates together. ``ends`` are
    the least and greatest value of each coordinate: below and above its centre a coordinate is measured in
    units of its own, so that the region stays inside the range and is longer where there is more room.
    Without ``ends`` it is the plain ellipsoid. Where the covariance is singular (a coordinate is known, or is
    a sum of others) the region is flat: it has ``rank`` dimensions, and in the other directions a point has
    to agree with the centre exactly.
    """

    names: tuple[str, ...]
    centre: Floats
    covariance: Floats
    radius: float
    rank: int
    confidence_level: float
    ends: tuple[Floats, Floats] | None = None
    guarantee: Guarantee = "fixed-n"

    @cached_property
    def _stretch(self) -> Floats:
        """(2, m) by how much each coordinate is longer than in the ellipsoid, below and above the centre."""
        half = self.radius * np.sqrt(np.diag(self.covariance))
        if self.ends is None:
            return np.ones((2, len(half)))
        arms = np.stack([self.centre - self.ends[0], self.ends[1] - self.centre])
        return np.where(half > 0, arms / np.where(half > 0, half, 1.0), 1.0)

    def _sided(self, is_below: Bools) -> Floats:
        below, above = self._stretch
        return np.asarray(np.where(is_below, below, above))

    @cached_property
    def _axes(self) -> tuple[Floats, Floats, Floats]:
        """Scale of each coordinate, standard deviations along the axes, and the axes as rows."""
        scale, values, vectors = spectrum(self.covariance)
        return scale, np.sqrt(values), vectors

    def contains(self, point: Any) -> bool | Bools:
        """Whether a point lies inside; for an array of points (n, m), whether each does.

        >>> disc = Region(("a", "b"), np.array([0.5, 0.5]), 0.01 * np.eye(2), 2.0, 2, 0.86)
        >>> disc.contains([0.6, 0.6]), disc.contains([0.7, 0.7])
        (True, False)
        """
        points = np.asarray(point, dtype=np.float64)
        if points.ndim not in (1, 2) or points.shape[-1] != len(self.names):
            raise InvalidInput(
                f"a point of this region has {len(self.names)} entries ({', '.join(self.names)}), "
                f"and the array has the shape {points.shape}"
            )
        scale, deviation, axes = self._axes
        off = points - self.centre
        stretch = self._sided(off < 0)
        beyond = ((stretch <= 0) & (off != 0)).any(axis=-1)  # there is no room on that side
        off = off / np.where(stretch > 0, stretch, 1.0)
        known = scale == 0
        scaled = off / np.where(known, 1.0, scale)
        along = np.where(known, 0.0, scaled) @ axes.T
        distance = np.square(along[..., : self.rank] / deviation[: self.rank]).sum(axis=-1)
        # What is known exactly need only agree to the last few digits.
        flat = (np.abs(along[..., self.rank :]) <= np.sqrt(FLAT)).all(axis=-1)
        same = (np.abs(off) <= 1e-9 * (1 + np.abs(self.centre))) | ~known
        inside = (distance <= self.radius**2 * (1 + 1e-12)) & flat & same.all(axis=-1) & ~beyond
        return bool(inside) if points.ndim == 1 else np.asarray(inside)

    @property
    def volume(self) -> float:
        """Area or volume in as many dimensions as the region has; 1 for a single point.

        >>> disc = Region(("a", "b"), np.array([0.5, 0.5]), 0.01 * np.eye(2), 2.0, 2, 0.86)
        >>> round(disc.volume, 4)  # pi 0.2^2
        0.1257
        """
        r = self.rank
        if r == 0:
            return 1.0
        values = np.linalg.eigvalsh(self.covariance)[-r:]
        unit_ball = 0.5 * r * np.log(np.pi) - gammaln(0.5 * r + 1)
        plain = np.exp(unit_ball + r * np.log(self.radius) + 0.5 * np.log(values).sum())
        return float(plain * self._growth(r))

    def _growth(self, r: int) -> float:
        """By how much stretching changes the volume: its mean over directions from the centre."""
        if (self._stretch == 1.0).all():
            return 1.0
        basis = root(self.covariance)[-r:]
        step = stream(0, "interval").normal(_DIRECTIONS * r).reshape(-1, r) @ basis
        signs, count = np.unique(step < 0, axis=0, return_counts=True)
        stretched = basis * self._sided(signs)[:, None, :]
        squares = np.linalg.det(stretched @ stretched.transpose(0, 2, 1)) / np.linalg.det(basis @ basis.T)
        return float(count @ np.sqrt(np.maximum(squares, 0.0)) / count.sum())

    @property
    def limits(self) -> tuple[Floats, Floats]:
        """Least and greatest value of each coordinate in the region: Scheffé's intervals."""
        if self.ends is not None:
            return self.ends
        half = self.radius * np.sqrt(np.diag(self.covariance))
        return self.centre - half, self.centre + half

    def boundary(self, n: int = 100, coordinates: tuple[int, int] = (0, 1)) -> Floats:
        """(n, 2) points around the region's shadow on two coordinates, to be drawn as a closed line.

        >>> disc = Region(("a", "b"), np.zeros(2), np.eye(2), 1.0, 2, 0.39)
        >>> disc.boundary(4).round(6).tolist() == [[1, 0], [0, 1], [-1, 0], [0, -1]]
        True
        """
        i, j = coordinates
        m = len(self.names)
        if i == j or not {i, j} <= set(range(m)):
            raise InvalidInput(
                f"coordinates={coordinates} must be two different numbers from 0 to {m - 1}: "
                f"the region has {m} coordinate{'s' if m > 1 else ''} ({', '.join(self.names)})"
            )
        if n < 1:
            raise InvalidInput(f"n must be at least 1, not {n}")
        angle = 2 * np.pi * np.arange(n) / n
        circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        (a, b), (_, c) = self.covariance[np.ix_([i, j], [i, j])]
        # The shadow of an ellipsoid is the ellipse of the same radius with their own covariance.
        side = np.sqrt(a)
        slope = b / side if side > 0 else 0.0
        root = np.array([[side, 0.0], [slope, np.sqrt(max(c - slope * slope, 0.0))]])
        off = self.radius * circle @ root.T
        below, above = self._stretch[:, [i, j]]
        return np.asarray(self.centre[[i, j]] + off * np.where(off < 0, below, above))

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, with the least and greatest value of each coordinate."""
        return {
            "names": list(self.names),
            "centre": self.centre.tolist(),
            "covariance": self.covariance.tolist(),
            "radius": self.radius,
            "rank": self.rank,
            "confidence_level": self.confidence_level,
            "low": self.limits[0].tolist(),
            "high": self.limits[1].tolist(),
        }

    def _page(self) -> Page:
        from sondage.report.region import region_page

        return region_page(self)

    def _columns(self) -> dict[str, Any]:
        low, high = (end.tolist() for end in self.limits)
        return {"name": list(self.names), "centre": self.centre.tolist(), "low": low, "high": high}


def region(totals: Totals, measure: Measure, level: float) -> Region:
    """The joint region of all coordinates of a measure.

    >>> from sondage.measures import resolve
    >>> parts = np.array([[0.0, 0.02], [0.0, -0.02]] * 50)
    >>> totals = Totals(np.array([1.0, 0.8]), parts, 100.0, 99.0, np.zeros((2, 2)))
    >>> print(region(totals, resolve("accuracy"), 0.95))
    95% region for accuracy
    In 95% of samples it holds all the true values at once
    <BLANKLINE>
      measure   centre   least  greatest
      ----------------------------------
      accuracy  0.8000  0.3455    1.0000
    """
    if not 0 < level < 1:
        raise InvalidInput(f"confidence_level= must be between 0 and 1, not {level!r}")
    linear = linearise(totals, measure)
    undefined = np.isnan(linear.value)
    if undefined.any():
        names = ", ".join(np.array(measure.names)[undefined])
        raise NotSupported(f"there is no region, because {names} is undefined: leave it out, or label more")
    covariance = linear.cov
    rank = rank_of(covariance)
    if rank:
        edge = joint_radius(rank, totals.df, level) ** 2
        covariance = covariance + curvature(totals, measure, linear) * edge**2 / (rank * (rank + 2))
        rank = rank_of(covariance)
    radius = joint_radius(rank, totals.df, level)
    centre = np.clip(linear.value, *measure.range)
    if not rank:
        return Region(measure.names, centre, covariance, radius, rank, level)
    with np.errstate(all="ignore"):
        bent = np.nan_to_num(np.sqrt(np.diag(covariance)) / linear.std_error, nan=1.0, posinf=1.0)
    ends = within_range(
        *skewed(linear, measure, linear.own_quantile(radius, totals.df) * bent), linear.value, measure
    )
    return Region(measure.names, centre, covariance, radius, rank, level, ends)


def rank_of(covariance: Floats) -> int:
    """Number of directions that have a variance."""
    return int((spectrum(covariance)[1] > 0).sum())


def curvature(totals: Totals, measure: Measure, linear: Linear) -> Floats:
    """(m, m) mean square of what a straight line leaves of the values, the averages being normal.

    Three measures of two unknown numbers lie on a bent surface: to first order one direction has no
    variance at all, and a flat region would miss the truth, which lies beside its plane. The region takes
    this term as it is at its edge (the fourth power of the distance there, over its mean ``r (r + 2)``).
    In every direction that has a variance of its own, it is negligible.
    """
    count = max(200, 4 * measure.m)
    moves = stream(0, "interval").normal(count * measure.d).reshape(count, -1) @ root(totals.cov)
    straight = linear.value + moves @ linear.J.T
    least, most = measure.range
    with np.errstate(all="ignore"):
        values = np.asarray(measure.g(totals.R + moves), dtype=np.float64)
        # Averages that cannot be make ratios that cannot be: no further off than the range or the line.
        values = np.clip(values, np.minimum(least, straight), np.maximum(most, straight))
    bend = np.nan_to_num(values - straight)
    return np.asarray(bend.T @ bend / count)


def spectrum(covariance: Floats) -> tuple[Floats, Floats, Floats]:
    """Scale of each coordinate; variances along the axes, largest first and 0 where negligible; axes (m, m).

    The axes are those of the correlation: coordinates in different units must not make each other vanish.
    """
    scale = np.sqrt(np.diag(covariance))
    with np.errstate(all="ignore"):
        correlation = np.nan_to_num(covariance / np.outer(scale, scale))
    values, vectors = np.linalg.eigh(correlation)
    values, vectors = values[::-1], vectors[:, ::-1]
    return scale, np.where(values > FLAT * max(values[0], 0.0), values, 0.0), vectors.T


def joint_radius(rank: int, df: float, level: float) -> float:
    """Standard errors in every direction: the root of ``r df / (df - r + 1) F_{r, df - r + 1}``.

    Hotelling's distribution, because the whole covariance is estimated; the t quantile for one
    coordinate, the chi-square one for many degrees of freedom.
    """
    if rank == 0:
        return 0.0
    df = max(df, 1.0)
    left = max(df - rank + 1.0, 1.0)
    return float(np.sqrt(rank * df / left * fdtri(rank, left, level)))
