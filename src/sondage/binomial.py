"""Binomial numbers from uniform ones, and sums of them, by inverting the distribution."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from sondage.types import Floats, Ints

_FEW = 25.0
"""Expected number up to which the distribution is summed; beyond, it is close to normal."""
_NEVER = 1e-18
"""A chance lost in rounding. Where few are expected, the chance of none is larger."""
_ROUNDING = 1e-12
"""Share of a number of trials that is rounding error."""
_WORTH = 0.6
"""Finished entries are set aside once less than this share is still open."""
_TERMS = 4
"""Terms added between two checks of how many are still open, once most are not."""


def binomial(uniform: Floats, n: Floats, p: Floats, normal: Floats | None = None) -> Floats:
    """The binomial quantiles of ``uniform``: how many of ``n`` come up, each with chance ``p``.

    Exact where few are expected (or few are expected not to); otherwise the Cornish-Fisher expansion to the
    term in the skewness, whose error is far below one. ``normal``: the normal quantiles of ``uniform``
    (see ``Stream.uniform_and_normal``), where they are known already.

    >>> binomial(np.array([0.1, 0.5, 0.9]), np.full(3, 10.0), np.full(3, 0.3)).tolist()
    [1.0, 3.0, 5.0]
    >>> binomial(np.array([0.1, 0.5, 0.9]), np.full(3, 1000.0), np.full(3, 0.3)).tolist()
    [281.0, 300.0, 319.0]
    """
    uniform, n, p = np.broadcast_arrays(uniform, n, p)
    shape = n.shape
    uniform, n, p = uniform.ravel(), n.ravel(), p.ravel()
    rarer = np.minimum(p, 1.0 - p)
    is_many = n * rarer > _FEW
    out = np.empty(n.size)
    many, few = np.flatnonzero(is_many), np.flatnonzero(~is_many)
    if len(many):
        u = uniform[many]
        z = ndtri(np.clip(u, 2.0**-54, 1.0 - 2.0**-53)) if normal is None else normal.ravel()[many]
        out[many] = _expanded(z, n[many], p[many])
    if len(few):
        u, trials, flip = uniform[few], n[few], p[few] > 0.5
        found = _summed(np.where(flip, 1.0 - u - 2.0**-54, u), trials, rarer[few])
        out[few] = np.where(flip, trials - found, found)
    return out.reshape(shape)


def sum_of_binomials(uniform: Floats, mean: Floats, square: Floats, normal: Floats | None = None) -> Floats:
    """Quantiles of how many come up in all, of many with chances of their own.

    ``mean`` is the sum of the chances and ``square`` that of their squares. The binomial number with the same
    mean and variance stands for the sum: it is the sum itself where all chances above 0 are equal, and close
    to it otherwise (tests/test_binomial.py compares it with convolutions). As its trials are a whole number,
    its variance may be greater, by less than 1.

    >>> p = np.array([0.5, 0.5, 0.5, 0.5, 0.0])
    >>> sum_of_binomials(np.array([0.05, 0.5, 0.95]), p.sum(), np.square(p).sum()).tolist()
    [0.0, 2.0, 4.0]
    """
    trials = np.divide(np.square(mean), square, out=np.zeros(np.shape(mean)), where=np.greater(square, 0.0))
    trials = np.ceil(trials * (1.0 - _ROUNDING))
    chance = np.divide(mean, trials, out=np.zeros(np.shape(mean)), where=trials > 0)
    return binomial(uniform, trials, np.minimum(chance, 1.0), normal)


def _summed(uniform: Floats, n: Floats, p: Floats) -> Floats:
    """The least k at which the distribution exceeds ``uniform``."""
    out = np.zeros(n.size)
    none = np.exp(n * np.log1p(-p))
    open_: Ints = np.flatnonzero(uniform >= none)
    uniform, trials, p, mass = (one[open_] for one in (uniform, n, p, none))
    odds, short = p / (1.0 - p), uniform - mass
    most = (trials + 1.0) * odds
    term, further = np.empty(len(open_)), np.empty(len(open_), dtype=bool)
    found, k = np.ones(len(open_), dtype=np.uint8), 0
    while len(open_):
        for _ in range(1 if k < _TERMS else _TERMS):
            k += 1
            np.divide(most, k, out=term)
            term -= odds
            mass *= term  # (n - k + 1) / k times the odds
            short -= mass
            np.greater_equal(short, 0.0, out=further)
            found += further.view(np.uint8)
        further &= mass > _NEVER
        if np.count_nonzero(further) < _WORTH * len(open_):
            out[open_] = found
            stay = np.flatnonzero(further)
            open_, found, mass = open_[stay], found[stay], mass[stay]
            odds, short, most = odds[stay], short[stay], most[stay]
            term, further = term[: len(stay)], further[: len(stay)]
    return np.minimum(out, n)


def _expanded(z: Floats, n: Floats, p: Floats) -> Floats:
    """Quantiles of a normal variable bent by the skewness (Cornish and Fisher 1938)."""
    mean, skew = n * p, 1.0 - 2.0 * p
    value = mean + np.sqrt(mean * (1.0 - p)) * z + skew * (np.square(z) - 1.0) / 6.0
    return np.clip(np.rint(value), 0.0, n)
