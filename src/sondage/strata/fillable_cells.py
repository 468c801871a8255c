"""Cells no finer than the labels can fill: cells too many for them are joined before the first label."""

from __future__ import annotations

import numpy as np

from sondage.pool.division import compressed, cost_band, crossed
from sondage.pool.pool import Pool
from sondage.pool.units import CellUnits
from sondage.strata.base import Strata
from sondage.strata.log_rank import Consensus, LogRank, predicted_pattern
from sondage.types import Array

EACH = 5
"""Labels that a cell should get by the end of the budget."""
_FEW = 10
"""Up to so many kinds of items are kept apart, however few labels there will be."""


def cells_to_fill(
    pool: Pool, strata: Strata, systems: tuple[str, ...], signature: Array | None, seed: int, labels: float
) -> CellUnits:
    """Cells of strata and signature, so coarse that each can have ``EACH`` of the labels.

    Where the measure tells more kinds of items apart than that, cells leave it to the estimator to do so; and
    where the predictions of several systems together are too many for strata of their own, strata go by how
    far the systems agree. Then neighbouring strata are joined; costs make cells of their own only if there
    are labels for these, too.
    Strata that somebody chose, groups say, stay as they are.
    """
    if signature is not None and too_many(_kinds(signature), labels):
        signature = None
    if signature is None and isinstance(strata, LogRank):
        strata = Consensus() if too_many(_kinds(predicted_pattern(pool, systems)), labels) else strata
    codes = strata.codes(pool, systems, seed)
    if isinstance(strata, LogRank | Consensus):
        codes = joined_bands(pool, codes, signature, labels, systems)
    elif signature is not None and too_many(_kinds(crossed([codes, signature])), labels):
        signature = None
    costs = cost_band(pool.cost)
    levels = [one for one in (codes, signature, costs) if one is not None]
    by_cost = costs is None or _kinds(crossed(levels)) * EACH <= labels
    return CellUnits(pool, codes, signature, seed=seed, by_cost=by_cost)


def too_many(kinds: int, labels: float) -> bool:
    """Whether there are more kinds of items than the labels can tell apart."""
    return kinds > _FEW and kinds * EACH > labels


def _kinds(codes: Array) -> int:
    return len(np.unique(codes))


def joined_bands(
    pool: Pool, strata: Array, signature: Array | None, labels: float, systems: tuple[str, ...]
) -> Array:
    """Strata joined with their neighbours until there is a cell for every ``EACH`` labels, or one per kind.

    Only strata of the same signature are joined; where there is none, of the same predicted class.

    >>> pool = Pool.from_arrays(score=[-3, -2, -1, 1, 2, 3], threshold=0)
    >>> joined_bands(pool, np.arange(6), None, 20, ("model",)).tolist()
    [0, 0, 1, 2, 2, 3]
    """
    if signature is not None:
        kind = signature
    else:
        pattern = predicted_pattern(pool, systems)
        own = np.zeros(int(strata.max()) + 1, dtype=pattern.dtype)
        own[strata] = pattern
        # A stratum that mixes predicted classes has none: then all are alike.
        kind = pattern if np.array_equal(own[strata], pattern) else np.zeros(len(strata), dtype=np.int8)
    cell = compressed(crossed([kind, strata])).astype(np.int64)
    _, first = np.unique(cell, return_index=True)
    bands = np.bincount(compressed(kind[first]).astype(np.int64))
    most = max(labels // EACH, len(bands))
    if len(first) <= most:
        return strata
    kept = np.maximum((bands * most // len(first)).astype(np.int64), 1)
    place = np.arange(len(first)) - np.repeat(np.cumsum(bands) - bands, bands)
    band = place * np.repeat(kept, bands) // np.repeat(bands, bands)
    return np.asarray((np.repeat(np.cumsum(kept) - kept, bands) + band)[cell])
