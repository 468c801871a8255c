"""Empirical likelihood: how far the draws must be re-weighted before a value becomes possible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sondage.estimators.base import Totals
from sondage.estimators.linear import GUARD, linearise
from sondage.intervals.base import Interval
from sondage.intervals.wald import student
from sondage.measures.base import Measure
from sondage.streams import Stream
from sondage.types import Floats

_FAR = 1e6
_STEPS = 60
_CLOSE = 1e-12
_ROUNDING = 1e-9


@dataclass(frozen=True)
class EmpiricalLikelihood(Interval):
    """All values of a ratio that some mild re-weighting of the draws makes true (Owen 1988, 2001).

    For ``g = num R / den R`` and a value ``v``, draw t adds ``x_t = parts_t (num - v den)`` to the
    estimating function ``U = R (num - v den)``, which is zero at the true value. With weights ``r_t``
    around 1 the statistic is ::

        W(v) = 2 min sum (r_t - 1 - log r_t)   where   sum (r_t - 1) x_t = -U

    and the interval holds the values with ``W(v)`` up to the squared t quantile. Where the contributions
    add up to U the weights add up to their number, and W is Owen's ratio for independent draws and that
    of Berger and De La Riva Torres (2016) for unequal inclusion chances: a part taken with certainty adds
    nothing to ``parts``. Contributions that are deviations from a mean get the mean back first. So one
    form serves every kind of sample, because ``parts`` carry the design's variance.

    The interval is as skewed as the draws are, stays inside the range by itself, and that of a
    transformed ratio is the transformed interval. Variance that no draw has shown (the belief's guard,
    the pool as a sample of a population) counts as ``GUARD`` further draws of both signs: where no event
    was seen, they alone make the width.
    """

    alias: ClassVar[str] = "empirical-likelihood"

    def refuses(self, totals: Totals, measure: Measure | None = None) -> str | None:
        if measure is not None and measure.ratio is None:
            return (
                f"interval {self.alias!r} is for one ratio of averages (accuracy, precision, recall, f1, a "
                f"plain mean), not for {', '.join(measure.names)}. Use 'logit', 't' or 'bootstrap', or ask "
                "for one measure at a time"
            )
        return None

    def limits(
        self, totals: Totals, measure: Measure, level: float, sides: int, stream: Stream
    ) -> tuple[Floats, Floats]:
        assert measure.ratio is not None
        linear = linearise(totals, measure)
        value, error = float(linear.value[0]), float(linear.std_error[0])
        if not error > 0:
            return linear.value, linear.value
        moves, shares = _draws(totals, measure.ratio[1], linear.parts[:, 0], float(linear.widening[0]))
        quantile = float(linear.own_quantile(student(totals, (1 - level) / sides), totals.df)[0])
        least, most = (float(end[0]) for end in measure.range)
        low = value - _reach(moves, shares, quantile, error, value - least)
        high = value + _reach(-moves, shares, quantile, error, most - value)
        return np.array([low]), np.array([high])


def _draws(totals: Totals, den: Floats, moves: Floats, widening: float) -> tuple[Floats, Floats]:
    """Contribution of every draw to the value, and its share in the denominator.

    Divided by ``den R`` the contribution at a distance ``s`` below the value is ``move + s * share``, and U
    is ``s``. Deviations have shares that add up to 0; what is missing to 1 is spread over all draws.
    """
    below = float(totals.R @ den)
    shown = totals.shown
    shares = totals.parts @ den / below
    active = shown & ((np.abs(moves) > _CLOSE * np.abs(moves).max(initial=0.0)) | (np.abs(shares) > _CLOSE))
    hidden = widening + float(np.square(moves[~shown]).sum())
    moves, shares = moves[active], shares[active]
    if len(shares):
        shares = shares + (1.0 - shares.sum()) / len(shares)
    if hidden > 0:
        signs = np.where(np.arange(int(GUARD)) % 2, -1.0, 1.0)
        moves = np.concatenate([moves, signs * np.sqrt(hidden / len(signs))])
        shares = np.concatenate([shares, np.zeros(len(signs))])
    return moves, shares


def _reach(moves: Floats, shares: Floats, quantile: float, error: float, room: float) -> float:
    """Distance from the value at which the root of the statistic is the quantile; at most the room."""
    from scipy.optimize import brentq

    def beyond(distance: float) -> float:
        return min(float(np.sqrt(statistic(moves + distance * shares, distance))), _FAR) - quantile

    if room <= 0:  # the value is at the end of the range, or beyond it
        return 0.0
    near, far = 0.0, quantile * error
    for _ in range(_STEPS):
        if far >= room:
            far = room
            break
        if beyond(far) > 0:
            break
        near, far = far, 1.5 * far
    if beyond(far) <= 0:
        return far
    return float(brentq(beyond, near, far, xtol=1e-12 * error, rtol=1e-14))


def statistic(x: Floats, U: float) -> float:
    """``2 min sum (r - 1 - log r)`` over ``r > 0`` with ``sum (r - 1) x = -U``; infinite if there are none.

    By the method of Lagrange ``r = 1 / (1 + mu x)``, with ``mu`` the root of an increasing function.

    >>> round(statistic(np.array([-0.1, 0.2, 0.3]), 0.4), 4)  # -2 log R of the mean 0 for -.1, .2, .3
    1.8387
    """
    if U == 0:
        return 0.0
    unit = float(np.abs(x).max(initial=0.0)) * np.sign(U)
    if unit == 0:
        return np.inf
    x, U = x / unit, U / unit
    most = float(-x.min())
    if most <= 0 and x.sum() <= U * (1 + _ROUNDING):
        return np.inf
    low, high = 0.0, 1.0 / most if most > 0 else np.inf
    mu = min(U / float(np.square(x).sum()), 0.5 * high)
    for _ in range(_STEPS):
        ratio = x / (1.0 + mu * x)
        gap = mu * float((ratio * x).sum()) - U
        low, high = (mu, high) if gap < 0 else (low, mu)
        step = mu - gap / float(np.square(ratio).sum())
        if not low < step < high:
            step = 0.5 * (low + high) if np.isfinite(high) else 2.0 * mu
        if abs(step - mu) <= 1e-11 * mu:
            break
        mu = step
    scaled = mu * x
    return float(2 * (np.log1p(scaled) - scaled / (1.0 + scaled)).sum())
