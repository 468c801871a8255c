"""Rows of a journal as events: what older versions wrote stays readable."""

from __future__ import annotations

import json

import pytest

from sondage.errors import DamagedJournal
from sondage.journal.base import RETIRED
from sondage.journal.chain import End, Row, events_of, link_of, rows_of
from sondage.testing.journal_sharing import round_of

START = End(0, "")


def row_with(**more: object) -> Row:
    """A round as a row, with further fields."""
    body = json.dumps({**vars(round_of(0)), **more})
    return Row(1, "round", body, link_of("", 1, "round", body))


def test_fields_that_nothing_reads_any_more_are_left_out() -> None:
    row = row_with(**dict.fromkeys(RETIRED, 1))
    assert events_of([row], START, End(1, row.link), "here")[0].record == round_of(0)
    assert not RETIRED & set(vars(round_of(0)))


def test_a_field_of_a_later_version_is_not_left_out() -> None:
    row = row_with(confidence=1)
    with pytest.raises(DamagedJournal, match="upgrade"):
        events_of([row], START, End(1, row.link), "here")


def test_rows_lead_back_to_the_records() -> None:
    records = [round_of(0), round_of(1)]
    rows = rows_of(records, START)
    events = events_of(rows, START, End(2, rows[-1].link), "here")
    assert [one.record for one in events] == records
