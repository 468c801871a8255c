"""Maps: from averages of losses to the values of a measure, and their derivatives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from sondage.types import Array, Floats

_STEP = 1e-30


class Map(ABC):
    """The smooth side of a measure: with ``R`` the pool averages of its losses, the values are ``g(R)``.

    ``g`` is homogeneous of degree 0, ``g(cR) = g(R)``, so that ``jac(R) @ R = 0`` and influences need no
    centring; and nan where the measure is undefined, never a number that looks fine. Write ``names``,
    ``range`` and ``g``; and ``jac`` where ``g`` is not analytic.
    """

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """Names of the values that the map gives, in order."""

    @property
    def m(self) -> int:
        """How many values the map gives."""
        return len(self.names)

    @property
    @abstractmethod
    def range(self) -> tuple[Floats, Floats]:
        """Least and greatest value of each coordinate."""

    @property
    def ratio(self) -> tuple[Floats, Floats] | None:
        """``(num, den)`` if ``g(R) = num @ R / den @ R`` with ``den @ l >= 0``, otherwise None."""
        return None

    @property
    def apart(self) -> bool:
        """Whether each coordinate rests on labels of its own, which only the tangent looks at one by one."""
        return False

    @abstractmethod
    def g(self, R: Array) -> Array:
        """(..., d) -> (..., m); must take complex numbers, or ``jac`` must be written by hand."""

    def jac(self, R: Floats) -> Floats:
        """(m, d) derivative of ``g`` by the complex step (Squire and Trapp 1998): exact to rounding."""
        return complex_step(self.g, R)

    def jacs(self, blocks: Floats) -> Floats:
        """(levels, m, d) derivatives at (levels, d) averages."""
        if type(self).jac is Map.jac:
            return complex_step(self.g, blocks)
        return np.stack([self.jac(block) for block in blocks])

    def slope(self, R: Floats, weight: Floats | None = None) -> Any:
        """The derivative in the form that the losses take: the matrix ``jac(R)``, or something lighter.

        ``weight`` is how much each coordinate matters: squared influences are multiplied by it.
        """
        J = self.jac(R)
        if weight is not None:
            J = J * np.sqrt(weight)[:, None]
        return J if np.isfinite(J).all() else no_gaps(J)

    def uniform_variance(self, R: Floats) -> Floats | None:
        """(m,) variance of one uniform draw's influence, where it follows from ``R`` alone.

        None: it has to be worked out from the belief. Coordinates are put on one scale by it.
        """
        return None


def complex_step(g: Callable[[Array], Array], R: Floats) -> Floats:
    """(..., m, d) derivative of an analytic map at ``R``, (..., d)."""
    with np.errstate(all="ignore"):
        moved = g(R[..., None, :] + 1j * _STEP * np.eye(R.shape[-1]))
        return np.asarray(np.swapaxes(moved.imag, -1, -2) / _STEP, dtype=np.float64)


def divide(a: Array, b: Array) -> Array:
    """``a / b``, and nan where ``b`` is 0; takes complex numbers."""
    none = b == 0
    with np.errstate(all="ignore"):
        return np.where(none, np.nan, a / np.where(none, 1.0, b)) if none.any() else np.asarray(a / b)


def no_gaps(values: Floats) -> Floats:
    """A derivative with nothing where it is no finite number."""
    return np.nan_to_num(values, nan=0.0, posinf=0.0, neginf=0.0)


class RatioMap(Map):
    """One ratio of averages: ``num @ R / den @ R``."""

    def __init__(self, name: str, num: Floats, den: Floats, low: float = 0.0, high: float = 1.0) -> None:
        self.name, self.terms, self.ends = name, (num, den), (low, high)

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name,)

    @property
    def range(self) -> tuple[Floats, Floats]:
        return np.array([self.ends[0]]), np.array([self.ends[1]])

    @property
    def ratio(self) -> tuple[Floats, Floats]:
        return self.terms

    def g(self, R: Array) -> Array:
        num, den = self.terms
        return divide(R @ num, R @ den)[..., None]
