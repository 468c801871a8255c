"""Columns of a pool whose labels are several numbers at once: yes or no to many, or counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sondage.errors import InvalidInput
from sondage.ingest.columns import Columns
from sondage.pool.in_memory import System
from sondage.pool.labels import LabelSpace
from sondage.types import Array


def read_vector_systems(
    columns: Columns, systems: Mapping[str, Mapping[str, Any]], labels: Any
) -> tuple[dict[str, System], LabelSpace]:
    """Every system's tables, one column per component, and the space of their labels."""
    space = _space(systems, labels)
    return {name: _system(columns, name, parts, space) for name, parts in systems.items()}, space


def _space(systems: Mapping[str, Mapping[str, Any]], labels: Any) -> LabelSpace:
    if isinstance(labels, Mapping):
        return _counts(labels)
    if isinstance(labels, str):
        raise InvalidInput(f"labels={labels!r} does not go with multilabel=True: list the labels' names")
    names = labels
    for part in ("prediction", "probability"):
        for parts in systems.values():
            if names is None and isinstance(parts.get(part), (list, tuple)):
                names = list(parts[part])
                if all(name.endswith(f"{part}[{place}]") for place, name in enumerate(names)):
                    names = range(len(names))  # columns of an array, which are called probability[0], ...
    if names is None:
        raise InvalidInput(
            "multilabel=True needs prediction=[...] or probability=[...], a column per label, or labels=[...]"
        )
    components = tuple(str(name) for name in names)
    if not components or len(set(components)) != len(components):
        raise InvalidInput(f"labels= must be different names, at least one, not {list(components)}")
    return LabelSpace(None, 0.0, 1.0, components, whole=True)


def _counts(labels: Mapping[str, Any]) -> LabelSpace:
    """Several numbers per label, each within the same bounds."""
    if not labels:
        raise InvalidInput("labels= is an empty mapping: name the numbers that make up a label")
    ends = []
    for name, bounds in labels.items():
        try:
            low, high = (0.0, None) if bounds is None else bounds
            ends.append((-np.inf if low is None else float(low), np.inf if high is None else float(high)))
        except (TypeError, ValueError):
            ends.append((0.0, 0.0))
        if not ends[-1][0] < ends[-1][1]:
            raise InvalidInput(f"labels[{name!r}] = {bounds!r} must be (least, greatest), None for no end")
    if len(set(ends)) > 1:
        raise InvalidInput(f"labels= must give the same (least, greatest) to all of {list(labels)}")
    return LabelSpace(None, *ends[0], tuple(map(str, labels)))


def _system(columns: Columns, name: str, parts: Mapping[str, Any], space: LabelSpace) -> System:
    yes_or_no = space.whole
    if parts.get("probability") is not None and not yes_or_no:
        raise InvalidInput(f"system {name!r}: probability= goes with multilabel=True, not with counts")
    if parts.get("std") is not None:
        raise InvalidInput(f"system {name!r}: std= goes with labels='real' only")
    probability = _table(columns, name, "probability", parts, space)
    prediction = _table(columns, name, "prediction", parts, space)
    if prediction is None and probability is not None:
        prediction = (probability >= _threshold(name, parts.get("threshold"), space)).astype(np.int8)
    elif prediction is None and parts.get("threshold") is not None:
        raise InvalidInput(f"system {name!r}: threshold= needs probability=[...] to cut")
    score = columns.numbers(parts["score"]) if parts.get("score") else None
    return System(score, probability, prediction, None)


def _threshold(system: str, threshold: Any, space: LabelSpace) -> Array | float:
    """Where probabilities are cut: one number for all labels, or one for each."""
    if threshold is None:
        return 0.5
    try:
        cut = np.asarray(threshold, dtype=np.float64)
    except (TypeError, ValueError):
        cut = np.array(np.nan)
    if cut.shape not in ((), (len(space.components),)) or not np.isfinite(cut).all():
        raise InvalidInput(
            f"system {system!r}: threshold= must be a finite number, or one for each of the "
            f"{len(space.components)} labels, not {threshold!r}"
        )
    return cut


def _table(
    columns: Columns, system: str, part: str, parts: Mapping[str, Any], space: LabelSpace
) -> Array | None:
    """(N, C) one column per component, each checked and taken in by itself."""
    names = parts.get(part)
    if names is None:
        return None
    listed = [names] if isinstance(names, str) else list(names)
    if len(listed) != len(space.components):
        raise InvalidInput(
            f"system {system!r}: {part}= has {len(listed)} columns, but a label has "
            f"{len(space.components)} parts, {list(space.components)[:6]}: give one column for each, in order"
        )
    decided = part == "prediction" and space.whole
    table = None
    for place, name in enumerate(listed):
        values = columns.numbers(name)
        if decided:
            columns.check(name, (values != 0) & (values != 1), "is not 0 or 1")
        else:  # a probability, or an expected count
            outside = (values < space.low) | (values > space.high)
            columns.check(name, outside, f"is not in [{space.low:g}, {space.high:g}]")
        if table is None:
            table = np.empty((len(values), len(listed)), dtype=np.int8 if decided else values.dtype)
        elif not decided and values.dtype.itemsize > table.dtype.itemsize:
            table = table.astype(values.dtype)
        table[:, place] = values
    return table
