"""Draws of error rates from the posterior of the curves itself: proposed around the mode, kept by likelihood.

A normal distribution around the mode is symmetric, and what labels leave possible is not: hundreds of labels
without an error cut off the upper side. So curves are proposed from a wider one with heavier tails, and drawn
again by how much likelier than proposed the labels make them (importance resampling; Rubin 1988).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dtrtri
from scipy.special import gammaincinv

from sondage.arithmetic import FURTHEST, in_pieces, to_chances
from sondage.beliefs.error_curve.fit import CurveFit
from sondage.streams import Stream
from sondage.types import Floats

_PROPOSED, _MORE = 1.5, 10.0
"""Curves proposed for each that is asked for, and how many where hardly any of them fits."""
_LEAST = 500
"""Curves for which that is reckoned, at least."""
_ENOUGH = 0.1
"""Effective number of the proposed curves that is enough, for each that is asked for."""
_WIDER, _FREEDOM = 1.05, 50.0
"""Scale and degrees of freedom of the proposals."""
_GRID = 200
"""Steps of the share that lies anywhere."""
_EITHER_WAY = 0.1
"""Share of the proposals whose share astray does not look at the labels."""
_HALVINGS = 20
_AT_ONCE = 1 << 15
"""Log-odds of which the likelihood is worked out at once: more would leave the processor's cache."""


class Anywhere(NamedTuple):
    """Items that may lie anywhere, whatever their score.

    ``others`` is (U,) the share of the pool that is of another class than predicted, and ``mean`` (C,) that
    of the exponential prior of the share of those that lie anywhere on a curve.
    """

    mean: Floats
    others: Floats


class _Curve(NamedTuple):
    """One curve: its cells with labels, its parameters, and what was seen."""

    basis: Floats
    n: Floats
    wrong: Floats
    others: Floats
    mode: Floats
    prior: tuple[Floats, Floats]
    told: Floats
    """(P, P) curvature that the labels add at the mode."""
    last: int
    """Knot from which on log-odds do not rise."""


def drawn_rates(
    fit: CurveFit,
    seen: tuple[Floats, Floats],
    outermost: Floats,
    heat: Floats,
    fall: float,
    anywhere: Anywhere | None,
    stream: Stream,
    count: int,
) -> tuple[Floats, bool]:
    """(count, U) rates drawn from the posterior of the curves, each curve for itself; and whether roughly.

    Roughly: so few of the proposed curves fit the labels that they are drawn wider than the posterior is.

    ``seen`` is (U,) labels and hits, ``outermost`` (C,) the position of the last hit, from which on log-odds
    fall by at least ``fall`` from knot to knot. The log-likelihood of each curve is divided by ``heat`` (C,):
    above 1 where labels lie further from their curve than chance explains.
    """
    curves = fit.curves
    out, rough = np.empty((count, len(curves.at))), False
    mean, precision = curves.gaussian
    n, wrong = seen
    for c, p in enumerate(curves.parameters):
        mine = np.flatnonzero(curves.curve == c)
        told = mine[n[mine] > 0]
        block = np.ix_(p, p)
        one = _Curve(
            curves.basis[np.ix_(told, p)],
            n[told],
            wrong[told],
            np.zeros(len(told)) if anywhere is None else anywhere.others[told],
            fit.theta[p],
            (mean[p], precision[block]),
            fit.hessian[block] - precision[block],
            int(np.ceil(outermost[c])),
        )
        astray = None if anywhere is None else float(anywhere.mean[c])
        theta, share, enough = _posterior(one, curves.knots, float(heat[c]), fall, astray, stream, count)
        rough = rough or not enough
        rate = to_chances(in_pieces(theta, curves.basis[np.ix_(mine, p)].T))
        if share is not None and anywhere is not None:
            rate = 1.0 - (1.0 - rate) * (1.0 - np.minimum(share[:, None] * anywhere.others[mine], 1.0))
        out[:, mine] = rate
    return out, rough


def _posterior(
    one: _Curve, knots: int, heat: float, fall: float, astray: float | None, stream: Stream, count: int
) -> tuple[Floats, Floats | None, bool]:
    """(count, P) parameters of a curve, (count,) the share that lies anywhere, and whether enough fit."""
    for each in (_PROPOSED, _MORE):
        proposed = int(each * max(count, _LEAST))
        theta, share, log_weight = _proposals(one, knots, heat, fall, astray, stream, proposed)
        weight, enough = _weights(log_weight, _ENOUGH * count)
        if enough:
            break
    marks = (np.arange(count) + stream.uniform(1)) / count
    chosen = np.minimum(np.searchsorted(np.cumsum(weight), marks, "right"), proposed - 1)
    chosen = chosen[np.argsort(stream.uniform(count), kind="stable")]
    return theta[chosen], None if share is None else share[chosen], enough


def _proposals(
    one: _Curve, knots: int, heat: float, fall: float, astray: float | None, stream: Stream, count: int
) -> tuple[Floats, Floats | None, Floats]:
    """Proposed curves, shares that lie anywhere, and the log of how much likelier than proposed they are."""
    mean, precision = one.prior
    P = len(mean)
    inverse, _ = dtrtri(np.linalg.cholesky(one.told / heat + precision), lower=1)
    normal = stream.normal(count * P).reshape(count, P)
    uniform, chi = stream.uniform_and(2 * count, "chi", _chi_square)
    scaled = normal / np.sqrt(chi / _FREEDOM)[:, None]
    theta = one.mode + _WIDER * in_pieces(scaled, inverse)
    off = theta - mean
    log_weight = 0.5 * (_FREEDOM + P) * np.log1p(np.square(scaled).sum(axis=1) / _FREEDOM)
    log_weight -= 0.5 * np.einsum("bp,bp->b", in_pieces(off, precision), off)
    _hold_down(theta[:, :knots], one.last, fall)
    share = None
    if astray is not None:
        grid = -astray * np.log1p(-(np.arange(_GRID) + 0.5) / _GRID)
        mode = one.mode[None].copy()
        _hold_down(mode[:, :knots], one.last, fall)
        likely = _log_likelihood(one, in_pieces(mode, one.basis.T), grid) / heat
        q = np.exp(likely - likely.max())
        q = (1.0 - _EITHER_WAY) * q / q.sum() + _EITHER_WAY / _GRID
        place = np.minimum(np.searchsorted(np.cumsum(q), uniform[count:], "right"), _GRID - 1)
        share = grid[place]
        log_weight -= np.log(q[place])
    log_weight += _log_likelihood(one, in_pieces(theta, one.basis.T), share) / heat
    return theta, share, log_weight


def _chi_square(uniform: Floats) -> Floats:
    """Of the first half of some uniform numbers, those of a chi-square of the same ranks."""
    first = np.clip(uniform[: len(uniform) // 2], 1e-12, 1.0 - 1e-12)
    return np.asarray(2.0 * gammaincinv(0.5 * _FREEDOM, first))


def _weights(log_weight: Floats, enough: float) -> tuple[Floats, bool]:
    """Weights that add up to 1, and whether so many draws are effective.

    If not, less uneven ones with which so many are: they lie between what was proposed and the posterior.

    >>> even, enough = _weights(np.zeros(200), 100.0)
    >>> bool(enough), bool(np.allclose(even, 1 / 200))
    (True, True)
    >>> uneven, enough = _weights(np.linspace(0.0, 90.0, 200), 100.0)
    >>> bool(enough), float((1.0 / np.square(uneven).sum()).round(1))
    (False, 100.0)
    """

    def normed(power: float) -> Floats:
        weight = np.exp(power * (log_weight - log_weight.max()))
        return np.asarray(weight / weight.sum())

    weight = normed(1.0)
    if 1.0 / np.square(weight).sum() >= enough:
        return weight, True
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        many = 1.0 / np.square(normed(middle)).sum() >= enough
        low, high = (middle, high) if many else (low, middle)
    return normed(low), False


def _hold_down(knots: Floats, last: int, fall: float) -> None:
    """Knots from the last error on, changed in place: each at least ``fall`` below the one before.

    ``eta_j <= eta_(j-1) - fall``, one after the other, is a running minimum of ``eta_j + j fall``.
    """
    drop = fall * np.arange(knots.shape[1])
    knots[:, last:] = np.minimum.accumulate(knots[:, last:] + drop[last:], axis=1) - drop[last:]


def _log_likelihood(one: _Curve, eta: Floats, share: Floats | None) -> Floats:
    """(B,) log of the chance of the labels, given (B, units) log-odds and (B,) the share that lies anywhere.

    Both may be one for all. With ``r = 1 - (1 - p) (1 - a)``, ``a`` the share astray and ``e`` the odds,
    ``1 - r = (1 - a) / (1 + e)`` and ``r = (e + a) / (1 + e)``, which holds for the smallest rates, too.
    """
    step = max(_AT_ONCE // max(eta.shape[1], 1), 1)
    if len(eta) > step:
        pieces = (slice(begin, begin + step) for begin in range(0, len(eta), step))
        return np.concatenate(
            [_log_likelihood(one, eta[some], None if share is None else share[some]) for some in pieces]
        )
    hit = one.wrong > 0
    if share is None:
        return np.asarray(eta[:, hit] @ one.wrong[hit] - np.logaddexp(0.0, eta) @ one.n)
    astray = np.minimum(share[:, None] * one.others, 1.0 - 1e-9)
    odds = np.exp(np.minimum(eta, FURTHEST))
    whole = 1.0 + odds
    wrong = np.log(np.maximum((odds[:, hit] + astray[:, hit]) / whole[:, hit], 1e-300))
    right = whole / (1.0 - astray)
    return np.asarray(wrong @ one.wrong[hit] - np.log(right, out=right) @ (one.n - one.wrong))
