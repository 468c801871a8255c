"""Judgements of documents by the table: out of a study by ``export``, and into one by ``tell``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import sondage as sd
from sondage.errors import NotSupported, WrongRows
from sondage.study.labelling.batch import batch_columns


def pool_of(*, text: bool = True, **roles: Any) -> sd.Pool:
    rows = [
        (f"q{query}", f"0{place}", place + 1, f"page {place}") for query in range(8) for place in range(4)
    ]
    frame = pd.DataFrame(rows, columns=["q", "doc", "rank", "query"])  # "query" is a text to show
    if not text:
        frame = frame.assign(q=frame["q"].str[1:].astype(int), doc=frame["doc"].astype(int))
    named = {"query": "q", "document": "doc", "rank": "rank", "grades": (0, 1, 2), "payload": ["query"]}
    return sd.Pool.from_rankings(frame, **{**named, **roles})


def study_of(**kinds: Any) -> sd.Study:
    return sd.create_study(pool_of(**kinds), "DCG@3", design="uniform", rng=1)


def half_judged(**kinds: Any) -> tuple[sd.Study, list[Any]]:
    """Of three queries one is judged, one half judged, one cannot be graded."""
    study = study_of(**kinds)
    ids = [item.id for item in study.ask(3)]
    study.tell({id: place % 3 for place, id in enumerate(ids[:4])}, annotator="ann")
    study.tell({ids[6]: 1, ids[7]: None, ids[8]: 2})
    return study, ids


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet", "xlsx"])
@pytest.mark.parametrize("text", [True, False])
def test_an_export_has_every_judged_document_and_changes_nothing_when_told(
    tmp_path: Path, suffix: str, text: bool
) -> None:
    study, ids = half_judged(text=text)
    path = tmp_path / f"labels.{suffix}"
    study.export(path, payload=True)
    before = study.snapshot().seq
    told = study.tell(path)
    assert (told.told, told.unchanged, told.blank) == (0, 7, 0)
    assert study.snapshot().seq == before
    other = study_of(text=text)
    assert [item.id for item in other.ask(3)] == ids
    assert other.tell(path).told == 7
    assert (other.n_labels, other.n_open, other.n_refused) == (study.n_labels, study.n_open, study.n_refused)
    same = ["id", "label", "weight", "annotator"]
    pd.testing.assert_frame_equal(other.labels()[same], study.labels()[same])


def test_an_export_says_what_counts(tmp_path: Path) -> None:
    study, ids = half_judged()
    study.export(tmp_path / "labels.parquet", payload=True)
    frame = pd.read_parquet(tmp_path / "labels.parquet")
    assert list(frame) == [
        *("query", "document", "label", "query_is", "probability", "weight", "round", "annotator", "time"),
        "payload.query",
    ]
    assert set(zip(frame["query"], frame["document"], strict=True)) == {*ids[:4], *ids[6:]}
    state = frame.groupby("query")["query_is"].unique().map(list).to_dict()
    assert state == {ids[0][0]: ["judged"], ids[3][0]: ["half judged"], ids[6][0]: ["cannot tell"]}
    labels = study.labels()
    assert labels["id"].tolist() == [ids[0][0]]
    assert labels["annotator"].tolist() == ["ann"]
    counted = frame[frame["query"] == ids[0][0]]
    assert set(counted["weight"]) == set(labels["weight"])
    assert set(counted["probability"]) == set(labels["probability"])
    assert frame[frame["query"] != ids[0][0]]["weight"].isna().all()


def test_further_opinions_are_one_row_that_is_known() -> None:
    study = study_of()
    (first, *_) = (item.id for item in study.ask(1))
    for who, grade in (("ann", 1), ("bob", 2), ("eve", 2)):
        study.tell(first, grade, annotator=who)
    row = {"query": [first[0]], "document": [first[1]], "label": [2], "annotator": ["ann; bob; eve"]}
    assert study.tell(pd.DataFrame(row)).unchanged == 1


@pytest.mark.parametrize("names", [("q", "doc"), ("query", "document"), ("q", "document")])
def test_a_frame_is_told_by_the_names_of_the_pool_or_plain_ones(names: tuple[str, str]) -> None:
    study = study_of()
    ids = [item.id for item in study.ask(2)]
    frame = pd.DataFrame(ids, columns=list(names)).assign(label=["2", 1, None, "cannot tell", 0.0, 2])
    told = study.tell(frame)
    assert (told.told, told.blank) == (5, 1)
    assert [item.id for item in study.open_items()] == [ids[2]]


def test_a_batch_is_a_table_that_can_be_filled_in() -> None:
    study = study_of()
    items = study.ask(2)
    frame = pd.DataFrame(batch_columns(study.pool, items))
    assert list(frame) == ["query", "document", "payload.query", "label"]
    assert study.tell(frame.assign(label=1)).told == 6
    assert study.n_labels == 2


def test_wrong_rows_are_named_and_nothing_is_told() -> None:
    study = study_of()
    ids = [item.id for item in study.ask(2)]
    rows = [
        (*ids[0], 1),
        (*ids[1], 7),
        (ids[2][0], 2, 1),
        (ids[2][0], "99", 1),
        ("q99", "01", 1),
        (ids[3][0], None, 1),
        (ids[3][0], "03", 1),
        (*ids[4], 1),
        (*ids[4], 2),
    ]
    with pytest.raises(WrongRows) as caught:
        study.tell(pd.DataFrame(rows, columns=["query", "document", "label"]))
    for line in (
        "row 1: id ",
        "grade 7 is not one of [0, 1, 2]",
        "row 2: the document id '2' was probably '02'",
        "row 3: document id '99' is not in any list of query",
        "row 4: id 'q99' is not in the pool",
        "row 5: there is a label but no document id",
        "row 6: id ",
        "never asked",
        "different labels in rows 7, 8",
    ):
        assert line in str(caught.value)
    assert "row 0" not in str(caught.value)
    assert len(study.open_items()) == 6


def test_a_page_sorted_apart_from_its_id_is_refused() -> None:
    study = study_of()
    frame = pd.DataFrame(batch_columns(study.pool, study.ask(1))).assign(label=1)
    frame["payload.query"] = frame["payload.query"].to_numpy()[::-1]
    with pytest.raises(WrongRows, match="sorted apart"):
        study.tell(frame)


def test_judgements_from_elsewhere_go_into_the_pool() -> None:
    study, _ = half_judged()
    with pytest.raises(NotSupported, match="relevance="):
        study.import_labels(pd.DataFrame({"query": ["q1"], "document": ["01"], "label": [1]}))


def test_queries_whose_judgements_came_with_the_pool_are_among_the_labels() -> None:
    frame = pd.DataFrame(
        {"q": [1, 1, 2, 2], "doc": [1, 2, 1, 2], "rank": [1, 2, 1, 2], "known": [1, 0, None, 1]}
    )
    pool = sd.Pool.from_rankings(frame, query="q", document="doc", rank="rank", relevance="known")
    study = sd.create_study(pool, "DCG@2", design="uniform", rng=1)
    study.tell({item.id: 1 for item in study.ask(2)})
    assert sorted(study.labels()["id"]) == [1, 2]
