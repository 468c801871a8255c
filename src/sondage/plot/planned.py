"""A plan: how wide the interval will be, against the labels that it takes."""

from __future__ import annotations

from typing import Any

import numpy as np

from sondage.errors import InvalidInput
from sondage.plot import style
from sondage.plot.style import Axes
from sondage.study import Plan
from sondage.types import Floats

_FEW = 260.0
"""Points below which an axis has room for powers of ten alone."""


def plan(plan: Plan, ax: Axes | None = None) -> Axes:
    """Width of the interval against labels, by the design and by a uniform sample.

    Lines are what to expect, bands run from optimistic to pessimistic; of several coordinates the widest is
    shown. A horizontal line is the width that was asked for, and a point the labels that it is expected to
    take. Labels are on a logarithmic scale.

    Parameters
    ----------
    plan
        From ``sondage.plan`` or ``study.plan``.
    ax
        Axes to draw on; the current ones of ``matplotlib.pyplot`` if none are given.

    Returns
    -------
    ax
        The same axes.

    >>> from matplotlib.figure import Figure
    >>> import sondage as sd
    >>> pool, _ = sd.datasets.synthetic_pool(n=2000, prevalence=0.2, rng=0)
    >>> planned = sd.plan(pool, "f1", design="stratified", width=0.1)
    >>> sd.plot.plan(planned, ax=Figure().add_subplot()).get_xlabel()
    'labels'
    """
    if not isinstance(plan, Plan):
        raise InvalidInput(f"plan= takes a Plan (from sondage.plan or study.plan), not {type(plan).__name__}")
    ax = style.axes_for(ax)
    by_design, uniform, _ = plan.widest()
    handles = [
        _draw(ax, plan.labels, width, name, k)
        for k, (width, name) in enumerate([(by_design, plan.design), (uniform, "uniform")])
        if k == 0 or plan.design != "uniform"
    ]
    if plan.goal.target is not None:
        handles.append(_goal(ax, plan))
    _dress(ax, plan, float(max(by_design.max(), uniform.max())))
    style.legend_above(ax, handles)
    return ax


def _draw(ax: Axes, labels: Any, width: Floats, name: str, k: int) -> Any:
    """A line and its band."""
    colour = style.colour(k)
    ax.fill_between(labels, width[:, 0], width[:, 2], color=colour, alpha=style.BAND, linewidth=0, zorder=1)
    for end in (width[:, 0], width[:, 2]):
        ax.plot(labels, end, color=colour, alpha=0.45, linewidth=0.8)
    (line,) = ax.plot(
        labels,
        width[:, 1],
        color=colour,
        linestyle=style.style(k),
        linewidth=2.2,
        marker="o" if len(labels) == 1 else None,
        solid_capstyle="round",
        label=name,
        zorder=2,
    )
    return line


def _goal(ax: Axes, plan: Plan) -> Any:
    """The width wanted, and where it is expected to be reached."""
    target = plan.goal.target
    line = ax.axhline(target, color=style.INK, linewidth=1.0, linestyle=(0, (4, 3)), zorder=1.5)
    line.set_label(f"wanted {target:.3g}")
    if plan.needed is not None and plan.needed.expected is not None:
        ax.plot([plan.needed.expected], [target], "o", color=style.INK, markersize=5, zorder=3)
    return line


def _dress(ax: Axes, plan: Plan, most: float) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    ends = [float(plan.labels[0]), float(plan.labels[-1])]
    if plan.needed is not None and plan.needed.expected is not None:
        ends.append(float(plan.needed.expected))
    low, high = min(ends), max(ends)
    ax.set_xscale("log")
    ax.set_xlim(low / 1.05, high * 1.05)
    roomy = style.extent(ax)[0] > _FEW or high < 20 * low
    subs = (1.0, 2.0, 5.0) if roomy and high < 2000 * low else (1.0,)
    ax.xaxis.set_major_locator(LogLocator(10.0, subs=subs, numticks=20))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
    limits = style.span(np.array([0.0, most]))
    if limits is not None:
        ax.set_ylim(0.0, limits[1])
    names = plan.names[0] if len(plan.names) == 1 else "the widest of all"
    shown = "F1" if names == "f1" else names
    style.name_axis(ax, "x", "labels")
    style.name_axis(ax, "y", f"width of the {100 * plan.confidence_level:g} % interval of {shown}")
    style.dress(ax)
