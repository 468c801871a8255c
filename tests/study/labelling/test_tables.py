"""Answers by the table: checked as a whole, and what spreadsheets do to ids and labels is named by row."""

from datetime import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest

import sondage as sd
from sondage.errors import InvalidInput, WrongRows
from sondage.ingest.files import write_file

N = 60


def study_of(ids, *, oracle="deterministic", design="uniform", **pool):
    score = np.linspace(0, 1, N)
    pool = {"score": score, "threshold": 0.5, "payload": {"text": [f"text {id}" for id in ids]}, **pool}
    made = sd.Pool.from_arrays(id=ids, **pool)
    return sd.create_study(made, "accuracy", design=design, oracle=oracle, rng=3)


@pytest.fixture
def study():
    return study_of([f"{k:04d}" for k in range(N)])


def batch(items, labels):
    return {
        "id": [one.id for one in items],
        "text": [one.payload["text"] for one in items],
        "label": labels,
    }


@pytest.mark.parametrize(
    "make", [pd.DataFrame, lambda t: pl.DataFrame(t, strict=False), "csv", "jsonl", "parquet", "xlsx"]
)
def test_a_table_tells_what_a_mapping_tells(study, make, tmp_path):
    items = study.ask(4)
    table = batch(items, ["1", "0", "cannot tell", None])
    if isinstance(make, str):
        write_file(tmp_path / f"batch.{make}", table)
        table = tmp_path / f"batch.{make}"
    else:
        table = make(table)
    told = study.tell(table, annotator="ann")
    assert (told.told, told.unchanged, told.blank, told.wrong) == (3, 0, 1, ())
    assert (study.n_labels, study.n_refused, study.n_open) == (2, 1, 1)
    by_id = study.labels().set_index("id")
    assert by_id["label"].to_dict() == {items[0].id: 1, items[1].id: 0}
    assert by_id["annotator"].tolist() == ["ann", "ann"]
    assert by_id["round"].tolist() == [0, 0]
    assert datetime.fromisoformat(by_id["time"].iloc[0]).utcoffset().total_seconds() == 0
    assert study.tell(table, annotator="ann").unchanged == 3  # the same file again changes nothing


def test_one_wrong_row_and_nothing_is_told_unless_partial(study):
    items = study.ask(3)
    frame = pd.DataFrame(batch(items, [1, 7, 0]))
    with pytest.raises(WrongRows, match="1 of 3 rows is wrong, so nothing was told") as caught:
        study.tell(frame)
    assert caught.value.rows == (
        f"row 1: id {items[1].id!r}: label 7 is not one of [0, 1]; if it is a real "
        "class, make the pool with labels=[...]",
    )
    assert study.n_labels == 0
    told = study.tell(frame, partial=True, dry_run=True)
    assert (told.told, len(told.wrong), study.n_labels) == (2, 1, 0)
    assert (study.tell(frame, partial=True).told, study.n_labels) == (2, 2)


def test_conflicting_rows_are_both_named_and_repeated_ones_count_once(study):
    first, second = study.ask(2)
    frame = pd.DataFrame(batch([first, first, second, second], [1, 1, 0, 1]))
    told = study.tell(frame, partial=True)
    assert (told.told, told.unchanged) == (1, 1)
    assert told.wrong == tuple(
        f"row {row}: id {second.id!r} has different labels in rows 2, 3: keep one" for row in (2, 3)
    )


@pytest.mark.parametrize(
    ("cell", "label"),
    [("TRUE", 1), ("false", 0), (True, 1), (" 1.0 ", 1), ("Cannot_tell", None), (" cannot  tell", None)],
)
def test_a_label_may_be_written_in_several_ways(study, cell, label):
    (item,) = study.ask(1)
    study.tell(pd.DataFrame({"id": [item.id], "label": pd.Series([cell], dtype=object)}))
    assert study.labels()["label"].tolist() == ([] if label is None else [label])
    assert study.n_refused == (label is None)


def test_another_label_than_before_needs_replace(study):
    (item,) = study.ask(1)
    study.tell(item.id, 1)
    frame = pd.DataFrame(batch([item], [0]))
    with pytest.raises(WrongRows, match="has an answer already: pass replace=True"):
        study.tell(frame)
    assert (study.tell(frame, replace=True).told, study.labels()["label"].tolist()) == (1, [0])


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda id: str(int(id)), "was probably '00"),
        (lambda id: float(id), "was probably '00"),
        (lambda id: datetime(2026, 3, 1), "the id is a date"),
        (lambda id: "3-Mar", "is a date"),
        (lambda id: "1.2E+15", "is a rounded number"),
        (lambda id: "", "a label but no id"),
        (lambda id: "zz", "is not in the pool of 60 items"),
    ],
)
def test_ids_that_a_spreadsheet_changed_are_named(study, spoil, said):
    items = study.ask(2)
    frame = pd.DataFrame(batch(items, [1, 1])).drop(columns="text").astype({"id": object})
    frame.loc[1, "id"] = spoil(items[1].id)
    with pytest.raises(WrongRows, match=f"row 1: .*{said}"):
        study.tell(frame)
    assert study.n_labels == 0


def test_whole_numbers_come_back_from_floats_and_text_unless_they_were_rounded():
    study = study_of(list(range(10**15, 10**15 + N)))
    items = study.ask(4)
    ids = [float(items[0].id), f"{items[1].id}.0", str(items[2].id), "1E+15"]
    frame = pd.DataFrame({"id": pd.Series(ids, dtype=object), "label": [1] * 4})
    told = study.tell(frame, partial=True)
    assert (told.told, len(told.wrong)) == (3, 1)
    assert "row 3: the id '1E+15' is a rounded number" in told.wrong[0]


def test_ids_sorted_apart_from_their_texts_are_found(study):
    items = study.ask(4)
    table = batch(items, [1, 1, 0, 0])
    table["id"] = [*table["id"][1:], table["id"][0]]
    with pytest.raises(WrongRows, match=r"4 of 4 rows are wrong.*\n.*does not belong to this row"):
        study.tell(pd.DataFrame(table))


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("01234", "1234"),
        ("+49 30", "+49 30"),
        ("+4930123456789", "4.93012E+12"),
        ("1.50", "1,5"),
        ("1981-09-21", "21.09.1981"),
        ("1981-09-21", "9/21/81"),
        ("1981-09-21 00:00", "21.09.1981 00:00:00"),
        ("3/4", "03. Apr"),
        ("12:30", "12:30:00"),
        ("true", "TRUE"),
        ("- milk", "#NAME?"),
        ("ab " * 20_000, "ab " * 10_922),
    ],
)
def test_texts_that_a_spreadsheet_writes_its_own_way_are_not_taken_for_others(text, cell):
    study = study_of(list(range(N)), payload={"text": [text] * N})
    (item,) = study.ask(1)
    assert study.tell(pd.DataFrame({"id": [item.id], "text": [cell], "label": [1]})).told == 1


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("01234", "1243"),
        ("1981-09-21", "22.09.1981"),
        ("2001-01-02", "2002-01-02"),
        ("ann", "#NAME?"),
        ("ab " * 20_000, "b " * 20_000),
    ],
)
def test_other_texts_are_found_though_they_look_like_numbers_or_dates(text, cell):
    study = study_of(list(range(N)), payload={"text": [text] * N})
    (item,) = study.ask(1)
    with pytest.raises(WrongRows, match="does not belong to this row"):
        study.tell(pd.DataFrame({"id": [item.id], "text": [cell], "label": [1]}))


@pytest.mark.parametrize("end", ["csv", "jsonl", "xlsx"])
def test_rows_have_the_numbers_that_a_spreadsheet_or_an_editor_shows_and_advice_is_given_once(
    study, tmp_path, end
):
    items = study.ask(3)
    table = {"id": [items[0].id, "", "7", "", "8"], "label": [1, "", 1, "", 0]}
    path = tmp_path / f"batch.{end}"
    write_file(path, {name: [None if one == "" else one for one in column] for name, column in table.items()})
    if end == "jsonl":
        path.write_text("".join("\n" if "null" in line else line for line in path.open()))
    told = study.tell(path, partial=True)
    assert (told.told, told.blank) == (1, 0)
    first = 3 if end == "jsonl" else 4
    assert told.wrong[0].startswith(f"row {first}: the id '7' was probably '0007': a spreadsheet has")
    assert told.wrong[1] == f"row {first + 2}: the id '8' was probably '0008'"


def test_a_file_of_another_study_is_recognised(study):
    mine = {one.id for one in study.ask(5)}
    others = [f"{k:04d}" for k in range(N) if f"{k:04d}" not in mine][:5]
    with pytest.raises(WrongRows, match="is this a file of another study than 'study-1'"):
        study.tell(pd.DataFrame({"id": others, "label": [1] * 5}))


def test_a_changed_header_is_named(study):
    with pytest.raises(InvalidInput, match=r"no column 'id' of ids, only \['key', 'label'\]"):
        study.tell(pd.DataFrame({"key": ["a"], "label": [1]}))
    with pytest.raises(InvalidInput, match="no column 'label' of answers"):
        study.tell(pd.DataFrame({"id": ["a"], "answer": [1]}))


def test_a_stochastic_oracle_takes_as_many_rows_of_an_item_as_were_asked():
    study = study_of([f"b{k}" for k in range(N)], oracle="stochastic", design="importance")
    ids = [one.id for one in study.ask(100)]
    often = max(ids, key=ids.count)
    asked = ids.count(often)
    assert asked > 1
    told = study.tell(pd.DataFrame({"id": [often] * (asked + 1), "label": 1}), partial=True)
    assert (told.told, study.n_labels) == (asked, asked)
    assert f"waits for {asked} answers" in told.wrong[0]


def test_labels_of_several_go_out_and_come_back(tmp_path):
    wide = np.random.default_rng(0).random((N, 2))
    made = sd.Pool.from_arrays(
        id=[f"k{k}" for k in range(N)], probability=wide, multilabel=True, labels=["sport", "money"]
    )
    study, again = (sd.create_study(made, "f1_macro", design="uniform", rng=3) for _ in range(2))
    items = study.ask(3)
    again.ask(3)
    study.tell({items[0].id: {"sport"}, items[1].id: set(), items[2].id: {"sport", "money"}})
    study.export(tmp_path / "out.csv")
    assert again.tell(tmp_path / "out.csv").told == 3
    assert again.labels()["label"].tolist() == study.labels()["label"].tolist()


def test_documents_of_queries_need_the_ids_of_both():
    lists = pd.DataFrame({"q": ["a"] * 3 + ["b"] * 3, "d": list("xyzxyz"), "place": [1, 2, 3] * 2})
    pool = sd.Pool.from_rankings(lists, query="q", document="d", rank="place")
    study = sd.create_study(pool, "P@2", rng=1)
    study.ask(1)
    with pytest.raises(InvalidInput, match="no columns 'q' and 'd' of queries and their documents"):
        study.tell(pd.DataFrame({"id": ["a"], "label": [1]}))
