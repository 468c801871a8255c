"""A study that is refused leaves nothing behind."""

from __future__ import annotations

import pytest

import sondage as sd
from sondage.errors import NotSupported
from sondage.journal import MemoryJournal
from sondage.testing.designs import small_pool


@pytest.mark.parametrize("design", ["uniform", "poisson", "stratified", "sequential"])
def test_a_refused_study_leaves_no_name_in_the_journal(design: str) -> None:
    journal = MemoryJournal()
    with pytest.raises(NotSupported, match="design='importance'"):
        sd.create_study(
            small_pool()[0], "f1", design=design, oracle="stochastic", storage=journal, name="one"
        )
    assert journal.names() == []
