"""Belief from the scores: what the systems say of each item is what we expect, and stays so."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.special import expit, logsumexp

from sondage.beliefs.base import Belief, Nodes, StaticBelief, label_nodes, normal_below, normal_log_density
from sondage.beliefs.relevance import RelevanceBelief
from sondage.pool.labels import LabelSpace
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.pool.source import Summary
from sondage.types import Floats

_QUADRATURE = 9
_SURE = 0.9
_NEAR_HALF = 0.1
_NEARLY_SURE = float(np.log(99))


@dataclass(frozen=True)
class ScoreBelief(StaticBelief):
    """Label distribution from the systems' probabilities or scores, never updated.

    Probabilities are taken as they are, and so are scores in [0, 1] that are cut near 1/2. Scores in [0, 1]
    cut elsewhere (similarities, say) mean 1/2 at the cut and go through a logistic map a quarter of their
    standard deviation wide; scores outside [0, 1] are margins and go through the plain logistic map, or one
    on which the largest means 0.99 (``margins="scaled"``). A prediction without a score is right with chance
    0.9. Several systems count equally. ``shrink`` moves every item towards the pool's mean (guards against
    over-confidence). No label is ever quite impossible. Real labels: normal around the prediction with the
    given standard deviation (by default that of the predictions, or a quarter of the labels' range), by
    Gauss-Hermite nodes.
    """

    alias: ClassVar[str] = "scores"
    shrink: float = 0.0
    margins: Literal["plain", "scaled"] = "plain"
    systems: tuple[str, ...] = ()
    maps: tuple[tuple[float, float] | None, ...] = ()
    mean: tuple[float, ...] = ()
    numbers: tuple[tuple[float, float], ...] = ()

    def __post_init__(self) -> None:
        self.require(shrink="[0, 1]", margins=("plain", "scaled"))

    def bind(self, pool: Pool, systems: tuple[str, ...]) -> Any:  # of documents, another belief
        if pool.parts is not None:
            return RelevanceBelief().bind(pool, systems)
        if pool.labels.finite and pool.labels.size == 2:
            for name in systems:
                _warn_if_upside_down(pool, name)
        maps = tuple(_score_map(pool, name, self.margins) for name in systems)
        bound = replace(self, systems=systems, maps=maps)
        if pool.labels.kind == "real":
            numbers = tuple(_middle_and_width(pool.summary(name), pool.labels) for name in systems)
            return replace(bound, numbers=numbers)
        if self.shrink == 0:
            return bound
        total = sum(bound._said(rows).sum(axis=0) for _, rows in pool.chunks())
        return replace(bound, mean=tuple(total / len(pool)))

    def items(self, rows: Rows) -> Nodes:
        if rows.labels.kind == "real":
            points, weights = np.polynomial.hermite_e.hermegauss(_QUADRATURE)
            each = [mean[:, None] + std[:, None] * points for mean, std in self._normals(rows)]
            labels = np.clip(np.concatenate(each, axis=1), rows.labels.low, rows.labels.high)
            share = np.tile(weights / weights.sum(), len(each)) / len(each)
            return Nodes(labels, np.broadcast_to(share, labels.shape))
        weights = self._said(rows)
        if self.mean:
            weights = (1 - self.shrink) * weights + self.shrink * np.array(self.mean)
        return label_nodes(weights, rows.labels)

    def _said(self, rows: Rows) -> Floats:
        """(n, S) chance of each class, or (n, C) what is expected of each number, by all systems alike."""
        each = [self._of_system(rows, name, how) for name, how in zip(self.systems, self.maps, strict=True)]
        return each[0] if len(each) == 1 else np.mean(each, axis=0)

    def _of_system(self, rows: Rows, name: str, how: tuple[float, float] | None) -> Floats:
        n, labels, predicted = len(rows), rows.labels, rows.has("prediction", name)
        if rows.has("probability", name):
            return rows.probability(name)
        if labels.kind == "vector":
            if not predicted:
                return np.full((n, len(labels.components)), 0.5)
            said = rows.prediction(name)
            return np.where(said > 0, _SURE, 1 - _SURE) if labels.whole else said
        if rows.has("score", name) and labels.size == 2:
            score = rows.score(name)
            chance = score if how is None else expit((score - how[0]) / how[1])
            return np.stack([1 - chance, chance], axis=1)
        if predicted:
            sure = np.full((n, labels.size), (1 - _SURE) / (labels.size - 1))
            sure[np.arange(n), rows.prediction(name).astype(np.int64)] = _SURE
            return sure
        return np.full((n, labels.size), 1 / labels.size)

    def log_likelihood(self, rows: Rows, y: Floats) -> Floats:
        """Of numbers: under the mixture of the systems' normal distributions."""
        if rows.labels.kind != "real":
            return super().log_likelihood(rows, y)
        each = [normal_log_density(mean, std, y) for mean, std in self._normals(rows)]
        return np.asarray(logsumexp(each, axis=0) - np.log(len(each)))

    def below(self, rows: Rows, y: Floats) -> Floats:
        """Under the mixture of the systems' normal distributions."""
        return np.asarray(np.mean([normal_below(mean, std, y) for mean, std in self._normals(rows)], axis=0))

    def _normals(self, rows: Rows) -> list[tuple[Floats, Floats]]:
        """Mean and standard deviation of a number by each system."""
        found = []
        for name, (middle, width) in zip(self.systems, self.numbers, strict=True):
            mean = rows.prediction(name) if rows.has("prediction", name) else np.full(len(rows), middle)
            std = rows.std(name) if rows.has("std", name) else np.full(len(rows), width)
            found.append((mean, std))
        return found


def following(belief: Belief, pool: Pool) -> Belief:
    """The belief of a design whose chances may follow labels: of documents, one that follows judgements."""
    ranked = pool.parts is not None and isinstance(belief, ScoreBelief)
    return RelevanceBelief(refit=True) if ranked else belief


def _middle_and_width(said: Summary, labels: LabelSpace) -> tuple[float, float]:
    """Where a number is expected, and how far from there, if the system does not say."""
    if np.isfinite([labels.low, labels.high]).all():
        return 0.5 * (labels.low + labels.high), 0.25 * (labels.high - labels.low)
    return 0.0, said.prediction_deviation or 1.0


def _warn_if_upside_down(pool: Pool, name: str) -> None:
    """Say so where scores are higher for the class that is not the positive one."""
    if pool.summary(name).upside_down:
        first, second = pool.labels.values or ()
        warnings.warn(
            f"scores of system {name!r} are higher where {first!r} is predicted than where {second!r} is, "
            f"but {second!r}, the second class, is the positive one with the higher scores: pass "
            f"labels=[{second!r}, {first!r}] when making the pool, or turn the scores round",
            stacklevel=2,
        )


def _score_map(pool: Pool, name: str, margins: str) -> tuple[float, float] | None:
    """Centre and width of the logistic map that makes scores chances; None: they are chances."""
    if not pool.has("score", name):
        return None
    (low, high), said = pool.extent("score", name), pool.summary(name)
    if low < 0 or high > 1:
        return 0.0, (max(-low, high) / _NEARLY_SURE if margins == "scaled" else 1.0)
    cut = said.cut
    if cut is None or abs(cut - 0.5) <= _NEAR_HALF:
        return None
    return cut, max(said.score_deviation / 4, 1e-6)
