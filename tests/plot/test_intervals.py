"""The forest: a row per coordinate, in order, with what is undefined or open said."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.plot.axes import legend

import sondage as sd
from sondage.errors import InvalidInput
from sondage.plot import forest
from sondage.study.estimates.result import ConfidenceInterval, Estimate


@pytest.fixture
def three(made: SimpleNamespace) -> Estimate:
    """Three levels, the second undefined."""
    value = np.array([0.5, np.nan, 0.8])
    return replace(
        made.strata.estimate(),
        names=("recall[region=north]", "recall[region=south]", "recall[region=west]"),
        value=value,
        ci=ConfidenceInterval(value - 0.1, value + 0.1),
    )


def dots(ax: Any) -> list[tuple[float, float]]:
    (line,) = [one for one in ax.get_lines() if one.get_marker() == "o"]
    return [(round(float(x), 9), float(y)) for x, y in line.get_xydata()]


def bars(ax: Any) -> list[list[list[float]]]:
    (found,) = [one for one in ax.collections if type(one).__name__ == "LineCollection"]
    return [np.round(one, 9).tolist() for one in found.get_segments()]


def row_names(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.get_yticklabels()]


def test_value_and_interval_in_the_row_of_each(three: Estimate, ax: Any) -> None:
    forest(three, ax)
    assert dots(ax) == [(0.5, 0), (0.8, 2)]
    assert bars(ax) == [[[0.4, 0], [0.6, 0]], [[0.7, 2], [0.9, 2]]]
    low, high = ax.get_xlim()
    assert low < 0.4
    assert high > 0.9
    assert ax.get_ylim() == (2.5, -0.5)  # the first on top


def test_what_all_names_share_is_said_once(three: Estimate, ax: Any) -> None:
    forest(three, ax)
    assert row_names(ax) == ["north", "south", "west"]
    assert ax.get_ylabel() == "region"
    assert ax.get_xlabel() == "recall with 95 % interval"


def test_different_measures_keep_their_names(made: SimpleNamespace, ax: Any) -> None:
    forest(made.strata.estimate(["precision", "recall"], by="group"), ax)
    assert row_names(ax)[:2] == ["precision[group=g0]", "recall[group=g0]"]
    assert ax.get_ylabel() == ""


def test_entries_of_a_matrix_keep_their_names(made: SimpleNamespace, ax: Any) -> None:
    forest(made.matrix.estimate(), ax)
    assert row_names(ax)[1] == "confusion_matrix[true=0,pred=1]"


def test_an_undefined_coordinate_keeps_its_row(three: Estimate, ax: Any) -> None:
    forest(three, ax)
    assert [(text.get_text(), text.get_position()[1]) for text in ax.texts] == [("undefined", 1)]


def test_nothing_defined_can_be_drawn(three: Estimate, ax: Any) -> None:
    nothing = np.full(3, np.nan)
    forest(replace(three, value=nothing, ci=ConfidenceInterval(nothing, nothing)), ax)
    assert len(ax.texts) == 3
    assert dots(ax) == []


def test_sorted_the_greatest_is_on_top_and_undefined_at_the_bottom(three: Estimate, ax: Any) -> None:
    forest(three, ax, sort=True)
    assert row_names(ax) == ["west", "north", "south"]
    assert dots(ax) == [(0.8, 0), (0.5, 1)]
    assert ax.texts[0].get_position()[1] == 2


def test_estimates_by_name_are_rows(made: SimpleNamespace, ax: Any) -> None:
    estimates = {"old": made.strata.estimate(), "new": made.items.estimate()}
    forest(estimates, ax)
    assert row_names(ax) == ["old", "new"]
    assert ax.get_xlabel() == "F1 with 95 % interval"
    assert [x for x, _ in dots(ax)] == [round(one.value, 9) for one in estimates.values()]


def test_several_coordinates_by_name_have_both(three: Estimate, ax: Any) -> None:
    forest({"a": three, "b": three}, ax)
    assert row_names(ax) == ["a, north", "a, south", "a, west", "b, north", "b, south", "b, west"]


def test_one_number_is_one_row(made: SimpleNamespace, ax: Any) -> None:
    forest(made.strata.estimate(), ax)
    assert row_names(ax) == ["f1"]


def test_names_of_ones_own(three: Estimate, ax: Any) -> None:
    forest(three, ax, names=["N", "S", "W"], sort=True)
    assert row_names(ax) == ["W", "N", "S"]


def test_reference_and_truth_are_in_sight_and_in_the_legend(three: Estimate, ax: Any) -> None:
    forest(three, ax, reference=0.1, truth=[0.55, 0.6, 0.95], sort=True)
    assert legend(ax) == ["reference 0.1", "truth"]
    low, high = ax.get_xlim()
    assert low < 0.1
    assert high > 0.95
    (points,) = [one for one in ax.get_lines() if one.get_marker() == "D"]
    assert points.get_xdata().tolist() == [0.95, 0.55, 0.6]


def test_truth_by_name_may_leave_some_out(three: Estimate, ax: Any) -> None:
    forest(three, ax, truth={"west": 0.75})
    (points,) = [one for one in ax.get_lines() if one.get_marker() == "D"]
    np.testing.assert_array_equal(points.get_xdata(), [np.nan, np.nan, 0.75])


@pytest.mark.parametrize(
    ("alternative", "marker", "segment"),
    [("greater", ">", [0.4, 1.0]), ("less", "<", [0.0, 0.6])],
)
def test_a_bound_is_open_on_its_other_side(
    alternative: str, marker: str, segment: list[float], three: Estimate, ax: Any
) -> None:
    forest(replace(three, alternative=alternative), ax)  # type: ignore[arg-type]
    left, right = ax.get_xlim()
    (arrow,) = [one for one in ax.get_lines() if one.get_marker() == marker]
    edge = right if alternative == "greater" else left
    assert arrow.get_xdata().tolist() == [edge, edge]
    wanted = [segment[0], edge] if alternative == "greater" else [edge, segment[1]]
    assert [point[0] for point in bars(ax)[0]] == pytest.approx(wanted)


def test_an_endless_interval_runs_to_the_edge(three: Estimate, ax: Any) -> None:
    low = np.array([-np.inf, np.nan, 0.7])
    forest(replace(three, ci=three.ci._replace(low=low)), ax)
    left, _ = ax.get_xlim()
    assert np.isfinite(left)
    (arrow,) = [one for one in ax.get_lines() if one.get_marker() == "<"]
    assert arrow.get_ydata().tolist() == [0]


def test_values_beyond_0_and_1(three: Estimate, ax: Any) -> None:
    ci = ConfidenceInterval(three.ci.low * 100, three.ci.high * 100)
    forest(replace(three, value=three.value * 100, ci=ci), ax)
    low, high = ax.get_xlim()
    assert low < 40
    assert high > 90


def test_a_hundred_rows_have_names_for_some(made: SimpleNamespace, ax: Any) -> None:
    estimates = {f"system {k}": made.strata.estimate() for k in range(100)}
    forest(estimates, ax)
    assert len(dots(ax)) == 100
    assert 20 <= len(row_names(ax)) < 100


@pytest.mark.parametrize("wrong", [None, 0.5, [0.5], {}, {"a": 0.5}])
def test_what_is_no_estimate_is_refused(wrong: object, ax: Any) -> None:
    with pytest.raises(InvalidInput, match="estimate="):
        forest(wrong, ax)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"names": ["a"]}, "names= must be 3 names"),
        ({"names": "abc"}, "names= must be 3 names"),
        ({"truth": [0.5]}, "truth= has 1 values, and there are 3 rows"),
        ({"truth": {"east": 0.5}}, "truth= names 'east'"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    options: dict[str, Any], match: str, three: Estimate, ax: Any
) -> None:
    with pytest.raises(InvalidInput, match=match):
        forest(three, ax, **options)
    assert not ax.get_lines()


def test_systems_of_a_pool(ax: Any) -> None:
    pool, labels = sd.datasets.synthetic_pool(n=800, prevalence=0.3, rng=0)
    study = sd.create_study(pool, "accuracy", design="uniform", rng=0)
    study.run(labels, budget=100)
    study.add_system("newer", {"id": pool.ids, "score": pool.system().score + 1.0}, id="id", threshold=0.0)
    found = {name: study.estimate(system=name) for name in study.pool.systems}
    forest(found, ax)
    assert row_names(ax) == ["model", "newer"]
