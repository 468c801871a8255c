"""Where labels go: those of a study as bars over its strata, and whom a design asks over the scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sondage.errors import InvalidInput
from sondage.plot import style
from sondage.plot.style import Axes
from sondage.report.allocation import LabelsByStratum
from sondage.report.allocation import labels_by_stratum as counted
from sondage.report.chances import chance_by_score
from sondage.strata.score_column import score_name
from sondage.strata.stratification import percent, short
from sondage.study import Study
from sondage.types import Floats

_NAMED = 30
"""Strata up to which each has a row with its name."""
_SMALL, _LETTERS, _FEW_LETTERS = 8.0, 22, 6
"""Size of the names of columns in points, their most letters, and the fewest that say something."""
_APART = 4.0
"""Distance of two named columns, in font sizes."""
_ROOMY = 80.0
"""Points from which a power of ten has room for ticks inside it."""


def labels_by_stratum(study: Study | LabelsByStratum, ax: Axes | None = None, *, bands: int = 10) -> Axes:
    """Every stratum's share of the pool, its share of the labels, and the positives found among them.

    Up to 30 strata are rows with names, the first on top; more are columns, some of them named. Where the
    strata of a predicted class stand together, it is written above them.

    Parameters
    ----------
    study
        A study; or the table of one, ``sondage.report.labels_by_stratum(study)``.
    ax
        Axes to draw on, which are returned; by default the current ones of ``matplotlib.pyplot``.
    bands
        Bands of equal size along the score, for designs that draw single items and have no strata.

    >>> from matplotlib.figure import Figure
    >>> import sondage as sd
    >>> pool, labels = sd.datasets.synthetic_pool(n=2000, prevalence=0.1, rng=0)
    >>> study = sd.create_study(pool, "f1", design="importance", rng=0)
    >>> last = study.run(labels, budget=200)
    >>> ax = sd.plot.labels_by_stratum(study, Figure().add_subplot(), bands=5)
    >>> len(ax.get_yticklabels())
    5
    """
    said = "study= takes a study or sondage.report.labels_by_stratum(study)"
    style.expect(study, (Study, LabelsByStratum), said)
    found = study if isinstance(study, LabelsByStratum) else counted(study, bands=bands)
    ax = style.axes_for(ax)
    layers: list[tuple[Floats, str, str, float]] = [
        (found.share_of_pool, style.PALE, "share of the pool", 0.86),
        (found.share_of_labels, style.COLOURS[0], "share of the labels", 0.5),
    ]
    if found.positives is not None:
        share = found.positives / max(int(found.labels.sum()), 1)
        layers.append((np.asarray(share), style.COLOURS[1], f"of them labelled {found.positive}", 0.5))
    draw = _rows if len(found.names) <= _NAMED else _columns
    strata = f"stratum, {found.named_by}" if found.named_by != "holds" else "stratum"
    return draw(ax, found, layers, 1.05 * max(float(share.max()) for share, *_ in layers), strata)


def design_shape(
    studies: Study | Mapping[str, Study], ax: Axes | None = None, *, n: int | None = None
) -> Axes:
    """How much likelier than in a uniform sample an item is to be asked, against its score.

    The line is the mean of the items with about this score, the band runs from the least to the greatest of
    them; what share of the items can never be asked stands in the legend.

    Parameters
    ----------
    studies
        A study; or several by the name to show in the legend, to compare designs. No labels are needed: a
        study that was only made shows what its design would do.
    ax
        Axes to draw on, which are returned; by default the current ones of ``matplotlib.pyplot``.
    n
        Labels that a sample without replacement is looked at for: what is left of the budget, or 1,000
        without one.

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
        if one.dark > 0:
            name = f"{name} (never asks {percent(one.dark)})".strip()
        handles.append(style.banded(ax, k, name or "_", one.score, one.mean, one.least, one.greatest))
    seen = np.concatenate([[1.0], *([*one.least, *one.greatest] for one in found.values())])
    ax.set_ylim(seen.min() / 1.5, seen.max() * 1.5)
    _log_ticks(ax)
    first = next(iter(named.values()))
    along = score_name(first.pool, first.measure.systems(first.pool))
    return style.finish(ax, along, "chance of being asked, relative to uniform", handles)


def _rows(ax: Axes, found: LabelsByStratum, layers: list[Any], end: float, strata: str) -> Axes:
    place = np.arange(len(found.names))
    handles = [
        ax.barh(place, share, height=thick, color=colour, label=label, zorder=2 + k)
        for k, (share, colour, label, thick) in enumerate(layers)
    ]
    predicted = [f"{one}: " for one in found.predicted] or [""] * len(found.names)
    style.row_names(ax, [f"{h}   {predicted[h]}{name}" for h, name in enumerate(found.names)])
    ax.set_xlim(0, end)
    style.percent(ax.xaxis)
    return style.finish(ax, "share", strata, handles, grid="x")


def _columns(ax: Axes, found: LabelsByStratum, layers: list[Any], end: float, strata: str) -> Axes:
    edges = np.arange(len(found.names) + 1) - 0.5
    handles = [
        ax.stairs(share, edges, fill=True, color=colour, label=label, zorder=2 + k, linewidth=0)
        for k, (share, colour, label, _) in enumerate(layers)
    ]
    # The share of the pool stays in sight where the labels' share is larger.
    ax.stairs(layers[0][0], edges, color=style.INK, linewidth=0.6, zorder=5)
    ax.set_xlim(edges[0], edges[-1])
    ax.set_ylim(0, end)
    style.percent(ax.yaxis)
    _name_some(ax, found.names)
    if found.predicted:
        _name_classes(ax, found.predicted, end)
    return style.finish(ax, strata, "share", handles)


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


def _log_ticks(ax: Axes) -> None:
    """Powers of ten; 2 and 5 as well, where there is room for them."""
    from matplotlib.ticker import LogLocator, NullLocator

    low, high = ax.get_ylim()
    room = style.extent(ax)[1] / np.log10(high / low)  # points for every power of ten
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if room > _ROOMY else (1.0,)))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_formatter("{x:,.12g}×")
