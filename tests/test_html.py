"""Tables and lists say what they were given, and nothing of it is taken for markup."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.pool.pages import Cells

from sondage.html import html_list, html_table

text = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20)


@given(text, st.lists(st.tuples(text, text), max_size=4))
def test_a_table_says_what_it_was_given(caption: str, rows: list[tuple[str, str]]) -> None:
    found = Cells(html_table(caption, rows))
    assert found.rows == [list(row) for row in rows]
    assert found.others == [caption] * bool(caption)


@given(st.lists(text, max_size=4))
def test_a_list_says_what_it_was_given(lines: list[str]) -> None:
    assert Cells(html_list(lines)).others == lines


def test_a_list_of_nothing_is_nothing() -> None:
    assert html_list([]) == ""


def test_a_table_with_a_head_has_plain_cells() -> None:
    page = html_table("x", [("a", "1")], ["name", "value"])
    assert Cells(page).rows == [["name", "value"], ["a", "1"]]
    assert "style" not in page
