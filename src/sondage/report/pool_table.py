"""A pool as a notebook shows it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from sondage.html import html_table
from sondage.pool.labels import LabelSpace, shown

if TYPE_CHECKING:
    from sondage.pool.pool import Pool

_LISTED = 6
"""Names and classes that are written out."""


def pool_table(pool: Pool) -> str:
    """What is in the pool, and what each thing holds."""
    return html_table(f"Pool of {len(pool):,} items", _lines(pool))


def _lines(pool: Pool) -> Iterator[tuple[str, str]]:
    for name in pool.systems:
        yield f"system {name}", "; ".join(_parts(pool, name)) or "nothing"
    yield "labels", _labels(pool.labels)
    for name in pool.roles.groups:
        levels = pool.levels(name)
        yield f"group {name}", f"{len(levels):,} levels {shown(levels, _LISTED)}"
    for what in ("cost", "weight"):
        if pool.has(what):
            yield what, f"{_extent(pool, what)}, mean {pool.mean(what):g}"
    if pool.roles.features:
        yield "features", f"{len(pool.roles.features):,} {shown(pool.roles.features, _LISTED)}"
    for name in pool.roles.opinions:
        yield f"opinion {name}", _extent(pool, "opinion", name)
    if pool.roles.payload:
        yield "payload", shown(pool.roles.payload, _LISTED)


def _labels(space: LabelSpace) -> str:
    if space.components and space.whole and space.high == 1:
        return f"yes or no to each of {len(space.components):,} {shown(space.components, _LISTED)}"
    return space.words()


def _parts(pool: Pool, name: str) -> Iterator[str]:
    said = pool.roles.systems.get(name, {})
    if pool.has("score", name):
        fitted = said.get("calibrate")
        method = fitted["method"] if isinstance(fitted, Mapping) else fitted
        yield f"score {_extent(pool, 'score', name)}" + (f", calibrated ({method})" if method else "")
    if pool.has("probability", name):
        one = pool.rows(slice(0, 1)).column("probability", name)
        of = "" if one.ndim == 1 else f" of {one.shape[1]:,} each"
        yield f"probability{of} {_extent(pool, 'probability', name)}"
    if pool.has("prediction", name):
        cut = ""
        if said.get("threshold") is not None:
            at = np.atleast_1d(said["threshold"])  # with several labels there may be one for each
            more = ", ..." if len(at) > _LISTED else ""
            cut = f" (cut at {', '.join(f'{one:g}' for one in at[:_LISTED])}{more})"
        yield f"prediction{cut} {_predicted(pool, name)}"
    if pool.has("std", name):
        yield f"standard deviation {_extent(pool, 'std', name)}"


def _predicted(pool: Pool, name: str) -> str:
    """The commonest classes; the mean of labels of several; the extent of numbers."""
    space = pool.labels
    if space.components and space.whole and space.high == 1:
        yes = sum(float(rows.prediction(name).sum()) for _, rows in pool.chunks())
        return f"yes to {yes / len(pool):.3g} of {len(space.components):,} on average"
    if space.values is None:
        return _extent(pool, "prediction", name)
    found = pool.predicted((name,))
    classes = pool.rows(found.first).prediction(name).astype(np.int64)
    first = np.argsort(-found.size, kind="stable")[:_LISTED]
    shares = [f"{space.values[classes[k]]!r}: {100 * found.size[k] / len(pool):.3g} %" for k in first]
    return ", ".join(shares) + (", ..." if found.count > len(first) else "")


def _extent(pool: Pool, part: str, of: str | None = None) -> str:
    low, high = pool.extent(part, of)
    return f"{low:.5g} to {high:.5g}"
