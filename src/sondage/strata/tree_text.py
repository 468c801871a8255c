"""Trees drawn with letters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sondage.types import Floats, Ints

if TYPE_CHECKING:
    from sondage.strata.hierarchy import Tree

_INDENT = 3
"""Characters that one level takes."""


def draw_tree(tree: Tree, names: Sequence[str] | None, size: Ints | None, lines: int, width: int) -> str:
    """The tree from the root down, a node per line, in at most so many lines and columns."""
    opened = _opened(tree, lines, width)
    items = None if size is None else tree.sum_up(size)
    drawn: list[str] = []

    def draw(node: int, before: str, below: str) -> None:
        line = before + _caption(tree, node, names, items) + _dots(tree, node, opened)
        drawn.append(line if len(line) <= width else line[: width - 3] + "...")
        if node in opened:
            *others, last = tree.children(node)
            for child in others:
                draw(child, below + "├─ ", below + "│  ")
            draw(last, below + "└─ ", below + "   ")

    draw(0, "", "")
    return "\n".join(drawn)


def _opened(tree: Tree, lines: int, width: int) -> set[int]:
    """The nodes whose children are drawn: level by level, as far as there is room."""
    room, deepest = lines - 1, width // (2 * _INDENT)
    opened: set[int] = set()
    for node in range(len(tree)):
        children = int(tree.n_children[node])
        in_sight = node == 0 or int(tree.parent[node]) in opened
        if in_sight and 0 < children <= room and tree.depth[node] < deepest:
            opened.add(node)
            room -= children
    return opened


def _dots(tree: Tree, node: int, opened: set[int]) -> str:
    return " ..." if tree.n_children[node] and node not in opened else ""


def _caption(tree: Tree, node: int, names: Sequence[str] | None, items: Floats | None) -> str:
    under = tree.leaves_under(node)
    held = "" if items is None else f", {int(items[node]):,} items"
    if len(under) > 1:
        return f"strata {under[0]} to {under[-1]}{held}"
    return f"stratum {under[0]}{'' if names is None else f' ({names[under[0]]})'}{held}"
