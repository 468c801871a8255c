"""Wrong predictions among the labels, as examples."""

from __future__ import annotations

from collections import Counter

import numpy as np

from sondage.estimators.sample import ANSWERED
from sondage.report.document.parts import Chapter, Grid
from sondage.report.text import spoken
from sondage.study.snapshot import Snapshot
from sondage.wording import counted

_SHOWN = 12
_LETTERS = 240
"""Of one field of a payload."""
_FIELDS = 6
"""Of one payload."""


def mistakes(study: Snapshot) -> Chapter | None:
    """Up to a dozen, of every kind in turn; None without labels, or where none is simply right or wrong."""
    pool = study.pool
    systems = study.measure.systems(pool)
    system = pool.system_name(systems[0] if systems else None)
    if pool.labels.values is None or not pool.has("prediction", system):
        return None
    told = np.flatnonzero(study.status == ANSWERED)
    if not len(told):
        return None
    rows, said = study.asked_rows[told], study.asked_labels[told].astype(np.int64)
    predicted = pool.rows(rows).prediction(system).astype(np.int64)
    wrong = np.flatnonzero(predicted != said)
    heading = "Examples of wrong predictions"
    labelled = counted(len(told), "labelled item")
    if not len(wrong):
        return Chapter(heading, (f"Among {labelled} no prediction of {spoken(system)} is wrong.",))
    turn: Counter[tuple[int, int]] = Counter()
    order = []
    for k in wrong.tolist():
        kind = (int(predicted[k]), int(said[k]))
        order.append((turn[kind], k))
        turn[kind] += 1
    chosen = [k for _, k in sorted(order)[:_SHOWN]]
    names = list(pool.roles.payload)[:_FIELDS] if hasattr(pool, "roles") else []
    names = [name for name in names if any(name in pool.payload_of(int(rows[k])) for k in chosen)]
    values = pool.labels.values
    cells = []
    for k in sorted(chosen):
        payload = pool.payload_of(int(rows[k]))
        shown = [_short(payload.get(name, "")) for name in names]
        id = _short(pool.id_of(int(rows[k])))
        cells.append((id, str(values[predicted[k]]), str(values[said[k]]), *shown))
    text = (
        f"{counted(len(wrong), 'prediction')} of {spoken(system)} among {labelled} "
        f"{'is' if len(wrong) == 1 else 'are'} wrong. Items were drawn where errors matter, so this share is "
        f"not the error rate."
        + (f" {len(chosen)} of them, taking each kind of error in turn:" if len(chosen) < len(wrong) else "")
    )
    grid = Grid(("id", "predicted", "label", *names), tuple(cells), stacked=True)
    return Chapter(heading, (text,), grids=(grid,))


def _short(value: object) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= _LETTERS else text[:_LETTERS] + "…"
