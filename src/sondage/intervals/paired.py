"""Evidence that one system is ahead of another, good at any time: e-processes for contrasts of means.

``K+_t(c) = prod (1 + bet_s (Z_s - c W))`` never reaches ``1 / a`` with more than chance ``a`` where the
contrast is at most c, W being what all items weigh together (Ville 1939; see ``betting.py``): the bets are
fixed before each draw. Here many contrasts are worked out side by side, and few c.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from sondage.estimators.paired_draws import PairedDraws, Steps
from sondage.intervals.betting import bets
from sondage.types import Floats

_MOST = 1e4
_ROUNDING = 1e-12
_TOGETHER = 64
"""Contrasts that are worked out side by side."""


def evidence(draws: PairedDraws, contrasts: Floats, c: Floats | None = None) -> tuple[Floats, Floats]:
    """(P, G) logarithms of the greatest evidence so far that each of P contrasts is above, and below, each c.

    Exact where the labels force it: infinite once a contrast cannot be anything else. ``c`` is 0 by default.
    """
    c = np.zeros(1) if c is None else c
    above, below = np.zeros((2, len(contrasts), len(c)))
    for some, steps in _side_by_side(draws, contrasts):
        for g, value in enumerate(c.tolist()):
            above[some, g], below[some, g] = _greatest(steps, value * draws.weight)
        low, high = (end[:, None] / draws.weight for end in steps.forced)
        above[some] = np.where(low > c + _ROUNDING, np.inf, above[some])
        below[some] = np.where(high < c - _ROUNDING, np.inf, below[some])
    return above, below


def against_each(
    draws: PairedDraws, contrasts: Floats, pairs: Sequence[tuple[int, int]], k: int
) -> tuple[Floats, Floats]:
    """(k,) twice: logarithms of the greatest evidence so far that some system has more, and less, than each.

    The mean of the capitals of the bets that one system after the other has more: where none has, none of
    these is expected to grow, nor is their mean (Vovk and Wang 2021). It is never below the largest of them
    over their number, and far above where many are ahead.
    """
    paths = [np.full((k, draws.count), -np.inf) for _ in range(2)]
    forced = np.zeros((2, k), dtype=bool)
    for some, steps in _side_by_side(draws, contrasts):
        up, down = _grown(steps, 0.0)
        low, high = (end / draws.weight for end in steps.forced)
        for n, (i, j) in enumerate(pairs[some]):
            for side, (a, b) in enumerate((((j, up), (i, down)), ((i, up), (j, down)))):
                for one, path in (a, b):
                    paths[side][one] = np.logaddexp(paths[side][one], path[:, n])
            for sure, (winner, loser) in ((low[n] > _ROUNDING, (i, j)), (high[n] < -_ROUNDING, (j, i))):
                forced[0, loser] |= sure
                forced[1, winner] |= sure
    more, less = (
        np.where(sure, np.inf, np.maximum(path.max(axis=1, initial=0.0) - np.log(k - 1), 0.0))
        for path, sure in zip(paths, forced, strict=True)
    )
    return more, less


def hulls(draws: PairedDraws, contrasts: Floats, threshold: float, range_: Floats, cells: int) -> Floats:
    """(P, 2) ends of each contrast that no evidence above ``threshold`` (a logarithm) rules out.

    ``range_`` is (P, 2) what a contrast can be. The c are cells of that: see ``Sequence`` for why a grid
    needs no correction.
    """
    out = np.empty((len(contrasts), 2))
    for some, steps in _side_by_side(draws, contrasts):
        for k, p in enumerate(range(*some.indices(len(contrasts)))):
            low, high = range_[p].tolist()
            points = np.linspace(low, high, cells + 1)
            one = steps.of(k)
            up, down = _greatest(one, points * draws.weight)
            left = np.flatnonzero((up[1:] < threshold) & (down[:-1] < threshold))
            ends = (points[left[0]], points[left[-1] + 1]) if len(left) else (np.nan, np.nan)
            least, most = (float(end[k]) / draws.weight for end in steps.forced)
            out[p] = max(ends[0], least), min(ends[1], most)
    return out


def _side_by_side(draws: PairedDraws, contrasts: Floats) -> Iterator[tuple[slice, Steps]]:
    """The steps of some contrasts at a time."""
    for begin in range(0, len(contrasts), _TOGETHER):
        some = slice(begin, begin + _TOGETHER)
        yield some, draws.steps(contrasts[some])


def _grown(steps: Steps, level: float | Floats) -> tuple[Floats, Floats]:
    """Log capital after each draw of bets on ``Z`` above, and below, a level."""
    up = bets(steps.mean - level, steps.noise, steps.lowest - level) * (steps.least - level)
    down = bets(level - steps.mean, steps.noise, level - steps.highest) * (level - steps.most)
    above, below = (np.cumsum(np.log1p(np.minimum(one, _MOST)), axis=0) for one in (up, down))
    return above, below


def _greatest(steps: Steps, level: float | Floats) -> tuple[Floats, Floats]:
    """Greatest log capital of bets on ``Z`` above, and below, a level; of one contrast, for many levels."""
    above, below = (np.maximum(one.max(axis=0, initial=0.0), 0.0) for one in _grown(steps, level))
    return above, below
