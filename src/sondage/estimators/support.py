"""Support: whether there are draws, and whether every item that matters had a chance to be one."""

from __future__ import annotations

import numpy as np

from sondage.estimators.base import Case
from sondage.estimators.sample import Sample
from sondage.pool.pool import CHUNK
from sondage.sampling import SamplingKind
from sondage.types import Floats, Ints

_LEAST = 2


def drawn_by_chance(case: Case, kinds: tuple[type[SamplingKind], ...]) -> tuple[Sample, Sample, str | None]:
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
        N, unreached = len(case.pool), _unreached(case)
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


def never_drawn(case: Case) -> Floats:
    """(d,) what items without a chance add to the averages: draws cannot speak for them, and need not.

    Only where ``dark_share`` has no objection: the losses of such items are the same for every label.
    """

    def make() -> Floats:
        total, rows = np.zeros(case.measure.d), _unreached(case)
        for start in range(0, len(rows), CHUNK):
            some = case.pool.rows(rows[start : start + CHUNK])
            total += case.measure.loss(some, np.zeros(1))[:, 0].sum(axis=0)
        return total / len(case.pool)

    return case.once(f"never drawn:{len(case.sample.rounds)}", make)


def _unreached(case: Case) -> Ints:
    """Rows that had no chance in any round; none where rounds keep no table of chances."""
    reached = np.zeros(case.units.count, dtype=bool)
    for number in range(len(case.sample.rounds)):
        table = case.tables(number)
        if table is None or table.chance is None:
            return np.empty(0, dtype=np.int64)
        if number and table is case.tables(number - 1):
            continue
        reached |= table.chance > 0
        if reached.all():
            return np.empty(0, dtype=np.int64)
    unreached = case.units.rows_in(~reached)
    if case.units.itemwise:
        return unreached
    # A cell all of whose items were asked has chance 0 because it is finished.
    asked = np.bincount(case.sample.unit[case.sample.new], minlength=case.units.count)
    return unreached[~(asked >= case.units.size)[case.units.of(unreached)]]
