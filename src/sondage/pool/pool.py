"""The pool: all items, with what is known of each before any label."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from sondage.errors import InvalidInput, NotSupported, UnknownItem
from sondage.pool.arguments import ROLES, SYSTEM_PARTS, ColumnRoles, SystemRoles, showing
from sondage.pool.division import Division
from sondage.pool.groupings import CONFIDENCE, PREDICTION, derived_group, is_derived
from sondage.pool.in_memory import Arrays, Group, System
from sondage.pool.labels import LabelSpace
from sondage.pool.parts import Documents
from sondage.pool.plain_values import plain
from sondage.pool.rows import Rows
from sondage.pool.source import Column, Source, Summary
from sondage.pool.text import is_text
from sondage.types import Array, Bools, Floats, Id, Ints

if TYPE_CHECKING:
    from sondage.ingest.roles import Roles

CHUNK = 1 << 16
"""Rows looked at together in a pass over the pool."""
_FEW_CLASSES = 16


def pieces(size: int) -> Iterator[slice]:
    """Rows 0, 1, 2, ... some at a time, for passes over a whole column."""
    for start in range(0, size, CHUNK):
        yield slice(start, start + CHUNK)


class Pool:
    """Items in the order of their ids, with scores and predictions per system.

    Sorting by id on entry is what makes everything downstream independent of the row order of the
    source. Make one with ``from_frame``, ``from_parquet`` or ``from_arrays``. What other parts may ask of a
    pool is listed in ``source.py``; ``ids``, ``weight``, ``cost``, ``system()``, ``group()`` and ``features``
    are whole columns, for users and for what reads and cuts a pool.

    >>> pool = Pool.from_arrays(id=["b", "a"], score=[.9, .2], threshold=.5)
    >>> pool.ids.tolist(), pool.system().prediction.tolist()
    (['a', 'b'], [0, 1])
    """

    def __init__(
        self,
        source: Source,
        labels: LabelSpace,
        roles: Roles,
        *,
        origin: Mapping[str, Any] | None = None,
        marks: Mapping[str, bytes] | None = None,
        base: Pool | None = None,
        parts: Documents | None = None,
    ) -> None:
        self.source = source
        self.labels = labels
        self.roles = roles
        self.origin = origin
        """The file that the pool can be read from again, if any."""
        self.calibration_marks = dict(marks or {})
        """What identifies the probabilities that a calibration made."""
        self.base = base
        """The pool that this one adds a system to; None for a pool of its own."""
        self.parts = parts
        """The documents of queries, where items are queries; None elsewhere."""

    @classmethod
    @showing(ROLES)
    def from_frame(cls, frame: Any, **roles: Unpack[ColumnRoles[str]]) -> Pool:
        """A pool from pandas, polars, pyarrow or a duckdb relation: a role names a column.

        Parameters are names of columns: ``id``, ``score``, ``probability`` (one column, or one per
        class), ``prediction``, ``std``, ``groups``, ``weight``, ``cost``, ``features``, ``opinions``,
        ``payload``; ``threshold`` cuts the score where there is no prediction; ``calibrate`` makes
        probabilities of the score, by the labelled items of ``calibration`` (scores and labels, or a
        frame with the score's column and a column ``label``); ``labels`` lists the classes; ``systems``
        maps a system's name to its own ``score``, ``probability``, ``prediction``, ``threshold``,
        ``calibrate``, ``calibration``, ``std``. Without ``id``, the index of a pandas frame is the id
        wherever it is more than row numbers, and the row number otherwise.
        """
        from sondage.ingest.pools import pool_from_frame

        return pool_from_frame(frame, roles)

    @classmethod
    @showing(ROLES)
    def from_parquet(cls, path: str | Path, **roles: Unpack[ColumnRoles[str]]) -> Pool:
        """A pool from a parquet file or a glob of files; only the columns with a role are read."""
        from sondage.ingest.pools import pool_from_parquet

        return pool_from_parquet(path, roles)

    @classmethod
    @showing(ROLES)
    def from_file(cls, path: str | Path, **roles: Unpack[ColumnRoles[str]]) -> Pool:
        """A pool from a CSV, JSONL, parquet or Excel file, told by its name; roles as in ``from_frame``.

        A study remembers the file, as it does one of ``from_parquet``, and is loaded without a pool.
        """
        from sondage.ingest.pools import pool_from_file

        return pool_from_file(path, roles)

    @classmethod
    @showing(ROLES)
    def from_arrays(cls, **roles: Unpack[ColumnRoles[Any]]) -> Pool:
        """A pool from one array per role.

        ``groups``, ``payload``, ``features`` and ``opinions`` map names to arrays.
        ``probability`` may be one array or a table with a column per class, ``features`` a table with a
        column per feature; a frame stands for the mapping of its columns. Without ``id``, the index of
        pandas series is the id wherever it is more than row numbers; all must have the same.
        """
        from sondage.ingest.pools import pool_from_arrays

        return pool_from_arrays(roles)

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
            Cuts the probability or score, in place of the model's own predictions.
        response_method
            ``"predict_proba"``, ``"decision_function"`` or ``"predict"``; ``"auto"`` is the first it has.
        calibrate, calibration
            ``"sigmoid"`` or ``"isotonic"``, and the items ``(X, y)`` to learn it from.
        """
        from sondage.ingest.pools import pool_from_estimator

        roles = {"id": id, "groups": groups, "payload": payload, "weight": weight, "cost": cost}
        roles |= {"std": std, "features": features, "opinions": opinions}
        return pool_from_estimator(model, X, roles, options)

    @classmethod
    def from_rankings(
        cls,
        frame: Any,
        *,
        query: str,
        document: str,
        system: str | None = None,
        rank: str | None = None,
        score: str | None = None,
        relevance: str | None = None,
        grades: Sequence[float] = (0, 1),
        weight: str | None = None,
        cost: str | None = None,
        payload: Sequence[str] = (),
        groups: Sequence[str] = (),
    ) -> Pool:
        """A pool of queries with ranked documents, from a long frame or parquet file: to measure search.

        One row per query, document and system. An item is a query; documents that several systems return
        for it are one, judged once for all. ``rank`` orders a list (by 1, 2, 3, ..., or all lists
        from 0; gaps are closed), or else ``score``, highest first. ``relevance`` has grades that are known
        already, with gaps elsewhere; ``grades`` are all grades there are, in rising order. ``cost`` is that
        of judging a document, ``weight`` that of a query in the mean, ``payload`` names columns to show of a
        document, ``groups`` columns by which queries differ (market, length, ...): one value for each query.

        >>> import pandas as pd
        >>> lists = pd.DataFrame({"q": ["a", "a", "b"], "d": [1, 2, 1], "place": [1, 2, 1]})
        >>> len(Pool.from_rankings(lists, query="q", document="d", rank="place"))
        2
        """
        from sondage.ingest.rankings import pool_from_rankings

        named = {"query": query, "document": document, "system": system, "rank": rank, "score": score}
        named |= {"relevance": relevance, "weight": weight, "cost": cost}
        return pool_from_rankings(frame, grades, payload, groups, **named)

    @classmethod
    def from_trec(cls, runs: Any, *, grades: Sequence[float], qrels: Any = None) -> Pool:
        """A pool of queries from TREC run files, a path or several; see ``from_rankings``.

        Lists are ordered by score, as trec_eval does it, and systems named by the last field of a line.
        ``qrels`` is a file of judgements that are there already, also of documents that no run returned.
        """
        from sondage.ingest.rankings import pool_from_trec

        return pool_from_trec(runs, grades, qrels)

    def asking_for(self, wanted: Bools, *, gaps: bool, counted: bool) -> Pool:
        """The pool for a study that asks for some of the documents; ``counted``: each costs one."""
        assert self.parts is not None
        parts = self.parts.needing(wanted, gaps)
        arrays = replace(self.arrays, cost=parts.item_cost(counted=counted))
        return Pool(arrays, self.labels, self.roles, origin=self.origin, base=self.base, parts=parts)

    @showing(SYSTEM_PARTS)
    def with_system(
        self, name: str, source: Any, *, id: str | None = None, **parts: Unpack[SystemRoles[Any]]
    ) -> Pool:
        """A pool with one more system, which shares everything else with this one.

        ``source`` is a frame, a parquet path, or a mapping of names to arrays, in any row order: every id
        of the pool must be in its ``id`` column once. ``parts`` name its columns as ``systems`` does;
        without any, they are called as those of the pool's first system, whose threshold holds too.

        >>> pool = Pool.from_arrays(id=["a", "b"], score=[.2, .9], threshold=.5)
        >>> newer = pool.with_system("newer", {"id": ["b", "a"], "score": [.4, .3]})
        >>> newer.system("newer").prediction.tolist(), list(pool.systems)
        ([0, 0], ['model'])
        """
        from sondage.ingest.pools import pool_with_system

        return pool_with_system(self, name, source, id, parts)

    def with_group(self, name: str, source: Any, *, id: str | None = None) -> Pool:
        """A pool with one more grouping column, which shares everything else with this one.

        ``source`` is a mapping of every id to its group, or a frame (a parquet path, a mapping of names to
        arrays) with the ids and a column called ``name``, in any row order.

        >>> pool = Pool.from_arrays(id=["a", "b"], score=[.2, .9], threshold=.5)
        >>> pool.with_group("shop", {"b": "north", "a": "south"}).levels("shop")
        ('north', 'south')
        """
        from sondage.ingest.pools import group_from

        return self.having_group(name, group_from(self, name, source, id))

    def having_group(self, name: str, group: Group) -> Pool:
        """A pool with a grouping that is ready: its codes in the order of the pool."""
        roles = replace(self.roles, groups=(*self.roles.groups, name))
        arrays = replace(self.arrays, groups={**self.groups, name: group})
        marks = self.calibration_marks
        return Pool(arrays, self.labels, roles, origin=self.origin, marks=marks, base=self, parts=self.parts)

    def __len__(self) -> int:
        return len(self.source)

    def __repr__(self) -> str:
        groups = f", groups {list(self.roles.groups)}" if self.roles.groups else ""
        systems, labels = list(self.systems), self.labels.words(6)
        return f"Pool({len(self):,} items, systems {systems}, labels {labels}{groups})"

    def _repr_html_(self) -> str:
        from sondage.report.pool_table import pool_table

        return pool_table(self)

    # ---- whole columns: for users, and for what reads and cuts a pool

    @property
    def arrays(self) -> Arrays:
        """The columns, where they are in memory."""
        if not isinstance(self.source, Arrays):
            raise NotSupported("the columns of this pool are not in memory: ask for rows or divisions of it")
        return self.source

    @property
    def ids(self) -> Array:
        """(N,) the ids of all items, in the order of the pool."""
        return self.arrays.all_ids

    @property
    def weight(self) -> Array | None:
        """(N,) how much each item counts in the population; None where all count alike."""
        return self.arrays.weight

    @property
    def cost(self) -> Array | None:
        """(N,) costs of a label, if any."""
        return self.arrays.cost

    @property
    def features(self) -> Array | None:
        """(N, k) features that a model of doubt may use; None where there are none."""
        return self.arrays.features

    @property
    def opinions(self) -> Mapping[str, Array]:
        """(N,) other opinions on the label, by name."""
        return self.arrays.opinions

    @property
    def systems(self) -> Mapping[str, System]:
        """What each system says of every item."""
        return self.arrays.systems

    @property
    def groups(self) -> Mapping[str, Group]:
        """Names of the columns that group items, for ``by=``."""
        return self.arrays.groups

    @property
    def row_in_source(self) -> Ints | None:
        """Where each item was in the table it came from; None if in the same place."""
        return self.arrays.came_from

    @property
    def numbered(self) -> bool:
        """Whether ids are the row numbers of the source, and nothing else."""
        last = len(self) - 1
        return bool(self.row_in_source is None and self.ids[0] == 0 and self.ids[last] == last)

    def system(self, name: str | None = None) -> System:
        """Arrays of a system; the first where none is named."""
        return self.systems[self.system_name(name)]

    def group(self, name: str | Sequence[str]) -> Group:
        """A grouping column; several names are their crossing."""
        return self.arrays.group(self.group_name(name))

    @property
    def reordered(self) -> bool:
        """Whether the source had the items in another order."""
        return self.row_in_source is not None

    def ordered(self, values: Array) -> Array:
        """A column given in the row order of the source, in the order of this pool."""
        return values if self.row_in_source is None else values[self.row_in_source]

    # ---- what is there

    def system_name(self, name: str | None = None) -> str:
        """The name of a system: the one asked for, or the first."""
        if name is None:
            return next(iter(self.systems))
        if not isinstance(name, str) or name not in self.systems:
            raise InvalidInput(f"system {name!r} is not in the pool, which has {list(self.systems)}")
        return name

    def group_name(self, name: str | Sequence[str]) -> str | tuple[str, ...]:
        """The name of a grouping column, or of several that are crossed."""
        if isinstance(name, (list, tuple)):
            return tuple(str(self.group_name(one)) for one in name)
        if not isinstance(name, str) or (name not in self.groups and not is_derived(name)):
            raise InvalidInput(
                f"group {name!r} is not in the pool, which has {list(self.groups)}: "
                f"pass groups=[...] when making it, or use {PREDICTION!r} or {CONFIDENCE!r}"
            )
        if name not in self.groups and (name,) not in self.arrays.made:
            self.arrays.made[(str(name),)] = derived_group(self, name)
        return str(name)

    def levels(self, name: str | Sequence[str]) -> tuple[str, ...]:
        """The names of a group's levels (or of the crossing of several)."""
        return self.group(name).levels

    def has(self, part: str, system: str | None = None) -> bool:
        """Whether the pool carries this part for the system (``weight`` and ``cost`` have none)."""
        name = None if part in ("weight", "cost") else self.system_name(system)
        return self.source.has((part, name))

    # ---- what of it may be seen downstream

    def division(self, *columns: Column) -> Division:
        """The pool divided by columns of classes or levels: sizes of the parts, and rows that stand for them.

        >>> pool = Pool.from_arrays(prediction=[0, 1, 1], groups={"shop": ["a", "a", "b"]})
        >>> found = pool.division(("prediction", "model"), ("group", "shop"))
        >>> found.size.tolist(), found.of(slice(0, 3)).tolist()
        ([1, 1, 1], [0, 1, 2])
        """
        return self.source.division(columns)

    def predicted(self, systems: Sequence[str]) -> Division:
        """The pool divided by what some systems predict; one part where labels are not classes."""
        classes = [("prediction", name) for name in systems] if self.labels.finite else []
        return self.division(*classes)

    def mean(self, part: str) -> float:
        """Mean ``weight`` or ``cost``; 1 where the pool has none."""
        return self.source.mean((part, None)) if self.has(part) else 1.0

    def extent(self, part: str, of: str | None = None) -> tuple[float, float]:
        """The least and the greatest value of a column; of ``weight`` and ``cost`` 1 where there is none."""
        if part in ("weight", "cost") and not self.has(part):
            return 1.0, 1.0
        return self.source.extent((part, of))

    def summary(self, system: str | None = None) -> Summary:
        """What is known of a system's scores and predictions over the whole pool."""
        return self.source.summary(self.system_name(system))

    def weights(self, rows: Array | slice) -> Floats:
        """Population weights of some rows; one each where the pool has none."""
        return self._or_ones("weight", rows)

    def costs(self, rows: Array | slice) -> Floats:
        """Label costs of some rows; one each where the pool has none."""
        return self._or_ones("cost", rows)

    def _or_ones(self, part: str, rows: Array | slice) -> Floats:
        if not self.has(part):
            return np.ones(len(Rows(self, rows)))
        return np.asarray(self.source.read((part, None), rows), dtype=np.float64)

    def rows(self, index: Array | slice) -> Rows:
        """What measures and beliefs may see of some items."""
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
        """The row of the item with this id, or an error that names the id."""
        first = self.source.ids(slice(0, 1))
        row = int(self.source.rows_of([id])[0]) if _same_kind(id, first) else len(self)
        if row == len(self) or self.source.ids(slice(row, row + 1))[0] != id:
            raise UnknownItem(
                f"id {plain(id)!r} is not in the pool of {len(self):,} items{_another_kind(id, first)}"
            )
        return row

    def rows_of(self, ids: Sequence[Id]) -> Ints:
        """The rows of many ids that are known to be in the pool."""
        return self.source.rows_of(ids) if len(ids) else np.empty(0, dtype=np.int64)

    def id_of(self, row: int) -> Id:
        """The id of a row, as a plain int or str."""
        return self.ids_of(np.array([row]))[0]

    def ids_of(self, rows: Ints | slice) -> list[Id]:
        """The ids of the items in these rows, as they were given."""
        ids: list[Id] = self.source.ids(rows).tolist()
        return ids

    def payload_of(self, row: int) -> dict[str, Any]:
        """What to show of an item: its payload columns."""
        return self.source.payload(row)

    def cost_of(self, row: int) -> float:
        """What a label of the item costs."""
        return float(self.costs(np.array([row]))[0])

    @cached_property
    def fingerprint(self) -> str:
        """Digest of ids and all that a design or measure may look at; equal for any row order."""
        found = self.source.fingerprint(self.labels, self.calibration_marks, self.roles.features)
        return found if self.parts is None else self.parts.fingerprint(found)

    @property
    def digests(self) -> dict[str, int]:
        """A checksum of each column, for a pool that came from a file: what changed can then be said."""
        return self.arrays.digests() if self.origin and isinstance(self.source, Arrays) else {}


def _same_kind(id: Id, ids: Array) -> bool:
    if ids.dtype.kind == "O":
        return isinstance(id, str)
    if ids.dtype.kind == "U":
        # A text longer than the column's width would be cut, and then found.
        return isinstance(id, str) and len(id) <= ids.dtype.itemsize // 4
    return isinstance(id, (int, np.integer)) and not isinstance(id, bool) and -(2**63) <= id < 2**63


def _another_kind(id: Any, ids: Array) -> str:
    """The kind of the pool's ids, in words, if this id is of another."""
    text = is_text(ids)
    if isinstance(id, str) == text and isinstance(id, (str, int, np.integer)):
        return ""
    kind = "text" if text else "numbers"
    return f", whose ids are {kind}, such as {plain(ids[0])!r}, not {type(id).__name__}"
