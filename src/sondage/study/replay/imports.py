"""Labels from elsewhere: samples of their own where chances are known, otherwise hints to the belief."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import NamedTuple

import numpy as np

from sondage.estimators.sample import ANSWERED, RoundInfo, Sample
from sondage.journal import Import
from sondage.pool.pool import Pool
from sondage.pool.units import Units
from sondage.sampling import kind_of
from sondage.types import Floats, Id, Ints

Answers = dict[str | None, float | None]
"""Answers to one item: by annotator, the label as a number or None for "cannot tell"."""


class Known(NamedTuple):
    """Imported labels of items that the study has not asked: row, label, and weight as in ``Seen``."""

    row: Ints
    y: Floats
    weight: Floats


class Imports:
    """What was imported, by row of the pool. An item that is asked later shares its answers with its slot.

    Own draws are made as if nothing had been imported, so that they stay what they are: a sample for itself.
    An item drawn whose label is known already is answered at once, and costs nothing.
    """

    def __init__(self, pool: Pool, units: Units, resolved: Callable[[Answers], tuple[int, float]]) -> None:
        self._pool, self._units, self._resolved = pool, units, resolved
        self.answers: dict[int, Answers] = {}
        self.at: dict[int, float] = {}
        """When the newest answer came, by row."""
        self._each: list[tuple[Ints, Floats | None, float]] = []
        self._samples: tuple[Sample, ...] | None = ()
        self._known: Known | None = None

    def __len__(self) -> int:
        return len(self.answers)

    def add(self, record: Import, answered: Callable[[int], Answers | None]) -> None:
        """Take in an import; ``answered`` has the answers to items that were asked before."""
        rows = self._pool.rows_of(record.id)
        chance = None if record.chance is None else np.array(record.chance, dtype=np.float64)
        self._each.append((rows, chance, record.expected))
        for row in rows.tolist():
            if row not in self.answers:
                there = answered(row)
                self.answers[row] = {} if there is None else there
        self.changed()

    def holds(self, rows: Ints, chance: Floats | None) -> bool:
        """Whether just these items, with these chances, were imported before: the same sample again."""

        def sample(rows: Ints, chance: Floats | None) -> tuple[list[int], list[float]]:
            order = np.argsort(rows)
            return rows[order].tolist(), [] if chance is None else chance[order].tolist()

        return sample(rows, chance) in (sample(its, known) for its, known, _ in self._each)

    def changed(self) -> None:
        """What was said of an imported item is no longer what it was."""
        self._samples = self._known = None

    def has(self, row: int) -> bool:
        """Whether an imported item has an answer."""
        return bool(self.answers.get(row))

    def samples(self) -> tuple[Sample, ...]:
        """Every import with known chances, as a sample of one round: items included each by its chance."""
        if self._samples is None:
            self._samples = tuple(
                self._sample(rows, chance, expected)
                for rows, chance, expected in self._each
                if chance is not None
            )
        return self._samples

    def known(self, asked: Container[int]) -> Known:
        """Labels of items that the study has not asked."""
        if self._known is None:
            weight: dict[int, float] = {}
            for rows, chance, expected in self._each:
                count = np.ones(len(rows)) if chance is None else expected / (chance * len(self._pool))
                weight.update(zip(rows.tolist(), count.tolist(), strict=True))
            found = [(row, *self._resolved(self.answers[row])) for row in weight if row not in asked]
            told = [(row, y) for row, status, y in found if status == ANSWERED]
            self._known = Known(
                np.array([row for row, _ in told], dtype=np.int64),
                np.array([y for _, y in told], dtype=np.float64),
                np.array([weight[row] for row, _ in told], dtype=np.float64),
            )
        return self._known

    def chances(self) -> dict[int, float]:
        """The chance that each item came with, by row, where it came with one."""
        return {
            row: one
            for rows, chance, _ in self._each
            if chance is not None
            for row, one in zip(rows.tolist(), chance.tolist(), strict=True)
        }

    def ids(self) -> list[Id]:
        """Ids of all imported items."""
        return self._pool.ids_of(np.array(list(self.answers), dtype=np.int64))

    def _sample(self, rows: Ints, chance: Floats, expected: float) -> Sample:
        """Of the kind ``poisson``, at a scale of 1: the chances are what was recorded elsewhere."""
        count = len(rows)
        outcome = [self._resolved(self.answers[row]) for row in rows.tolist()]
        ones = np.ones(count, dtype=np.int64)
        return Sample(
            round=np.zeros(count, dtype=np.int64),
            row=rows,
            unit=self._units.of(rows),
            times=ones,
            p=np.full(count, np.nan),
            pi=chance,
            left=ones,
            new=ones.astype(bool),
            y=np.array([y for _, y in outcome], dtype=np.float64),
            status=np.array([status for status, _ in outcome], dtype=np.int64),
            rounds=(RoundInfo(kind_of("poisson"), 1.0, expected),),
        )
