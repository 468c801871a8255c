"""Files in and out: what is written is read again, and what spreadsheets do to CSV is survived or named."""

import pytest

import sondage as sd
from sondage.errors import InvalidInput, PoolMismatch
from sondage.ingest.files import read_file, write_file

COLUMNS = {
    "id": ["007", 'é, "x"', "=1+1"],
    "n": [1, 2, None],
    "share": [0.1, 1e-17, 2.0],
    "why": ["a\nb", "", None],
}


@pytest.mark.parametrize("end", ["csv", "jsonl", "parquet", "xlsx"])
def test_what_is_written_is_read_again(tmp_path, end):
    write_file(tmp_path / f"rows.{end}", COLUMNS)
    again = read_file(tmp_path / f"rows.{end}")
    assert {name: list(again[name]) for name in ("id", "share")} == {n: COLUMNS[n] for n in ("id", "share")}
    assert list(again["n"])[:2] == [1, 2]
    assert list(again["n"])[2] is None or list(again["n"])[2] != list(again["n"])[2]
    assert [text or "" for text in again["why"]] == ["a\nb", "", ""]
    assert [path.name for path in tmp_path.iterdir()] == [f"rows.{end}"]  # nothing half-written


def test_a_csv_keeps_ids_and_follows_the_separator_of_its_header(tmp_path):
    path = tmp_path / "sheet.csv"
    path.write_bytes("\ufeffid;n;x\r\n007;1;0.5\r\n008;2;\r\n;;\r\n".encode())
    assert read_file(path) == {"id": ["007", "008"], "n": [1, 2], "x": [0.5, None]}
    assert read_file(path, typed=False)["n"] == ["1", "2"]


def test_a_csv_with_decimal_commas_has_numbers(tmp_path):
    path = tmp_path / "sheet.csv"
    path.write_text("id;score;n;note\n1;0,25;3;1,5 m\n2;-1,5e-3;;x\n3;1;4;\n")
    assert read_file(path) == {
        "id": [1, 2, 3],
        "score": [0.25, -0.0015, 1.0],
        "n": [3, None, 4],
        "note": ["1,5 m", "x", ""],
    }
    path.write_text('id,pair\n1,"1,2"\n')
    assert read_file(path)["pair"] == ["1,2"]


@pytest.mark.parametrize("end", ["csv", "jsonl", "parquet", "xlsx"])
@pytest.mark.parametrize("text", ["a\u2028b\x85c", "x" * 32_000, "two\nlines", 'a "quote', "1 2"])
def test_every_text_comes_back(tmp_path, end, text):
    write_file(tmp_path / f"rows.{end}", {"id": ["a", "b"], "text": [text, "y"]})
    assert list(read_file(tmp_path / f"rows.{end}")["text"]) == [text, "y"]


def test_a_csv_may_hold_very_long_texts_and_blanks_around_numbers(tmp_path):
    path = tmp_path / "sheet.csv"
    path.write_text(f"id,text,n,x\n1,{'x' * 200_000}, 1, 0.5 \n2,y,2 , \n")
    found = read_file(path)
    assert len(found["text"][0]) == 200_000
    assert (found["n"], found["x"]) == ([1, 2], [0.5, None])


@pytest.mark.parametrize("written", [("True", "False"), ("TRUE", "FALSE"), ("true", "false")])
def test_a_csv_has_predictions_that_are_true_or_false(tmp_path, written):
    path = tmp_path / "pool.csv"
    path.write_text(f"id,score,match\n1,0.9,{written[0]}\n2,0.1,{written[1]}\n")
    pool = sd.Pool.from_file(path, id="id", score="score", prediction="match")
    assert pool.labels.values == (0, 1)
    assert pool.system().prediction.tolist() == [1, 0]


@pytest.mark.parametrize("cell", ["1234567890123456789", "12345678901234567890", "+4930123456", "007"])
def test_a_csv_keeps_digits_that_are_a_name(tmp_path, cell):
    (tmp_path / "sheet.csv").write_text(f"id,n\n{cell},1\n")
    assert read_file(tmp_path / "sheet.csv") == {"id": [cell], "n": [1]}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"a,a\n1,2\n", "two columns called 'a'"),
        (b"a,b\n1,2\n3\n", "line 3 has 1 cells where the header has 2"),
        ("a\né\n".encode("latin-1"), "not UTF-8"),
        (b'a,b\n1,"open\n2,3\n', "is there a quote that is not closed"),
    ],
)
def test_a_csv_that_cannot_be_read_says_where(tmp_path, content, said):
    path = tmp_path / "sheet.csv"
    path.write_bytes(content)
    with pytest.raises(InvalidInput, match=said):
        read_file(path)


@pytest.mark.parametrize(("name", "content"), [("a.jsonl", "{}\n["), ("a.xlsx", "no zip"), ("a.txt", "a")])
def test_other_files_that_cannot_be_read_are_named(tmp_path, name, content):
    (tmp_path / name).write_text(content)
    with pytest.raises(InvalidInput, match=rf"a\.{name[2:]}"):
        read_file(tmp_path / name)


@pytest.mark.parametrize("end", ["csv", "jsonl", "parquet", "xlsx"])
def test_a_study_remembers_the_file_of_its_pool_and_refuses_a_changed_one(tmp_path, end):
    path, storage = tmp_path / f"pool.{end}", f"sqlite:///{tmp_path / 'study.db'}"
    table = {"key": [f"{k:03d}" for k in range(50)], "score": [k / 50 for k in range(50)], "text": ["t"] * 50}
    write_file(path, table)
    pool = sd.Pool.from_file(path, id="key", score="score", threshold=0.5, payload="text")
    asked = sd.create_study(pool, "accuracy", storage=storage, rng=1).ask(5)
    assert [one.id for one in sd.load_study(storage).open_items()] == [one.id for one in asked]

    write_file(path, {**table, "score": [0.9, *table["score"][1:]]})
    with pytest.raises(PoolMismatch, match="other scores of 'model', predictions of 'model'"):
        sd.load_study(storage)
    write_file(path, {name: values[1:] for name, values in table.items()})
    with pytest.raises(PoolMismatch, match="49 items now, 50 then"):
        sd.load_study(storage)
    path.unlink()
    with pytest.raises(PoolMismatch, match="there is no file"):
        sd.load_study(storage)


@pytest.mark.parametrize(("end", "row"), [("csv", 4), ("xlsx", 4), ("jsonl", 3), ("parquet", 2)])
@pytest.mark.parametrize(
    ("spoilt", "said"),
    [
        ({"score": [0.1, 0.2, 7.0]}, "row {row} "),
        ({"score": [0.1, 0.2, None]}, "no value in row {row} "),
        ({"id": ["a", "b", "a"]}, "rows .* and {row}:"),
    ],
)
def test_errors_number_the_rows_of_a_pool_as_its_file_shows_them(tmp_path, end, row, spoilt, said):
    path = tmp_path / f"pool.{end}"
    write_file(path, {"id": ["a", "b", "c"], "score": [0.1, 0.2, 0.3], **spoilt})
    with pytest.raises(InvalidInput, match=said.format(row=row)):
        sd.Pool.from_file(path, id="id", probability="score")
