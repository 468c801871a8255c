"""Pools made of files, frames, arrays and models: every column read, checked and put in the order of ids."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sondage.errors import InvalidInput
from sondage.ingest.arrays import columns_and_roles
from sondage.ingest.calibrated_systems import calibrated
from sondage.ingest.columns import Columns
from sondage.ingest.roles import Roles, read_group, read_positive, read_systems
from sondage.ingest.scikit_learn import estimator_arrays
from sondage.ingest.tables import sorted_ids
from sondage.pool.arrays import Arrays
from sondage.pool.pool import Pool


def pool_from_frame(frame: Any, roles: Mapping[str, Any]) -> Pool:
    """What ``Pool.from_frame`` makes of its arguments."""
    named = Roles.from_arguments("Pool.from_frame", roles)
    return _pool(Columns.from_frame(frame, named.columns()), named)


def pool_from_parquet(path: str | Path, roles: Mapping[str, Any]) -> Pool:
    """What ``Pool.from_parquet`` makes of its arguments."""
    named = Roles.from_arguments("Pool.from_parquet", roles)
    return _pool(Columns.from_parquet(path, named.columns()), named, {"parquet": str(path)})


def pool_from_arrays(given: Mapping[str, Any]) -> Pool:
    """What ``Pool.from_arrays`` makes of its arguments."""
    return _pool(*columns_and_roles(given))


def pool_from_estimator(model: Any, X: Any, roles: Mapping[str, Any], options: Mapping[str, Any]) -> Pool:
    """What ``Pool.from_estimator`` makes of its arguments."""
    columns, named = columns_and_roles(estimator_arrays(model, X, roles, **options))
    columns.told_by_index_of(X)
    return _pool(columns, named)


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
