"""What looking costs: a stop rule looks at an interval that allows for it, and is wider for that."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import ndtri

from sondage.intervals.posterior import Calibrated
from sondage.study.planning.forecast import Forecast
from sondage.study.planning.result import Goal
from sondage.study.planning.worlds import World
from sondage.study.snapshot import Snapshot
from sondage.study.stopping.looking import CALIBRATED, safe_intervals, sequence_errors
from sondage.types import Floats

_WORLDS = 5
"""Worlds in which the interval to look at is drawn: so far out it takes many pools."""


def wider_to_look_at(study: Snapshot, worlds: Sequence[World], width: Floats, goal: Goal | None) -> float:
    """How many times as wide as the ordinary interval the calibrated one is; nan where there is none.

    Nobody wants to know without a width to stop at. ``width`` has (D, m) ordinary widths; looked at are the
    worlds in which they are as may be expected.
    """
    wanted = goal is not None and goal.width is not None
    if not wanted or safe_intervals(study) != (CALIBRATED,):
        return np.nan
    plain = width.max(axis=1)
    usual = np.argsort(np.abs(plain - np.median(plain)), kind="stable")[:_WORLDS]
    wide = np.array([worlds[one].widths(Calibrated()).max() for one in usual.tolist()])
    middle = float(np.median(plain[usual]))
    return float(np.median(wide)) / middle if middle > 0 else np.nan


def looking(study: Snapshot, forecast: Forecast, level: float) -> tuple[str, Floats]:
    """The interval that stop rules look at, and (B,) how many times as wide it is; "" where none may be."""
    names = safe_intervals(study)
    if names == (CALIBRATED,):
        return CALIBRATED, np.full(len(forecast.labels), forecast.wider)
    if not names:
        return "", np.full(len(forecast.labels), np.nan)
    once = float(ndtri(0.5 + 0.5 * level))
    return names[0], np.array([sequence_errors(level, n) / once for n in forecast.labels.tolist()])
