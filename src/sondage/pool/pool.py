"""The pool: all items, with what is known of each before any label."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

from sondage.errors import InvalidInput, UnknownItem
from sondage.pool.columns import Columns
from sondage.pool.html import pool_table
from sondage.pool.plain import is_gap, plain
from sondage.pool.roles import Roles, read_group, read_positive, read_systems
from sondage.pool.rows import PARTS, Group, Rows, System
from sondage.types import Array, Id, Ints

CHUNK = 1 << 16
"""Rows looked at together in a pass over the pool."""


class Pool:
    """Items in the order of their ids, with scores and predictions per system.

    Sorting by id on entry is what makes everything downstream independent of the row order of the
    source. Make one with ``from_frame``, ``from_parquet`` or ``from_arrays``.

    >>> pool = Pool.from_arrays(id=["b", "a"], score=[.9, .2], threshold=.5)
    >>> pool.ids.tolist(), pool.system().prediction.tolist()
    (['a', 'b'], [0, 1])
    """

    def __init__(self, columns: Columns, roles: Roles, source: Mapping[str, Any] | None = None):
        if columns.length == 0:
            raise InvalidInput("the pool is empty: there is nothing to evaluate")
        self.roles = roles
        self.source = source
        self.ids, columns.order = _sorted_ids(columns, roles.id)
        self._row_in_source = columns.order
        self.systems, self.labels = read_systems(columns, roles)
        self.groups = {name: read_group(columns, name) for name in roles.groups}
        self.weight = read_positive(columns, roles.weight, "weight")
        self.cost = read_positive(columns, roles.cost, "cost")
        self._payload = columns.keep(roles.payload)

    @classmethod
    def from_frame(cls, frame: Any, **roles: Any) -> Pool:
        """A pool from pandas, polars, pyarrow or a duckdb relation; see ``Roles.named`` for the roles.

        Parameters are names of columns: ``id``, ``score``, ``probability`` (one column, or one per
        class), ``prediction``, ``std``, ``groups``, ``weight``, ``cost``, ``payload``; ``threshold``
        cuts the score where there is no prediction; ``labels`` lists the classes; ``systems`` maps
        a system's name to its own ``score``, ``probability``, ``prediction``, ``threshold``, ``std``.
        """
        named = Roles.from_arguments("Pool.from_frame", roles)
        return cls(Columns.from_frame(frame, named.columns()), named)

    @classmethod
    def from_parquet(cls, path: str | Path, **roles: Any) -> Pool:
        """A pool from a parquet file or a glob of files; only the columns with a role are read."""
        named = Roles.from_arguments("Pool.from_parquet", roles)
        columns = Columns.from_parquet(path, named.columns())
        return cls(columns, named, source={"parquet": str(path)})

    @classmethod
    def from_arrays(
        cls,
        *,
        threshold: float | None = None,
        labels: Sequence[Any] | str | None = None,
        groups: Mapping[str, Any] | None = None,
        payload: Mapping[str, Any] | None = None,
        systems: Mapping[str, Mapping[str, Any]] | None = None,
        **arrays: Any,
    ) -> Pool:
        """A pool from one array per role; ``groups`` and ``payload`` map names to arrays.

        ``probability`` may be one array or a table with a column per class.
        """
        flat: dict[str, Any] = {}
        names: dict[str, Any] = {"threshold": threshold, "labels": labels}

        def add(parts: Mapping[str, Any], prefix: str) -> dict[str, Any]:
            added: dict[str, Any] = {}
            for part, values in parts.items():
                if values is None or part == "threshold":
                    added[part] = values
                elif part == "probability" and np.ndim(values) == 2:
                    table = np.asarray(values)
                    added[part] = [f"{prefix}probability[{j}]" for j in range(table.shape[1])]
                    flat.update({name: table[:, j] for j, name in enumerate(added[part])})
                else:
                    added[part] = prefix + part
                    flat[prefix + part] = values
            return added

        names.update(add(arrays, ""))
        if systems is not None:
            names["systems"] = {name: add(parts, f"{name}.") for name, parts in systems.items()}
        for role, mapping in (("groups", groups), ("payload", payload)):
            names[role] = tuple(mapping or ())
            for name, values in (mapping or {}).items():
                if flat.setdefault(name, values) is not values:
                    raise InvalidInput(
                        f"{role}[{name!r}] has the name of another column: call it something else"
                    )
        named = Roles.from_arguments("Pool.from_arrays", names)
        return cls(Columns.from_arrays(flat), named)

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        groups = f", groups {list(self.groups)}" if self.groups else ""
        labels = list(self.labels.values)[:6] if self.labels.values else "real"
        return f"Pool({len(self):,} items, systems {list(self.systems)}, labels {labels}{groups})"

    def _repr_html_(self) -> str:
        return pool_table(self)

    def system_name(self, name: str | None = None) -> str:
        """The name of a system: the one asked for, or the first."""
        return next(iter(self.systems)) if name is None else name

    def system(self, name: str | None = None) -> System:
        """Arrays of a system; the first where none is named."""
        name = self.system_name(name)
        if name not in self.systems:
            raise InvalidInput(f"system {name!r} is not in the pool, which has {list(self.systems)}")
        return self.systems[name]

    def group(self, name: str) -> Group:
        """A grouping column."""
        if name not in self.groups:
            raise InvalidInput(
                f"group {name!r} is not in the pool, which has {list(self.groups)}: "
                "pass groups=[...] when making it"
            )
        return self.groups[name]

    def rows(self, index: Array | slice) -> Rows:
        """What may be seen of some items."""
        return Rows(self, index)

    def chunks(self) -> Iterator[tuple[slice, Rows]]:
        """The whole pool, piece by piece."""
        for start in range(0, len(self), CHUNK):
            piece = slice(start, min(start + CHUNK, len(self)))
            yield piece, Rows(self, piece)

    def row_of(self, id: Id) -> int:
        """The row of an id."""
        row = (
            int(np.searchsorted(self.ids, np.asarray(id, dtype=self.ids.dtype)))
            if _same_kind(id, self.ids)
            else len(self)
        )
        if row == len(self) or self.ids[row] != id:
            raise UnknownItem(f"id {plain(id)!r} is not in the pool of {len(self):,} items")
        return row

    def rows_of(self, ids: Sequence[Id]) -> Ints:
        """The rows of many ids that are known to be in the pool."""
        if not len(ids):
            return np.empty(0, dtype=np.int64)
        return np.searchsorted(self.ids, np.asarray(ids, dtype=self.ids.dtype)).astype(np.int64)

    def ordered(self, values: Array) -> Array:
        """A column given in the row order of the source, in the order of this pool."""
        return values if self._row_in_source is None else values[self._row_in_source]

    def id_of(self, row: int) -> Id:
        """The id of a row, as a plain int or str."""
        id: Id = self.ids[row].item()
        return id

    def payload_of(self, row: int) -> dict[str, Any]:
        """What to show of an item: its payload columns."""
        at = row if self._row_in_source is None else int(self._row_in_source[row])
        return {name: _cell(self._payload[name], at) for name in self.roles.payload}

    def cost_of(self, row: int) -> float:
        """What a label of the item costs."""
        return 1.0 if self.cost is None else float(self.cost[row])

    @cached_property
    def fingerprint(self) -> str:
        """Digest of ids and all that a design or measure may look at; equal for any row order."""
        digest = hashlib.blake2b(digest_size=16)

        def feed(name: str, array: Array | None) -> None:
            if array is not None:
                digest.update(f"{name}{array.dtype.str}{array.shape}".encode())
                digest.update(np.ascontiguousarray(array).data.cast("B"))

        digest.update(repr(self.labels).encode())
        feed("id", self.ids)
        for name, system in self.systems.items():
            for part in PARTS:
                feed(f"{name}.{part}", getattr(system, part))
        for name, group in self.groups.items():
            digest.update(repr(group.levels).encode())
            feed(name, group.codes)
        feed("weight", self.weight)
        feed("cost", self.cost)
        return digest.hexdigest()


def _sorted_ids(columns: Columns, name: str | None) -> tuple[Array, Ints | None]:
    """Ids in order, and where each row was in the source (None: where it is now)."""
    if name is None:
        return np.arange(columns.length), None
    ids = columns.raw(name)
    if ids.dtype.kind == "u" and int(ids.max()) >= 2**63:
        raise InvalidInput(f"column {name!r} has ids of 2**63 and above: turn them into text")
    if ids.dtype.kind in "iub":
        ids = ids.astype(np.int64, copy=False)
    elif ids.dtype.kind != "U":
        raise InvalidInput(f"column {name!r} cannot hold ids: use whole numbers or text")
    order = None
    if not bool((ids[:-1] < ids[1:]).all()):
        order = np.argsort(ids, kind="stable")
        ids = ids[order]
        twice = np.flatnonzero(ids[:-1] == ids[1:])
        if len(twice):
            value, first, second = ids[twice[0]], order[twice[0]], order[twice[0] + 1]
            raise InvalidInput(
                f"column {name!r} has the id {value.item()!r} in rows {first} and {second}: ids must "
                f"be different ({len(twice)} repeats in all)"
            )
    return ids, order


def _same_kind(id: Id, ids: Array) -> bool:
    if ids.dtype.kind == "U":
        # A text longer than the column's width would be cut, and then found.
        return isinstance(id, str) and len(id) <= ids.dtype.itemsize // 4
    return isinstance(id, (int, np.integer)) and not isinstance(id, bool) and -(2**63) <= id < 2**63


def _cell(column: Any, row: int) -> Any:
    """One entry as a plain value, None where it is missing."""
    value = plain(column.item(row) if isinstance(column, nw.Series) else column[row])
    return None if is_gap(value) else value
