"""The reliability diagram: what was believed against what came true."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sondage.beliefs.calibration import Reliability
from sondage.errors import InvalidInput
from sondage.plot import style
from sondage.plot.style import Axes
from sondage.report import findings
from sondage.study.estimates.belief_report import BeliefReport
from sondage.study.grouping.result import Groups

_NUMBERS = "coverage"
"""Name of the table for labels that are numbers."""
_AREA, _LEAST_AREA = 700.0, 24.0
"""Areas of a point that stands for the whole pool, and of the smallest."""
_LINES = 3
"""Groups that have a line unless they are named."""
_APART = 45.0
"""Points between two numbers on a log scale."""


def reliability(
    report: BeliefReport | Reliability | Groups,
    ax: Axes | None = None,
    *,
    of: str | Sequence[str] | None = None,
    log: bool = False,
) -> Axes:
    """Believed chances against what was seen, with intervals; on the dashed line both agree.

    The area of a point is its share of the pool.

    Parameters
    ----------
    report
        What ``study.belief_report()`` gives, or one of its tables. Or ``study.groups(by,
        measure="calibration_error")``: confidence against accuracy, a line with a band for each group.
    ax
        Axes to draw on, which are returned; by default the current ones of ``matplotlib.pyplot``.
    of
        The class, or the part of a label, to show: a name in ``report.by_class``. Of groups the names of
        some; by default the worst three.
    log
        Both axes on a log scale, for chances that are mostly small. What is 0 is a hollow point at the lower
        edge.

    >>> from matplotlib.figure import Figure
    >>> import sondage as sd
    >>> pool, labels = sd.datasets.synthetic_multiclass(n=2000, rng=0)
    >>> study = sd.create_study(pool, "accuracy", rng=0)
    >>> last = study.run(labels, budget=200)
    >>> sd.plot.reliability(study.belief_report(), Figure().add_subplot()).get_xlabel()
    'expected chance of the likeliest class'
    """
    if isinstance(report, Groups):
        return _by_group(report, ax, of)
    if of is not None and not isinstance(of, str):
        raise InvalidInput(f"of= takes one name, not {of!r}")
    table, level = _table(report, of), "interval"
    if isinstance(report, BeliefReport):
        level = f"{100 * report.confidence_level:g} % interval"
    ax = style.axes_for(ax)
    expected, observed, low = table.expected, table.observed, table.low
    edge = -np.inf
    if log:
        edge = _log_square(ax, np.concatenate([expected, observed, low, table.high]))
        expected, observed, low = (np.maximum(one, edge) for one in (expected, observed, low))
    else:
        style.unit_square(ax, 0.03)
    right = style.diagonal(ax, "belief is right")
    colour = style.COLOURS[0]
    bars = ax.vlines(expected, low, table.high, color=colour, linewidth=1.6, alpha=0.6, zorder=2, label=level)
    whole = _AREA * min(min(style.extent(ax)) / 250.0, 1.0)
    share = table.weight / table.weight.sum() if table.name != _NUMBERS else np.zeros(len(expected))
    area = np.maximum(whole * share, _LEAST_AREA)
    style.dots(ax, expected, observed, area, table.observed < edge, colour, zorder=3)
    said = "seen" if table.name == _NUMBERS else "seen (area: share of pool)"
    dot = style.key(said, "o", color=colour, markersize=6)
    title = findings.agreed(table.expected, table.low, table.high)
    return style.finish(ax, *_axis_names(table.name, report, of), [right, dot, bars], title, grid="both")


def _by_group(groups: Groups, ax: Axes | None, of: str | Sequence[str] | None) -> Axes:
    """Lines over bands, a dot for each bin that has labels."""
    bins = groups.bins
    if bins is None:
        raise InvalidInput(
            "report= has no bins of confidence: pass study.groups(by, measure='calibration_error')"
        )
    columns = {name: np.asarray(column) for name, column in bins.items()}
    order = np.argsort(-np.asarray(groups.probability_worst), kind="stable")
    names = [groups.names[k] for k in order[:_LINES].tolist()] if of is None else of
    names = [names] if isinstance(names, str) else [str(name) for name in names]
    unknown = [name for name in names if name not in groups.names]
    if unknown:
        raise InvalidInput(f"of= names {unknown[0]!r}, which is none of the groups {list(groups.names[:10])}")
    ax = style.axes_for(ax)
    style.unit_square(ax, 0.03)
    handles, apart = [style.diagonal(ax, "as sure as right")], 0
    shown = np.zeros(len(columns["group"]), dtype=bool)
    for k, name in enumerate(names):
        mine = np.flatnonzero((columns["group"] == name) & (columns["n_pool"] > 0))
        mine = mine[np.argsort(columns["confidence"][mine], kind="stable")]
        shown[mine] = True
        x, value, low, high = (columns[one][mine] for one in ("confidence", "value", "low", "high"))
        handles.append(
            style.banded(ax, k, name, x, value, low, high, marker=style.MARKERS[k % 4], markersize=4)
        )
        apart += int(((x < low) | (x > high)).sum())
    handles.append(style.shade(f"{100 * groups.confidence_level:g} % interval"))
    title = findings.calibrated(apart, int(shown.sum()))
    return style.finish(ax, "mean confidence", "accuracy", handles, title, grid="both")


def _table(report: Any, of: str | None) -> Reliability:
    if isinstance(report, Reliability):
        if of is not None:
            raise InvalidInput("of= chooses among the tables of a whole report: pass study.belief_report()")
        return report
    style.expect(report, BeliefReport, "report= takes what study.belief_report() gives, or a table of it")
    tables = report.by_class
    if of is not None and str(of) not in tables:
        raise InvalidInput(f"of= names {of!r}, and the report has {list(tables) or 'one table only'}")
    found: Reliability | None = report.reliability if of is None else tables[str(of)]
    if found is None:
        raise InvalidInput(
            "report= has no reliability table: there are too few labels yet, or they are not yes or no"
        )
    return found


def _axis_names(name: str, report: Any, of: str | None) -> tuple[str, str]:
    if name == _NUMBERS:
        return "expected chance of the interval", "share of labels inside"
    if of is None and isinstance(report, BeliefReport) and report.by_class:
        if name == "likeliest":
            return "expected chance of the likeliest class", "share where it was right"
        return "expected chance of a label", "share where it was true"
    what = f" label {name}" if name else " a positive"
    return f"expected chance of{what}", f"share with{what}" if name else "share of positives"


def _log_square(ax: Axes, values: Any) -> float:
    """Both axes alike, on a log scale; the lower edge."""
    from matplotlib.ticker import LogLocator, NullLocator

    positive = values[values > 0]
    edge = 10.0 ** np.floor(np.log10(max(float(positive.min()), 1e-6))) if len(positive) else 1e-3
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlim(edge, 1.2)
    ax.set_ylim(edge, 1.2)
    ax.set_aspect("equal")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(LogLocator(numticks=max(int(min(style.extent(ax)) / _APART), 2)))
        axis.set_minor_locator(NullLocator())
        style.in_percent(axis)
    ax.tick_params(pad=7)  # hollow dots at the edge reach into the numbers
    return float(edge)
