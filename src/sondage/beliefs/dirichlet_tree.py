"""Dirichlet trees: strata next to each other learn from each other (Marchant and Rubinstein 2021, sec. 4).

Every class spreads its items over the strata, which are the leaves of a tree; at each node the shares
of the branches have a Dirichlet distribution. A label seen in one stratum thereby moves what is believed
of its neighbours, the nearer the more.

Departures from the paper, each for a reason: pseudo-counts are *effective* ones, added to the counts
without subtracting the number of leaves (its eq. 11 makes shares of rare classes negative); the start is
the response that the scores give, and iteration stops on the change of the response.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from scipy.special import gammaincinv

from sondage.beliefs.base import POSSIBLE, Belief, Nodes, Seen, State, at_least
from sondage.beliefs.scores import ScoreBelief
from sondage.beliefs.tree_fit import TreeFit
from sondage.errors import InvalidInput
from sondage.pool.hierarchy import Tree, complete_tree
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.pool.units import CellUnits, Units
from sondage.streams import Stream
from sondage.types import Floats, Ints


@dataclass(frozen=True)
class TreeState(State):
    """The response of each stratum, and what it takes to learn from more labels."""

    fit: TreeFit | None = None
    response: Floats | None = None
    """(K, S) chance of each class for an unlabelled item of each stratum."""
    size: Ints | None = None
    """(K,) items of each stratum."""
    stratum: Ints | None = None
    """(U,) the stratum of each unit."""


@dataclass(frozen=True)
class DirichletTree(Belief):
    """Labels of a deterministic oracle: expectation-maximisation over the unlabelled items.

    ``depth`` levels over the design's strata (``depth=1``: every stratum by itself, in closed form);
    ``strength`` pseudo-labels per stratum spread as the scores say; ``smoothing`` times the squared depth
    of a node is added on top, which is what ties neighbours together.
    """

    alias: ClassVar[str] = "dirichlet-tree"
    depth: int = 8
    strength: float = 1.0
    smoothing: float = 1.0
    least: float = 1e-6
    prior: ScoreBelief = field(default_factory=ScoreBelief)

    def __post_init__(self) -> None:
        for name in ("strength", "least"):
            if not getattr(self, name) > 0:
                raise InvalidInput(f"{name}= must be above 0, not {getattr(self, name)}")
        if self.smoothing < 0:
            raise InvalidInput(f"smoothing= must be 0 or above, not {self.smoothing}")

    def bind(self, pool: Pool, systems: tuple[str, ...]) -> DirichletTree:
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
        size = np.bincount(stratum, weights=units.size).astype(np.int64)
        mass = np.zeros((len(size), pool.labels.size))
        np.add.at(mass, stratum, self.mass(pool, units.codes, units.count))
        score = at_least(mass / size[:, None], self.least)
        fit = TreeFit(even_tree(len(size), self.depth), self.strength * score, self.smoothing)
        return self._state(TreeState(None, None, None, fit, score, size, stratum), score)

    def step(self, state: State, seen: Seen) -> State:
        """The response after all labels known now, from the response before as a start."""
        assert isinstance(state, TreeState)
        assert state.fit is not None
        assert state.size is not None
        if not len(seen.y):
            return state
        observed = _counts(state, seen, np.ones(len(seen.y)))
        unlabelled = state.size - observed.sum(axis=1)
        assert state.response is not None
        response = state.fit.response(observed, unlabelled, state.response)
        return self._state(state, response)

    def _state(self, state: TreeState, response: Floats) -> TreeState:
        assert state.stratum is not None
        labels = np.arange(response.shape[1], dtype=np.float64)
        nodes = Nodes(labels, at_least(response, POSSIBLE)[state.stratum])
        return replace(state, nodes=nodes, start=state.start or nodes, response=response)

    def replicate(self, state: State, stream: Stream, count: int) -> Iterator[Floats]:
        """Draws around the response of each unit as if it rested on ``strength`` labels: rough."""
        assert state.nodes is not None
        shape = state.nodes.weights * max(self.strength, 1.0)
        for _ in range(count):
            gamma = gammaincinv(shape, stream.uniform(shape.size).reshape(shape.shape))
            gamma = np.maximum(gamma, np.finfo(float).tiny)
            yield gamma / gamma.sum(axis=1, keepdims=True)


@dataclass(frozen=True)
class StochasticDirichletTree(DirichletTree):
    """Answers of an oracle that varies: every answer counts by its weight, and no item is ever known.

    ``truncate`` caps a weight at so many times the mean one, for the belief only: one early draw of a tiny
    chance would otherwise swamp all counts. The estimate keeps the exact weights.
    """

    alias: ClassVar[str] = "stochastic-dirichlet-tree"
    truncate: float = 20.0

    def step(self, state: State, seen: Seen) -> State:
        """The posterior predictive after the weighted answers so far (sec. 4.6)."""
        assert isinstance(state, TreeState)
        assert state.fit is not None
        if not len(seen.y):
            return state
        weight = np.ones(len(seen.y)) if seen.weight is None else seen.weight / seen.weight.mean()
        observed = _counts(state, seen, np.minimum(weight, self.truncate))
        return self._state(state, state.fit.predictive(observed))


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


def _counts(state: TreeState, seen: Seen, weight: Floats) -> Floats:
    """(K, S) labels of each class in each stratum."""
    assert state.stratum is not None
    assert state.response is not None
    strata, labels = state.response.shape
    flat = state.stratum[seen.unit] * labels + seen.y.astype(np.int64)
    counts = np.bincount(flat, weights=weight, minlength=strata * labels)
    return np.asarray(counts.reshape(strata, labels), dtype=np.float64)
