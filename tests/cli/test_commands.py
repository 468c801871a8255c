"""The command line: a study from a file to a report, each help text's example, and what goes wrong."""

import csv
import io
import json
import os
import re
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
import tomllib
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

import sondage as sd
from sondage.cli import commands, main

ROOT = Path(__file__).resolve().parents[2]
N = 400
ROOT = Path(__file__).parents[2]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder with a pool and nothing else, to be in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SONDAGE_STUDY", raising=False)
    rng = np.random.default_rng(1)
    score = np.round(rng.random(N) ** 3, 4)
    with open("pool.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["pair_id", "left", "right", "score", "match", "newer", "shop", "label"])
        for k in range(N):
            shop = "north" if k % 3 else "south"
            row = [
                f"{k:04d}",
                f"Café {k}",
                f"=cafe {k}",
                score[k],
                int(score[k] > 0.4),
                int(score[k] > 0.5),
                shop,
                0,
            ]
            writer.writerow(row)
    return tmp_path


def truth(id):
    return int(int(id) % 7 == 0)


def said(capsys, line, code=0):
    """What a command prints."""
    capsys.readouterr()
    assert main(shlex.split(line)) == code, capsys.readouterr()
    return capsys.readouterr()


def answered(path, answer=truth):
    """Fill in a batch as somebody with a spreadsheet would."""
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["label"] = answer(row["id"])
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return [row["id"] for row in rows]


def run(line, **options):
    """A command in a process of its own."""
    program = [sys.executable, "-m", "sondage", *shlex.split(line)]
    return subprocess.run(program, capture_output=True, text=True, timeout=60, **options)


def test_the_whole_loop_through_files_draws_and_finds_what_python_does(folder, capsys):
    roles = "--id pair_id --score score --prediction match --payload left right"
    said(capsys, f"start pool.csv --measure f1 --budget 60 --seed 5 {roles} --study er.db")
    drawn = []
    for k in range(3):
        said(capsys, f"ask -n 20 -o batch{k}.csv")
        drawn.append(answered(f"batch{k}.csv"))
        said(capsys, f"tell batch{k}.csv")
    estimate = run("estimate --json")  # as by somebody else
    assert estimate.returncode == 0, estimate
    found = json.loads(estimate.stdout)

    pool = sd.Pool.from_file(
        "pool.csv", id="pair_id", score="score", prediction="match", payload=["left", "right"]
    )
    study = sd.create_study(pool, "f1", budget=60, rng=5)
    for ids in drawn:
        items = study.ask(20)
        assert [one.id for one in items] == ids
        study.tell({one.id: truth(one.id) for one in items})
    own = study.estimate()
    assert found["measure"] == "f1"
    assert (found["value"], found["std_error"]) == (own.value, own.std_error)
    assert (found["low"], found["high"], found["guarantee"]) == (*own.ci, own.guarantee)
    assert (found["n_labels"], found["confidence_level"]) == (60, 0.95)
    said(capsys, "report -o report.html")
    assert "<html" in Path("report.html").read_text(encoding="utf-8").lower()
    assert run("ask -n 5 -o more.csv").returncode == 3  # the budget is spent
    assert not Path("more.csv").exists()


def begun(capsys, n=12):
    """A study with some labels."""
    said(capsys, "start pool.csv --measure f1 --budget 40 --study er.db --seed 1 --groups shop")
    said(capsys, f"ask -n {n} -o batch.csv")
    answered("batch.csv")
    said(capsys, "tell batch.csv")


@pytest.mark.parametrize("command", sorted(set(commands()) - {"demo"}))
def test_the_example_of_every_help_text_works(folder, capsys, monkeypatch, command):
    if command == "compare":
        systems = "--system a:score=score,prediction=match --system b:score=score,prediction=newer"
        said(capsys, f"start pool.csv --measure accuracy --study ab.db {systems} --compare")
        said(capsys, "ask -n 30 -o ab.csv --study ab.db")
        answered("ab.csv")
        said(capsys, "tell ab.csv --study ab.db")
    elif command not in ("start", "plan"):
        begun(capsys)
    if command == "ask":
        Path("batch.csv").unlink()
    if command == "import":
        Path("pilot.csv").write_text("id,label,chance\n0007,1,0.05\n0008,0,0.02\n", encoding="utf-8")
    if command == "label":
        monkeypatch.setattr("sys.stdin", open(os.devnull))  # noqa: SIM115
    words = shlex.split(commands()[command].EXAMPLE)
    assert words[:2] == ["sondage", command]
    assert main(words[1:]) == 0
    capsys.readouterr()
    with pytest.raises(SystemExit):
        main([command, "--help"])
    assert commands()[command].EXAMPLE in capsys.readouterr().out


JSON = {
    "ask -n 2": {"study", "file", "items"},
    "tell batch.csv": {
        "study",
        "file",
        "dry_run",
        "told",
        "unchanged",
        "blank",
        "wrong",
        "n_labels",
        "n_open",
        "n_refused",
    },
    "status": {
        "study",
        "place",
        "pool",
        "measure",
        "design",
        "rounds",
        "n_labels",
        "n_open",
        "n_refused",
        "budget",
    }
    | {"remaining", "holding", "n_imported"},
    "estimate recall": {
        "study",
        "measure",
        "value",
        "std_error",
        "low",
        "high",
        "confidence_level",
        "guarantee",
    }
    | {"n_labels", "n_open", "n_refused", "n_eff", "n_uniform", "defined", "why", "warnings", "assumptions"},
    "estimate recall precision": {"study", "estimates"},
    "estimate --by shop": {"study", "estimates"},
    "explain": {"study"},
    "export -o out.jsonl": {"study", "file", "n_labels"},
    "import pilot.csv": {
        "study",
        "file",
        "dry_run",
        "imported",
        "unchanged",
        "chances",
        "blank",
        "wrong",
        "n_imported",
    },
    "groups shop": {"study", "by", "overall", "by_group", "worst", "confidence_level", "guarantee"},
    "studies er.db": {"place", "studies"},
    "copy er.db other.db": {"study", "source", "target"},
    "doctor --study er.db": {"sondage", "python", "packages", "study", "broken"},
    "plan pool.csv --budgets 50": {"pool", "labels", "width"},
}


def test_json_has_the_documented_keys(folder, capsys):
    begun(capsys)
    Path("pilot.csv").write_text("id,label,chance\n0007,1,0.05\n0008,0,0.02\n", encoding="utf-8")
    for line, keys in JSON.items():
        found = json.loads(said(capsys, f"{line} --json").out)
        assert keys <= set(found), (line, keys - set(found))
    begin = said(capsys, "start pool.csv --json --study second.db").out
    assert {"study", "place", "pool", "measure", "design", "budget", "seed"} == set(json.loads(begin))
    assert "estimates" not in json.loads(said(capsys, "estimate --json --study er.db").out)


def test_columns_are_guessed_and_shown_and_the_truth_is_left_out(folder, capsys):
    text = said(capsys, "start pool.csv").out
    assert "id:          pair_id (guessed)" in text
    assert "prediction:  match (guessed)" in text
    assert "left out:    label" in text
    assert "label" not in json.loads(said(capsys, "ask -n 1 --json").out)["items"][0]["payload"]


@pytest.mark.parametrize(
    ("head", "row", "guess"),
    [
        ("id;Model Score;decision", "{k};0,{s};{is_high}", "score:       Model Score (guessed)"),
        ("id , score,match ", "{k},0.{s},{is_high}", "prediction:  match"),
        ("id,decision,p_no,p_yes", "{k},{no_yes},0.{t},0.{s}", "probability: p_yes (guessed)"),
        ("id,decision,prob", "{k},{yes_no},0.{s}", "labels:      nein, ja (guessed): 'ja' is what"),
        ("id,decision,p_b,p_a,p_c", "{k},{abc},{abc_p}", "probability: p_a, p_b, p_c (guessed)"),
        ("id,decision,prob", "{k},{abc},0.{s}", "labels:      ['a', 'b', 'c']"),
        ("id,decision,confidence", "{k},{is_high},0.{sure}", "score:       none ('confidence' is no higher"),
    ],
)
def test_a_guessed_score_is_one_that_is_higher_where_the_model_says_yes(folder, capsys, head, row, guess):
    lines = [head]
    for k in range(50):
        s, which = k + 20, k % 3
        lines.append(
            row.format(
                k=k,
                s=s,
                t=99 - s,
                is_high=int(k >= 25),
                no_yes="yes" if k >= 25 else "no",
                yes_no="ja" if k >= 25 else "nein",
                abc="abc"[which],
                abc_p=",".join(str(float(which == place)) for place in (1, 0, 2)),
                sure=50 + abs(k - 25),
            )
        )
    Path("odd.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert guess in said(capsys, "start odd.csv --measure accuracy").out


def test_what_cannot_be_guessed_is_refused_where_nobody_can_be_asked(folder, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", open(os.devnull))  # noqa: SIM115
    Path("bare.csv").write_text("key,words\na,x\nb,y\n")
    assert "say it with --prediction" in said(capsys, "start bare.csv", 1).err
    Path("logits.csv").write_text("key,logit\na,-3\nb,4\n")
    assert "say it with --threshold" in said(capsys, "start logits.csv", 1).err
    Path("empty.csv").write_text("key,logit\n")
    assert "the pool is empty" in said(capsys, "start empty.csv", 1).err
    assert not Path("study.db").exists()


@pytest.mark.parametrize(("typed", "code"), [("0\n", 0), ("", 1), ("\n", 1), ("high\n", 1)])
def test_what_cannot_be_guessed_is_asked_where_somebody_sits(folder, capsys, monkeypatch, typed, code):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr("sys.stdin", Terminal(typed))
    Path("logits.csv").write_text("key,logit\na,-3\nb,4\n")
    answer = said(capsys, "start logits.csv --json", code)
    assert answer.err.startswith("from which value of 'logit' on does the model say yes?\n> ")
    assert ("seed" in json.loads(answer.out)) == (code == 0)


@pytest.mark.parametrize("name", ["id", "ids", "pair_id", "pairId", "key"])
@pytest.mark.parametrize("odd", ["4", ""])
def test_a_few_rows_without_an_id_of_their_own_are_refused(folder, capsys, name, odd):
    rows = [str(k) for k in range(40)]
    rows[7] = odd
    lines = [
        f"{name},score,pred,shop_id",
        *(f"{id},0.{k + 10},{k % 2},s{k % 3}" for k, id in enumerate(rows)),
    ]
    Path("twice.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    refused = said(capsys, "start twice.csv --study er.db", 1).err
    assert repr(name) in refused
    assert "4 in rows 6 and 9" in refused if odd else "no value in row 9" in refused
    assert "--id, or" in refused
    assert not Path("er.db").exists()
    assert "--row-numbers" in refused
    assert "not both" in said(capsys, "start twice.csv --row-numbers --id shop_id", 1).err
    assert "row numbers (--row-numbers)" in said(capsys, "start twice.csv --study er.db --row-numbers").out
    assert json.loads(said(capsys, "ask -n 1 --json --study er.db").out)["items"][0]["id"] in range(40)


def test_an_id_of_something_else_is_no_id_and_that_is_said(folder, capsys):
    Path("orders.csv").write_text(
        "customer_id,score,pred\n" + "".join(f"{k % 9},0.{k + 10},{k % 2}\n" for k in range(40)),
        encoding="utf-8",
    )
    text = said(capsys, "start orders.csv").out
    assert max(map(len, text.splitlines())) <= 80
    why = "row numbers (no column tells all rows apart: 'customer_id' has the same value in many)"
    assert why in " ".join(text.split())
    assert "payload:     customer_id" in text
    Path("bids.csv").write_text(
        "bid,score,pred\n" + "".join(f"{max(k, 1)},0.{k + 10},{k % 2}\n" for k in range(40)), encoding="utf-8"
    )
    assert "payload:     bid" in said(capsys, "start bids.csv --study bids.db").out
    Path("both.csv").write_text(
        "left_id,pair_id,score,pred\n" + "".join(f"{max(k, 1)},{k},0.5,{k % 2}\n" for k in range(40)),
        encoding="utf-8",
    )
    assert "id:          pair_id (guessed)" in said(capsys, "start both.csv --study both.db").out


@pytest.mark.parametrize("name", ["score", "probability"])
def test_a_score_with_a_gap_is_still_the_score_and_is_refused(folder, capsys, name):
    Path("gap.csv").write_text(f"key,{name},pred\na,,0\nb,0.3,1\nc,0.4,1\n", encoding="utf-8")
    refused = said(capsys, "start gap.csv", 1)
    assert repr(name) in refused.err
    assert not Path("study.db").exists()


def test_the_study_is_the_one_said_the_one_of_the_environment_or_the_one_in_the_folder(
    folder, capsys, monkeypatch
):
    assert "there is none in this folder" in said(capsys, "status", 1).err
    begun(capsys)
    with closing(sqlite3.connect("customers.db")) as db:  # not of studies
        db.execute("CREATE TABLE customers (name)")
    assert "12 labels" in said(capsys, "status").out
    said(capsys, "copy er.db other.db")
    assert "there are er.db, other.db" in said(capsys, "status", 1).err
    monkeypatch.setenv("SONDAGE_STUDY", "er.db")
    assert "12 labels" in said(capsys, "status").out
    assert "there is no file 'none.db'" in said(capsys, "status --study none.db", 1).err


def test_reading_makes_no_tables_in_a_database_without_studies(folder, capsys):
    Path("empty.db").touch()
    with closing(sqlite3.connect("other.db")) as db:
        db.execute("CREATE TABLE customers (name)")
    for name in ("empty.db", "other.db"):
        for line in (f"status --study {name}", f"studies {name}", f"copy {name} new.db"):
            assert f"there are no studies in '{name}'" in said(capsys, line, 1).err
        with closing(sqlite3.connect(name)) as db:
            assert db.execute("SELECT name FROM sqlite_master WHERE name != 'customers'").fetchall() == []
    said(capsys, "start pool.csv --study er.db")
    sd.delete_study("sqlite:///er.db", "study-1")
    assert "there is no study in sqlite:///er.db yet" in said(capsys, "status --study er.db", 1).err
    assert json.loads(said(capsys, "studies er.db --json").out)["studies"] == []


def test_a_folder_is_no_study(folder, capsys):
    Path("old.db").mkdir()
    assert "there is none in this folder" in said(capsys, "status", 1).err
    begun(capsys)
    assert "12 labels" in said(capsys, "status").out


def test_a_changed_pool_is_refused_and_a_moved_one_found(folder, capsys):
    begun(capsys)
    Path("there").mkdir()
    said(capsys, "copy er.db there/er.db")
    Path("pool.csv").rename("there/pool.csv")
    assert "12 labels" in said(capsys, "status --study there/er.db").out
    Path("there/pool.csv").rename("renamed.csv")
    assert "there is no file" in said(capsys, "status --study there/er.db", 1).err
    assert "12 labels" in said(capsys, "status --study there/er.db --pool renamed.csv").out
    changed = Path("renamed.csv").read_text(encoding="utf-8").replace("north", "east", 1)
    Path("renamed.csv").write_text(changed, encoding="utf-8")
    assert "other group 'shop'" in said(capsys, "ask --study there/er.db --pool renamed.csv", 1).err


def test_wrong_rows_are_all_listed_and_nothing_is_told(folder, capsys):
    said(capsys, "start pool.csv --study er.db --seed 1")
    said(capsys, "ask -n 4 -o batch.csv")
    ids = answered("batch.csv", lambda id: "maybe" if int(id) % 2 else 1)
    wrong = [f"row {row}: id {id!r}" for row, id in enumerate(ids, 2) if int(id) % 2]
    assert wrong
    refused = said(capsys, "tell batch.csv --json", 1)
    assert [
        line[: len(one)] for line, one in zip(json.loads(refused.out)["rows"], wrong, strict=True)
    ] == wrong
    assert all(one in refused.err for one in wrong)
    assert "0 labels, 4 open" in said(capsys, "status").out
    assert "would be" in said(capsys, "tell batch.csv --partial --dry-run").out
    assert "0 labels, 4 open" in said(capsys, "status").out
    said(capsys, "tell batch.csv --partial")
    assert f"{4 - len(wrong)} labels" in said(capsys, "status").out


@pytest.mark.parametrize("command", ["tell", "import"])
def test_ids_that_were_sorted_without_the_other_columns_are_refused(folder, capsys, command):
    said(capsys, "start pool.csv --study er.db --seed 1")
    said(capsys, "ask -n 4 -o batch.csv")
    ids = answered("batch.csv", lambda id: 1)
    text = Path("batch.csv").read_text(encoding="utf-8")
    moved = dict(zip(ids, [*ids[1:], ids[0]], strict=True))
    for id, other in moved.items():
        text = text.replace(f"\n{id},", f"\n{other};", 1)
    Path("batch.csv").write_text(text.replace(";", ","), encoding="utf-8")
    refused = said(capsys, f"{command} batch.csv --json", 1)
    assert len(json.loads(refused.out)["rows"]) == 4
    assert all(f"id {other!r}" in refused.err and "left" in refused.err for other in moved.values())
    assert "0 labels, 4 open" in said(capsys, "status").out


def test_a_batch_is_not_written_over_and_can_be_written_again(folder, capsys):
    begun(capsys)
    assert "is there already" in said(capsys, "ask -n 3 -o batch.csv", 1).err
    assert "0 open" in said(capsys, "status").out  # nothing was drawn
    said(capsys, "ask -n 3 -o next.xlsx")
    again = json.loads(said(capsys, "ask --open --json -o next.jsonl").out)
    assert len(again["items"]) == 3
    assert "3 open" in said(capsys, "status").out


def test_labels_are_given_in_the_terminal_with_undo_and_cannot_tell(folder, capsys, monkeypatch):
    said(capsys, "start pool.csv --study er.db --seed 1")
    Path("keys").write_text("1\n0\nu\n1\nx\nw\n?\nq\n")
    monkeypatch.setattr("sys.stdin", open("keys"))  # noqa: SIM115
    shown = said(capsys, "label --annotator ann").out
    assert "Café" in shown
    assert "taken back" in shown
    assert "label 'x' is not one of [0, 1]" in shown
    assert "3 told; 2 labels in all" in shown
    said(capsys, "export -o out.jsonl")
    rows = [json.loads(line) for line in Path("out.jsonl").read_text().splitlines()]
    assert [(row["label"], row["annotator"]) for row in rows] == [(1, "ann"), (1, "ann")]
    assert "\x1b" not in shown  # no colour without a terminal


def test_an_undefined_estimate_has_an_exit_code_of_its_own(folder, capsys):
    said(capsys, "start pool.csv --study er.db --design uniform --seed 1")
    assert "undefined" in said(capsys, "estimate", 4).out


def interrupted(capsys, status, *words, typed=""):
    """Label in a process of its own, and press Ctrl-C once the study has come to a status."""
    program = [sys.executable, "-m", "sondage", "label", "-n", "5", *words]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    going = subprocess.Popen(program, text=True, **pipes)
    going.stdin.write(typed)
    going.stdin.flush()
    until = time.monotonic() + 30
    while status not in said(capsys, "status").out and time.monotonic() < until:
        time.sleep(0.1)
    going.send_signal(signal.SIGINT)
    going.communicate(timeout=30)
    assert going.returncode == 130


def test_an_interrupt_leaves_a_study_that_goes_on(folder, capsys):
    begun(capsys)
    interrupted(capsys, "13 labels", typed="1\n")
    assert "13 labels, 4 open" in said(capsys, "status").out
    assert len(json.loads(said(capsys, "ask --open --json").out)["items"]) == 4


def test_an_interrupt_gives_back_what_an_annotator_holds(folder, capsys):
    begun(capsys)
    interrupted(capsys, "held by ann", "--annotator", "ann")
    assert "held" not in said(capsys, "status").out


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt, RuntimeError("Error calling __set_name__"), sd.errors.InvalidInput("no")]
)
def test_an_interrupt_that_python_made_another_error_of_is_one(capsys, monkeypatch, error):
    def interrupted(args):
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as cause:
            raise error from cause

    monkeypatch.setattr(commands()["doctor"], "run", interrupted)
    assert "interrupted" in said(capsys, "doctor", 130).err


@pytest.mark.parametrize("moment", ["imports", "exec", "end"])
def test_an_interrupted_process_has_the_exit_code_of_that_at_any_moment(moment):
    raised = {
        "imports": "sys.modules['sondage.cli'] = type('Stopped', (), {'__getattr__': stop})()",
        "exec": "import sondage.cli; sondage.cli.main = lambda: caught(lambda: exec('stop()', globals()))",
        "end": "import sondage.cli; sondage.cli.main = lambda: 130; atexit.register(stop)",
    }[moment]
    code = f"""
import atexit, os, signal, sys
def stop(*more):
    os.kill(os.getpid(), signal.SIGINT)
def caught(run):
    try:
        run()
    except KeyboardInterrupt:
        return 130
{raised}
from sondage.__main__ import program
program()
"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60).returncode == 130


@pytest.mark.parametrize(("line", "code"), [("status --study no.db --json", 1), ("doctor --json", 1)])
def test_a_pipe_that_nobody_reads_ends_a_command_quietly(folder, line, code):
    read, write = os.pipe()
    os.close(read)
    program = [sys.executable, "-m", "sondage", *shlex.split(line)]
    done = subprocess.run(program, stdout=write, stderr=subprocess.PIPE, text=True, timeout=60)
    os.close(write)
    assert done.returncode == code
    assert "Broken" not in done.stderr
    assert "Traceback" not in done.stderr


def test_errors_speak_of_options_and_not_of_arguments(folder, capsys):
    both = "--score score --system a:score=score,prediction=match"
    assert "pass either --system or --score, not both" in said(capsys, f"start pool.csv {both}", 1).err
    assert "--system a has unknown parts" in said(capsys, "start pool.csv --system a:scor=score", 1).err
    begun(capsys)
    assert "(--name)" in said(capsys, "start pool.csv --study er.db --name study-1", 1).err
    Path("one.csv").write_text("id,label\n0399,1\n", encoding="utf-8")
    Path("batch.csv").write_text(
        Path("batch.csv").read_text(encoding="utf-8") + "9999,,,,1\n", encoding="utf-8"
    )
    refused = said(capsys, "tell batch.csv --json", 1)
    assert "(--partial takes the others)" in json.loads(refused.out)["error"]
    assert "=" not in refused.err.partition("\n")[0]
    assert "1 wrong row left out" in said(capsys, "tell batch.csv --partial").out
    text = said(capsys, "import one.csv").out
    assert "1 label imported without a chance: it helps" in text
    Path("chance.csv").write_text("id,label,chance\n0398,1,0.1\n", encoding="utf-8")
    assert "with its chance: it counts" in said(capsys, "import chance.csv").out
    wrong = said(capsys, "import chance.csv --partial", 1).err
    assert "--partial is not for labels with chances" in wrong


def test_words_are_of_commands_and_not_of_functions(folder, capsys):
    rows = "".join(f"{k},{'ja' if k % 2 else 'nein'}\n" for k in range(40))
    Path("pool.csv").write_text(f"id,decision\n{rows}", encoding="utf-8")
    assert "pass --labels 'nein' 'ja' when you start the study" in said(capsys, "start pool.csv").err
    assert said(capsys, "status").err == ""  # said once
    assert said(capsys, "groups", 1).err.startswith("sondage: sondage groups needs COLUMN: ")
    assert "start a study with --groups" in said(capsys, "groups shop", 1).err
    assert "start a study with --system a:" in said(capsys, "compare", 1).err
    assert (
        "go on with it, or take a new name (--name)" in said(capsys, "start pool.csv --name study-1", 1).err
    )
    assert "catalogue" not in said(capsys, "estimate nonsense", 1).err
    assert "make one with sondage start" in said(capsys, "status --study none.db", 1).err
    planned = said(capsys, "plan pool.csv --labels nein ja --width 0.2").out
    assert not re.search(r"\w\(|\w=", planned)
    assert max(map(len, planned.splitlines())) <= 80
    Path("pool.csv").write_text(f"id,decision\n{rows}41,ja\n", encoding="utf-8")
    assert "say with --pool where it is now" in said(capsys, "status", 1).err


def test_an_error_keeps_its_example(folder, capsys):
    refused = said(capsys, "start pool.csv --system a:score", 1).err
    assert "such as a:score=a_score,threshold=0.5, not 'a:score'" in refused
    said(capsys, "start pool.csv --design importance --groups shop")
    assert "start a study with --design 'thompson'" in said(capsys, "groups", 1).err


def test_the_column_with_the_worst_group_is_a_column_of_groups(folder, capsys):
    text = said(capsys, "start pool.csv --worst shop prediction").out
    assert "groups:      shop\n" in text
    assert "shop" not in text.partition("payload:")[2].partition("\n")[0]


def test_every_step_says_which_is_next(folder, capsys, monkeypatch):
    assert "from a file to a result" in said_and_exited(capsys, "--help")
    said(capsys, "start pool.csv --study er.db --budget 4")
    text = said(capsys, "start pool.csv --study er.db --name 'the second'").out
    again = " --study er.db --name 'the second'"
    assert text.splitlines()[-1] == f"next: sondage ask -n 20 -o batch.csv{again}"
    assert said(capsys, f"status{again}").out.splitlines()[-1] == text.splitlines()[-1]
    text = said(capsys, f"ask -n 4 -o batch.csv{again}").out
    assert text.splitlines()[-1].endswith(f"then sondage tell batch.csv{again}")
    assert f"ask --open -o again.csv{again}" in said(capsys, f"status{again}").out
    assert "next" not in said(capsys, f"tell batch.csv{again}").out
    answered("batch.csv")
    assert f"next: sondage estimate{again}\n" in said(capsys, f"tell batch.csv{again}").out
    monkeypatch.setattr("sys.stdin", io.StringIO("0\n"))
    assert said(capsys, f"label -n 1{again}").out.splitlines()[-1] == f"next: sondage estimate{again}"
    said(capsys, "ask -n 4 -o first.csv --study er.db --name study-1")
    answered("first.csv")
    said(capsys, "tell first.csv --study er.db --name study-1")
    spent = said(capsys, "status --study er.db --name study-1").out
    assert "next: sondage report -o report.html --study er.db --name study-1" in spent


def said_and_exited(capsys, line):
    """What a command prints that ends in argparse."""
    with pytest.raises(SystemExit):
        main(shlex.split(line))
    return capsys.readouterr().out


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet", "xlsx"])
def test_an_export_has_imported_labels_and_says_where_each_is_from(folder, capsys, suffix):
    begun(capsys)
    asked = {row["id"] for row in csv.DictReader(open("batch.csv", encoding="utf-8"))}  # noqa: SIM115
    first, second = [id for id in map("{:04d}".format, range(N)) if id not in asked][:2]
    Path("one.csv").write_text(f"id,label,chance,annotator\n{first},1,0.25,ann\n", encoding="utf-8")
    Path("two.csv").write_text(f"id,label\n{second},0\n", encoding="utf-8")
    said(capsys, "import one.csv")
    said(capsys, "import two.csv")
    said(capsys, "export -o out.jsonl")
    rows = [json.loads(line) for line in Path("out.jsonl").read_text().splitlines()]
    assert [row["source"] for row in rows] == ["asked"] * 12 + ["imported"] * 2
    found = {row["id"]: row for row in rows}
    assert (found[first]["probability"], found[first]["weight"]) == (0.25, None)
    assert (found[first]["label"], found[first]["annotator"]) == (1, "ann")
    assert (found[second]["probability"], found[second]["label"]) == (None, 0)
    study = sd.load_study("sqlite:///er.db")
    assert len(study.labels()) == 12
    study.export(f"out.{suffix}", payload=True)
    before = len(study.journal.events(study.name))
    assert "0 answers told, 14 known already" in said(capsys, f"tell out.{suffix}").out
    assert len(study.journal.events(study.name)) == before


def test_doctor_names_extras_that_there_are():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = set(commands()["doctor"]._PACKAGES.values()) - {""}
    assert named <= set(extras["optional-dependencies"])


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_every_command_and_its_options(capsys, shell):
    script = said(capsys, f"completion {shell}").out
    assert all(name in script for name in commands())
    assert "dry-run" in script


def test_bash_completes(folder):
    script = run("completion bash").stdout + (
        "COMP_WORDS=(sondage es); COMP_CWORD=1; _sondage; echo ${COMPREPLY[@]}\n"
        "COMP_WORDS=(sondage tell --p); COMP_CWORD=2; _sondage; echo ${COMPREPLY[@]}\n"
    )
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=30)
    assert done.stdout.splitlines() == ["estimate", "--partial --pool"]


def test_the_worst_group_is_found_through_files(folder, capsys):
    roles = "--id pair_id --score score --prediction match --groups shop"
    said(capsys, f"start pool.csv --worst shop --budget 40 --study audit.db --seed 1 {roles}")
    said(capsys, "ask -n 40 -o audit.csv --study audit.db")
    answered("audit.csv")
    said(capsys, "tell audit.csv --study audit.db")
    found = json.loads(said(capsys, "groups --json --study audit.db").out)
    assert (found["measure"], found["by"]) == ("accuracy", "shop")
    assert {one["group"] for one in found["by_group"]} == {"north", "south"}
    assert set(found["worst"]) <= {"north", "south"}
    said(capsys, "report -o audit.html --study audit.db")
    assert "in every group of shop" in Path("audit.html").read_text(encoding="utf-8")
    assert "not both" in said(capsys, f"start pool.csv --worst shop --compare --study x.db {roles}", 1).err
    assert "one --measure" in said(capsys, f"start pool.csv --worst shop --measure f1 recall {roles}", 1).err


def test_no_command_prints_a_password(folder, capsys, monkeypatch, postgres):
    place = postgres.address.replace("app@", "app:geheim@") + "?schema=printed"
    other = postgres.address + "?schema=printed&password=geheim"
    monkeypatch.setenv("SONDAGE_STUDY", place)
    lines = [
        f"start pool.csv --name one --study '{place}'",
        f"start pool.csv --name two --study '{other}' --json",
        f"copy '{place}' er.db --name one",
        f"copy er.db '{other}' --new-name three --json",
        f"studies '{other}' --json",
        "status --name one",
        "status --name one --json",
        "doctor --name one",
        "doctor --name one --json",
    ]
    for line in lines:
        assert "geheim" not in "".join(said(capsys, line)), line
    refused = said(capsys, "status", 1)
    assert "holds one, two, three" in refused.err
    assert "geheim" not in refused.err
