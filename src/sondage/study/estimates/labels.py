"""The labels of a study: what each counts for, who gave it, and when."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np

from sondage.estimators import estimator_for
from sondage.estimators.sample import ANSWERED
from sondage.ingest.answers import as_cell, payload_names
from sondage.study.replay.ledger import Ledger
from sondage.study.snapshot import Snapshot


def label_columns(now: Snapshot) -> dict[str, list[Any]]:
    """What ``Study.labels`` gives, column by column."""
    pool, units, sample = now.pool, now.units, now.sample
    kind = sample.kinds[0] if sample.kinds else now.design.kind
    weight = estimator_for(kind, now.parts.estimator).weights(now.case())
    total = np.bincount(now.slots, weights=weight, minlength=now.asked)
    chance = np.where(np.isnan(sample.pi), sample.p, sample.pi)[sample.new]
    if not kind.recorded:  # no chance of its own: the share of its cell that was asked
        asked = now.asked_units
        chance = (np.bincount(asked, minlength=units.count) / units.size)[asked]
    told = np.flatnonzero(now.status == ANSWERED)
    ledger = _as_told(now)
    slots = told.tolist()
    return {
        "id": pool.ids_of(now.asked_rows[told]),
        "label": [pool.labels.decode(code) for code in now.asked_labels[told].tolist()],
        "probability": chance[told].tolist(),
        "weight": total[told].tolist(),
        "round": now.drawn("round", told).tolist(),
        "annotator": ["; ".join(name for name in ledger.answers[slot] if name) for slot in slots],
        "time": [_moment(ledger.told_at[slot]) for slot in slots],
    }


def exported(now: Snapshot, *, payload: bool) -> dict[str, list[Any]]:
    """The columns of ``labels``, then labels imported of items never asked, as files have them."""
    columns = label_columns(now)
    columns["source"] = ["asked"] * len(columns["id"])
    for name, more in _imported(now).items():
        columns[name] += more
    columns["label"] = [as_cell(label) for label in columns["label"]]
    if payload:
        rows = now.pool.rows_of(columns["id"]).tolist()
        shown = [now.pool.payload_of(row) for row in rows]
        for there, here in payload_names(now.pool).items():
            columns[there if there not in columns else f"payload.{there}"] = [one[here] for one in shown]
    return columns


def _imported(now: Snapshot) -> dict[str, list[Any]]:
    """Labels of items that the study did not ask: they have no weight of their own, and maybe no chance."""
    ledger = _as_told(now)
    known = ledger.imports.known(set(now.asked_rows.tolist()))
    rows, empty = known.row.tolist(), [None] * len(known.row)
    chance, answers = ledger.imports.chances(), [ledger.imports.answers[row] for row in rows]
    return {
        "id": now.pool.ids_of(known.row),
        "label": [now.pool.labels.decode(code) for code in known.y.tolist()],
        "probability": [chance.get(row) for row in rows],
        "weight": empty,
        "round": empty,
        "annotator": ["; ".join(name for name in one if name) for one in answers],
        "time": [_moment(ledger.imports.at[row]) if row in ledger.imports.at else None for row in rows],
        "source": ["imported"] * len(rows),
    }


def _as_told(now: Snapshot) -> Ledger:
    """Who answered what, and when: of use here alone, so it is read from the journal again."""
    ledger = Ledger(now.parts.pool, now.parts.units, now.parts.oracle)
    for seq, record in now.journal.events(now.name):
        if seq <= now.seq:
            ledger.apply(seq, record)
    return ledger


def _moment(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")
