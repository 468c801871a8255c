"""Influence as steps: what a label does to rates at many thresholds at once, and running sums over them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sondage.measures.losses.thresholds import log_ranks
from sondage.types import Array, Floats

THIN = 1024
"""Thresholds that a design looks at; with more, neighbours stand for each other."""


class Steps(NamedTuple):
    """Influence on every coordinate: one number if the score reaches its threshold, another if not.

    ``level`` is (m,) the number of the threshold, from 1; ``inside`` and ``outside`` are (2, m), first for
    labels that are not the positive class, then for the positive class.
    """

    level: Array
    inside: Floats
    outside: Floats

    def at(self, which: slice) -> Steps:
        return Steps(self.level[which], self.inside[:, which], self.outside[:, which])

    def scaled(self, factor: Array) -> Steps:
        return Steps(self.level, self.inside * factor, self.outside * factor)

    def table(self, place: Array, label: int) -> Floats:
        """(n, m) influence of items in the bins ``place``, one label."""
        inside = place[:, None] >= self.level
        return np.asarray(np.where(inside, self.inside[label], self.outside[label]))

    def norms(self, bins: int) -> Floats:
        """(2, bins) squared influence summed over the coordinates, by prefix sums (Marchant 2021)."""
        out = np.empty((2, bins))
        for label in (0, 1):
            within, beyond = (
                np.bincount(self.level, weights=np.square(one[label]), minlength=bins)
                for one in (self.inside, self.outside)
            )
            out[label] = np.cumsum(within)
            out[label, :-1] += reached(beyond)[1:]
        return out

    def square_sum(self, mass: Floats) -> Floats:
        """(m,) squared influence summed over items, ``mass`` being (2, bins) how much each bin counts."""
        within, beyond = reached(mass), np.cumsum(mass, axis=1)
        each = (
            np.square(self.inside) * within[:, self.level]
            + np.square(self.outside) * beyond[:, self.level - 1]
        )
        return np.asarray(each.sum(axis=0))


def thinned(weight: Floats) -> tuple[Array, Floats]:
    """Coordinates to keep of (2, L) weighted rates, and what each counts for: itself and its neighbours."""
    size = weight.shape[1]
    kept = size - log_ranks(THIN, size)[::-1]
    summed = np.add.reduceat(weight, kept, axis=1)
    return np.concatenate([kept, size + kept]), summed.ravel()


def reached(counts: Array) -> Array:
    """(..., bins) running sums from the highest bin down: entry ``l`` is what reaches threshold ``l``.

    >>> reached(np.array([5.0, 2.0, 1.0])).tolist()
    [8.0, 3.0, 1.0]
    """
    return np.cumsum(counts[..., ::-1], axis=-1)[..., ::-1]
