"""Width of intervals against labels: what it costs to be allowed to look often."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sondage.errors import InvalidInput
from sondage.intervals import Interval
from sondage.measures import Measure
from sondage.plot import style
from sondage.plot.style import Axes
from sondage.report.past import history
from sondage.study import Estimate, Study
from sondage.types import Floats


def widths(
    studies: Mapping[str, Study] | Study,
    ax: Axes | None = None,
    *,
    intervals: Sequence[str | Interval] = ("sequence", "logit"),
    measure: str | Measure | None = None,
    points: int = 20,
) -> Axes:
    """Width of several intervals of the same study after every few labels, from the first to the last.

    Parameters
    ----------
    studies
        A study, or several by the name to show in the legend: one colour each.
    ax
        Axes to draw on; the current ones of ``matplotlib.pyplot`` if none are given.
    intervals
        Intervals to compare, one style of line each: by default one that is safe to look at often, and one
        that holds at a number of labels fixed beforehand.
    measure
        What to estimate, if not the studies' own measure.
    points
        How often to estimate a study, at most.

    Returns
    -------
    ax
        The same axes.

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
        if not isinstance(one, Study):
            raise InvalidInput(f"studies= takes studies, or studies by name, not {type(one).__name__}")
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
            labels, width = lines[name, which]
            called = which if isinstance(which, str) else which.alias
            (line,) = ax.plot(
                labels,
                width,
                color=style.colour(k),
                linestyle=style.style(j),
                linewidth=2.0 if j == 0 else 1.6,
                label=f"{name}, {called}" if name else called,
            )
            handles.append(line)
    ax.set_ylim(0, 1.03 * max(float(np.nanmax(width, initial=0.0)) for _, width in lines.values()) or 1.0)
    ax.set_xlim(0, 1.01 * max(float(labels.max()) for labels, _ in lines.values()))
    style.name_axis(ax, "x", "labels spent")
    style.name_axis(ax, "y", "width of the interval")
    style.dress(ax)
    ax.xaxis.set_major_formatter("{x:,.0f}")
    style.legend_above(ax, handles)
    return ax


def _widths(estimates: Sequence[Estimate]) -> tuple[Floats, Floats]:
    """Labels, and from end to end the interval of the one coordinate; nan where it is undefined."""
    for one in estimates:
        if len(one.names) != 1:
            raise InvalidInput(
                f"studies= estimate several measures at once ({', '.join(one.names[:4])}): pass measure='f1'"
            )
    labels = np.array([one.n_labels for one in estimates], dtype=np.float64)
    return labels, np.array([float(one.ci.high) - float(one.ci.low) for one in estimates])
