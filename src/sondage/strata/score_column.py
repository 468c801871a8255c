"""The score: one number per item, along which strata are cut."""

from __future__ import annotations

import numpy as np

from sondage.pool.pool import CHUNK, Pool
from sondage.strata.stratification import short
from sondage.types import Array, Floats


def score_column(pool: Pool, systems: tuple[str, ...]) -> Array | None:
    """The column along which the pool is cut when classes play no part; None if there is nothing.

    It is that of the first system: for real labels its predictive spread, if given; else its score, its
    probability (the greatest, where there is one per class), or its prediction. Labels of several numbers
    have the spread that their probabilities imply, or how much is predicted in all.

    >>> score_column(Pool.from_arrays(probability=[[0.2, 0.8], [0.7, 0.3]]), ("model",)).tolist()
    [0.8, 0.7]
    """
    system = pool.system(systems[0] if systems else None)
    for column in (system.std if not pool.labels.finite else None, system.score):
        if column is not None:
            return column
    table = system.probability if system.probability is not None else system.prediction
    if table is None or table.ndim == 1:
        return table
    if pool.labels.finite:
        return np.asarray(table.max(axis=1))
    if system.probability is None:
        return np.asarray(table.sum(axis=1, dtype=np.float64))
    return _spread(pool, table)


def score_name(pool: Pool, systems: tuple[str, ...]) -> str:
    """What to call the column that ``score_column`` gives."""
    system = pool.system(systems[0] if systems else None)
    if not pool.labels.finite and system.std is not None:
        return "predicted standard deviation"
    if system.score is not None:
        return "score"
    if system.probability is None:
        return "prediction"
    if system.probability.ndim == 1:
        return "probability"
    return "greatest probability" if pool.labels.finite else "spread of the label"


def _spread(pool: Pool, probability: Array) -> Floats:
    """Root of the variance of the numbers of a label together."""
    out = np.empty(len(probability))
    for start in range(0, len(out), CHUNK):
        piece = slice(start, start + CHUNK)
        out[piece] = np.sqrt(pool.labels.component_variance(probability[piece]).sum(axis=1))
    return out


def score_ranges(score: Array, codes: Array, count: int) -> tuple[str, ...]:
    """The least and the greatest score of each stratum, in words."""
    low, high = np.full(count, np.inf), np.full(count, -np.inf)
    for start in range(0, len(score), CHUNK):
        piece = slice(start, start + CHUNK)
        np.minimum.at(low, codes[piece], score[piece])
        np.maximum.at(high, codes[piece], score[piece])
    return tuple(
        f"{short(least)} to {short(most)}" for least, most in zip(low.tolist(), high.tolist(), strict=True)
    )
