"""A k-d tree: cuts at medians, boxes that hold what they say."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sondage.strata.kdtree import Node, _median_cut, grow
from sondage.types import Array


def leaves(node: Node) -> list[Node]:
    return [node] if node.halves is None else [*leaves(node.halves[0]), *leaves(node.halves[1])]


@given(st.lists(st.integers(0, 6), min_size=1, max_size=30))
def test_a_cut_is_as_even_as_equal_values_allow(values: list[int]) -> None:
    column = np.array(values, dtype=np.float64)
    value = _median_cut(column)
    ways = [abs(len(values) - 2 * sum(x < cut for x in values)) for cut in sorted(set(values))[1:]]
    if value is None:
        assert not ways
    else:
        assert abs(len(values) - 2 * np.count_nonzero(column < value)) == min(ways)


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 60), st.integers(1, 3), st.integers(1, 20), st.integers(0, 99))
def test_boxes_hold_what_they_say(n: int, features: int, count: int, seed: int) -> None:
    """Every row is in the box whose bounds it keeps, and equal rows are in the same."""
    table = np.random.default_rng(seed).integers(0, 4, (n, features)).astype(np.float64)
    boxes = leaves(grow(table, np.ones(features), count))
    assert len(boxes) == min(count, len(np.unique(table, axis=0)))
    for box in boxes:
        assert box.rows is not None
        inside = np.ones(n, dtype=bool)
        for feature, (low, high) in box.bounds.items():
            inside &= (low <= table[:, feature]) & (table[:, feature] < high)
        assert np.flatnonzero(inside).tolist() == sorted(box.rows.tolist())


def test_a_hand_example() -> None:
    """The wide feature is halved first, then the larger half along whatever is widest there."""
    table: Array = np.array([[0, 0], [1, 0], [10, 0], [11, 5], [12, 9]], dtype=np.float64)
    root = grow(table, np.ones(2), 4)
    assert [box.words(("x", "y")) for box in leaves(root)] == [
        "x < 1",
        "1 <= x < 10",
        "10 <= x, y < 5",
        "10 <= x, 5 <= y",
    ]


def test_units_of_a_feature_do_not_matter_if_the_scale_goes_along() -> None:
    table = np.random.default_rng(1).normal(size=(200, 3))
    factor = np.array([1.0, 1024.0, 0.125])
    one, other = (
        [box.rows.tolist() for box in leaves(grow(x, x.std(axis=0), 16)) if box.rows is not None]
        for x in (table, table * factor)
    )
    assert one == other


def test_leaves_of_different_values_are_of_like_size() -> None:
    table = np.random.default_rng(2).normal(size=(1024, 2))
    for count in (8, 12, 64):
        sizes = [len(box.rows) for box in leaves(grow(table, np.ones(2), count)) if box.rows is not None]
        assert len(sizes) == count
        assert max(sizes) <= 2 * min(sizes)


def test_everything_in_words() -> None:
    assert Node(np.arange(2)).words(("x",)) == "everything"


def test_the_leaf_with_most_items_is_halved_next() -> None:
    """Equal values make the first cut uneven: two and eight."""
    table = np.array([[0.0, k] for k in range(2)] + [[100.0, k] for k in range(8)])
    sizes = [len(box.rows) for box in leaves(grow(table, np.ones(2), 3)) if box.rows is not None]
    assert sizes == [2, 4, 4]
