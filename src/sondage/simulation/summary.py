"""Summaries of simulations: error, coverage and width by design, measure and budget."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np

from sondage.frames import frame_of_rows
from sondage.types import Floats


def summarise(frame: Any) -> Any:
    """Bias, mean squared error, coverage and width of every design, measure and budget.

    Undefined estimates are left out of all but ``undefined``, which is their share; an undefined
    estimate counts as not covered.
    """
    if isinstance(frame, Mapping):
        columns = {name: np.asarray(values) for name, values in frame.items()}
    else:
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
        rows.append(
            {
                "design": key[0],
                "measure": key[1],
                "budget": int(key[2]),
                "repeats": int(mine.sum()),
                "n_labels": float(columns["n_labels"][mine].mean()),
                "undefined": float(1 - defined.mean()),
                "bias": _mean(error),
                "mse": _mean(np.square(error)),
                "mse_error": _mean(np.square(error), error=True),
                "coverage": float(covered.mean()),
                "width": _mean((high - low)[defined]),
            }
        )
    return frame_of_rows(rows)


def _mean(values: Floats, error: bool = False) -> float:
    """The mean, or its standard error; nan where there is nothing to average."""
    if not len(values):
        return float("nan")
    return float(values.std() / np.sqrt(len(values)) if error else values.mean())
