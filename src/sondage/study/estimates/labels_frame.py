"""The labels of a study as a frame, for use elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np

from sondage.estimators import estimator_for
from sondage.estimators.sample import ANSWERED
from sondage.frames import frame_of
from sondage.study.snapshot import Snapshot


def labels_frame(now: Snapshot) -> Any:
    """What ``Study.labels`` gives."""
    pool, units, sample = now.pool, now.units, now.sample
    kind = sample.kinds[0] if sample.kinds else now.design.kind
    weight = estimator_for(kind, now.parts.estimator).weights(now.case())
    total = np.bincount(now.slots, weights=weight, minlength=now.asked)
    chance = np.where(np.isnan(sample.pi), sample.p, sample.pi)[sample.new]
    if not kind.recorded:  # no chance of its own: the share of its cell that was asked
        asked = now.asked_units
        chance = (np.bincount(asked, minlength=units.count) / units.size)[asked]
    told = np.flatnonzero(now.status == ANSWERED)
    return frame_of(
        {
            "id": [pool.id_of(row) for row in now.asked_rows[told].tolist()],
            "label": [pool.labels.decode(code) for code in now.asked_labels[told].tolist()],
            "probability": chance[told].tolist(),
            "weight": total[told].tolist(),
        }
    )
