"""Belief from the scores: what the systems say of each item is what we expect, and stays so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy.special import expit

from sondage.beliefs.base import Belief, Nodes, Seen, State, at_least
from sondage.errors import InvalidInput
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows, System
from sondage.streams import Stream
from sondage.types import Floats

_QUADRATURE = 9
_SURE = 0.9
_NEAR_HALF = 0.1
_POSSIBLE = 1e-9


@dataclass(frozen=True)
class ScoreBelief(Belief):
    """Label distribution from the systems' probabilities or scores, never updated.

    Probabilities are taken as they are, and so are scores in [0, 1] that are cut near 1/2. Scores in
    [0, 1] cut elsewhere (similarities, say) are taken to mean 1/2 at the cut and go through a
    logistic map a quarter of their standard deviation wide; scores outside [0, 1] are margins and go
    through the plain logistic map. Where only a prediction is known it is held right with chance 0.9.
    Several systems count equally. ``shrink`` moves every item towards the pool's mean (guards against
    over-confidence). No label is ever quite impossible. Real labels: normal around the prediction
    with the given standard deviation, by Gauss-Hermite nodes.
    """

    alias: ClassVar[str] = "scores"
    shrink: float = 0.0
    systems: tuple[str, ...] = ()
    maps: tuple[tuple[float, float] | None, ...] = ()
    mean: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not 0 <= self.shrink <= 1:
            raise InvalidInput(f"shrink= must be in [0, 1], not {self.shrink}")

    def bind(self, pool: Pool, systems: tuple[str, ...]) -> ScoreBelief:
        """Remember the systems, how their scores are to be read, and the pool's mean if needed."""
        maps = tuple(_score_map(pool.system(name)) for name in systems)
        bound = replace(self, systems=systems, maps=maps)
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
        return Nodes(np.arange(rows.labels.size, dtype=np.float64), at_least(weights, _POSSIBLE))

    def step(self, state: State, seen: Seen) -> State:
        """Labels change nothing."""
        return state

    def replicate(self, state: State, stream: Stream, count: int) -> Iterator[Floats]:
        """The same weights every time: this belief has no doubt about itself."""
        assert state.nodes is not None
        for _ in range(count):
            yield state.nodes.weights

    def _raw(self, rows: Rows) -> Floats:
        each = [self._of_system(rows, name, how) for name, how in zip(self.systems, self.maps, strict=True)]
        return each[0] if len(each) == 1 else np.mean(each, axis=0)

    def _of_system(self, rows: Rows, name: str, how: tuple[float, float] | None) -> Floats:
        if rows.has("probability", name):
            return rows.probability(name)
        size = rows.labels.size
        if rows.has("score", name) and size == 2:
            score = rows.score(name)
            chance = score if how is None else expit((score - how[0]) / how[1])
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


def _score_map(system: System) -> tuple[float, float] | None:
    """Centre and width of the logistic map that makes scores chances; None: they are chances."""
    if system.score is None:
        return None
    if float(system.score.min()) < 0 or float(system.score.max()) > 1:
        return 0.0, 1.0
    cut = _cut(system)
    if cut is None or abs(cut - 0.5) <= _NEAR_HALF:
        return None
    return cut, max(float(np.std(system.score, dtype=np.float64)) / 4, 1e-6)


def _cut(system: System) -> float | None:
    """Where the scores were cut into two predicted classes; None if they do not say."""
    if system.score is None or system.prediction is None:
        return None
    chosen = system.prediction > 0
    if chosen.all() or not chosen.any():
        return None
    return 0.5 * (float(system.score[chosen].min()) + float(system.score[~chosen].max()))
