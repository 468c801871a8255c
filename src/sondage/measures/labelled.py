"""Labels of fully labelled data, however they come: as a list, and what they make of a pool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np

from sondage.measures.base import Measure
from sondage.measures.catalogue.item_counts import CountMeasure
from sondage.types import Array


def listed(labels: Sequence[Any] | Array) -> list[Any]:
    """One entry per item, plain values throughout.

    >>> listed(np.array([[1, 0], [0, 1]])), listed([{"sport"}, {"money"}])
    ([[1, 0], [0, 1]], [{'sport'}, {'money'}])
    """
    if isinstance(labels, (list, tuple)) and several_numbers(labels):
        return list(labels)
    entries: list[Any] = np.asarray(labels).tolist()
    return entries


def several_numbers(entries: Sequence[Any]) -> bool:
    """Whether an entry is several numbers: a list, a mapping of names to them, or the set of what applies."""
    return len(entries) > 0 and isinstance(entries[0], (list, tuple, np.ndarray, Mapping, AbstractSet))


def vector_roles(measure: Measure, entries: Sequence[Any]) -> dict[str, Any]:
    """What makes a pool one of such labels: their names, and whether they are counts."""
    counts = _counts(measure)
    names = tuple(entries[0]) if isinstance(entries[0], Mapping) else counts
    if counts:
        return {"labels": dict.fromkeys(names, (0, None))}
    return {"labels": list(names) or [str(place) for place in range(len(entries[0]))], "multilabel": True}


def _counts(measure: Measure) -> tuple[str, ...]:
    """The counts that a measure looks at, in the order in which it names them; none if it has none."""
    if isinstance(measure, CountMeasure):
        return measure.counted
    inside = getattr(measure, "measures", None) or [getattr(measure, "measure", None)]
    return tuple(dict.fromkeys(name for one in inside if one is not None for name in _counts(one)))
