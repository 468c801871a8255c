"""Pools whose labels are several numbers at once: how they are made, and what they refuse."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

import sondage as sd
from sondage.errors import InvalidInput
from sondage.pool import Pool
from sondage.pool.labels import LabelSpace

TABLE = np.array([[0.9, 0.2, 0.5], [0.1, 0.7, 0.4]])
COUNTS = {"tp": (0, None), "fp": (0, None), "fn": (0, None)}


def test_from_arrays() -> None:
    pool = Pool.from_arrays(id=["b", "a"], probability=TABLE, multilabel=True, labels=["x", "y", "z"])
    assert pool.labels.kind == "vector"
    assert pool.labels.components == ("x", "y", "z")
    rows = pool.rows(slice(None))
    assert rows.probability().tolist() == TABLE[::-1].tolist()  # in the order of ids
    assert rows.prediction().tolist() == [[0, 1, 0], [1, 0, 1]]
    assert pool.system().prediction is not None
    assert pool.system().prediction.dtype == np.int8


@pytest.mark.parametrize("part", ["probability", "prediction"])
def test_labels_of_a_table_without_names_are_numbered(part: str) -> None:
    table = TABLE if part == "probability" else (TABLE > 0.5).astype(int)
    pool = Pool.from_arrays(**{part: table}, multilabel=True)
    assert pool.labels.components == ("0", "1", "2")
    several = Pool.from_arrays(systems={"a": {part: table}, "b": {part: table}}, multilabel=True)
    assert several.labels.components == ("0", "1", "2")


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_from_frame(library: str) -> None:
    module = pytest.importorskip(library)
    columns = {
        "id": [2, 1],
        "sport": [1, 0],
        "money": [0, 1],
        "p_sport": [0.8, 0.3],
        "p_money": [0.1, 0.6],
    }
    frame = module.table(columns) if library == "pyarrow" else module.DataFrame(columns)
    pool = Pool.from_frame(
        frame,
        id="id",
        prediction=["sport", "money"],
        probability=["p_sport", "p_money"],
        multilabel=True,
    )
    assert pool.labels.components == ("sport", "money")
    rows = pool.rows(slice(None))
    assert rows.prediction().tolist() == [[0, 1], [1, 0]]
    assert rows.probability().tolist() == [[0.3, 0.6], [0.8, 0.1]]


def test_one_label_is_enough() -> None:
    pool = Pool.from_arrays(prediction=[[1], [0]], multilabel=True, labels=["only"])
    assert pool.labels.kind == "vector"
    assert pool.rows(slice(None)).prediction().shape == (2, 1)


def test_threshold_for_all_or_for_each() -> None:
    for threshold, expected in (
        (None, [[1, 0, 1], [0, 1, 0]]),
        (0.15, [[1, 1, 1], [0, 1, 1]]),
        ([0.95, 0.1, 0.45], [[0, 1, 1], [0, 1, 0]]),
    ):
        pool = Pool.from_arrays(probability=TABLE, multilabel=True, threshold=threshold)
        assert pool.rows(slice(None)).prediction().tolist() == expected


def test_counts() -> None:
    pool = Pool.from_arrays(prediction=[[3.5, 1, 0], [0, 0, 2]], labels=COUNTS)
    assert pool.labels.kind == "vector"
    assert pool.rows(slice(None)).prediction().tolist() == [[3.5, 1, 0], [0, 0, 2]]
    bare = Pool.from_arrays(id=[1, 2, 3], labels=COUNTS)
    assert not bare.rows(slice(None)).has("prediction")
    assert bare.labels.components == ("tp", "fp", "fn")


def test_all_ways_to_write_a_label() -> None:
    space = LabelSpace(None, 0.0, 1.0, ("x", "y", "z"), whole=True)
    same = [{"x": 1, "y": 0, "z": 1}, [1, 0, 1], (1.0, 0.0, 1.0), np.array([1, 0, 1]), {"x", "z"}, ["x", "z"]]
    codes = space.encode([*same, frozenset(), [True, False, True]])
    assert len(set(codes.tolist())) == 2
    assert space.decode(codes[0]) == {"x": 1, "y": 0, "z": 1}
    assert space.decode(codes[6]) == {"x": 0, "y": 0, "z": 0}
    assert space.vectors(np.array([codes[0], np.nan]))[1].tolist() == pytest.approx([np.nan] * 3, nan_ok=True)


@pytest.mark.parametrize(
    ("label", "said"),
    [
        ([1, 0], "a number for each of"),
        ({"x": 1, "y": 0}, "a number for each of"),
        ({"x": 1, "y": 0, "w": 1}, "a number for each of"),
        ({"x", "w"}, "'w' is not one of"),
        ([1, 0, 2], "outside"),
        ([1, 0, 0.5], "not a whole number"),
        ([1, 0, np.nan], "not a finite number"),
        (1, "mapping or a list"),
        ("xyz", "mapping or a list"),
    ],
)
def test_bad_labels(label: Any, said: str) -> None:
    space = LabelSpace(None, 0.0, 1.0, ("x", "y", "z"), whole=True)
    with pytest.raises(InvalidInput, match=said):
        space.code(label)


def test_bad_counts() -> None:
    space = Pool.from_arrays(id=[1], labels=COUNTS).labels
    assert space.decode(space.code([3, 0, 1])) == {"tp": 3.0, "fp": 0.0, "fn": 1.0}
    for label, said in (
        ([-1, 0, 0], "outside"),
        ({"tp"}, "a number for each"),
        (["tp"], "a number for each"),
    ):
        with pytest.raises(InvalidInput, match=said):
            space.code(label)


@pytest.mark.parametrize(
    ("roles", "said"),
    [
        ({"probability": TABLE + 0.5}, r"'probability\[0\]', row 0 .* is not in \[0, 1\]"),
        ({"prediction": TABLE}, r"'prediction\[0\]', row 0 .* is not 0 or 1"),
        ({"probability": TABLE, "labels": ["x", "y"]}, "has 3 columns, but a label has 2 parts"),
        ({"probability": TABLE, "labels": ["x", "y", "x"]}, "different names"),
        ({"probability": TABLE, "labels": []}, "at least one"),
        ({"probability": TABLE, "labels": "real"}, "does not go with multilabel=True"),
        ({"id": [1, 2]}, "needs prediction="),
        ({"probability": TABLE, "threshold": [0.5, 0.5]}, "one for each of the 3 labels"),
        ({"probability": TABLE, "threshold": "high"}, "threshold= must be a finite number"),
        ({"score": [1.0, 2.0], "labels": ["x"], "threshold": 0.5}, "needs probability="),
        ({"probability": TABLE, "std": [1.0, 1.0]}, "std= goes with"),
    ],
)
def test_bad_pools(roles: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        Pool.from_arrays(**roles, multilabel=True)


@pytest.mark.parametrize(
    ("roles", "said"),
    [
        ({"labels": {}}, "empty mapping"),
        ({"labels": {"tp": 5}}, "must be"),
        ({"labels": {"tp": (1, 1)}}, "must be"),
        ({"labels": {"tp": (0, 5), "fp": (0, None)}}, "the same"),
        ({"labels": COUNTS, "probability": TABLE}, "not with counts"),
        ({"labels": COUNTS, "prediction": -TABLE}, r"is not in \[0, inf\]"),
    ],
)
def test_bad_pools_of_counts(roles: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        Pool.from_arrays(id=[1, 2], **roles)


def test_another_system() -> None:
    pool = Pool.from_arrays(id=[1, 2], probability=TABLE, multilabel=True, labels=["x", "y", "z"])
    newer = pool.with_system("newer", {"id": [2, 1], "probability": TABLE})
    assert newer.rows(slice(None)).probability("newer").tolist() == TABLE[::-1].tolist()
    assert newer.labels is pool.labels
    with pytest.raises(InvalidInput, match="2 columns, but a label has 3 parts"):
        pool.with_system("short", {"id": [1, 2], "probability": TABLE[:, :2]})


def test_the_fingerprint_knows_names_and_order() -> None:
    made = [
        Pool.from_arrays(probability=TABLE, multilabel=True, labels=names)
        for names in (["x", "y", "z"], ["x", "y", "z"], ["x", "z", "y"])
    ]
    made[1].labels.encode([[1, 0, 1]])  # labels met are no part of a pool
    assert made[0].fingerprint == made[1].fingerprint != made[2].fingerprint


def test_read_again_from_a_file(tmp_path: Any) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame(TABLE, columns=["x", "y", "z"])
    frame.to_parquet(tmp_path / "texts.parquet")
    pool = Pool.from_parquet(
        tmp_path / "texts.parquet", probability=["x", "y", "z"], multilabel=True, threshold=[0.1, 0.5, 0.5]
    )
    study = sd.create_study(pool, "hamming_loss", storage=f"sqlite:///{tmp_path}/study.db", rng=1)
    for item in study.ask(2):
        study.tell(item.id, {"x"})
    again = sd.load_study(f"sqlite:///{tmp_path}/study.db")
    assert again.pool.fingerprint == pool.fingerprint
    assert again.estimate().value == study.estimate().value


def test_a_table_is_taken_in_column_by_column() -> None:
    """Decisions are a byte each, and making the pool holds little more than its columns."""
    rng = np.random.default_rng(0)
    said = (rng.uniform(size=(100_000, 40)) < 0.1).astype(np.int8)
    probability = rng.uniform(size=said.shape).astype(np.float32)
    tracemalloc.start()
    pool = Pool.from_arrays(probability=probability, prediction=said, multilabel=True)
    size, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    columns = said.nbytes + probability.nbytes
    assert pool.system().probability is not None
    assert pool.system().probability.dtype == np.float32
    assert size < 1.2 * columns
    assert peak < 1.5 * columns
