"""What is drawn in a round, from what, and within which limits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sondage.types import Bools, Floats, Ints


@dataclass(frozen=True)
class Draws:
    """Items taken in one round, in the order taken, with their chances *at that moment*.

    ``times``: repeats in the round (with replacement). ``p``: chance of this item at this draw, nan if
    its unit was chosen by rule. ``pi``: chance of being included in the round's sample, nan if there
    is none. ``p_within``: chance given the unit. ``left``: items of the unit not asked before this
    draw. ``new``: whether it costs a label. ``scale``: of a Poisson sample (kind ``online``: the number
    expected, nan if it was fixed; kind ``wr``: 0 if the round ended before an item that was too dear).
    """

    row: Ints
    unit: Ints
    times: Ints
    p: Floats
    pi: Floats
    p_within: Floats
    left: Ints
    new: Bools
    scale: float = np.nan

    def __len__(self) -> int:
        return len(self.row)


@dataclass(frozen=True)
class History:
    """What was asked before.

    ``taken`` counts per unit and ``asked`` is a mask of the pool; the first is empty where every item
    is a unit, the second where units are cells. ``rows`` are the items asked, in order.
    ``repeats_count``: the oracle's answers vary, so that every draw needs an answer of its own.
    """

    taken: Ints
    asked: Bools
    rows: Ints
    repeats_count: bool = False


@dataclass(frozen=True)
class Limit:
    """What may be spent: a number of labels, and what they may cost together."""

    labels: int
    cost: float = np.inf

    def cut(self, cost: Floats) -> int:
        """How many of these items, in order, fit."""
        fits = np.cumsum(cost) <= self.cost * (1 + 1e-12)
        return min(self.labels, int(fits.sum()))
