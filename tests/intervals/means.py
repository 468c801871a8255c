"""Plain means as a measure, and totals made by hand, so that everything has a closed form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sondage.estimators import Totals
from sondage.measures.base import Measure
from sondage.measures.maps.base import Map
from sondage.types import Array, Floats


@dataclass(frozen=True)
class Means(Map, Measure):
    """m means: ``g(R) = R[1:] / R[0]``."""

    label_kind = "any"
    count: int = 1
    least: float = -np.inf
    most: float = np.inf

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"mean {j}" for j in range(self.count))

    @property
    def d(self) -> int:
        return 1 + self.count

    @property
    def range(self) -> tuple[Floats, Floats]:
        return np.full(self.count, self.least), np.full(self.count, self.most)

    @property
    def ratio(self) -> tuple[Floats, Floats] | None:
        return (np.array([0.0, 1.0]), np.array([1.0, 0.0])) if self.count == 1 else None

    @property
    def map(self) -> Map:
        return self

    def g(self, R: Array) -> Array:
        return np.asarray(R[..., 1:] / R[..., :1])


def mean_totals(values: Array, *, df: float | None = None, divisor: int | None = None) -> Totals:
    """Totals of independent draws ``values`` (T,) or (T, m); the variance divides by T - 1 by default."""
    values = np.asarray(values, dtype=np.float64).reshape(len(values), -1)
    T = len(values)
    loss = np.concatenate([np.ones((T, 1)), values], axis=1)
    R = loss.mean(axis=0)
    parts = (loss - R) / np.sqrt(T * (divisor or T - 1))
    return Totals(R, parts, float(T), T - 1.0 if df is None else df, np.zeros((len(R), len(R))))


def totals_with(value: Array, covariance: Array, df: float = 1e9, T: int = 40) -> Totals:
    """Totals whose value and covariance are these, made of T draws that add up to zero."""
    value, covariance = np.atleast_1d(value), np.atleast_2d(covariance)
    m = len(value)
    random = np.random.default_rng(5).normal(size=(T, m + 1))
    random -= random.mean(axis=0)
    basis = np.linalg.qr(random)[0][:, :m]  # orthonormal columns that add up to zero
    values, vectors = np.linalg.eigh(covariance)
    root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    parts = np.concatenate([np.zeros((T, 1)), basis @ root], axis=1)
    return Totals(np.concatenate([[1.0], value]), parts, float(T), df, np.zeros((m + 1, m + 1)))
