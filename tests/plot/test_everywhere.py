"""What holds for every plot: the axes given come back, it fits into its figure, and it can be saved."""

from __future__ import annotations

import inspect
import subprocess
import sys
import warnings
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from matplotlib import pyplot
from tests.plot.axes import new_axes

import sondage as sd
from sondage.errors import InvalidInput, MissingExtra
from sondage.strata import EqualSize

DRAWN: dict[str, Callable[[SimpleNamespace, Any], Any]] = {
    "progress": lambda made, ax: sd.plot.progress(
        {"auto": made.strata, "importance": made.items}, truth=0.7, ax=ax, points=5
    ),
    "forest": lambda made, ax: sd.plot.forest(made.strata.estimate("recall", by="group"), ax, reference=0.7),
    "curve": lambda made, ax: sd.plot.curve(made.strata, made.curve, ax, label="auto"),
    "error_curve": lambda made, ax: sd.plot.error_curve(made.auto, ax),
    "reliability": lambda made, ax: sd.plot.reliability(made.matrix.belief_report(), ax),
    "confusion": lambda made, ax: sd.plot.confusion(made.matrix, ax=ax),
    "labels_by_stratum": lambda made, ax: sd.plot.labels_by_stratum(made.strata, ax),
    "design_shape": lambda made, ax: sd.plot.design_shape({"auto": made.strata, "other": made.items}, ax),
    "pairs": lambda made, ax: sd.plot.pairs(made.compared, ax),
    "wins": lambda made, ax: sd.plot.wins(made.compared, ax),
    "plan": lambda made, ax: sd.plot.plan(made.plan, ax),
    "widths": lambda made, ax: sd.plot.widths(
        {"auto": made.strata, "other": made.items}, ax, intervals=("logit", "wald"), points=4
    ),
    "worst": lambda made, ax: sd.plot.worst(made.groups, ax),
    "tree": lambda made, ax: sd.plot.tree(EqualSize(8).describe(made.pool), ax),
}
EACH = pytest.mark.parametrize("name", sorted(DRAWN))
SIZES = pytest.mark.parametrize("size", [(6.4, 4.8), (3.2, 2.4), (9.0, 3.0)], ids=str)


def ticks(ax: Any, side: str) -> list[Any]:
    """Names of ticks that are drawn: those within the limits."""
    low, high = sorted(ax.get_xlim() if side == "x" else ax.get_ylim())
    labels = ax.get_xticklabels() if side == "x" else ax.get_yticklabels()
    return [one for one in labels if one.get_text() and low <= one.get_position()[side == "y"] <= high]


def test_every_function_is_here() -> None:
    assert sorted(sd.plot.__all__) == sorted(DRAWN)


@EACH
def test_the_axes_that_were_given_come_back(name: str, made: SimpleNamespace, ax: Any) -> None:
    assert DRAWN[name](made, ax) is ax


@EACH
def test_without_axes_the_current_ones_of_pyplot_with_room_for_labels(
    name: str, made: SimpleNamespace
) -> None:
    ax = DRAWN[name](made, None)
    assert ax in pyplot.gcf().axes
    assert type(ax.figure.get_layout_engine()).__name__ == "ConstrainedLayoutEngine"


def test_a_layout_that_was_chosen_is_left_alone(made: SimpleNamespace) -> None:
    figure, _ = pyplot.subplots(1, 2)
    DRAWN["forest"](made, None)
    assert figure.get_layout_engine() is None


@pytest.fixture(scope="module")
def drawn(made: SimpleNamespace, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., tuple[Any, Path]]:
    """A plot of some size and the file it was saved to, each made once, without a warning."""
    folder = tmp_path_factory.mktemp("plots")

    @cache
    def make(name: str, size: tuple[float, float]) -> tuple[Any, Path]:
        ax, path = new_axes(*size), folder / f"{name}{size}.png"
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            DRAWN[name](made, ax)
            ax.figure.savefig(path)
        return ax, path

    return make


@EACH
@SIZES
def test_it_is_saved_as_a_picture(name: str, size: tuple[float, float], drawn: Any) -> None:
    _, path = drawn(name, size)
    picture = pyplot.imread(path)
    assert picture.shape[:2] == (round(100 * size[1]), round(100 * size[0]))
    assert picture[..., :3].std() > 0.02


@EACH
@SIZES
def test_nothing_sticks_out_and_the_plot_keeps_room(name: str, size: tuple[float, float], drawn: Any) -> None:
    ax, _ = drawn(name, size)
    figure = ax.figure.bbox
    texts = [ax.title, ax._left_title, ax.xaxis.label, ax.yaxis.label, *ticks(ax, "x"), *ticks(ax, "y")]
    if ax.get_legend():
        texts += ax.get_legend().get_texts()
    for text in texts:
        if text.get_text():
            box = text.get_window_extent()
            inside = box.x0 >= -2 and box.x1 <= figure.x1 + 2 and box.y0 >= -2 and box.y1 <= figure.y1 + 2
            assert inside, text.get_text()
    area = ax.get_window_extent()
    assert area.width * area.height > 0.13 * figure.width * figure.height


@EACH
@SIZES
def test_the_title_says_a_finding_above_the_legend(name: str, size: tuple[float, float], drawn: Any) -> None:
    ax, _ = drawn(name, size)
    assert len(ax.get_title(loc="left")) > 10
    if ax.get_legend():
        assert ax._left_title.get_window_extent().y0 >= ax.get_legend().get_window_extent().y1 - 2


def test_a_title_that_was_given_stays_alone(made: SimpleNamespace) -> None:
    ax = new_axes()
    ax.set_title("Mine")
    DRAWN["forest"](made, ax)
    assert (ax.get_title(), ax.get_title(loc="left")) == ("Mine", "")


@EACH
@SIZES
def test_names_on_an_axis_do_not_overlap(name: str, size: tuple[float, float], drawn: Any) -> None:
    ax, _ = drawn(name, size)
    for side in ("x", "y"):
        seen = [one.get_window_extent() for one in ticks(ax, side) if not one.get_rotation()]
        ends = sorted((box.x0, box.x1) if side == "x" else (box.y0, box.y1) for box in seen)
        # Text boxes have some air above and below the letters.
        slack = 0.0 if side == "x" else 3.0
        assert all(a[1] <= b[0] + slack for a, b in pairwise(ends))


@EACH
def test_several_plots_share_a_figure(name: str, made: SimpleNamespace, tmp_path: Path) -> None:
    figure, axes = pyplot.subplots(2, 2, figsize=(8, 6), layout="constrained")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for ax in axes.flat:
            DRAWN[name](made, ax)
        figure.savefig(tmp_path / "plot.png")


@EACH
def test_a_part_of_a_figure_will_do(name: str, made: SimpleNamespace, tmp_path: Path) -> None:
    figure = pyplot.figure(figsize=(8, 4), layout="constrained")
    left, right = figure.subfigures(1, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for part in (left, right):
            DRAWN[name](made, part.subplots())
        figure.savefig(tmp_path / "plot.png")


@EACH
def test_what_are_no_axes_is_refused(name: str, made: SimpleNamespace) -> None:
    with pytest.raises(InvalidInput, match="ax= takes axes of matplotlib, not str"):
        DRAWN[name](made, "left")


@EACH
def test_without_matplotlib_the_extra_is_named(
    name: str, made: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in [one for one in sys.modules if one.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"pip install 'sondage\[plot\]'"):
        DRAWN[name](made, None)


def test_importing_the_functions_does_not_import_matplotlib() -> None:
    code = "import sys, sondage as sd; sd.plot.forest, sd.plot.curve; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "False", done.stderr


@EACH
def test_every_function_has_an_example(name: str) -> None:
    assert ">>> " in (inspect.getdoc(getattr(sd.plot, name)) or "")
