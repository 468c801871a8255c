"""Summaries of simulations: error, coverage and width by design, measure and budget."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np

from sondage.frames import frame_of


def summarise(frame: Any) -> Any:
    """Bias, mean squared error, coverage and width of every design, measure and budget.

    Undefined estimates are left out of all but ``undefined``, which is their share; an undefined
    estimate counts as not covered.
    """
    data = nw.from_native(frame, eager_only=True)
    columns = {name: data[name].to_numpy() for name in data.columns}
    rows = []
    keys = list(zip(columns["design"], columns["measure"], columns["budget"], strict=True))
    for key in dict.fromkeys(keys):
        mine = np.array([one == key for one in keys])
        value, truth = columns["value"][mine], columns["truth"][mine]
        low, high = columns["low"][mine], columns["high"][mine]
        defined = np.isfinite(value)
        error = (value - truth)[defined]
        slack = 1e-12 * np.maximum(1.0, np.abs(truth))
        covered = defined & (low <= truth + slack) & (truth - slack <= high)
        count = max(int(defined.sum()), 1)
        rows.append(
            {
                "design": key[0],
                "measure": key[1],
                "budget": int(key[2]),
                "repeats": int(mine.sum()),
                "n_labels": float(columns["n_labels"][mine].mean()),
                "undefined": float(1 - defined.mean()),
                "bias": float(error.sum() / count),
                "mse": float(np.square(error).sum() / count),
                "mse_error": float(np.square(error).std() / np.sqrt(count)) if len(error) else np.nan,
                "coverage": float(covered.mean()),
                "width": float((high - low)[defined].sum() / count),
            }
        )
    return frame_of({name: [row[name] for row in rows] for name in rows[0]})
