"""The looks: limits, names that fit, legends that fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.plot.axes import legend, new_axes

from sondage.plot import style

numbers = st.floats(-1e6, 1e6, allow_subnormal=False)


@given(st.lists(numbers, min_size=1, max_size=20))
def test_a_span_holds_all_values(values: list[float]) -> None:
    found = style.span(np.array([*values, np.nan, np.inf]))
    assert found is not None
    assert found[0] < min(values) <= max(values) < found[1]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_a_span_of_shares_stays_near_0_and_1(values: list[float]) -> None:
    found = style.span(np.array(values))
    assert found is not None
    assert -0.02 <= found[0] < found[1] <= 1.02


def test_nothing_finite_has_no_span() -> None:
    assert style.span(np.array([np.nan, np.inf])) is None


@given(st.lists(st.integers(1, 60), min_size=1, max_size=9), st.floats(10, 200))
def test_columns_of_a_legend_fit(letters: list[int], room: float) -> None:
    def width(columns: int) -> float:
        longest = [max(one) for one in np.array_split(letters, columns)]
        return sum(longest) * style.LETTER + columns * 4.3 - 1.5

    found = style._columns(letters, room)
    assert found == 1 or width(found) <= room + 1e-9
    assert all(width(more) > room for more in range(found + 1, len(letters) + 1))


def test_colours_and_styles_come_round() -> None:
    assert style.colour(0) != style.colour(1)
    assert style.colour(len(style.COLOURS)) == style.colour(0)
    assert style.style(len(style.STYLES)) == style.style(0)


def contrast(colour: str) -> float:
    """WCAG contrast against white."""
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 1.05 / (0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] + 0.05)


def test_text_can_be_read_and_the_first_lines_be_seen() -> None:
    assert contrast(style.INK) > 7
    assert contrast(style.FAINT) > 3
    assert all(contrast(one) >= 3 for one in style.COLOURS[:3])


@pytest.mark.parametrize("rows", [1, 5, 40, 300])
def test_names_of_rows_do_not_overlap(rows: int) -> None:
    ax = new_axes()
    size = style.row_names(ax, [f"row {k}" for k in range(rows)])
    assert size >= style.SMALLEST
    ax.figure.canvas.draw()
    boxes = sorted((one.get_window_extent() for one in ax.get_yticklabels()), key=lambda box: box.y0)
    middles = [(box.y0 + box.y1) / 2 for box in boxes]
    points = np.diff(middles) * 72 / ax.figure.dpi
    assert (points >= 0.95 * size).all()
    assert ax.get_ylim() == (rows - 0.5, -0.5)


def test_long_names_are_shortened_on_narrow_axes() -> None:
    wide, narrow = new_axes(10, 5), new_axes(2.5, 2)
    shown = []
    for ax in (wide, narrow):
        style.row_names(ax, ["x" * 40, "short"])
        shown.append([one.get_text() for one in ax.get_yticklabels()])
    assert shown[0] == ["x" * 40, "short"]
    assert shown[1][0].endswith("...")
    assert shown[1][1] == "short"


def test_a_long_name_of_an_axis_is_broken() -> None:
    ax = new_axes(3, 2)
    style.name_axis(ax, "y", "a rather long name that says a lot")
    assert "\n" in ax.get_ylabel()
    assert ax.get_ylabel().replace("\n", " ") == "a rather long name that says a lot"


def test_a_legend_leaves_out_what_has_no_name(ax: Any) -> None:
    (one,) = ax.plot([0, 1], label="one")
    (none,) = ax.plot([1, 0], label="_hidden")
    style.legend_above(ax, [one, none])
    assert legend(ax) == ["one"]


def test_no_legend_for_nothing(ax: Any) -> None:
    style.legend_above(ax, [])
    assert ax.get_legend() is None


def test_a_legend_shrinks_before_it_takes_the_paper() -> None:
    sizes = []
    for ax in (new_axes(8, 6), new_axes(2.5, 2)):
        lines = [ax.plot([0, 1], label=f"a line called {k}")[0] for k in range(6)]
        style.legend_above(ax, lines)
        sizes.append(ax.get_legend().get_texts()[0].get_fontsize())
    assert sizes[1] < sizes[0] == 10
