"""What a journal must do where a study is deleted, redacted, or entered as a whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sondage.errors import InvalidInput, NameTaken, NotSupported
from sondage.journal.base import Answer, Journal, Record, Redaction
from sondage.testing.journal_sharing import (
    CONFIG,
    NAME,
    OTHER,
    JournalTests,
    answers,
    assert_same,
    round_of,
)


def supported(task: Any, *arguments: Any) -> Any:
    """What a journal returns that does this; a journal need not."""
    try:
        return task(*arguments)
    except NotSupported as error:
        pytest.skip(str(error))


class ChangesTests(JournalTests):
    """Studies as a whole, and items that have to be forgotten."""

    def test_a_study_is_entered_with_all_that_it_holds(self, journal: Journal) -> None:
        records: list[Record] = [round_of(0), *answers("a", 1, None)]
        journal.enter("copy", CONFIG, records, {"d": np.array([0.25])})
        assert_same([event.record for event in journal.events("copy")], records)
        assert_same(journal.config("copy"), CONFIG)
        table = journal.table("copy", "d")
        assert table is not None
        assert table.tolist() == [0.25]
        assert len(journal.append("copy", answers("next"), after=len(records))) == 1
        with pytest.raises(NameTaken, match="copy"):
            journal.enter("copy", {}, records)
        assert len(journal.events("copy")) == len(records) + 1

    def test_a_deleted_study_is_gone_and_its_name_is_free(self, journal: Journal) -> None:
        journal.append(NAME, [round_of(0), *answers("a", "b")])
        journal.put_table(NAME, "d", np.array([0.25]))
        kept = journal.append(OTHER, answers("c"))
        supported(journal.delete, NAME)
        assert journal.names() == [OTHER]
        with pytest.raises(InvalidInput, match=NAME):
            journal.events(NAME)
        with pytest.raises(InvalidInput, match=NAME):
            journal.delete(NAME)
        journal.create(NAME, {})
        assert journal.names() == [OTHER, NAME]
        assert journal.events(NAME) == []
        assert journal.table(NAME, "d") is None
        assert_same(journal.events(OTHER), kept)

    def test_who_has_a_deleted_study_open_writes_to_no_other(self, journal: Journal, second: Journal) -> None:
        """Not even if the newest was deleted and another made in its place."""
        assert second.events(OTHER) == []
        supported(journal.delete, OTHER)
        journal.create("third", {})
        with pytest.raises(InvalidInput, match="deleted"):
            second.append(OTHER, answers("x"))
        with pytest.raises(InvalidInput, match="deleted"):
            second.events(OTHER)
        assert journal.events("third") == []

    def test_a_redacted_item_has_no_label_and_the_journal_says_so(
        self, journal: Journal, tmp_path: Path
    ) -> None:
        """Every answer that told it is changed, nothing else is, and a new handle takes it for whole."""
        said: list[Record] = [
            Answer(id="x", label="secret", annotator="ann", at=1.0),
            Answer(id="y", label="open", at=2.0),
            Answer(id="x", label="Secret", annotator="bob", at=3.0),
            Answer(id="x", label=None, refused=True, annotator="eve", at=4.0),
        ]
        made = journal.append(NAME, [round_of(0), *said])
        (event,) = supported(journal.redact, NAME, "x", 5.0)
        assert isinstance(event.record, Redaction)
        assert (event.seq, event.record.id, event.record.events) == (6, "x", [2, 4])
        expected = [
            made[0].record,
            Answer(id="x", label=None, refused=True, annotator="ann", at=1.0),
            said[1],
            Answer(id="x", label=None, refused=True, annotator="bob", at=3.0),
            said[3],
            event.record,
        ]
        journal.append(NAME, answers("after"), after=6)
        assert_same([one.record for one in journal.events(NAME)][:6], expected)
        other = self.reopen(journal, tmp_path)
        if other is not None:
            assert_same([one.record for one in other.events(NAME)][:6], expected)
            other.close()

    def test_redaction_needs_a_label(self, journal: Journal) -> None:
        journal.append(NAME, [Answer(id="1", label=1), Answer(id=2, label=None, refused=True)])
        for id in (1, 2, "x"):
            with pytest.raises((InvalidInput, NotSupported), match=r"nothing to redact|cannot redact"):
                journal.redact(NAME, id)
        assert len(journal.events(NAME)) == 2

    def test_redaction_hides_no_damage(self, journal: Journal, tmp_path: Path) -> None:
        """What was changed behind the journal's back is still named where something else was redacted."""
        journal.append(NAME, [round_of(0), *answers("a", "b", "c", "d")])
        supported(journal.redact, NAME, 0)
        if not self.damage(tmp_path, "changed"):
            pytest.skip("nothing outside the process can reach it")
        other = self.reopen(journal, tmp_path)
        assert other is not None
        try:
            with pytest.raises(Exception, match=r"event 3\b.*was changed"):
                other.events(NAME)
            with pytest.raises(Exception, match=r"event 3\b.*was changed"):
                other.redact(NAME, 1)
        finally:
            other.close()
