"""Calibration: a rising map from scores to probabilities, learned from labelled items outside the pool."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit, logit

from sondage.errors import InvalidInput
from sondage.ingest.columns import Columns
from sondage.ingest.tables import columns_of, names_of
from sondage.pool.in_memory import System
from sondage.pool.labels import LabelSpace, shown
from sondage.pool.text import is_text
from sondage.types import Array, Floats

if TYPE_CHECKING:
    from sondage.ingest.roles import Roles

METHODS = ("sigmoid", "isotonic")
LABEL = "label"
"""The column of a calibration frame that holds the labels."""
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
        w = np.ones(len(x)) if weight is None else np.asarray(weight, dtype=np.float64)
        if w.shape != (len(x),) or not (np.isfinite(w) & (w > 0)).all():
            raise InvalidInput(f"calibration: weights must be {len(x)} numbers above 0")
        w = w * (len(x) / w.sum())  # a mean of 1 keeps the meaning of the targets' smoothing
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
        """The calibration that ``config`` wrote down, made again."""
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


# ---- what calibrate= and calibration= do to a pool ---------------------------------------------------


def check_calibration(system: str, parts: Mapping[str, Any]) -> None:
    """Refuse parts of a system that do not add up to a calibration."""
    how, known = parts.get("calibrate"), parts.get("calibration")
    fault = None
    if how is None and known is None:
        return
    if how is None:
        fault = "calibration= is given, but not how: pass calibrate='sigmoid' or 'isotonic'"
    elif not isinstance(how, (Calibration, Mapping)) and how not in METHODS:
        fault = f"calibrate= must be one of {METHODS}, not {how!r}"
    elif isinstance(how, str) and known is None:
        fault = (
            "calibrate= needs labels to learn from, of items outside the pool: pass "
            "calibration=(scores, labels), or a frame with the score's column and a column 'label'"
        )
    elif not isinstance(how, str) and known is not None:
        fault = "calibrate= is fitted already: leave out calibration="
    elif parts.get("score") is None and parts.get("probability") is None:
        fault = "calibrate= needs a score or a probability to calibrate"
    elif parts.get("score") is not None and parts.get("probability") is not None:
        fault = "calibrate= makes probabilities of the score, but probability= is given: pass one of them"
    if fault:
        raise InvalidInput(f"system {system!r}: {fault}")


def calibrated(
    roles: Roles, ids: Array, systems: Mapping[str, System], labels: LabelSpace
) -> tuple[Roles, dict[str, System], dict[str, bytes]]:
    """Roles with every map fitted, systems with the probabilities made by it, and what identifies those.

    Fitted maps are plain numbers inside the roles: a journal holds them, and a pool that is read again is
    the same. Probabilities may differ in the last bit from machine to machine, so that a pool is
    identified by what they were made from. Predictions stay as they were before.
    """
    roles_of, made, marks = dict(roles.systems), dict(systems), {}
    for name, parts in roles.systems.items():
        if parts.get("calibrate") is None:
            continue
        system = systems[name]
        source = system.score if system.probability is None else system.probability
        assert source is not None
        table = source.ndim == 2 and not (labels.finite and labels.size == 2)
        try:
            fitted = _fitted(parts, roles.id, ids, labels, table)
        except InvalidInput as error:
            raise InvalidInput(f"system {name!r}: {error}") from None
        mark = hashlib.blake2b(repr(fitted.config()).encode())
        if source.ndim == 2:
            mark.update(np.ascontiguousarray(source).data.cast("B"))
        if table:
            made[name] = replace(system, probability=fitted.apply(source))
        else:  # what was calibrated stays as the score: strata are cut along it
            score = source if source.ndim == 1 else np.ascontiguousarray(source[:, 1])
            made[name] = replace(system, score=score, probability=fitted.apply(score))
        roles_of[name] = {**parts, "calibrate": fitted.config(), "calibration": None}
        marks[name] = mark.digest()
    return (replace(roles, systems=roles_of) if marks else roles), made, marks


def _fitted(
    parts: Mapping[str, Any], id: str | None, ids: Array, labels: LabelSpace, table: bool
) -> Calibration:
    if labels.kind == "real" or (labels.kind == "vector" and (labels.low, labels.high) != (0, 1)):
        raise InvalidInput("calibrate= needs labels that are classes")
    if labels.finite and labels.size > 2 and not table:
        raise InvalidInput(
            f"calibrate= needs a column per class where there are {labels.size}: pass probability=[...]"
        )
    names = parts["probability"] if parts.get("score") is None else parts["score"]
    how, known = parts["calibrate"], parts.get("calibration")
    if isinstance(how, str):
        if not isinstance(known, (tuple, list)):
            known = _from_frame(known, names, id, ids)
        if len(known) not in (2, 3):
            raise InvalidInput(f"calibration= takes (scores, labels) or a frame, not {len(known)} things")
        score, told, weight = (*known, None)[:3]
        return Calibration.of_labels(score, told, labels, how, weight=weight)
    fitted = how if isinstance(how, Calibration) else Calibration.from_config(how)
    wanted = len(names) if table else 1
    if len(fitted.maps) != wanted:
        raise InvalidInput(f"calibrate= has {len(fitted.maps)} maps where {wanted} are needed")
    return fitted


def _from_frame(known: Any, names: Any, id: str | None, ids: Array) -> tuple[Array, Array]:
    """Scores and labels of a frame, or of a mapping of arrays, with the column names of the pool."""
    wanted = [names] if isinstance(names, str) else list(names)
    try:
        overlap = [id] if id is not None and id in names_of(known) else []
        columns = columns_of(known, [*wanted, LABEL, *overlap])
        for name in overlap:
            theirs = columns.raw(name)
            both = theirs[np.isin(theirs, ids)] if is_text(theirs) == is_text(ids) else theirs[:0]
            if len(both):
                warnings.warn(
                    f"calibration: {len(both):,} of its {len(theirs):,} items are in the pool "
                    f"({shown(both.tolist(), 3)}): their labels shape what is believed of the pool, and "
                    "count in an estimate only once they are asked. Leave them out of the calibration set",
                    stacklevel=2,
                )
        scores = [columns.numbers(name) for name in wanted]
        return (scores[0] if isinstance(names, str) else np.stack(scores, axis=1)), columns.raw(LABEL)
    except InvalidInput as error:
        raise InvalidInput(f"calibration: {error}") from None
