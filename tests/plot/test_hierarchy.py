"""The picture of a tree: a dot per node, strata in order, names where there is room."""

import numpy as np
import pytest

from sondage.errors import InvalidInput
from sondage.plot import tree
from sondage.pool import Pool
from sondage.strata import EqualSize, Tree, complete_tree


def scattered(ax) -> list:
    return [one for one in ax.collections if type(one).__name__ == "PathCollection"]


def test_a_dot_per_node_at_its_depth(ax) -> None:
    tree(complete_tree(3), ax)
    inner, strata = (one.get_offsets().tolist() for one in scattered(ax))
    assert strata == [[1, 2], [2, 0], [2, 1]]
    assert inner == [[0, 1.25], [1, 0.5]]


def test_lines_join_every_node_with_its_parent(ax) -> None:
    tree(complete_tree(3), ax)
    lines = [one for one in ax.collections if type(one).__name__ == "LineCollection"]
    bars, stems, twigs, _ = ([segment.tolist() for segment in one.get_segments()] for one in lines)
    assert bars == [[[0.5, 0.5], [0.5, 2]], [[1.5, 0], [1.5, 1]]]
    assert stems == [[[0, 1.25], [0.5, 1.25]], [[1, 0.5], [1.5, 0.5]]]
    assert twigs == [[[0.5, 0.5], [1, 0.5]], [[0.5, 2], [1, 2]], [[1.5, 0], [2, 0]], [[1.5, 1], [2, 1]]]


def test_areas_are_in_proportion_to_items(ax) -> None:
    tree(complete_tree(2), ax, size=np.array([100, 300]))
    inner, strata = (one.get_sizes() for one in scattered(ax))
    np.testing.assert_allclose(strata / inner[0], [0.25, 0.75])


def test_names_stand_beside_the_strata(ax) -> None:
    tree(complete_tree(2), ax, names=["low", "h" * 100])
    shown = [text.get_text() for text in ax.get_yticklabels()]
    assert shown[0] == "low"
    assert shown[1].startswith("hhh")
    assert len(shown[1]) == 44
    assert shown[1].endswith("...")


def test_without_names_numbers(ax) -> None:
    tree(complete_tree(3), ax)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["0", "1", "2"]


def test_the_first_stratum_is_on_top(ax) -> None:
    tree(complete_tree(5), ax)
    low, high = ax.get_ylim()
    assert low > high


def test_many_strata_have_no_names(ax) -> None:
    tree(complete_tree(256), ax, names=["x"] * 256)
    ax.figure.canvas.draw()
    assert not any("x" in text.get_text() for text in ax.get_yticklabels())
    assert ax.get_ylabel() == "stratum"


def test_one_stratum_can_be_drawn(ax) -> None:
    tree(Tree([-1], [0]), ax)
    ax.figure.canvas.draw()
    assert [len(one.get_offsets()) for one in scattered(ax)] == [0, 1]


def test_a_stratification_brings_its_names_and_sizes(ax) -> None:
    found = EqualSize(2).describe(Pool.from_arrays(score=range(10)))
    tree(found, ax)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["0 to 4", "5 to 9"]
    inner, strata = (one.get_sizes() for one in scattered(ax))
    np.testing.assert_allclose(strata / inner[0], [0.5, 0.5])


@pytest.mark.parametrize(
    ("argument", "given"), [("names", ["one"]), ("size", np.array([1, 2, 3])), ("names", ["a", "b", "c"])]
)
def test_one_name_and_one_size_for_each_stratum(argument: str, given: object, ax) -> None:
    with pytest.raises(InvalidInput, match=f"{argument}= has . entries for 2 strata"):
        tree(complete_tree(2), ax, **{argument: given})  # type: ignore[arg-type]


def test_what_is_no_tree_is_refused(ax) -> None:
    with pytest.raises(InvalidInput, match="strata= takes a Stratification or a Tree, not int"):
        tree(4, ax)  # type: ignore[arg-type]
