"""Gamma, Beta and Dirichlet numbers from a stream, many at once and for parameters however small."""

from __future__ import annotations

import numpy as np

from sondage.arithmetic import shares_of
from sondage.streams import Stream
from sondage.types import Floats

_LEAST = 2.0**-54
"""Added to uniform numbers, so that their logarithm is finite."""


def log_gamma(shape: Floats, stream: Stream) -> Floats:
    """Logarithms of Gamma numbers, one of every ``shape`` (> 0): the numbers themselves may be too small.

    Marsaglia and Tsang (2000): the cube of a normal number bent a little is accepted 95 times of 100,
    and the others are drawn again. A shape below 1 is that of 1 more, times ``U ** (1 / shape)``.

    >>> from sondage.streams import stream
    >>> found = log_gamma(np.full(9, 1e-4), stream(1, "belief"))
    >>> bool(np.isfinite(found).all()), bool(found.min() < -10_000)
    (True, True)
    """
    flat = np.ascontiguousarray(shape, dtype=np.float64).ravel()
    low = np.flatnonzero(flat < 1.0)
    d = flat - 1.0 / 3.0
    d[low] += 1.0
    c = 1.0 / (3.0 * np.sqrt(d))
    out = np.empty(len(flat))
    left = np.arange(len(flat))
    while len(left):
        z = stream.normal(len(left))
        log_u = np.log(stream.uniform(len(left)) + _LEAST)
        cube = 1.0 + c * z
        fits = cube > 0.0
        cube = np.where(fits, cube, 1.0)
        log_v = 3.0 * np.log(cube)
        fits &= log_u < 0.5 * z * z + d * (1.0 - cube * cube * cube + log_v)
        out[left[fits]] = (np.log(d) + log_v)[fits]
        again = np.flatnonzero(~fits)
        left, c, d = left[again], c[again], d[again]
    if len(low):
        out[low] += np.log(stream.uniform(len(low)) + _LEAST) / flat[low]
    return out.reshape(np.shape(shape))


def beta(a: Floats, b: Floats, stream: Stream) -> Floats:
    """Beta numbers, one for every pair of ``a`` and ``b``: a fifth of the time of inverting the distribution.

    >>> from sondage.streams import stream
    >>> found = beta(np.full(20_000, 3.0), np.full(20_000, 1.0), stream(1, "belief"))
    >>> bool(abs(found.mean() - 0.75) < 0.005)
    True
    """
    a, b = np.broadcast_arrays(a, b)
    both = log_gamma(np.stack([a, b]), stream)
    with np.errstate(over="ignore"):
        return np.asarray(1.0 / (1.0 + np.exp(both[1] - both[0])))


def dirichlet(alpha: Floats, stream: Stream) -> Floats:
    """Shares that add up to one along the last axis; an ``alpha`` of 0 always has a share of 0.

    >>> from sondage.streams import stream
    >>> found = dirichlet(np.array([1e-5, 1e-5, 0.0]), stream(1, "belief"))
    >>> float(found.sum()), float(found[2])  # dividing Gamma numbers would have been 0 / 0
    (1.0, 0.0)
    """
    some = alpha > 0
    logs = np.full(alpha.shape, -np.inf)
    logs[some] = log_gamma(alpha[some], stream)
    top = logs.max(axis=-1, keepdims=True)
    return shares_of(np.exp(logs - np.where(np.isfinite(top), top, 0.0)))
