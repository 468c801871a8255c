"""What a rule made of a pool, as people see it."""

from __future__ import annotations

import numpy as np
import pytest

from sondage.pool import Pool
from sondage.strata import EqualSize, EqualWidth, LogRank, OneStratum, complete_tree
from sondage.strata.stratification import left_out, numbered
from sondage.wording import short


def test_the_table_lines_up() -> None:
    pool = Pool.from_arrays(groups={"shop": ["b", "a", "b", "b"]}, score=[0.1, 0.2, 0.3, 0.4])
    assert str(EqualSize(2).describe(pool)).splitlines() == [
        "strata 'equal-size' of 4 items: 2 asked for, 2 made",
        "stratum  along the score  items   share",
        "0        0.1 to 0.2           2  50.0 %",
        "1        0.3 to 0.4           2  50.0 %",
    ]


def test_rules_without_a_number_just_say_how_many() -> None:
    pool = Pool.from_arrays(score=[0.1, 0.9], threshold=0.5)
    assert repr(OneStratum().describe(pool)) == "Stratification(strata 'none' of 2 items: 1)"
    assert LogRank().describe(pool).requested is None


def test_more_strata_than_items_are_explained() -> None:
    found = EqualSize(5).describe(Pool.from_arrays(score=[3, 1, 2]))
    assert (found.requested, found.actual) == (5, 3)
    assert found.notes == ("the pool has 3 items: there cannot be more strata",)


def test_the_middle_of_a_long_table_is_left_out() -> None:
    found = EqualSize(256).describe(Pool.from_arrays(score=np.arange(512.0)))
    lines = str(found).splitlines()
    assert len(lines) == 2 + 40 + 1
    assert lines[2].startswith("0 ")
    assert lines[22].split() == ["...", "216", "more"]
    assert lines[23].startswith("236 ")
    assert lines[-1].startswith("255 ")


def test_html_is_escaped() -> None:
    pool = Pool.from_arrays(features={"<b>": [0.0, 1.0]})
    from sondage.strata import KdTree

    html = KdTree(3).describe(pool)._repr_html_()
    assert "<b>" not in html
    assert "&lt;b&gt; &lt; 1" in html
    assert html.count("<tr>") == 3
    assert "<p>no more items differ" in html


def test_the_tree_is_the_own_one_or_complete() -> None:
    pool = Pool.from_arrays(score=[0.0, 1.0, 2.0, 9.0])
    assert EqualSize(3).describe(pool).tree.parent.tolist() == complete_tree(3).parent.tolist()
    found = EqualWidth(9).describe(pool)
    assert found.tree is found.own_tree


def test_systems_default_to_the_first() -> None:
    pool = Pool.from_arrays(systems={"a": {"score": [1.0, 2]}, "b": {"score": [2.0, 1]}})
    assert EqualSize(2).describe(pool).codes.tolist() == [0, 1]
    assert EqualSize(2).describe(pool, ("b",)).codes.tolist() == [1, 0]


def test_numbers_that_no_item_has_are_closed_up() -> None:
    codes, used, tree = numbered(np.array([5, 2, 2, 0]), 8, complete_tree(8))
    assert codes.tolist() == [2, 1, 1, 0]
    assert codes.dtype == np.uint8
    assert used.tolist() == [0, 2, 5]
    assert tree is not None
    assert tree.parent.tolist() == [-1, 0, 0, 1, 1]
    full = complete_tree(2)
    assert numbered(np.array([1, 0]), 2, full)[2] is full


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0"),
        (1.0, "1"),
        (-2.5, "-2.5"),
        (1 / 3, "0.33333"),
        (99999.4, "99999"),
        (1234567.8, "1234568"),
        (1e-7, "1e-07"),
        (3e12, "3e+12"),
    ],
)
def test_short_numbers(number: float, text: str) -> None:
    assert short(number) == text


def test_one_is_and_several_are() -> None:
    assert left_out(1, 4, "bands") == "1 of 4 bands holds no item and was left out"
    assert left_out(2, 4, "bands") == "2 of 4 bands hold no item and were left out"
