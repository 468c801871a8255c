"""The coordinates of a measure one by one: the measures that they are by themselves, and their ratios."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sondage.measures.base import Bound, Measure
from sondage.measures.combine.per_group import PerGroup
from sondage.measures.combine.stack import Stack
from sondage.measures.combine.systems import Difference, OfSystems
from sondage.measures.combine.where import Where
from sondage.measures.losses.class_counts import RightByClass
from sondage.measures.maps.counts import EachClass
from sondage.pool.groupings import of_system
from sondage.pool.pool import Pool
from sondage.types import Floats, Ints

Ratio = tuple[Floats, Floats]
_APART = 128
"""Classes, labels or groups of which each is estimated for itself; of more, many at a time are."""


def separately(measure: Measure, pool: Pool) -> list[tuple[Measure, Ints]]:
    """The measures that a bound one is put together from, and which of its coordinates each gives.

    An estimate looks at what its measure looks at, and no further: taken together with others, cells would be
    cut finer than their labels allow, and a number would depend on what stands beside it.

    >>> pool = Pool.from_arrays(prediction=["a", "b", "c"])
    >>> from sondage.measures import Recall, resolve
    >>> bound = resolve(["accuracy", Recall(average=None)]).bind(pool)
    >>> [(one.names[0], places.tolist()) for one, places in separately(bound, pool)]
    [('accuracy', [0]), ('recall', [1]), ('recall', [2]), ('recall', [3])]
    """
    if isinstance(measure, Stack):
        begins = np.cumsum([0, *(one.m for one in measure.measures)])
        return [
            (part, begin + places)
            for one, begin in zip(measure.measures, begins[:-1], strict=True)
            for part, places in separately(one, pool)
        ]
    if isinstance(measure, Bound) and isinstance(measure.map, EachClass) and measure.m <= _APART:
        return [(one.bind(pool), np.array([place])) for place, one in enumerate(_each(measure, pool))]
    if 1 < measure.m <= _APART and measure.one_by_one:
        return [(one, np.array([place])) for place, one in enumerate(measure.one_by_one)]
    if isinstance(measure, PerGroup) and len(measure.levels) <= _APART:
        each = [Where(measure.measure, event) for event in _events(measure, pool)]
        steps = range(0, measure.m, measure.measure.m)
        return [
            (part, step + places)
            for step, one in zip(steps, each, strict=True)
            for part, places in separately(one.bind(pool), pool)
        ]
    if isinstance(measure, (Where, OfSystems)):
        inside = separately(measure.measure, pool)
        # An event is of the predictions of one system: measures of several stay together.
        if len(inside) > 1 and len({one.systems(pool) for one, _ in inside}) == 1:
            return [(replace(measure, measure=one).bind(pool), places) for one, places in inside]
    return [(measure, np.arange(measure.m))]


def _each(measure: Bound, pool: Pool) -> list[Measure]:
    """The measures of every class, or of every label that is yes or no."""
    losses, spec, values = measure.losses, measure.spec, pool.labels.values or ()
    if isinstance(losses, RightByClass):
        return [replace(spec, average="binary", labels=None, pos_label=values[c]) for c in losses.codes]
    assert isinstance(measure.map, EachClass)
    return [replace(spec, average="micro", labels=(name,)) for name in measure.map.labels]


def _events(measure: PerGroup, pool: Pool) -> list[dict[str, str]]:
    """What the items of each level have in common: its name, or one of every column of a crossing."""
    columns = [measure.by] if isinstance(measure.by, str) else list(measure.by)
    first = pool.division(("group", measure.by)).first[measure.start : measure.start + len(measure.levels)]
    named = [[pool.levels(name)[k] for k in pool.rows(first).group(name).tolist()] for name in columns]
    # What an event calls "prediction" is that of the measure's own system, by its value.
    columns = [one if one in pool.groups else of_system(one, pool.system_name()) for one in columns]
    return [dict(zip(columns, each, strict=True)) for each in zip(*named, strict=True)]


def coordinate_ratios(measure: Measure) -> tuple[Ratio, ...] | None:
    """``(num, den)`` of each coordinate, with ``den @ l >= 0``; None if one of them is no ratio.

    >>> from sondage.measures import resolve
    >>> [den.tolist() for num, den in coordinate_ratios(resolve(["accuracy", "precision"]))]
    [[1.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 1.0]]
    """
    if measure.ratio is not None:
        return (measure.ratio,)
    if isinstance(measure, Stack):
        return _placed([coordinate_ratios(one) for one in measure.measures], [m.d for m in measure.measures])
    if isinstance(measure, PerGroup):
        each, levels = coordinate_ratios(measure.measure), len(measure.levels)
        return _placed([(), *(each for _ in range(levels))], [1, *(measure.measure.d for _ in range(levels))])
    return None


def two_sides(measure: Measure) -> tuple[tuple[Ratio, Ratio], ...] | None:
    """The ratios of both systems for each coordinate of a difference of ratios in [0, 1]; otherwise None."""
    if not isinstance(measure, Difference):
        return None
    if measure.ratio is not None:  # a mean of differences, beside a side that is 0
        mean, weight = measure.ratio
        return (((mean, weight), (np.zeros(len(mean)), weight)),)
    both, (least, most) = coordinate_ratios(measure.inner), measure.inner.range
    if both is None or (least != 0).any() or (most != 1).any():
        return None
    return tuple(zip(both[: measure.m], both[measure.m :], strict=True))


def _placed(pieces: list[tuple[Ratio, ...] | None], widths: list[int]) -> tuple[Ratio, ...] | None:
    """Ratios of losses that stand side by side."""
    out: list[Ratio] = []
    begin = 0
    for ratios, width in zip(pieces, widths, strict=True):
        if ratios is None:
            return None
        around = begin, sum(widths) - begin - width
        out += [(np.pad(num, around), np.pad(den, around)) for num, den in ratios]
        begin += width
    return tuple(out)
