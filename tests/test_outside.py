"""Parts added as one file each outside the package keep their contracts, and are found by their names."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

PARTS = Path(__file__).parent / "outside"
KINDS = ("measure", "design", "sampling", "belief", "interval", "strata", "journal")

STUDY = """
import tempfile

import part_measure, part_design, part_sampling, part_belief, part_interval, part_strata, part_journal
import sondage as sd

pool, labels = sd.datasets.synthetic_pool(n=2_000, prevalence=0.1, rng=0)
study = sd.create_study(pool, "found-share", design="largest-cells", budget=200, rng=1)
study.run(labels)
print(study.estimate(interval="cautious"))
believer = sd.designs.Stratified(belief="nine-in-ten", strata="halves")
other = sd.create_study(pool, ["found-share", "f1"], design=believer, budget=200, rng=1)
other.run(labels)
print(other.estimate())
print(other.explain())
print(sd.plan(pool, "found-share", budgets=[100, 200]))
shuffled = sd.create_study(pool, "f1", design="shuffled-rounds", budget=200, rng=1)
print(shuffled.run(labels), shuffled.explain(), shuffled.labels())
with tempfile.TemporaryDirectory() as folder:
    kept = sd.create_study(pool, "f1", storage=f"folder:{folder}", rng=1)
    kept.run(labels, budget=50)
    print(sd.load_study(f"folder:{folder}", pool=pool))
"""


def test_every_kind_of_part_has_an_example() -> None:
    found = {path.stem for path in PARTS.glob("part_*.py")}
    assert found == {f"part_{kind}" for kind in KINDS}


def test_every_part_of_one_file_passes_its_suite(tmp_path: Path) -> None:
    """In an interpreter of their own: the names of parts are known to all tests of one."""
    parts = [Path(shutil.copy(PARTS / f"part_{kind}.py", tmp_path)).name for kind in KINDS]
    command = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", *parts]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert [part for part in parts if f"{part}::Test" not in done.stdout] == []


def test_parts_from_outside_work_together_by_name() -> None:
    path = os.pathsep.join([str(PARTS), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", STUDY],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "found-share" in done.stdout
