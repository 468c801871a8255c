"""Strata of about equal size along the score, none of which parts equal scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sondage.pool.pool import CHUNK, Pool
from sondage.strata.base import Strata, check_count
from sondage.strata.score_column import score_column
from sondage.types import Array, Ints


@dataclass(frozen=True)
class EqualSize(Strata):
    """``count`` bands of about equal size along the score (or the spread, for regression).

    Equal scores stay in one band: what parts them would decide as well which of them is drawn.
    """

    alias: ClassVar[str] = "equal-size"
    count: int = 10

    def __post_init__(self) -> None:
        check_count(self.count)

    def codes(self, pool: Pool, systems: tuple[str, ...], seed: int) -> Array:
        """Bands in the order of the score."""
        score = score_column(pool, systems)
        order = np.zeros(len(pool)) if score is None else score
        cuts = np.unique(np.rint(np.linspace(0, len(pool), self.count + 1)).astype(np.int64))
        return whole_runs(order, cuts)


def whole_runs(by: Array, cuts: Ints) -> Array:
    """Bands between the cuts of the sorted values, each cut moved to the nearer end of a run of equal ones.

    Equal values are alike: cutting them apart gains nothing, and a curve through the parts takes chance for
    a slope.

    >>> whole_runs(np.array([0.0, 0.0, 0.0, 0.0, 1.0, 2.0]), np.array([0, 1, 3, 5, 6])).tolist()
    [0, 0, 0, 0, 1, 2]
    """
    places = cuts[1:-1]
    value = _at(by, places)
    beyond = np.nextafter(value, np.inf)
    begin, end = _below(by, value), _below(by, beyond)  # of the run in which a cut lies
    to_begin = places - begin <= end - places
    edges, moved = np.where(to_begin, value, beyond), np.where(to_begin, begin, end)
    distinct, which = np.unique(moved, return_index=True)
    return _codes(by, edges[which[(distinct > 0) & (distinct < len(by))]])


def _at(by: Array, places: Ints) -> Array:
    """The values at some places of the sorted ones: they alone are sorted out, no permutation is held."""
    return np.partition(by, places)[places] if len(places) else by[:0]


def _codes(by: Array, edges: Array) -> Array:
    """The band of every value; each edge is where one begins."""
    codes = np.empty(len(by), dtype=np.int32)
    for start in range(0, len(by), CHUNK):
        codes[start : start + CHUNK] = np.searchsorted(edges, by[start : start + CHUNK], "right")
    return codes


def _below(by: Array, edges: Array) -> Ints:
    """How many values are below each edge."""
    return np.cumsum(np.bincount(_codes(by, edges), minlength=len(edges) + 1))[:-1]
