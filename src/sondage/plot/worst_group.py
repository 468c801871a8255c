"""Which group is the worst: a bar for the chance of each."""

from __future__ import annotations

import numpy as np

from sondage.errors import InvalidInput
from sondage.plot import style
from sondage.plot.style import Axes
from sondage.report import findings
from sondage.study.grouping.result import Groups
from sondage.types import is_whole

_MOST = 20
"""Groups beyond which there is no room for all."""
_HIGH = 0.7
"""Height of a bar, in rows."""


def worst(groups: Groups, ax: Axes | None = None, *, most: int = _MOST) -> Axes:
    """One bar per group: the chance that it is the worst, the likeliest on top, with its number of labels.

    Dark bars are the groups that may still be the worst (``groups.worst``).

    Parameters
    ----------
    groups
        ``study.groups()``.
    ax
        Axes to draw on, which are returned; by default the current ones of ``matplotlib.pyplot``.
    most
        Groups to show; the others have one bar together.

    >>> from matplotlib.figure import Figure
    >>> import sondage as sd
    >>> pool, labels = sd.datasets.synthetic_pool(n=1000, prevalence=0.3, groups=3, rng=0)
    >>> study = sd.create_study(pool, "accuracy", design="uniform", rng=0)
    >>> last = study.run(labels, budget=150)
    >>> ax = sd.plot.worst(study.groups("group"), Figure().add_subplot())
    >>> len(ax.patches)
    3
    """
    style.expect(groups, Groups, "groups= takes study.groups()")
    if not is_whole(most) or most < 1:
        raise InvalidInput(f"most= must be a number of groups, not {most!r}")
    chance = np.asarray(groups.probability_worst)
    order = np.argsort(-chance, kind="stable")
    shown, rest = order[:most], order[most:]
    names = [findings.with_labels(groups.names[k], int(groups.n_labels[k])) for k in shown.tolist()]
    width, may = chance[shown], np.array([groups.names[k] in groups.worst for k in shown.tolist()])
    if len(rest):
        names.append(f"{len(rest):,} others")
        width = np.append(width, chance[rest].sum())
        may = np.append(may, any(groups.names[k] in groups.worst for k in rest.tolist()))
    ax = style.axes_for(ax)
    size = style.row_names(ax, names)
    shades = np.where(may, style.COLOURS[0], style.PALE)
    ax.barh(np.arange(len(width)), width, height=_HIGH, color=shades, linewidth=0, zorder=2)
    for y, one in enumerate(width.tolist()):
        ax.text(one + 0.01, y, _share(one), va="center", color=style.INK, size=size, zorder=3)
    ax.set_xlim(0.0, max(1.14 * float(width.max()), 0.1))
    style.in_percent(ax.xaxis)
    sure = 100 * groups.confidence_level
    handles = [style.shade(f"may be the worst (together {sure:g} %)", style.COLOURS[0], 1.0)]
    if not may.all():
        handles.append(style.shade("almost surely not", style.PALE, 1.0))
    title = findings.worst_group(groups.names, chance, groups.worst)
    return style.finish(ax, "chance to be the worst group", groups.by, handles, title, grid="x")


def _share(chance: float) -> str:
    """Percent, with a word for what is nearly nothing and nearly all."""
    if 0 < chance < 0.005:
        return "<1 %"
    if 0.995 <= chance < 1:
        return ">99 %"
    return f"{chance:.0%}".replace("%", " %")
