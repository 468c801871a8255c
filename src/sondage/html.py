"""Tables and lists in HTML, as notebooks show them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def html_table(caption: str, rows: Iterable[Sequence[str]], head: Sequence[str] = ()) -> str:
    """A small table; everything is escaped. The first cell of a row is its heading.

    Without ``head`` the cells are words, flush left.

    >>> html_table("a < b", [("n", "3")], ["", "value"])
    '<table><caption>a &lt; b</caption><tr><th></th><th>value</th></tr><tr><th>n</th><td>3</td></tr></table>'
    """
    cell = "<td>" if head else '<td style="text-align:left">'
    body = "".join(
        f"<tr><th>{escape(first)}</th>" + "".join(f"{cell}{escape(one)}</td>" for one in others) + "</tr>"
        for first, *others in rows
    )
    top = html_row(head, "th") if head else ""
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{title}{top}{body}</table>"


def html_row(cells: Iterable[str], tag: str) -> str:
    """A row of cells that are all alike, "th" or "td"; everything is escaped."""
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"


def html_list(lines: Iterable[str]) -> str:
    """A list of lines, escaped; nothing where there are none."""
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f"<ul>{items}</ul>" if items else ""
