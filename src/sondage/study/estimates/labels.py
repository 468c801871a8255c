"""The labels of a study: what each counts for, who gave it, and when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from sondage.estimators import estimator_for
from sondage.estimators.sample import ANSWERED, OPEN, REFUSED
from sondage.ingest.answers import CANNOT, DOCUMENT, QUERY, as_cell, payload_names, payload_of
from sondage.pool.parts import plain_grade
from sondage.study.replay.ledger import Ledger, annotators_of, resolved
from sondage.study.snapshot import Snapshot
from sondage.types import Floats

_STATE = {ANSWERED: "judged", OPEN: "half judged", REFUSED: CANNOT}
"""What an export says of the query of a document."""


def label_columns(now: Snapshot) -> dict[str, list[Any]]:
    """What ``Study.labels`` gives, column by column."""
    pool, (chance, weight) = now.pool, _chance_and_weight(now)
    told = np.flatnonzero(now.status == ANSWERED)
    ledger = _as_told(now)
    slots = told.tolist()
    return {
        "id": pool.ids_of(now.asked_rows[told]),
        "label": [pool.labels.decode(code) for code in now.asked_labels[told].tolist()],
        "probability": chance[told].tolist(),
        "weight": weight[told].tolist(),
        "round": now.drawn("round", told).tolist(),
        "annotator": [_who(ledger, slot) for slot in slots],
        "time": [_moment(ledger.told_at[slot]) if slot in ledger.told_at else None for slot in slots],
    }


def document_columns(now: Snapshot) -> dict[str, list[Any]]:
    """A row for each document that was told of, also where its query lacks others and counts in nothing."""
    ledger, parts = _as_told(now), now.pool.parts
    assert parts is not None
    chance, weight = (values.tolist() for values in _chance_and_weight(now))
    rounds, status = now.drawn("round", np.arange(now.asked)).tolist(), now.status.tolist()
    rows = []
    for slot, (id, row) in enumerate(
        zip(now.pool.ids_of(now.asked_rows), now.asked_rows.tolist(), strict=True)
    ):
        for place, answers in sorted(ledger.part_answers.get(slot, {}).items()):
            found, grade = resolved(answers, now.pool.labels)
            if found == OPEN:
                continue
            rows.append(
                {
                    QUERY: id,
                    DOCUMENT: parts.id_of(row, place),
                    "label": CANNOT if found == REFUSED else plain_grade(grade),
                    "query_is": _STATE[status[slot]],
                    "probability": chance[slot],
                    "weight": weight[slot] if status[slot] == ANSWERED else None,
                    "round": rounds[slot],
                    "annotator": annotators_of(answers),
                    "time": _moment(ledger.part_told_at[slot, place]),
                }
            )
    names = (QUERY, DOCUMENT, "label", "query_is", "probability", "weight", "round", "annotator", "time")
    return {name: [one[name] for one in rows] for name in names}


def _chance_and_weight(now: Snapshot) -> tuple[Floats, Floats]:
    """By slot: the chance by which it was drawn, and what its label counts for."""
    units, sample = now.units, now.sample
    kind = sample.kinds[0] if sample.kinds else now.design.kind
    weight = estimator_for(kind, now.parts.estimator).weights(now.case())
    total = np.bincount(now.slots, weights=weight, minlength=now.asked).astype(np.float64)
    chance = np.where(np.isnan(sample.pi), sample.p, sample.pi)[sample.new]
    if not kind.recorded:  # no chance of its own: the share of its cell that was asked
        asked = now.asked_units
        chance = (np.bincount(asked, minlength=units.count) / units.size)[asked]
    return chance, total


def _who(ledger: Ledger, slot: int) -> str:
    """All who answered for an item, or for a document of it."""
    each = [ledger.answers[slot], *ledger.part_answers.get(slot, {}).values()]
    return annotators_of(dict.fromkeys(name for one in each for name in one))


def exported(now: Snapshot, *, payload: bool) -> dict[str, list[Any]]:
    """The columns of ``labels``, then labels imported of items never asked, as files have them.

    Of queries, a row for each document that was told of.
    """
    if now.pool.parts is not None:
        columns = document_columns(now)
        if payload:
            shown = [payload_of(id, now.pool) for id in zip(columns[QUERY], columns[DOCUMENT], strict=True)]
            _show(columns, shown, now)
        return columns
    columns = label_columns(now)
    columns["source"] = ["asked"] * len(columns["id"])
    for name, more in _imported(now).items():
        columns[name] += more
    columns["label"] = [as_cell(label) for label in columns["label"]]
    if payload:
        rows = now.pool.rows_of(columns["id"]).tolist()
        shown = [now.pool.payload_of(row) for row in rows]
        _show(columns, shown, now)
    return columns


def _show(columns: dict[str, list[Any]], shown: Sequence[Mapping[str, Any]], now: Snapshot) -> None:
    for there, here in payload_names(now.pool).items():
        columns[there if there not in columns else f"payload.{there}"] = [one[here] for one in shown]


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
        "annotator": [annotators_of(one) for one in answers],
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
