"""Pools from files, frames, arrays and models: every column is read, checked and sorted by id."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sondage.errors import InvalidInput, NotSupported
from sondage.ingest.calibrate import calibrated
from sondage.ingest.columns import Columns
from sondage.ingest.files import first_row, read_file, suffix_of
from sondage.ingest.pandas_index import labels_by_id
from sondage.ingest.roles import Roles, read_group, read_positive, read_systems
from sondage.ingest.scikit_learn import estimator_arrays
from sondage.ingest.tables import NO_COLUMNS, columns_of, flattened, mapping_of, names_of, sorted_ids
from sondage.pool.arguments import SEVERAL, SYSTEM_PARTS
from sondage.pool.groupings import is_derived
from sondage.pool.in_memory import PARTS, Arrays, Group, System
from sondage.pool.labels import shown
from sondage.pool.pool import Pool
from sondage.pool.text import is_text
from sondage.types import Array, Ints

_NO_ARRAYS = ("labels", "multilabel", "systems")


def pool_from_frame(frame: Any, roles: Mapping[str, Any]) -> Pool:
    """What ``Pool.from_frame`` makes of its arguments."""
    named = Roles.named("Pool.from_frame", **roles)
    return _pool(Columns.from_frame(frame, named.columns()), named)


def pool_from_parquet(path: str | Path, roles: Mapping[str, Any]) -> Pool:
    """What ``Pool.from_parquet`` makes of its arguments."""
    named = Roles.named("Pool.from_parquet", **roles)
    return _pool(Columns.from_parquet(path, named.columns()), named, {"parquet": str(path)})


def pool_from_file(path: str | Path, roles: Mapping[str, Any]) -> Pool:
    """What ``Pool.from_file`` makes of its arguments."""
    if suffix_of(path, "the pool's file") == ".parquet":
        return pool_from_parquet(path, roles)
    named = Roles.named("Pool.from_file", **roles)
    table, wanted = read_file(path), list(dict.fromkeys(named.columns()))
    columns = columns_of(table, wanted or list(table)[:1])
    columns.first_row = first_row(path)
    return _pool(columns, named, {"file": str(path)})


def pool_from_arrays(given: Mapping[str, Any]) -> Pool:
    """What ``Pool.from_arrays`` makes of its arguments."""
    return _pool(*_columns_and_roles(given))


def pool_from_estimator(model: Any, X: Any, roles: Mapping[str, Any], options: Mapping[str, Any]) -> Pool:
    """What ``Pool.from_estimator`` makes of its arguments."""
    columns, named = _columns_and_roles(estimator_arrays(model, X, roles, **options))
    columns.told_by_index_of(X)
    return _pool(columns, named)


def pool_with_system(pool: Pool, name: str, source: Any, id: str | None, parts: Mapping[str, Any]) -> Pool:
    """What ``Pool.with_system`` makes of its arguments."""
    if not isinstance(name, str) or not name:
        raise InvalidInput(f"a system's name must be text, not {name!r}")
    if name in pool.systems:
        raise InvalidInput(f"system {name!r} is in the pool already: choose another name")
    if pool.parts is not None:
        raise NotSupported(
            f"system {name!r} cannot be added to a pool of ranked lists: its documents may be new to their "
            "queries. Make the pool with the lists of all systems, Pool.from_rankings(..., system=...)"
        )
    try:
        if isinstance(source, Pool):
            its = _only_system(pool, source, id, parts)
            mark = source.calibration_marks.get(its)
            its_parts, system = source.roles.systems[its], source.systems[its]
            marks = {} if mark is None else {name: mark}
        else:
            its_parts, system, marks = _read_system(pool, name, source, id, parts)
    except InvalidInput as error:
        said = str(error).removeprefix(f"system {name!r}: ")
        raise InvalidInput(f"system {name!r}: {said}") from None
    roles = replace(pool.roles, systems={**pool.roles.systems, name: its_parts})
    arrays = replace(pool.arrays, systems={**pool.systems, name: system})
    # No file holds both.
    return Pool(arrays, pool.labels, roles, marks={**pool.calibration_marks, **marks}, base=pool)


def group_from(pool: Pool, name: str, source: Any, id: str | None) -> Group:
    """A grouping column for the items of a pool, from a mapping of ids or a table."""
    if not isinstance(name, str) or not name:
        raise InvalidInput(f"a group's name must be text, not {name!r}")
    if name in pool.groups or is_derived(name):
        raise InvalidInput(f"group {name!r} is in the pool already: choose another name")
    table = isinstance(source, Mapping) and np.ndim(source.get(name, 0)) == 1
    told = None if table else labels_by_id(pool, source)
    key = pool.roles.id if id is None else id
    if told is not None:
        key, source = "id", {"id": list(told), name: list(told.values())}
    elif name not in names_of(source):
        raise InvalidInput(f"group {name!r}: there is no column of that name among {names_of(source)}")
    try:
        columns = columns_of(source, [name] if key is None else [key, name])
        columns.order = _places(pool, columns, key)
        return read_group(columns, name)
    except InvalidInput as error:
        raise InvalidInput(f"group {name!r}: {error}") from None


def _columns_and_roles(given: Mapping[str, Any]) -> tuple[Columns, Roles]:
    """Arrays given one per role, as columns with names and the roles that these play."""
    flat: dict[str, Any] = {}
    plain = {name: value for name, value in given.items() if name not in (*SEVERAL, *_NO_ARRAYS)}
    names: dict[str, Any] = {name: given[name] for name in _NO_ARRAYS if name in given}
    names |= flattened(plain, "", flat)
    if isinstance(given.get("systems"), Mapping):
        names["systems"] = {
            name: flattened(one, f"{name}.", flat) if isinstance(one, Mapping) else one
            for name, one in given["systems"].items()
        }
    for role in SEVERAL:  # each a mapping of names to arrays
        arrays = mapping_of(role, given.get(role))
        names[role] = tuple(arrays)
        for name, values in arrays.items():
            other = flat.setdefault(name, values)
            if other is not values and not np.array_equal(other, values):
                raise InvalidInput(f"{role}[{name!r}] has the name of another column: call it something else")
    return Columns.from_arrays(flat), Roles.named("Pool.from_arrays", **names)


def _pool(columns: Columns, roles: Roles, origin: Mapping[str, Any] | None = None) -> Pool:
    if columns.length == 0:
        raise InvalidInput("the pool is empty: there is nothing to evaluate")
    ids, columns.order = sorted_ids(columns, roles.id)
    systems, labels = read_systems(columns, roles)
    roles, systems, marks = calibrated(roles, ids, systems, labels)
    features = [columns.numbers(name) for name in roles.features]
    arrays = Arrays(
        ids,
        systems,
        groups={name: read_group(columns, name) for name in roles.groups},
        weight=read_positive(columns, roles.weight, "weight"),
        cost=read_positive(columns, roles.cost, "cost"),
        opinions={name: columns.numbers(name) for name in roles.opinions},
        features=np.stack(features, axis=1) if features else None,
        shown=columns.keep(roles.payload),
        came_from=columns.order,
    )
    return Pool(arrays, labels, roles, origin=origin, marks=marks)


# ---- one more system: a new model on the same items, and so on the labels that are there --------------


def _read_system(
    pool: Pool, name: str, source: Any, id: str | None, parts: Mapping[str, Any]
) -> tuple[Mapping[str, Any], System, dict[str, bytes]]:
    """The parts of the system, its arrays in the order of the pool, and what identifies calibrated ones."""
    key = pool.roles.id if id is None else id
    source, parts = _named(pool, source, parts)
    # The labels of the pool, as ``labels=`` takes them.
    labels: Any = list(pool.labels.components) or "real"
    if pool.labels.values is not None:
        labels = list(pool.labels.values)
    elif pool.roles.labels is not None:
        labels = pool.roles.labels
    roles = Roles.named(id=key, systems={name: parts}, labels=labels, multilabel=pool.roles.multilabel)
    columns = columns_of(source, list(dict.fromkeys(roles.columns())) or names_of(source)[:1])
    columns.order = _places(pool, columns, key)
    systems, _ = read_systems(columns, roles)
    fitted, systems, marks = calibrated(roles, pool.ids, systems, pool.labels)
    return fitted.systems[name], systems[name], marks


def _only_system(pool: Pool, source: Pool, id: str | None, parts: Mapping[str, Any]) -> str:
    """The name of the only system of another pool about the same items."""
    given = [part for part, value in {"id": id, **parts}.items() if value is not None]
    if given:
        raise InvalidInput(f"a pool brings its columns with it: leave out {given[0]}=")
    if len(source.systems) != 1:
        raise InvalidInput(f"the pool given has {len(source.systems)} systems: make one with one")
    if source.labels != pool.labels:
        raise InvalidInput(
            f"its labels are {source.labels.words()} where the pool's are {pool.labels.words()}: make it "
            "with the same labels=, in the same order"
        )
    _check_same(pool, source.ids, "the pool given")
    return source.system_name()


def _named(pool: Pool, source: Any, parts: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The table, and which of its columns is what: as named, else as in the pool's first system."""
    own: dict[str, Any] = {}
    if isinstance(source, Mapping):
        flat = {column: values for column, values in source.items() if column not in SYSTEM_PARTS}
        own = flattened({part: source[part] for part in SYSTEM_PARTS if part in source}, "", flat)
        source = flat
    if any(parts.get(part) is not None for part in PARTS):
        return source, {part: own[part] for part in NO_COLUMNS if part in own} | dict(parts)
    first, have = next(iter(pool.roles.systems.values())), names_of(source)
    for part in PARTS:
        for names in (own.get(part), first.get(part), part):
            if names is not None and set([names] if isinstance(names, str) else names) <= set(have):
                own[part] = names
                break
    if not any(part in own for part in PARTS):
        raise InvalidInput(f"name its columns among {have}: score=, probability=, prediction= or std=")
    if "prediction" not in own:
        own.setdefault("threshold", first.get("threshold"))
    return source, {**own, **parts}


def _places(pool: Pool, columns: Columns, key: str | None) -> Ints | None:
    """Where each item of the pool is in the table."""
    if key is None and columns.index() is None:
        if columns.length == len(pool):
            return pool.row_in_source
        raise InvalidInput(
            f"the table has {columns.length:,} rows for the {len(pool):,} items of the pool: give one each, "
            "in the order of the pool's own table, or name the column of their ids with id="
        )
    theirs, order = sorted_ids(columns, key)
    _check_same(pool, theirs, "the index" if key is None else f"column {key!r}")
    return order


def _check_same(pool: Pool, theirs: Array, where: str) -> None:
    """Refuse ids, in order and each once, that are not those of the pool."""
    if np.array_equal(theirs, pool.ids):
        return
    if is_text(theirs) != is_text(pool.ids):
        kinds = ("text", "numbers") if is_text(pool.ids) else ("numbers", "text")
        raise InvalidInput(f"{where}: the pool's ids are {kinds[0]}, these are {kinds[1]}")
    for fault, ids in (
        ("lacks {} of the pool's ids, {}: every item needs its own", (pool.ids, theirs)),
        ("has {} ids that are not in the pool, {}: leave them out", (theirs, pool.ids)),
    ):
        odd = np.setdiff1d(*ids, assume_unique=True)
        if len(odd):
            raise InvalidInput(f"{where} {fault.format(f'{len(odd):,}', shown(odd.tolist(), 3))}")
