"""Plots: what is drawn, what is left out, and on which axes."""

import sys

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import sondage as sd
from sondage.errors import InvalidInput, MissingExtra
from sondage.report import plot_progress, table
from sondage.study.estimate import ConfidenceInterval, Estimate


def an_estimate(labels: int, value: float, half: float = 0.1) -> Estimate:
    return Estimate(
        names=("f1",),
        value=value,
        std_error=half / 2,
        ci=ConfidenceInterval(value - half, value + half),
        confidence_level=0.9,
        guarantee="fixed-n",
        interval="logit",
        n_labels=labels,
        n_draws=labels,
        n_open=0,
        n_refused=0,
        n_eff=float(labels),
        n_uniform=np.nan,
        cost=float(labels),
        target="pool",
        pool_version=1,
        target_of_design=True,
        assumptions=(),
        warnings=(),
        defined=not np.isnan(value),
        why=None,
    )


def a_history(*values: float) -> list[Estimate]:
    return [an_estimate(10 * (k + 1), value) for k, value in enumerate(values)]


@pytest.fixture
def ax():
    return Figure(layout="constrained").add_subplot()


def legend(ax) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


def line_of(ax, name: str):
    (line,) = [one for one in ax.get_lines() if one.get_label() == name and len(one.get_xdata())]
    return line


def test_returns_the_axes_it_was_given(ax) -> None:
    assert plot_progress(a_history(0.5, 0.6), ax=ax) is ax


def test_draws_estimates_against_labels(ax) -> None:
    plot_progress({"auto": a_history(0.5, 0.6, 0.55)}, ax=ax)
    line = line_of(ax, "auto")
    assert line.get_xdata().tolist() == [10, 20, 30]
    assert line.get_ydata().tolist() == [0.5, 0.6, 0.55]
    assert ax.get_xlabel() == "labels spent"
    assert ax.get_ylabel() == "F1 with 90 % interval"


def test_shades_the_interval(ax) -> None:
    plot_progress({"auto": a_history(0.5, 0.6)}, ax=ax)
    (band,) = ax.collections
    corners = {(round(x, 9), round(y, 9)) for x, y in band.get_paths()[0].vertices}
    assert {(10, 0.4), (20, 0.5), (10, 0.6), (20, 0.7)} <= corners


def test_undefined_parts_are_left_out_and_named(ax) -> None:
    plot_progress({"uniform": a_history(np.nan, np.nan, 0.5, 0.6)}, ax=ax)
    assert legend(ax) == ["uniform (undefined below 30)"]
    drawn = line_of(ax, "uniform (undefined below 30)").get_ydata()
    assert np.isnan(drawn[:2]).all()
    assert drawn[2:].tolist() == [0.5, 0.6]
    (band,) = ax.collections
    assert min(x for path in band.get_paths() for x, _ in path.vertices) == 30


def test_nothing_defined_is_said(ax) -> None:
    plot_progress({"uniform": a_history(np.nan, np.nan)}, truth=0.7, ax=ax)
    assert legend(ax) == ["truth 0.700", "uniform (undefined)"]


def test_a_lone_defined_estimate_is_a_point(ax) -> None:
    plot_progress({"a": a_history(np.nan, 0.5, np.nan)}, ax=ax)
    points = [one for one in ax.get_lines() if one.get_marker() == "o"]
    assert [one.get_xdata().tolist() for one in points] == [[20]]


def test_truth_is_a_line_within_sight(ax) -> None:
    plot_progress({"a": a_history(0.5, 0.5)}, truth=0.9, ax=ax)
    assert legend(ax)[0] == "truth 0.900"
    low, high = ax.get_ylim()
    assert low < 0.4
    assert 0.9 < high <= 1.02


def test_designs_differ_in_colour_and_style(ax) -> None:
    plot_progress({name: a_history(0.5, 0.6) for name in "abc"}, ax=ax)
    lines = [line_of(ax, name) for name in "abc"]
    assert len({line.get_color() for line in lines}) == 3
    assert len({str(line._dash_pattern) for line in lines}) == 3


def test_values_beyond_0_and_1_are_not_cut(ax) -> None:
    plot_progress(a_history(-3.0, 4.0), ax=ax)
    low, high = ax.get_ylim()
    assert low < -3.1
    assert high > 4.1


def test_legend_stays_inside_the_figure() -> None:
    figure = Figure(figsize=(8, 4.8), layout="constrained")
    FigureCanvasAgg(figure)  # one that really draws
    ax = figure.add_subplot()
    histories = {"auto": a_history(0.5, 0.6), "uniform": a_history(np.nan, *[0.5] * 5)}
    plot_progress(histories, truth=0.6, ax=ax)
    figure.canvas.draw()
    box = ax.get_legend().get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.x1
    assert box.y1 <= figure.bbox.y1


def test_real_estimates_of_a_study(ax) -> None:
    pool, labels = sd.datasets.synthetic_pool(n=500, prevalence=0.2, rng=0)
    study = sd.create_study(pool, "accuracy", design="uniform", rng=0)
    history = [study.run(labels, budget=20) for _ in range(3)]
    plot_progress({"uniform": history}, ax=ax)
    assert line_of(ax, "uniform").get_xdata().tolist() == [20, 40, 60]
    assert ax.get_ylabel().startswith("accuracy")


@pytest.mark.parametrize("histories", [{}, [], {"a": []}])
def test_no_estimates_is_an_error(histories: object, ax) -> None:
    with pytest.raises(InvalidInput, match="histories="):
        plot_progress(histories, ax=ax)  # type: ignore[arg-type]


def test_several_measures_at_once_are_refused(ax) -> None:
    pool, labels = sd.datasets.synthetic_pool(n=200, prevalence=0.2, rng=0)
    study = sd.create_study(pool, ["precision", "recall"], design="uniform", rng=0)
    with pytest.raises(InvalidInput, match="precision, recall"):
        plot_progress([study.run(labels, budget=50)], ax=ax)


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"pip install 'sondage\[plot\]'"):
        plot_progress(a_history(0.5))


def test_text_tables_line_up() -> None:
    lines = table(["design", "n"], [["a", "1,000"], ["longer", "2"]]).splitlines()
    assert lines == ["design      n", "-------------", "a       1,000", "longer      2"]
