"""One pool, whatever it is read from and in whatever order its rows come."""

from __future__ import annotations

import json
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
from hypothesis import given, settings
from hypothesis import strategies as st

from sondage.errors import InvalidInput, UnknownItem
from sondage.ingest.roles import Roles
from sondage.pool import CellUnits, LabelSpace, Pool
from sondage.strata import EqualSize, LogRank

N = 40


def columns(seed: int = 0, n: int = N) -> dict[str, list[Any]]:
    """A column for every role, as plain Python values, rows in random order."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(3), n)
    return {
        "key": [f"é-{k}" for k in rng.permutation(n)],
        "number": (rng.permutation(n) * 7 - 20).tolist(),
        "score": np.round(rng.normal(size=n), 1).tolist(),
        "chance": rng.uniform(size=n).tolist(),
        "match": rng.integers(0, 2, n).tolist(),
        "kind": rng.choice(["cat", "dog", "eel"], n).tolist(),
        "p0": p[:, 0].tolist(),
        "p1": p[:, 1].tolist(),
        "p2": p[:, 2].tolist(),
        "guess": rng.normal(size=n).tolist(),
        "doubt": rng.uniform(0.1, 1.0, n).tolist(),
        "region": rng.choice(["north", "süd"], n).tolist(),
        "year": rng.integers(2000, 2003, n).tolist(),
        "traffic": rng.uniform(0.5, 2.0, n).tolist(),
        "price": rng.choice([1.0, 2.0], n).tolist(),
        "text": [None if k == 3 else f"text {k}" for k in range(n)],
        "pages": rng.integers(1, 99, n).tolist(),
        "unused": [None] * n,
    }


ROLES: dict[str, dict[str, Any]] = {
    "binary": {"id": "key", "score": "score", "prediction": "match"},
    "threshold": {"id": "number", "score": "score", "threshold": 0.25},
    "chances": {"id": "number", "probability": "chance", "weight": "traffic"},
    "classes": {"id": "key", "probability": ["p0", "p1", "p2"], "labels": ["cat", "dog", "eel"]},
    "text": {"id": "key", "prediction": "kind", "groups": ["region", "year"], "cost": "price"},
    "numbers": {"id": "number", "prediction": "guess", "std": "doubt", "score": "score"},
    "systems": {
        "id": "key",
        "systems": {
            "a": {"score": "score", "prediction": "match"},
            "b": {"probability": "chance", "threshold": 0.3},
        },
        "groups": "region",
    },
    "no id": {"score": "score", "payload": ("text", "pages")},
}


def as_pandas(data: dict[str, list[Any]]) -> Any:
    frame = pd.DataFrame(data)
    frame.index = frame.index[::-1] * 3  # where there is an id, an index must not matter
    return frame


def as_duckdb(data: dict[str, list[Any]]) -> Any:
    return duckdb.connect().from_arrow(pa.table(data))


FRAMES: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "pandas": as_pandas,
    "polars": pl.DataFrame,
    "polars lazy": pl.LazyFrame,
    "pyarrow": pa.table,
    "duckdb": as_duckdb,
}


def shuffled(data: dict[str, list[Any]], seed: int) -> dict[str, list[Any]]:
    order = np.random.default_rng(seed).permutation(len(data["key"]))
    return {name: [values[k] for k in order] for name, values in data.items()}


def assert_same(one: Pool, two: Pool) -> None:
    """Equal in all that a design, belief or measure may look at."""
    assert one.ids.tolist() == two.ids.tolist()
    assert one.labels == two.labels
    assert list(one.systems) == list(two.systems)
    for name in one.systems:
        for part in ("score", "probability", "prediction", "std"):
            left, right = getattr(one.system(name), part), getattr(two.system(name), part)
            assert (left is None) == (right is None)
            if left is not None:
                assert left.dtype == right.dtype
                np.testing.assert_array_equal(left, right)
    assert list(one.groups) == list(two.groups)
    for name in one.groups:
        assert one.group(name).levels == two.group(name).levels
        np.testing.assert_array_equal(one.group(name).codes, two.group(name).codes)
    for part in ("weight", "cost"):
        left, right = getattr(one, part), getattr(two, part)
        assert (left is None) == (right is None)
        if left is not None:
            np.testing.assert_array_equal(left, right)
    assert one.fingerprint == two.fingerprint


def expected(data: dict[str, list[Any]], roles: dict[str, Any]) -> dict[str, Any]:
    """Each role's column in the order of ids, by hand."""
    order = np.argsort(np.array(data[roles["id"]])) if "id" in roles else np.arange(N)
    return {name: [values[k] for k in order] for name, values in data.items()}


# Sources


@pytest.mark.parametrize("source", FRAMES)
@pytest.mark.parametrize("kind", ROLES)
def test_the_same_pool_from_every_library(source: str, kind: str) -> None:
    data, roles = columns(), ROLES[kind]
    frame = FRAMES[source](data)
    if source == "pandas" and kind == "no id":
        frame = frame.reset_index(drop=True)  # it would be the id
    pool = Pool.from_frame(frame, **roles)
    assert_same(pool, Pool.from_frame(pd.DataFrame(data), **roles))
    assert len(pool) == N


@pytest.mark.parametrize("source", FRAMES)
def test_what_a_pool_holds(source: str) -> None:
    data = columns()
    frame = FRAMES[source](data)
    roles = ROLES["text"] | {"score": "score", "weight": "traffic"}
    want = expected(data, roles)
    pool = Pool.from_frame(frame, **roles)
    assert pool.ids.tolist() == want["key"] == sorted(data["key"])
    assert pool.labels == LabelSpace(("cat", "dog", "eel"))
    prediction = pool.system().prediction
    assert prediction is not None
    assert [pool.labels.decode(code) for code in prediction] == want["kind"]
    assert np.asarray(pool.system().score).tolist() == want["score"]
    region = pool.group("region")
    assert [region.levels[code] for code in region.codes] == want["region"]
    year = pool.group("year")
    assert [year.levels[code] for code in year.codes] == [str(one) for one in want["year"]]
    assert np.asarray(pool.cost).tolist() == want["price"]
    assert np.asarray(pool.weight).tolist() == want["traffic"]
    assert [pool.cost_of(row) for row in range(N)] == want["price"]


@pytest.mark.parametrize("source", FRAMES)
def test_numbers_and_their_doubt(source: str) -> None:
    data, roles = columns(), ROLES["numbers"]
    want = expected(data, roles)
    pool = Pool.from_frame(FRAMES[source](data), **roles)
    assert not pool.labels.finite
    assert np.asarray(pool.system().prediction).tolist() == want["guess"]
    assert np.asarray(pool.system().std).tolist() == want["doubt"]


@pytest.mark.parametrize("source", FRAMES)
def test_payload(source: str) -> None:
    """As plain Python values, fit for JSON, of the right item, gaps as None."""
    data = columns()
    roles = ROLES["binary"] | {"payload": ["text", "pages", "score"]}
    want = expected(data, roles)
    pool = Pool.from_frame(FRAMES[source](data), **roles)
    for row in range(N):
        shown = pool.payload_of(row)
        assert shown == {name: want[name][row] for name in ("text", "pages", "score")}
        assert json.loads(json.dumps(shown)) == shown


def test_payload_of_arrays() -> None:
    pool = Pool.from_arrays(id=["b", "a"], payload={"text": ["of b", "of a"], "pages": [2, 1]})
    assert pool.payload_of(0) == {"text": "of a", "pages": 1}
    assert json.dumps(pool.payload_of(1)) == '{"text": "of b", "pages": 2}'


@pytest.mark.parametrize("kind", ROLES)
def test_parquet_file_and_glob(tmp_path: Path, kind: str) -> None:
    data, roles = columns(), ROLES[kind]
    table = pa.table(data)
    pq.write_table(table, tmp_path / "all.parquet")
    for part in range(4):
        pq.write_table(table.slice(10 * part, 10), tmp_path / f"part-{part}.parquet")
    pool = Pool.from_frame(table, **roles)
    assert_same(Pool.from_parquet(tmp_path / "all.parquet", **roles), pool)
    assert_same(Pool.from_parquet(str(tmp_path / "part-*.parquet"), **roles), pool)


def test_parquet_pool_knows_its_source(tmp_path: Path) -> None:
    path = tmp_path / "pool.parquet"
    pq.write_table(pa.table(columns()), path)
    assert Pool.from_parquet(path, score="score").origin == {"parquet": str(path)}


def test_arrays_give_the_same_pool_as_a_frame() -> None:
    data = columns()
    frame = Pool.from_frame(
        pd.DataFrame(data),
        id="key",
        systems={
            "a": {"score": "score", "prediction": "kind"},
            "b": {"probability": ["p0", "p1", "p2"]},
        },
        labels=["cat", "dog", "eel"],
        groups=["region"],
        weight="traffic",
        cost="price",
        payload=["text"],
    )
    arrays = Pool.from_arrays(
        id=data["key"],
        systems={
            "a": {"score": data["score"], "prediction": np.array(data["kind"])},
            "b": {"probability": np.array([data["p0"], data["p1"], data["p2"]]).T},
        },
        labels=("cat", "dog", "eel"),
        groups={"region": data["region"]},
        weight=data["traffic"],
        cost=data["price"],
        payload={"text": data["text"]},
    )
    assert_same(frame, arrays)
    assert [arrays.payload_of(k) for k in range(N)] == [frame.payload_of(k) for k in range(N)]


@pytest.mark.parametrize("role", ["groups", "payload"])
def test_a_group_or_payload_named_as_a_role_is_refused(role: str) -> None:
    """It would silently take the place of the scores."""
    other: dict[str, Any] = {role: {"score": [5.0, 6.0]}}
    with pytest.raises(InvalidInput, match="'score'"):
        Pool.from_arrays(score=[0.1, 0.2], **other)


@pytest.mark.parametrize(
    "convert",
    [
        lambda s: s.astype("category"),
        lambda s: s.astype("string"),
        lambda s: s.astype(object),
        lambda s: s.astype("string[pyarrow]"),
    ],
    ids=["category", "string", "object", "arrow"],
)
def test_every_kind_of_text_in_pandas(convert: Callable[[Any], Any]) -> None:
    data = pd.DataFrame(columns())
    roles: dict[str, Any] = {"id": "key", "prediction": "kind", "groups": "region"}
    pool = Pool.from_frame(data, **roles)
    for name in ("key", "kind", "region"):
        assert_same(Pool.from_frame(data.assign(**{name: convert(data[name])}), **roles), pool)


@pytest.mark.parametrize("dtype", ["Int64", "int32", "uint8", "bool", "boolean", "float64"])
def test_every_kind_of_decision_in_pandas(dtype: str) -> None:
    data = pd.DataFrame(columns())
    pool = Pool.from_frame(data, prediction="match")
    other = Pool.from_frame(data.assign(match=data["match"].astype(dtype)), prediction="match")
    assert_same(other, pool)


def test_every_kind_of_text_in_arrow_and_polars() -> None:
    data = columns()
    roles: dict[str, Any] = {"id": "key", "prediction": "kind"}
    pool = Pool.from_frame(pa.table(data), **roles)
    table = pa.table({**data, "kind": pa.array(data["kind"]).dictionary_encode()})
    assert_same(Pool.from_frame(table, **roles), pool)
    for dtype in (pl.Categorical, pl.Enum(["eel", "cat", "dog"])):
        frame = pl.DataFrame(data).with_columns(pl.col("kind").cast(dtype))
        assert_same(Pool.from_frame(frame, **roles), pool)


def test_chunked_arrow() -> None:
    table = pa.table(columns())
    chunked = pa.concat_tables([table.slice(0, 13), table.slice(13)])
    assert chunked["key"].num_chunks == 2
    roles = ROLES["binary"]
    assert_same(Pool.from_frame(chunked, **roles), Pool.from_frame(table, **roles))


def test_decimals_are_numbers() -> None:
    """What DuckDB makes of a literal such as 0.5."""
    relation = duckdb.connect().sql("select 0.5 as s, 1 as k union all select 0.25, 2")
    pool = Pool.from_frame(relation, id="k", score="s")
    assert np.asarray(pool.system().score).tolist() == [0.5, 0.25]


def test_narrow_numbers_keep_their_width() -> None:
    """A pool of float32 scores is not doubled in memory."""
    pool = Pool.from_frame(pl.DataFrame({"s": pl.Series([0.5, 0.1], dtype=pl.Float32)}), score="s")
    assert np.asarray(pool.system().score).dtype == np.float32


# Row order


@pytest.mark.parametrize("source", FRAMES)
@pytest.mark.parametrize("kind", [kind for kind in ROLES if "id" in ROLES[kind]])
def test_row_order_is_nothing(source: str, kind: str) -> None:
    """Shuffled rows give the same ids, fingerprint, strata, units and order inside units."""
    data, roles = columns(), ROLES[kind]
    pool = Pool.from_frame(pd.DataFrame(data), **roles)
    other = Pool.from_frame(FRAMES[source](shuffled(data, 5)), **roles)
    assert_same(pool, other)
    systems = tuple(pool.systems)
    for rule in (EqualSize(5), LogRank()):
        strata = rule.codes(pool, systems, 7)
        assert strata.tolist() == rule.codes(other, systems, 7).tolist()
        one, two = CellUnits(pool, strata, seed=7), CellUnits(other, strata, seed=7)
        assert one.codes.tolist() == two.codes.tolist()
        for unit in range(one.count):
            for k in range(int(one.size[unit])):
                assert pool.id_of(one.nth(unit, k)) == other.id_of(two.nth(unit, k))


@settings(deadline=None, max_examples=40)
@given(
    st.lists(
        st.tuples(st.text(max_size=6).filter(lambda t: "\x00" not in t), st.floats(-3, 3)),
        min_size=1,
        max_size=25,
        unique_by=lambda item: item[0],
    ),
    st.randoms(use_true_random=False),
)
def test_any_order_of_any_ids(items: list[tuple[str, float]], random: Any) -> None:
    def pool(rows: list[tuple[str, float]]) -> Pool:
        return Pool.from_arrays(
            id=np.array([key for key, _ in rows], dtype=object),
            score=[score for _, score in rows],
            threshold=0.0,
        )

    first = pool(items)
    other = list(items)
    random.shuffle(other)
    assert_same(first, pool(other))
    for key, score in items:
        row = first.row_of(key)
        assert first.id_of(row) == key
        assert np.asarray(first.system().score)[row] == score


# Fingerprint


def test_fingerprint_changes_with_everything_that_may_be_looked_at() -> None:
    base: dict[str, Any] = {
        "id": ["a", "b", "c"],
        "score": [0.1, 0.2, 0.3],
        "prediction": [0, 1, 1],
        "groups": {"g": ["x", "y", "x"]},
        "weight": [1.0, 2.0, 1.0],
        "cost": [1.0, 1.0, 2.0],
    }
    changes: list[dict[str, Any]] = [
        {},
        {"id": ["a", "b", "d"]},
        {"score": [0.1, 0.2, 0.30000001]},
        {"score": None},
        {"prediction": [0, 1, 0]},
        {"groups": {"g": ["x", "x", "x"]}},
        {"groups": {"g": ["x", "z", "x"]}},
        {"groups": {"h": ["x", "y", "x"]}},
        {"weight": [1.0, 2.0, 1.5]},
        {"weight": None},
        {"cost": [1.0, 1.0, 3.0]},
        {"labels": [0, 1, 2]},
    ]
    prints = [Pool.from_arrays(**{**base, **change}).fingerprint for change in changes]
    assert len(set(prints)) == len(changes)


def test_fingerprint_does_not_depend_on_what_is_only_shown() -> None:
    one = Pool.from_arrays(id=["a"], score=[0.1])
    assert Pool.from_arrays(id=["a"], score=[0.1], payload={"t": ["x"]}).fingerprint == (one.fingerprint)


def test_fingerprint_does_not_depend_on_the_width_of_a_text_array() -> None:
    narrow = Pool.from_arrays(id=np.array(["a", "b"]))
    wide = Pool.from_arrays(id=np.array(["a", "b"], dtype="U30"))
    assert wide.fingerprint == narrow.fingerprint


# Looking up


@pytest.mark.parametrize("ids", [["b", "a", "ccc"], [5, -3, 10**12]])
def test_row_of_and_rows_of(ids: list[Any]) -> None:
    pool = Pool.from_arrays(id=ids)
    assert [pool.id_of(row) for row in range(3)] == sorted(ids)
    for id in ids:
        assert pool.id_of(pool.row_of(id)) == id
        assert type(pool.id_of(0)) is type(id)
    assert pool.rows_of(ids).tolist() == [pool.row_of(id) for id in ids]
    assert pool.rows_of([ids[2], ids[2]]).tolist() == [pool.row_of(ids[2])] * 2
    assert pool.rows_of([]).tolist() == []


@pytest.mark.parametrize("unknown", ["", "aa", "abcdefgh", "a\x00", "z", 1, 1.0, None, b"a"])
def test_unknown_text_id(unknown: Any) -> None:
    """Longer than any, of another type, or just not there: never taken for another id."""
    pool = Pool.from_arrays(id=["a", "abc", "b"])
    with pytest.raises(UnknownItem, match="is not in the pool of 3 items"):
        pool.row_of(unknown)


@pytest.mark.parametrize("unknown", [0, 4, -1, 2**63, -(2**70), "1", 1.0, True, None])
def test_unknown_number_id(unknown: Any) -> None:
    pool = Pool.from_arrays(id=[1, 2, 3])
    with pytest.raises(UnknownItem, match="is not in the pool of 3 items"):
        pool.row_of(unknown)


def test_numpy_ids_are_found() -> None:
    assert Pool.from_arrays(id=[1, 2, 3]).row_of(np.int32(2)) == 1  # type: ignore[arg-type]
    assert Pool.from_arrays(id=["a", "b"]).row_of(np.str_("b")) == 1


def test_ids_at_the_ends_of_64_bits() -> None:
    ids = [-(2**63), 0, 2**63 - 1]
    pool = Pool.from_arrays(id=np.array(ids))
    assert [pool.row_of(id) for id in ids] == [0, 1, 2]


def test_rows_without_ids_are_numbered() -> None:
    pool = Pool.from_arrays(score=[0.3, 0.1])
    assert pool.ids.tolist() == [0, 1]
    assert pool.row_of(1) == 1


# Roles


def test_threshold_cuts_at_and_above() -> None:
    pool = Pool.from_arrays(score=[0.1, 0.5, 0.7], threshold=0.5)
    assert np.asarray(pool.system().prediction).tolist() == [0, 1, 1]


def test_a_probability_is_cut_at_one_half_unless_told() -> None:
    chances = [0.2, 0.5, 0.9]
    assert np.asarray(Pool.from_arrays(probability=chances).system().prediction).tolist() == [
        0,
        1,
        1,
    ]
    cut = Pool.from_arrays(probability=chances, threshold=0.6)
    assert np.asarray(cut.system().prediction).tolist() == [0, 0, 1]


def test_the_likeliest_class_is_predicted() -> None:
    table = [[0.2, 0.5, 0.3], [0.6, 0.2, 0.2]]
    pool = Pool.from_arrays(probability=table, labels=["x", "y", "z"])
    assert np.asarray(pool.system().prediction).tolist() == [1, 0]
    assert pool.labels.values == ("x", "y", "z")


@pytest.mark.parametrize(
    ("arrays", "values"),
    [
        ({"score": [0.5, 3.0]}, (0, 1)),
        ({"prediction": [0, 0]}, (0, 1)),
        ({"prediction": [True, False]}, (0, 1)),
        ({"prediction": [0.0, 1.0]}, (0, 1)),
        ({"prediction": [2, 0]}, (0, 2)),
        ({"prediction": ["b", "a", "c"]}, ("a", "b", "c")),
        ({"prediction": [0.5, 1.0]}, None),
        ({"prediction": [0, 1], "labels": "real"}, None),
        ({"probability": [[0.2, 0.8], [0.5, 0.5]]}, (0, 1)),
        ({"prediction": ["a", "a"], "labels": ["b", "a"]}, ("b", "a")),
        (
            {"systems": {"a": {"prediction": ["x", "y"]}, "b": {"prediction": ["z", "y"]}}},
            ("x", "y", "z"),
        ),
    ],
)
def test_label_space(arrays: dict[str, Any], values: Any) -> None:
    assert Pool.from_arrays(**arrays).labels.values == values


def test_systems_are_kept_in_order_and_the_first_is_the_default() -> None:
    pool = Pool.from_arrays(
        systems={
            "new": {"score": [0.1, 0.9], "threshold": 0.5},
            "old": {"prediction": [1, 1]},
        }
    )
    assert list(pool.systems) == ["new", "old"]
    assert pool.system() is pool.system("new")
    assert np.asarray(pool.system("old").prediction).tolist() == [1, 1]
    assert pool.system("old").score is None


def test_roles_round_trip() -> None:
    for roles in ROLES.values():
        named = Roles.named(**roles)
        again = Roles.named(**json.loads(json.dumps(named.config())))
        assert again.config() == named.config()
        frame = pd.DataFrame(columns())
        one = Pool.from_frame(frame, **roles)
        assert_same(one, Pool.from_frame(frame, **named.config()))


def test_groups_and_payload_take_one_name_or_many() -> None:
    frame = pd.DataFrame(columns())
    assert list(Pool.from_frame(frame, groups="region").groups) == ["region"]
    assert list(Pool.from_frame(frame, groups=["region", "year"]).groups) == ["region", "year"]
    assert Pool.from_frame(frame, payload="pages").payload_of(0) == {"pages": columns()["pages"][0]}


def test_only_columns_with_a_role_are_looked_at() -> None:
    """A gap in a column without a role, or in one that is only shown, is no error."""
    pool = Pool.from_frame(pd.DataFrame(columns()), score="score", payload=["unused", "text"])
    assert pool.payload_of(3) == {"unused": None, "text": None}


def test_chunks_cover_the_pool_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sondage.pool.pool.CHUNK", 7)
    pool = Pool.from_arrays(score=np.arange(20.0))
    pieces = list(pool.chunks())
    assert [len(rows) for _, rows in pieces] == [7, 7, 6]
    assert np.concatenate([rows.score() for _, rows in pieces]).tolist() == list(range(20))


def test_rows_see_what_the_pool_has() -> None:
    pool = Pool.from_arrays(
        score=[0.1, 0.2, 3.0],
        probability=[0.25, 0.5, 1.0],
        weight=[1.0, 2.0, 3.0],
        groups={"g": ["y", "x", "y"]},
    )
    rows = pool.rows(np.array([2, 0]))
    assert len(rows) == 2
    assert rows.weight.tolist() == [3.0, 1.0]
    assert rows.score().tolist() == [3.0, 0.1]
    assert rows.probability().tolist() == [[0.0, 1.0], [0.75, 0.25]]
    assert rows.group("g").tolist() == [1, 1]
    assert rows.has("score")
    assert not rows.has("std")
    with pytest.raises(InvalidInput, match=r"std.*'model'.*std="):
        rows.std()


# Labels


def test_labels_are_coded_and_decoded() -> None:
    space = LabelSpace(("no", "yes", "maybe"))
    assert space.encode(["maybe", "no", np.str_("yes")]).tolist() == [2.0, 0.0, 1.0]
    assert [space.decode(code) for code in (2.0, 0.0, 1.0)] == ["maybe", "no", "yes"]
    assert space.size == 3
    assert LabelSpace(None).encode([1, np.float32(2.5)]).tolist() == [1.0, 2.5]
    assert LabelSpace(None).decode(2.5) == 2.5


@pytest.mark.parametrize(
    ("label", "hint"),
    [
        ("perhaps", r"; if it is a real class, make the pool with labels=\[\.\.\.\]"),
        (0, "labels="),
        (None, ": where there is none, tell CANNOT_TELL or None"),
        (float("nan"), "CANNOT_TELL"),
        (pd.NA, "CANNOT_TELL"),
        ([1], ": tell the class itself, not a list"),
        ({"label": "yes"}, "not a dict"),
        (("yes", 1), "not a tuple"),
        (np.array(["yes", "no"]), "not a list"),
        (" yes", ": it has blanks around it, so tell 'yes'"),
    ],
)
def test_label_outside_the_classes(label: Any, hint: str) -> None:
    with pytest.raises(InvalidInput, match=f"(?s)is not one of.*{hint}"):
        LabelSpace(("no", "yes")).code(label)


@pytest.mark.parametrize(("told", "classes", "hint"), [("1", (0, 1), "1"), (1, ("0", "1"), "'1'")])
def test_a_label_of_another_type_is_answered_with_the_class(told: Any, classes: Any, hint: str) -> None:
    with pytest.raises(InvalidInput, match=f"it is (str|int), the class is (str|int), so tell {hint}$"):
        LabelSpace(classes).code(told)


@pytest.mark.parametrize("label", ["1", None, float("nan"), float("inf"), 3.0, -1.0])
def test_label_outside_the_numbers(label: Any) -> None:
    with pytest.raises(InvalidInput, match="label"):
        LabelSpace(None, low=0.0, high=2.0).code(label)


def test_positive_class() -> None:
    assert LabelSpace(("no", "yes")).positive() == 1
    assert LabelSpace(("no", "yes")).positive("no") == 0
    with pytest.raises(InvalidInput, match="pos_label="):
        LabelSpace(("a", "b", "c")).positive()
    with pytest.raises(InvalidInput, match="'z'"):
        LabelSpace(("a", "b")).positive("z")
    with pytest.raises(InvalidInput, match="real numbers"):
        LabelSpace(None).positive()


# ---- categories ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        lambda values: pd.DataFrame({"k": pd.Categorical(values)}),
        lambda values: pa.table({"k": pa.array(values).dictionary_encode()}),
    ],
)
def test_categories_of_numbers_stay_numbers(make: Any) -> None:
    pool = Pool.from_frame(make([3, 1, 3, 2]), prediction="k", groups="k")
    assert pool.labels == LabelSpace((1, 2, 3))
    assert pool.group("k").levels == ("1", "2", "3")
    assert Pool.from_frame(make([True, False, True]), prediction="k").labels == LabelSpace((0, 1))
    assert Pool.from_frame(make(["x", "y"]), prediction="k").labels == LabelSpace(("x", "y"))


def test_categories_that_only_text_can_stand_for() -> None:
    frame = pd.DataFrame({"s": [0.1, 0.5, 0.9]})
    pool = Pool.from_frame(frame.assign(g=pd.cut(frame["s"], [0, 0.4, 1])), score="s", groups="g")
    assert pool.group("g").levels == ("(0.0, 0.4]", "(0.4, 1.0]")


# ---- crossed groups ------------------------------------------------------------------------------


def test_groups_are_crossed_by_the_levels_that_occur_together() -> None:
    pool = Pool.from_arrays(
        score=[0.1, 0.2, 0.3, 0.4],
        groups={"age": ["old", "young", "old", "old"], "job": ["cook", "smith", "smith", "cook"]},
    )
    crossed = pool.group(["age", "job"])
    assert crossed.levels == ("old × cook", "old × smith", "young × smith")
    assert crossed.codes.tolist() == [0, 2, 1, 0]
    assert pool.rows(slice(1, 3)).group(("age", "job")).tolist() == [2, 1]
    with pytest.raises(InvalidInput, match="group 'home' is not in the pool"):
        pool.group(["age", "home"])
    with pytest.raises(InvalidInput, match="names no group"):
        pool.group([])
