"""Text tables line up."""

from sondage.report import table


def test_text_tables_line_up() -> None:
    lines = table(["design", "n"], [["a", "1,000"], ["longer", "2"]]).splitlines()
    assert lines == ["design      n", "-------------", "a       1,000", "longer      2"]


def test_several_columns_may_be_flush_left() -> None:
    lines = table(["a", "b", "n"], [["x", "yy", "1"], ["xxx", "y", "20"]], left=2).splitlines()
    assert lines[2:] == ["x    yy   1", "xxx  y   20"]
