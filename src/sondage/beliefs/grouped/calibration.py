"""How far confidence is from accuracy, by groups and over all: from counts in groups and bins of confidence.

Arrays end in the axes of groups and bins. The mean confidence of a bin is that of all its items, labelled
or not.
"""

from __future__ import annotations

import numpy as np

from sondage.arithmetic import shares_of
from sondage.beliefs.grouped.rates import Rates
from sondage.types import Floats


def _gaps(rate: Floats, confidence: Floats, size: Floats) -> Floats:
    """Distance of every bin, 0 for bins without items."""
    return np.where(size > 0, np.abs(rate - confidence), 0.0)


def error(rate: Floats, confidence: Floats, size: Floats) -> Floats:
    """(..., G) mean distance between confidence and accuracy, bins by their items (section 2.4).

    Of rates drawn from the posterior it is a draw of the calibration error. Its posterior mean lies above the
    truth while posteriors are wide: a bin that is calibrated still has a distance.

    >>> error(np.array([[0.8, 0.5]]), np.array([[0.9, 0.6]]), np.array([[30.0, 10.0]])).round(3).tolist()
    [0.1]
    """
    return np.asarray((shares_of(size) * _gaps(rate, confidence, size)).sum(axis=-1))


def greatest(rate: Floats, confidence: Floats, size: Floats) -> Floats:
    """(..., G) the largest distance of any bin."""
    return np.asarray(_gaps(rate, confidence, size).max(axis=-1))


def overall(rate: Floats, confidence: Floats, size: Floats) -> tuple[Floats, Floats, Floats]:
    """Rate, confidence and items of the bins of the whole pool, groups taken together.

    >>> one = np.array([[0.9], [0.7]]), np.array([[0.8], [0.8]]), np.array([[10.0], [10.0]])
    >>> error(*overall(*one)).round(3).tolist(), error(*one).round(3).tolist()  # groups can cancel
    ([0.0], [0.1, 0.1])
    """
    total = size.sum(axis=-2, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(total > 0, size / total, 0.0)
    return (
        np.asarray((share * np.where(size > 0, rate, 0.0)).sum(axis=-2, keepdims=True)),
        np.asarray((share * np.where(size > 0, confidence, 0.0)).sum(axis=-2, keepdims=True)),
        np.asarray(total),
    )


def plug_in(rates: Rates, confidence: Floats, items: Floats) -> Floats:
    """(..., G) calibration error of the expected rates: the paper's estimate in Table 5.

    It is too high for a calibrated model with few labels, and less so than the mean of draws. ``items`` of
    every bin are those of the pool, also where the rates are of a population.
    """
    return error(rates.mean, confidence, items)


def debiased(rates: Rates, confidence: Floats, items: Floats) -> Floats:
    """(..., G) root mean square distance, less what chance alone adds to it (Kumar, Liang and Ma 2019).

    By labels alone, without a prior: each bin needs two labels or all its items; others are left out.
    The square is unbiased if each bin has two; below 0 it counts as 0.

    >>> one = np.ones((1, 1))
    >>> debiased(Rates(one, one, 9.0 * one, 10.0 * one, np.inf * one), 0.9 * one, 50.0 * one).tolist()
    [0.0]
    """
    n = np.broadcast_to(rates.n, np.broadcast(rates.n, rates.size).shape)
    usable = (n >= 2) | ((n == rates.size) & (n > 0))
    rate = np.divide(rates.right, n, out=np.zeros(n.shape), where=n > 0)
    noise = np.where(usable, rates.unseen * rate * (1.0 - rate) / np.maximum(n - 1.0, 1.0), 0.0)
    shares = shares_of(np.where(usable, items, 0.0))
    square = (shares * (np.square(rate - confidence) - noise)).sum(axis=-1)
    return np.asarray(np.where(usable.any(axis=-1), np.sqrt(np.maximum(square, 0.0)), np.nan))


def lowered(draws: Floats, plug_in: Floats) -> Floats:
    """(B, ...) draws of calibration errors, moved down by what uncertainty alone adds to them.

    A bin that is calibrated has a distance in every draw, so draws of a calibrated group all lie above the
    truth. Their mean exceeds the error of the expected rates by that much; the least draw is moved down by
    twice the excess, the greatest not at all, and those between by their rank. The mean is then the plug-in,
    and intervals reach from what is left without the excess up to what the posterior has.

    >>> lowered(np.array([[0.1], [0.2], [0.3]]), np.array([0.15])).round(2).tolist()
    [[0.0], [0.15], [0.3]]
    """
    rank = np.argsort(np.argsort(draws, axis=0, kind="stable"), axis=0, kind="stable") / max(
        len(draws) - 1, 1
    )
    excess = np.maximum(draws.mean(axis=0) - plug_in, 0.0)
    return np.asarray(np.maximum(draws - 2.0 * excess * (1.0 - rank), 0.0))
