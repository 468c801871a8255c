"""Bad input is refused with a message that names the column, the first bad row, and the way out."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sondage.errors import InvalidInput
from sondage.measures import MeanSquaredError, Measure, Precision, resolve
from sondage.pool import Pool

NAN, INF = float("nan"), float("inf")


def as_duckdb(data: dict[str, list[Any]]) -> Any:
    return duckdb.connect().from_arrow(pa.table(data))


FRAMES: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "polars lazy": pl.LazyFrame,
    "pyarrow": pa.table,
    "duckdb": as_duckdb,
}

GOOD: dict[str, list[Any]] = {
    "key": ["d", "c", "b", "a"],
    "s": [0.1, 0.2, 0.3, 0.4],
    "p": [0.1, 0.2, 0.3, 0.4],
    "q": [0.9, 0.8, 0.7, 0.6],
    "f": ["x", "y", "x", "y"],
    "g": ["u", "u", "v", "v"],
    "cost": [1.0, 2.0, 3.0, 4.0],
    "sd": [1.0, 1.0, 1.0, 1.0],
    "r": [0.5, 1.5, 2.5, 3.5],
}
WAY_OUT = "or remove such rows"

# What is wrong: the roles, the column, its values, the first bad row of the source, what is said.
BAD: dict[str, tuple[dict[str, Any], str, list[Any], int, str]] = {
    "missing score": ({"score": "s"}, "s", [0.1, None, 0.3, None], 1, "no value"),
    "nan score": ({"score": "s"}, "s", [0.1, 0.2, NAN, 0.4], 2, "no value"),
    "infinite score": ({"score": "s"}, "s", [0.1, INF, 0.3, -INF], 1, "infinite"),
    "minus infinite score": ({"score": "s"}, "s", [0.1, 0.2, 0.3, -INF], 3, "infinite"),
    "missing id": ({"id": "key"}, "key", ["a", "b", None, "c"], 2, "no value"),
    "probability above 1": (
        {"probability": "p"},
        "p",
        [0.1, 0.2, 1.5, 2.0],
        2,
        r"probability in \[0, 1\]",
    ),
    "probability below 0": (
        {"probability": "p"},
        "p",
        [0.1, -0.01, 0.5, 0.2],
        1,
        r"probability in \[0, 1\]",
    ),
    "missing probability": ({"probability": "p"}, "p", [0.1, None, 0.5, 0.2], 1, "no value"),
    "class probability above 1": (
        {"probability": ["q", "p"]},
        "p",
        [0.1, 0.2, 0.3, 1.4],
        3,
        r"probability in \[0, 1\]",
    ),
    "probabilities do not sum to 1": (
        {"probability": ["p", "q"]},
        "p",
        [0.1, 0.2, 0.4, 0.5],
        2,
        r"\['p', 'q'\] do not sum to 1",
    ),
    "prediction outside the labels": (
        {"prediction": "f", "labels": ["x", "y"]},
        "f",
        ["x", "y", "z", "w"],
        2,
        r"not one of the classes \['x', 'y'\]",
    ),
    "prediction outside 0 and 1": (
        {"prediction": "f", "labels": [0, 1]},
        "f",
        [0, 1, 1, 2],
        3,
        r"not one of the classes \[0, 1\]",
    ),
    "missing prediction": ({"prediction": "f"}, "f", ["x", None, "y", "x"], 1, "no value"),
    "cost of 0": ({"cost": "cost"}, "cost", [1.0, 0.0, 2.0, -1.0], 1, "above 0 to be a cost"),
    "negative cost": ({"cost": "cost"}, "cost", [1.0, 2.0, 2.0, -1.0], 3, "above 0 to be a cost"),
    "infinite cost": ({"cost": "cost"}, "cost", [1.0, 2.0, INF, 1.0], 2, "infinite"),
    "missing cost": ({"cost": "cost"}, "cost", [1.0, 2.0, None, 1.0], 2, "no value"),
    "weight of 0": ({"weight": "cost"}, "cost", [0.0, 2.0, 2.0, 1.0], 0, "above 0 to be a weight"),
    "negative std": (
        {"prediction": "r", "std": "sd"},
        "sd",
        [1.0, 1.0, -0.5, 1.0],
        2,
        "standard deviation",
    ),
    "infinite number predicted": (
        {"prediction": "r", "labels": "real"},
        "r",
        [0.5, 1.5, INF, 1.0],
        2,
        "infinite",
    ),
}


@pytest.mark.parametrize("source", FRAMES)
@pytest.mark.parametrize("fault", BAD)
def test_column_row_fault_and_way_out(source: str, fault: str) -> None:
    """The row is that of the source, although the pool is sorted by id."""
    roles, column, values, row, said = BAD[fault]
    frame = FRAMES[source]({**GOOD, column: values})
    with pytest.raises(InvalidInput) as caught:
        Pool.from_frame(frame, **{"id": "key", **roles})
    message = str(caught.value)
    assert re.search(rf"column {column!r}(,| has no value in) row {row} ", message)
    assert re.search(said, message)
    assert WAY_OUT in message


@pytest.mark.parametrize("fault", BAD)
def test_the_same_in_arrays(fault: str) -> None:
    roles, column, values, row, said = BAD[fault]
    data = {**GOOD, column: values}
    role = next(name for name, value in roles.items() if value == column or column in list(value))
    arrays: dict[str, Any] = {}
    for name, value in roles.items():
        if name == "labels":
            arrays[name] = value
        elif name == "groups":
            arrays[name] = {value: data[value]}
        elif isinstance(value, list):
            arrays[name] = np.array([data[one] for one in value]).T
        else:
            arrays[name] = data[value]
    called = {"groups": column}.get(role, role)
    if isinstance(roles[role], list):
        called = f"{role}[{roles[role].index(column)}]"
        said = "sum to 1" if "sum" in said else said
    with pytest.raises(InvalidInput) as caught:
        Pool.from_arrays(**arrays)
    message = str(caught.value)
    assert re.search(rf"column {re.escape(repr(called))}(,| has no value in) row {row} ", message)
    assert re.search(said, message)
    assert WAY_OUT in message


def test_the_value_is_shown_as_people_write_it() -> None:
    for make in (
        lambda: Pool.from_arrays(probability=[0.5, 1.25]),
        lambda: Pool.from_frame(pd.DataFrame({"p": [0.5, 1.25]}), probability="p"),
        lambda: Pool.from_frame(pl.DataFrame({"p": [0.5, 1.25]}), probability="p"),
        lambda: Pool.from_frame(pa.table({"p": [0.5, 1.25]}), probability="p"),
    ):
        with pytest.raises(InvalidInput, match=r"\(value 1\.25\)"):
            make()


def test_how_many_rows_are_bad() -> None:
    with pytest.raises(
        InvalidInput, match=r"row 1 \(value -1\.0\) is not a probability in \[0, 1\] \(2 of 4 rows\): fix"
    ):
        Pool.from_arrays(probability=[0.5, -1.0, 0.5, 7.0])


@pytest.mark.parametrize("source", FRAMES)
@pytest.mark.parametrize(
    ("ids", "said"),
    [
        (["d", "b", "c", "b"], r"column 'key' has the id 'b' in rows 1 and 3"),
        ([7, 3, 7, 7], r"column 'key' has the id 7 in rows 0 and 2.*2 repeated in all"),
    ],
)
def test_duplicate_ids(source: str, ids: list[Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        Pool.from_frame(FRAMES[source]({**GOOD, "key": ids}), id="key")


@pytest.mark.parametrize("ids", [[0.5, 1.5], [1.0, 2.0], [True, "a"], [1, "a"], [1, "1"]])
def test_ids_that_are_neither_whole_numbers_nor_text(ids: list[Any]) -> None:
    """A mixture is refused too: turned into text, its numbers would not be found again."""
    with pytest.raises(InvalidInput, match="column 'id'"):
        Pool.from_arrays(id=np.array(ids, dtype=object))


def test_ids_beyond_64_bits() -> None:
    """Refused, or found again; never turned into other numbers."""
    ids = np.array([2**63 + 5, 3], dtype=np.uint64)
    try:
        pool = Pool.from_arrays(id=ids)
    except InvalidInput as error:
        assert "'id'" in str(error)  # noqa: PT017
    else:
        assert sorted(pool.ids.tolist()) == sorted(ids.tolist())


@pytest.mark.parametrize("source", FRAMES)
@pytest.mark.parametrize(
    "roles",
    [
        {"score": "scor"},
        {"id": "scor"},
        {"probability": ["p", "scor"]},
        {"groups": ["g", "scor"]},
        {"payload": "scor"},
        {"systems": {"a": {"score": "s"}, "b": {"prediction": "scor"}}},
    ],
    ids=str,
)
def test_unknown_column(source: str, roles: dict[str, Any]) -> None:
    """Names the column, and lists those that there are."""
    with pytest.raises(InvalidInput, match=r"column 'scor' is not in.*'cost'"):
        Pool.from_frame(FRAMES[source](GOOD), **roles)


@pytest.mark.parametrize("source", FRAMES)
def test_empty_pool(source: str) -> None:
    empty = pa.table({"k": pa.array([], pa.string()), "s": pa.array([], pa.float64())})
    convert: dict[str, Callable[[], Any]] = {
        "pandas": empty.to_pandas,
        "polars": lambda: pl.from_arrow(empty),
        "polars lazy": lambda: pl.from_arrow(empty).lazy(),  # type: ignore[union-attr]
        "pyarrow": lambda: empty,
        "duckdb": lambda: duckdb.connect().from_arrow(empty),
    }
    for roles in ({"id": "k", "score": "s"}, {"score": "s", "threshold": 0.5}, {"prediction": "k"}):
        with pytest.raises(InvalidInput, match="the pool is empty"):
            Pool.from_frame(convert[source](), **roles)


def test_empty_arrays() -> None:
    for arrays in ({}, {"score": []}, {"id": [], "prediction": []}, {"probability": []}):
        with pytest.raises(InvalidInput, match="the pool is empty"):
            Pool.from_arrays(**arrays)


@pytest.mark.parametrize("column", ["score", "probability", "cost", "weight", "std"])
def test_text_where_numbers_are_needed(column: str) -> None:
    with pytest.raises(InvalidInput, match=f"column '{column}' must be numeric, not text$"):
        Pool.from_arrays(**{column: ["1", "many"]})


@pytest.mark.parametrize(
    ("values", "what"),
    [
        (["1", "many" * 5000] * 600, "text"),  # so uneven that it is kept entry by entry
        (np.array(["2026-01-01", "2026-01-02"], dtype="M8[D]"), "dates"),
        (np.array([1, 2], dtype="m8[s]"), "durations"),
    ],
)
def test_what_is_no_number_is_named_in_words(values: Any, what: str) -> None:
    with pytest.raises(InvalidInput, match=f"column 'cost' must be numeric, not {what}$"):
        Pool.from_arrays(prediction=np.arange(len(values)) % 2, cost=values)


def test_many_rows_are_counted_with_commas() -> None:
    score = np.linspace(0, 1, 3000)
    score[7] = np.nan
    with pytest.raises(InvalidInput, match=r"column 'score' has no value in row 7 \(1 of 3,000 rows\)"):
        Pool.from_arrays(score=score)


def test_text_predicted_where_labels_are_numbers() -> None:
    with pytest.raises(InvalidInput, match="column 'prediction' must be numeric"):
        Pool.from_arrays(prediction=["a", "b"], labels="real")


def test_systems_with_predictions_of_different_types() -> None:
    """Text from one and numbers from another: the message names the way out."""
    with pytest.raises(InvalidInput, match=r"labels=|prediction"):
        Pool.from_arrays(systems={"a": {"prediction": ["x", "y"]}, "b": {"prediction": [0, 5]}})


@pytest.mark.parametrize(
    "arrays",
    [
        {"probability": np.eye(3), "labels": ["x", "y"]},
        {"probability": np.eye(2), "labels": ["x", "y", "z"]},
        {
            "systems": {
                "a": {"probability": np.eye(3)},
                "b": {"probability": np.eye(3)[:, :2] + 0.0},
            }
        },
    ],
    ids=["more columns", "fewer columns", "systems differ"],
)
def test_as_many_probabilities_as_classes(arrays: dict[str, Any]) -> None:
    if "systems" in arrays:
        arrays["systems"]["b"]["probability"][2] = 0.5
    with pytest.raises(InvalidInput, match=r"probability.*(classes|labels)"):
        Pool.from_arrays(**arrays)


def test_one_probability_is_for_two_classes() -> None:
    arrays: dict[str, Any] = {"prediction": ["x", "y"], "labels": ["x", "y", "z"]}
    with pytest.raises(InvalidInput, match=r"probability|two classes"):
        Pool.from_arrays(probability=[0.1, 0.9], **arrays)


def test_a_table_where_a_column_is_needed() -> None:
    for column in ("score", "cost", "prediction", "id"):
        with pytest.raises(InvalidInput, match=f"'{column}'"):
            Pool.from_arrays(**{column: np.ones((3, 2))})


def test_a_number_where_a_column_is_needed() -> None:
    with pytest.raises(InvalidInput, match="'score'"):
        Pool.from_arrays(score=0.5)


def test_a_missing_value_of_pandas_in_an_array() -> None:
    with pytest.raises(InvalidInput, match=r"column 'score' has no value in row 1 \(1 of 2 rows\): fill"):
        Pool.from_arrays(score=pd.Series([0.5, pd.NA], dtype=object))


def test_different_lengths() -> None:
    with pytest.raises(InvalidInput, match=r"different lengths.*'score': 2.*'cost': 3"):
        Pool.from_arrays(score=[0.1, 0.2], cost=[1, 2, 3])


@pytest.mark.parametrize(
    ("roles", "said"),
    [
        ({"threshold": 0.5}, "threshold= needs a score"),
        ({"score": "s", "threshold": NAN}, "threshold= must be a finite number"),
        ({"score": "s", "threshold": "0.5"}, "threshold= must be a finite number"),
        ({"score": "s", "threshold": 0.5, "labels": ["x", "y", "z"]}, "two classes only"),
        ({"probability": ["p", "q"], "threshold": 0.5}, "threshold= cuts one column"),
        ({"probability": ["p"]}, "at least two"),
        ({"score": "s", "systems": {"a": {"score": "s"}}}, "either systems= or score="),
        ({"systems": {}}, "systems= is empty"),
        ({"systems": {"a": {"scores": "s"}}}, r"'a'.*'scores'.*known are"),
        ({"labels": ["x"]}, "labels= must be at least two"),
        ({"labels": ["x", "y", "x"]}, "different classes"),
        ({"labels": "binary"}, "labels= takes"),
    ],
    ids=str,
)
def test_arguments_that_do_not_fit(roles: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        Pool.from_frame(pd.DataFrame(GOOD), **roles)


def test_one_predicted_class_says_nothing_of_the_others() -> None:
    with pytest.raises(InvalidInput, match=r"'x'.*pass labels="):
        Pool.from_arrays(prediction=["x", "x"])


@pytest.mark.parametrize("argument", ["scores", "predictions"])
def test_unknown_argument(argument: str) -> None:
    with pytest.raises((InvalidInput, TypeError), match=argument):
        Pool.from_arrays(**{argument: [1, 2]})
    with pytest.raises((InvalidInput, TypeError), match=argument):
        Pool.from_frame(pd.DataFrame(GOOD), **{argument: "s"})


@pytest.mark.parametrize("frame", [{"s": [1.0]}, [1, 2], "pool.csv", None, np.ones((2, 2))])
def test_not_a_frame(frame: Any) -> None:
    with pytest.raises(InvalidInput, match=r"as a data frame.*Pool\.from_arrays"):
        Pool.from_frame(frame, score="s")


def test_parquet_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"there is no file.*none\.parquet"):
        Pool.from_parquet(tmp_path / "none.parquet", score="s")
    with pytest.raises(InvalidInput, match=r"there is no file.*none-\*"):
        Pool.from_parquet(tmp_path / "none-*.parquet", score="s")


def test_parquet_without_the_column(tmp_path: Path) -> None:
    pq.write_table(pa.table(GOOD), tmp_path / "pool.parquet")
    with pytest.raises(InvalidInput, match=r"column 'scor' is not in.*pool\.parquet.*'cost'"):
        Pool.from_parquet(tmp_path / "pool.parquet", score="scor")


def test_unknown_system_and_group() -> None:
    pool = Pool.from_arrays(score=[0.1, 0.2])
    with pytest.raises(InvalidInput, match=r"system 'b'.*\['model'\]"):
        pool.system("b")
    with pytest.raises(InvalidInput, match=r"group 'g'.*groups="):
        pool.group("g")


# A measure that the pool cannot serve


def test_measure_without_its_column() -> None:
    scores = Pool.from_arrays(score=[0.1, 0.2])
    with pytest.raises(InvalidInput, match=r"no prediction.*prediction=.*threshold="):
        resolve("f1").bind(scores)
    with pytest.raises(InvalidInput, match=r"no probability.*probability="):
        resolve("brier_score_loss").bind(scores)


def test_measure_of_the_other_kind_of_label() -> None:
    with pytest.raises(InvalidInput, match=r"'mean_squared_error'.*real.*classes"):
        MeanSquaredError().bind(Pool.from_arrays(prediction=[0, 1]))
    with pytest.raises(InvalidInput, match=r"'precision'.*classes.*real"):
        Precision().bind(Pool.from_arrays(prediction=[0.5, 1.5]))


@pytest.mark.parametrize("name", ["precision", "recall", "f1", "specificity"])
def test_positive_class_that_is_unclear_or_unknown(name: str) -> None:
    """Refused when bound, before any label is asked."""
    three = Pool.from_arrays(prediction=["a", "b", "c"])
    with pytest.raises(InvalidInput, match="pos_label="):
        Measure.from_alias(name).bind(three)
    with pytest.raises(InvalidInput, match="'z'"):
        Measure.from_alias(name, pos_label="z").bind(three)
    Measure.from_alias(name, pos_label="b").bind(three)


@pytest.mark.parametrize("beta", [0.0, -1.0, NAN, INF])
def test_bad_beta(beta: float) -> None:
    with pytest.raises(InvalidInput, match="beta="):
        Measure.from_alias("fbeta", beta=beta)


# ---- what new users pass -----------------------------------------------------------------------------

ODD_ROLES: dict[str, tuple[dict[str, Any], str]] = {
    "a position in place of a name": (
        {"score": 0},
        r"score= takes the name of a column, which is text, not 0",
    ),
    "a list for one column": ({"id": ["s"], "score": "s"}, r"id= takes the name of a column.*not \['s'\]"),
    "a number for the classes": (
        {"prediction": "k", "labels": 5},
        r"labels= takes the classes in order.*not 5",
    ),
    "a gap among the classes": ({"prediction": "k", "labels": [0, 1, None]}, r"labels= must be classes"),
    "a truth value for a threshold": (
        {"score": "s", "threshold": True},
        r"threshold= must be a finite number",
    ),
    "systems in a list": ({"systems": [{"score": "s"}]}, r"systems= takes a mapping of names"),
    "a column in place of a system": ({"systems": {"a": "s"}}, r"systems\['a'\]: map a name.*to columns"),
    "a number for a system": ({"systems": {1: {"score": "s"}}}, r"systems\[1\]: map a name, which is text"),
}


@pytest.mark.parametrize("case", ODD_ROLES)
def test_roles_of_the_wrong_kind_are_named(case: str) -> None:
    roles, message = ODD_ROLES[case]
    with pytest.raises(InvalidInput, match=message):
        Pool.from_frame(pd.DataFrame({"s": [0.1, 0.9], "k": [0, 1]}), **roles)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([uuid.UUID(int=1), uuid.UUID(int=2)], r"holds values of type UUID \(UUID\(.*turn them into .* text"),
        ([(1, 2), (3, 4)], r"holds values of type tuple \(\(1, 2\)\)"),
        ([b"a", b"b"], "holds values of type bytes"),
        ([1, "b"], r"mixes types \(int, str\): use numbers throughout, or text"),
    ],
)
def test_what_is_neither_number_nor_text_is_called_what_it_is(values: list[Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=f"column 'k' {message}"):
        Pool.from_frame(
            pd.DataFrame({"k": pd.Series(values, dtype=object), "s": [0.1, 0.9]}), id="k", score="s"
        )


@pytest.mark.parametrize("role", ["weight", "cost"])
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (1e300, r"row 1 \(value 1e\+300\) is too large or small for a"),
        (1e-300, r"row 1 \(value 1e-300\) is too large or small for a"),
        (1e13, r"from 1 to 1e\+13: beside the greatest the least are lost"),
    ],
)
def test_weights_and_costs_that_rounding_would_lose_are_refused(
    role: str, value: float, message: str
) -> None:
    with pytest.raises(InvalidInput, match=f"column '{role}'.*{message}"):
        Pool.from_arrays(score=[0.1, 0.5, 0.9], **{role: [1.0, value, 1.0]})
    Pool.from_arrays(score=[0.1, 0.5, 0.9], **{role: [1.0, 1e11, 1.0]})


def test_masked_values_are_gaps() -> None:
    score = np.ma.masked_array([0.1, 0.9], mask=[True, False])  # type: ignore[no-untyped-call]
    with pytest.raises(InvalidInput, match="column 'score' has 1 masked values"):
        Pool.from_arrays(score=score)


def test_columns_of_one_name_are_refused() -> None:
    frame = pd.DataFrame([[0.1, 0.2]], columns=["s", "s"])
    with pytest.raises(InvalidInput, match=r"columns of one name, \['s'\]: rename them"):
        Pool.from_frame(frame, score="s")


def test_a_file_that_is_not_parquet_is_named(tmp_path: Path) -> None:
    (tmp_path / "pool.csv").write_text("s\n0.1\n")
    with pytest.raises(InvalidInput, match=r"pool\.csv' cannot be read as parquet"):
        Pool.from_parquet(tmp_path / "pool.csv", score="s")


def test_numbers_too_large_to_be_squared_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"column 'prediction', row 0 .* is too large"):
        Pool.from_arrays(prediction=[1e200, 0.5])
    pool = Pool.from_arrays(prediction=[1.5, 0.5])
    with pytest.raises(InvalidInput, match=r"label 1e\+300 is too large"):
        pool.labels.code(1e300)
