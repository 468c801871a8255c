"""`import sondage` is light: optional and slow packages are loaded only where they are used."""

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


@pytest.fixture(scope="module")
def loaded_by_import() -> set[str]:
    """Names of all modules in a fresh interpreter after `import sondage`."""
    code = "import sondage, sys; print('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def test_import_loads_the_package(loaded_by_import: set[str]) -> None:
    assert {"sondage", "numpy"} <= loaded_by_import


@pytest.mark.parametrize("module", HEAVY)
def test_import_does_not_load(module: str, loaded_by_import: set[str]) -> None:
    assert module not in loaded_by_import


def test_import_prints_nothing_and_warns_of_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", "import sondage"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
