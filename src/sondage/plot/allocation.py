"""Where the labels went, as bars over the strata."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sondage.errors import InvalidInput
from sondage.plot import style
from sondage.plot.style import Axes
from sondage.report.allocation import LabelsByStratum
from sondage.report.allocation import labels_by_stratum as counted
from sondage.strata.stratification import short
from sondage.study import Study
from sondage.types import Floats

_NAMED = 30
"""Strata up to which each has a row with its name."""
_SMALL, _LETTERS, _FEW_LETTERS = 8.0, 22, 6
"""Size of the names of columns in points, letters of each, and letters below which a name says nothing."""
_APART = 4.0
"""Distance of two named columns, in font sizes."""


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
        The same axes. Up to 30 strata are rows with names, the first on top; more are columns, some of them
        named. Where the strata of a predicted class stand together, it is written above them.

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
    style.row_names(ax, _full_names(found), 44)
    ax.set_xlim(0, end)
    style.dress(ax, "x")
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    _percent(ax.xaxis)
    style.name_axis(ax, "x", "share")
    style.name_axis(ax, "y", _named_by(found))
    return handles


def _named_by(found: LabelsByStratum) -> str:
    return f"stratum, {found.named_by}" if found.named_by != "holds" else "stratum"


def _full_names(found: LabelsByStratum) -> list[str]:
    """Number, predicted class and name of every stratum."""
    before = [f"{one}: " for one in found.predicted] or [""] * len(found.names)
    pairs = zip(before, found.names, strict=True)
    return [f"{h}   {predicted}{name}" for h, (predicted, name) in enumerate(pairs)]


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
    _name_some(ax, found.names)
    if found.predicted:
        _name_classes(ax, found.predicted, end)
    style.name_axis(ax, "x", _named_by(found))
    style.name_axis(ax, "y", "share")
    return handles


def _name_some(ax: Axes, names: Sequence[str]) -> None:
    """What the first, the last and some other strata hold, as far as there is room."""
    size = min(float(ax.xaxis.get_label().get_fontsize()), _SMALL)
    most = max(int(style.extent(ax)[0] / (_APART * size)), 2)
    places = np.unique(np.linspace(0, len(names) - 1, min(most, len(names))).round().astype(int))
    said = [style.shortened(_brief(names[k]), _LETTERS) for k in places.tolist()]
    ax.set_xticks(places, said, fontsize=size, rotation=35, ha="right", rotation_mode="anchor")


def _brief(name: str) -> str:
    """A range of numbers with two digits each, and once if both are the same; any other name as it is.

    >>> _brief("-0.0060705 to -0.0062942"), _brief("0.5 to 0.50001"), _brief("north")
    ('-0.0061 to -0.0063', '0.5', 'north')
    """
    try:
        ends = [short(float(f"{float(one):.2g}")) for one in name.split(" to ")]
    except ValueError:
        return name
    return " to ".join(dict.fromkeys(ends))


def _name_classes(ax: Axes, predicted: Sequence[str], end: float) -> None:
    """The predicted class of strata that stand together, above them; a line where another begins."""
    begins = [k for k in range(len(predicted)) if not k or predicted[k] != predicted[k - 1]]
    ax.set_ylim(0, 1.12 * end)
    size = min(float(ax.xaxis.get_label().get_fontsize()), _SMALL)
    for first, last in zip(begins, [*begins[1:], len(predicted)], strict=True):
        room = style.extent(ax)[0] * (last - first) / len(predicted)
        letters = int(room / (style.LETTER * size))
        if letters >= _FEW_LETTERS:
            middle = 0.5 * (first + last) - 0.5
            said = style.shortened(predicted[first], letters)
            ax.text(middle, 1.11 * end, said, size=size, color=style.INK, ha="center", va="top", zorder=6)
        if first:
            ax.axvline(first - 0.5, color=style.INK, linewidth=0.8, linestyle=style.STYLES[2], zorder=5)


def _percent(axis: Any) -> None:
    from matplotlib.ticker import PercentFormatter

    axis.set_major_formatter(PercentFormatter(1.0, symbol=" %"))
