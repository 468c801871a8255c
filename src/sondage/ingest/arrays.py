"""Arrays given one per role, as columns with names and the roles that these play."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sondage.errors import InvalidInput
from sondage.ingest.columns import Columns
from sondage.ingest.roles import Roles
from sondage.ingest.tables import flattened, mapping_of

_SEVERAL = ("groups", "payload", "features", "opinions")
"""Roles of several columns, which are a mapping of names to arrays."""
_NO_ARRAYS = ("labels", "multilabel", "systems")


def columns_and_roles(given: Mapping[str, Any]) -> tuple[Columns, Roles]:
    """What ``Pool.from_arrays`` makes of its arguments."""
    flat: dict[str, Any] = {}
    plain = {name: value for name, value in given.items() if name not in (*_SEVERAL, *_NO_ARRAYS)}
    names: dict[str, Any] = {name: given[name] for name in _NO_ARRAYS if name in given}
    names |= flattened(plain, "", flat)
    if isinstance(given.get("systems"), Mapping):
        names["systems"] = {
            name: flattened(one, f"{name}.", flat) if isinstance(one, Mapping) else one
            for name, one in given["systems"].items()
        }
    for role in _SEVERAL:
        arrays = mapping_of(role, given.get(role))
        names[role] = tuple(arrays)
        for name, values in arrays.items():
            other = flat.setdefault(name, values)
            if other is not values and not np.array_equal(other, values):
                raise InvalidInput(f"{role}[{name!r}] has the name of another column: call it something else")
    return Columns.from_arrays(flat), Roles.from_arguments("Pool.from_arrays", names)
