"""The programs in examples/ are short, run as they stand, and say what their first line promises."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PROGRAMS = sorted((ROOT / "examples").glob("*.py"))
SAID = {
    "record_linkage": ["176,423 items", "300 labels: F1 from", "recall"],
    "llm_judge": ["accuracy[topic=law]", "recall[wrong]", "cohen_kappa", "weight"],
    "rare_events": ["10 open", "more than 0.75", "precision", "recall"],
}


def test_there_is_an_expectation_for_every_example() -> None:
    assert {one.stem for one in PROGRAMS} == SAID.keys()


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda one: one.stem)
def test_an_example_is_short_and_runs(program: Path, tmp_path: Path) -> None:
    assert len(program.read_text(encoding="utf-8").splitlines()) <= 80
    done = subprocess.run(
        [sys.executable, str(program)], cwd=tmp_path, capture_output=True, text=True, timeout=200
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert [words for words in SAID[program.stem] if words not in done.stdout] == []
    assert list(tmp_path.iterdir()) == []


def test_the_picture_of_the_readme_is_made_by_its_program_and_small(tmp_path: Path) -> None:
    folder = ROOT / "docs" / "pictures"
    made = tmp_path / "learning.png"
    done = subprocess.run(
        [sys.executable, str(folder / "learning.py"), str(made)], capture_output=True, text=True, timeout=200
    )
    assert done.returncode == 0, done.stderr
    for path in (made, folder / "learning.png"):
        assert path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
        assert 20_000 < path.stat().st_size < 200_000
    assert "docs/pictures/learning.png" in (ROOT / "README.md").read_text(encoding="utf-8")
