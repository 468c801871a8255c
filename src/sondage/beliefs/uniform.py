"""Belief that knows nothing: every label is as likely as any other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from sondage.beliefs.base import Nodes, StaticBelief, label_nodes
from sondage.beliefs.relevance import RelevanceBelief
from sondage.errors import InvalidInput
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.types import Floats

_QUADRATURE = 9


@dataclass(frozen=True)
class UniformBelief(StaticBelief):
    """Every class is equally likely; a number is even on its bounds, a yes or no has chance 1/2.

    For accuracy a design with this belief asks every item alike. For other measures it need not: with F1 a
    predicted positive moves the measure more, whatever its label. Real labels need ``bounds`` where the
    pool's labels have none.

    >>> pool = Pool.from_arrays(prediction=["a", "b", "c"])
    >>> UniformBelief().bind(pool, ("model",)).items(pool.rows(slice(0, 1))).weights.round(3).tolist()
    [[0.333, 0.333, 0.333]]
    """

    alias: ClassVar[str] = "uniform"
    bounds: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if self.bounds is None:
            return
        low, high = self.bounds
        if not -np.inf < low < high < np.inf:
            raise InvalidInput(f"bounds= must be two finite numbers in order, not {self.bounds}")

    def bind(self, pool: Pool, systems: tuple[str, ...]) -> Any:  # of documents, another belief
        if pool.parts is not None:
            return RelevanceBelief(even=True).bind(pool, systems)
        space = pool.labels
        if space.kind == "classes" or self.bounds is not None:
            return self
        if not np.isfinite([space.low, space.high]).all():
            raise InvalidInput(
                "belief 'uniform' needs bounds for labels that are numbers: give "
                "UniformBelief(bounds=(low, high)), or use ScoreBelief()"
            )
        return replace(self, bounds=(float(space.low), float(space.high)))

    def items(self, rows: Rows) -> Nodes:
        """Equal weights; of a number, Gauss-Legendre nodes on its bounds."""
        space, n = rows.labels, len(rows)
        if space.kind == "classes":
            return label_nodes(np.full((n, space.size), 1.0 / space.size), space)
        low, high = self._bounds
        if space.kind == "vector":
            return label_nodes(np.full((n, len(space.components)), 0.5 * (low + high)), space)
        points, weights = np.polynomial.legendre.leggauss(_QUADRATURE)
        labels = low + (high - low) * 0.5 * (points + 1.0)
        shape = (n, _QUADRATURE)
        return Nodes(np.broadcast_to(labels, shape), np.broadcast_to(weights / weights.sum(), shape))

    def log_likelihood(self, rows: Rows, y: Floats) -> Floats:
        """Of a number: one over the width of the bounds, inside them."""
        if rows.labels.kind != "real":
            return super().log_likelihood(rows, y)
        low, high = self._bounds
        return np.where((y >= low) & (y <= high), -np.log(high - low), -np.inf)

    def below(self, rows: Rows, y: Floats) -> Floats:
        low, high = self._bounds
        return np.clip((y - low) / (high - low), 0.0, 1.0)

    @property
    def _bounds(self) -> tuple[float, float]:
        assert self.bounds is not None
        return self.bounds
