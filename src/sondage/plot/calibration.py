"""The reliability diagram: what was believed against what came true."""

from __future__ import annotations

from typing import Any

import numpy as np

from sondage.beliefs.calibration import Reliability
from sondage.errors import InvalidInput
from sondage.plot import style
from sondage.plot.style import Axes
from sondage.report import findings
from sondage.study.estimates.belief_report import BeliefReport

_NUMBERS = "coverage"
"""Name of the table for labels that are numbers."""
_AREA, _LEAST_AREA = 700.0, 24.0
"""Areas of a point that stands for the whole pool, and of the smallest."""
_APART = 45.0
"""Points between two numbers on a log scale."""


def reliability(
    report: BeliefReport | Reliability,
    ax: Axes | None = None,
    *,
    of: str | None = None,
    log: bool = False,
) -> Axes:
    """Believed chances against what was seen, with intervals; on the dashed line both agree.

    The area of a point is its share of the pool.

    Parameters
    ----------
    report
        What ``study.belief_report()`` gives, or one of its tables.
    ax
        Axes to draw on, which are returned; by default the current ones of ``matplotlib.pyplot``.
    of
        The class, or the part of a label, to show: a name in ``report.by_class``.
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
        style.percent(axis)
    ax.tick_params(pad=7)  # hollow dots at the edge reach into the numbers
    return float(edge)
