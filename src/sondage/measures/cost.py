"""The mean cost of decisions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from sondage.errors import InvalidInput
from sondage.measures.base import Averages
from sondage.measures.margins import class_codes
from sondage.pool.labels import shown
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.types import Floats


@dataclass(frozen=True)
class ExpectedCost(Averages):
    """Mean of ``cost[true][predicted]``, with classes in the order of the pool's labels.

    Between the least and the greatest cost. A gain is a negative cost.

    >>> from sondage.measures import exact
    >>> missed, false_alarm = 5, 1
    >>> float(exact(ExpectedCost([[0, false_alarm], [missed, 0]]), [1, 0, 1, 0], [1, 1, 0, 0]))
    1.5
    """

    alias: ClassVar[str] = "expected_cost"
    cost: tuple[tuple[float, ...], ...]
    system: str | None = None

    def __post_init__(self) -> None:
        try:
            cost = np.array(self.cost, dtype=np.float64)
        except (TypeError, ValueError):
            cost = np.array(np.nan)
        if cost.ndim != 2 or cost.shape[0] != cost.shape[1] or not np.isfinite(cost).all():
            raise InvalidInput(
                "cost= must be a square table of finite numbers, a row for every true class and a column for "
                f"every predicted one, not {self.cost!r}"
            )
        if cost.min() == cost.max():
            raise InvalidInput(f"cost= is {cost.flat[0]:g} for every decision: there is nothing to estimate")
        object.__setattr__(self, "cost", tuple(map(tuple, cost.tolist())))

    def bind(self, pool: Pool) -> Self:
        """Check that there is a cost for every pair of classes."""
        bound = super().bind(pool)
        if len(self.cost) != pool.labels.size:
            raise InvalidInput(
                f"cost= has {len(self.cost)} rows and columns, but the pool has {pool.labels.size} classes "
                f"{shown(pool.labels.values or ())}: give one for each, in this order"
            )
        return bound

    @property
    def range(self) -> tuple[Floats, Floats]:
        """The least and the greatest cost."""
        cost = np.array(self.cost)
        return np.array([cost.min()]), np.array([cost.max()])

    @property
    def ratio(self) -> tuple[Floats, Floats]:
        """The plain mean."""
        return np.array([0.0, 1.0]), np.array([1.0, 0.0])

    def parts(self, rows: Rows, y: Floats) -> Floats:
        """The cost."""
        size = len(self.cost)
        table = np.pad(np.array(self.cost), ((0, 1), (0, 0)), constant_values=np.nan)
        predicted = rows.prediction(self.system).astype(np.int64)[:, None]
        return table[class_codes(y, size), predicted][..., None]
