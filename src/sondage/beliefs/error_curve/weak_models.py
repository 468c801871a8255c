"""Weak models: where errors are rare and labels few, their error curves are read nearer to the mean.

Wherever errors are rare the most probable curve lies below the mean of those that labels leave possible, and
far below it where labels are few. It is the better guess for a good model, whose errors thin out faster than
expected before any label. Those of a weak model do not: the curve would miss what lies far off, in the
estimate and, as labels go where errors are expected, in the labels to come as well. A model is weak if it is
often wrong where it is surest: that shows on the side of the boundary where errors are common, and matters on
the other.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logit

from sondage.arithmetic import sums_by
from sondage.beliefs.error_curve.ranks import Ranks
from sondage.types import Bools, Floats, Ints

_POWER, _TIMES = 3, 2.0
"""Of the share wrong there, for the weight of the mean: all of it from four fifths on, little at a third."""
_UNSEEN = 12.0
"""Variance of log-odds at which the mean counts half: far above it, it speaks of the prior alone.

All were found on random pools (``benchmarks._random_pools``); docs/proof.md has what they give on others.
"""


def towards_mean(
    rate: Floats, variance: Floats, n: Floats, ranks: Ranks, curve: Ints, concerned: Bools
) -> Floats:
    """(..., U) rates of curves, moved from the mode towards the mean by how weak the model is.

    ``rate`` is (..., U) the mode, ``variance`` that of its log-odds, and ``n`` the labels. Of the units
    ``concerned``, each curve is moved by how often the surest predictions of the *other* of two classes are
    wrong. To second order the mean is the rate at ``(1 / 2 - p) v`` further log-odds: above the mode p where
    that is below one half. What the labels of a curve say of it as a whole stays as it is: the move is
    measured from its mean over them, each counting by what it tells (``n p (1 - p)``). So rates rise where
    labels are few, and fall a little where they are many. A curve without labels stays where it is.
    """
    wrong = wrong_where_surest(rate, ranks, concerned)
    if wrong is None:
        return rate
    weight = weight_of_mean(wrong)[..., 1 - ranks.expects]
    told = n * rate * (1.0 - rate)
    move = (0.5 - rate) * variance / (1.0 + np.square(variance / _UNSEEN))
    total, moved = (sums_by(one, curve)[..., curve] for one in (told, told * move))
    some = concerned & (total > 0)
    middle = np.divide(moved, total, out=np.zeros_like(total), where=some)
    return np.where(some, expit(logit(rate) + weight * (move - middle)), rate)


def weight_of_mean(wrong: Floats) -> Floats:
    """How far a curve is read at its mean, 0 to 1, given the share wrong where the other class is surest.

    >>> weight_of_mean(np.array([0.1, 0.5, 0.9])).round(3).tolist()
    [0.002, 0.25, 1.0]
    """
    return np.minimum(_TIMES * wrong**_POWER, 1.0)


def wrong_where_surest(rate: Floats, ranks: Ranks, concerned: Bools) -> Floats | None:
    """(..., 2) share wrong of the surest half of each predicted class; None if not both have an order."""
    if ranks.across:
        return None
    surest = ranks.surest * concerned
    items = sums_by(surest, ranks.expects, 2)
    return sums_by(surest * rate, ranks.expects, 2) / items if items.all() else None
