"""Counts per stratum whose prior fades as draws come in (Marchant and Rubinstein 2017, OASIS)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from sondage.beliefs.base import POSSIBLE, Belief, Nodes, Seen, State, at_least
from sondage.beliefs.scores import ScoreBelief
from sondage.errors import InvalidInput
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.pool.units import CellUnits, Units
from sondage.streams import Stream
from sondage.types import Floats, Ints


@dataclass(frozen=True)
class StratumState(State):
    """The mean score of each stratum, and the stratum of each unit."""

    score: Floats | None = None
    stratum: Ints | None = None


@dataclass(frozen=True)
class DecayingCounts(Belief):
    """In each stratum, draws so far and ``strength`` pseudo-draws over the number of draws.

    As published, every draw counts, repeats included, and the prior fades faster than by counting alone.
    """

    alias: ClassVar[str] = "decaying-counts"
    strength: float = 1.0
    prior: ScoreBelief = field(default_factory=lambda: ScoreBelief(margins="scaled"))

    def __post_init__(self) -> None:
        if not self.strength > 0:
            raise InvalidInput(f"strength= must be above 0, not {self.strength}")

    def bind(self, pool: Pool, systems: tuple[str, ...]) -> DecayingCounts:
        """Bind the prior."""
        if not pool.labels.finite:
            raise InvalidInput(f"belief {self.alias!r} needs labels that are classes")
        return replace(self, prior=self.prior.bind(pool, systems))

    def items(self, rows: Rows) -> Nodes:
        """Before any label: the prior."""
        return self.prior.items(rows)

    def start(self, pool: Pool, units: Units) -> State:
        """The mean score of each stratum."""
        if not isinstance(units, CellUnits):
            raise InvalidInput(f"belief {self.alias!r} needs a design with strata")
        stratum = units.stratum
        mass = np.zeros((int(stratum.max()) + 1, pool.labels.size))
        np.add.at(mass, stratum, self.mass(pool, units.codes, units.count))
        score = mass / np.bincount(stratum, weights=units.size)[:, None]
        nodes = self._nodes(score, stratum)
        return StratumState(nodes, None, nodes, score, stratum)

    def step(self, state: State, seen: Seen) -> State:
        """``(count + prior / draws) / sum`` in each stratum."""
        assert isinstance(state, StratumState)
        assert state.score is not None
        assert state.stratum is not None
        if not len(seen.y):
            return state
        strata, labels = state.score.shape
        flat = state.stratum[seen.unit] * labels + seen.y.astype(np.int64)
        drawn = np.ones(len(flat)) if seen.times is None else seen.times
        count = np.bincount(flat, weights=drawn, minlength=strata * labels).reshape(strata, labels)
        faded = self.strength * state.score / np.maximum(count.sum(axis=1, keepdims=True), 1.0)
        share = count + faded
        nodes = self._nodes(share / share.sum(axis=1, keepdims=True), state.stratum)
        return replace(state, nodes=nodes)

    def replicate(self, state: State, stream: Stream, count: int) -> Iterator[Floats]:
        """The same weights every time: only their mean is used."""
        assert state.nodes is not None
        for _ in range(count):
            yield state.nodes.weights

    def _nodes(self, share: Floats, stratum: Ints) -> Nodes:
        return Nodes(np.arange(share.shape[1], dtype=np.float64), at_least(share, POSSIBLE)[stratum])
