"""In which order the items of a round are handed out: at random, whatever the order they were drawn in."""

from __future__ import annotations

import numpy as np

from sondage.streams import stream
from sondage.study.state import StudyState
from sondage.types import Ints


def handed_out(state: StudyState, slots: Ints) -> Ints:
    """Some slots, in order, as people should see them: round by round, and inside a round at random.

    Whoever stops half-way leaves the rest of a round open, and the half that is answered stands for the
    round. So it must not be the half with the low scores, nor the one with the large chances. Units take
    turns, each from a start of its own: at any moment about the same share of every unit is out. Where draws
    are made one after another the order drawn stays: what was drawn so far is a sample by itself.
    """
    ledger = state.ledger
    every = np.arange(ledger.asked)
    number = ledger.drawn("round", every)  # rising: slots are numbered as they are drawn
    turn = np.zeros(ledger.asked)
    for one in np.unique(number[slots]).tolist():
        mine = every[np.searchsorted(number, one) : np.searchsorted(number, one, side="right")]
        if ledger.rounds[one].kind.one_by_one:
            turn[mine] = np.arange(len(mine))
            continue
        _, first, unit, count = np.unique(
            ledger.asked_units[mine], return_index=True, return_inverse=True, return_counts=True
        )
        start = stream(state.parts.seed, "hand-out", one).uniform(len(mine))[first]
        turn[mine] = (_running(unit, count) + start[unit]) / count[unit]
    return slots[np.lexsort((turn[slots], number[slots]))]


def _running(unit: Ints, count: Ints) -> Ints:
    """0, 1, 2, ... inside each unit, in the order in which its items stand."""
    order = np.argsort(unit, kind="stable")
    index = np.empty(len(unit), dtype=np.int64)
    index[order] = np.arange(len(unit)) - np.repeat(np.cumsum(count) - count, count)
    return index
