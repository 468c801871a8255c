"""A user's own measure: a loss and a map, as two functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from sondage.measures.base import Averages
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.types import Array, Floats


@dataclass(frozen=True)
class Custom(Averages):
    """A measure from ``loss(rows, y)`` and, optionally, ``g(means)``.

    ``loss`` gets the rows (``rows.prediction()``, ``rows.score()``, ...) and the labels as an array of
    shape (n, S) or (1, S), as class positions or numbers, and returns (n, S) or (n, S, k).
    ``g`` maps the k averages to the value and must be written with operations that take complex
    numbers (no abs, min, max); without it the measure is the average itself.
    ``reads`` names the parts of a system that the loss looks at: with "prediction" alone, items are
    pooled into cells; any other part makes the loss item by item.

    >>> def cost(rows, y):                      # a miss costs 5, a false alarm 1
    ...     f = rows.prediction()[:, None]
    ...     return 5.0 * (y > f) + 1.0 * (f > y)
    >>> Custom(cost, name="cost", limits=(0, 5)).names
    ('cost',)
    """

    alias: ClassVar[str] = "custom"
    loss_of: Callable[[Rows, Floats], Floats]
    g_of: Callable[[Array], Array] | None = None
    name: str = "custom"
    reads: tuple[str, ...] = ("prediction",)  # type: ignore[misc]
    limits: tuple[float, float] = (-np.inf, np.inf)  # type: ignore[misc]
    k: int = 1  # type: ignore[misc]
    label_kind: Literal["classes", "real", "any"] = "any"  # type: ignore[misc]
    system: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The name given."""
        return (self.name,)

    @property
    def ratio(self) -> tuple[Floats, Floats] | None:
        """A plain mean is a ratio with the weight below; anything else is not known to be one."""
        if self.g_of is not None or self.k != 1:
            return None
        return np.array([0.0, 1.0]), np.array([1.0, 0.0])

    def parts(self, rows: Rows, y: Floats) -> Floats:
        """The user's loss, with a last axis for its entries."""
        loss = np.asarray(self.loss_of(rows, y), dtype=np.float64)
        if loss.ndim == 2:
            loss = loss[..., None]
        return np.broadcast_to(loss, (len(rows), y.shape[1], self.k))

    def value(self, means: Array) -> Array:
        """The user's map."""
        assert self.g_of is not None
        return np.asarray(self.g_of(means))[..., None]

    def bind(self, pool: Pool) -> Custom:
        """Try the functions on one item, so that a mistake shows before any label is bought."""
        bound = super().bind(pool)
        y = np.zeros((1, 1)) if pool.labels.finite else np.full((1, 1), 0.5)
        self.parts(pool.rows(slice(0, 1)), y)
        return bound
