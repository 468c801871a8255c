"""Systems that come after the labels: estimated from the sample that is there, never part of the design."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sondage.pool.pool import Pool
from sondage.study.state import StudyState


def add_system(state: StudyState, name: str, source: Any, parts: Mapping[str, Any]) -> None:
    """Let estimates look at one more system.

    Units, beliefs and tables keep the pool that the study was made with, so that no draw can depend on
    what is added; estimates bind their measures to the larger pool, which shares its items and labels.
    """
    state.pool = state.pool.with_system(name, source, **parts)


def made_with(pool: Pool, fingerprint: str) -> Pool:
    """The pool that a study was made with: the one given, or the one that it adds systems to."""
    one: Pool | None = pool
    while one is not None:
        if one.fingerprint == fingerprint:
            return one
        one = one.base
    return pool
