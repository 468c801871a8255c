"""Pools from files, frames, arrays and models: every column is read, checked and sorted by id."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sondage.errors import InvalidInput
from sondage.ingest.calibrate import calibrated
from sondage.ingest.columns import Columns
from sondage.ingest.roles import SEVERAL, Roles, read_group, read_positive, read_systems
from sondage.ingest.scikit_learn import estimator_arrays
from sondage.ingest.tables import flattened, mapping_of, sorted_ids
from sondage.pool.arrays import Arrays
from sondage.pool.pool import Pool

_NO_ARRAYS = ("labels", "multilabel", "systems")


def pool_from_frame(frame: Any, roles: Mapping[str, Any]) -> Pool:
    """What ``Pool.from_frame`` makes of its arguments."""
    named = Roles.named("Pool.from_frame", **roles)
    return _pool(Columns.from_frame(frame, named.columns()), named)


def pool_from_parquet(path: str | Path, roles: Mapping[str, Any]) -> Pool:
    """What ``Pool.from_parquet`` makes of its arguments."""
    named = Roles.named("Pool.from_parquet", **roles)
    return _pool(Columns.from_parquet(path, named.columns()), named, {"parquet": str(path)})


def pool_from_arrays(given: Mapping[str, Any]) -> Pool:
    """What ``Pool.from_arrays`` makes of its arguments."""
    return _pool(*_columns_and_roles(given))


def pool_from_estimator(model: Any, X: Any, roles: Mapping[str, Any], options: Mapping[str, Any]) -> Pool:
    """What ``Pool.from_estimator`` makes of its arguments."""
    columns, named = _columns_and_roles(estimator_arrays(model, X, roles, **options))
    columns.told_by_index_of(X)
    return _pool(columns, named)


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
