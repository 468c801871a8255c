"""Events: which items, or which labels of an item, a measure is restricted to."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from sondage.errors import InvalidInput
from sondage.measures.losses.base import Input
from sondage.pool.groupings import is_derived
from sondage.pool.labels import LabelSpace, shown
from sondage.pool.plain_values import plain
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.types import Array, Bools, Floats

Condition = tuple[str, tuple[Any, ...]]
"""A name, and the values (or the two ends) that it may have."""
Codes = tuple[tuple[str, tuple[int, ...]], ...]
"""Names of groups, and the positions of levels."""
Event = tuple[Condition, ...] | Callable[[Rows, Floats], Array]

OF_SYSTEM = ("prediction", "score", "probability")
LABEL = "label"
ROLES = (*OF_SYSTEM, LABEL)


def normal(event: Any) -> Event:
    """An event in the form that is kept: a function, or one pair of name and values per condition.

    >>> normal({"region": "north", "score": [0.2, None]})
    (('region', ('north',)), ('score', (0.2, None)))
    """
    if callable(event):
        made: Event = event
        return made
    pairs = event.items() if isinstance(event, Mapping) else event
    if not isinstance(event, (Mapping, tuple)) or not event:
        raise InvalidInput(
            f"an event is a mapping such as {{'region': 'north'}}, or a function of (rows, y), not {event!r}"
        )

    def listed(values: Any) -> tuple[Any, ...]:
        values = plain(sorted(values, key=str) if isinstance(values, (set, frozenset)) else values)
        return tuple(values) if isinstance(values, list) else (values,)

    return tuple((str(name), listed(values)) for name, values in pairs)


def text(event: Event) -> str:
    """The event in words, for the name of a measure."""
    if callable(event):
        return str(getattr(event, "__name__", "event"))

    def one(name: str, values: tuple[Any, ...]) -> str:
        each = ["..." if value is None else str(value) for value in values]
        return f"{name}={each[0]}" if len(each) == 1 else f"{name} in [{', '.join(each)}]"

    return ", ".join(one(*condition) for condition in event)


def inputs(event: Event, system: str) -> tuple[Input, ...]:
    """The columns that an event looks at; a function does not say."""
    if callable(event):
        return ()
    return tuple(
        Input(name, system) if name in OF_SYSTEM else Input("group", name)
        for name, _ in event
        if name != LABEL
    )


def looks_at_label(event: Event) -> bool:
    """Whether the label decides, or may decide, if an item is in the event."""
    return callable(event) or any(name == LABEL for name, _ in event)


def check(event: Event, pool: Pool, systems: tuple[str, ...]) -> None:
    """Refuse an event that does not fit the pool, or that no item of the pool can be in."""
    if callable(event):
        rows = pool.rows(slice(0, 1))
        y = np.zeros((1, 1)) if pool.labels.kind != "real" else np.full((1, 1), max(pool.labels.low, 0.5))
        found = np.asarray(event(rows, y))
        if found.dtype != bool or found.shape not in ((1,), (1, 1)):
            raise InvalidInput(
                f"event {text(event)!r} must return an array of bool, (n,) or (n, S) for n rows and labels "
                f"of shape (n, S) or (1, S), not {found.dtype} of shape {found.shape}"
            )
        return
    for condition in event:
        _check_condition(condition, pool, systems)
    codes = level_codes(event, pool)
    if not any(on_rows(event, codes, rows, systems[0]).any() for _, rows in pool.chunks()):
        raise InvalidInput(f"no item of the pool is in the event {text(event)}")


def _check_condition(condition: Condition, pool: Pool, systems: tuple[str, ...]) -> None:
    name, values = condition
    if name in ROLES and name in pool.groups:
        raise InvalidInput(f"where: {name!r} is the {name} of an item, but also a group: rename the group")
    if name in OF_SYSTEM and len(systems) > 1:
        raise InvalidInput(
            f"where: {name!r} of which system? The measure looks at {list(systems)}: put the condition on "
            "the measure of each, or give a function of (rows, y)"
        )
    space = pool.labels
    if name in ("prediction", LABEL):
        if space.kind == "vector":
            raise InvalidInput(f"where: labels are several numbers, so {name!r} cannot be compared")
        if space.finite:
            for value in values:
                space.code(value)
        elif len(values) != 1:
            _ends(name, values)
    elif name in OF_SYSTEM:
        _ends(name, values)
        if name == "probability":
            space.positive()
    elif name not in pool.groups and not is_derived(name):
        near = difflib.get_close_matches(name, [*pool.groups, *ROLES], n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise InvalidInput(
            f"where: {name!r} is not a group of the pool: {hint}there are {[*pool.groups, *ROLES]}"
        )
    else:
        levels = pool.levels(name)
        for value in values:
            if str(value) not in levels:
                raise InvalidInput(f"where: {name}={value!r} is not one of {shown(levels)}")


def level_codes(event: Event, pool: Pool) -> Codes:
    """For every group that an event names, the positions of the levels that are in it."""
    if callable(event):
        return ()
    return tuple(
        (name, tuple(pool.levels(name).index(str(value)) for value in values))
        for name, values in event
        if name not in ROLES
    )


def on_rows(event: tuple[Condition, ...], codes: Codes, rows: Rows, system: str | None) -> Bools:
    """(n,) whether each row meets the conditions that need no label."""
    out = np.ones(len(rows), dtype=bool)
    for name, values in event:
        if name == "score":
            out &= _between(rows.score(system), _ends(name, values))
        elif name == "probability":
            out &= _between(rows.probability(system)[:, 1], _ends(name, values))
        elif name == "prediction":
            out &= _of_label(rows.labels, values, rows.prediction(system))
    for name, levels in codes:
        out &= np.isin(rows.group(name), levels)
    return out


def on_labels(event: Event, codes: Codes, rows: Rows, y: Floats, system: str | None) -> Bools:
    """(n, S) or (n, 1) whether each row is in the event under each label."""
    if callable(event):
        found = np.asarray(event(rows, y), dtype=bool)
        return found[:, None] if found.ndim == 1 else found
    out = on_rows(event, codes, rows, system)[:, None]
    for name, values in event:
        if name == LABEL:
            out = out & _of_label(rows.labels, values, y)
    return out


def _of_label(space: LabelSpace, values: tuple[Any, ...], y: Floats) -> Bools:
    """Whether class positions are among some classes, or numbers between two ends."""
    if space.finite:
        return np.isin(y, [space.code(value) for value in values])
    return np.asarray(y == values[0]) if len(values) == 1 else _between(y, _ends(LABEL, values))


def _ends(name: str, values: tuple[Any, ...]) -> tuple[float, float]:
    """The least and the greatest value, None being no end."""
    if len(values) != 2 or not all(one is None or isinstance(one, (int, float)) for one in values):
        raise InvalidInput(
            f"where: {name!r} takes [least, greatest], None where it has no end, not {values!r}"
        )
    low = -np.inf if values[0] is None else float(values[0])
    high = np.inf if values[1] is None else float(values[1])
    if not low <= high:
        raise InvalidInput(f"where: {name!r} takes [least, greatest] in this order, not {list(values)}")
    return low, high


def _between(values: Floats, ends: tuple[float, float]) -> Bools:
    return np.asarray((values >= ends[0]) & (values <= ends[1]))
