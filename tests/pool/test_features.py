"""Features and opinions: numbers that a pool carries beside what the systems say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sondage as sd
from sondage.errors import InvalidInput
from sondage.pool import Pool

N = 12


def columns(seed: int = 0, n: int = N) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {
        "key": rng.permutation(n) * 3,
        "score": rng.uniform(size=n),
        "length": rng.integers(1, 99, n),
        "age": rng.normal(size=n).astype(np.float32),
        "fresh": rng.uniform(size=n) < 0.5,
        "judge": rng.uniform(size=n),
        "other": rng.normal(size=n),
        "word": np.array(["a", "b", "c"])[rng.integers(0, 3, n)],
    }


ROLES: dict[str, Any] = {
    "id": "key",
    "score": "score",
    "threshold": 0.5,
    "features": ["length", "age", "fresh"],
    "opinions": ["judge", "other"],
}
FRAMES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "lazy": lambda data: pl.DataFrame(data).lazy(),
    "pyarrow": pa.table,
    "duckdb": lambda data: duckdb.connect().from_arrow(pa.table(data)),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_features_and_opinions_are_in_the_order_of_the_pool(kind: str) -> None:
    data = columns()
    order = np.argsort(data["key"])
    pool = Pool.from_frame(FRAMES[kind](data), **ROLES)
    assert pool.features is not None
    assert pool.features.shape == (N, 3)
    assert pool.roles.features == ("length", "age", "fresh")
    expected = np.stack([data[name][order].astype(float) for name in pool.roles.features], axis=1)
    np.testing.assert_array_equal(pool.features, expected)
    assert list(pool.opinions) == ["judge", "other"]
    for name, values in pool.opinions.items():
        np.testing.assert_array_equal(values, data[name][order])


def test_a_pool_without_them() -> None:
    pool = Pool.from_arrays(score=[0.1, 0.9])
    assert pool.features is None
    assert pool.opinions == {}
    assert pool.roles.features == ()


def test_arrays_frames_and_tables_give_the_same_pool() -> None:
    data = columns()
    numbers = {name: data[name].astype(float) for name in ("length", "other")}
    parts = {"id": data["key"], "score": data["score"]}
    by_name = Pool.from_arrays(**parts, features=numbers, opinions={"judge": data["judge"]})
    by_frame = Pool.from_arrays(
        **parts, features=pl.DataFrame(numbers), opinions=pd.DataFrame({"judge": data["judge"]})
    )
    by_table = Pool.from_arrays(**parts, features=np.stack(list(numbers.values()), axis=1))
    assert by_frame.fingerprint == by_name.fingerprint
    assert by_table.roles.features == ("features[0]", "features[1]")
    np.testing.assert_array_equal(np.asarray(by_table.features), np.asarray(by_name.features))


def test_the_fingerprint_knows_them() -> None:
    data = columns()
    found = {Pool.from_frame(pd.DataFrame(data), **ROLES).fingerprint}
    for changed in ("length", "judge"):
        other = {**data, changed: data[changed] + 1}
        found.add(Pool.from_frame(pd.DataFrame(other), **ROLES).fingerprint)
    for roles in (
        {**ROLES, "features": ["age", "length", "fresh"]},  # another order
        {**ROLES, "features": []},
        {**ROLES, "opinions": ["judge"]},
        {**ROLES, "features": ["length", "age", "fresh", "judge"], "opinions": ["other"]},
    ):
        found.add(Pool.from_frame(pd.DataFrame(data), **roles).fingerprint)
    assert len(found) == 7


@given(order=st.permutations(range(N)))
@settings(max_examples=20, deadline=None)
def test_row_order_changes_nothing(order: list[int]) -> None:
    data = columns(3)
    pool = Pool.from_frame(pd.DataFrame(data), **ROLES)
    moved = Pool.from_frame(pd.DataFrame(data).iloc[order], **ROLES)
    assert moved.fingerprint == pool.fingerprint
    np.testing.assert_array_equal(np.asarray(moved.features), np.asarray(pool.features))


@pytest.mark.parametrize("role", ["features", "opinions"])
def test_text_is_refused(role: str) -> None:
    with pytest.raises(InvalidInput, match="column 'word' must be numeric"):
        Pool.from_frame(pd.DataFrame(columns()), **{**ROLES, role: ["length", "word"]})


@pytest.mark.parametrize("role", ["features", "opinions"])
@pytest.mark.parametrize(
    ("gap", "said"),
    [
        (np.nan, r"column 'other' has no value in row 7 \(1 of "),
        (np.inf, r"'other', row 7 \(value inf\) is infinite"),
    ],
)
def test_a_gap_is_refused_by_column_and_row(role: str, gap: float, said: str) -> None:
    data = columns()
    data["other"][7] = gap
    with pytest.raises(InvalidInput, match=said):
        Pool.from_frame(pd.DataFrame(data), **{**ROLES, "opinions": (), role: ["other"]})


def test_what_is_no_table_is_refused() -> None:
    for wrong in ([1.0, 2.0], np.zeros((2, 2, 2)), 3):
        with pytest.raises(InvalidInput, match="features="):
            Pool.from_arrays(score=[0.1, 0.9], features=wrong)
    with pytest.raises(InvalidInput, match="opinions="):
        Pool.from_arrays(score=[0.1, 0.9], opinions=[0.3, 0.4])
    with pytest.raises(InvalidInput, match="different lengths"):
        Pool.from_arrays(score=[0.1, 0.9], features={"x": [1.0]})
    with pytest.raises(InvalidInput, match="name of another column"):
        Pool.from_arrays(score=[0.1, 0.9], features={"score": [1.0, 2.0]})


def test_a_column_may_have_two_roles() -> None:
    age = np.array([1.0, 2.0])
    pool = Pool.from_arrays(score=[0.1, 0.9], groups={"age": age}, features={"age": age.copy()})
    assert list(pool.groups) == ["age"]
    np.testing.assert_array_equal(np.asarray(pool.features), age[:, None])


def test_a_study_of_a_file_reads_them_again(tmp_path: Path) -> None:
    data = columns(n=40)
    pl.DataFrame(data).write_parquet(tmp_path / "pool.parquet")
    pool = Pool.from_parquet(tmp_path / "pool.parquet", **ROLES)
    url = f"sqlite:///{tmp_path / 'study.db'}"
    sd.create_study(pool, "accuracy", design="uniform", budget=5, storage=url, rng=1)
    again = sd.load_study(url)
    assert again.pool.fingerprint == pool.fingerprint
    np.testing.assert_array_equal(np.asarray(again.pool.features), np.asarray(pool.features))
