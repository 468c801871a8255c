"""Plots: functions that take axes and return them, so that they fit into anybody's figure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sondage.errors import InvalidInput, MissingExtra
from sondage.study.estimate import Estimate
from sondage.types import Floats

Axes = Any
"""``matplotlib.axes.Axes``: matplotlib is optional, so its types are not at hand."""

# Okabe and Ito (2008): told apart with any colour vision; line styles tell them apart in print.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
_STYLES = ("-", (0, (3.5, 1.2)), (0, (1.5, 1.2)), (0, (6, 1.5, 1.5, 1.5)))
_INK, _FAINT = "#222222", "#8a8a8a"

_WORTH_SAYING = 0.1
"""Share of the labels for which an estimate may be undefined before the legend says so."""
_LEGEND_CHARACTERS = 68
"""What fits beside each other above axes of ordinary size."""


def plot_progress(
    histories: Mapping[str, Sequence[Estimate]] | Sequence[Estimate],
    truth: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Estimate and interval against labels spent: how fast does it settle, and on what?

    Parameters
    ----------
    histories
        Estimates in the order they were made, by the name to show in the legend; or the estimates
        of one study. Where an estimate is undefined nothing is drawn.
    truth
        Drawn as a horizontal line, where it is known.
    ax
        Axes to draw on; the current ones of ``matplotlib.pyplot`` if none are given.

    Returns
    -------
    ax
        The same axes.
    """
    named = histories if isinstance(histories, Mapping) else {"": histories}
    if not named or not all(len(history) for history in named.values()):
        raise InvalidInput("histories= needs at least one estimate for every name")
    ax = _axes() if ax is None else ax
    handles = []
    if truth is not None:
        (line,) = ax.plot([], [], color=_INK, linewidth=1.2, label=f"truth {truth:.3f}")
        ax.axhline(truth, color=_INK, linewidth=1.2, zorder=1.5)
        handles.append(line)
    for k, (name, history) in enumerate(named.items()):
        line = _draw(ax, name, history, _COLOURS[k % len(_COLOURS)], _STYLES[k % len(_STYLES)])
        if name:
            handles.append(line)
    _dress(ax, [one for history in named.values() for one in history], truth)
    if handles:
        letters = sum(len(handle.get_label()) + 8 for handle in handles)
        ax.legend(
            handles=handles,
            loc="lower left",
            bbox_to_anchor=(0.0, 1.0),
            ncols=max(1, len(handles) // math.ceil(letters / _LEGEND_CHARACTERS)),
            frameon=False,
            handlelength=2.4,
            borderaxespad=0.2,
            columnspacing=1.8,
        )
    return ax


def _axes() -> Axes:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise MissingExtra("matplotlib", "plot", "a plot") from error
    return pyplot.gca()


def _columns(history: Sequence[Estimate]) -> tuple[Floats, Floats, Floats, Floats]:
    """Labels, value and ends of the interval; nan where undefined."""
    for one in history:
        if len(one.names) != 1:
            raise InvalidInput(
                f"histories= holds estimates of several measures at once ({', '.join(one.names)}): "
                "pass those of one, such as study.estimate('f1')"
            )
    rows = [(one.n_labels, one.value, one.ci.low, one.ci.high) for one in history]
    labels, value, low, high = np.array(rows, dtype=np.float64).T
    return labels, value, low, high


def _draw(ax: Axes, name: str, history: Sequence[Estimate], colour: str, style: Any) -> Any:
    labels, value, low, high = _columns(history)
    defined = np.isfinite(value)
    band = defined & np.isfinite(low) & np.isfinite(high)
    if not defined.any():
        name += " (undefined)"
    elif not defined[0] and labels[np.argmax(defined)] > _WORTH_SAYING * labels[-1]:
        name += f" (undefined below {labels[np.argmax(defined)]:,.0f})"
    ax.fill_between(labels, low, high, where=band, color=colour, alpha=0.14, linewidth=0, zorder=1)
    for end in (low, high):
        ax.plot(labels, np.where(band, end, np.nan), color=colour, alpha=0.45, linewidth=0.8)
    (line,) = ax.plot(
        labels,
        np.where(defined, value, np.nan),
        color=colour,
        linestyle=style,
        linewidth=2.2,
        solid_capstyle="round",
        label=name,
        zorder=2,
    )
    # A defined estimate between undefined ones makes no line: show it as a point.
    before = np.concatenate([[False], defined[:-1]])
    after = np.concatenate([defined[1:], [False]])
    alone = defined & ~before & ~after
    if alone.any():
        ax.errorbar(
            labels[alone],
            value[alone],
            yerr=np.nan_to_num(np.stack([value - low, high - value])[:, alone]),
            fmt="o",
            color=colour,
            markersize=5,
            elinewidth=1,
        )
    return line


def _dress(ax: Axes, estimates: Sequence[Estimate], truth: float | None) -> None:
    first = estimates[0]
    ends = [np.array([one.value, one.ci.low, one.ci.high], dtype=np.float64) for one in estimates]
    seen = np.concatenate([*ends, [] if truth is None else [truth]])
    seen = seen[np.isfinite(seen)]
    if len(seen):
        low, high = float(seen.min()), float(seen.max())
        margin = 0.05 * (high - low) or 0.05
        # A share stays a share: no empty paper far beyond 0 and 1.
        inside = low >= 0 and high <= 1
        edge = 0.02
        ax.set_ylim(
            max(low - margin, -edge) if inside else low - margin,
            min(high + margin, 1 + edge) if inside else high + margin,
        )
    ax.set_xlim(0, 1.01 * max(one.n_labels for one in estimates))
    ax.set_xlabel("labels spent", color=_INK)
    name = "F1" if first.names[0] == "f1" else first.names[0]
    ax.set_ylabel(f"{name} with {100 * first.confidence_level:g} % interval", color=_INK)
    ax.grid(axis="y", color="#e6e6e6", linewidth=0.8)
    ax.set_axisbelow(True)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.spines["bottom"].set_color(_FAINT)
    ax.tick_params(length=0, labelcolor=_INK, axis="y")
    ax.tick_params(color=_FAINT, labelcolor=_INK, axis="x")
    ax.xaxis.set_major_formatter("{x:,.0f}")
