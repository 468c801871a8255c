"""`sondage demo`: the table, the plot, the JSON, and what happens when something is missing."""

import importlib.util
import json
import struct
from pathlib import Path

import numpy as np
import pytest

from sondage import cli
from sondage.cli import demo, main
from sondage.study.estimates.result import ConfidenceInterval, Estimate

BUDGET = 60


def png_size(path: Path) -> tuple[int, int]:
    """Width and height, from the header of a PNG file."""
    head = path.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", head[16:24])
    return width, height


def an_estimate(value: float, **changed: object) -> Estimate:
    content = {
        "names": ("f1",),
        "value": value,
        "std_error": 0.03,
        "ci": ConfidenceInterval(value - 0.1, value + 0.1),
        "confidence_level": 0.95,
        "guarantee": "fixed-n",
        "interval": "beta",
        "n_labels": 500,
        "n_draws": 500,
        "n_open": 0,
        "n_refused": 0,
        "n_eff": 400.0,
        "n_uniform": 41_234.0,
        "cost": 500.0,
        "target": "pool",
        "pool_version": 1,
        "target_of_design": True,
        "assumptions": (),
        "warnings": (),
        "defined": not np.isnan(value),
        "why": None,
    }
    return Estimate(**(content | changed))  # type: ignore[arg-type]


def an_outcome(auto: Estimate, uniform: Estimate) -> demo.Outcome:
    arms = {"auto": demo.Arm("stratified", [auto]), "uniform": demo.Arm("uniform", [uniform])}
    return demo.Outcome(176_423, 112, 140, 0.857142, arms)


def test_a_value_at_the_end_of_its_interval_is_explained() -> None:
    end = an_estimate(0.867, ci=ConfidenceInterval(0.714, 0.867))
    text = " ".join(demo.as_text(an_outcome(end, an_estimate(0.5))).split())
    assert "auto: f1 lies at the upper end of its interval: more labels may well lower it" in text
    assert "uniform: f1 lies" not in text


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str, Path]:
    """Output, errors and plot of one run."""
    from contextlib import redirect_stderr, redirect_stdout
    from io import StringIO

    plot = tmp_path_factory.mktemp("demo") / "plot.png"
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        assert main(["demo", "--budget", str(BUDGET), "--seed", "1", "--output", str(plot)]) == 0
    return out.getvalue(), err.getvalue(), plot


def test_table_shows_truth_and_both_designs(printed: tuple[str, str, Path]) -> None:
    lines = printed[0].splitlines()
    (truth,) = [line for line in lines if "the truth" in line]
    assert "176,423" in truth
    assert "0.857" in truth  # 2 * 108 / (2 * 108 + 32 + 4)
    (auto,) = [line for line in lines if line.startswith("auto (")]
    assert f" {BUDGET} " in auto
    (uniform,) = [line for line in lines if line.startswith("uniform ") and ":" not in line]
    assert f" {BUDGET} " in uniform
    assert "95 % interval" in printed[0]
    assert "1 in 1,575" in printed[0]


def test_output_fits_80_columns_but_for_the_path(printed: tuple[str, str, Path]) -> None:
    out, _, plot = printed
    lines = [line for line in out.splitlines() if str(plot) not in line]
    assert max(len(line) for line in lines) <= 80


def test_nothing_on_standard_error_when_it_is_no_terminal(printed: tuple[str, str, Path]) -> None:
    assert printed[1] == ""


def test_plot_is_a_png_of_sensible_size(printed: tuple[str, str, Path]) -> None:
    width, height = png_size(printed[2])
    assert 800 <= width <= 2400
    assert 400 <= height <= 1600
    assert 10_000 < printed[2].stat().st_size < 1_000_000


def test_json_holds_estimates_and_history(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plot = tmp_path / "plot.svg"
    assert main(["demo", "--budget", str(BUDGET), "--json", "--output", str(plot)]) == 0
    found = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)  # no bare NaN
    assert found["truth"] == pytest.approx(2 * 108 / (2 * 108 + 32 + 4))
    assert found["pool"] == {
        "name": "restaurants",
        "items": 176_423,
        "positives": 112,
        "predicted_positives": 140,
    }
    assert set(found["designs"]) == {"auto", "uniform"}
    assert found["designs"]["auto"]["design"] != "auto"  # what it resolved to
    for design in found["designs"].values():
        assert design["estimate"]["n_labels"] == BUDGET
        assert design["history"][-1]["n_labels"] == BUDGET
        assert set(design["history"][0]) == {"n_labels", "value", "low", "high"}
        labels = [step["n_labels"] for step in design["history"]]
        assert labels == sorted(set(labels))
    assert found["plot"] == str(plot)
    assert plot.stat().st_size > 0


def test_same_seed_same_result_another_seed_another(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = []
    for seed in ("3", "3", "4"):
        plot = str(tmp_path / "plot.png")
        main(["demo", "--budget", "60", "--json", "--seed", seed, "--output", plot])
        found.append(json.loads(capsys.readouterr().out)["designs"]["auto"]["history"])
    assert found[0] == found[1]
    assert found[0] != found[2]


def test_undefined_is_said_with_its_reason() -> None:
    uniform = an_estimate(
        np.nan, ci=ConfidenceInterval(np.nan, np.nan), why="no match was seen", n_uniform=np.nan
    )
    text = demo.as_text(an_outcome(an_estimate(0.84), uniform))
    (row,) = [line for line in text.splitlines() if line.startswith("uniform ") and "500" in line]
    assert "undefined" in row
    assert "nan" not in text
    assert "uniform: undefined, because no match was seen." in text


def test_warnings_and_the_need_of_a_uniform_sample_are_told() -> None:
    rough = an_estimate(0.5, warnings=("take the interval as rough",))
    text = demo.as_text(an_outcome(an_estimate(0.84), rough))
    assert "needed about 41,000." in text.replace("\n", " ")
    assert "uniform: take the interval as rough." in text
    assert "0.740 to 0.940" in text


@pytest.mark.parametrize("package", ["rapidfuzz", "matplotlib"])
def test_a_missing_package_names_the_extra(
    package: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name, *rest: None if name == package else find(name, *rest),
    )
    plot = tmp_path / "plot.png"
    assert main(["demo", "--output", str(plot)]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert package in captured.err
    assert "pip install 'sondage[demo]'" in captured.err
    assert not plot.exists()


def test_works_without_rich(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "rich", None)
    plot = tmp_path / "plot.png"
    assert main(["demo", "--budget", "30", "--output", str(plot)]) == 0
    assert "95 % interval" in capsys.readouterr().out


def test_interrupt_exits_with_130_and_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(demo, "evaluate", interrupted)
    assert main(["demo", "--output", str(tmp_path / "plot.png")]) == 130
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "sondage: interrupted\n"


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["demo", "--budget", "0"], "--budget"),
        (["demo", "--budget", "many"], "--budget"),
        (["demo", "--seed", "-1"], "--seed"),
        (["demo", "--bugdet", "5"], "--bugdet"),
        (["dmeo"], "dmeo"),
        ([], "command"),
    ],
)
def test_bad_arguments_are_refused_by_name(
    arguments: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert named in capsys.readouterr().err


@pytest.mark.parametrize("name", ["nowhere/plot.png", "plot", "plot.exe", "."])
def test_an_output_that_cannot_be_is_refused_before_any_work(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(demo, "evaluate", lambda *_: pytest.fail("work was done"))
    assert main(["demo", "--output", str(tmp_path / name)]) == 1
    assert "--output" in capsys.readouterr().err


def test_every_command_has_help_and_the_parts_of_a_command() -> None:
    assert "demo" in cli.commands()
    for name, module in cli.commands().items():
        assert module.__doc__, name
        assert callable(module.arguments)
        assert callable(module.run)


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    from sondage import __version__

    with pytest.raises(SystemExit) as stopped:
        main(["--version"])
    assert stopped.value.code == 0
    assert capsys.readouterr().out == f"sondage {__version__}\n"


def test_python_m_sondage_runs_the_same(tmp_path: Path) -> None:
    import subprocess
    import sys

    done = subprocess.run(
        [sys.executable, "-m", "sondage", "demo", "--budget", "20"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "The plot is in sondage-demo.png" in done.stdout
    assert png_size(tmp_path / "sondage-demo.png")[0] > 0
