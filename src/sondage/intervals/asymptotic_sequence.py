"""Asymptotic sequence: for any smooth measure, an interval that holds at all times at once in the limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sondage.errors import InvalidInput
from sondage.estimators.base import Totals
from sondage.estimators.increments import Increments
from sondage.estimators.linear import GUARD
from sondage.intervals.base import Guarantee, Interval
from sondage.measures.base import Measure
from sondage.streams import Stream
from sondage.types import Floats, is_whole

LEAST_DRAWS = 100
LEAST_TELLING = 20.0
_REFRESH = 1.05
_STEADY = 20.0
"""Increments that the belief of the beginning counts for where the measure is linearised."""


@dataclass(frozen=True)
class AsymptoticSequence(Interval):
    """Confidence sequence of any smooth measure from the increments' influence (Waudby-Smith et al. 2024).

    Before 100 draws, and before 20 labels that the belief did not expect, it is the whole range. ``at`` is
    the number of labels at which it is narrowest. Items that could not be labelled count at their worst. It
    promises less than ``sequence``: a ratio should have that.

    >>> import sondage as sd
    >>> pool, labels = sd.datasets.synthetic_pool(n=2000, prevalence=.3, rng=1)
    >>> study = sd.create_study(pool, "matthews_corrcoef", design="sequential", rng=1)
    >>> for item in study.ask(300):
    ...     study.tell(item.id, labels[item.id])
    >>> study.estimate(interval="asymptotic-sequence").guarantee
    'asymptotic-uniform'
    """

    alias: ClassVar[str] = "asymptotic-sequence"
    needs: ClassVar[frozenset[str]] = frozenset({"increments"})
    guarantee: ClassVar[Guarantee] = "asymptotic-uniform"
    at: int = 500

    def __post_init__(self) -> None:
        if not is_whole(self.at) or self.at < 1:
            raise InvalidInput(f"at= must be a whole number above 0, not {self.at!r}")

    def refuses(self, totals: Totals, measure: Measure | None = None) -> str | None:
        if totals.exact or totals.increments is not None:
            return None
        return (
            f"interval {self.alias!r} needs items drawn one by one, each with a recorded chance for every "
            "item left: use design='auto-audit', 'sequential' or 'uniform'. For a number of labels fixed "
            "beforehand 'logit' serves every design"
        )

    def limits(
        self, totals: Totals, measure: Measure, level: float, sides: int, stream: Stream
    ) -> tuple[Floats, Floats]:
        """Weighted mean of the linearised increments, and the boundary of a Gaussian mixture around it."""
        increments = totals.increments
        assert increments is not None
        least, most = (end.astype(np.float64) for end in measure.range)
        T = len(increments)
        if T < LEAST_DRAWS:
            return least, most
        N = float(increments.size.sum())
        x, J = linearised(increments.z / N, increments.size @ increments.prior.mean / N, measure)
        weight = np.sqrt(np.arange(1.0, T + 1))
        total = weight.sum()
        centre = weight @ x / total
        squares = np.square(weight[:, None] * (x - centre))
        telling = _telling(increments, J)
        believed = np.einsum("md,de,me->m", J, _spread(increments) / N**2, J)
        scale = float(np.square(weight).sum())
        seen = squares.sum(axis=0)
        # Where few draws carry the variance, the belief's counts like GUARD more, but only ever to widen.
        mixed = (telling * seen + GUARD * scale * believed) / (telling + GUARD)
        V = np.maximum(seen, mixed)
        alpha = min(2.0 * (1.0 - level) / sides, 0.999)
        wanted = 2.0 * np.log(1.0 / alpha) + np.log1p(2.0 * np.log(1.0 / alpha))
        planned = np.maximum(believed, 1e-300) * self.at * (self.at + 1) / 2.0
        with np.errstate(all="ignore"):
            rho = wanted / planned
            mixture = V * rho + 1.0
            half = np.sqrt(2.0 * mixture / rho * np.log(np.sqrt(mixture) / alpha)) / total
        less, more = _refused(increments, J, weight / total, N)
        sure = (telling >= LEAST_TELLING) & np.isfinite(half)
        return np.where(sure, centre - half + less, least), np.where(sure, centre + half + more, most)


def linearised(z: Floats, prior: Floats, measure: Measure) -> tuple[Floats, Floats]:
    """(T, m) increments through the derivative at the averages known before each, and the last derivative.

    The averages are those of the increments so far and of a few at what the belief expected; the derivative
    is taken anew whenever there are 5 % more draws, so that it never knows the draw that it is applied to.
    """
    T = len(z)
    before = np.cumsum(z, axis=0) - z
    R = (_STEADY * prior + before) / (_STEADY + np.arange(T))[:, None]
    x = np.empty((T, measure.m))
    begin = 0
    while begin < T:
        end = min(T, max(begin + 1, int(np.ceil(begin * _REFRESH))))
        with np.errstate(all="ignore"):
            value, J = np.asarray(measure.g(R[begin])), measure.jac(R[begin])
            x[begin:end] = value + (z[begin:end] - R[begin]) @ J.T
        begin = end
    # Where there was nothing to divide by yet, draws say nothing: they count as the middle of the range.
    middle = 0.5 * sum(np.where(np.isfinite(end), end, 0.0) for end in measure.range)
    x = np.where(np.isfinite(x), x, middle)
    with np.errstate(all="ignore"):
        J = measure.jac((_STEADY * prior + z.sum(axis=0)) / (_STEADY + T))
    return x, np.nan_to_num(J, nan=0.0, posinf=0.0, neginf=0.0)


def _telling(increments: Increments, J: Floats) -> Floats:
    """(m,) labels that moved a coordinate by at least half of what a label of their cell could."""
    low, high = increments.bounds(J)
    at = np.arange(len(increments)), increments.cell
    moved = np.abs((increments.loss - increments.predictions[at]) @ J.T)
    room = (high - low)[increments.cell]
    told = ~increments.refused[:, None] & (room > 0) & (moved >= 0.5 * room)
    return np.asarray(told.sum(axis=0), dtype=np.float64)


def _spread(increments: Increments) -> Floats:
    """(d, d) variance of the first increment by the belief before any label."""
    mean, second = increments.prior
    variance = second - mean[:, :, None] * mean[:, None, :]
    left, chance = increments.left[0], increments.chance[0]
    return np.asarray(np.einsum("k,kde->de", left / np.where(chance > 0, chance, np.inf), variance))


def _refused(increments: Increments, J: Floats, share: Floats, N: float) -> tuple[Floats, Floats]:
    """(m,) how far items that could not be labelled may move the centre: their own draw, and later sums."""
    which = np.flatnonzero(increments.refused)
    if not len(which):
        return np.zeros(len(J)), np.zeros(len(J))
    low, high = increments.bounds(J)
    cell = increments.cell[which]
    predicted = increments.predictions[which, cell] @ J.T
    later = np.cumsum(share[::-1])[::-1] - share
    weight = (share[which] / increments.p[which] + later[which]) / N
    return weight @ (low[cell] - predicted), weight @ (high[cell] - predicted)
