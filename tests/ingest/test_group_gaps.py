"""Grouping columns with gaps: items without a value are a group of their own, and that is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import sondage as sd
from sondage.errors import InvalidInput


def frames() -> list[Any]:
    text, number = ["b", None, "a", None], [2.0, None, 1.0, None]
    columns = {"id": [4, 3, 2, 1], "p": [0.1, 0.6, 0.7, 0.2], "text": text, "number": number}
    return [pd.DataFrame(columns), pl.DataFrame(columns), pl.DataFrame(columns).to_arrow()]


@pytest.mark.parametrize("frame", frames(), ids=["pandas", "polars", "arrow"])
def test_a_gap_is_a_group_of_its_own(frame: Any) -> None:
    with pytest.warns(UserWarning, match=r"no value for 2 of 4 items: they are the group '\(missing\)'"):
        pool = sd.Pool.from_frame(frame, id="id", probability="p", threshold=0.5, groups=["text", "number"])
    assert pool.levels("text") == ("a", "b", "(missing)")
    assert pool.levels("number") == ("1.0", "2.0", "(missing)")
    assert pool.group("text").codes.tolist() == [2, 0, 2, 1]  # by id
    assert pool.group("number").codes.tolist() == [2, 0, 2, 1]


def test_arrays_and_nan() -> None:
    with pytest.warns(UserWarning, match="1 of 3"):
        pool = sd.Pool.from_arrays(prediction=[0, 1, 1], groups={"g": np.array([1.0, np.nan, 2.0])})
    assert pool.group("g").codes.tolist() == [0, 2, 1]


def test_only_gaps_are_one_group() -> None:
    with pytest.warns(UserWarning, match="2 of 2"):
        pool = sd.Pool.from_arrays(prediction=[0, 1], groups={"g": [None, None]})
    assert pool.levels("g") == ("(missing)",)


def test_a_value_that_is_called_missing_is_not_mixed_up_with_gaps() -> None:
    with pytest.raises(InvalidInput, match="rename these"):
        sd.Pool.from_arrays(prediction=[0, 1], groups={"g": ["(missing)", None]})


def test_gaps_elsewhere_are_still_refused() -> None:
    with pytest.raises(InvalidInput, match="has no value in row 1"):
        sd.Pool.from_arrays(score=[0.1, None], threshold=0.5)


def test_a_group_named_by_an_empty_text_has_a_name_that_can_be_read() -> None:
    pool = sd.Pool.from_arrays(prediction=[0, 1, 1], groups={"g": ["b", "", "b"]})
    assert pool.levels("g") == ("(empty)", "b")
    assert pool.group("g").codes.tolist() == [1, 0, 1]
    with pytest.raises(InvalidInput, match="rename these"):
        sd.Pool.from_arrays(prediction=[0, 1], groups={"g": ["(empty)", ""]})


def test_columns_in_one_text_are_to_be_named_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "scored.csv"
    path.write_text("id,score,region,site\n1,0.1,a,x\n2,0.9,b,y\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"\['region', 'site'\], on the command line region site with"):
        sd.Pool.from_file(path, id="id", score="score", threshold=0.5, groups=["region,site"])
