"""Binomial numbers from uniform ones, by inverting the distribution: the same on every machine."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from sondage.types import Floats

_FEW = 25.0
"""Expected number up to which the distribution is summed up; beyond, it is close to normal."""
_NEVER = 1e-18
"""Chance too small to be told from rounding; that of none at all is above it where few are expected."""
_WORTH = 0.6
"""Share still open below which it is worth while to set the others aside."""


def binomial(uniform: Floats, n: Floats, p: Floats) -> Floats:
    """How many of ``n`` come up with chance ``p`` each: the quantiles of ``uniform``.

    Exact where few are expected (or few are expected not to); otherwise the Cornish-Fisher expansion to the
    term in the skewness, whose error is far below one.

    >>> binomial(np.array([0.1, 0.5, 0.9]), np.full(3, 10.0), np.full(3, 0.3)).tolist()
    [1.0, 3.0, 5.0]
    >>> binomial(np.array([0.1, 0.5, 0.9]), np.full(3, 1000.0), np.full(3, 0.3)).tolist()
    [281.0, 300.0, 319.0]
    """
    uniform, n, p = np.broadcast_arrays(uniform, n, p)
    flip = p > 0.5
    p, uniform = np.minimum(p, 1.0 - p), np.where(flip, 1.0 - uniform - 2.0**-54, uniform)
    many = n * p > _FEW
    out = _summed(uniform, n, np.where(many, 0.0, p))
    if many.any():
        out[many] = _expanded(uniform[many], n[many], p[many])
    return np.asarray(np.where(flip, n - out, out))


def _summed(uniform: Floats, n: Floats, p: Floats) -> Floats:
    """The least k at which the distribution exceeds ``uniform``."""
    out = np.zeros(n.size)
    none = np.exp(n * np.log1p(-p))
    open_ = np.flatnonzero(uniform >= none)
    uniform, trials, p, mass = (one.ravel()[open_] for one in (uniform, n, p, none))
    odds, short = p / (1.0 - p), uniform - mass
    most = (trials + 1.0) * odds
    found, k = np.ones(len(open_)), 0
    while len(open_):
        k += 1
        mass *= most / k - odds  # (n - k + 1) / k times the odds
        short -= mass
        further = (short >= 0) & (mass > _NEVER)
        found += further
        if np.count_nonzero(further) < _WORTH * len(open_):
            out[open_] = found
            stay = np.flatnonzero(further)
            open_, found, mass = open_[stay], found[stay], mass[stay]
            odds, short, most = odds[stay], short[stay], most[stay]
    return np.minimum(out.reshape(n.shape), n)


def _expanded(uniform: Floats, n: Floats, p: Floats) -> Floats:
    """Quantiles of a normal variable bent by the skewness (Cornish and Fisher 1938)."""
    z = ndtri(np.clip(uniform, 2.0**-54, 1.0 - 2.0**-53))
    deviation = np.sqrt(n * p * (1.0 - p))
    value = n * p + deviation * z + (1.0 - 2.0 * p) * (np.square(z) - 1.0) / 6.0
    return np.clip(np.rint(value), 0.0, n)
