"""Roles: which column is the id, the score, the prediction, ... of an item."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from sondage.errors import InvalidInput
from sondage.ingest.calibrate import check_calibration
from sondage.ingest.columns import Columns
from sondage.ingest.multilabel import read_vector_systems
from sondage.pool.arguments import ROLES, SEVERAL, SYSTEM_PARTS
from sondage.pool.in_memory import PARTS, Group, System
from sondage.pool.labels import TOO_LARGE, LabelSpace, shown
from sondage.pool.plain_values import is_gap, plain
from sondage.pool.text import is_text
from sondage.types import Array, is_number

ONLY_SYSTEM = "model"
"""The name of a pool's system where it has only one."""
_APART = 1e12
"""The largest weight, or cost, is at most so many times the smallest."""


@dataclass(frozen=True)
class Roles:
    """Which column, by name, plays which part."""

    systems: Mapping[str, Mapping[str, Any]]
    id: str | None = None
    labels: Sequence[Any] | Mapping[str, Any] | str | None = None
    multilabel: bool = False
    groups: tuple[str, ...] = ()
    weight: str | None = None
    cost: str | None = None
    features: tuple[str, ...] = ()
    opinions: tuple[str, ...] = ()
    payload: tuple[str, ...] = ()

    @classmethod
    def named(cls, caller: str = "Roles", /, **roles: Any) -> Roles:
        """Roles from keyword arguments, checked; a single system is put under its standard name."""
        for name in roles:
            if name not in ROLES:
                near = difflib.get_close_matches(name, ROLES, n=1)
                hint = f"did you mean {near[0]}=? " if near else ""
                raise InvalidInput(f"{caller}: there is no role {name}=: {hint}there are {', '.join(ROLES)}")
        single = {part: roles.pop(part, None) for part in SYSTEM_PARTS}
        given = [part for part, value in single.items() if value is not None]
        systems = roles.pop("systems", None)
        if systems is None:
            systems = {ONLY_SYSTEM: single}
        elif given:
            raise InvalidInput(f"pass either systems= or {', '.join(name + '=' for name in given)}, not both")
        elif not systems:
            raise InvalidInput("systems= is empty: name at least one system")
        elif not isinstance(systems, Mapping):
            raise InvalidInput(f"systems= takes a mapping of names to their columns, not {systems!r}")
        for name, parts in systems.items():
            if not isinstance(name, str) or not isinstance(parts, Mapping):
                raise InvalidInput(
                    f"systems[{name!r}]: map a name, which is text, to columns such as {{'score': ...}}"
                )
            unknown = set(parts) - set(SYSTEM_PARTS)
            if unknown:
                raise InvalidInput(
                    f"systems[{name!r}] has unknown parts {sorted(unknown)}; known are {list(SYSTEM_PARTS)}"
                )
            if parts.get("threshold") is not None and parts.get("prediction") is not None:
                raise InvalidInput(
                    f"system {name!r}: threshold= cuts scores into predictions, but prediction= is given: "
                    "pass one of them"
                )
            one_each = not roles.get("multilabel") and not isinstance(roles.get("labels"), Mapping)
            if one_each and isinstance(parts.get("prediction"), (list, tuple)):
                raise InvalidInput(
                    f"system {name!r}: several columns in place of one 'prediction' need multilabel=True"
                )
            check_calibration(name, parts)
            for part in PARTS:
                if not (part in ("probability", "prediction") and isinstance(parts.get(part), (list, tuple))):
                    _check_name(f"system {name!r}: {part}", parts.get(part))
        for role in ("id", "weight", "cost"):
            _check_name(role, roles.get(role))
        several_columns = {role: _names(() if roles.get(role) is None else roles[role]) for role in SEVERAL}
        return cls(systems, **{**roles, **several_columns})

    def columns(self) -> Iterator[str]:
        """Every column that has to be read."""
        for name in (self.id, self.weight, self.cost):
            if name is not None:
                yield name
        yield from (*self.groups, *self.features, *self.opinions, *self.payload)
        for parts in self.systems.values():
            for part in PARTS:
                yield from _names(parts.get(part) or ())

    def config(self) -> dict[str, Any]:
        """The arguments of ``named`` that give these roles again."""
        config = {field.name: plain(getattr(self, field.name)) for field in fields(self)}
        config["systems"] = {
            name: {part: plain(value) for part, value in parts.items() if value is not None}
            for name, parts in self.systems.items()
        }
        return config


def read_systems(columns: Columns, roles: Roles) -> tuple[dict[str, System], LabelSpace]:
    """Every system's arrays, and the label space they imply."""
    if roles.multilabel or isinstance(roles.labels, Mapping):
        return read_vector_systems(columns, roles.systems, roles.labels)
    raw = {}
    for name, parts in roles.systems.items():
        score, prediction = parts.get("score"), parts.get("prediction")
        raw[name] = System(
            score=columns.numbers(score) if score else None,
            probability=_probability(columns, parts.get("probability")),
            prediction=columns.raw(prediction) if prediction else None,
            std=_std(columns, parts.get("std")),
        )
    labels = _label_space(roles.labels, raw)
    for name, parts in roles.systems.items():
        if raw[name].probability is not None:
            _check_classes(name, parts["probability"], labels)
    systems = {}
    for name, system in raw.items():
        parts = roles.systems[name]
        if system.prediction is not None:
            prediction = _encode(columns, parts["prediction"], system.prediction, labels)
        else:
            prediction = _decide(name, system, parts.get("threshold"), labels)
        systems[name] = replace(system, prediction=prediction)
    return systems, labels


MISSING = "(missing)"
"""The group of the items that have no value in a grouping column."""
EMPTY = "(empty)"
"""The group of the items whose value is a text without a letter, which nobody could read in a table."""


def read_group(columns: Columns, name: str) -> Group:
    """A grouping column as level positions; items without a value are a group of their own."""
    gaps = columns.gaps(name)
    levels, codes = np.unique(columns.raw(name, without=gaps), return_inverse=True)
    names = [str(level) for level in levels]
    if "" in names:
        if EMPTY in names:
            raise InvalidInput(
                f"column {name!r} has empty texts and values {EMPTY!r}, which is what empty ones are called: "
                "rename these"
            )
        names[names.index("")] = EMPTY
    if gaps.any():
        if MISSING in names:
            raise InvalidInput(
                f"column {name!r} has gaps and values {MISSING!r}, which is what items without a value are "
                "called: rename these"
            )
        warnings.warn(
            f"column {name!r} has no value for {int(gaps.sum()):,} of {len(gaps):,} items: they are "
            f"the group {MISSING!r}",
            stacklevel=2,
        )
        known, codes = codes, np.full(len(gaps), len(names))
        codes[~gaps] = known
        names.append(MISSING)
    small = np.min_scalar_type(max(len(names) - 1, 1))
    return Group(codes.astype(small), tuple(names))


def read_positive(columns: Columns, name: str | None, what: str) -> Array | None:
    """A column of numbers above zero (costs, weights)."""
    if name is None:
        return None
    values = columns.numbers(name)
    columns.check(name, values <= 0, f"must be above 0 to be a {what}")
    least, most = float(values.min()), float(values.max())
    columns.check(
        name, (values > TOO_LARGE) | (values < 1 / TOO_LARGE), f"is too large or small for a {what}"
    )
    if most > _APART * least:
        raise InvalidInput(
            f"column {name!r} has {what}s from {least:g} to {most:g}: beside the greatest the least are lost "
            f"to rounding. Keep {what}s within a factor of {_APART:g}; leave out items that count for nothing"
        )
    return values


def _probability(columns: Columns, names: str | Sequence[str] | None) -> Array | None:
    if names is None:
        return None
    several = not isinstance(names, str)
    arrays = []
    for name in _names(names):
        values = columns.numbers(name)
        if values.min(initial=0.0) < 0 or values.max(initial=0.0) > 1:
            columns.check(name, (values < 0) | (values > 1), "is not a probability in [0, 1]")
        arrays.append(values)
    if not several:
        return arrays[0]
    table = np.stack(arrays, axis=1)
    if table.shape[1] < 2:
        raise InvalidInput("probability= takes one column (binary) or one per class, at least two")
    off = np.abs(table.sum(axis=1) - 1.0) > 1e-3
    columns.check(names[0], off, f"and the other columns of {list(names)} do not sum to 1")
    return table


def _check_classes(system: str, names: str | Sequence[str], labels: LabelSpace) -> None:
    """Refuse other than one probability per class; a single column speaks of two classes."""
    wanted = labels.size if labels.values is not None else 0
    if wanted == (2 if isinstance(names, str) else len(names)):
        return
    have = f"one column {names!r}, for two classes" if isinstance(names, str) else f"columns {list(names)}"
    said = (
        f"the labels are {shown(labels.values)}" if labels.values is not None else "labels are real numbers"
    )
    raise InvalidInput(
        f"system {system!r}: probability= has {have}, but {said}: "
        "give one column per class, in the order of labels=[...]"
    )


def _std(columns: Columns, name: str | None) -> Array | None:
    if name is None:
        return None
    values = columns.numbers(name)
    columns.check(name, values < 0, "is not a standard deviation (it is negative)")
    return values


def _label_space(labels: Any, raw: Mapping[str, System]) -> LabelSpace:
    if isinstance(labels, str):
        if labels == "real":
            return LabelSpace(None)
        if labels == "unit":
            return LabelSpace(None, 0.0, 1.0)
        raise InvalidInput(
            "labels= takes the classes in order, 'real' for numbers, 'unit' for numbers from 0 to 1, or "
            f"a mapping of names to (least, greatest) for several numbers at once, not {labels!r}"
        )
    if labels is not None:
        if not isinstance(labels, Iterable):
            raise InvalidInput(f"labels= takes the classes in order, such as [0, 1], not {labels!r}")
        values = tuple(plain(list(labels)))
        if any(is_gap(value) or not isinstance(value, Hashable) for value in values):
            raise InvalidInput(f"labels= must be classes, such as 0 or 'yes', not {shown(values)}")
        if len(set(values)) != len(values) or len(values) < 2:
            raise InvalidInput(f"labels= must be at least two different classes, not {values}")
        return LabelSpace(values)
    for system in raw.values():
        if system.probability is not None and system.probability.ndim == 2:
            return LabelSpace(tuple(range(system.probability.shape[1])))
    seen = [system.prediction for system in raw.values() if system.prediction is not None]
    if not seen:
        return LabelSpace((0, 1))
    kinds = {"U" if is_text(array) else array.dtype.kind for array in seen}
    if "U" in kinds and len(kinds) > 1:
        raise InvalidInput(
            "prediction= is text for some systems and numbers for others: use one kind, or pass labels=[...]"
        )
    if "f" in kinds and not all(np.isin(array, (0.0, 1.0)).all() for array in seen):
        return LabelSpace(None)
    if kinds <= set("biuf") and all(array.min() >= 0 and array.max() <= 1 for array in seen):
        return LabelSpace((0, 1))
    found = sorted({plain(value) for array in seen for value in np.unique(array)})
    if len(found) < 2:
        raise InvalidInput(f"every prediction is {found[0]!r}, so the classes are unknown: pass labels=[...]")
    return LabelSpace(tuple(found), inferred=True)


def _encode(columns: Columns, name: str, values: Array, labels: LabelSpace) -> Array:
    if not labels.finite:
        numbers = columns.numbers(name)
        columns.check(name, np.abs(numbers) > TOO_LARGE, "is too large to reckon with")
        return numbers
    assert labels.values is not None
    if labels.values == (0, 1) and values.dtype.kind in "biuf":
        columns.check(name, (values != 0) & (values != 1), "is not one of the classes [0, 1]")
        return values.astype(np.int8)
    distinct, inverse = np.unique(values, return_inverse=True)
    codes = {value: code for code, value in enumerate(labels.values)}
    encoded = np.array([codes.get(plain(value), -1) for value in distinct])[inverse]
    columns.check(name, encoded < 0, f"is not one of the classes {shown(labels.values)}")
    return encoded.astype(np.min_scalar_type(-len(labels.values)))


def _decide(name: str, system: System, threshold: float | None, labels: LabelSpace) -> Array | None:
    """Predictions a user did not give: scores cut at the threshold, or the likeliest class."""
    probability, score = system.probability, system.score
    if probability is not None and probability.ndim == 2:
        if threshold is not None:
            raise InvalidInput(f"system {name!r}: threshold= cuts one column, not a class table")
        return np.asarray(np.argmax(probability, axis=1), dtype=np.min_scalar_type(-labels.size))
    if threshold is None and probability is not None:
        threshold = 0.5
    if threshold is None:
        return None
    if not is_number(threshold) or not np.isfinite(threshold):
        raise InvalidInput(f"system {name!r}: threshold= must be a finite number, not {plain(threshold)!r}")
    cut = probability if score is None else score
    if cut is None:
        raise InvalidInput(f"system {name!r}: threshold= needs a score or a probability to cut")
    if not labels.finite or labels.size != 2:
        raise InvalidInput(f"system {name!r}: threshold= decides between two classes only")
    return (cut >= threshold).astype(np.int8)


def _check_name(role: str, value: Any) -> None:
    """Refuse what is no column's name; 0 would otherwise count as no column."""
    if value is not None and not isinstance(value, str):
        raise InvalidInput(f"{role}= takes the name of a column, which is text, not {value!r}")


def _names(value: str | Sequence[str]) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, (list, tuple)) or not all(isinstance(one, str) for one in value):
        raise InvalidInput(f"a role takes the name of a column, or a list of names, not {value!r}")
    return tuple(value)
