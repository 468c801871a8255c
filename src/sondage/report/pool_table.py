"""A pool as a notebook shows it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from sondage.html import html_table
from sondage.pool.arrays import System
from sondage.pool.labels import LabelSpace, shown
from sondage.types import Array

if TYPE_CHECKING:
    from sondage.pool.pool import Pool

_LISTED = 6
"""Names and classes that are written out."""


def pool_table(pool: Pool) -> str:
    """What is in the pool, and what each thing holds."""
    return html_table(f"Pool of {len(pool):,} items", _lines(pool))


def _lines(pool: Pool) -> Iterator[tuple[str, str]]:
    for name, system in pool.systems.items():
        yield f"system {name}", "; ".join(_parts(pool, name, system)) or "nothing"
    yield "labels", _labels(pool.labels)
    for name, group in pool.groups.items():
        yield f"group {name}", f"{len(group.levels):,} levels {shown(group.levels, _LISTED)}"
    for what, values in (("cost", pool.cost), ("weight", pool.weight)):
        if values is not None:
            yield what, f"{_extent(values)}, mean {values.mean():g}"
    if pool.features is not None:
        yield "features", f"{pool.features.shape[1]:,} {shown(pool.roles.features, _LISTED)}"
    for name, values in pool.opinions.items():
        yield f"opinion {name}", _extent(values)
    if pool.roles.payload:
        yield "payload", shown(pool.roles.payload, _LISTED)


def _labels(space: LabelSpace) -> str:
    if space.components and space.whole and space.high == 1:
        return f"yes or no to each of {len(space.components):,} {shown(space.components, _LISTED)}"
    return space.words()


def _parts(pool: Pool, name: str, system: System) -> Iterator[str]:
    said = pool.roles.systems.get(name, {})
    if system.score is not None:
        fitted = said.get("calibrate")
        method = fitted["method"] if isinstance(fitted, Mapping) else fitted
        yield f"score {_extent(system.score)}" + (f", calibrated ({method})" if method else "")
    if system.probability is not None:
        of = "" if system.probability.ndim == 1 else f" of {system.probability.shape[1]:,} each"
        yield f"probability{of} {_extent(system.probability)}"
    if system.prediction is not None:
        cut = f" (cut at {said['threshold']:g})" if said.get("threshold") is not None else ""
        yield f"prediction{cut} {_predicted(pool.labels, system.prediction)}"
    if system.std is not None:
        yield f"standard deviation {_extent(system.std)}"


def _predicted(space: LabelSpace, prediction: Array) -> str:
    """The commonest classes; the mean of labels of several; the extent of numbers."""
    if space.components and space.whole and space.high == 1:
        return f"yes to {prediction.sum(axis=1).mean():.3g} of {len(space.components):,} on average"
    if space.values is None:
        return _extent(prediction)
    count = np.bincount(prediction.astype(np.int64), minlength=space.size)
    first = np.argsort(-count, kind="stable")[: min(_LISTED, int((count > 0).sum()))]
    shares = [f"{space.values[k]!r}: {100 * count[k] / len(prediction):.3g} %" for k in first]
    return ", ".join(shares) + (", ..." if (count > 0).sum() > len(first) else "")


def _extent(values: Array) -> str:
    return f"{values.min():.5g} to {values.max():.5g}"
