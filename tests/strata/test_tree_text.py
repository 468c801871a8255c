"""Trees drawn with letters: they fit, and what is left out is said."""

from __future__ import annotations

import numpy as np
import pytest

from sondage.strata import Tree, complete_tree


def test_a_small_tree_is_drawn_whole() -> None:
    drawn = complete_tree(3).text(["low", "middle", "high"], np.array([10, 2000, 3]))
    assert drawn.splitlines() == [
        "strata 0 to 2, 2,013 items",
        "├─ strata 0 to 1, 2,010 items",
        "│  ├─ stratum 0 (low), 10 items",
        "│  └─ stratum 1 (middle), 2,000 items",
        "└─ stratum 2 (high), 3 items",
    ]


def test_one_stratum() -> None:
    assert complete_tree(1).text() == "stratum 0"


@pytest.mark.parametrize("tree", [complete_tree(256), complete_tree(256, 16), complete_tree(300, depth=1)])
@pytest.mark.parametrize(("lines", "width"), [(40, 80), (10, 30), (1000, 80)])
def test_a_large_tree_fits_and_shows_every_stratum_in_some_line(tree: Tree, lines: int, width: int) -> None:
    drawn = tree.text(lines=lines, width=width).splitlines()
    assert len(drawn) <= lines
    assert max(map(len, drawn)) <= width
    ends = [line for line in drawn if line.endswith(" ...") or "stratum" in line]
    shown = [int(word) for line in ends for word in line.replace("...", "").split() if word.isdigit()]
    first, last = shown[0], shown[-1]
    assert (first, last) == (0, len(tree.leaf) - 1)


def test_a_chain_is_not_drawn_beyond_half_the_width() -> None:
    """Merges one after the other: every node has a stratum and the rest."""
    merges = [[0, 1], *([60 + k, k + 2] for k in range(58))]
    tree, _ = Tree.from_linkage(merges, 60)
    drawn = tree.text(lines=200).splitlines()
    assert max(len(line) - len(line.lstrip("│├└─ ")) for line in drawn) <= 40
    assert any(line.endswith("...") for line in drawn)


def test_long_names_are_cut() -> None:
    drawn = complete_tree(2).text(["x" * 200, "y"], width=50).splitlines()
    assert len(drawn[1]) == 50
    assert drawn[1].endswith("...")
