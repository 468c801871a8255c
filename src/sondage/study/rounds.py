"""Asking: from the design's table to a round of draws, ready to be written down."""

from __future__ import annotations

import time

import numpy as np

from sondage.errors import NothingLeft
from sondage.journal import Lease, Record, Round
from sondage.journal.base import none_if_nan
from sondage.sampling import Draws, Table
from sondage.streams import stream
from sondage.study.state import StudyState

_LEASE_SECONDS = 3600.0
_LARGEST = 1e308
"""Stands for an infinite scale, which JSON cannot hold."""


def next_round(state: StudyState, n: int, annotator: str | None) -> list[Record]:
    """Records of the next round: a function of pool, configuration, seed and events."""
    limit = state.limit()
    design = state.parts.design
    if design.kind.by_quota:  # quotas for more than the budget pays would be cut short
        n = int(min(n, max(state.labels_left, 1)))
    table = design.table(state.problem(), min(n, limit.labels))
    if not design.static and table.chance is not None:
        state.journal.put_table(state.name, table.digest, np.asarray(table.content, dtype=np.float64))
    source = stream(state.parts.seed, "draw", len(state.ledger.rounds))
    draws = table.draw(state.units, state.ledger.history, min(n, limit.labels), limit, source)
    if not draws.new.any() and not table.kind.may_be_empty(table, draws):
        raise NothingLeft(state.why_nothing())
    return _records(state, n, table, draws, annotator)


def _records(state: StudyState, n: int, table: Table, draws: Draws, annotator: str | None) -> list[Record]:
    ids = state.parts.pool.ids_of(draws.row)
    this = Round(
        number=len(state.ledger.rounds),
        kind=table.kind.alias,
        table=table.digest,
        scale=None if np.isnan(draws.scale) else min(float(draws.scale), _LARGEST),
        expected=state.ledger.expected + n,
        id=ids,
        unit=draws.unit.tolist(),
        times=draws.times.tolist(),
        p=none_if_nan(draws.p),
        pi=none_if_nan(draws.pi),
        left=draws.left.tolist(),
        new=draws.new.tolist(),
    )
    if annotator is None:
        return [this]
    until = time.time() + _LEASE_SECONDS
    fresh = [id for id, new in zip(ids, this.new, strict=True) if new]
    return [this, *(Lease(id, annotator, until) for id in fresh)]
