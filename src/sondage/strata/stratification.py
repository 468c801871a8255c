"""What a rule for strata made of a pool: the strata, and how they differ from what was asked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from html import escape

import numpy as np

from sondage.html import html_row
from sondage.pool.division import Division
from sondage.strata.hierarchy import Tree, complete_tree
from sondage.types import Array, Floats, Ints

_LINES = 40
"""Strata that a table lists; the middle of a longer one is left out."""


@dataclass(frozen=True, eq=False)
class Stratification:
    """Strata of one pool, numbered 0, 1, 2, ...; none is empty. ``print`` shows a table.

    >>> from sondage.pool import Pool
    >>> from sondage.strata import EqualWidth
    >>> print(EqualWidth(4).describe(Pool.from_arrays(score=[0, 0.1, 0.2, 0.3, 1])))
    strata 'equal-width' of 5 items: 4 asked for, 3 made
    stratum  along the score  items   share
    0        0 to 0.2             3  60.0 %
    1        0.3                  1  20.0 %
    2        1                    1  20.0 %
    1 of 4 strata holds no item and was left out
    """

    alias: str
    """The rule's name."""
    codes: Array
    """(N,) stratum of every item."""
    names: tuple[str, ...]
    """(K,) what each stratum holds, in words."""
    named_by: str = "holds"
    """What the names describe."""
    requested: int | None = None
    """The number asked for; None where the rule finds its own."""
    edges: Floats | None = None
    """(K + 1,) ends of the strata: stratum h holds scores from ``edges[h]`` on, below ``edges[h + 1]``.

    The first and the last are the least and the greatest score. None where strata are no ranges of the score.
    """
    notes: tuple[str, ...] = ()
    """Why there are fewer strata than asked for, and other things worth knowing."""
    own_tree: Tree | None = None
    """The hierarchy that the rule built, if it did."""

    @cached_property
    def size(self) -> Ints:
        """(K,) how many items each stratum has."""
        return np.bincount(self.codes)

    @cached_property
    def division(self) -> Division:
        """The strata as kinds of items."""
        return Division(self.codes)

    def of(self, rows: Ints | slice) -> Ints:
        """The stratum of some rows, or of a piece of the pool."""
        return self.division.of(rows)

    @property
    def actual(self) -> int:
        """How many strata were made; empty ones do not count."""
        return len(self.size)

    @cached_property
    def tree(self) -> Tree:
        """The rule's own hierarchy, otherwise the complete binary tree over the strata in order."""
        return complete_tree(self.actual) if self.own_tree is None else self.own_tree

    def __repr__(self) -> str:
        return f"Stratification({self._summary()})"

    def __str__(self) -> str:
        rows = self._rows()
        a, b, c, d = (max(map(len, column)) for column in zip(*rows, strict=True))
        lines = [
            f"{number:<{a}}  {name:<{b}}  {items:>{c}}  {share:>{d}}".rstrip()
            for number, name, items, share in rows
        ]
        return "\n".join([self._summary(), *lines, *self.notes])

    def _repr_html_(self) -> str:
        names, *rows = self._rows()
        head, body = html_row(names, "th"), "".join(html_row(cells, "td") for cells in rows)
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes)
        return f"<table><caption>{escape(self._summary())}</caption>{head}{body}</table>{notes}"

    def _summary(self) -> str:
        asked = "" if self.requested is None else f"{self.requested:,} asked for, "
        made = f"{asked}{self.actual:,}{' made' if asked else ''}"
        return f"strata {self.alias!r} of {len(self.codes):,} items: {made}"

    def _rows(self) -> list[tuple[str, str, str, str]]:
        """The names of the columns, and a line for every stratum."""
        share = 100 * self.size / len(self.codes)
        rows = [(str(h), name, f"{self.size[h]:,}", f"{share[h]:.1f} %") for h, name in enumerate(self.names)]
        if self.actual > _LINES:
            more = ("...", f"{self.actual - _LINES:,} more", "", "")
            rows = [*rows[: _LINES // 2], more, *rows[-_LINES // 2 :]]
        return [("stratum", self.named_by, "items", "share"), *rows]


def left_out(empty: int, total: int, what: str) -> str:
    """The note that some of the possible strata are empty."""
    verbs = "holds no item and was" if empty == 1 else "hold no item and were"
    return f"{empty:,} of {total:,} {what} {verbs} left out"


def numbered(codes: Array, count: int, tree: Tree | None = None) -> tuple[Array, Array, Tree | None]:
    """Codes and tree without empty strata, and the old numbers of those that are left.

    >>> codes, used, _ = numbered(np.array([0, 3, 3]), 4)
    >>> codes.tolist(), used.tolist()
    ([0, 1, 1], [0, 3])
    """
    held = np.bincount(codes, minlength=count) > 0
    used = np.flatnonzero(held)
    small = np.min_scalar_type(max(len(used) - 1, 0))
    if len(used) == count:
        return codes.astype(small, copy=False), used, tree
    return (np.cumsum(held) - 1).astype(small)[codes], used, None if tree is None else tree.pruned(held)
