"""Where the items of a unit lie, in words: what is predicted of them, and their score."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sondage.pool.pool import Pool
from sondage.pool.units import CellUnits
from sondage.strata.score_column import score_column, score_name
from sondage.strata.stratification import short
from sondage.types import Ints

if TYPE_CHECKING:
    from sondage.designs.base import Problem


def place_of(problem: Problem, unit: int) -> str:
    """What is known of the items of a unit before any label; nothing where nothing is.

    >>> import sondage as sd
    >>> pool = sd.Pool.from_arrays(score=[-2.0, -1.0, 1.0, 3.0], threshold=0.0)
    >>> design = sd.designs.Stratified(strata=sd.strata.EqualSize(2))
    >>> problem = sd.create_study(pool, "f1", design=design, rng=0).problem()
    >>> [place_of(problem, unit) for unit in range(problem.units.count)]
    ['predicted 0, score -2 to -1', 'predicted 1, score 1 to 3']
    """
    return problem.once(("place", unit), lambda: _place(problem, unit))


def _place(problem: Problem, unit: int) -> str:
    pool, systems = problem.pool, problem.measure.systems(problem.pool)
    units = problem.units
    rows = units.members(unit) if isinstance(units, CellUnits) else np.array([unit])
    words = [predicted_words(pool, systems, rows)]
    score = problem.once("score column", lambda: score_column(pool, systems))
    name = score_name(pool, systems)
    if score is not None and not (words[0] and name == "prediction"):
        low, high = (short(float(end)) for end in (score[rows].min(), score[rows].max()))
        words.append(f"{name} {low}{f' to {high}' if high != low else ''}")
    return ", ".join(word for word in words if word)


def predicted_words(pool: Pool, systems: tuple[str, ...], rows: Ints) -> str:
    """What the systems predict of some items; nothing where it differs from item to item."""
    if pool.labels.values is None:
        return ""
    columns: dict[str, Any] = {}
    for name in systems:
        prediction = pool.system(name).prediction
        if prediction is None or prediction.ndim != 1:
            continue
        if (prediction[rows] != prediction[rows[0]]).any():
            return ""
        columns[name] = pool.labels.values[int(prediction[rows[0]])]
    if len({str(value) for value in columns.values()}) == 1:
        return f"predicted {next(iter(columns.values()))}"
    return ", ".join(f"predicted {value} by {name}" for name, value in columns.items())
