"""Pools, labels and journals that the tests of the loop share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.study.example import make_labels, make_pool

from sondage.journal import Journal, MemoryJournal, SqliteJournal
from sondage.pool import Pool


@pytest.fixture(scope="session")
def pool() -> Pool:
    return make_pool()


@pytest.fixture(scope="session")
def labels() -> dict[int, int]:
    return make_labels()


@pytest.fixture(params=["memory", "sqlite"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], Journal]]:
    """Opens the same journal each time, as another handle where there can be one."""
    if request.param == "memory":
        memory = MemoryJournal()
        yield lambda: memory
        return
    opened = []

    def open_again() -> Journal:
        opened.append(SqliteJournal(tmp_path / "study.db"))
        return opened[-1]

    yield open_again
    for journal in opened:
        journal.close()
