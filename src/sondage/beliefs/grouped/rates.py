"""How often groups are right: a Beta before their labels, what the labels show, and the items still unseen.

Arrays end in the axis of the groups. Axes before it are studies of their own, so that a simulation runs many
at once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sondage.beliefs.grouped.gamma import beta
from sondage.binomial import binomial
from sondage.streams import Stream
from sondage.types import Floats

_LEAST = 1e-6
"""Pseudo-labels of a Beta that is as good as two points, at 0 and at 1."""
_SOME = 1e-12


@dataclass(frozen=True)
class Rates:
    """``a`` right and ``b`` wrong pseudo-labels; ``right`` of ``n`` labels are right, of ``size`` items.

    The rates are those of the finite groups: labels are known, and a group labelled to its end does not vary.
    With ``size=np.inf`` they are those of a population, as in the paper (Ji et al. 2021, section 2.1).

    >>> rates = Rates(np.array([1.0, 1.0]), np.array([1.0, 1.0]), np.array([3.0, 3.0]), np.array([4.0, 4.0]),
    ...     np.array([4.0, 100.0]))
    >>> rates.mean.round(3).tolist(), rates.variance.round(3).tolist()
    ([0.75, 0.67], [0.0, 0.031])
    """

    a: Floats
    b: Floats
    right: Floats
    n: Floats
    size: Floats

    @property
    def beta(self) -> tuple[Floats, Floats]:
        """Pseudo-labels and labels, right and wrong: the Beta of the rate among items not yet seen."""
        return self.a + self.right, self.b + (self.n - self.right)

    @property
    def rest(self) -> Floats:
        """Items not yet labelled."""
        return np.asarray(self.size - self.n)

    @property
    def unseen(self) -> Floats:
        """Share of a group that is not yet labelled; nan for a group without items."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(np.isinf(self.size), 1.0, self.rest / self.size)

    @property
    def seen(self) -> Floats:
        """Share of a group that is known to be right; nan for a group without items."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self.right / self.size)

    @property
    def mean(self) -> Floats:
        """Expected rate of every group."""
        a, b = self.beta
        return np.asarray(self.seen + self.unseen * a / (a + b))

    @property
    def variance(self) -> Floats:
        """Variance of the rate of every group: that of a beta-binomial number over the items not yet seen."""
        a, b = self.beta
        total = a + b
        with np.errstate(invalid="ignore", divide="ignore"):
            # rest (rest + total) / size^2, written so that it is 1 for a population
            grown = np.square(self.unseen) + self.unseen * total / self.size
        return np.asarray(grown * a * b / (np.square(total) * (total + 1.0)))

    def plus(self, right: Floats, n: Floats) -> Rates:
        """With more labels."""
        return replace(self, right=self.right + right, n=self.n + n)

    def one(self, stream: Stream) -> Floats:
        """A rate of every group, drawn from its posterior in a fifth of a millisecond for 1,000 groups.

        The number of right predictions among unseen items is beta-binomial; a Beta number with its mean, its
        variance and its ends stands for it here. ``drawn`` is exact.
        """
        return np.asarray(self.seen + self.unseen * beta(*self.matched, stream))

    @property
    def matched(self) -> tuple[Floats, Floats]:
        """The Beta with mean, variance and ends of the share of right predictions among unseen items."""
        a, b = self.beta
        a, b, rest = np.broadcast_arrays(a, b, self.rest)
        total = a + b
        with np.errstate(divide="ignore", invalid="ignore"):
            worth = (total + 1.0) / (total / rest + 1.0) - 1.0
            worth = np.where(rest > 0, np.maximum(worth, _LEAST), 1.0) / total
        return np.maximum(worth * a, _SOME), np.maximum(worth * b, _SOME)

    def drawn(self, stream: Stream, count: int) -> Floats:
        """(count, ..., G) right predictions among all items of finite groups, from the exact posterior."""
        a, b = (np.broadcast_to(one, (count, *one.shape)) for one in self.beta)
        rate = beta(a, b, stream)
        rest = np.broadcast_to(self.rest, rate.shape)
        uniform = stream.uniform(rate.size).reshape(rate.shape)
        return np.asarray(self.right + np.where(rest > 0, binomial(uniform, rest, rate), 0.0))
