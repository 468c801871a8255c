"""Dirichlet trees: strata next to each other learn from each other (Marchant and Rubinstein 2021, sec. 4).

Every class spreads its items over the strata, which are the leaves of a tree; at each node the shares of the
branches have a Dirichlet distribution. A label seen in one stratum therefore moves the belief about its
neighbours, the nearer the more.

Departures from the paper: pseudo-counts are *effective* ones, added to the counts without subtracting the
number of leaves (its eq. 11 makes shares of rare classes negative); the start is the response that the scores
give, and iteration stops on the change of the response.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from sondage.beliefs.base import Seen, State, at_least, dirichlets
from sondage.beliefs.dirichlet_tree.fit import TreeFit
from sondage.beliefs.of_cells import ByStratum, StratumState
from sondage.pool.pool import Pool
from sondage.pool.units import Units
from sondage.strata.hierarchy import Tree, complete_tree
from sondage.streams import Stream
from sondage.types import Floats


@dataclass(frozen=True, kw_only=True)
class TreeState(StratumState):
    """The response of each stratum, and what it takes to learn from more labels."""

    fit: TreeFit
    response: Floats
    """(K, S) chance of each class for an unlabelled item of each stratum."""


@dataclass(frozen=True)
class DirichletTree(ByStratum):
    """Labels of a deterministic oracle: expectation-maximisation over the unlabelled items.

    ``depth`` levels over the design's strata (``depth=1``: every stratum by itself, in closed form);
    ``strength`` pseudo-labels per stratum spread as the scores say; ``smoothing`` times the squared depth of
    a node is added on top, which ties neighbours together.
    """

    alias: ClassVar[str] = "dirichlet-tree"
    depth: int = 8
    strength: float = 1.0
    smoothing: float = 1.0
    least: float = 1e-6

    def __post_init__(self) -> None:
        self.require(depth="at least 1", strength="above 0", least="above 0", smoothing="[0, inf)")

    def start(self, pool: Pool, units: Units) -> State:
        strata = self.strata_of(pool, units)
        score = at_least(strata.score, self.least)
        fit = TreeFit(even_tree(len(score), self.depth), self.strength * score, self.smoothing)
        nodes = strata.nodes(score)
        return TreeState(nodes, start=nodes, strata=strata, fit=fit, response=score)

    def step(self, state: State, seen: Seen) -> State:
        """The response after all labels known now, from the response before as a start."""
        assert isinstance(state, TreeState)
        if not len(seen.y):
            return state
        response = self._response(state, seen)
        return replace(state, nodes=state.strata.nodes(response), response=response)

    def _response(self, state: TreeState, seen: Seen) -> Floats:
        observed = state.strata.counts(seen, np.ones(len(seen.y)))
        return state.fit.response(observed, state.strata.size - observed.sum(axis=1), state.response)

    def replicate(self, state: State, stream: Stream, count: int) -> Iterator[Floats]:
        """Draws around the response of each unit as if it rested on ``strength`` labels: rough."""
        assert state.nodes is not None
        return dirichlets(state.nodes.weights * max(self.strength, 1.0), stream, count)


@dataclass(frozen=True)
class StochasticDirichletTree(DirichletTree):
    """Answers of an oracle that varies: every answer counts by its weight, and no item is ever known.

    ``truncate`` caps a weight at so many times the mean one, for the belief only: one early draw of a tiny
    chance would otherwise swamp all counts. The estimate keeps the exact weights.
    """

    alias: ClassVar[str] = "stochastic-dirichlet-tree"
    truncate: float = 20.0

    def _response(self, state: TreeState, seen: Seen) -> Floats:
        """The posterior predictive after the weighted answers so far (sec. 4.6)."""
        weight = np.ones(len(seen.y)) if seen.weight is None else seen.weight / seen.weight.mean()
        return state.fit.predictive(state.strata.counts(seen, np.minimum(weight, self.truncate)))


def even_tree(strata: int, depth: int) -> Tree:
    """A tree of at most ``depth`` levels in which no stratum is much nearer to the root than another.

    Filling a complete tree from the left would leave the highest scores, where most is to be learned, alone
    on short branches: on abt_buy (227 strata, F1) that made the squared error half as large again.

    >>> even_tree(5, depth=3), even_tree(5, depth=1)
    (Tree(5 strata, 9 nodes, depth 3), Tree(5 strata, 6 nodes, depth 1))
    """
    branching = 2
    while branching**depth < strata:
        branching += 1
    places = branching
    while places < strata:
        places *= branching
    taken = np.zeros(places, dtype=bool)
    taken[np.arange(strata) * places // strata] = True
    return complete_tree(places, branching).pruned(taken)
