"""The journal in memory keeps the contract of every journal."""

from __future__ import annotations

from pathlib import Path

from sondage.journal import MemoryJournal, open_journal
from sondage.testing.journal import JournalSuite


class TestMemoryJournal(JournalSuite):
    def make_journal(self, tmp_path: Path) -> MemoryJournal:
        return MemoryJournal()


def test_two_journals_share_nothing() -> None:
    first, second = open_journal(None), open_journal(None)
    first.create("s", {})
    assert first.names() == ["s"]
    assert second.names() == []
