"""Values that labels decide, and on which too few labels bear to give one."""

from __future__ import annotations

import numpy as np

from sondage.estimators import Case
from sondage.estimators.linear import Linear
from sondage.types import Bools


def too_little(case: Case, linear: Linear) -> dict[int, Bools]:
    """(m,) coordinates without a value, by how many labels bear on them: none, or one that may be anything.

    An estimate that leans on predictions has a number for the former all the same: the prediction.
    """
    space = case.pool.labels
    endless = space.kind == "real" and not np.isfinite([space.low, space.high]).all()
    # At an end of its range a ratio has no slope by what counts below its line: recall at a threshold that
    # no draw reaches is 0 by the positives seen elsewhere.
    low, high = case.measure.range
    at_end = case.measure.tangent & ((linear.value <= low) | (linear.value >= high))
    return {
        0: linear.unseen.open & (linear.unseen.labels == 0) & ~at_end,
        1: linear.unseen.open & (linear.unseen.labels == 1) & endless,
    }
