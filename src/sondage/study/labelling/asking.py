"""Asking: from the design's table to a round of draws, and its items as an oracle sees them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from sondage.errors import NothingLeft
from sondage.journal import Round
from sondage.journal.base import none_if_nan
from sondage.sampling import Limit
from sondage.streams import stream
from sondage.study.budget import Cost
from sondage.study.snapshot import Snapshot
from sondage.types import Id, Ints

_NO_END = 10**9
_LARGEST = 1e308
"""Stands for an infinite scale, which JSON cannot hold."""


@dataclass(frozen=True)
class Item:
    """What an oracle needs: the id to answer by, what to show, what it costs, and why it is asked.

    Of a ranking the id is a pair, (query, document). ``_why`` is the reason, or a function that makes it: it
    is made when it is first read.
    """

    id: Id
    payload: dict[str, Any] = field(repr=False)
    cost: float = 1.0
    _why: str | Callable[[], str] = field(default="", repr=False, compare=False)

    @cached_property
    def reason(self) -> str:
        """Why this item is asked, in one sentence."""
        return self._why if isinstance(self._why, str) else self._why()

    def __getstate__(self) -> dict[str, Any]:
        return {"id": self.id, "payload": self.payload, "cost": self.cost, "_why": self.reason}


def next_round(now: Snapshot, n: int) -> Round:
    """The next round: a function of pool, configuration, seed and events."""
    limit = _limit(now)
    design = now.design
    if design.kind.by_quota:  # quotas for more than the budget pays would be cut short
        n = int(min(n, max(now.labels_left, 1)))
    table = design.table(now.problem(), min(n, limit.labels))
    if not now.parts.static and table.chance is not None:
        now.journal.put_table(now.name, table.digest, np.asarray(table.content, dtype=np.float64))
    source = stream(now.parts.seed, "draw", len(now.rounds))
    draws = table.draw(now.units, now.history(), min(n, limit.labels), limit, source)
    if not draws.new.any() and not table.kind.may_be_empty(table, draws):
        raise NothingLeft(_why_nothing(now))
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


def _limit(now: Snapshot) -> Limit:
    """What the next round may take; ``NothingLeft`` if that is nothing."""
    left = now.left
    items = now.parts.size - now.asked if now.parts.oracle == "deterministic" else _NO_END
    last = now.rounds[-1] if now.rounds else None
    if left <= 0 or items <= 0 or (last is not None and last.kind.is_over(last.scale)):
        raise NothingLeft(_why_nothing(now))
    if isinstance(now.parts.budget, Cost):
        return Limit(items, left)
    return Limit(int(min(left, items)))


def _why_nothing(now: Snapshot) -> str:
    open_ = f"; {now.n_open} asked items are still open: see open_items()" if now.n_open else ""
    budget, items = now.parts.budget, now.parts.size
    if isinstance(budget, int) and now.left <= 0:
        return f"the budget of {budget} labels is spent{open_}"
    if isinstance(budget, Cost):
        return (
            f"what is left of the cost budget ({max(now.left, 0):g} of {budget.amount:g}) does not "
            f"pay for {now.design.kind.next_item}{open_}"
        )
    if now.asked == items:
        return f"all {items:,} items of the pool have been asked{open_}"
    some = f"all {now.asked:,} items that could move the measure"
    return f"{some} have been asked, of {items:,} in the pool{open_}"


def items_of(now: Snapshot, slots: Ints) -> list[Item]:
    """The items of some slots; why each was asked is said when somebody wants to know."""
    pool, slots = now.pool, handed_out(now, slots)
    rows, items = now.asked_rows[slots], []
    each = zip(pool.ids_of(rows), rows.tolist(), pool.costs(rows).tolist(), slots.tolist(), strict=True)
    for id, row, cost, slot in each:
        why = partial(_reason, now.latest, slot)
        if pool.parts is None:
            items.append(Item(id, pool.payload_of(row), cost, why))
            continue
        for place in now.open_places[slot]:
            part: Any = (id, pool.parts.id_of(row, place))
            items.append(Item(part, pool.parts.payload_of(row, place), pool.parts.cost_of(row, place), why))
    return items


def _reason(latest: Callable[[], Snapshot], slot: int) -> str:
    """Why a drawn item was asked: what the design says of its unit, and the chance by which it was drawn.

    Of the latest snapshot, so that items that are kept do not keep old ones.
    """
    now = latest()
    columns = ("p", "pi", "left", "round", "unit")
    p, pi, left, number, unit = (now.drawn(name, np.array([slot])).item() for name in columns)
    if not np.isnan(pi):
        chance = f"included with chance {pi:.2g}"
    elif not np.isnan(p):
        chance = f"drawn with chance {p:.2g}"
    else:
        chance = f"taken at random from {left:,} items like it" if left > 1 else "the last item of its kind"
    why = now.design.reason(now.problem_of(number), unit)
    return f"{why}; {chance}" if why else chance


def handed_out(now: Snapshot, slots: Ints) -> Ints:
    """Some slots, in order, as people should see them: round by round, and inside a round at random.

    Whoever stops half-way leaves the rest of a round open, and the half that is answered stands for the
    round. So it must not be the half with the low scores, nor the one with the large chances. Units take
    turns, each from a start of its own: at any moment about the same share of every unit is out. Where draws
    are made one after another the order drawn stays: what was drawn so far is a sample by itself.
    """
    number = now.drawn("round", np.arange(now.asked))  # rising: slots are numbered as they are drawn
    turn = np.zeros(now.asked)
    for one in set(number[slots].tolist()):
        begin, end = np.searchsorted(number, (one, one + 1)).tolist()
        if now.rounds[one].kind.one_by_one:
            turn[begin:end] = np.arange(end - begin)
            continue
        start = stream(now.parts.seed, "hand-out", one).uniform(end - begin)
        order = np.argsort(now.asked_units[begin:end], kind="stable")
        unit = now.asked_units[begin:end][order]
        first = np.searchsorted(unit, unit)
        count = np.searchsorted(unit, unit, side="right") - first
        turn[begin + order] = (np.arange(end - begin) - first + start[order[first]]) / count
    return slots[np.lexsort((turn[slots], number[slots]))]
