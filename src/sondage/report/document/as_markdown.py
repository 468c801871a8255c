"""A document as Markdown: words and tables; a picture is its caption."""

from __future__ import annotations

import re

from sondage.report.document.parts import Chapter, Document, Grid


def as_markdown(document: Document) -> str:
    """The file; what comes from the study cannot pass for markup."""
    said = [f"# {_plain(document.title)}", _plain(document.question), f"**{_plain(document.answer)}**"]
    said += map(_plain, document.below)
    for chapter in document.chapters:
        said += _chapter(chapter)
    return "\n\n".join(said) + "\n"


def _chapter(chapter: Chapter) -> list[str]:
    said = [f"## {_plain(chapter.heading)}"]
    said += [f"> {_plain(one)}" for one in chapter.warnings]
    said += map(_plain, chapter.text)
    said += [_plain(one.caption) for one in chapter.figures]
    if chapter.points:
        said.append("\n".join(f"- {_plain(one)}" for one in chapter.points))
    return said + [_grid(one) for one in chapter.grids]


def _grid(grid: Grid) -> str:
    lines = [grid.head, ("---",) * len(grid.head), *grid.rows]
    table = "\n".join(
        "| " + " | ".join(_plain(cell) if cell != "---" else cell for cell in line) + " |" for line in lines
    )
    return f"{_plain(grid.caption)}\n\n{table}" if grid.caption else table


def _plain(text: str) -> str:
    r"""Text on one line in which nothing is markup.

    >>> _plain("a|b <i>")
    'a\\|b &lt;i>'
    """
    text = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;")
    return re.sub(r"([\\`*\[\]|])", r"\\\1", text)
