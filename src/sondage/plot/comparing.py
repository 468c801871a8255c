"""Systems compared: differences with their intervals, and who beats whom."""

from __future__ import annotations

from typing import Any

import numpy as np

from sondage.plot import style
from sondage.plot.intervals import draw_rows
from sondage.plot.style import Axes
from sondage.study.comparing.result import Comparison, Comparisons

_WORDS = ("surely better", "not told apart", "surely worse")
_SHADES = (style.COLOURS[0], style.GRID, style.COLOURS[1])
_MARKS = ("+", "", "\N{MINUS SIGN}")
_MOST = 40
"""Pairs beyond which a forest has no room for all; the closest ones are shown."""


def pairs(comparison: Comparison | Comparisons, ax: Axes | None = None, *, most: int = _MOST) -> Axes:
    """One row per pair of systems: the difference, and its interval as a line; on one side of 0, it is sure.

    Parameters
    ----------
    comparison
        ``study.compare()``, of two systems or of many. Intervals of many hold for all pairs together.
    ax
        Axes to draw on, which are returned; by default the current ones of ``matplotlib.pyplot``.
    most
        Pairs to show, of many those that are closest.

    >>> from matplotlib.figure import Figure
    >>> import sondage as sd
    >>> votes = {"a": [0, 1, 1, 0], "b": [0, 1, 0, 1]}
    >>> pool = sd.Pool.from_arrays(systems={name: {"prediction": said} for name, said in votes.items()})
    >>> study = sd.create_study(pool, "accuracy", objective=sd.Compare("a", "b"), rng=1)
    >>> last = study.run({0: 0, 1: 1, 2: 1, 3: 0}, budget=4)
    >>> ax = sd.plot.pairs(study.compare(), Figure().add_subplot())
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['a - b']
    """
    _checked(comparison)
    if isinstance(comparison, Comparison):
        est = comparison.difference
        value, low, high = style.ends(est)
        names, measure = [" - ".join(comparison.systems)], est.names[0].split(":")[0]
    else:
        # The greater value comes first, so that differences are above 0; the closest pairs on top.
        turn = np.where(comparison.difference < 0, -1.0, 1.0)
        ends = np.sort([turn * comparison.low, turn * comparison.high], axis=0)
        value = turn * comparison.difference
        order = np.argsort(value, kind="stable")[:most]
        value, low, high = value[order], ends[0][order], ends[1][order]
        places = [comparison.places[k][:: int(turn[k])] for k in order.tolist()]
        names = [f"{comparison.systems[i]} - {comparison.systems[j]}" for i, j in places]
        measure = comparison.facts["measure"]
    ax = style.axes_for(ax)
    size = style.row_names(ax, names)
    ax.set_xlim(*(style.span(np.concatenate([value, low, high, [-1e-9, 0.0]])) or (-1.0, 1.0)))
    ax.axvline(0.0, color=style.INK, linewidth=1, linestyle=style.STYLES[2], zorder=1)
    draw_rows(ax, value, low, high, size)
    together = " (all pairs together)" if len(comparison.systems) > 2 else ""
    level = f"{100 * (1 - comparison.alpha):g} % interval{together}"
    return style.finish(
        ax, f"difference of {style.measured(measure)}, {level}", "", [], _title(comparison), grid="x"
    )


def wins(comparison: Comparison | Comparisons, ax: Axes | None = None) -> Axes:
    """Who beats whom: a row is surely better, or worse, than a column, or the labels do not tell.

    Parameters
    ----------
    comparison
        ``study.compare()``, of two systems or of many; those that look best come first.
    ax
        Axes to draw on, which are returned; by default the current ones of ``matplotlib.pyplot``.

    >>> from matplotlib.figure import Figure
    >>> import sondage as sd
    >>> votes = {"a": [0, 1, 1, 0], "b": [0, 1, 0, 1]}
    >>> pool = sd.Pool.from_arrays(systems={name: {"prediction": said} for name, said in votes.items()})
    >>> study = sd.create_study(pool, "accuracy", objective=sd.Compare("a", "b"), rng=1)
    >>> last = study.run({0: 0, 1: 1, 2: 1, 3: 0}, budget=4)
    >>> ax = sd.plot.wins(study.compare(), Figure().add_subplot())
    >>> [text.get_text() for text in ax.texts]
    ['+', '−']
    """
    _checked(comparison)
    names, told = _told(comparison)
    ax = style.axes_for(ax)
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    k = len(names)
    ax.set_aspect("equal")
    shown = np.ma.masked_array(1 - told, mask=np.eye(k, dtype=bool))
    ax.pcolormesh(shown, cmap=ListedColormap(_SHADES), vmin=0, vmax=2, edgecolors="white", linewidth=1.0)
    ax.set_xlim(0, k)
    size = style.row_names(ax, names)
    ax.set_ylim(k, 0)
    ticks, texts = ax.get_yticks(), [one.get_text() for one in ax.get_yticklabels()]
    ax.set_yticks(np.asarray(ticks) + 0.5, texts, fontsize=size)
    ax.set_xticks(np.asarray(ticks) + 0.5, texts, fontsize=size, rotation=90)
    for i, j in np.argwhere(told != 0).tolist():
        mark = _MARKS[1 - told[i, j]]
        ax.text(j + 0.5, i + 0.5, mark, ha="center", va="center", color="white", size=size)
    handles = [Patch(color=shade, label=word) for shade, word in zip(_SHADES, _WORDS, strict=True)]
    style.finish(ax, "than this system", "this system is", handles, _title(comparison), grid="x")
    ax.grid(visible=False)
    return ax


def _checked(comparison: Any) -> None:
    style.expect(comparison, (Comparison, Comparisons), "comparison= takes study.compare()")


def _told(comparison: Comparison | Comparisons) -> tuple[list[str], Any]:
    """Systems, those that look best first, and (k, k) 1 where a row is surely better, -1 where worse."""
    if isinstance(comparison, Comparison):
        ahead = np.array([[name == comparison.winner] * 2 for name in comparison.systems])
        np.fill_diagonal(ahead, val=False)
        lead = comparison.sign * np.array([0.0, -float(np.nan_to_num(comparison.difference.value))])
    else:
        ahead, lead = comparison.ahead, comparison.sign * np.nan_to_num(comparison.lead)
    order = np.argsort(-lead, kind="stable")
    told = ahead.astype(int) - ahead.T.astype(int)
    return [comparison.systems[i] for i in order], told[np.ix_(order, order)]


def _title(comparison: Comparison | Comparisons) -> str:
    """Who wins, in a few words."""
    return f"{comparison.winner} is the best" if comparison.winner else "No winner yet"
