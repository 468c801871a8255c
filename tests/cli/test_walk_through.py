"""The page on the command line does what it shows, from its file to its results."""

import re
import shlex
from pathlib import Path

import pytest
from tests.cli.test_commands import answered

from sondage.cli import commands, main

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")


def lines_of(text):
    """Commands that a page shows, in order."""
    return [
        line for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL) for line in block.splitlines()
    ]


def test_the_page_runs_from_start_to_results(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SONDAGE_STUDY", raising=False)
    exec(re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)[1], {})
    lines = lines_of(PAGE)
    assert len(lines) > 10
    for line in lines:
        words = shlex.split(line)
        assert words[:2] == ["$", "sondage"]
        if words[2] == "tell" and "--dry-run" in words:
            answered(words[3])
        assert main(words[2:]) == 0, (line, capsys.readouterr().err)
    assert "20 labels" in capsys.readouterr().out


@pytest.mark.parametrize("page", ["README.md", "docs/command-line.md"])
def test_commands_that_a_page_names_exist(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    named = set(re.findall(r"(?:`|\$ )sondage ([a-z]+)", text))
    assert named
    assert named <= {*commands(), "COMMAND"}
