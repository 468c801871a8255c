"""Calibration: a rising map from scores to probabilities, learned from labelled items."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import expit, logit

from sondage.errors import InvalidInput
from sondage.ingest.columns import Columns
from sondage.pool.labels import LabelSpace, shown
from sondage.types import Array, Floats

METHODS = ("sigmoid", "isotonic")
_FEWEST = 10
_EDGE = 1e-9
_NEWTON_STEPS = 100


@dataclass(frozen=True)
class Calibration:
    """A rising map from scores to probabilities: one for two classes, otherwise one per class.

    ``"sigmoid"`` is ``1 / (1 + exp(-(slope * score + intercept)))``, fitted to smoothed targets: with n1
    positive labels and n0 negative ones, ``(n1 + 1) / (n1 + 2)`` and ``1 / (n0 + 2)`` (Platt 1999).
    ``"isotonic"`` is the rising step function nearest to the labels (Zadrozny and Elkan 2002), joined by
    straight lines, flat outside the scores seen, and cut off at those two targets: a score at which all
    labels agreed is not thereby certain. Three classes or more are calibrated one against the rest and
    made to sum to 1. Both methods keep the order of the scores; where labels do not rise with them at
    all, the map is flat.

    >>> found = Calibration.fit([-3, -2, -1, -1, 0, 0, 1, 1, 2, 3], [0, 0, 0, 1, 0, 1, 1, 0, 1, 1])
    >>> found.apply(np.array([-2.0, 0.0, 2.0])).round(2).tolist()
    [0.25, 0.5, 0.75]
    """

    method: str
    maps: tuple[tuple[Any, Any], ...]
    """(slope, intercept) of each map, or (scores, probabilities) of its knots."""
    sums_to_one: bool = True
    """Whether the classes of a table exclude each other."""

    @classmethod
    def fit(
        cls, score: Any, label: Any, method: str = "sigmoid", *, weight: Any = None, sums_to_one: bool = True
    ) -> Calibration:
        """From scores and 0/1 labels: two arrays, or two tables with a column per class."""
        x, y = np.asarray(score, dtype=np.float64), np.asarray(label, dtype=np.float64)
        if method not in METHODS:
            raise InvalidInput(f"calibrate= must be one of {METHODS}, not {method!r}")
        if x.shape != y.shape:
            raise InvalidInput(f"calibration: scores have the shape {x.shape}, labels {y.shape}")
        if len(x) < _FEWEST:
            raise InvalidInput(f"calibration: {len(x)} labels are too few: give {_FEWEST} or more")
        w = np.ones(len(x)) if weight is None else _checked_weight(weight, len(x))
        fit_one = _sigmoid if method == "sigmoid" else _isotonic
        columns = zip(x.reshape(len(x), -1).T, y.reshape(len(x), -1).T, strict=True)
        return cls(method, tuple(fit_one(a, b, w) for a, b in columns), sums_to_one)

    @classmethod
    def of_labels(
        cls, score: Any, label: Any, space: LabelSpace, method: str = "sigmoid", *, weight: Any = None
    ) -> Calibration:
        """From scores and labels of a label space: an array for two classes, a table for more."""
        x = _finite(score)
        every = _indicators(label, space)
        if space.finite and space.size == 2:
            x, every = x if x.ndim == 1 else x[:, -1], every[:, 1]
        fitted = cls.fit(x, every, method, weight=weight, sums_to_one=space.finite)
        if fitted.flat:
            warnings.warn(
                "calibration: labels do not rise with the score (of some class), so that all items get one "
                "probability: are the score's sign and the positive class right?",
                stacklevel=2,
            )
        return fitted

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Calibration:
        """From what ``config`` gave."""
        try:
            maps = tuple((one, other) for one, other in config["maps"])
            return cls(config["method"], maps, config["sums_to_one"])
        except (KeyError, TypeError, ValueError):
            raise InvalidInput(
                f"calibrate= takes one of {METHODS} or a fitted Calibration, not {config!r}"
            ) from None

    def config(self) -> dict[str, Any]:
        """The map as plain numbers, as a journal holds it."""
        maps = [[one, other] for one, other in self.maps]
        return {"method": self.method, "maps": maps, "sums_to_one": self.sums_to_one}

    def apply(self, score: Array) -> Floats:
        """Probabilities of scores: an array, or a table with a column per class."""
        if score.ndim == 1:
            return self._map(0, score)
        table = np.stack([self._map(j, score[:, j]) for j in range(score.shape[1])], axis=1)
        return table / table.sum(axis=1, keepdims=True) if self.sums_to_one else table

    def _map(self, which: int, score: Array) -> Floats:
        one, other = self.maps[which]
        if self.method == "isotonic":
            return np.asarray(np.interp(score, one, other), dtype=np.float64)
        return np.asarray(np.clip(expit(one * score.astype(np.float64) + other), _EDGE, 1.0 - _EDGE))

    @property
    def flat(self) -> bool:
        """Whether a map gives every score the same probability."""
        if self.method == "isotonic":
            return any(other[0] == other[-1] for _, other in self.maps)
        return any(slope == 0 for slope, _ in self.maps)


def _sigmoid(x: Floats, y: Floats, w: Floats) -> tuple[float, float]:
    """Slope and intercept by Newton's method with step halving (Lin, Lin and Weng 2007)."""
    low, high = _targets(y, w)
    target = np.where(y > 0, high, low)
    centre, width = float(w @ x / w.sum()), float(np.std(x))
    level = start = float(logit(w @ target / w.sum()))
    slope, z = 0.0, (x - centre) / (width or 1.0)

    def loss(slope: float, level: float) -> float:
        eta = slope * z + level
        return float(w @ (np.logaddexp(0.0, eta) - target * eta))

    for _ in range(_NEWTON_STEPS if width > 0 else 0):
        p = expit(slope * z + level)
        up, curve = w * (target - p), w * p * (1.0 - p)
        a, b, c = float(curve @ z**2), float(curve @ z), float(curve.sum())
        of_slope, of_level = float(up @ z), float(up.sum())
        scale = 1.0 / (a * c - b * b)
        step = (c * of_slope - b * of_level) * scale, (a * of_level - b * of_slope) * scale
        while loss(slope + step[0], level + step[1]) > loss(slope, level) and max(map(abs, step)) > 1e-10:
            step = step[0] / 2, step[1] / 2
        slope, level = slope + step[0], level + step[1]
        if max(map(abs, step)) <= 1e-10:
            break
    if slope <= 0:  # the best rising map is then the flat one
        return 0.0, start
    return slope / width, level - slope * centre / width


def _isotonic(x: Floats, y: Floats, w: Floats) -> tuple[list[float], list[float]]:
    """Knots of the rising function with the least weighted squared distance from the labels."""
    from scipy.optimize import isotonic_regression

    score, place = np.unique(x, return_inverse=True)
    weight = np.bincount(place, weights=w)
    risen = isotonic_regression(np.bincount(place, weights=w * y) / weight, weights=weight).x
    risen = np.clip(risen, *_targets(y, w))
    same = np.concatenate([[False], risen[1:] == risen[:-1], [False]])
    knot = ~(same[:-1] & same[1:])  # the inside of a level stretch says nothing more
    return score[knot].tolist(), risen[knot].tolist()


def _targets(y: Floats, w: Floats) -> tuple[float, float]:
    """The chance of a positive label, smoothed, where one was negative and where one was positive."""
    n1, n0 = float(w @ y), float(w @ (1.0 - y))
    return 1.0 / (n0 + 2.0), (n1 + 1.0) / (n1 + 2.0)


def _finite(score: Any) -> Floats:
    """Scores without a name: an array, or a table with a column per class."""
    if np.ndim(score) == 2:
        return np.stack([_finite(column) for column in np.asarray(score).T], axis=1)
    try:
        return Columns.from_arrays({"scores": score}).numbers("scores").astype(np.float64)
    except InvalidInput as error:
        raise InvalidInput(f"calibration: {error}") from None


def _indicators(label: Any, space: LabelSpace) -> Floats:
    """(n, C) which class each label is, or which of several numbers it has."""
    try:
        if space.finite:
            told = Columns.from_arrays({"labels": label}).raw("labels").tolist()
            every = space.encode(told)[:, None] == np.arange(space.size)
            poor = ~every.any(axis=0)
        else:  # codes of labels of several numbers are given as they come: not from the pool's own list
            apart = replace(space, _met={}, _table=[])
            every = apart.vectors(apart.encode(list(label))) > 0
            poor = every.all(axis=0) | ~every.any(axis=0)
    except InvalidInput as error:
        raise InvalidInput(f"calibration: {error}") from None
    if poor.any() and len(every) >= _FEWEST:
        names = space.values if space.values is not None else space.components
        lacking = [name for name, bad in zip(names, poor, strict=True) if bad]
        raise InvalidInput(
            f"calibration: its {len(every)} labels do not tell about {shown(lacking)}: give items with and "
            "without each class"
        )
    return np.asarray(every, dtype=np.float64)


def _checked_weight(weight: Any, n: int) -> Floats:
    """Weights with mean 1, so that the smoothing of the targets keeps its meaning."""
    values = np.asarray(weight, dtype=np.float64)
    if values.shape != (n,) or not (np.isfinite(values) & (values > 0)).all():
        raise InvalidInput(f"calibration: weights must be {n} numbers above 0")
    return np.asarray(values * (n / values.sum()))
