"""Means over the rows of each unit, where a row may move one of several layers of coordinates.

A measure of many groups has a layer of coordinates for each (``Influence.folded``): an item moves that of
its own group, and in all the others its influence is zero. What is needed of a unit are sums over all
coordinates of squared means. These have a term for every pair of unit and layer that occurs, not for every
pair that there could be.
"""

from __future__ import annotations

import numpy as np

from sondage.types import Floats, Ints

_ROUNDING = 1e-12
"""Share of a mean square below which a variance is rounding."""


class UnitMeans:
    """Means of (n, m) values over the rows of each of ``count`` units, in every layer.

    ``fold`` is the layer of each row; None if there is but one.

    >>> means = UnitMeans(np.array([[1.0], [2.0], [6.0]]), np.array([0, 0, 1]), 2, np.array([0, 1, 1]))
    >>> [one.tolist() for one in means.at(np.array([0, 0]), np.array([0, 1]))]
    [[[0.5], [1.0]], [1.0, 0.25]]
    """

    def __init__(self, values: Floats, unit: Ints, count: int, fold: Ints | None) -> None:
        self._count, self._layers = count, 1 if fold is None else int(fold.max(initial=0)) + 1
        key = unit if fold is None else unit * self._layers + fold
        self._each = np.maximum(np.bincount(unit, minlength=count), 1)
        self._single = len(values) == count and fold is None and bool((np.diff(unit) == 1).all())
        if fold is None:
            self._keys, self._place = np.arange(count), unit
        else:
            self._keys, self._place = np.unique(key, return_inverse=True)
        self._means = self.mean_of(values)

    def mean_of(self, values: Floats) -> Floats:
        """(keys, m) means of other values of the same rows, for every pair of unit and layer."""
        if self._single:  # one row each
            return values
        size = len(self._keys)
        columns = [np.bincount(self._place, weights=column, minlength=size) for column in values.T]
        return np.stack(columns, axis=1) / self._each[self._unit][:, None]

    @property
    def _unit(self) -> Ints:
        return self._keys // self._layers

    def at(self, unit: Ints, fold: Ints | None) -> tuple[Floats, Floats | float]:
        """(n, m) the mean in the unit and layer of some rows, and (n,) the squared means in its others."""
        if fold is None:
            return self._means[unit], 0.0
        key = unit * self._layers + np.minimum(fold, self._layers - 1)
        place = np.minimum(np.searchsorted(self._keys, key), len(self._keys) - 1)
        known = (self._keys[place] == key) & (fold < self._layers)
        mean = self._means[place] * known[:, None]
        squares = np.bincount(self._unit, weights=np.square(self._means).sum(axis=1), minlength=self._count)
        return mean, np.maximum(squares[unit] - np.square(mean).sum(axis=1), 0.0)

    def variance(self, squares: Floats) -> Floats:
        """(U,) mean squares less squared means, over all coordinates; ``squares`` are (n, m) mean squares.

        What is no more than rounding is none at all: a unit whose labels cannot matter must not look as if
        they did.
        """
        mean = self.mean_of(squares)
        variance = mean - np.square(self._means)
        left = np.where(variance > _ROUNDING * mean, variance, 0.0).sum(axis=1)
        return np.bincount(self._unit, weights=left, minlength=self._count).astype(np.float64, copy=False)
