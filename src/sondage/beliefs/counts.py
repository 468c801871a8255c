"""Belief from counts: in each unit or stratum, the labels seen so far added to what the scores said."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from sondage.beliefs.base import Belief, Nodes, Seen, State, dirichlets, label_counts
from sondage.beliefs.of_cells import ByStratum, StratumState
from sondage.beliefs.recalibration import Recalibration
from sondage.beliefs.scores import ScoreBelief
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.pool.units import Units
from sondage.streams import Stream
from sondage.types import Floats


@dataclass(frozen=True)
class CountBelief(Belief):
    """Dirichlet per unit: ``strength`` pseudo-labels spread as the prior (the scores) says, plus counts.

    With two classes this is the Beta-Bernoulli model in each cell. With ``pooled``, all labels of the units
    that expect the same class first correct the scores' level and slope (see ``Recalibration``), so that
    scores on a wrong scale mislead only until labels arrive. Labels that are numbers are not counted: the
    belief stays what the prior says.
    """

    alias: ClassVar[str] = "counts"
    prior: Belief = field(default_factory=ScoreBelief)
    strength: float = 2.0
    pooled: bool = True

    def __post_init__(self) -> None:
        self.require(strength="above 0")

    def bind(self, pool: Pool, systems: tuple[str, ...]) -> CountBelief:
        return replace(self, prior=self.prior.bind(pool, systems))

    def items(self, rows: Rows) -> Nodes:
        return self.prior.items(rows)

    def log_likelihood(self, rows: Rows, y: Floats) -> Floats:
        return self.prior.log_likelihood(rows, y)

    def below(self, rows: Rows, y: Floats) -> Floats:
        return self.prior.below(rows, y)

    def step(self, state: State, seen: Seen) -> State:
        """Posterior mean of each unit, and how many labels it rests on."""
        if state.start is None or state.start.labels.shape != state.start.weights.shape[1:]:
            return state  # units are items, or labels are numbers
        units, labels = state.start.weights.shape
        counts = label_counts(seen.unit, seen.y, (units, labels))
        strength = self.strength + counts.sum(axis=1)
        prior = state.start.weights
        if self.pooled and len(seen.y):
            expects = prior.argmax(axis=1)
            prior = Recalibration.fit(prior, counts, expects).apply(prior, expects)
        weights = (self.strength * prior + counts) / strength[:, None]
        return replace(state, nodes=Nodes(state.start.labels, weights), strength=strength)

    def replicate(self, state: State, stream: Stream, count: int) -> Iterator[Floats]:
        """Draws from the units' Dirichlet distributions, as normalised gamma variables."""
        assert state.nodes is not None
        if state.nodes.labels.ndim > 1 and not state.nodes.labels.size:  # several numbers: not counted
            return super().replicate(state, stream, count)
        strength = self.strength if state.strength is None else state.strength[:, None]
        return dirichlets(state.nodes.weights * strength, stream, count)


@dataclass(frozen=True)
class DecayingCounts(ByStratum):
    """In each stratum, draws so far and ``strength`` pseudo-draws over the number of draws.

    The belief of OASIS (Marchant and Rubinstein 2017). As published, every draw counts, repeats included,
    and the prior fades faster than by counting alone.
    """

    alias: ClassVar[str] = "decaying-counts"
    strength: float = 1.0
    prior: ScoreBelief = field(default_factory=lambda: ScoreBelief(margins="scaled"), kw_only=True)

    def __post_init__(self) -> None:
        self.require(strength="above 0")

    def start(self, pool: Pool, units: Units) -> State:
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
