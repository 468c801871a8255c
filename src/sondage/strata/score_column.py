"""The score: one number per item, along which strata are cut."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sondage.pool.labels import LabelSpace
from sondage.pool.pool import Pool, pieces
from sondage.pool.rows import Rows
from sondage.types import Array, Floats
from sondage.wording import short

_SCORES = ("score", "probability", "greatest probability")


def score_column(pool: Pool, systems: tuple[str, ...]) -> Array | None:
    """The column along which the pool is cut if classes play no part; None if it has no such column.

    It is that of the first system: for real labels its predictive spread, if given; else its score, its
    probability (the greatest, where there is one per class), or its prediction. Labels of several numbers
    have the spread that their probabilities imply, or how much is predicted in all.

    >>> score_column(Pool.from_arrays(probability=[[0.2, 0.8], [0.7, 0.3]]), ("model",)).tolist()
    [0.8, 0.7]
    """
    system = pool.system(systems[0] if systems else None)
    return _named_score(lambda part: getattr(system, part), pool.labels)[1]


def score_at(rows: Rows, systems: tuple[str, ...]) -> Floats | None:
    """The same column at some rows."""
    found = _score_of_rows(rows, systems)[1]
    return None if found is None else np.asarray(found, dtype=np.float64)


def score_name(pool: Pool, systems: tuple[str, ...]) -> str:
    """What to call the column that ``score_column`` gives."""
    return _score_of_rows(pool.rows(slice(0, 1)), systems)[0]


def along_words(pool: Pool, systems: tuple[str, ...]) -> str:
    """What strata are cut along: the score, and whatever stands in for it where labels are numbers."""
    name = score_name(pool, systems)
    return f"along the {'score' if name in _SCORES else name}"


def _score_of_rows(rows: Rows, systems: tuple[str, ...]) -> tuple[str, Array | None]:
    system = systems[0] if systems else None
    return _named_score(
        lambda part: rows.column(part, system) if rows.has(part, system) else None, rows.labels
    )


def _named_score(column: Callable[[str], Array | None], labels: LabelSpace) -> tuple[str, Array | None]:
    if not labels.finite and (std := column("std")) is not None:
        return "predicted standard deviation", std
    if (score := column("score")) is not None:
        return "score", score
    if (table := column("probability")) is None:
        said = column("prediction")
        if said is not None and said.ndim == 2:
            said = said.sum(axis=1, dtype=np.float64)
        return "prediction", said
    if table.ndim == 1:
        return "probability", table
    if labels.finite:
        return "greatest probability", np.asarray(table.max(axis=1))
    spread = np.empty(len(table))  # root of the variance of the numbers of a label together
    for piece in pieces(len(table)):
        spread[piece] = np.sqrt(labels.component_variance(table[piece]).sum(axis=1))
    return "uncertainty of the label", spread


def score_ranges(score: Array, codes: Array, count: int) -> tuple[str, ...]:
    """The least and the greatest score of each stratum, in words."""
    low, high = np.full(count, np.inf), np.full(count, -np.inf)
    for piece in pieces(len(score)):
        np.minimum.at(low, codes[piece], score[piece])
        np.maximum.at(high, codes[piece], score[piece])
    ends = ((short(a), short(b)) for a, b in zip(low.tolist(), high.tolist(), strict=True))
    return tuple(a if a == b else f"{a} to {b}" for a, b in ends)
