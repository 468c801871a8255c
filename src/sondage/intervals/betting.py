"""Betting: e-processes for the total of a functional that is affine in a parameter c, and for two systems.

Of ``u(c) = (first + c * second) @ l`` with total ``U(c)`` over the pool, and increments ``Z_t(c)`` with mean
``U(c)`` given the past (see ``estimators/increments.py``),

    K+_t = prod (1 + bet_s Z_s)   and   K-_t = prod (1 - bet_s Z_s)

are non-negative supermartingales where ``U(c) <= 0`` and where ``U(c) >= 0``, if each bet is at least 0, is
fixed before its draw, and leaves a tenth of the stake at the worst ``Z``. So K+ ever reaches ``1 / a`` with
chance at most ``a`` where ``U(c) <= 0`` (Ville 1939). Any such bet is valid; ours is the mean of Z over its
mean square by the labels before, which nearly gives the fastest growth (Waudby-Smith and Ramdas 2024).

Two systems and a ratio: "A is at most B + margin" means that at the value ``c`` of B both
``theta_A <= c + margin`` and ``theta_B >= c`` hold. At that c, for any ``k >= 0``,

    u(c) = (num_A - (c + margin) den_A) @ l  -  k (num_B - c den_B) @ l

has a total of at most 0. So an e-process against that is valid at one c, which nobody knows: the least over
all c is, without any correction, because the true c is one of them. The c are taken in cells with one bet
each: log capital is then a sum of logarithms of affine functions, concave in c, and its least value in a
cell is at an end.

With ``k = 1`` and F, items on which the systems agree play no part; but if U(c) changes its sign in [0, 1]
nothing can come of it. So a tenth of the stake each is on ``theta_A <= c + margin`` alone and on
``theta_B >= c`` alone, which decide for c far from the truth.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import logsumexp

from sondage.estimators.increments import STRENGTH, Increments
from sondage.types import Bools, Floats

STAKE = 0.9
"""The share of the capital that one draw may cost."""
BLOCK = 64
"""Draws that are worked out at once."""
_MOST = 1e4
"""Growth by one draw is cut there, so that a block's product stays a finite number; less is always valid."""
_TINY = 1e-300
_SETTLED = 50.0
_SHARES = np.array([0.8, 0.1, 0.1])
"""Stakes in a comparison of two systems: on both claims together, and on each alone."""


class Walk:
    """Log capital of both e-processes at every ``c``, now and at its greatest, as draws are added."""

    knots = 9

    def __init__(self, increments: Increments, first: Floats, second: Floats, points: Floats) -> None:
        self.points = points
        self._functional = np.stack([first, second])
        self._knots = np.linspace(points[0], points[-1], self.knots)
        self._between = chords(self._knots, points)
        # The least value over labels is concave in c, the greatest convex: chords lie on the safe side.
        self._least, self._most = increments.bounds(first + self._knots[:, None] * second)
        mean, second_moment = increments.prior
        F = self._functional
        self._mean = STRENGTH * F @ mean.T
        square = STRENGTH * np.einsum("kde,ad,be->abk", second_moment, F, F)
        self._square = square[[0, 0, 1], [0, 1, 1]]
        self._weight = np.full(len(mean), STRENGTH)
        self._refused = np.zeros(len(mean))
        self._labelled = np.zeros(2)
        self.draws = 0
        self.plus, self.minus = np.zeros(len(points)), np.zeros(len(points))
        self.greatest_plus, self.greatest_minus = np.zeros(len(points)), np.zeros(len(points))

    def advance(self, increments: Increments, to: int | None = None) -> Walk:
        """Go on to a draw, by default the last; what was passed before must not have changed."""
        end = len(increments) if to is None else to
        while self.draws < end:
            stop = min(self.draws + BLOCK, end)
            self._block(increments, slice(self.draws, stop))
            self.draws = stop
        return self

    def _block(self, increments: Increments, block: slice) -> None:
        cell, p = increments.cell[block], increments.p[block, None]
        left, chance = increments.left[block], increments.chance[block]
        value, refused = increments.loss[block] @ self._functional.T, increments.refused[block]
        draw = np.arange(len(cell))
        K = len(self._weight)

        # Sums over the labels before each draw, (6, draws, cells): how many, their two values, the products.
        told = np.zeros((6, len(cell), K))
        a, b = value.T
        told[:, draw, cell] = np.stack([~refused, a, b, a * a, a * b, b * b])
        before = np.cumsum(told, axis=1)
        after = before[:, -1].copy()
        before -= told
        weight = self._weight + before[0]
        mean = (self._mean[:, None] + before[1:3]) / weight
        square = (self._square[:, None] + before[3:]) / weight
        variance = square - mean[[0, 0, 1]] * mean[[0, 1, 1]]

        there = left > 0
        labelled = self._labelled + np.cumsum(value, axis=0) - value
        base = labelled + (left * mean).sum(axis=2).T
        over = there / np.where(there, chance, 1.0)
        spread = (left * over * variance).sum(axis=2).T
        step = (value - mean[:, draw, cell].T) / p

        predicted = mean[0] + mean[1] * self._knots[:, None, None]
        # A prediction lies between the extremes: no cell's least residual is above 0, and none left counts 0.
        down = ((self._least.T[:, None] - predicted) * over).min(axis=2).T
        up = ((self._most.T[:, None] - predicted) * over).max(axis=2).T

        # A c that is settled beyond any level that anybody asks for stops betting.
        use = np.maximum(self.greatest_plus, self.greatest_minus) < _SETTLED
        c, between = self.points[use], self._between[:, use]
        centre = base[:, :1] + base[:, 1:] * c
        Z = centre + step[:, :1] + step[:, 1:] * c
        noise = spread[:, :1] + (2.0 * spread[:, 1:2] + spread[:, 2:] * c) * c
        low, high, Z_low, Z_high = centre, centre, Z, Z
        if refused.any() or self._refused.any():
            # What could not be labelled is least for K+ and greatest for K-, then and in all later sums.
            drawn = np.zeros((len(cell), K))
            drawn[draw, cell] = refused
            count = self._refused + np.cumsum(drawn, axis=0) - drawn
            less, more = (count @ self._least) @ between, (count @ self._most) @ between
            low, high = centre + less, centre + more
            expected = predicted[:, draw, cell].T
            at_least = ((self._least[cell] - expected) / p) @ between
            at_most = ((self._most[cell] - expected) / p) @ between
            Z_low = np.where(refused[:, None], low + at_least, Z + less)
            Z_high = np.where(refused[:, None], high + at_most, Z + more)
            self._refused = count[-1] + drawn[-1]
        noise = np.maximum(noise, 0.0)
        self._bet(use, low, noise, Z_low, low + down @ between, upper=False)
        self._bet(use, -high, noise, -Z_high, -high - up @ between, upper=True)

        self._weight = self._weight + after[0]
        self._mean = self._mean + after[1:3]
        self._square = self._square + after[3:]
        self._labelled = labelled[-1] + value[-1]

    def _bet(self, use: Bools, mean: Floats, noise: Floats, Z: Floats, worst: Floats, *, upper: bool) -> None:
        """Bet on Z above 0 at every draw of a block: for K+, and with all signs turned (``upper``) for K-."""
        now, greatest = (self.minus, self.greatest_minus) if upper else (self.plus, self.greatest_plus)
        # Never below a tenth, but for the rounding of the table's chances: the stake leaves room for it.
        capital = np.cumprod(np.minimum(1.0 + bets(mean, noise, worst) * Z, _MOST), axis=0)
        greatest[use] = np.maximum(greatest[use], now[use] + np.log(capital.max(axis=0)))
        now[use] += np.log(capital[-1])

    def forced(self, increments: Increments) -> tuple[float, float]:
        """Least and greatest c at which ``U(c) = 0`` is possible, all labels not known at their extremes.

        Where ``u`` falls with c (a ratio's does): its total at the least labels falls through 0 no later
        than it does with the true ones.
        """
        c, (first, second) = self.points, self._functional
        if increments.whole:
            least, most = increments.bounds(first + c[:, None] * second)
        else:
            least, most = self._least @ self._between, self._most @ self._between
        unknown = increments.left_over + self._refused
        known = self._labelled[0] + c * self._labelled[1]
        return _crossing(c, known + unknown @ least)[0], _crossing(c, known + unknown @ most)[1]


def bets(mean: Floats, noise: Floats, worst: Floats) -> Floats:
    """What to bet on Z above 0 by its mean and variance, where Z is at least ``worst``."""
    bet = np.maximum(mean, 0.0) / np.maximum(mean * mean + noise, _TINY)
    return np.minimum(bet, STAKE / np.maximum(-worst, _TINY))


def chords(knots: Floats, points: Floats) -> Floats:
    """(knots, points) matrix that interpolates linearly between knots."""
    right = np.clip(np.searchsorted(knots, points, "right"), 1, len(knots) - 1)
    share = np.clip((points - knots[right - 1]) / (knots[right] - knots[right - 1]), 0.0, 1.0)
    out = np.zeros((len(knots), len(points)))
    out[right - 1, np.arange(len(points))] = 1.0 - share
    out[right, np.arange(len(points))] += share
    return out


def _crossing(c: Floats, total: Floats) -> tuple[float, float]:
    """First c from which on a falling total is at most 0, and last until which it is at least 0."""
    slack = 1e-12 * max(float(np.abs(total).max()), 1.0)
    below, above = np.flatnonzero(total <= slack), np.flatnonzero(total >= -slack)
    low = float(c[-1]) if not len(below) else _root(c, total, int(below[0]) - 1)
    high = float(c[0]) if not len(above) else _root(c, total, int(above[-1]))
    return low, high


def _root(c: Floats, total: Floats, j: int) -> float:
    """Where the chord between points j and j + 1 crosses 0."""
    if j < 0 or j >= len(c) - 1:
        return float(c[min(max(j, 0), len(c) - 1)])
    drop = total[j] - total[j + 1]
    share = total[j] / drop if drop > 0 else 0.0
    return float(c[j] + np.clip(share, 0.0, 1.0) * (c[j + 1] - c[j]))


class CellWalk(Walk):
    """Capital of K+ at both ends of every cell of c, with one bet per cell; its least value in the cell."""

    knots = 5

    def __init__(self, increments: Increments, first: Floats, second: Floats, points: Floats) -> None:
        super().__init__(increments, first, second, points)
        self._log = np.zeros((2, len(points) - 1))
        self.block = np.zeros((0, len(points) - 1))

    def _bet(self, use: Bools, mean: Floats, noise: Floats, Z: Floats, worst: Floats, *, upper: bool) -> None:
        if upper:
            return
        left, right = slice(None, -1), slice(1, None)
        middle = 0.5 * (mean[:, left] + mean[:, right])
        spread = 0.5 * (noise[:, left] + noise[:, right])
        bet = bets(middle, spread, np.minimum(worst[:, left], worst[:, right]))
        ends = [
            log + np.cumsum(np.log1p(bet * Z[:, end]), axis=0)
            for log, end in zip(self._log, (left, right), strict=True)
        ]
        self._log = np.stack([end[-1] for end in ends])
        self.block = np.minimum(*ends)


class NotAbove:
    """Evidence against "system A is at most system B + margin": its logarithm at its greatest.

    ``ratios`` are num and den of A and of B, ``points`` the ends of the cells of c, the value of B.
    """

    def __init__(self, increments: Increments, ratios: Floats, margin: Floats, points: Floats) -> None:
        num_a, den_a, num_b, den_b = ratios
        a = num_a - margin[0] * den_a, -den_a
        b = -num_b, den_b
        functionals = [(a[0] + b[0], a[1] + b[1]), a, b]
        self._walks = [CellWalk(increments, first, second, points) for first, second in functionals]
        self.now = self.greatest = 0.0

    def advance(self, increments: Increments) -> None:
        """Go on to the last draw, the three e-processes side by side."""
        while self._walks[0].draws < len(increments):
            stop = min(self._walks[0].draws + BLOCK, len(increments))
            for walk in self._walks:
                walk.advance(increments, stop)
            blocks = np.stack([walk.block for walk in self._walks])
            least = logsumexp(blocks, axis=0, b=_SHARES[:, None, None]).min(axis=1)
            self.now, self.greatest = float(least[-1]), max(self.greatest, float(least.max()))


def holm(p_values: Sequence[float]) -> Floats:
    """P-values of several comparisons that hold for all of them together (Holm 1979).

    Of evidence ``K`` the p-value is ``1 / K``, good at any time.

    >>> holm([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    out = np.empty(len(p))
    out[order] = np.minimum(stepped, 1.0)
    return out
