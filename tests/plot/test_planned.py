"""The plot of a plan: lines, bands, the width wanted and where it is reached."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.plot.axes import legend

import sondage as sd
from sondage.errors import InvalidInput


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
    assert legend(ax) == ["error-curve", "uniform", "wanted 0.05"]
    point = ax.get_lines()[-1]
    assert (point.get_xdata()[0], point.get_ydata()[0]) == (made.plan.needed.expected, 0.05)


def test_a_plan_of_the_uniform_design_has_one_line(made: SimpleNamespace, ax: Any) -> None:
    sd.plot.plan(sd.plan(made.pool, "accuracy", design="uniform", draws=9), ax)
    assert legend(ax) == ["uniform"]


def test_a_single_number_of_labels_is_a_point(made: SimpleNamespace, ax: Any) -> None:
    sd.plot.plan(sd.plan(made.pool, "accuracy", design="stratified", budgets=[100], draws=9), ax)
    (line,) = [one for one in ax.get_lines() if one.get_label() == "stratified"]
    assert line.get_marker() == "o"


def test_what_is_no_plan_is_refused(ax: Any) -> None:
    with pytest.raises(InvalidInput, match=r"plan= takes a Plan \(from sondage\.plan or study\.plan\), not"):
        sd.plot.plan({"f1": 0.1}, ax)  # type: ignore[arg-type]
