"""Handing out: items as an oracle sees them, in random order whatever the order they were drawn in."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from sondage.sampling.base import running_index
from sondage.streams import stream
from sondage.study.labelling.item import Item
from sondage.study.snapshot import Snapshot
from sondage.types import Ints


def items_of(now: Snapshot, slots: Ints) -> list[Item]:
    """The items of some slots; why each was asked is said when somebody wants to know."""
    pool = now.pool
    slots = handed_out(now, slots)
    rows = now.drawn("row", slots)
    return [
        Item(id, pool.payload_of(row), pool.cost_of(row), partial(_reason, now.latest, slot))
        for id, row, slot in zip(pool.ids_of(rows), rows.tolist(), slots.tolist(), strict=True)
    ]


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
        chance = f"at random from {left:,} items of its cell" if left > 1 else "the last item of its cell"
    why = now.design.reason(now.problem_of(number), unit)
    return f"{why}; {chance}" if why else chance


def handed_out(now: Snapshot, slots: Ints) -> Ints:
    """Some slots, in order, as people should see them: round by round, and inside a round at random.

    Whoever stops half-way leaves the rest of a round open, and the half that is answered stands for the
    round. So it must not be the half with the low scores, nor the one with the large chances. Units take
    turns, each from a start of its own: at any moment about the same share of every unit is out. Where draws
    are made one after another the order drawn stays: what was drawn so far is a sample by itself.
    """
    every = np.arange(now.asked)
    number = now.drawn("round", every)  # rising: slots are numbered as they are drawn
    turn = np.zeros(now.asked)
    for one in np.unique(number[slots]).tolist():
        mine = every[np.searchsorted(number, one) : np.searchsorted(number, one, side="right")]
        if now.rounds[one].kind.one_by_one:
            turn[mine] = np.arange(len(mine))
            continue
        _, first, unit, count = np.unique(
            now.asked_units[mine], return_index=True, return_inverse=True, return_counts=True
        )
        start = stream(now.parts.seed, "hand-out", one).uniform(len(mine))[first]
        turn[mine] = (running_index(unit) + start[unit]) / count[unit]
    return slots[np.lexsort((turn[slots], number[slots]))]
