"""How plots look, and what they all do: check what they were given, find axes, draw lines, name, explain."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from sondage.errors import InvalidInput, MissingExtra
from sondage.measures import Measure, resolve
from sondage.report.estimate import INTERVALS
from sondage.study import Estimate, Study
from sondage.types import Array, Bools, Floats

Axes = Any
"""``matplotlib.axes.Axes``: matplotlib is optional, so its types are not at hand."""

# Okabe and Ito (2008): told apart with any colour vision; line styles tell them apart in print.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
MARKERS = "osDv"
STYLES = ("-", (0, (3.5, 1.2)), (0, (1.5, 1.2)), (0, (6, 1.5, 1.5, 1.5)))
INK, FAINT, PALE, GRID = "#222222", "#8a8a8a", "#d4d4d4", "#e6e6e6"
AMBER = COLOURS[5]
"""As light as blue is dark: bars in the two are told apart in grey."""
BAND = 0.14
"""Opacity of an interval's band."""

LETTER = 0.56
"""Mean width of a letter, in font sizes."""
LINE = 1.25
"""Distance of two lines of text, in font sizes."""
_SMALL, SMALLEST = 6.5, 5.0
"""Points below which text is hard to read, and cannot be read at all."""
_FOR_NAMES, _MOST_LETTERS = 0.4, 44
"""Share of a figure's width that names of rows may take, and most letters of one."""
_USUAL_EXTENT, _LEAST_SCALE = (250.0, 170.0), 0.7
"""Width and height of axes in points below which letters shrink, and how far they do."""
_BOLD, _TITLE_LINES = 0.62, 3
"""Mean width of a bold letter, in font sizes, and most lines of a title."""
_ROOMY = 150.0
"""Points from which axes have room for many ticks."""
_FOR_TICKS = 4.8
"""Room that the left side of axes takes for numbers, in font sizes."""
_HANDLE, _PAD, _APART = 2.2, 0.6, 1.5
"""Length of a legend's lines, their distance from the text, and that of columns, in font sizes."""


def expect(value: object, kinds: type | tuple[type, ...], said: str) -> None:
    """Refuse what is of another kind: ``said`` is what the argument takes."""
    if not isinstance(value, kinds):
        raise InvalidInput(f"{said}, not {type(value).__name__}")


def estimated(
    study: Study, measure: str | Measure | None, checked: Callable[[Any], Measure]
) -> tuple[Estimate, Measure]:
    """A study's estimate of a measure that the plot can draw (by default its own), and the measure, bound."""
    bound = checked(study.measure if measure is None else resolve(measure)).bind(study.pool)
    return study.estimate(bound), bound


def called(measure: Any) -> str:
    """The name of a measure that cannot be drawn, for an error."""
    return repr(getattr(measure, "alias", measure) or type(measure).__name__)


def axes_for(ax: Axes | None) -> Axes:
    """The axes given, or the current ones of pyplot.

    A new figure gets the layout that makes room for labels, whatever their length.
    """
    if ax is not None:
        if not hasattr(ax, "set_xlim"):
            raise InvalidInput(f"ax= takes axes of matplotlib, not {type(ax).__name__}")
        return _lettered(ax)
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise MissingExtra("matplotlib", "plot", "a plot") from error
    figure = pyplot.gcf()
    if not figure.axes and figure.get_layout_engine() is None:
        figure.set_layout_engine("constrained")
    return _lettered(pyplot.gca())


def _lettered(ax: Axes) -> Axes:
    """Axes with smaller letters where they are small: a plot on a phone is more than its words."""
    scale = min(one / usual for one, usual in zip(extent(ax), _USUAL_EXTENT, strict=True))
    if scale < 1:
        size = max(scale, _LEAST_SCALE) * _points("axes.labelsize")
        for axis in (ax.xaxis, ax.yaxis):
            axis.label.set_fontsize(size)
        ax.tick_params(labelsize=size)
    return ax


def _points(setting: str) -> float:
    """A size of matplotlib's settings, in points."""
    from matplotlib import rcParams
    from matplotlib.font_manager import FontProperties

    return float(FontProperties(size=rcParams[setting]).get_size_in_points())


def colour(k: int) -> str:
    """The colour of the k-th series; colours come round again after the last."""
    return COLOURS[k % len(COLOURS)]


def style(k: int) -> Any:
    """The k-th style of a line."""
    return STYLES[k % len(STYLES)]


def banded(
    ax: Axes,
    k: int,
    label: str,
    x: Array,
    value: Array,
    low: Array,
    high: Array,
    *,
    ends: bool = False,
    **line: Any,
) -> Any:
    """A line over its band in the k-th colour and style; with ``ends`` the band has an outline."""
    if (np.isfinite(low) & np.isfinite(high)).any():
        ax.fill_between(x, low, high, color=colour(k), alpha=BAND, linewidth=0, zorder=1)
    for end in (low, high) if ends else ():
        ax.plot(x, end, color=colour(k), linestyle=style(k), alpha=0.6, linewidth=0.8)
    looks = {"color": colour(k), "linestyle": style(k), "linewidth": 1.8, "zorder": 2, **line}
    (drawn,) = ax.plot(x, value, label=label, **looks)
    return drawn


def shade(label: str, colour: str = FAINT, opacity: float = 2 * BAND) -> Any:
    """What shading means, for a legend: in no line's colour where it stands for several bands."""
    from matplotlib.patches import Patch

    return Patch(color=colour, alpha=opacity, linewidth=0, label=label)


def key(label: str, marker: str, **looks: Any) -> Any:
    """What a marker means, for a legend."""
    from matplotlib.lines import Line2D

    return Line2D(
        [], [], label=label, marker=marker, **{"color": FAINT, "linestyle": "", "markersize": 5, **looks}
    )


def dots(
    ax: Axes, x: Array, y: Array, area: Array, hollow: Bools, colour: str, zorder: int, marker: str = "o"
) -> None:
    """Dots of some areas; hollow ones stand for 0, which a log scale has no place for."""
    ax.scatter(
        x,
        y,
        s=area,
        marker=marker,
        facecolors=np.where(hollow, "white", colour),
        edgecolors=np.where(hollow, colour, "white"),
        linewidths=0.8,
        clip_on=False,
        zorder=zorder,
    )


def finish(
    ax: Axes,
    x: str,
    y: str,
    handles: Sequence[Any],
    title: str,
    *,
    grid: Literal["x", "y", "both"] = "y",
) -> Axes:
    """Quiet axes with lines only where values are read, their names, the legend, and above it the finding.

    With ``grid="x"`` rows are read: their names need no line beside them.
    """
    ax.grid(axis=grid, color=GRID, linewidth=0.8)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    for side, along in (("left", "y"), ("bottom", "x")):
        shown = grid == "both" or (grid == "y" and along == "x")
        ax.spines[side].set_visible(shown)
        ax.spines[side].set_color(FAINT)
        ax.tick_params(axis=along, labelcolor=INK, color=FAINT, length=3 if shown else 0)
    name_axis(ax, "x", x)
    name_axis(ax, "y", y)
    legend_above(ax, handles, "right" if grid == "x" else "left")
    headline(ax, title)
    return ax


def headline(ax: Axes, text: str) -> None:
    """The finding, above the legend; a title that somebody gave to the axes stays alone."""
    if ax.get_title():
        return
    size = float(ax.yaxis.label.get_fontsize())
    letters = max(int(_room(ax, "left") / (_BOLD * size)), 16)
    text = textwrap.shorten(text, _TITLE_LINES * (letters - 5), placeholder=" ...")
    legend, pad = ax.get_legend(), 0.5 * size
    if legend is not None:
        pad += float(legend.get_window_extent().height) * 72.0 / float(ax.figure.dpi)
    ax.set_title(_even(text, letters), loc="left", pad=pad, size=size, weight="bold", color=INK)


def in_percent(axis: Any) -> None:
    """Shares on an axis as percentages."""
    axis.set_major_formatter(lambda share, _: f"{100 * share:,.6g} %")


def unit_square(ax: Axes, margin: float = 0.01) -> None:
    """Two shares against each other, from 0 to 1, on one scale."""
    from matplotlib.ticker import MultipleLocator

    ax.set_xlim(-margin, 1 + margin)
    ax.set_ylim(-margin, 1 + margin)
    ax.set_aspect("equal")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MultipleLocator(0.25 if min(extent(ax)) > _ROOMY else 0.5))
        axis.set_major_formatter("{x:g}")


def diagonal(ax: Axes, label: str | None = None) -> Any:
    """The line on which both axes are equal, drawn faintly for reference."""
    (line,) = ax.plot([0, 1], [0, 1], color=FAINT, linewidth=1, linestyle=(0, (4, 3)), zorder=1, label=label)
    return line


def extent(ax: Axes) -> tuple[float, float]:
    """Width and height of the axes, in points."""
    box, scale = ax.get_window_extent(), 72.0 / float(ax.figure.dpi)
    return float(box.width) * scale, float(box.height) * scale


def name_axis(ax: Axes, along: Literal["x", "y"], text: str) -> None:
    """The name of an axis, on as many lines as it needs."""
    axis = ax.xaxis if along == "x" else ax.yaxis
    letters = max(int(extent(ax)[along == "y"] / (LETTER * axis.label.get_fontsize())), 10)
    axis.set_label_text(_even(text, letters), color=INK)


def _even(text: str, letters: int) -> str:
    """As few lines as there must be, of about the same length: no last word on a line of its own.

    >>> _even("chance of being asked, against a uniform sample", 34).split("\\n")
    ['chance of being asked,', 'against a uniform sample']
    """
    lines = len(textwrap.wrap(text, letters))
    lengths = range(max(len(text) // max(lines, 1), 1), letters)
    least = next((n for n in lengths if len(textwrap.wrap(text, n)) <= lines), letters)
    return textwrap.fill(text, least)


def legend_above(ax: Axes, handles: Sequence[Any], align: Literal["left", "right"] = "left") -> None:
    """A legend between the axes and the upper edge, in as many columns as there is room for.

    It shrinks before it takes more than a quarter of the height.
    """
    handles = [handle for handle in handles if handle.get_label() and handle.get_label()[0] != "_"]
    if not handles:
        return
    usual = min(_points("legend.fontsize"), float(ax.yaxis.label.get_fontsize()))
    letters = [len(handle.get_label()) for handle in handles]
    room, height = _room(ax, align), extent(ax)[1]
    for size in np.linspace(usual, min(_SMALL, usual), 6):
        columns = _columns(letters, room / float(size))
        rows = math.ceil(len(handles) / columns)
        if rows == 1 or rows * LINE * size <= height / 4:
            break
    ax.legend(
        handles=handles,
        loc=f"lower {align}",
        bbox_to_anchor=(0.0 if align == "left" else 1.0, 1.0),
        ncols=columns,
        fontsize=float(size),
        frameon=False,
        handlelength=_HANDLE,
        handletextpad=_PAD,
        columnspacing=_APART,
        labelspacing=0.3,
        borderaxespad=0.2,
        borderpad=0.2,
    )


def paper(ax: Axes) -> tuple[float, float]:
    """Width and height of the figure (or the part of one) that the axes are on, in points."""
    box, scale = ax.figure.bbox, 72.0 / float(ax.figure.dpi)
    return float(box.width) * scale, float(box.height) * scale


def _room(ax: Axes, align: str) -> float:
    """Points from the edge of the axes to the other side of the figure, or of the axes if not alone."""
    width, height = extent(ax)
    side = min(width, height) if ax.get_aspect() == 1.0 else width
    if len(ax.figure.axes) > 1:
        return side
    whole, scale = paper(ax)[0], 72.0 / float(ax.figure.dpi)
    left = float(ax.get_window_extent().x0 - ax.figure.bbox.x0) * scale
    if align == "right":
        return min(left + width, whole - 8.0)
    # Square axes stand in the middle of their place; a layout will move small axes away from their names.
    name = ax.yaxis.label
    lines = name.get_text().count("\n") + 1 if name.get_text() else 0
    rows = [(len(one.get_text()) + 1) * LETTER * one.get_fontsize() for one in ax.get_yticklabels()]
    size = float(name.get_fontsize())
    names = float(max([_FOR_TICKS * size, *rows])) + LINE * lines * size
    return whole - max(left + (width - side) / 2, names) - 4.0


def _columns(letters: Sequence[int], room: float) -> int:
    """As many columns as fit, the room being in font sizes; matplotlib fills column by column."""
    for columns in range(len(letters), 1, -1):
        longest = [max(column) for column in np.array_split(letters, columns)]
        if sum(longest) * LETTER + columns * (_HANDLE + _PAD + _APART) - _APART <= room:
            return columns
    return 1


def row_names(ax: Axes, names: Sequence[str]) -> float:
    """A name beside each row 0, 1, 2, ..., the first on top, as large as there is room for; that size.

    Where even small letters have no room, long names are shortened, and only every second, third, ... row
    is named.
    """
    rows = len(names)
    usual = float(ax.yaxis.get_label().get_fontsize())
    high = min(usual, extent(ax)[1] / rows / LINE)
    step = 1 if high >= SMALLEST else math.ceil(SMALLEST / high)
    width = _FOR_NAMES * paper(ax)[0]
    if len(ax.figure.axes) > 1:
        width = min(width, extent(ax)[0])
    longest = min(max(len(name) for name in names), _MOST_LETTERS)
    size = max(min(high, max(width / (LETTER * longest), _SMALL)), SMALLEST)
    letters = max(min(_MOST_LETTERS, round(width / (LETTER * size))), 8)
    ax.set_ylim(rows - 0.5, -0.5)
    ax.set_yticks(range(0, rows, step), all_shortened(names, letters)[::step], fontsize=size)
    return size


def shortened(text: str, letters: int) -> str:
    """The text, cut where it would not fit and marked with dots.

    >>> shortened("a long name", 8)
    'a lon...'
    """
    return text if len(text) <= letters else text[: letters - 3] + "..."


def all_shortened(names: Sequence[str], letters: int) -> list[str]:
    """Names cut where they would not fit; inside, and both of a pair, where fewer of them are then alike.

    >>> all_shortened(["llama-70b - llama-13b", "llama-70b - llama-7b", "gpt"], 17)
    ['ll...0b - ll...3b', 'll...0b - ll...7b', 'gpt']
    """
    ends = [shortened(name, letters) for name in names]
    inside = [" - ".join(_cut_inside(name.split(" - "), letters)) for name in names]
    return inside if len(set(inside)) > len(set(ends)) else ends


def _cut_inside(parts: Sequence[str], letters: int) -> Sequence[str]:
    """Each part with its beginning and its end, where they do not fit together."""
    if len(" - ".join(parts)) <= letters:
        return parts
    each = max((letters + 3) // len(parts) - 3, 5)
    head = (each - 3) // 2
    tail = each - 3 - head
    return [one if len(one) <= each else f"{one[:head]}...{one[-tail:]}" for one in parts]


def span(values: Floats) -> tuple[float, float] | None:
    """Ends of an axis that shows all values; an axis of shares ends just beyond 0 and 1.

    >>> span(np.array([0.5, 1.0, np.nan]))
    (0.475, 1.02)
    """
    seen = values[np.isfinite(values)]
    if not len(seen):
        return None
    low, high = float(seen.min()), float(seen.max())
    margin = 0.05 * (high - low) or 0.05
    if low >= 0 and high <= 1:
        return max(low - margin, -0.02), min(high + margin, 1.02)
    return low - margin, high + margin


def measured(name: str) -> str:
    """A measure's name as people write it."""
    return "F1" if name == "f1" else name


def level_words(estimate: Estimate) -> str:
    """``95 % interval``."""
    return f"{100 * estimate.confidence_level:g} % {INTERVALS[estimate.alternative]}"


def ends(estimate: Estimate) -> tuple[Floats, Floats, Floats]:
    """(m,) values and ends of the intervals; nan for an end that was not asked for."""
    value, low, high = (
        np.atleast_1d(np.asarray(one, dtype=np.float64))
        for one in (estimate.value, estimate.ci.low, estimate.ci.high)
    )
    if estimate.alternative == "greater":
        high = np.full(len(value), np.nan)
    if estimate.alternative == "less":
        low = np.full(len(value), np.nan)
    return value, low, high
