"""Labels at which a loss is tried, to learn what it does without knowing its formula."""

from __future__ import annotations

import numpy as np

from sondage.pool.rows import Rows
from sondage.types import Floats

_ANYWHERE = np.array([0.37, -1.0, 2.0, -1e6, 1e6])
_GRID = 33


def trial_labels(rows: Rows) -> Floats:
    """(S,) or (n, S) labels: all classes; or real ones, near and far, with the rows' predictions.

    A loss may be flat nearly everywhere ("off by more than 5"), but hardly both at the prediction
    and far from it.
    """
    space = rows.labels
    if space.finite:
        return np.arange(space.size, dtype=np.float64)
    if np.isfinite([space.low, space.high]).all():
        spread = np.linspace(space.low, space.high, _GRID)
    else:
        spread = _ANYWHERE
    columns = [np.broadcast_to(spread, (len(rows), len(spread)))]
    for system in rows.systems:
        if rows.has("prediction", system):
            columns.append(rows.prediction(system)[:, None])
    return np.clip(np.concatenate(columns, axis=1), space.low, space.high)
