"""A function of another measure's values: the losses stay, the map is followed by another."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from sondage.measures.base import Measure
from sondage.measures.influence import Chain
from sondage.measures.losses.base import Losses
from sondage.measures.maps.base import Map, complex_step, no_gaps
from sondage.pool.rows import Rows
from sondage.types import Array, Bools, Floats


class Derived(Map, Measure):
    """A function of another measure's coordinates: a difference, a ratio, the least, the gap, ...

    Write ``inner``, ``names``, ``range`` and ``outer``; and ``outer_jac`` where ``outer`` is not analytic.
    """

    label_kind = "any"

    @property
    @abstractmethod
    def inner(self) -> Measure:
        """What it is a function of."""

    @abstractmethod
    def outer(self, values: Array) -> Array:
        """(..., m of inner) -> (..., m)."""

    def outer_jac(self, values: Floats) -> Floats:
        """(m, m of inner) derivative of ``outer``."""
        return complex_step(self.outer, values)

    @property
    def losses(self) -> Losses:
        return self.inner.losses

    @property
    def map(self) -> Map:
        return self

    @property
    def apart(self) -> bool:
        return self.inner.map.apart

    def settled(self, rows: Rows) -> Bools:
        """As inside: at any one place the least of several values hides all others."""
        return self.inner.settled(rows) if rows.labels.kind == "vector" else super().settled(rows)

    def g(self, R: Array) -> Array:
        return np.asarray(self.outer(self.inner.g(R)))

    def jac(self, R: Floats) -> Floats:
        return self.outer_jac(np.asarray(self.inner.g(R))) @ self.inner.jac(R)

    def slope(self, R: Floats, weight: Floats | None = None) -> Any:
        outer = self.outer_jac(np.asarray(self.inner.g(R)))
        if weight is not None:
            outer = outer * np.sqrt(weight)[:, None]
        return Chain(self.inner.map.slope(R), no_gaps(outer))
