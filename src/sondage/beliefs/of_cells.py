"""Beliefs about the cells or strata of a design: items of one are alike, at first as the scores say."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple, Self

import numpy as np

from sondage.beliefs.base import POSSIBLE, Belief, Nodes, Seen, State, at_least, label_counts
from sondage.beliefs.scores import ScoreBelief
from sondage.errors import InvalidInput
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.pool.units import CellUnits, Units
from sondage.types import Floats, Ints


class StrataOf(NamedTuple):
    """The strata of a design's units."""

    stratum: Ints
    """(U,) the stratum of each unit."""
    size: Ints
    """(K,) items of each stratum."""
    score: Floats
    """(K, S) mean chance of each class by the scores."""

    def counts(self, seen: Seen, weight: Floats) -> Floats:
        """(K, S) labels of each class in each stratum, each counted by its weight."""
        strata, labels = self.score.shape
        return label_counts(self.stratum[seen.unit], seen.y, (strata, labels), weight)

    def nodes(self, share: Floats) -> Nodes:
        """The belief about units, from (K, S) chances of the classes in each stratum."""
        labels = np.arange(share.shape[1], dtype=np.float64)
        return Nodes(labels, at_least(share, POSSIBLE)[self.stratum])


@dataclass(frozen=True)
class CellBelief(Belief):
    """A belief about the classes of a design's cells: write ``start`` and ``step``."""

    prior: ScoreBelief = field(default_factory=ScoreBelief, kw_only=True)

    def bind(self, pool: Pool, systems: tuple[str, ...]) -> Self:
        if not pool.labels.finite:
            raise InvalidInput(
                f"belief {self.alias!r} needs labels that are classes: for others use belief='scores' "
                "(design='auto' or 'poisson')"
            )
        return replace(self, prior=self.prior.bind(pool, systems))

    def items(self, rows: Rows) -> Nodes:
        """Before any label and without units: as the scores say."""
        return self.prior.items(rows)

    def cells(self, units: Units) -> CellUnits:
        """The units, which must be cells."""
        if not isinstance(units, CellUnits):
            raise InvalidInput(f"belief {self.alias!r} needs a design with strata")
        return units


@dataclass(frozen=True, kw_only=True)
class StratumState(State):
    """What is believed of each stratum, and the strata."""

    strata: StrataOf


@dataclass(frozen=True)
class ByStratum(CellBelief):
    """A belief in which all cells of a stratum are alike."""

    def strata_of(self, pool: Pool, units: Units) -> StrataOf:
        """The strata, with the mean score of each."""
        stratum = self.cells(units).stratum
        size = np.bincount(stratum, weights=units.size).astype(np.int64)
        mass = np.zeros((len(size), pool.labels.size))
        np.add.at(mass, stratum, self.mass(pool, units))
        return StrataOf(stratum, size, mass / size[:, None])
