"""Support: whether there are draws, and whether every item that matters had a chance to be one."""

from __future__ import annotations

import numpy as np

from sondage.estimators.base import Case
from sondage.estimators.sample import Sample

_LEAST = 2


def drawn_by_chance(case: Case, kinds: frozenset[str]) -> tuple[Sample, Sample, str | None]:
    """The draws of some kinds, those of them with a label, and why they cannot carry the measure, if so."""
    mine = case.sample.of_kinds(kinds)
    seen = mine.where(mine.answered)
    if int(seen.times.sum()) < _LEAST:
        return mine, seen, "fewer than two draws have a label"
    return mine, seen, dark_share(case)


def dark_share(case: Case) -> str | None:
    """Why the chances of the rounds cannot carry the measure; None if they can.

    Every item whose label could matter must have had a chance above zero in some round.
    """

    def make() -> str | None:
        N = len(case.pool)
        reached = np.zeros(case.units.count, dtype=bool)
        for number in range(len(case.sample.rounds)):
            table = case.tables(number)
            if table is None or table.chance is None:
                return None
            if number and table is case.tables(number - 1):
                continue
            positive = table.chance > 0
            if positive.all():
                return None
            reached |= positive
        unreached = np.flatnonzero(~reached[case.units.codes])
        if not case.units.itemwise:
            # A cell all of whose items were asked has chance 0 because it is finished.
            asked = np.bincount(case.sample.unit[case.sample.new], minlength=case.units.count)
            finished = asked >= case.units.size
            unreached = unreached[~finished[case.units.unit_of(unreached)]]
        if not len(unreached):
            return None
        low, high = case.measure.extremes(case.pool.rows(unreached), np.eye(case.measure.d))
        dark = int((low != high).any(axis=1).sum())
        if not dark:
            return None
        return (
            f"{dark / N:.1%} of the pool ({dark:,} items that the measure depends on) had no chance "
            "of being asked: these labels were drawn for another measure. Use a design that mixes in "
            "uniform draws, e.g. Importance(mix=0.1)"
        )

    return case.once(f"dark:{len(case.sample.rounds)}", make)
