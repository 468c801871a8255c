"""Belief from the scores: what the systems say of each item is what we expect, and stays so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy.special import expit

from sondage.beliefs.base import Belief, Nodes, Seen, State
from sondage.errors import InvalidInput
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.streams import Stream
from sondage.types import Floats

_QUADRATURE = 9
_SURE = 0.9


@dataclass(frozen=True)
class ScoreBelief(Belief):
    """Label distribution from the systems' probabilities or scores, never updated.

    Probabilities are taken as they are; scores outside [0, 1] are margins and go through the logistic
    map; where only a prediction is known it is held right with chance 0.9. Several systems count
    equally. ``shrink`` moves every item towards the pool's mean (guards against over-confidence);
    ``floor`` is the least chance of any label (Sawade 2013, 4.2.2, leaves it open; without it a
    positive that the model is sure is none gets an unbounded weight). Real labels: normal around the
    prediction with the given standard deviation, by Gauss-Hermite nodes.
    """

    alias: ClassVar[str] = "scores"
    shrink: float = 0.0
    floor: float = 1e-3
    systems: tuple[str, ...] = ()
    mean: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not 0 <= self.shrink <= 1:
            raise InvalidInput(f"shrink= must be in [0, 1], not {self.shrink}")
        if not 0 <= self.floor < 0.5:
            raise InvalidInput(f"floor= must be in [0, 0.5), not {self.floor}")

    def bind(self, pool: Pool, systems: tuple[str, ...]) -> ScoreBelief:
        """Remember the systems, and the pool's mean if it is needed."""
        bound = replace(self, systems=systems)
        if self.shrink == 0 or not pool.labels.finite:
            return bound
        total = np.zeros(pool.labels.size)
        for _, rows in pool.chunks():
            total += bound._raw(rows).sum(axis=0)
        return replace(bound, mean=tuple(total / len(pool)))

    def items(self, rows: Rows) -> Nodes:
        """Nodes and weights of single items."""
        if not rows.labels.finite:
            return self._normal(rows)
        weights = self._raw(rows)
        if self.mean:
            weights = (1 - self.shrink) * weights + self.shrink * np.array(self.mean)
        if self.floor:
            weights = np.maximum(weights, self.floor)
            weights /= weights.sum(axis=1, keepdims=True)
        return Nodes(np.arange(rows.labels.size, dtype=np.float64), weights)

    def step(self, state: State, seen: Seen) -> State:
        """Labels change nothing."""
        return state

    def replicate(self, state: State, stream: Stream, count: int) -> Iterator[Floats]:
        """The same weights every time: this belief has no doubt about itself."""
        assert state.nodes is not None
        for _ in range(count):
            yield state.nodes.weights

    def _raw(self, rows: Rows) -> Floats:
        each = [self._of_system(rows, name) for name in self.systems]
        return each[0] if len(each) == 1 else np.mean(each, axis=0)

    def _of_system(self, rows: Rows, name: str) -> Floats:
        if rows.has("probability", name):
            return rows.probability(name)
        size = rows.labels.size
        if rows.has("score", name) and size == 2:
            score = rows.score(name)
            chance = score if rows.scores_are_chances(name) else expit(score)
            return np.stack([1 - chance, chance], axis=1)
        if rows.has("prediction", name):
            sure = np.full((len(rows), size), (1 - _SURE) / (size - 1))
            sure[np.arange(len(rows)), rows.prediction(name).astype(np.int64)] = _SURE
            return sure
        return np.full((len(rows), size), 1 / size)

    def _normal(self, rows: Rows) -> Nodes:
        points, weights = np.polynomial.hermite_e.hermegauss(_QUADRATURE)
        each = []
        for name in self.systems:
            std = rows.std(name) if rows.has("std", name) else np.ones(len(rows))
            each.append(rows.prediction(name)[:, None] + std[:, None] * points)
        labels = np.concatenate(each, axis=1)
        share = np.tile(weights / weights.sum(), len(each)) / len(each)
        return Nodes(labels, np.broadcast_to(share, labels.shape))
