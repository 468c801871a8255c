"""What a document is made of, whatever it is written as."""

from __future__ import annotations

from typing import NamedTuple


class Grid(NamedTuple):
    """A table; the first cell of a row is its heading."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    stacked: bool = False
    """Whether its rows become blocks where there is little room."""


class Figure(NamedTuple):
    """A picture as SVG, and a sentence that says what it shows; the only text here that is markup."""

    svg: str
    caption: str


class Chapter(NamedTuple):
    """A heading, sentences, points, tables and pictures. Each may be missing."""

    heading: str
    text: tuple[str, ...] = ()
    points: tuple[str, ...] = ()
    grids: tuple[Grid, ...] = ()
    figures: tuple[Figure, ...] = ()
    warnings: tuple[str, ...] = ()


class Document(NamedTuple):
    """A question, its answer, and what belongs to it."""

    title: str
    question: str
    answer: str
    below: tuple[str, ...]
    chapters: tuple[Chapter, ...]
