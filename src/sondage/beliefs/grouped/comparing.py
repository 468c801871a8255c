"""Two groups compared: chances to be better, worse or practically the same, by sums and not simulation."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import betainc, betaln, gammaln, xlog1py, xlogy

from sondage.beliefs.grouped.rates import Rates
from sondage.types import Floats

_EXACT = 4_000
"""Unseen items up to which every number of right predictions has a chance of its own."""
_POINTS = 2_001
_ROUNDING = 1e-9


class Spread(NamedTuple):
    """Values in order, and the chance of each."""

    value: Floats
    chance: Floats

    def below(self, x: Floats) -> Floats:
        """Chance of a value below ``x``, one that equals it counted half."""
        total = np.concatenate([[0.0], np.cumsum(self.chance)])
        low = np.searchsorted(self.value, x - _ROUNDING)
        high = np.searchsorted(self.value, x + _ROUNDING)
        return np.asarray((total[low] + total[high]) / 2.0)

    def quantile(self, level: Floats) -> Floats:
        """The least value with at least the chance ``level`` at or below it."""
        total = np.cumsum(self.chance)
        place = np.searchsorted(total, np.asarray(level) * total[-1] - 1e-12)
        return np.asarray(self.value[np.minimum(place, len(total) - 1)])


def spread(rates: Rates, group: int) -> Spread:
    """The posterior of one group's rate, in full: a beta-binomial number over its unseen items.

    Of more than 4,000 unseen items it is the Beta with the same mean, variance and ends, in 2,001 steps.

    >>> rates = Rates(np.ones(1), np.ones(1), np.ones(1), np.ones(1), np.array([3.0]))
    >>> found = spread(rates, 0)
    >>> found.value.round(3).tolist(), found.chance.round(3).tolist()
    ([0.333, 0.667, 1.0], [0.167, 0.333, 0.5])
    """
    a, b = (float(one[group]) for one in rates.beta)
    rest, size, right = (float(one[group]) for one in (rates.rest, rates.size, rates.right))
    if rest <= _EXACT:
        k = np.arange(rest + 1.0)
        log = betaln(a + k, b + rest - k) - betaln(a, b) - gammaln(k + 1.0) - gammaln(rest - k + 1.0)
        chance = np.exp(log + gammaln(rest + 1.0))
        return Spread((right + k) / size, chance / chance.sum())
    a, b = (float(one[group]) for one in rates.matched)
    edge = _edges(a, b)
    total = betainc(a, b, edge)
    mass = np.diff(total)
    # the mean of the Beta inside of a step, so that the steps have its mean: F(x; a + 1, b) is less by
    inside = np.exp(xlogy(a, edge) + xlog1py(b, -edge) - betaln(a, b)) / a
    inner = np.diff(total - inside) * a / (a + b)
    middle = np.divide(inner, mass, out=(edge[1:] + edge[:-1]) / 2.0, where=mass > 1e-15)
    middle = np.clip(middle, edge[:-1], edge[1:])
    return Spread(float(rates.seen[group]) + float(rates.unseen[group]) * middle, mass / mass.sum())


def _edges(a: float, b: float) -> Floats:
    """Ends of steps: even where the Beta has nearly all of its mass, and one step to each end."""
    mean = a / (a + b)
    sd = np.sqrt(mean * (1.0 - mean) / (a + b + 1.0))
    low, high = max(mean - 9.0 * sd, 0.0), min(mean + 9.0 * sd, 1.0)
    return np.unique(np.concatenate([[0.0], np.linspace(low, high, _POINTS), [1.0]]))


def rope(one: Spread, other: Spread, width: float) -> Floats:
    """(3,) chance that ``one`` is lower by more than ``width``, within it, and higher by more (section 6).

    >>> sure = Spread(np.array([0.8]), np.ones(1))
    >>> rope(sure, Spread(np.array([0.84, 0.9]), np.array([0.25, 0.75])), 0.05).tolist()
    [0.75, 0.25, 0.0]
    """
    total = np.concatenate([[0.0], np.cumsum(other.chance)])
    total /= total[-1]
    lower = 1.0 - total[np.searchsorted(other.value, one.value + width + _ROUNDING)]
    higher = total[np.searchsorted(other.value, one.value - width - _ROUNDING)]
    low, high = float(one.chance @ lower), float(one.chance @ higher)
    return np.array([low, max(1.0 - low - high, 0.0), high])


def below(one: Spread, other: Spread) -> float:
    """Chance that ``one`` is lower than ``other``; where they are equal it counts half."""
    return float(1.0 - one.chance @ other.below(one.value))


def pairs_below(rates: Rates) -> Floats:
    """(G, G) chance that the group of the row is lower than that of the column, ½ on the diagonal.

    >>> one = np.ones(2)
    >>> rates = Rates(one, one, np.array([1.0, 9.0]), np.array([10.0, 10.0]), np.array([10.0, 50.0]))
    >>> pairs_below(rates).round(3).tolist()
    [[0.5, 1.0], [0.0, 0.5]]
    """
    spreads = [spread(rates, group) for group in range(len(rates.size))]
    out = np.full((len(spreads), len(spreads)), 0.5)
    for i, one in enumerate(spreads):
        for j in range(i + 1, len(spreads)):
            out[i, j] = below(one, spreads[j])
            out[j, i] = 1.0 - out[i, j]
    return out
