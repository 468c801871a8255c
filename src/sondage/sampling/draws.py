"""What is drawn in a round, from what, and within which limits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sondage.types import Bools, Floats, Ints


@dataclass(frozen=True)
class Draws:
    """Items taken in one round, in the order taken, with their chances *at that moment*.

    ``times``: repeats in the round (with replacement). ``p``: chance of this item at this draw, ``pi``: of
    being included in the round's sample; nan where the kind of sampling records none. ``left``: items of the
    unit not asked before this draw, or before the round. ``new``: whether it costs a label. ``scale``: one
    number of the round, whose meaning is the kind's own.
    """

    row: Ints
    unit: Ints
    times: Ints
    p: Floats
    pi: Floats
    left: Ints
    new: Bools
    scale: float = np.nan

    @classmethod
    def once(
        cls,
        row: Ints,
        unit: Ints,
        left: Ints,
        *,
        p: Floats | None = None,
        pi: Floats | None = None,
        scale: float = np.nan,
    ) -> Draws:
        """Draws of new items, each taken once."""
        nothing = np.full(len(row), np.nan)
        return cls(
            row,
            unit,
            np.ones(len(row), np.int64),
            nothing if p is None else p,
            nothing if pi is None else pi,
            left,
            np.ones(len(row), bool),
            scale,
        )

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


def running_index(unit: Ints) -> Ints:
    """0, 1, 2, ... for the first, second, third, ... time that a unit appears.

    >>> running_index(np.array([5, 2, 5, 5])).tolist()
    [0, 0, 1, 2]
    """
    order = np.argsort(unit, kind="stable")
    index = np.empty(len(unit), dtype=np.int64)
    index[order] = np.arange(len(unit)) - np.searchsorted(unit[order], unit[order])
    return index
