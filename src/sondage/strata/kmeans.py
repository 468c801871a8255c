"""k-means on a table of features: Lloyd's algorithm, the same on every machine."""

from __future__ import annotations

import numpy as np

from sondage.streams import Stream, integer_weights
from sondage.types import Array, Floats, Ints

_ROUNDS = 100
_TOLERANCE = 1e-4
"""Share of the squared error that a round must save to be followed by another."""
_BLOCK = 1 << 20
"""Distances held at once."""


def kmeans(points: Floats, count: int, stream: Stream, starts: int) -> Floats:
    """Centres of at most ``count`` clusters, the best of several starts.

    Starts are drawn as in k-means++ (Arthur and Vassilvitskii 2007): each next centre is a point, with
    chance in proportion to its squared distance from the nearest so far. Where the points have fewer
    different places than ``count``, there are only so many centres.
    """
    best, least = points[:1], np.inf
    for _ in range(starts):
        centres, error = _lloyd(points, _plus_plus(points, count, stream))
        if error < least * (1 - 1e-9):
            best, least = centres, error
    return best


def nearest(points: Array, centres: Floats, scale: Floats | None = None) -> tuple[Ints, Floats]:
    """The nearest centre of every point, and the squared distance from it.

    Points are divided by ``scale`` piece by piece, and no table of points by centres is held.
    """
    which, squared = np.empty(len(points), dtype=np.int64), np.empty(len(points))
    middle = centres.mean(axis=0)
    shifted = centres - middle
    # |x - c|^2 without |x|^2, which is the same for all centres.
    twice, norm = -2.0 * shifted.T, np.square(shifted).sum(axis=1)
    step = max(1, _BLOCK // max(len(centres), points.shape[1]))
    for start in range(0, len(points), step):
        piece = slice(start, start + step)
        block = np.asarray(points[piece], dtype=np.float64)
        block = (block if scale is None else block / scale) - middle
        apart = block @ twice
        apart += norm
        # Products of matrices differ in the last digits between machines, which would decide between
        # centres that are equally near: in single precision they are equal, and the first wins.
        chosen = np.argmin(apart.astype(np.float32), axis=1)
        which[piece] = chosen
        squared[piece] = np.square(block - shifted[chosen]).sum(axis=1)
    return which, squared


def means(points: Floats, which: Ints, count: int) -> Floats:
    """(count, k) mean of the points of each cluster; nan where it has none."""
    size = np.bincount(which, minlength=count)
    sums = [np.bincount(which, weights=column, minlength=count) for column in points.T]
    with np.errstate(invalid="ignore"):
        return np.stack(sums, axis=1) / size[:, None]


def _plus_plus(points: Floats, count: int, stream: Stream) -> Floats:
    chosen = [int(stream.uniform(1)[0] * len(points))]
    squared = np.square(points - points[chosen[0]]).sum(axis=1)
    while len(chosen) < count and squared.max() > 0:
        chosen.append(int(stream.pick(np.cumsum(integer_weights(squared)), 1)[0]))
        squared = np.minimum(squared, np.square(points - points[chosen[-1]]).sum(axis=1))
    return points[chosen]


def _lloyd(points: Floats, centres: Floats) -> tuple[Floats, float]:
    """Centres moved to the means of their points until that does not help, and the squared error left."""
    which, squared = nearest(points, centres)
    for _ in range(_ROUNDS):
        error = squared.sum()
        centres = means(points, which, len(centres))
        for empty in np.flatnonzero(np.isnan(centres[:, 0])):
            far = int(np.argmax(squared))  # a centre that lost all its points goes where it helps most
            centres[empty], squared[far] = points[far], 0.0
        which, squared = nearest(points, centres)
        if squared.sum() >= error * (1 - _TOLERANCE):
            break
    return centres, float(squared.sum())
