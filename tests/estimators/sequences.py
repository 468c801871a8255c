"""Pools small enough that every sequence of draws can be listed, with the table of every round."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sondage.beliefs import CountBelief
from sondage.estimators import ANSWERED, Case, RoundInfo, Sample
from sondage.measures import resolve
from sondage.pool.pool import Pool
from sondage.pool.units import CellUnits
from sondage.sampling import Table, kind_of


@dataclass
class TinyStudy:
    """A pool with true labels, cells, and chances per cell that follow the labels seen.

    ``rounds`` are the lengths of the rounds: chances may use labels of earlier rounds only.
    """

    pool: Pool
    y: np.ndarray
    measure: Any
    cells: np.ndarray
    rounds: tuple[int, ...]
    refused: frozenset[int] = frozenset()
    memo: dict[Any, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.bound = resolve(self.measure).bind(self.pool)
        self.units = CellUnits(self.pool, self.cells, self.bound.signature(self.pool), seed=0)
        self.unit = self.units.of(np.arange(len(self.pool)))
        self.belief = CountBelief().bind(self.pool, self.bound.systems(self.pool))

    def table(self, past: Sequence[int]) -> np.ndarray:
        """(U,) relative chances, moved by the labels of the past."""
        seen = [row for row in past if row not in self.refused]
        mass = np.full(self.units.count, 0.3) + 0.2 * np.arange(self.units.count)
        np.add.at(mass, self.unit[seen], self.y[seen])
        return mass

    def _tables(self, rows: Sequence[int]) -> list[np.ndarray]:
        begins = np.concatenate([[0], np.cumsum(self.rounds)])[:-1]
        return [self.table(rows[:begin]) for begin in begins if begin <= len(rows)]

    def chances(self, past: tuple[int, ...]) -> np.ndarray:
        """(N,) chance of each item at the next draw."""
        round_of = np.repeat(np.arange(len(self.rounds)), self.rounds)
        chance = self._tables(past)[round_of[len(past)]][self.unit]
        chance[list(past)] = 0.0
        return chance / chance.sum()

    def case(self, rows: Sequence[int]) -> Case:
        """The case after these draws."""
        at, T = np.array(rows, dtype=np.int64), len(rows)
        tables = self._tables(rows)
        left = [int(self.units.size[self.unit[row]] - (self.unit[at[:k]] == self.unit[row]).sum())
                for k, row in enumerate(rows)]  # fmt: skip
        told = np.array([row not in self.refused for row in rows], dtype=bool)
        round_of = np.repeat(np.arange(len(self.rounds)), self.rounds)[:T]
        ends = np.cumsum(self.rounds)[: int(round_of[-1]) + 1]
        sample = Sample(
            round=round_of,
            row=at,
            unit=self.unit[at],
            times=np.ones(T, dtype=np.int64),
            p=np.array([self.chances(tuple(rows[:k]))[row] for k, row in enumerate(rows)]),
            pi=np.full(T, np.nan),
            left=np.array(left),
            new=np.ones(T, dtype=bool),
            y=np.where(told, self.y[at], np.nan),
            status=np.where(told, ANSWERED, 2),
            rounds=tuple(RoundInfo(kind_of("wor"), np.nan, float(end)) for end in ends),
        )
        return Case(
            self.pool,
            self.units,
            self.bound,
            sample,
            self.belief,
            (),
            lambda number: Table("wor", chance=tables[number]),
            memo=self.memo,
        )

    def histories(self, length: int) -> list[tuple[int, ...]]:
        """Every ordered sequence of so many different items."""
        found: list[tuple[int, ...]] = [()]
        for _ in range(length):
            found = [(*past, k) for past in found for k in range(len(self.pool)) if k not in past]
        return found

    def next_mean(self, past: tuple[int, ...], value: Callable[[Case], Any]) -> Any:
        """Mean over the next draw of something of the case after it."""
        chance = self.chances(past)
        items = np.flatnonzero(chance > 0)
        return sum(chance[k] * value(self.case((*past, int(k)))) for k in items)
