"""What is shipped works: wheel and sdist install into a clean environment and run the demonstration."""

import json
import os
import subprocess
import sys
import tarfile
import tomllib
import venv
from importlib.util import find_spec
from pathlib import Path

import pytest

import sondage

ROOT = Path(__file__).resolve().parents[1]


def run(*command: object, cwd: Path, env: dict[str, str] | None = None) -> str:
    done = subprocess.run([*map(str, command)], cwd=cwd, env=env, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Both files, built once."""
    if find_spec("hatchling") is None:
        pytest.skip("building needs hatchling: pip install 'sondage[test]'")
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "hatchling", "build", "-d", folder, cwd=ROOT)
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return {"wheel": wheel, "sdist": sdist}


@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_a_clean_environment_runs_the_demonstration(
    kind: str, built: dict[str, Path], tmp_path: Path
) -> None:
    """Without the network: other packages are borrowed from the environment of the tests."""
    home = tmp_path / "env"
    venv.create(home)
    (packages,) = home.glob("[Ll]ib/**/site-packages")
    lent = {str(Path(str(find_spec(name).origin)).parents[1]) for name in ("numpy", "hatchling")}  # type: ignore[union-attr]
    # Paths from a .pth file come last, and editable packages among them stay unseen.
    (packages / "lent.pth").write_text("\n".join(sorted(lent)), encoding="utf-8")
    programs = next(home / one for one in ("bin", "Scripts") if (home / one).is_dir())
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PIP_"))}

    offline = ("--no-index", "--no-deps", "--no-build-isolation", "--ignore-installed")
    pip = (sys.executable, "-m", "pip", "--python", programs / "python")
    run(*pip, "install", *offline, built[kind], cwd=tmp_path, env=clean)
    where = run(programs / "python", "-c", "import sondage; print(sondage.__file__)", cwd=tmp_path, env=clean)
    assert Path(where.strip()).is_relative_to(packages)
    said = run(programs / "sondage", "demo", "--budget", 20, "--json", cwd=tmp_path, env=clean)
    assert json.loads(said)["plot"] == "sondage-demo.png"
    assert (tmp_path / "sondage-demo.png").stat().st_size > 10_000


def test_the_sdist_holds_what_contributors_need(built: dict[str, Path]) -> None:
    with tarfile.open(built["sdist"]) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames()}
    top = {name.split("/")[0] for name in names}
    assert {"src", "tests", "examples", "docs", "benchmarks", "Makefile", "LICENSE", "README.md"} <= top
    assert {f"examples/{one.name}" for one in (ROOT / "examples").glob("*.py")} <= names
    assert not top & {".venv", ".ci", "site", "dist"}


def test_the_version_is_the_same_everywhere() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert f"\nversion: {project['version']}\n" in citation
    assert project["version"] == sondage.__version__
