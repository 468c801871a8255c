"""The labels of a study as a frame, for use elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np

from sondage.estimators import estimator_for
from sondage.estimators.sample import ANSWERED
from sondage.frames import frame_of
from sondage.study.state import StudyState


def labels_frame(state: StudyState) -> Any:
    """What ``Study.labels`` gives."""
    pool, units, ledger, design = state.pool, state.units, state.ledger, state.parts.design
    sample = ledger.sample
    kind = sample.kinds[0] if sample.kinds else design.kind
    weight = estimator_for(kind, design.estimator).weights(state.case(state.parts.measure))
    total = np.bincount(ledger.slots, weights=weight, minlength=ledger.asked)
    chance = np.where(np.isnan(sample.pi), sample.p, sample.pi)[sample.new]
    if not kind.recorded:  # no chance of its own: the share of its cell that was asked
        asked = ledger.asked_units
        chance = (np.bincount(asked, minlength=units.count) / units.size)[asked]
    told = np.flatnonzero(ledger.status == ANSWERED)
    return frame_of(
        {
            "id": [pool.id_of(row) for row in ledger.asked_rows[told].tolist()],
            "label": [pool.labels.decode(code) for code in ledger.labels[told].tolist()],
            "probability": chance[told].tolist(),
            "weight": total[told].tolist(),
        }
    )
