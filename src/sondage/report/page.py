"""A page: three lines that answer a reader's first questions, then sections; as text and in a notebook."""

from __future__ import annotations

import textwrap
from html import escape
from typing import NamedTuple

from sondage.html import html_list, html_table
from sondage.report.text import table

_WIDTH = 80
"""Letters on a line."""


class Section(NamedTuple):
    """A heading, sentences below it, and a table where there is one. Each part may be missing."""

    heading: str = ""
    lines: tuple[str, ...] = ()
    head: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()

    def __str__(self) -> str:
        said = [self.heading] if self.heading else []
        said += [wrapped(line, "  ") for line in self.lines]
        if self.rows:
            rows = table(self.head, self.rows) if any(self.head) else _plain_rows(self.rows)
            said.append(textwrap.indent(rows, "  "))
        return "\n".join(said)

    def html(self) -> str:
        """The section for a notebook: heading, sentences, then the table."""
        heading = f"<p><em>{escape(self.heading)}</em></p>" if self.heading else ""
        rows = html_table("", self.rows, self.head) if self.rows else ""
        return heading + html_list(self.lines) + rows


class Page(NamedTuple):
    """What is known and how surely; what that rests on; what would make it better; then ``sections``."""

    lead: tuple[str, ...]
    sections: tuple[Section, ...] = ()

    def text(self) -> str:
        """For a terminal; sections with a heading or a table stand apart.

        >>> print(Page(("f1 0.70", "300 labels used"), (Section("It assumes", ("that",)),)).text())
        f1 0.70
        300 labels used
        <BLANKLINE>
        It assumes
          that
        """
        said = [wrapped(line, "") for line in self.lead]
        for one in self.sections:
            said += ["", str(one)] if one.heading or one.rows else [str(one)]
        return "\n".join(said)

    def html(self) -> str:
        """For a notebook: the first line stands out."""
        first, *others = self.lead
        lead = f"<p><strong>{escape(first)}</strong></p>" + "".join(f"<p>{escape(one)}</p>" for one in others)
        return f"<div>{lead}{''.join(one.html() for one in self.sections)}</div>"


def wrapped(line: str, indent: str) -> str:
    """A sentence on lines that fit a terminal; those after the first are further in."""
    return textwrap.fill(
        line, _WIDTH, initial_indent=indent, subsequent_indent=indent + "  ", break_on_hyphens=False
    )


def _plain_rows(rows: tuple[tuple[str, ...], ...]) -> str:
    width = max(len(first) for first, *_ in rows)
    return "\n".join("  ".join([first.ljust(width), *others]) for first, *others in rows)
