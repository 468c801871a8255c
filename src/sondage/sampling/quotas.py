"""Quotas: a number of items of each unit, at random inside it."""

from __future__ import annotations

import numpy as np

from sondage.pool.units import Units
from sondage.sampling.base import Draws, History, Limit, SamplingKind, Table, relative, running_index
from sondage.streams import Stream
from sondage.types import Floats, Ints


class Quotas(SamplingKind):
    """``quota`` items of each unit: its next ones in keyed order. There is no chance per item."""

    alias = "strata"
    rule = "Every stratum has a quota; inside a stratum items are taken at random."
    estimator = "counts"
    recorded = ""
    by_quota = True
    stands_alone = True
    counts_down = True

    def draw(
        self, table: Table, units: Units, history: History, n: int, limit: Limit, stream: Stream
    ) -> Draws:
        """Units take turns, from random starts if the limit does not pay for all.

        A round that is cut short must not end with the units that happen to be numbered first.
        """
        quota = _quota(table)
        unit = np.repeat(np.arange(units.count), quota)
        index = running_index(unit)
        row = units.rows_at(unit, history.taken[unit] + index)
        short = limit.cut(units.cost_of(row)) < len(row)
        start = stream.uniform(units.count)[unit] if short else 0.5
        turn = np.argsort((index + start) / quota[unit], kind="stable")
        turn = turn[: limit.cut(units.cost_of(row[turn]))]
        unit, row = unit[turn], row[turn]
        left = units.size[unit] - history.taken[unit] - index[turn]
        return Draws.once(row, unit, left)

    def is_uniform(self, units: Units) -> bool:
        """Of one unit: then every sample of the same size is equally likely."""
        return units.count == 1

    def relative_chance(self, table: Table, size: Ints, asked: Ints, expected: float, n: int) -> Floats:
        """The share of the unit's items that will have been asked, those asked before included."""
        return relative((asked + _quota(table)) / size, size)

    def coming_chance(self, table: Table, size: Ints, asked: Ints, expected: float, n: int) -> Floats:
        return np.asarray(_quota(table) / np.maximum(size - asked, 1))

    def variance(
        self, table: Table, units: Units, spread: Floats, n: int, repeats_count: bool
    ) -> tuple[float, float]:
        """Neighbours stand for a cell without labels: it counts as sampled about as densely as all."""
        size, quota, N = units.size, _quota(table), int(units.size.sum())
        labels = np.where(quota > 0, quota, np.minimum(n * size / N, size))
        return float((size * (size / labels - 1.0) * spread).sum()) / (N * N), float(quota @ units.cost)

    def adds_up(self, table: Table, size: Ints, asked: Ints, expected: float, n: int) -> tuple[float, float]:
        return float(_quota(table).sum()), float(min(n, (size - asked).sum()))


def _quota(table: Table) -> Ints:
    assert table.quota is not None
    return table.quota
