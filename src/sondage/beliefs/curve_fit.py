"""Curves of a rate against a position: Bayesian linear splines, fitted to counts by Newton's method.

Each family of cells has a curve, linear between the knots 0, 1, 2, ... on the log-odds scale. The prior is
a random walk of second order: it says where a curve starts, how steep it is, and how much it bends.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular
from scipy.special import expit

from sondage.types import Floats, Ints

_STEPS = 50
_CONVERGED = 1e-9
_HALVINGS = 20
_STEEPEST = 30.0
"""Log-odds beyond this make no difference to a count."""


@dataclass(frozen=True)
class Prior:
    """Of a curve: mean and standard deviation of its start, its first step, and its bends."""

    start: tuple[float, float] = (0.0, 1.5)
    step: tuple[float, float] = (-0.1, 0.4)
    bend: tuple[float, float] = (-0.15, 0.3)

    def gaussian(self, knots: int) -> tuple[Floats, Floats]:
        """(J,) mean and (J, J) precision of the values at the knots."""
        D = np.eye(knots)
        D -= np.eye(knots, k=-1) + np.eye(knots, k=-1) * (np.arange(knots) > 1)[:, None]
        D += np.eye(knots, k=-2)
        parts = [self.start, self.step, *[self.bend] * knots][:knots]
        mean, deviation = np.array(parts).T
        return np.linalg.solve(D, mean), (D.T / np.square(deviation)) @ D


@dataclass(frozen=True)
class Curves:
    """The curves of several families, and the cells on them.

    ``family`` is (U,) the family of each cell and ``at`` (U,) its position. All families have the same
    knots; those beyond the cells of a family follow from the prior.

    >>> curves = Curves(np.zeros(3, int), np.array([0.0, 1.0, 2.0]), (Prior(),))
    >>> fit = curves.fit(np.array([9.0, 9.0, 9.0]), np.array([6.0, 3.0, 0.0]))
    >>> fit.rate.round(2).tolist()
    [0.61, 0.31, 0.06]
    """

    family: Ints
    at: Floats
    priors: tuple[Prior, ...]

    @cached_property
    def knots(self) -> int:
        """Number of knots of a curve."""
        return max(int(np.ceil(self.at.max(initial=0.0))) + 1, 2)

    @cached_property
    def hats(self) -> Floats:
        """(U, J) weight of each knot in the value of each cell."""
        return np.maximum(1.0 - np.abs(self.at[:, None] - np.arange(self.knots)), 0.0)

    @cached_property
    def _basis(self) -> Floats:
        """(U, F J) the same for the knots of all families."""
        own = np.arange(len(self.priors)) == self.family[:, None]
        return np.asarray((own[:, :, None] * self.hats[:, None, :]).reshape(len(self.at), -1))

    @cached_property
    def _gaussian(self) -> tuple[Floats, Floats]:
        J, F = self.knots, len(self.priors)
        mean, precision = np.empty(F * J), np.zeros((F * J, F * J))
        for f, prior in enumerate(self.priors):
            mine = slice(f * J, (f + 1) * J)
            mean[mine], precision[mine, mine] = prior.gaussian(J)
        return mean, precision

    def fit(self, n: Floats, hits: Floats, start: Floats | None = None) -> CurveFit:
        """The most probable curves, given ``hits`` of ``n`` in each cell; ``start``: an earlier ``theta``."""
        mean, precision = self._gaussian
        theta = mean if start is None else start
        value = self._objective(theta, n, hits)
        seen = n > 0
        basis, n, hits = self._basis[seen], n[seen], hits[seen]
        for _ in range(_STEPS):
            rate = expit(basis @ theta)
            slope = basis.T @ (hits - n * rate) - precision @ (theta - mean)
            hessian = (basis.T * (n * rate * (1.0 - rate))) @ basis + precision
            step = cho_solve(cho_factor(hessian), slope)
            if np.abs(step).max() < _CONVERGED:
                break
            for _ in range(_HALVINGS):
                moved = self._objective(theta + step, n, hits, basis)
                if moved >= value - 1e-12 * abs(value):
                    break
                step = 0.5 * step
            theta, value = theta + step, moved
        rate = expit(basis @ theta)
        hessian = (basis.T * (n * rate * (1.0 - rate))) @ basis + precision
        return CurveFit(self, theta, hessian)

    def _objective(self, theta: Floats, n: Floats, hits: Floats, basis: Floats | None = None) -> float:
        """Log posterior density, up to a constant."""
        mean, precision = self._gaussian
        eta = (self._basis if basis is None else basis) @ theta
        return float(
            hits @ eta - n @ np.logaddexp(0.0, eta) - 0.5 * (theta - mean) @ precision @ (theta - mean)
        )


@dataclass(frozen=True)
class CurveFit:
    """Fitted curves: the mode ``theta`` (family by family) and the curvature there."""

    curves: Curves
    theta: Floats
    hessian: Floats

    @property
    def knots(self) -> Floats:
        """(F, J) log-odds at the knots of each family."""
        return self.theta.reshape(len(self.curves.priors), -1)

    @cached_property
    def rate(self) -> Floats:
        """(U,) rate of each cell."""
        return np.asarray(expit(self.curves._basis @ self.theta))

    @cached_property
    def covariance(self) -> Floats:
        """(U, U) covariance of the log-odds of the cells."""
        half = solve_triangular(np.linalg.cholesky(self.hessian), self.curves._basis.T, lower=True)
        return half.T @ half

    def draws(self, normal: Floats, outermost: Floats, fall: float) -> Floats:
        """(B, U) rates of curves drawn from the normal distribution around the mode.

        ``normal`` is (B, F J) standard normal numbers. From ``outermost`` (F,) on, the last position at which
        a hit was seen, a curve is held to fall by at least ``fall`` from knot to knot: how far a curve may
        rise again where nothing was seen is not for chance to say.
        """
        F, J = self.knots.shape
        root = np.linalg.cholesky(self.hessian)
        theta = self.theta + solve_triangular(root.T, normal.T, lower=False).T
        knots = theta.reshape(-1, F, J)
        drop = fall * np.arange(J)
        for f, last in enumerate(np.ceil(outermost).astype(np.int64).tolist()):
            # eta_j <= eta_(j-1) - fall, one after the other, is a running minimum of eta_j + j fall.
            tail = knots[:, f, last:] + drop[last:]
            knots[:, f, last:] = np.minimum.accumulate(tail, axis=1) - drop[last:]
        eta = np.empty((len(theta), len(self.curves.at)))
        low = np.minimum(self.curves.at.astype(np.int64), J - 2)
        part = self.curves.at - low
        before, after = (knots[:, self.curves.family, low + k] for k in (0, 1))
        eta = (1.0 - part) * before + part * after
        return np.asarray(expit(np.clip(eta, -_STEEPEST, _STEEPEST)))
