"""Against labels: what is drawn of estimates and left out, widths of intervals, and plans."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.plot.axes import legend

import sondage as sd
from sondage.errors import InvalidInput, NotSupported
from sondage.intervals import Sequence
from sondage.plot import progress, widths
from sondage.report import history
from sondage.study.estimates.result import ConfidenceInterval, Estimate
from sondage.testing.designs import small_pool


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
        target_of_design=True,
        assumptions=(),
        warnings=(),
        defined=not np.isnan(value),
        why=None,
    )


def a_history(*values: float) -> list[Estimate]:
    return [an_estimate(10 * (k + 1), value) for k, value in enumerate(values)]


def line_of(ax, name: str):
    (line,) = [one for one in ax.get_lines() if one.get_label() == name and len(one.get_xdata())]
    return line


def test_draws_estimates_against_labels(ax) -> None:
    progress({"auto": a_history(0.5, 0.6, 0.55)}, ax=ax)
    line = line_of(ax, "auto")
    assert line.get_xdata().tolist() == [10, 20, 30]
    assert line.get_ydata().tolist() == [0.5, 0.6, 0.55]
    assert ax.get_xlabel() == "labels spent"
    assert ax.get_ylabel() == "F1"


def test_shades_the_interval(ax) -> None:
    progress({"auto": a_history(0.5, 0.6)}, ax=ax)
    (band,) = ax.collections
    corners = {(round(x, 9), round(y, 9)) for x, y in band.get_paths()[0].vertices}
    assert {(10, 0.4), (20, 0.5), (10, 0.6), (20, 0.7)} <= corners


def test_undefined_parts_are_left_out_and_named(ax) -> None:
    progress({"uniform": a_history(np.nan, np.nan, 0.5, 0.6)}, ax=ax)
    assert legend(ax) == ["uniform (undefined below 30)", "90 % interval"]
    drawn = line_of(ax, "uniform (undefined below 30)").get_ydata()
    assert np.isnan(drawn[:2]).all()
    assert drawn[2:].tolist() == [0.5, 0.6]
    (band,) = ax.collections
    assert min(x for path in band.get_paths() for x, _ in path.vertices) == 30


def test_nothing_defined_is_said(ax) -> None:
    progress({"uniform": a_history(np.nan, np.nan)}, truth=0.7, ax=ax)
    assert legend(ax) == ["truth 0.700", "uniform (undefined)"]


def test_a_lone_defined_estimate_is_a_point(ax) -> None:
    progress({"a": a_history(np.nan, 0.5, np.nan)}, ax=ax)
    points = [one for one in ax.get_lines() if one.get_marker() == "o"]
    assert [one.get_xdata().tolist() for one in points] == [[20]]


def test_truth_is_a_line_within_sight(ax) -> None:
    progress({"a": a_history(0.5, 0.5)}, truth=0.9, ax=ax)
    assert legend(ax)[0] == "truth 0.900"
    low, high = ax.get_ylim()
    assert low < 0.4
    assert 0.9 < high <= 1.02


def test_designs_differ_in_colour_and_style(ax) -> None:
    progress({name: a_history(0.5, 0.6) for name in "abc"}, ax=ax)
    lines = [line_of(ax, name) for name in "abc"]
    assert len({line.get_color() for line in lines}) == 3
    assert len({str(line._dash_pattern) for line in lines}) == 3


def test_values_beyond_0_and_1_are_not_cut(ax) -> None:
    progress(a_history(-3.0, 4.0), ax=ax)
    low, high = ax.get_ylim()
    assert low < -3.1
    assert high > 4.1


def test_real_estimates_of_a_study(ax) -> None:
    pool, labels = sd.datasets.synthetic_pool(n=500, prevalence=0.2, rng=0)
    study = sd.create_study(pool, "accuracy", design="uniform", rng=0)
    history = [study.run(labels, budget=20) for _ in range(3)]
    progress({"uniform": history}, ax=ax)
    assert line_of(ax, "uniform").get_xdata().tolist() == [20, 40, 60]
    assert ax.get_ylabel().startswith("accuracy")


@pytest.mark.parametrize("histories", [{}, [], {"a": []}])
def test_no_estimates_is_an_error(histories: object, ax) -> None:
    with pytest.raises(InvalidInput, match="histories="):
        progress(histories, ax=ax)  # type: ignore[arg-type]


def test_several_measures_at_once_are_refused(ax) -> None:
    pool, labels = sd.datasets.synthetic_pool(n=200, prevalence=0.2, rng=0)
    study = sd.create_study(pool, ["precision", "recall"], design="uniform", rng=0)
    with pytest.raises(InvalidInput, match="precision, recall"):
        progress([study.run(labels, budget=50)], ax=ax)


def test_a_study_is_drawn_as_it_was_along_the_way(made: SimpleNamespace, ax) -> None:
    progress(made.strata, ax=ax, points=6)
    wanted = history(made.strata, points=6)
    (line,) = [one for one in ax.get_lines() if one.get_linewidth() > 2]
    assert line.get_xdata().tolist() == [one.n_labels for one in wanted]
    assert line.get_ydata().tolist() == [one.value for one in wanted]
    assert legend(ax) == ["estimate", "95 % interval"]
    last = wanted[-1]
    said = f"{last.ci.low:.2f} to {last.ci.high:.2f} after {last.n_labels} labels"
    assert ax.get_title(loc="left") == f"F1 {said}"


def test_studies_by_name_and_another_measure(made: SimpleNamespace, ax) -> None:
    progress({"a": made.strata, "b": made.items}, ax=ax, measure="recall", points=3)
    assert legend(ax) == ["a", "b", "95 % interval"]
    assert ax.get_ylabel() == "recall"
    assert line_of(ax, "b").get_ydata()[-1] == made.items.estimate("recall").value


def test_of_a_bound_only_its_end_is_drawn(ax) -> None:
    bounds = [
        replace(one, alternative="greater", ci=one.ci._replace(high=1.0)) for one in a_history(0.5, 0.6)
    ]
    progress(bounds, ax=ax)
    assert len(ax.collections) == 0
    ends = [one.get_ydata() for one in ax.get_lines() if one.get_linewidth() < 1]
    assert np.isnan(ends[1]).all()
    assert ends[0].tolist() == [0.4, 0.5]
    assert ax.get_ylabel() == "F1 with 90 % lower bound"
    assert ax.get_ylim()[1] < 0.7


@pytest.mark.parametrize("wrong", ["f1", 3, [0.5, 0.6], {"a": 0.5}, [None]])
def test_what_is_no_history_is_refused(wrong: object, ax) -> None:
    with pytest.raises(InvalidInput, match="histories="):
        progress(wrong, ax=ax)  # type: ignore[arg-type]
    assert not ax.get_lines()


def test_a_study_without_labels_is_refused(ax) -> None:
    pool, _ = sd.datasets.synthetic_pool(n=200, prevalence=0.2, rng=0)
    with pytest.raises(InvalidInput, match="at least one estimate"):
        progress(sd.create_study(pool, rng=0), ax=ax)


# Widths: each line is the width that the study's own estimates have


def a_study(measure: Any = "accuracy", design: str = "auto-audit", labels: int = 60) -> sd.Study:
    pool, answers = small_pool(200)
    study = sd.create_study(pool, measure, design=design, rng=1)
    study.run(answers, budget=labels, batch=5)
    return study


def test_lines_are_the_widths_of_the_estimates(ax: Any) -> None:
    study = a_study()
    widths({"here": study}, ax, intervals=("sequence", "t"), points=6)
    assert legend(ax) == ["here, sequence", "here, t"]
    for line, name in zip(ax.get_lines(), ("sequence", "t"), strict=True):
        expected = history(study, points=6, interval=name)
        np.testing.assert_allclose(line.get_xdata(), [one.n_labels for one in expected])
        np.testing.assert_allclose(line.get_ydata(), [one.ci.high - one.ci.low for one in expected])
    safe, ordinary = (line.get_ydata() for line in ax.get_lines())
    assert (np.diff(safe) <= 1e-9).all()
    assert safe[-1] > ordinary[-1]


def test_one_study_needs_no_name_and_any_interval_will_do(ax: Any) -> None:
    widths(a_study(), ax, intervals=[Sequence(cells=50)], measure="recall", points=3)
    assert legend(ax) == ["sequence"]


def test_what_cannot_be_drawn_is_explained(ax: Any) -> None:
    with pytest.raises(InvalidInput, match="at least one study"):
        widths({}, ax)
    with pytest.raises(InvalidInput, match="intervals= with at least one"):
        widths(a_study(), ax, intervals=())
    with pytest.raises(InvalidInput, match="takes studies"):
        widths({"x": 1}, ax)  # type: ignore[dict-item]
    with pytest.raises(InvalidInput, match="measure='f1'"):
        widths(a_study(["accuracy", "recall"]), ax, points=2)
    with pytest.raises(InvalidInput, match="at least one label"):
        widths(sd.create_study(small_pool(20)[0], "f1", design="auto-audit", rng=1), ax)
    with pytest.raises(NotSupported, match="design='auto-audit'"):
        widths(a_study(design="stratified"), ax, points=2)


# Plans: lines, bands, the width wanted and where it is reached


def test_lines_are_the_expected_widths(made: SimpleNamespace, ax: Any) -> None:
    sd.plot.plan(made.plan, ax)
    by_design, uniform, _ = made.plan.widest()
    for name, width in (("error-curve", by_design), ("uniform", uniform)):
        (line,) = [one for one in ax.get_lines() if one.get_label() == name]
        np.testing.assert_array_equal(line.get_xdata(), made.plan.labels)
        np.testing.assert_array_equal(line.get_ydata(), width[:, 1])


def test_bands_run_from_optimistic_to_pessimistic(made: SimpleNamespace, ax: Any) -> None:
    sd.plot.plan(made.plan, ax)
    by_design, _, _ = made.plan.widest()
    ends = ax.collections[0].get_paths()[0].get_extents()
    assert (ends.ymin, ends.ymax) == pytest.approx((by_design[:, 0].min(), by_design[:, 2].max()))


def test_the_width_wanted_and_where_it_is_reached(made: SimpleNamespace, ax: Any) -> None:
    sd.plot.plan(made.plan, ax)
    assert legend(ax) == ["error-curve", "uniform", "width wanted, 0.05", "optimistic to pessimistic"]
    point = ax.get_lines()[-1]
    assert (point.get_xdata()[0], point.get_ydata()[0]) == (made.plan.needed.expected, 0.05)


def test_a_plan_of_the_uniform_design_has_one_line(made: SimpleNamespace, ax: Any) -> None:
    sd.plot.plan(sd.plan(made.pool, "accuracy", design="uniform", draws=9), ax)
    assert legend(ax) == ["uniform", "optimistic to pessimistic"]


def test_a_single_number_of_labels_is_a_point(made: SimpleNamespace, ax: Any) -> None:
    sd.plot.plan(sd.plan(made.pool, "accuracy", design="stratified", budgets=[100], draws=9), ax)
    (line,) = [one for one in ax.get_lines() if one.get_label() == "stratified"]
    assert line.get_marker() == "o"


def test_what_is_no_plan_is_refused(ax: Any) -> None:
    with pytest.raises(InvalidInput, match=r"plan= takes a Plan \(from sondage\.plan or study\.plan\), not"):
        sd.plot.plan({"f1": 0.1}, ax)  # type: ignore[arg-type]
