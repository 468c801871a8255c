"""Counts per stratum whose prior fades as draws come in (Marchant and Rubinstein 2017, OASIS)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from sondage.beliefs.base import Seen, State
from sondage.beliefs.of_cells import ByStratum, StratumState
from sondage.beliefs.scores import ScoreBelief
from sondage.errors import InvalidInput
from sondage.pool.pool import Pool
from sondage.pool.units import Units


@dataclass(frozen=True)
class DecayingCounts(ByStratum):
    """In each stratum, draws so far and ``strength`` pseudo-draws over the number of draws.

    As published, every draw counts, repeats included, and the prior fades faster than by counting alone.
    """

    alias: ClassVar[str] = "decaying-counts"
    strength: float = 1.0
    prior: ScoreBelief = field(default_factory=lambda: ScoreBelief(margins="scaled"), kw_only=True)

    def __post_init__(self) -> None:
        if not self.strength > 0:
            raise InvalidInput(f"strength= must be above 0, not {self.strength}")

    def start(self, pool: Pool, units: Units) -> State:
        """The mean score of each stratum."""
        strata = self.strata_of(pool, units)
        nodes = strata.nodes(strata.score)
        return StratumState(nodes, start=nodes, strata=strata)

    def step(self, state: State, seen: Seen) -> State:
        """``(count + prior / draws) / sum`` in each stratum."""
        assert isinstance(state, StratumState)
        if not len(seen.y):
            return state
        drawn = np.ones(len(seen.y)) if seen.times is None else seen.times.astype(np.float64)
        count = state.strata.counts(seen, drawn)
        faded = self.strength * state.strata.score / np.maximum(count.sum(axis=1, keepdims=True), 1.0)
        share = count + faded
        return replace(state, nodes=state.strata.nodes(share / share.sum(axis=1, keepdims=True)))
