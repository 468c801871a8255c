"""Tails: what is held possible beyond the outermost wrong prediction seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, gammainccinv, logit

from sondage.arithmetic import in_pieces, sums_by
from sondage.types import Floats, Ints

_STEPS = 24
_NEVER, _ALWAYS = 1e-12, 1.0 - 1e-9
_REFUTED = 1e-3
"""Chance of as few events as were seen below which a drawn curve is refuted."""
_FURTHEST, _HALVINGS = 30.0, 24
"""How far log-odds are moved at most, and halvings of that until they are where they should be."""


@dataclass(frozen=True)
class Tail:
    """What an interval holds of error curves where the labels are silent.

    From the outermost wrong prediction on, log-odds of an error ``fall`` by at least so much with every
    knot, that is with every doubling of the rank and faster in the outer half of a class. And some items of
    every class may lie anywhere, whatever their score: ``astray`` is the mean of an exponential prior of
    their share, which the labels sharpen. (One item is expected at least: with few positives a share of them
    would be none.)
    """

    fall: float = 0.0
    astray: float = 0.0


def not_refuted(drawn: Floats, seen: tuple[Floats, Floats], curve: Ints) -> Floats:
    """(B, U) drawn rates, moved where the labels of a curve all but exclude them.

    Curves are drawn from a normal distribution around the most probable ones. It is symmetric, and what
    labels leave possible is not: after a hundred labels without an error, rates of a third would still be
    drawn. So no curve may expect more wrong predictions among the labelled items than the upper limit of
    their number, of which only one sample in a thousand has as few as were seen (a Poisson limit); and no
    more right ones than theirs. Log-odds are moved by the same everywhere, so that a curve keeps its shape.

    >>> n, wrong = np.array([50.0, 50.0]), np.zeros(2)
    >>> not_refuted(np.array([[0.3, 0.1], [0.01, 0.01]]), (n, wrong), np.zeros(2, int)).round(3).tolist()
    [[0.108, 0.03], [0.01, 0.01]]
    """
    n, wrong = seen
    curves = np.eye(int(curve.max()) + 1)[curve]
    out = drawn
    for right in (False, True):
        most = gammainccinv((n - wrong if right else wrong) @ curves + 1.0, _REFUTED)
        expected = in_pieces(out, n[:, None] * curves)
        over = (n @ curves - expected if right else expected) > most
        for c in np.flatnonzero(over.any(axis=0)).tolist():
            where = np.ix_(np.flatnonzero(over[:, c]), np.flatnonzero(curve == c))
            lowered = _lowered(1.0 - out[where] if right else out[where], n[curve == c], most[c])
            out = out.copy() if out is drawn else out
            out[where] = 1.0 - lowered if right else lowered
    return out


def _lowered(rate: Floats, n: Floats, most: float) -> Floats:
    """(b, U) rates, each row lowered until it expects as many events among ``n`` as may be."""
    log_odds = logit(np.clip(rate, _NEVER, _ALWAYS))
    told = np.flatnonzero(n)
    below, above = np.full(len(rate), -_FURTHEST), np.zeros(len(rate))
    for _ in range(_HALVINGS):
        middle = 0.5 * (below + above)
        fits = np.einsum("bu,u->b", expit(log_odds[:, told] + middle[:, None]), n[told]) <= most
        below, above = np.where(fits, middle, below), np.where(fits, above, middle)
    return np.asarray(expit(log_odds + below[:, None]))


HONEST = Tail(fall=0.0, astray=0.03)
TIGHT = Tail(fall=float(np.log(2.0)))
TAILS = {"honest": HONEST, "tight": TIGHT}


def least_rates(
    astray: float, others: Floats, seen: tuple[Floats, Floats], rate: Floats, curve: Ints, uniform: Floats
) -> Floats:
    """(B, U) draws of the rate below which no unit's lies, because items of other classes are anywhere.

    ``others`` is (U,) the share of the pool's items that are of another class than the one predicted, so a
    unit's least rate is that times the share that went astray. There is one such share for each ``curve``
    (U,) of units. ``seen`` are labels and wrong predictions of each unit, ``rate`` (U,) what the curves say,
    and ``uniform`` (B, C) random numbers. The prior is cut into equally likely steps, each weighed by how
    likely it makes the labels.

    >>> nothing, uniform = np.zeros(1), np.array([[0.02], [0.5], [0.98]])
    >>> before = least_rates(0.03, np.ones(1), (nothing, nothing), nothing, np.zeros(1, int), uniform)
    >>> before[:, 0].round(3).tolist()
    [0.001, 0.022, 0.116]
    >>> after = least_rates(0.03, np.ones(1), (nothing + 99, nothing), nothing, np.zeros(1, int), uniform)
    >>> after[:, 0].round(3).tolist()
    [0.001, 0.005, 0.028]
    """
    n, wrong = seen
    share = -astray * np.log1p(-(np.arange(_STEPS) + 0.5) / _STEPS)
    held = np.clip(np.maximum(rate, share[:, None] * others), _NEVER, _ALWAYS)
    each = wrong * np.log(held) + (n - wrong) * np.log1p(-held)
    likely = sums_by(each, curve, uniform.shape[1])
    chance = np.exp(likely - likely.max(axis=0))
    reached = np.cumsum(chance / chance.sum(axis=0), axis=0)
    columns = zip(reached[:-1].T, uniform.T, strict=True)
    drawn = np.stack([share[np.searchsorted(each, u, "right")] for each, u in columns], axis=1)
    return in_pieces(drawn, np.eye(uniform.shape[1])[:, curve] * others)
