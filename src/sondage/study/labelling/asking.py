"""Asking: from the design's table to a round of draws, ready to be written down."""

from __future__ import annotations

import numpy as np

from sondage.errors import NothingLeft
from sondage.estimators.sample import OPEN
from sondage.journal import Round
from sondage.journal.base import none_if_nan
from sondage.sampling import Limit
from sondage.streams import stream
from sondage.study.budget import Cost
from sondage.study.snapshot import Snapshot

_NO_END = 10**9
_LARGEST = 1e308
"""Stands for an infinite scale, which JSON cannot hold."""


def next_round(now: Snapshot, n: int) -> Round:
    """The next round: a function of pool, configuration, seed and events."""
    limit = limit_of(now)
    design = now.design
    if design.kind.by_quota:  # quotas for more than the budget pays would be cut short
        n = int(min(n, max(now.labels_left, 1)))
    table = design.table(now.problem(), min(n, limit.labels))
    if not design.static and table.chance is not None:
        now.journal.put_table(now.name, table.digest, np.asarray(table.content, dtype=np.float64))
    source = stream(now.parts.seed, "draw", len(now.rounds))
    draws = table.draw(now.units, now.history(), min(n, limit.labels), limit, source)
    if not draws.new.any() and not table.kind.may_be_empty(table, draws):
        raise NothingLeft(why_nothing(now))
    return Round(
        number=len(now.rounds),
        kind=table.kind.alias,
        table=table.digest,
        scale=None if np.isnan(draws.scale) else min(float(draws.scale), _LARGEST),
        expected=now.expected + n,
        id=now.parts.pool.ids_of(draws.row),
        unit=draws.unit.tolist(),
        times=draws.times.tolist(),
        p=none_if_nan(draws.p),
        pi=none_if_nan(draws.pi),
        left=draws.left.tolist(),
        new=draws.new.tolist(),
    )


def limit_of(now: Snapshot) -> Limit:
    """What the next round may take; ``NothingLeft`` if that is nothing."""
    items = _NO_END
    if now.parts.oracle == "deterministic":
        items = len(now.parts.pool) - now.asked
    last = now.rounds[-1] if now.rounds else None
    over = last is not None and last.kind.is_over(last.scale)
    if now.left <= 0 or items <= 0 or over:
        raise NothingLeft(why_nothing(now))
    if isinstance(now.parts.budget, Cost):
        return Limit(items, now.left)
    return Limit(int(min(now.left, items)))


def why_nothing(now: Snapshot) -> str:
    """Why nothing more can be asked."""
    waiting = int((now.status == OPEN).sum())
    open_ = f"; {waiting} asked items are still open: see open_items()" if waiting else ""
    budget = now.parts.budget
    if isinstance(budget, int) and now.left <= 0:
        return f"the budget of {budget} labels is spent{open_}"
    if isinstance(budget, Cost):
        return (
            f"what is left of the cost budget ({max(now.left, 0):g} of {budget.amount:g}) does not "
            f"pay for {now.design.kind.next_item}{open_}"
        )
    items = len(now.parts.pool)
    if now.asked == items:
        return f"all {items:,} items of the pool have been asked{open_}"
    some = f"all {now.asked:,} items that could move the measure"
    return f"{some} have been asked, of {items:,} in the pool{open_}"
