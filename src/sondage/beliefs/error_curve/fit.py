"""Curves of a rate against a position: Bayesian linear splines, fitted to counts by Newton's method.

Each family of cells has a curve, linear between the knots 0, 1, 2, ... on the log-odds scale. The prior is
a random walk of second order: it says where a curve starts, how steep it is, and how much it bends.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg.lapack import dposv, dtrtri
from scipy.special import expit

from sondage.arithmetic import sums_by
from sondage.types import Bools, Floats, Ints

_STEPS = 50
_CONVERGED = 1e-9
_HALVINGS = 20


@dataclass(frozen=True)
class Prior:
    """Of a curve: mean and standard deviation of its start, its first step, and its bends."""

    start: tuple[float, float] = (0.0, 1.5)
    step: tuple[float, float] = (-0.1, 0.4)
    bend: tuple[float, float] = (-0.15, 0.3)
    loose: float | None = None
    until: int = 0
    """If ``loose``: that is the standard deviation of the bends up to this knot."""

    def gaussian(self, knots: int) -> tuple[Floats, Floats]:
        """(J,) mean and (J, J) precision of the values at the knots."""
        D = np.eye(knots)
        D -= np.eye(knots, k=-1) + np.eye(knots, k=-1) * (np.arange(knots) > 1)[:, None]
        D += np.eye(knots, k=-2)
        parts = [self.start, self.step, *[self.bend] * knots][:knots]
        mean, deviation = np.array(parts).T
        if self.loose is not None:
            deviation[2 : max(self.until + 1, 2)] = self.loose
        return np.linalg.solve(D, mean), (D.T / np.square(deviation)) @ D


@dataclass(frozen=True)
class Family:
    """Cells that follow one curve, ``level`` (a standard deviation) above or below the others that do."""

    curve: int = 0
    level: float = 0.0


@dataclass(frozen=True)
class Curves:
    """Some curves, families of cells that follow them, and the cells.

    ``family`` is (U,) the family of each cell and ``at`` (U,) its position. All curves have the same knots;
    those beyond the cells of a curve follow from its prior. Without ``families`` each has its own curve.

    >>> curves = Curves(np.zeros(3, int), np.array([0.0, 1.0, 2.0]), (Prior(),))
    >>> fit = curves.fit(np.array([9.0, 9.0, 9.0]), np.array([6.0, 3.0, 0.0]))
    >>> fit.rate.round(2).tolist()
    [0.49, 0.34, 0.17]
    """

    family: Ints
    at: Floats
    priors: tuple[Prior, ...]
    families: tuple[Family, ...] = ()

    def __post_init__(self) -> None:
        if not self.families:
            each = tuple(Family(curve) for curve in range(len(self.priors)))
            object.__setattr__(self, "families", each)

    @cached_property
    def knots(self) -> int:
        """Number of knots of a curve."""
        return max(int(np.ceil(self.at.max(initial=0.0))) + 1, 2)

    @cached_property
    def curve(self) -> Ints:
        """(U,) the curve of each cell."""
        return np.array([one.curve for one in self.families])[self.family]

    @cached_property
    def levels(self) -> Floats:
        """(U, L) 1 for the level of each cell's family, of the families that have one."""
        own = [f for f, one in enumerate(self.families) if one.level > 0]
        return np.asarray(self.family[:, None] == np.array(own, dtype=np.int64), dtype=np.float64)

    @cached_property
    def basis(self) -> Floats:
        """(U, P) what each parameter adds to the log-odds of each cell: knots of all curves, then levels."""
        hats = np.maximum(1.0 - np.abs(self.at[:, None] - np.arange(self.knots)), 0.0)
        own = np.arange(len(self.priors)) == self.curve[:, None]
        curves = (own[:, :, None] * hats[:, None, :]).reshape(len(self.at), -1)
        return np.concatenate([curves, self.levels], axis=1)

    @cached_property
    def gaussian(self) -> tuple[Floats, Floats]:
        """(P,) mean and (P, P) precision of the parameters before any label."""
        J, C = self.knots, len(self.priors)
        deviation = [one.level for one in self.families if one.level > 0]
        mean = np.zeros(C * J + len(deviation))
        precision = np.diag(np.concatenate([np.zeros(C * J), np.array(deviation) ** -2.0]))
        for c, prior in enumerate(self.priors):
            mine = slice(c * J, (c + 1) * J)
            mean[mine], precision[mine, mine] = prior.gaussian(J)
        return mean, precision

    @cached_property
    def parameter_curve(self) -> Ints:
        """(P,) the curve of each parameter: of a knot, and of the level of a family that follows it."""
        J, levels = self.knots, [one.curve for one in self.families if one.level > 0]
        return np.concatenate([np.repeat(np.arange(len(self.priors)), J), np.array(levels, dtype=np.int64)])

    @cached_property
    def parameters(self) -> tuple[Ints, ...]:
        """Of each curve, the places of its parameters."""
        return tuple(np.flatnonzero(self.parameter_curve == c) for c in range(len(self.priors)))

    @cached_property
    def apart(self) -> Bools:
        """(U,) whether the family of a cell has a curve of its own, without a level."""
        return np.array([not one.level for one in self.families])[self.family]

    @cached_property
    def prior_volumes(self) -> Floats:
        """(C,) ``log_volumes`` before any label."""
        return self.log_volumes(np.asarray(np.linalg.cholesky(self.gaussian[1])))

    def log_volumes(self, root: Floats) -> Floats:
        """(C,) log-determinants of the parts of a curvature that belong to each curve, by its Cholesky root.

        No cell is on two curves, so that between curves the curvature is 0.
        """
        return 2.0 * sums_by(np.log(root.diagonal()), self.parameter_curve, len(self.priors))

    def fit(self, n: Floats, hits: Floats, start: Floats | None = None) -> CurveFit:
        """The most probable curves, given ``hits`` of ``n`` in each cell; ``start``: an earlier ``theta``."""
        mean, precision = self.gaussian
        seen = n > 0
        basis, n, hits = self.basis[seen], n[seen], hits[seen]

        def density(theta: Floats, eta: Floats) -> float:
            """Log posterior, up to a constant."""
            off = theta - mean
            return float(hits @ eta - n @ np.logaddexp(0.0, eta) - 0.5 * off @ precision @ off)

        theta = mean if start is None else start
        eta = basis @ theta
        value = density(theta, eta)
        for _ in range(_STEPS):
            rate = expit(eta)
            hessian = (basis.T * (n * rate * (1.0 - rate))) @ basis + precision
            # Straight to LAPACK: for matrices this small the checks of scipy.linalg take most of the time.
            _, step, failed = dposv(hessian, basis.T @ (hits - n * rate) - precision @ (theta - mean))
            if failed:
                raise np.linalg.LinAlgError("the curvature of the curves is not positive")
            if np.abs(step).max() < _CONVERGED:
                break
            for _ in range(_HALVINGS):
                there = basis @ (theta + step)
                moved = density(theta + step, there)
                if moved >= value - 1e-12 * abs(value):
                    break
                step = 0.5 * step
            theta, eta, value = theta + step, there, moved
        return CurveFit(self, theta, hessian)


@dataclass(frozen=True)
class CurveFit:
    """Fitted curves: the mode ``theta`` (knots of every curve, then levels) and the curvature there."""

    curves: Curves
    theta: Floats
    hessian: Floats

    @cached_property
    def rate(self) -> Floats:
        """(U,) rate of each cell, by its curve."""
        return np.asarray(expit(self.curves.basis @ self.theta))

    @cached_property
    def covariance(self) -> Floats:
        """(U, U) covariance of the log-odds of the cells."""
        half = self._half
        return half.T @ half

    @cached_property
    def variance(self) -> Floats:
        """(U,) variance of the log-odds of each cell."""
        return np.asarray(np.square(self._half).sum(axis=0))

    @cached_property
    def _root(self) -> Floats:
        """(P, P) Cholesky root of the curvature, lower."""
        return np.asarray(np.linalg.cholesky(self.hessian))

    @property
    def _half(self) -> Floats:
        """(P, U) root of the covariance."""
        # By the inverse: OpenBLAS starts threads for a triangular system however small, and where other
        # programs are busy that takes a hundred times as long.
        inverse, _ = dtrtri(self._root, lower=1)
        return np.asarray(inverse @ self.curves.basis.T)

    def log_evidence(self, n: Floats, hits: Floats) -> Floats:
        """(C,) log of the chance of the labels of each curve, given that they follow one.

        ``n`` and ``hits`` are (U,), those that the curves were fitted to. By Laplace's approximation at the
        mode: the log-likelihood there, and how much smaller than the prior's volume the posterior's is.
        """
        curves, eta = self.curves, self.curves.basis @ self.theta
        (mean, precision), count = curves.gaussian, len(curves.priors)
        fits = sums_by(hits * eta - n * np.logaddexp(0.0, eta), curves.curve, count)
        off = self.theta - mean
        squares = sums_by(off * (precision @ off), curves.parameter_curve, count)
        return np.asarray(fits + 0.5 * (curves.prior_volumes - curves.log_volumes(self._root) - squares))
