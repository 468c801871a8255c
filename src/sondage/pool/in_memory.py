"""Columns in memory: the source of a pool made from frames, files and arrays."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np

from sondage.errors import InvalidInput
from sondage.pool.division import Division, crossed
from sondage.pool.keyed_order import LazyOrder, keyed_hash
from sondage.pool.plain_values import is_gap, plain
from sondage.pool.source import Column
from sondage.pool.text import lengths_of
from sondage.types import Array, Id, Ints

PARTS = ("score", "probability", "prediction", "std")
"""What a system may say of an item."""


@dataclass(frozen=True)
class System:
    """What one model says of every item; a part that was not given is None. It is its own ``Summary``."""

    score: Array | None = None
    probability: Array | None = None
    prediction: Array | None = None
    std: Array | None = None

    @property
    def score_deviation(self) -> float:
        return 0.0 if self.score is None else float(np.std(self.score, dtype=np.float64))

    @property
    def cut(self) -> float | None:
        two = self._scores_by_class()
        return None if two is None else 0.5 * (float(two[1].min()) + float(two[0].max()))

    @property
    def tells_apart(self) -> bool:
        score = self.score if self.score is not None else self.probability
        if score is None or self.prediction is None:
            return score is not None
        sure = score if score.ndim == 1 else score.max(axis=1)
        return any(np.ptp(sure[self.prediction == one]) > 0 for one in np.unique(self.prediction))

    @property
    def prediction_deviation(self) -> float | None:
        return None if self.prediction is None else float(np.std(self.prediction, dtype=np.float64))

    @cached_property
    def upside_down(self) -> bool:
        # Clearly: three quarters of them are above three quarters of those where the second is.
        two = self._scores_by_class()
        return two is not None and bool(np.quantile(two[0], 0.25) > np.quantile(two[1], 0.75))

    def _scores_by_class(self) -> tuple[Array, Array] | None:
        """Scores where each of two classes is predicted; None unless both are."""
        if self.score is None or self.prediction is None:
            return None
        second = self.prediction > 0
        return None if second.all() or not second.any() else (self.score[~second], self.score[second])


@dataclass(frozen=True)
class Group:
    """A column that splits the pool: the level of each item, and the levels' names."""

    codes: Array
    levels: tuple[str, ...]


def crossed_group(groups: Sequence[Group]) -> Group:
    """The levels of several groupings that occur together, as one grouping.

    >>> age, job = Group(np.array([0, 1, 1]), ("old", "young")), Group(np.array([1, 0, 0]), ("cook", "smith"))
    >>> crossed_group([age, job])
    Group(codes=array([0, 1, 1]), levels=('old × smith', 'young × cook'))
    """
    if not groups:
        raise InvalidInput("by= names no group: give one, or several to cross")
    codes = np.zeros(len(groups[0].codes), dtype=np.int64)
    for one in groups:
        codes = codes * len(one.levels) + one.codes
    present, codes = np.unique(codes, return_inverse=True)
    positions = np.unravel_index(present, [len(one.levels) for one in groups])
    names = [[one.levels[k] for k in at] for one, at in zip(groups, positions, strict=True)]
    return Group(codes, tuple(" × ".join(each) for each in zip(*names, strict=True)))


@dataclass(frozen=True, eq=False)
class Arrays:
    """The ``Source`` that holds every column whole, and what is shown of items as it was given."""

    all_ids: Array
    systems: Mapping[str, System]
    groups: Mapping[str, Group] = field(default_factory=dict)
    weight: Array | None = None
    cost: Array | None = None
    features: Array | None = None
    opinions: Mapping[str, Array] = field(default_factory=dict)
    shown: Mapping[str, Any] = field(default_factory=dict)
    """Columns of the payload, in the row order of the table they came from."""
    came_from: Ints | None = None
    """Where each item was in that table; None if in the same place."""
    made: dict[tuple[str, ...], Group] = field(default_factory=dict, repr=False, init=False)
    """Groupings made of columns: crossings, predicted classes, bins; never handed on to other columns."""

    def __len__(self) -> int:
        return len(self.all_ids)

    def ids(self, rows: Array | slice) -> Array:
        return self.all_ids[rows]

    def rows_of(self, ids: Sequence[Id]) -> Ints:
        return np.searchsorted(self.all_ids, np.asarray(ids, dtype=self.all_ids.dtype)).astype(np.int64)

    def has(self, column: Column) -> bool:
        return self._whole(column) is not None

    def read(self, column: Column, rows: Array | slice) -> Array:
        return self._there(column)[rows]

    def mean(self, column: Column) -> float:
        return float(self._there(column).mean(dtype=np.float64))

    def extent(self, column: Column) -> tuple[float, float]:
        whole = self._there(column)
        return float(whole.min()), float(whole.max())

    def summary(self, system: str) -> System:
        return self.systems[system]

    def division(self, columns: Sequence[Column]) -> Division:
        codes = [one for one in map(self._whole, columns) if one is not None]
        return Division(crossed(codes) if codes else np.zeros(len(self), dtype=np.int8))

    def order(self, seed: int, rows: Ints) -> LazyOrder:
        return LazyOrder(len(rows), lambda: keyed_hash(seed, self.all_ids[rows]))

    def payload(self, row: int) -> dict[str, Any]:
        if not self.shown:
            return {}
        at = row if self.came_from is None else int(self.came_from[row])
        return {name: _cell(column, at) for name, column in self.shown.items()}

    def group(self, name: str | Sequence[str]) -> Group:
        """A grouping column, or what a pool made of others; several names are their crossing."""
        if isinstance(name, str) and name in self.groups:
            return self.groups[name]
        crossing = (name,) if isinstance(name, str) else tuple(name)
        if crossing not in self.made:
            self.made[crossing] = crossed_group([self.group(one) for one in crossing])
        return self.made[crossing]

    def _whole(self, column: Column) -> Array | None:
        part, name = column
        if part == "group":
            return self.group(name or "").codes
        if part == "opinion":
            return self.opinions[str(name)]
        found: Array | None = getattr(self.systems[str(name)] if part in PARTS else self, part)
        return found

    def _there(self, column: Column) -> Array:
        whole = self._whole(column)
        assert whole is not None
        return whole

    def digests(self) -> dict[str, int]:
        """A checksum of each column, by its name in words: tells which of them changed, and no more."""
        columns: dict[str, Array | None] = {"ids": self.all_ids}
        for name, system in self.systems.items():
            columns |= {f"{part}s of {name!r}": getattr(system, part) for part in PARTS}
        columns |= {
            f"group {name!r}": np.array(group.levels)[group.codes] for name, group in self.groups.items()
        }
        columns |= {"weights": self.weight, "costs": self.cost, "features": self.features}
        columns |= {f"opinions {name!r}": values for name, values in self.opinions.items()}
        return {name: _checksum(column) for name, column in columns.items() if column is not None}

    def fingerprint(self, labels: Any, marks: Mapping[str, bytes], features: Sequence[str]) -> str:
        digest = hashlib.blake2b(digest_size=16)

        def feed(name: str, array: Array | None) -> None:
            if array is None:
                return
            digest.update(f"{name}{array.dtype.str}{array.shape}".encode())
            if array.dtype.kind != "O":
                digest.update(np.ascontiguousarray(array).data.cast("B"))
                return
            digest.update(lengths_of(array).tobytes())
            for text in array:
                digest.update(text.encode("utf-8", "surrogatepass"))

        digest.update(repr(labels).encode())
        feed("id", self.all_ids)
        for name, system in self.systems.items():
            digest.update(marks.get(name, b""))
            for part in PARTS:
                if part != "probability" or name not in marks:
                    feed(f"{name}.{part}", getattr(system, part))
        for name, group in self.groups.items():
            digest.update(repr(group.levels).encode())
            feed(name, group.codes)
        feed("weight", self.weight)
        feed("cost", self.cost)
        feed(f"features{list(features)}", self.features)
        for name, values in self.opinions.items():
            feed(f"opinion.{name}", values)
        return digest.hexdigest()


def _checksum(column: Array) -> int:
    if column.dtype.kind == "O":
        return zlib.crc32("\0".join(column).encode("utf-8", "surrogatepass"))
    return zlib.crc32(np.ascontiguousarray(column).data.cast("B"))


def _cell(column: Any, row: int) -> Any:
    value = plain(column.item(row) if isinstance(column, nw.Series) else column[row])
    return None if is_gap(value) else value
