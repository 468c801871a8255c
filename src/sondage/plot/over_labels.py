"""Estimates against labels: how fast an evaluation settles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sondage.errors import InvalidInput
from sondage.measures import Measure
from sondage.plot import style
from sondage.plot.style import Axes
from sondage.report.past import history
from sondage.study import Estimate, Study
from sondage.types import Floats

Source = Study | Sequence[Estimate]

_WORTH_SAYING = 0.1
"""Share of the labels for which an estimate may be undefined before the legend says so."""


def progress(
    histories: Mapping[str, Source] | Source,
    truth: float | None = None,
    ax: Axes | None = None,
    *,
    measure: str | Measure | None = None,
    points: int = 40,
) -> Axes:
    """Estimate and interval against labels spent: how fast does it settle, and on what?

    Parameters
    ----------
    histories
        A study, or its estimates in the order they were made; or several of either, by the name to show in
        the legend. A study is estimated again as of earlier labels (``sondage.report.history``). Where an
        estimate is undefined nothing is drawn.
    truth
        Drawn as a horizontal line, where it is known.
    ax
        Axes to draw on; the current ones of ``matplotlib.pyplot`` if none are given.
    measure
        What to estimate from studies, if not their own measure.
    points
        How often to estimate a study, at most.

    Returns
    -------
    ax
        The same axes.

    >>> from matplotlib.figure import Figure
    >>> import sondage as sd
    >>> pool, labels = sd.datasets.synthetic_pool(n=2000, prevalence=0.2, rng=0)
    >>> study = sd.create_study(pool, "f1", rng=0)
    >>> last = study.run(labels, budget=200)
    >>> sd.plot.progress(study, ax=Figure().add_subplot()).get_xlabel()
    'labels spent'
    """
    named = histories if isinstance(histories, Mapping) else {"": histories}
    estimates = {name: _estimates(one, measure, points) for name, one in named.items()}
    if not estimates or not all(estimates.values()):
        raise InvalidInput("histories= needs at least one estimate for every name (a study: one label)")
    columns = {name: _columns(one) for name, one in estimates.items()}
    ax = style.axes_for(ax)
    handles = []
    if truth is not None:
        (line,) = ax.plot([], [], color=style.INK, linewidth=1.2, label=f"truth {truth:.3f}")
        ax.axhline(truth, color=style.INK, linewidth=1.2, zorder=1.5)
        handles.append(line)
    for k, (name, numbers) in enumerate(columns.items()):
        line = _draw(ax, name, numbers, style.colour(k), style.style(k))
        if name:
            handles.append(line)
    _dress(ax, next(iter(estimates.values()))[0], list(columns.values()), truth)
    style.legend_above(ax, handles)
    return ax


def _estimates(source: Any, measure: str | Measure | None, points: int) -> list[Estimate]:
    if isinstance(source, Study):
        return history(source, measure, points=points)
    if isinstance(source, Estimate):
        source = [source]
    if isinstance(source, str) or not isinstance(source, Sequence):
        raise InvalidInput(f"histories= takes studies, or lists of estimates, not {type(source).__name__}")
    for one in source:
        if not isinstance(one, Estimate):
            raise InvalidInput(f"histories= holds {one!r}, which is no estimate: pass study.estimate()")
    return list(source)


def _columns(estimates: Sequence[Estimate]) -> tuple[Floats, Floats, Floats, Floats]:
    """Labels, value and ends of the interval; nan where undefined."""
    for one in estimates:
        if len(one.names) != 1:
            first = one.names if len(one.names) <= 4 else (*one.names[:4], "...")
            raise InvalidInput(
                f"histories= holds estimates of several measures at once ({', '.join(first)}): "
                "pass those of one, such as study.estimate('f1'), or a study and measure='f1'"
            )
    labels = np.array([one.n_labels for one in estimates], dtype=np.float64)
    value, low, high = (np.concatenate(one) for one in zip(*map(style.ends, estimates), strict=True))
    return labels, value, low, high


def _draw(
    ax: Axes, name: str, columns: tuple[Floats, Floats, Floats, Floats], colour: str, line_style: Any
) -> Any:
    labels, value, low, high = columns
    defined = np.isfinite(value)
    band = defined & np.isfinite(low) & np.isfinite(high)
    if not defined.any():
        name += " (undefined)"
    elif not defined[0] and labels[np.argmax(defined)] > _WORTH_SAYING * labels[-1]:
        name += f" (undefined below {labels[np.argmax(defined)]:,.0f})"
    if band.any():
        ax.fill_between(labels, low, high, where=band, color=colour, alpha=style.BAND, linewidth=0, zorder=1)
    for end in (low, high):
        seen = np.where(defined & np.isfinite(end), end, np.nan)
        ax.plot(labels, seen, color=colour, alpha=0.45, linewidth=0.8)
    (line,) = ax.plot(
        labels,
        np.where(defined, value, np.nan),
        color=colour,
        linestyle=line_style,
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
        arms = np.stack([value - low, high - value])[:, alone]
        ax.errorbar(
            labels[alone],
            value[alone],
            yerr=np.where(np.isfinite(arms), arms, 0.0),
            fmt="o",
            color=colour,
            markersize=5,
            elinewidth=1,
        )
    return line


def _dress(ax: Axes, first: Estimate, columns: Sequence[tuple[Floats, ...]], truth: float | None) -> None:
    shown = [one for numbers in columns for one in numbers[1:]]
    limits = style.span(np.concatenate([*shown, [] if truth is None else [truth]]))
    if limits is not None:
        ax.set_ylim(*limits)
    ax.set_xlim(0, 1.01 * max(float(numbers[0].max()) for numbers in columns))
    style.name_axis(ax, "x", "labels spent")
    style.name_axis(ax, "y", style.with_interval(first.names[0], first))
    style.dress(ax)
    ax.xaxis.set_major_formatter("{x:,.0f}")
