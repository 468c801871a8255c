"""Ends inside a bounded range: longer on the side where there is room and where more may hide."""

from __future__ import annotations

import numpy as np
from scipy.special import betaincinv, ndtr, ndtri

from sondage.estimators.linear import Linear
from sondage.measures.base import Measure
from sondage.types import Bools, Floats

_TAIL = 1e-30
"""Smaller tails change no end, and have no quantiles that can be computed."""
_SPIKE = 1e13
"""Beta distributions with larger shapes are normal to all digits, and ``betaincinv`` no longer finds them."""


def skewed(linear: Linear, measure: Measure, quantile: float | Floats) -> tuple[Floats, Floats]:
    """(m,) ends that lie as far off as a normal variable has its ``quantile``; symmetric without bounds.

    On a bounded range they are quantiles of Beta distributions, one for each side. An end of the range that
    no label has ruled out is not ruled out by a shape either: as far as it is within reach of the plain
    interval it belongs to this one. (An estimate that leans on predictions is below 1 without any error.)
    """
    below, above = linear.arms
    value, (least, most) = linear.value, measure.range
    low, high = value - quantile * below, value + quantile * above
    with np.errstate(all="ignore"):
        width = most - least
        share = np.clip((value - least) / width, 0.0, 1.0)
        tail = np.maximum(ndtr(-np.asarray(quantile)), _TAIL)
        lower = least + width * beta_low(share, np.square(below / width), tail)
        upper = most - width * beta_low(1.0 - share, np.square(above / width), tail)
    bounded = np.isfinite(width)
    lower = np.where(linear.risen | (share > 0.5), lower, np.minimum(lower, low))
    upper = np.where(linear.fallen | (share < 0.5), upper, np.maximum(upper, high))
    low, high = np.where(bounded, lower, low), np.where(bounded, upper, high)
    return np.where(below > 0, low, value), np.where(above > 0, high, value)


def beta_low(v: Floats, s2: Floats, tail: Floats | float) -> Floats:
    """The quantile ``tail`` of values in [0, 1] with means ``v`` and variances ``s2``.

    ``Beta(v nu, (1 - v) nu)`` with ``nu = v (1 - v) / s2 - 1`` has these moments. Nearer to an end than about
    a standard error it would pile up there, and be *narrower* the less is known. There the shape at that
    end is held at 1, and the mean square distance from the end stays that of value and variance; a variance
    beyond that of the uniform distribution makes it this one.

    >>> beta_low(np.array([0.5, 0.97, 0.03]), np.array([0.01, 0.01, 0.01]), 0.025).round(3).tolist()
    [0.306, 0.736, 0.0]
    """
    v, s2 = np.asarray(v, dtype=np.float64), np.asarray(s2, dtype=np.float64)
    with np.errstate(all="ignore"):
        nu = v * (1.0 - v) / s2 - 1.0
        a, b = v * nu, (1.0 - v) * nu
        inside = betaincinv(np.maximum(a, 1.0), np.maximum(b, 1.0), tail)
        # Beta(1, b) has the mean square 2 / ((b + 1)(b + 2)), and its quantiles have a closed form.
        away = np.maximum(0.5 * (np.sqrt(1.0 + 8.0 / (np.square(1.0 - v) + s2)) - 3.0), 1.0)
        held = np.where(v > 0.5, np.exp(np.log(tail) / away), 0.0)
        inside = np.where(nu > _SPIKE, v + ndtri(tail) * np.sqrt(s2), inside)
    return np.where(np.minimum(a, b) >= 1.0, inside, held)


def matched(v: Floats, s2: Floats) -> Bools:
    """Whether a value is inside [0, 1], and further than about a standard error from both ends."""
    near = np.minimum(v, 1.0 - v)
    with np.errstate(all="ignore"):
        return np.asarray((near > 0.0) & (near * (v * (1.0 - v) / s2 - 1.0) >= 1.0))
