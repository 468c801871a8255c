"""Two systems and a ratio: evidence that one is better than the other by more than a margin.

"A is at most B + margin" means that at the value ``c`` of B both ``theta_A <= c + margin`` and
``theta_B >= c`` hold. At that c, for any ``k >= 0``,

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

from sondage.estimators.increments import Increments
from sondage.intervals.betting import BLOCK, Walk, bets
from sondage.types import Bools, Floats

_SHARES = np.array([0.8, 0.1, 0.1])


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
