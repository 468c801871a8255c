"""A pool as a notebook shows it."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

from sondage.pool.labels import shown
from sondage.pool.rows import PARTS
from sondage.types import Array

if TYPE_CHECKING:
    from sondage.pool.pool import Pool


def pool_table(pool: Pool) -> str:
    """A small table: what is in the pool, and what each thing holds."""
    rows = "".join(
        f"<tr><th>{escape(name)}</th><td>{escape(content)}</td></tr>" for name, content in _lines(pool)
    )
    return f"<table><caption>Pool of {len(pool):,} items</caption>{rows}</table>"


def _lines(pool: Pool) -> Iterator[tuple[str, str]]:
    for name, system in pool.systems.items():
        parts = [part for part in PARTS if getattr(system, part) is not None]
        yield f"system {name}", ", ".join(parts) or "nothing"
    yield "labels", "real numbers" if pool.labels.values is None else shown(pool.labels.values)
    for name, group in pool.groups.items():
        yield f"group {name}", f"{len(group.levels)} levels {shown(group.levels, 6)}"
    for what, values in (("cost", pool.cost), ("weight", pool.weight)):
        if values is not None:
            yield what, _extent(values)
    if pool.roles.payload:
        yield "payload", ", ".join(pool.roles.payload)


def _extent(values: Array) -> str:
    return f"{values.min():g} to {values.max():g}, mean {values.mean():g}"
