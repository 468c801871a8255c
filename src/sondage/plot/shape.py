"""The shape of a design over the scores."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sondage.errors import InvalidInput
from sondage.plot import style
from sondage.plot.style import Axes
from sondage.report.chances import chance_by_score
from sondage.strata.score_column import score_name
from sondage.strata.stratification import percent
from sondage.study import Study

_ROOMY = 80.0
"""Points from which a power of ten has room for ticks inside it."""


def design_shape(
    studies: Study | Mapping[str, Study],
    ax: Axes | None = None,
    *,
    n: int | None = None,
) -> Axes:
    """How much likelier than in a uniform sample an item is to be asked, against its score.

    Parameters
    ----------
    studies
        A study; or several by the name to show in the legend, to compare designs. No labels are needed: a
        study that was only made shows what its design would do.
    ax
        Axes to draw on; the current ones of ``matplotlib.pyplot`` if none are given.
    n
        Labels that a sample without replacement is looked at for: what is left of the budget, or 1,000
        without one.

    Returns
    -------
    ax
        The same axes. The line is the mean of the items with about this score, the band runs from the least
        to the greatest of them; what share of the items can never be asked stands in the
        legend.

    >>> from matplotlib.figure import Figure
    >>> import sondage as sd
    >>> pool, _ = sd.datasets.synthetic_pool(n=2000, prevalence=0.1, rng=0)
    >>> study = sd.create_study(pool, "f1", design="importance", rng=0)
    >>> sd.plot.design_shape(study, Figure().add_subplot()).get_yscale()
    'log'
    """
    named = studies if isinstance(studies, Mapping) else {"": studies}
    if not named or not all(isinstance(one, Study) for one in named.values()):
        raise InvalidInput("studies= takes a study, or studies by name")
    found = {str(name): chance_by_score(one, n=n) for name, one in named.items()}
    ax = style.axes_for(ax)
    ax.set_yscale("log")
    even = ax.axhline(1.0, color=style.INK, linewidth=1, linestyle=style.STYLES[2], zorder=1.5)
    even.set_label("uniform")
    handles = [even]
    for k, (name, one) in enumerate(found.items()):
        colour = style.colour(k)
        if one.dark > 0:
            name = f"{name} (never asks {percent(one.dark)})".strip()
        ax.fill_between(
            one.score, one.least, one.greatest, color=colour, alpha=style.BAND, linewidth=0, zorder=1
        )
        (line,) = ax.plot(
            one.score,
            one.mean,
            color=colour,
            linestyle=style.style(k),
            linewidth=1.8,
            label=name or "_",
            zorder=2,
        )
        handles.append(line)
    seen = np.concatenate([np.concatenate([one.least, one.greatest]) for one in found.values()] + [[1.0]])
    ax.set_ylim(seen.min() / 1.5, seen.max() * 1.5)
    _log_ticks(ax)
    style.dress(ax)
    first = next(iter(named.values()))
    style.name_axis(ax, "x", score_name(first.pool, first.measure.systems(first.pool)))
    style.name_axis(ax, "y", "chance of being asked, relative to uniform")
    style.legend_above(ax, handles)
    return ax


def _log_ticks(ax: Axes) -> None:
    """Powers of ten; 2 and 5 as well, where there is room for them."""
    from matplotlib.ticker import LogLocator, NullLocator

    low, high = ax.get_ylim()
    room = style.extent(ax)[1] / np.log10(high / low)  # points for every power of ten
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if room > _ROOMY else (1.0,)))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_formatter(_times)


def _times(value: float, _: int) -> str:
    return f"{value:,.12g}×"
