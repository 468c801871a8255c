"""Where items lie, in words: what is predicted of them, and their score."""

from __future__ import annotations

from typing import Any

from sondage.pool.pool import Pool
from sondage.strata.score_column import score_at, score_name
from sondage.types import Ints
from sondage.wording import short


def place_words(pool: Pool, systems: tuple[str, ...], rows: Ints) -> str:
    """What is known of some items before any label; empty if nothing is.

    >>> import numpy as np
    >>> pool = Pool.from_arrays(score=[-2.0, -1.0, 1.0, 3.0], threshold=0.0)
    >>> place_words(pool, ("model",), np.array([2, 3]))
    'predicted 1, score 1 to 3'
    """
    words, name = [predicted_words(pool, systems, rows)], score_name(pool, systems)
    score = score_at(pool.rows(rows), systems)
    if score is not None and not (words[0] and name == "prediction"):
        low, high = (short(float(end)) for end in (score.min(), score.max()))
        words.append(f"{name} {low}{f' to {high}' if high != low else ''}")
    return ", ".join(word for word in words if word)


def predicted_words(pool: Pool, systems: tuple[str, ...], rows: Ints) -> str:
    """What the systems predict of some items; empty if predictions differ among them."""
    if pool.labels.values is None:
        return ""
    columns: dict[str, Any] = {}
    for name in systems:
        if not pool.has("prediction", name):
            continue
        prediction = pool.rows(rows).prediction(name)
        if (prediction != prediction[0]).any():
            return ""
        columns[name] = pool.labels.values[int(prediction[0])]
    if len({str(value) for value in columns.values()}) == 1:
        whom = {1: "", 2: " by both"}.get(len(columns), " by all")
        return f"predicted {next(iter(columns.values()))}{whom}"
    return ", ".join(f"predicted {value} by {name}" for name, value in columns.items())
