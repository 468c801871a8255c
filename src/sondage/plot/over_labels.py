"""Against labels: estimates as they settle, widths of intervals, and what a plan expects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sondage.errors import InvalidInput
from sondage.intervals import Interval
from sondage.measures import Measure
from sondage.plot import style
from sondage.plot.style import Axes
from sondage.report import findings
from sondage.report.past import history
from sondage.study import Estimate, Plan, Study
from sondage.types import Floats

Source = Study | Sequence[Estimate]

_WORTH_SAYING = 0.1
"""Share of the labels for which an estimate may be undefined before the legend says so."""
_FEW = 260.0
"""Points below which an axis has room for powers of ten alone."""


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
        Axes to draw on, which are returned; by default the current ones of ``matplotlib.pyplot``.
    measure
        What to estimate from studies, if not their own measure.
    points
        How often to estimate a study, at most.

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
        handles.append(_draw(ax, k, name or "estimate", *numbers))
    shown = [one for numbers in columns.values() for one in numbers[1:]]
    limits = style.span(np.concatenate([*shown, [] if truth is None else [truth]]))
    if limits is not None:
        ax.set_ylim(*limits)
    first = next(iter(estimates.values()))[0]
    measured = said = style.measured(first.names[0])
    if first.alternative != "two-sided":
        said = f"{measured} with {style.level_words(first)}"
    elif np.isfinite(np.concatenate(shown)).any():
        handles.append(
            style.shade(style.level_words(first), style.colour(0) if len(named) == 1 else style.FAINT)
        )
    title = findings.settled(
        measured, {name: (labels[-1], low[-1], high[-1]) for name, (labels, _, low, high) in columns.items()}
    )
    return _against_labels(ax, [labels for labels, *_ in columns.values()], said, handles, title)


def widths(
    studies: Mapping[str, Study] | Study,
    ax: Axes | None = None,
    *,
    intervals: Sequence[str | Interval] = ("sequence", "logit"),
    measure: str | Measure | None = None,
    points: int = 20,
) -> Axes:
    """Width of several intervals of the same study after every few labels: what it costs to look often.

    Parameters
    ----------
    studies
        A study, or several by the name to show in the legend: one colour each.
    ax
        Axes to draw on, which are returned; by default the current ones of ``matplotlib.pyplot``.
    intervals
        Intervals to compare, one style of line each: by default one that is safe to look at often, and one
        that holds at a number of labels fixed beforehand.
    measure
        What to estimate, if not the studies' own measure.
    points
        How often to estimate a study, at most.

    >>> from matplotlib.figure import Figure
    >>> import sondage as sd
    >>> pool, labels = sd.datasets.synthetic_pool(n=2000, prevalence=0.2, rng=0)
    >>> study = sd.create_study(pool, "f1", design="auto-audit", rng=0)
    >>> last = study.run(labels, budget=200)
    >>> sd.plot.widths(study, ax=Figure().add_subplot(), points=4).get_xlabel()
    'labels spent'
    """
    named = studies if isinstance(studies, Mapping) else {"": studies}
    if not named or not intervals or isinstance(intervals, str):
        raise InvalidInput(
            "widths() needs studies= with at least one study, and intervals= with at least one"
        )
    for one in named.values():
        style.expect(one, Study, "studies= takes studies, or studies by name")
    lines = {
        (name, which): _widths(history(study, measure, points=points, interval=which))
        for name, study in named.items()
        for which in intervals
    }
    if not all(len(labels) for labels, _ in lines.values()):
        raise InvalidInput("studies= needs at least one label in every study")
    ax = style.axes_for(ax)
    handles = []
    for k, name in enumerate(named):
        for j, which in enumerate(intervals):
            called = which if isinstance(which, str) else which.alias
            handles += ax.plot(
                *lines[name, which],
                color=style.colour(k),
                linestyle=style.style(j),
                linewidth=2.0 if j == 0 else 1.6,
                label=f"{name}, {called}" if name else called,
            )
    ax.set_ylim(0, 1.03 * max(float(np.nanmax(width, initial=0.0)) for _, width in lines.values()) or 1.0)
    shown = [labels for labels, _ in lines.values()]
    last = {str(line.get_label()): float(line.get_ydata()[-1]) for line in handles}
    title = findings.widths(max(float(one[-1]) for one in shown), last)
    return _against_labels(ax, shown, "width of the interval", handles, title)


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
        Axes to draw on, which are returned; by default the current ones of ``matplotlib.pyplot``.

    >>> from matplotlib.figure import Figure
    >>> import sondage as sd
    >>> pool, _ = sd.datasets.synthetic_pool(n=2000, prevalence=0.2, rng=0)
    >>> planned = sd.plan(pool, "f1", design="stratified", width=0.1)
    >>> sd.plot.plan(planned, ax=Figure().add_subplot()).get_xlabel()
    'labels'
    """
    style.expect(plan, Plan, "plan= takes a Plan (from sondage.plan or study.plan)")
    ax = style.axes_for(ax)
    by_design, uniform, _ = plan.widest()
    looks: dict[str, Any] = {
        "linewidth": 2.2,
        "solid_capstyle": "round",
        "marker": "o" if len(plan.labels) == 1 else None,
    }
    handles = [
        style.banded(ax, k, name, plan.labels, *width[:, [1, 0, 2]].T, ends=True, **looks)
        for k, (width, name) in enumerate([(by_design, plan.design), (uniform, "uniform")])
        if k == 0 or plan.design != "uniform"
    ]
    target, needed = plan.goal.target, plan.needed.expected if plan.needed is not None else None
    if target is not None:
        line = ax.axhline(target, color=style.INK, linewidth=1.0, linestyle=(0, (4, 3)), zorder=1.5)
        line.set_label(f"width wanted, {target:.3g}")
        handles.append(line)
        if needed is not None:
            ax.plot([needed], [target], "o", color=style.INK, markersize=5, zorder=3)
    reached = [float(one) for one in (plan.labels[0], plan.labels[-1], needed) if one is not None]
    _log_labels(ax, min(reached), max(reached))
    limits = style.span(np.array([0.0, float(max(by_design.max(), uniform.max()))]))
    ax.set_ylim(0.0, limits[1] if limits else None)
    shown = style.measured(plan.names[0]) if len(plan.names) == 1 else "the widest of all"
    width_of = f"width of the {100 * plan.confidence_level:g} % interval of {shown}"
    handles.append(style.shade("optimistic to pessimistic"))
    uniformly = plan.needed_uniform if plan.design != "uniform" else None
    last = (int(plan.labels[-1]), float(by_design[-1, 1]))
    title = findings.planned(target, needed, uniformly and uniformly.expected, last)
    return style.finish(ax, "labels", width_of, handles, title)


def _against_labels(ax: Axes, labels: list[Floats], y: str, handles: list[Any], title: str) -> Axes:
    ax.set_xlim(0, 1.01 * max(float(one.max()) for one in labels))
    ax.xaxis.set_major_formatter("{x:,.0f}")
    return style.finish(ax, "labels spent", y, handles, title)


def _log_labels(ax: Axes, low: float, high: float) -> None:
    from matplotlib.ticker import LogLocator, NullFormatter

    ax.set_xscale("log")
    ax.set_xlim(low / 1.05, high * 1.05)
    roomy = style.extent(ax)[0] > _FEW or high < 20 * low
    subs = (1.0, 2.0, 5.0) if roomy and high < 2000 * low else (1.0,)
    ax.xaxis.set_major_locator(LogLocator(10.0, subs=subs, numticks=20))
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.xaxis.set_minor_formatter(NullFormatter())


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


def _widths(estimates: Sequence[Estimate]) -> tuple[Floats, Floats]:
    """Labels, and the widths of the intervals; nan where undefined."""
    for one in estimates:
        if len(one.names) != 1:
            raise InvalidInput(
                f"studies= estimate several measures at once ({', '.join(one.names[:4])}): pass measure='f1'"
            )
    labels = np.array([one.n_labels for one in estimates], dtype=np.float64)
    return labels, np.array([float(one.ci.high) - float(one.ci.low) for one in estimates])


def _draw(ax: Axes, k: int, name: str, labels: Floats, value: Floats, low: Floats, high: Floats) -> Any:
    defined = np.isfinite(value)
    if not defined.any():
        name += " (undefined)"
    elif not defined[0] and labels[np.argmax(defined)] > _WORTH_SAYING * labels[-1]:
        name += f" (undefined below {labels[np.argmax(defined)]:,.0f})"
    seen = [np.where(defined & np.isfinite(one), one, np.nan) for one in (value, low, high)]
    line = style.banded(ax, k, name, labels, *seen, ends=True, linewidth=2.2, solid_capstyle="round")
    # A defined estimate between undefined ones makes no line: show it as a point.
    before, after = np.append(False, defined[:-1]), np.append(defined[1:], False)
    alone = defined & ~before & ~after
    if alone.any():
        arms = np.stack([value - low, high - value])[:, alone]
        ax.errorbar(
            labels[alone],
            value[alone],
            yerr=np.where(np.isfinite(arms), arms, 0.0),
            fmt="o",
            color=style.colour(k),
            markersize=5,
            elinewidth=1,
        )
    return line
