"""Where the labels went, as bars over the strata."""

from __future__ import annotations

from typing import Any

import numpy as np

from sondage.errors import InvalidInput
from sondage.plot import style
from sondage.plot.style import Axes
from sondage.report.allocation import LabelsByStratum
from sondage.report.allocation import labels_by_stratum as counted
from sondage.study import Study
from sondage.types import Floats

_NAMED = 30
"""Strata up to which each has a row with its name."""


def labels_by_stratum(
    study: Study | LabelsByStratum,
    ax: Axes | None = None,
    *,
    bands: int = 10,
) -> Axes:
    """Every stratum's share of the pool, its share of the labels, and the positives found among them.

    Parameters
    ----------
    study
        A study; or the table of one, ``sondage.report.labels_by_stratum(study)``.
    ax
        Axes to draw on; the current ones of ``matplotlib.pyplot`` if none are given.
    bands
        Bands of equal size along the score, for designs that draw single items and have no strata.

    Returns
    -------
    ax
        The same axes. Up to 30 strata are rows with names, the first on top; more are columns.

    >>> from matplotlib.figure import Figure
    >>> import sondage as sd
    >>> pool, labels = sd.datasets.synthetic_pool(n=2000, prevalence=0.1, rng=0)
    >>> study = sd.create_study(pool, "f1", design="importance", rng=0)
    >>> last = study.run(labels, budget=200)
    >>> ax = sd.plot.labels_by_stratum(study, Figure().add_subplot(), bands=5)
    >>> len(ax.get_yticklabels())
    5
    """
    if not isinstance(study, (Study, LabelsByStratum)):
        raise InvalidInput(
            f"study= takes a study or sondage.report.labels_by_stratum(study), not {type(study).__name__}"
        )
    found = study if isinstance(study, LabelsByStratum) else counted(study, bands=bands)
    ax = style.axes_for(ax)
    layers: list[tuple[Floats, str, str, float]] = [
        (found.share_of_pool, style.PALE, "share of the pool", 0.86),
        (found.share_of_labels, style.COLOURS[0], "share of the labels", 0.5),
    ]
    if found.positives is not None:
        share = found.positives / max(int(found.labels.sum()), 1)
        layers.append((np.asarray(share), style.COLOURS[1], f"of them labelled {found.positive}", 0.5))
    highest = max(float(share.max()) for share, *_ in layers)
    if len(found.names) <= _NAMED:
        style.legend_above(ax, _rows(ax, found, layers, 1.05 * highest), "right")
    else:
        style.legend_above(ax, _columns(ax, found, layers, 1.05 * highest))
    return ax


def _rows(ax: Axes, found: LabelsByStratum, layers: list[Any], end: float) -> list[Any]:
    place = np.arange(len(found.names))
    handles = [
        ax.barh(place, share, height=thick, color=colour, label=label, zorder=2 + k)
        for k, (share, colour, label, thick) in enumerate(layers)
    ]
    style.row_names(ax, [f"{h}   {name}" for h, name in enumerate(found.names)], 36)
    ax.set_xlim(0, end)
    style.dress(ax, "x")
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    _percent(ax.xaxis)
    style.name_axis(ax, "x", "share")
    style.name_axis(ax, "y", f"stratum, {found.named_by}" if found.named_by != "holds" else "stratum")
    return handles


def _columns(ax: Axes, found: LabelsByStratum, layers: list[Any], end: float) -> list[Any]:
    edges = np.arange(len(found.names) + 1) - 0.5
    handles = [
        ax.stairs(share, edges, fill=True, color=colour, label=label, zorder=2 + k, linewidth=0)
        for k, (share, colour, label, _) in enumerate(layers)
    ]
    # The share of the pool stays in sight where the labels' share is larger.
    ax.stairs(layers[0][0], edges, color=style.INK, linewidth=0.6, zorder=5)
    ax.set_xlim(edges[0], edges[-1])
    ax.set_ylim(0, end)
    style.dress(ax, "y")
    _percent(ax.yaxis)
    style.name_axis(ax, "x", "stratum")
    style.name_axis(ax, "y", "share")
    return handles


def _percent(axis: Any) -> None:
    from matplotlib.ticker import PercentFormatter

    axis.set_major_formatter(PercentFormatter(1.0, symbol=" %"))
