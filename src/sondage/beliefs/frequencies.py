"""Belief from class frequencies alone: items differ in nothing but, if wanted, their predicted class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from sondage.beliefs.base import Nodes, StaticBelief, label_nodes
from sondage.beliefs.scores import ScoreBelief
from sondage.errors import InvalidInput
from sondage.pool.labels import LabelSpace, shown
from sondage.pool.plain_values import plain
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.types import Floats

_SUM = 1e-6


@dataclass(frozen=True)
class FrequencyBelief(StaticBelief):
    """Every item has the same chance of each class, ``p(y | x) = p(y)`` (Sawade 2013, 4.2.2).

    A design then looks at predictions alone. ``shares`` maps every class to its share. Without it the shares
    come from the pool: the mean of what the scores say (``source="scores"``), or how often each class is
    predicted (``"predictions"``). ``by_prediction=True`` makes them depend on the predicted class: ``shares``
    then maps every predicted class to such a mapping (the rows of a confusion table, say), and the pool's own
    are the means of the scores among items predicted alike. Several systems count equally. Labels of several
    yes or no have one share each.

    >>> pool = Pool.from_arrays(prediction=["a", "b", "b"])
    >>> belief = FrequencyBelief({"a": .9, "b": .1}).bind(pool, ("model",))
    >>> belief.items(pool.rows(slice(0, 2))).weights.round(6).tolist()
    [[0.9, 0.1], [0.9, 0.1]]
    """

    alias: ClassVar[str] = "frequencies"
    shares: Any = None
    by_prediction: bool = False
    source: Literal["scores", "predictions"] = "scores"
    systems: tuple[str, ...] = ()
    table: tuple[tuple[tuple[float, ...], ...], ...] = ()
    """Once bound: for every system, the shares of each predicted class (or of all items alike)."""

    def __post_init__(self) -> None:
        self.require(source=("scores", "predictions"))
        if self.shares is not None:
            object.__setattr__(self, "shares", _pairs(self.shares))
        elif self.by_prediction and self.source == "predictions":
            raise InvalidInput(
                "source='predictions' cannot say how often a prediction is wrong: with by_prediction=True "
                "use source='scores', or give shares="
            )

    def bind(self, pool: Pool, systems: tuple[str, ...]) -> FrequencyBelief:
        space = pool.labels
        if space.kind == "real":
            raise InvalidInput(
                "belief 'frequencies' needs classes, but the pool's labels are real numbers: use "
                "ScoreBelief(), or UniformBelief() where the numbers have bounds"
            )
        if self.by_prediction and space.kind == "vector":
            raise InvalidInput("by_prediction=True needs labels of one class each, not of several at once")
        if self.by_prediction:
            for name in systems:
                pool.rows(slice(0, 1)).prediction(name)  # an error that names what is missing
        table = self._given(space) if self.shares is not None else self._found(pool, systems)
        if len(table) == 1:
            table = table * len(systems)
        plain = tuple(tuple(tuple(row) for row in one.tolist()) for one in table)
        return replace(self, systems=systems, table=plain)

    def items(self, rows: Rows) -> Nodes:
        tables = [np.array(one) for one in self.table]
        if self.by_prediction:
            said = [rows.prediction(name).astype(np.int64) for name in self.systems]
            weights = np.mean([table[one] for table, one in zip(tables, said, strict=True)], axis=0)
        else:
            weights = np.repeat(np.mean(tables, axis=0), len(rows), axis=0)
        return label_nodes(weights, rows.labels)

    def _given(self, space: LabelSpace) -> list[Floats]:
        if not self.by_prediction:
            return [_row(self.shares, space, "shares=")[None]]
        each = _in_order(self.shares, space, "shares= (a mapping for every predicted class)")
        named = zip(_names(space), each, strict=True)
        return [np.array([_row(row, space, f"shares= of predicted {name!r}") for name, row in named])]

    def _found(self, pool: Pool, systems: tuple[str, ...]) -> list[Floats]:
        space = pool.labels
        if self.source == "predictions":
            counts = [_predicted(pool, name) for name in systems]
            return [np.mean(counts, axis=0, keepdims=True)]
        if not self.by_prediction:
            scores = ScoreBelief().bind(pool, systems)
            total = sum(scores.items(rows).weights.sum(axis=0) for _, rows in pool.chunks())
            return [(total / len(pool))[None]]
        tables = []
        for name in systems:
            predicted, mass = pool.predicted((name,)), np.zeros((space.size, space.size))
            code = pool.rows(predicted.first).prediction(name).astype(np.int64)
            mass[code] = ScoreBelief().bind(pool, (name,)).mass(pool, predicted)
            total = mass.sum(axis=1, keepdims=True)
            # A class that is never predicted: never looked up, but a distribution all the same.
            tables.append(np.where(total > 0, mass / np.maximum(total, 1e-300), 1.0 / space.size))
        return tables


def _predicted(pool: Pool, system: str) -> Floats:
    """(S,) share of the items predicted to be of each class."""
    total = np.zeros(len(_names(pool.labels)))
    for _, rows in pool.chunks():
        predicted = rows.prediction(system)
        if pool.labels.kind == "vector":
            total += predicted.sum(axis=0)
        else:
            total += np.bincount(predicted.astype(np.int64), minlength=len(total))
    return total / len(pool)


def _names(space: LabelSpace) -> tuple[Any, ...]:
    return space.components if space.values is None else space.values


def _pairs(value: Any) -> tuple[tuple[Any, Any], ...]:
    """A mapping as pairs, which compare by value and can be written down; pairs are left as they are."""
    if isinstance(value, Mapping):
        value = tuple(
            (plain(key), _pairs(one) if isinstance(one, Mapping) else plain(one))
            for key, one in value.items()
        )
    if not isinstance(value, tuple) or not all(isinstance(one, tuple) and len(one) == 2 for one in value):
        raise InvalidInput(f"shares= takes a mapping of every class to its share, not {value!r}")
    return value


def _in_order(pairs: Any, space: LabelSpace, what: str) -> list[Any]:
    """What belongs to each class, in the order of the classes."""
    names, given = _names(space), dict(_pairs(pairs))
    missing = [name for name in names if name not in given]
    unknown = [name for name in given if name not in names]
    if missing or unknown:
        wrong = f"has no {missing[0]!r}" if missing else f"has {unknown[0]!r}"
        raise InvalidInput(f"{what} {wrong}: it must have an entry for each of {shown(names)}")
    return [given[name] for name in names]


def _row(pairs: Any, space: LabelSpace, what: str) -> Floats:
    """Shares in the order of the classes, checked."""
    given = _in_order(pairs, space, what)
    if not all(isinstance(one, (int, float)) and 0 <= one < np.inf for one in given):
        raise InvalidInput(f"{what} must be numbers from 0 up, not {given}")
    shares = np.array(given, dtype=np.float64)
    if space.kind == "vector":
        return shares
    if abs(shares.sum() - 1.0) > _SUM:
        raise InvalidInput(f"{what} must add up to 1, not {shares.sum():g}")
    return np.asarray(shares / shares.sum())
