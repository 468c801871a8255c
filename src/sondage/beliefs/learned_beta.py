"""How often cells are right, after their labels: Betas whose prior the cells teach each other."""

from __future__ import annotations

import numpy as np
from scipy.special import betaincinv, betaln, expit, logit

from sondage.binomial import binomial
from sondage.streams import Stream
from sondage.types import Floats

_SURE = 1e-3
"""Scores that are surer than this do not rule an error out (Ji et al. 2021 clip them, too)."""
_SHIFTS = np.linspace(-4.0, 4.0, 33)
_STRENGTHS = np.geomspace(1.0, 200.0, 12)
_USUAL_SHIFT = 1.5
"""Standard deviation, in logits, by which scores are thought to be off before any label."""


def evidence(expected: Floats, right: Floats, n: Floats) -> Floats:
    """(shifts, strengths) posterior of how far scores are off, and of the labels that they count for.

    Right predictions of a cell are beta-binomial around ``sigmoid(logit(expected) + shift)``. Shifts are
    normal before any label, strengths even on a log scale.

    >>> found = evidence(np.full(40, 0.9), np.full(40, 5.0), np.full(40, 10.0))
    >>> float(_SHIFTS[found.sum(axis=1).argmax()]) < -1.5  # scores say .9, labels .5
    True
    """
    seen = n > 0
    at = logit(np.clip(expected[seen], _SURE, 1.0 - _SURE))
    r, w = right[seen], (n - right)[seen]
    out = np.empty((len(_SHIFTS), len(_STRENGTHS)))
    for i, shift in enumerate(_SHIFTS.tolist()):
        mean = np.clip(expit(at + shift), _SURE, 1.0 - _SURE)
        a, b = (_STRENGTHS[:, None] * one for one in (mean, 1.0 - mean))
        out[i] = (betaln(a + r, b + w) - betaln(a, b)).sum(axis=1) - 0.5 * (shift / _USUAL_SHIFT) ** 2
    out = np.exp(out - out.max())
    return np.asarray(out / out.sum())


def right_in_cells(
    expected: Floats, right: Floats, n: Floats, size: Floats, stream: Stream, count: int
) -> Floats:
    """(count, C) draws of the right predictions among all ``size`` items of each cell, given its labels.

    What was seen is known; the rest is binomial around a rate from the cell's Beta. A cell labelled to the
    end does not vary.
    """
    chance = np.cumsum(evidence(expected, right, n).ravel())
    place = np.searchsorted(chance, stream.uniform(count) * chance[-1], side="right")
    shift, strength = np.unravel_index(np.minimum(place, len(chance) - 1), (len(_SHIFTS), len(_STRENGTHS)))
    at = logit(np.clip(expected, _SURE, 1.0 - _SURE))
    mean = np.clip(expit(at + _SHIFTS[shift][:, None]), _SURE, 1.0 - _SURE)
    worth = _STRENGTHS[strength][:, None]
    uniform = stream.uniform(count * len(n)).reshape(count, -1)
    rate = betaincinv(worth * mean + right, worth * (1.0 - mean) + n - right, uniform)
    rest = binomial(stream.uniform(count * len(n)).reshape(count, -1), size - n, np.clip(rate, 0.0, 1.0))
    return np.asarray(right + np.where(size > n, rest, 0.0))
