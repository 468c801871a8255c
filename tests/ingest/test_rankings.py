"""Pools of ranked lists: from frames of every library, from TREC files, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sondage as sd
from sondage.errors import InvalidInput

LISTS = pd.DataFrame(
    {
        "q": ["b", "a", "a", "a", "b"],
        "d": [7, 5, 6, 6, 5],
        "s": ["new", "old", "old", "new", "old"],
        "r": [1, 2, 1, 1, 1],
        "url": ["b7", "a5", "a6", "a6", "b5"],
    }
)
ROLES = {"query": "q", "document": "d", "system": "s", "rank": "r"}


@pytest.mark.parametrize(
    "make", [lambda f: f, pl.from_pandas, pa.Table.from_pandas], ids=["pandas", "polars", "arrow"]
)
def test_documents_of_several_systems_are_one_part(make: Any) -> None:
    pool = sd.Pool.from_rankings(make(LISTS), **ROLES, payload=["url"])
    assert pool.parts is not None
    assert (pool.ids.tolist(), list(pool.systems), pool.cost.tolist()) == (["a", "b"], ["new", "old"], [2, 2])
    assert pool.parts.ids.tolist() == [5, 6, 5, 7]
    assert {name: rank.tolist() for name, rank in pool.parts.rank.items()} == {
        "new": [0, 1, 0, 1],
        "old": [2, 1, 1, 0],
    }
    assert pool.parts.payload_of(1, 1) == {"url": "b7"}
    shuffled = sd.Pool.from_rankings(LISTS.sample(frac=1, random_state=1), **ROLES, payload=["url"])
    assert shuffled.fingerprint == pool.fingerprint


def test_parquet_and_categories_give_the_same_pool(tmp_path: Path) -> None:
    LISTS.to_parquet(tmp_path / "lists.parquet")
    categories = LISTS.astype({"q": "category", "s": "category"})
    pools = [sd.Pool.from_rankings(one, **ROLES) for one in (LISTS, tmp_path / "lists.parquet", categories)]
    assert len({pool.fingerprint for pool in pools}) == 1


def test_scores_order_as_trec_eval_does() -> None:
    frame = pd.DataFrame({"q": 1, "d": ["x", "y", "z"], "score": [0.5, 0.5, 0.9]})
    pool = sd.Pool.from_rankings(frame, query="q", document="d", score="score")
    assert pool.parts is not None
    assert pool.parts.rank["model"].tolist() == [3, 2, 1]  # of equal scores the last id comes first


def test_gaps_in_ranks_are_closed_and_said() -> None:
    with pytest.warns(UserWarning, match="gaps are closed"):
        pool = sd.Pool.from_rankings(LISTS.assign(r=[3, 9, 2, 1, 4]), **ROLES)
    assert pool.parts is not None
    assert pool.parts.rank["old"].tolist() == [2, 1, 1, 0]


@pytest.mark.parametrize(
    ("change", "roles", "match"),
    [
        ({"d": [7, 6, 6, 6, 5]}, {}, "document 6 appears twice in the list of system 'old' for query 'a'"),
        ({"r": [1, 1, 1, 1, 1]}, {}, "rank 1 appears twice"),
        ({"y": [5, 0, 0, 0, 0]}, {"relevance": "y"}, r"relevance 5 at query 'b', document 7 \(row 0\)"),
        ({"y": [1, 0, 0, 1, 0]}, {"relevance": "y"}, "different values in rows of query 'a', document 6"),
        ({"c": [1, 1, 0, 0, 1]}, {"cost": "c"}, "cost= must be above 0"),
        ({"w": [1, 1, 2, 1, 1]}, {"weight": "w"}, "different values in rows of query 'a'"),
        ({}, {"rank": None}, "rank=, the place in the list, or score="),
        ({}, {"grades": (1, 0)}, "rising order"),
        ({}, {"rank": "place"}, "column 'place' is not in the frame"),
    ],
)
def test_bad_lists_are_refused(change: dict[str, Any], roles: dict[str, Any], match: str) -> None:
    with pytest.raises(InvalidInput, match=match):
        sd.Pool.from_rankings(LISTS.assign(**change), **{**ROLES, **roles})


def test_trec_files(tmp_path: Path) -> None:
    (tmp_path / "a.run").write_text("1 Q0 d1 1 3.5 a\n1 Q0 d2 2 2.5 a\n\n2 Q0 d1 1 1 a\n")
    (tmp_path / "b.run").write_text("1 Q0 d2 1 9 b\n2 Q0 d3 1 1 b\n")
    (tmp_path / "qrels").write_text("1 0 d1 1\n1 0 d9 2\n2 0 d1 0\n2 0 d3 1\n1 0 d2 0\n3 0 d1 1\n")
    runs = [tmp_path / "a.run", tmp_path / "b.run"]
    pool = sd.Pool.from_trec(runs, grades=(0, 1, 2), qrels=tmp_path / "qrels")
    assert pool.parts is not None
    assert pool.parts.ids.tolist() == ["d1", "d2", "d9", "d1", "d3"]
    assert np.array_equal(pool.parts.grade, [1, 0, 2, 0, 1])
    assert sd.measures.exact("P@1", pool, system="b") == 0.5
    (tmp_path / "a.run").write_text("1 Q0 d1 1 3.5 a\n1 Q0 d2 2 2.5\n")
    with pytest.raises(InvalidInput, match=r"a.run, line 2: 5 fields where there should be 6"):
        sd.Pool.from_trec(runs, grades=(0, 1))
    for text, match in (
        ("1 0 d1 1\n1 0 d1 2\n", "qrels, line 2: document 'd1' of query '1' has the grade 2, and 1 before"),
        ("1 0 d1 0\n1 0 d2 7\n", "qrels, line 2: the grade 7 is not one of"),
        ("1 0 d1\n", "qrels, line 1: 3 fields where there should be 4"),
    ):
        (tmp_path / "qrels").write_text(text)
        with pytest.raises(InvalidInput, match=match):
            sd.Pool.from_trec(tmp_path / "b.run", grades=(0, 1, 2), qrels=tmp_path / "qrels")
    (tmp_path / "b.run").write_text("1 Q0 d2 1 3 b\n1 Q0 d2 2 2 b\n")
    with pytest.raises(InvalidInput, match=r"b.run, line 2: document 'd2' appears twice in the list of 'b'"):
        sd.Pool.from_trec(tmp_path / "b.run", grades=(0, 1))
    (tmp_path / "b.run").write_text("1 Q0 d2 1 x b\n")
    with pytest.raises(InvalidInput, match=r"b.run, line 1: the score 'x' is not a number"):
        sd.Pool.from_trec(tmp_path / "b.run", grades=(0, 1))


def test_trec_files_are_split_as_trec_eval_splits_them(tmp_path: Path) -> None:
    run = tmp_path / "a.run"
    run.write_bytes("\ufeff1 Q0 d1 1 3 new\r\n1\tQ0\td\u00a0\u20282 2 2 new\n".encode())
    pool = sd.Pool.from_trec(run, grades=(0, 1))
    assert pool.ids.tolist() == ["1"]
    assert pool.parts is not None
    assert pool.parts.ids.tolist() == ["d1", "d\u00a0\u20282"]


def test_judgements_of_no_query_of_the_runs_are_refused(tmp_path: Path) -> None:
    run, qrels = tmp_path / "a.run", tmp_path / "qrels"
    run.write_text("301 Q0 d1 1 3 new\n")
    qrels.write_text("0301 0 d1 1\n")
    with pytest.raises(
        InvalidInput, match=r"qrels: none of its lines is about a query of the runs.*'0301'.*'301'"
    ):
        sd.Pool.from_trec(run, grades=(0, 1), qrels=qrels)
    qrels.write_text("")  # nothing is judged so far
    assert len(sd.Pool.from_trec(run, grades=(0, 1), qrels=qrels)) == 1


def test_a_grade_outside_the_scale_is_answered_with_the_scale_as_it_was_given(tmp_path: Path) -> None:
    run, qrels = tmp_path / "a.run", tmp_path / "qrels"
    run.write_text("1 Q0 d1 1 3 new\n")
    qrels.write_text("1 0 d1 5\n")
    with pytest.raises(InvalidInput, match=r"not one of grades=\(0, 1\)"):
        sd.Pool.from_trec(run, grades=(0, 1), qrels=qrels)
    frame = pd.DataFrame({"q": [1], "d": [1], "r": [1], "y": [5]})
    with pytest.raises(InvalidInput, match=r"not one of grades=\(0, 1\)"):
        sd.Pool.from_rankings(frame, query="q", document="d", rank="r", relevance="y")


@pytest.mark.filterwarnings("error")
def test_ranks_may_all_begin_at_0() -> None:
    one, zero = (sd.Pool.from_rankings(LISTS.assign(r=LISTS["r"] - less), **ROLES) for less in (0, 1))
    assert zero.fingerprint == one.fingerprint
    mixed = LISTS.assign(r=LISTS["r"] - (LISTS["s"] == "old"))  # of each system by itself
    assert sd.Pool.from_rankings(mixed, **ROLES).fingerprint == one.fingerprint


def test_a_rank_0_in_some_lists_only_is_refused_by_its_row() -> None:
    frame = pd.DataFrame({"q": [1, 1, 2, 2], "d": [1, 2, 1, 2], "r": [1, 2, 1, 0]})
    with pytest.raises(InvalidInput, match=r"rank 0 at query 2, document 2 \(row 3\): only 1 of 2 lists"):
        sd.Pool.from_rankings(frame, query="q", document="d", rank="r")


def test_gaps_in_ranks_are_said_of_the_line_that_made_the_pool() -> None:
    frame = pd.DataFrame({"q": [1, 1], "d": [1, 2], "r": [1, 5]})
    with pytest.warns(UserWarning, match="skip numbers") as said:
        sd.Pool.from_rankings(frame, query="q", document="d", rank="r")
    assert said[0].filename == __file__
