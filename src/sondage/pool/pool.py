"""The pool: all items, with what is known of each before any label."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

from sondage.errors import InvalidInput, UnknownItem
from sondage.ingest.added_system import added_system
from sondage.ingest.arrays import columns_and_roles
from sondage.ingest.calibrated_systems import calibrated
from sondage.ingest.columns import Columns
from sondage.ingest.roles import Roles, read_group, read_positive, read_systems
from sondage.ingest.scikit_learn import estimator_arrays
from sondage.ingest.tables import sorted_ids
from sondage.pool.html import pool_table
from sondage.pool.plain_values import is_gap, plain
from sondage.pool.rows import PARTS, Group, Rows, System, crossed_group
from sondage.pool.text import is_text, lengths_of
from sondage.types import Array, Id, Ints

CHUNK = 1 << 16
"""Rows looked at together in a pass over the pool."""
_FEW_CLASSES = 16


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
        self.source = source
        self.base: Pool | None = None
        """The pool that this one adds a system to; None for a pool of its own."""
        self.ids, columns.order = sorted_ids(columns, roles.id)
        self.row_in_source = columns.order
        """Where each item was in the table it came from; None: in the same place."""
        systems, self.labels = read_systems(columns, roles)
        self.roles, self.systems, self.calibration_marks = calibrated(roles, self.ids, systems, self.labels)
        self.groups = {name: read_group(columns, name) for name in roles.groups}
        self._crossed: dict[tuple[str, ...], Group] = {}
        self.weight = read_positive(columns, roles.weight, "weight")
        self.cost = read_positive(columns, roles.cost, "cost")
        self.opinions = {name: columns.numbers(name) for name in roles.opinions}
        numbers = [columns.numbers(name) for name in roles.features]
        self.features = np.stack(numbers, axis=1) if numbers else None
        self._payload = columns.keep(roles.payload)

    @property
    def numbered(self) -> bool:
        """Whether ids are the row numbers of the source, and nothing else."""
        last = len(self) - 1
        return bool(self.row_in_source is None and self.ids[0] == 0 and self.ids[last] == last)

    @classmethod
    def from_frame(cls, frame: Any, **roles: Any) -> Pool:
        """A pool from pandas, polars, pyarrow or a duckdb relation; see ``Roles.named`` for the roles.

        Parameters are names of columns: ``id``, ``score``, ``probability`` (one column, or one per
        class), ``prediction``, ``std``, ``groups``, ``weight``, ``cost``, ``features``, ``opinions``,
        ``payload``; ``threshold`` cuts the score where there is no prediction; ``calibrate`` makes
        probabilities of the score, by the labelled items of ``calibration`` (scores and labels, or a
        frame with the score's column and a column ``label``); ``labels`` lists the classes; ``systems``
        maps a system's name to its own ``score``, ``probability``, ``prediction``, ``threshold``,
        ``calibrate``, ``calibration``, ``std``. Without ``id``, the index of a pandas frame is the id
        wherever it is more than row numbers, and the row number otherwise.
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
        groups: Any = None,
        payload: Any = None,
        features: Any = None,
        opinions: Any = None,
        systems: Mapping[str, Mapping[str, Any]] | None = None,
        labels: Sequence[Any] | Mapping[str, Any] | str | None = None,
        multilabel: bool = False,
        **parts: Any,
    ) -> Pool:
        """A pool from one array per role.

        ``groups``, ``payload``, ``features`` and ``opinions`` map names to arrays.
        ``probability`` may be one array or a table with a column per class, ``features`` a table with a
        column per feature; a frame stands for the mapping of its columns. Without ``id``, the index of
        pandas series is the id wherever it is more than row numbers; all must have the same.
        """
        named = {"groups": groups, "payload": payload, "features": features, "opinions": opinions}
        named |= {"systems": systems, "labels": labels, "multilabel": multilabel}
        return cls(*columns_and_roles({**named, **parts}))

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        *,
        id: Any = None,
        groups: Any = (),
        payload: Any = (),
        weight: Any = None,
        cost: Any = None,
        std: Any = None,
        features: Any = False,
        opinions: Any = (),
        **options: Any,
    ) -> Pool:
        """A pool of what a fitted scikit-learn model (or one that looks like it) says of ``X``.

        Classifiers give probabilities, or scores where they have a ``decision_function`` only, and
        their predictions; regressors give predictions, with ``predict(X, return_std=True)`` their
        standard deviation. Where ``X`` is a frame, ``id``, ``groups``, ``payload``, ``weight``, ``cost``,
        ``std`` and ``opinions`` may name columns of it: the model gets the columns that it was fitted on
        (``feature_names_in_``), or, if it does not say, all columns without a role. Anywhere else pass
        arrays, and mappings of names to arrays. ``features=True`` keeps what the model gets as features.
        Without ``id``, the index of ``X`` is the id wherever it is more than row numbers.

        Options
        -------
        labels
            The classes in order, if there are more than the model knows.
        pos_label
            Which of two classes is the positive one (default: the model's second).
        threshold
            Cuts the probability or score, in place of the model's own decision.
        response_method
            ``"predict_proba"``, ``"decision_function"`` or ``"predict"``; ``"auto"`` is the first it has.
        calibrate, calibration
            ``"sigmoid"`` or ``"isotonic"``, and the items ``(X, y)`` to learn it from.
        """
        roles = {"id": id, "groups": groups, "payload": payload, "weight": weight, "cost": cost}
        roles |= {"std": std, "features": features, "opinions": opinions}
        columns, named = columns_and_roles(estimator_arrays(model, X, roles, **options))
        columns.told_by_index_of(X)
        return cls(columns, named)

    def with_system(self, name: str, source: Any, *, id: str | None = None, **parts: Any) -> Pool:
        """A pool with one more system, which shares everything else with this one.

        ``source`` is a frame, a parquet path, or a mapping of names to arrays, in any row order: every id
        of the pool must be in its ``id`` column once. ``parts`` name its columns as ``systems`` does;
        without any, they are called as those of the pool's first system, whose threshold holds too.

        >>> pool = Pool.from_arrays(id=["a", "b"], score=[.2, .9], threshold=.5)
        >>> newer = pool.with_system("newer", {"id": ["b", "a"], "score": [.4, .3]})
        >>> newer.system("newer").prediction.tolist(), list(pool.systems)
        ([0, 0], ['model'])
        """
        larger = copy.copy(self)
        vars(larger).pop("fingerprint", None)
        larger.roles, system, marks = added_system(self, name, source, id, parts)
        larger.systems = {**self.systems, name: system}
        larger.calibration_marks = {**self.calibration_marks, **marks}
        larger.source, larger.base = None, self  # no file holds both
        return larger

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        groups = f", groups {list(self.groups)}" if self.groups else ""
        return (
            f"Pool({len(self):,} items, systems {list(self.systems)}, labels {self.labels.words(6)}{groups})"
        )

    def _repr_html_(self) -> str:
        return pool_table(self)

    def system_name(self, name: str | None = None) -> str:
        """The name of a system: the one asked for, or the first."""
        return next(iter(self.systems)) if name is None else name

    def system(self, name: str | None = None) -> System:
        """Arrays of a system; the first where none is named."""
        name = self.system_name(name)
        if not isinstance(name, str) or name not in self.systems:
            raise InvalidInput(f"system {name!r} is not in the pool, which has {list(self.systems)}")
        return self.systems[name]

    def group(self, name: str | Sequence[str]) -> Group:
        """A grouping column; several names are their crossing."""
        if isinstance(name, (list, tuple)):
            crossing = tuple(name)
            if crossing not in self._crossed:
                self._crossed[crossing] = crossed_group([self.group(one) for one in crossing])
            return self._crossed[crossing]
        if not isinstance(name, str) or name not in self.groups:
            raise InvalidInput(
                f"group {name!r} is not in the pool, which has {list(self.groups)}: "
                "pass groups=[...] when making it"
            )
        return self.groups[name]

    def rows(self, index: Array | slice) -> Rows:
        """What may be seen of some items."""
        return Rows(self, index)

    def chunks(self, of: Rows | None = None) -> Iterator[tuple[slice, Rows]]:
        """The whole pool (or some rows), piece by piece; smaller pieces where there are many classes."""
        wide = self.labels.size if self.labels.finite else len(self.labels.components)
        step = max(CHUNK * _FEW_CLASSES // max(wide, _FEW_CLASSES), 1)
        size = len(self) if of is None else len(of)
        for start in range(0, size, step):
            piece = slice(start, min(start + step, size))
            yield piece, Rows(self, piece) if of is None else of.take(np.arange(piece.start, piece.stop))

    def row_of(self, id: Id) -> int:
        """The row of an id."""
        row = (
            int(np.searchsorted(self.ids, np.asarray(id, dtype=self.ids.dtype)))
            if _same_kind(id, self.ids)
            else len(self)
        )
        if row == len(self) or self.ids[row] != id:
            raise UnknownItem(
                f"id {plain(id)!r} is not in the pool of {len(self):,} items{_another_kind(id, self.ids)}"
            )
        return row

    def rows_of(self, ids: Sequence[Id]) -> Ints:
        """The rows of many ids that are known to be in the pool."""
        if not len(ids):
            return np.empty(0, dtype=np.int64)
        return np.searchsorted(self.ids, np.asarray(ids, dtype=self.ids.dtype)).astype(np.int64)

    def ordered(self, values: Array) -> Array:
        """A column given in the row order of the source, in the order of this pool."""
        return values if self.row_in_source is None else values[self.row_in_source]

    def id_of(self, row: int) -> Id:
        """The id of a row, as a plain int or str."""
        id: Id = plain(self.ids[row])
        return id

    def ids_of(self, rows: Ints) -> list[Id]:
        """The ids of many rows."""
        ids: list[Id] = self.ids[rows].tolist()
        return ids

    def payload_of(self, row: int) -> dict[str, Any]:
        """What to show of an item: its payload columns."""
        at = row if self.row_in_source is None else int(self.row_in_source[row])
        return {name: _cell(self._payload[name], at) for name in self.roles.payload}

    def cost_of(self, row: int) -> float:
        """What a label of the item costs."""
        return 1.0 if self.cost is None else float(self.cost[row])

    @cached_property
    def fingerprint(self) -> str:
        """Digest of ids and all that a design or measure may look at; equal for any row order."""
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

        digest.update(repr(self.labels).encode())
        feed("id", self.ids)
        for name, system in self.systems.items():
            digest.update(self.calibration_marks.get(name, b""))
            for part in PARTS:
                if part != "probability" or name not in self.calibration_marks:
                    feed(f"{name}.{part}", getattr(system, part))
        for name, group in self.groups.items():
            digest.update(repr(group.levels).encode())
            feed(name, group.codes)
        feed("weight", self.weight)
        feed("cost", self.cost)
        feed(f"features{list(self.roles.features)}", self.features)
        for name, values in self.opinions.items():
            feed(f"opinion.{name}", values)
        return digest.hexdigest()


def _same_kind(id: Id, ids: Array) -> bool:
    if ids.dtype.kind == "O":
        return isinstance(id, str)
    if ids.dtype.kind == "U":
        # A text longer than the column's width would be cut, and then found.
        return isinstance(id, str) and len(id) <= ids.dtype.itemsize // 4
    return isinstance(id, (int, np.integer)) and not isinstance(id, bool) and -(2**63) <= id < 2**63


def _another_kind(id: Any, ids: Array) -> str:
    """What to say of an id that is text where the pool's are numbers, or anything else but these."""
    text = is_text(ids)
    if isinstance(id, str) == text and isinstance(id, (str, int, np.integer)):
        return ""
    return (
        f", whose ids are {'text' if text else 'numbers'}, such as {plain(ids[0])!r}, not {type(id).__name__}"
    )


def _cell(column: Any, row: int) -> Any:
    """One entry as a plain value, None where it is missing."""
    value = plain(column.item(row) if isinstance(column, nw.Series) else column[row])
    return None if is_gap(value) else value
