"""How a journal is made for its tests, and what they write to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import pytest

from sondage.journal.base import Answer, Journal, Record, Round
from sondage.types import Id

NAME = "étude 1"
OTHER = "a second study"
CONFIG: dict[str, Any] = {
    "measure": {"name": "f1", "args": {"pos_label": "oui ✓", "beta": 1 / 3}},
    "seed": 2**127 + 1,
    "budget": None,
    "systems": ["a", "b"],
    "flags": [True, False, 0, 1, 1.0, -0.0],
}

Damage = Literal["removed", "changed", "swapped", "cut", "config", "table"]


def round_of(number: int, ids: Sequence[Id] = (1, 2, 3)) -> Round:
    """A round that draws the given items, with chances that no short decimal equals."""
    n = len(ids)
    return Round(
        number=number,
        kind="wr",
        table=f"digest-{number}",
        scale=None,
        expected=n / 3,
        id=list(ids),
        unit=list(range(n)),
        times=[1 + k % 2 for k in range(n)],
        p=[1 / (3 + k) for k in range(n)],
        pi=[None] * n,
        left=[n - k for k in range(n)],
        new=[k % 2 == 0 for k in range(n)],
    )


def answers(*labels: Any) -> list[Record]:
    """One answer per label, for the items 0, 1, ..."""
    return [Answer(id=k, label=label, at=k / 3) for k, label in enumerate(labels)]


def assert_same(found: object, expected: object) -> None:
    """Equal in every type and bit: ``==`` takes 1 for True and 0.0 for -0.0, ``repr`` does not."""
    assert repr(found) == repr(expected)


class JournalTests:
    """What the tests of journals ask of a class that inherits them."""

    def make_journal(self, tmp_path: Path) -> Journal:
        """A new, empty journal; its files, if any, go under ``tmp_path``."""
        raise NotImplementedError("override make_journal")

    def reopen(self, journal: Journal, tmp_path: Path) -> Journal | None:
        """A second handle on the storage of ``journal`` (open or closed); None if not shared."""
        return None

    def damage(self, tmp_path: Path, how: Damage) -> bool:
        """Harm study ``NAME`` behind the journal's back; False if nothing outside can reach it.

        Event 3 is removed, changed (its label), or swapped with event 4; the last event is cut off; the
        study's configuration or its table ``"d"`` is changed.
        """
        return False

    def take_away(self, tmp_path: Path) -> bool:
        """Remove the storage of an open journal; False if there is nothing to remove."""
        return False

    @pytest.fixture
    def journal(self, tmp_path: Path) -> Iterator[Journal]:
        """An empty journal with the two studies that the tests write to."""
        made = self.make_journal(tmp_path)
        assert made.names() == [], "make_journal has to return an empty journal"
        made.create(NAME, CONFIG)
        made.create(OTHER, {})
        yield made
        made.close()

    @pytest.fixture
    def second(self, journal: Journal, tmp_path: Path) -> Iterator[Journal]:
        """A second handle on the same storage; skips if the journal has one handle only."""
        other = self._reopened(journal, tmp_path)
        yield other
        other.close()

    def _reopened(self, journal: Journal, tmp_path: Path) -> Journal:
        other = self.reopen(journal, tmp_path)
        if other is None:
            pytest.skip("the journal is not shared")
        assert other is not journal, "reopen has to return another handle"
        return other
