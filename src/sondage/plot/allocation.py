"""Where labels go: those of a study as bars over its strata, and whom a design asks over the scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sondage.errors import InvalidInput
from sondage.plot import style
from sondage.plot.style import Axes
from sondage.report import findings
from sondage.report.allocation import LabelsByStratum
from sondage.report.allocation import labels_by_stratum as counted
from sondage.report.chances import chance_by_score
from sondage.strata.score_column import score_name
from sondage.study import Study
from sondage.wording import percent, short

_NAMED = 30
"""Strata up to which each has a row with its name."""
_SMALL, _LETTERS, _FEW_LETTERS = 8.0, 22, 6
"""Size of the names of columns in points, their most letters, and the fewest that say something."""
_APART, _NUMBERS_APART = 4.0, 5.0
"""Distance of two named columns, and of two scores along them, in font sizes."""
_ROOMY = 80.0
"""Points from which a power of ten has room for ticks inside it."""


def labels_by_stratum(study: Study | LabelsByStratum, ax: Axes | None = None, *, bands: int = 10) -> Axes:
    """Every stratum's share of the pool, its share of the labels, and the positives found among them.

    Up to 30 strata are rows with names, the first on top; more are columns. Columns stand in the order of
    their scores, where they have any, and the predicted class above those that share one.

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
    layers: list[Any] = [
        (found.share_of_pool, style.PALE, "share of the pool", 0.86),
        (found.share_of_labels, style.COLOURS[0], "share of the labels", 0.5),
    ]
    if found.positives is not None:
        share = found.positives / max(int(found.labels.sum()), 1)
        layers.append((np.asarray(share), style.AMBER, f"of them labelled {found.positive}", 0.5))
    ends = [_ends(name) for name in found.names]
    strata = found.named_by.removeprefix("along the ") if all(ends) else "stratum"
    top = 1.05 * max(float(share.max()) for share, *_ in layers)
    if len(found.names) <= _NAMED:
        return _rows(ax, found, layers, top, strata)
    order = np.argsort([np.mean(one) for one in ends], kind="stable") if all(ends) else np.arange(len(ends))
    predicted = [found.predicted[k] for k in order] if found.predicted else []
    if len(_begins(predicted)) > len(set(predicted)):  # classes that scores do not keep apart
        order, predicted = np.arange(len(ends)), list(found.predicted)
        strata = f"stratum, by {strata}"
    layers = [(share[order], *looks) for share, *looks in layers]
    names = [found.names[k] for k in order]
    return _columns(ax, found, names, predicted, layers, top, strata)


def design_shape(
    studies: Study | Mapping[str, Study], ax: Axes | None = None, *, n: int | None = None
) -> Axes:
    """How much likelier than in a uniform sample an item is to be asked, against its score.

    The line is the mean of the items with about this score, the band runs from the least to the greatest of
    them. What share of the items can never be asked stands in the legend; where a design sets a number of
    labels per stratum, what share lies in strata that get none of these labels.

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
    found = {str(name) or one.design.alias: chance_by_score(one, n=n) for name, one in named.items()}
    quotas = [one.design.kind.by_quota for one in named.values()]
    without = dict(zip(found, ("no label for" if quota else "never asks" for quota in quotas), strict=True))
    ax = style.axes_for(ax)
    ax.set_yscale("log")
    even = ax.axhline(1.0, color=style.INK, linewidth=1, linestyle=style.STYLES[2], zorder=1.5)
    even.set_label("random sample")
    handles = [even]
    for k, (name, one) in enumerate(found.items()):
        said = f"{name} ({without[name]} {percent(one.dark)})" if one.dark > 0 else name
        handles.append(style.banded(ax, k, said, one.score, one.mean, one.least, one.greatest))
    if any((one.greatest > 1.2 * one.least).mean() > 0.05 for one in found.values()):
        handles.append(style.shade("least to greatest"))
    seen = np.concatenate([[1.0], *([*one.least, *one.greatest] for one in found.values())])
    ax.set_ylim(seen.min() / 1.5, seen.max() * 1.5)
    _log_ticks(ax)
    first = next(iter(named.values()))
    along = score_name(first.pool, first.measure.systems(first.pool))
    name, one = max(found.items(), key=lambda pair: float(pair[1].mean.max()))
    title = findings.sought(name, along, one.score, one.mean)
    return style.finish(ax, along, "chance of being asked, against a random sample", handles, title)


def _rows(ax: Axes, found: LabelsByStratum, layers: list[Any], end: float, strata: str) -> Axes:
    place = np.arange(len(found.names))
    handles = [
        ax.barh(place, share, height=thick, color=colour, label=label, zorder=2 + k)
        for k, (share, colour, label, thick) in enumerate(layers)
    ]
    predicted = [f"{one}: " for one in found.predicted] or [""] * len(found.names)
    names = [f"{one}{name}" for one, name in zip(predicted, brief(found.names), strict=True)]
    style.row_names(ax, names)
    ax.set_xlim(0, end)
    style.in_percent(ax.xaxis)
    title = findings.concentrated(found.share_of_pool, found.share_of_labels)
    return style.finish(ax, "share", strata, handles, title, grid="x")


def _columns(
    ax: Axes,
    found: LabelsByStratum,
    names: Sequence[str],
    predicted: Sequence[str],
    layers: list[Any],
    end: float,
    strata: str,
) -> Axes:
    edges = np.arange(len(names) + 1) - 0.5
    handles = [
        ax.stairs(share, edges, fill=True, color=colour, label=label, zorder=2 + k, linewidth=0)
        for k, (share, colour, label, _) in enumerate(layers)
    ]
    # The share of the pool stays in sight where the labels' share is larger.
    ax.stairs(layers[0][0], edges, color=style.INK, linewidth=0.6, zorder=5)
    ax.set_xlim(edges[0], edges[-1])
    ax.set_ylim(0, end)
    style.in_percent(ax.yaxis)
    if strata.startswith("stratum"):
        _name_some(ax, names)
    else:
        _number_edges(ax, [min(one) for one in map(_ends, names) if one])
        strata += " (a column is a stratum)"
    if predicted:
        _name_classes(ax, predicted, end)
    title = findings.concentrated(found.share_of_pool, found.share_of_labels)
    return style.finish(ax, strata, "share", handles, title)


def _number_edges(ax: Axes, begins: Sequence[float]) -> None:
    """The scores at which some columns begin, as far as there is room."""
    size = min(float(ax.xaxis.get_label().get_fontsize()), _SMALL)
    most = max(int(style.extent(ax)[0] / (_NUMBERS_APART * size)), 2)
    places = np.unique(np.linspace(0, len(begins) - 1, min(most, len(begins))).round().astype(int))
    ax.set_xticks(places - 0.5, [_number(begins[k]) for k in places.tolist()], fontsize=size)


def _name_some(ax: Axes, names: Sequence[str]) -> None:
    """What the first, the last and some other strata hold, as far as there is room."""
    size = min(float(ax.xaxis.get_label().get_fontsize()), _SMALL)
    most = max(int(style.extent(ax)[0] / (_APART * size)), 2)
    places = np.unique(np.linspace(0, len(names) - 1, min(most, len(names))).round().astype(int))
    said = [style.shortened(one, _LETTERS) for one in brief([names[k] for k in places.tolist()])]
    ax.set_xticks(places, said, fontsize=size, rotation=35, ha="right", rotation_mode="anchor")


def _ends(name: str) -> list[float]:
    """Both ends of a range of scores, or the one number that it is; nothing for any other name.

    >>> _ends("-0.2 to 0.5"), _ends("0.5"), _ends("north")
    ([-0.2, 0.5], [0.5], [])
    """
    try:
        return [float(one) for one in name.split(" to ")]
    except ValueError:
        return []


def _number(value: float) -> str:
    """Two digits, and a minus that can be seen."""
    return short(float(f"{value:.2g}")).replace("-", "−")


def brief(names: Sequence[str]) -> list[str]:
    """Ranges of numbers with two digits, each number once; as they are where that would make two alike.

    >>> brief(["-20.9271 to -11.154", "-11.153 to 0.5", "north"]), brief(["0.501 to 0.502", "0.503 to 0.504"])
    (['−21 to −11', '−11 to 0.5', 'north'], ['0.501 to 0.502', '0.503 to 0.504'])
    """
    short_names = [" to ".join(dict.fromkeys(map(_number, _ends(name)))) or name for name in names]
    return short_names if len(set(short_names)) == len(set(names)) else list(names)


def _begins(predicted: Sequence[str]) -> list[int]:
    """Where a run of the same predicted class begins."""
    return [k for k in range(len(predicted)) if not k or predicted[k] != predicted[k - 1]]


def _name_classes(ax: Axes, predicted: Sequence[str], end: float) -> None:
    """The predicted class of strata that stand together, above them; a line where another begins."""
    begins = _begins(predicted)
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
