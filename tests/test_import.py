"""`import sondage` is light: rooms, and optional and slow packages, are loaded where they are used."""

import subprocess
import sys

import pytest

HEAVY = [
    "scipy.stats",
    "pandas",
    "polars",
    "pyarrow",
    "duckdb",
    "matplotlib",
    "sqlalchemy",
    "rich",
    "sklearn",
    "numba",
]


STUDY = """
import sondage as sd
pool = sd.Pool.from_arrays(score=[0.1, 0.4, 0.6, 0.9], threshold=0.5)
study = sd.create_study(pool, "f1", rng=0)
study.run({0: 0, 1: 0, 2: 1, 3: 1}, budget=4)
print(study.estimate())
"""


def loaded_by(code: str) -> set[str]:
    """Names of all modules in a fresh interpreter after some code."""
    code += "\nimport sys; print('modules:'); print('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split("modules:")[1].split())


@pytest.fixture(scope="module")
def loaded_by_a_study() -> set[str]:
    """What is loaded once a study has been made, labelled and estimated."""
    return loaded_by(STUDY)


def test_import_loads_nothing_before_it_is_used() -> None:
    rooms = {
        name for name in loaded_by("import sondage") if name.split(".")[0] in ("sondage", "numpy", "scipy")
    }
    assert rooms == {"sondage", "sondage.version"}


def test_a_study_loads_its_rooms(loaded_by_a_study: set[str]) -> None:
    assert {"sondage.study", "sondage.pool", "numpy"} <= loaded_by_a_study


@pytest.mark.parametrize("module", HEAVY)
def test_a_study_does_not_load(module: str, loaded_by_a_study: set[str]) -> None:
    assert module not in loaded_by_a_study


def test_import_prints_nothing_and_warns_of_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", "import sondage"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
