"""What a label of each group is worth, by task: rewards that rules choose by, larger sooner (Table 1).

``draw`` gives one posterior draw of every group's reward, ``mean`` and ``sd`` what is expected of it. A rule
does not know the task, and a reward does not know the rule.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sondage.beliefs.grouped import comparing
from sondage.beliefs.grouped.gamma import beta
from sondage.beliefs.grouped.rates import Rates
from sondage.streams import Stream
from sondage.types import Floats

_NEAR = 1e-6
"""Gains in certainty that are taken to be the same."""


class Reward(Protocol):
    """(..., G) rewards of the groups."""

    def draw(self, stream: Stream) -> Floats: ...

    @property
    def mean(self) -> Floats: ...

    @property
    def sd(self) -> Floats: ...


@dataclass(frozen=True)
class Rate:
    """Find the group with the lowest rate (``sign=-1``) or the highest (``sign=1``)."""

    rates: Rates
    sign: float = -1.0

    def draw(self, stream: Stream) -> Floats:
        return self.sign * self.rates.one(stream)

    @property
    def mean(self) -> Floats:
        return self.sign * self.rates.mean

    @property
    def sd(self) -> Floats:
        return np.sqrt(self.rates.variance)


def beta_gain(a: Floats, b: Floats, rate: Floats) -> Floats:
    """Variance of a Beta less the variance expected after one more label, right with chance ``rate``.

    With the Beta's own mean it is never negative; with another a surprise may widen it.

    >>> float(beta_gain(np.float64(1.0), np.float64(1.0), np.float64(0.5)).round(4))  # 1/12 - 1/18
    0.0278
    """
    total = a + b
    now = a * b / (np.square(total) * (total + 1.0))
    scale = np.square(total + 1.0) * (total + 2.0)
    return np.asarray(now - rate * (a + 1.0) * b / scale - (1.0 - rate) * a * (b + 1.0) / scale)


@dataclass(frozen=True)
class RateKnown:
    """Know the rate of every group: variance that a label is expected to remove, by (G,) ``weight``.

    ``draw`` expects it by a rate drawn from the posterior, as in the paper; ``mean`` by the expected rate. Of
    finite groups only items not yet seen vary, and a group with few of them left gains little.
    """

    rates: Rates
    weight: Floats

    def _gain(self, rate: Floats) -> Floats:
        a, b = self.rates.beta
        now = a * b / (np.square(a + b) * (a + b + 1.0))
        later = now - beta_gain(a, b, rate)
        # of the rest of a group, (rest + total) rest / size^2 of that counts, and after a label
        # (rest + total) (rest - 1) / size^2
        with np.errstate(divide="ignore", invalid="ignore"):
            unseen, one = self.rates.unseen, 1.0 / self.rates.size
            gain = (unseen + (a + b) * one) * (unseen * now - (unseen - one) * later)
        return np.asarray(self.weight * np.where(self.rates.rest > 0, gain, 0.0))

    def draw(self, stream: Stream) -> Floats:
        return self._gain(beta(*self.rates.beta, stream))

    @property
    def mean(self) -> Floats:
        a, b = self.rates.beta
        return self._gain(a / (a + b))

    @property
    def sd(self) -> Floats:
        return np.zeros(self.mean.shape)


@dataclass(frozen=True)
class PairDecided:
    """Tell which of the ``pair`` of groups is better, or that both are within ``rope`` (section 6).

    The reward of a group is the certainty expected after one more label of it. Groups outside of the pair
    have none. Where both promise nearly the same, the one that varies more goes first.
    """

    rates: Rates
    pair: tuple[int, int]
    rope: float = 0.05

    def certainty(self) -> Floats:
        """(3,) chances that the first is lower, the same or higher."""
        one, other = self.pair
        return comparing.rope(
            comparing.spread(self.rates, one), comparing.spread(self.rates, other), self.rope
        )

    def _after(self, rate: Callable[[int], float]) -> Floats:
        out = np.full(len(self.rates.size), -np.inf)
        now = [comparing.spread(self.rates, group) for group in self.pair]
        for k, group in enumerate(self.pair):
            if self.rates.rest[group] <= 0:
                continue
            sure = 0.0
            for right, chance in ((1.0, rate(group)), (0.0, 1.0 - rate(group))):
                more = np.zeros(len(out))
                more[group] = 1.0
                then = comparing.spread(self.rates.plus(right * more, more), group)
                sides = (then, now[1]) if k == 0 else (now[0], then)
                sure += chance * float(comparing.rope(*sides, self.rope).max())
            out[group] = sure
        first, second = self.pair
        if abs(out[first] - out[second]) < _NEAR:
            wider = first if self.rates.variance[first] >= self.rates.variance[second] else second
            out[wider] = max(out[first], out[second]) + _NEAR
        return out

    def draw(self, stream: Stream) -> Floats:
        a, b = self.rates.beta
        pair = np.array(self.pair)
        drawn: Floats = np.zeros(len(a))
        drawn[pair] = beta(a[pair], b[pair], stream)
        return self._after(lambda group: float(drawn[group]))

    @property
    def mean(self) -> Floats:
        a, b = self.rates.beta
        return self._after(lambda group: float(a[group] / (a + b)[group]))

    @property
    def sd(self) -> Floats:
        return np.zeros(len(self.rates.size))
